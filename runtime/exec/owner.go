package exec

import (
	"slices"

	"github.com/aeon-lang/aeon/dominator"
)

// edgeDelta is a change of the number of references that p holds to c.
type edgeDelta struct {
	p, c  *Handle
	units int
}

type edgeKey struct{ p, c *Handle }

// changes are what the code of an attempt does to the ownership graph, once the event commits. Branches
// that run beside each other change them under the mutex of the attempt.
type changes struct {
	fresh   []*Handle // actors that the attempt has created
	deletes []*Handle
	born    []*Handle // named actors that it has constructed
	edges   []edgeDelta
	edits   []dominator.Edit // scratch of the commit
}

func (c *changes) clear() {
	if len(c.fresh)+len(c.deletes)+len(c.born) > 0 {
		clear(c.fresh)
		clear(c.deletes)
		clear(c.born)
		c.fresh, c.deletes, c.born = c.fresh[:0], c.deletes[:0], c.born[:0]
	}
	if len(c.edges) > 0 {
		clear(c.edges)
		c.edges = c.edges[:0]
	}
}

// lockShared locks what the branches of the event share, if it has any; unlockShared unlocks it.
func (a *Attempt) lockShared() {
	if a.parallel {
		a.mu.Lock()
	}
}

func (a *Attempt) unlockShared() {
	if a.parallel {
		a.mu.Unlock()
	}
}

// fork makes the attempt one whose code runs in branches beside each other.
func (a *Attempt) fork() {
	if !a.parallel { // else other branches are reading it
		a.mu.Lock() // a queue that grants what was asked for earlier reads it
		defer a.mu.Unlock()
		a.parallel = true
	}
}

// creates notes that the attempt has created h.
func (a *Attempt) creates(h *Handle) {
	a.lockShared()
	defer a.unlockShared()
	a.fresh = append(a.fresh, h)
}

// constructs notes that the attempt runs the constructor of h, a named actor.
func (a *Attempt) constructs(h *Handle) {
	a.lockShared()
	defer a.unlockShared()
	a.born = append(a.born, h)
}

// delete notes that h is deleted when the event commits.
func (a *Attempt) delete(h *Handle) {
	a.lockShared()
	defer a.unlockShared()
	h.set(dying)
	a.deletes = append(a.deletes, h)
}

// edge notes that p holds units more references to c.
func (a *Attempt) edge(p, c *Handle, units int) {
	a.lockShared()
	defer a.unlockShared()
	a.edges = append(a.edges, edgeDelta{p, c, units})
}

// settledGraph reports whether the committed graph is all there is to this event.
func (a *Attempt) settledGraph() bool {
	a.lockShared()
	defer a.unlockShared()
	return len(a.edges) == 0 && len(a.fresh) == 0
}

// changesOwnership reports whether the commit changes what other events see of ownership: not if all that it does
// is to create actors.
func (a *Attempt) changesOwnership() bool {
	return len(a.deletes)+len(a.born) > 0 || len(a.edges)+len(a.fresh) > 0 && !a.onlyChildren()
}

// netEdges returns the net changes of the event so far.
func (a *Attempt) netEdges() map[edgeKey]int {
	a.lockShared()
	defer a.unlockShared()
	net := make(map[edgeKey]int, len(a.edges))
	for _, e := range a.edges {
		net[edgeKey{e.p, e.c}] += e.units
	}
	return net
}

// owns reports whether p owns c so that another edge closes no cycle and needs no
// rule 8: by an edge that is there now, or by a committed one that the event has taken
// away, if meanwhile it has given nothing to other owners, by which c could have come to
// reach p. The committed edges of p are still, as the event holds p for writing.
func (a *Attempt) owns(p, c *Handle) bool {
	units, others := 0, false
	a.hasEdge(func(e *edgeDelta) bool {
		if e.p == p && e.c == c {
			units += e.units
		} else if e.p != p && e.units > 0 {
			others = true
		}
		return false
	})
	if p.is(fresh|deleted) || c.is(fresh|deleted) {
		return units > 0
	}
	committed := a.host.graph.Units(&p.node, &c.node)
	return committed+units > 0 || committed > 0 && !others
}

// hasEdge reports whether this event has changed an edge that match accepts.
func (a *Attempt) hasEdge(match func(*edgeDelta) bool) bool {
	a.lockShared()
	defer a.unlockShared()
	for i := range a.edges {
		if match(&a.edges[i]) {
			return true
		}
	}
	return false
}

// mayClose reports whether another edge from p to c may close a cycle, as far as this can be told without what c reaches.
func (a *Attempt) mayClose(p, c *Handle) bool {
	switch {
	case p.is(fresh) && !a.hasEdge(func(e *edgeDelta) bool { return e.c == p }):
		return false // nothing can reach p
	case c.is(fresh) && !a.hasEdge(func(e *edgeDelta) bool { return e.p == c }):
		return false // c reaches nothing
	}
	return !a.owns(p, c) // else a reference moves within p: what it reaches does not grow
}

// reachable lists c and everything below it, the event's own changes included.
func (a *Attempt) reachable(c *Handle) []*Handle {
	if !a.hasEdge(func(e *edgeDelta) bool { return e.p == c }) && len(a.host.graph.Owned(nil, &c.node)) == 0 {
		return []*Handle{c} // without the net changes: an event may collect many leaves
	}
	return a.reach(c, a.netEdges())
}

// carry has the next attempt enter with all of the list, for reading, if this one is withdrawn. It reports whether
// the attempt holds all of them.
func (a *Attempt) carry(list []*Handle) (held bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	held = true
	for _, h := range list {
		if h.is(fresh|deleted) || a.home.Holds(h) != 0 {
			continue
		}
		held = false
		a.extra = append(a.extra, member{h: h, mode: Read})
	}
	return held
}

// carried takes back what carry has noted: the attempt holds it now.
func (a *Attempt) carried() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.extra = a.extra[:0]
}

// reach lists c and everything below it, by the committed edges and net.
func (a *Attempt) reach(c *Handle, net map[edgeKey]int) []*Handle {
	s := a.host
	own := make(map[*Handle][]*Handle)
	for k, n := range net {
		if n > 0 {
			own[k.p] = append(own[k.p], k.c)
		}
	}
	for _, list := range own {
		slices.SortFunc(list, compareIDs) // locks are asked for in this order: not in that of a map
	}
	list, seen := []*Handle{c}, map[*Handle]bool{c: true}
	var owned []*dominator.Node
	for i := 0; i < len(list); i++ {
		p := list[i]
		visit := func(h *Handle) {
			if !seen[h] {
				seen[h] = true
				list = append(list, h)
			}
		}
		for _, h := range own[p] {
			visit(h)
		}
		if p.is(fresh | deleted) {
			continue
		}
		owned = s.graph.Owned(owned[:0], &p.node)
		for _, o := range owned {
			h := s.present(o)
			if n := net[edgeKey{p, h}]; n < 0 && s.graph.Units(&p.node, o)+n <= 0 {
				continue
			}
			visit(h)
		}
	}
	return list
}

// applyChanges brings the event's ownership changes and fresh actors into the
// graph. The event still holds every owner whose edges change. It fails only on a cycle,
// and then has changed nothing.
func (a *Attempt) applyChanges() error {
	if len(a.fresh) == 0 && len(a.edges) == 0 && len(a.deletes) == 0 {
		return nil
	}
	if a.commitChildren() {
		return nil
	}
	s := a.host
	net := a.netEdges()
	owners := make(map[*Handle][]*Handle, len(a.fresh))
	for _, e := range a.edges { // in program order, for a reproducible tree
		k := edgeKey{e.p, e.c}
		if e.c.is(fresh) && !a.deleting(e.c) && net[k] > 0 && !a.deleting(e.p) {
			owners[e.c] = appendNew(owners[e.c], e.p)
		}
	}
	for _, h := range a.fresh {
		if !a.deleting(h) {
			a.place(h, owners, net)
		}
	}
	edits := a.edits[:0]
	for _, e := range a.edges {
		k := edgeKey{e.p, e.c}
		n := net[k]
		delete(net, k)
		if n != 0 && !a.deleting(e.p) && !a.deleting(e.c) && !e.c.is(deleted) {
			edits = append(edits, dominator.Edit{Owner: &e.p.node, Child: &e.c.node, Units: n})
		}
	}
	if len(edits) > 0 {
		err := s.graph.Apply(edits)
		clear(edits)
		a.edits = edits[:0]
		if err != nil {
			return a.unplace(err)
		}
		s.tighten()
	}
	for _, h := range a.deletes {
		if !h.is(fresh) {
			s.graph.Delete(&h.node)
			s.tighten()
		}
	}
	for _, h := range a.fresh {
		h.unset(fresh)
	}
	return nil
}

// deleting reports whether this event deletes h. Another event may be deleting it, too,
// and may yet be undone: what is owned is settled in the graph by the one that commits first.
func (a *Attempt) deleting(h *Handle) bool { return h.is(dying) && slices.Contains(a.deletes, h) }

const childrenMax = 8 // fresh actors and edges up to which commitChildren looks at them

// onlyChildren reports whether the event has only created actors, each stored once, in an
// actor that was there before, or not at all.
func (a *Attempt) onlyChildren() bool {
	if len(a.deletes) > 0 || len(a.fresh) > childrenMax || len(a.edges) > childrenMax {
		return false
	}
	for i, e := range a.edges {
		if e.units != 1 || !e.c.is(fresh) || e.p.is(fresh) {
			return false
		}
		for _, o := range a.edges[:i] {
			if o.c == e.c {
				return false
			}
		}
	}
	return true
}

// commitChildren is applyChanges for an event that has only created actors.
func (a *Attempt) commitChildren() bool {
	if !a.onlyChildren() {
		return false
	}
	s := a.host
	for _, h := range a.fresh {
		h.state.Store(created)
		var owner *Handle
		for _, e := range a.edges {
			if e.c == h {
				owner = e.p
			}
		}
		if owner != nil {
			s.graph.NewChild(&owner.node, &h.node)
		} else {
			s.graph.NewRoot(&h.node, &s.partitions[int(h.id.Birth)%len(s.partitions)].node)
		}
	}
	return true
}

// place puts the fresh actor h, whose owners are listed, into the graph, its fresh
// owners before it.
func (a *Attempt) place(h *Handle, owners map[*Handle][]*Handle, net map[edgeKey]int) {
	s := a.host
	if s.graph.Parent(&h.node) != nil {
		return
	}
	list := owners[h]
	for _, p := range list {
		if p.is(fresh) {
			a.place(p, owners, net)
		}
	}
	h.set(created)
	switch len(list) {
	case 0:
		s.graph.NewRoot(&h.node, &s.partitions[int(h.id.Birth)%len(s.partitions)].node)
	case 1:
		s.graph.NewChild(&list[0].node, &h.node)
	default:
		nodes := make([]*dominator.Node, len(list))
		for i, p := range list {
			nodes[i] = &p.node
		}
		s.graph.PlaceFresh(&h.node, nodes)
	}
	for _, p := range list {
		net[edgeKey{p, h}]-- // the unit that placing has given
	}
}

// unplace takes fresh actors out of the graph again, after a cycle was found.
func (a *Attempt) unplace(err error) error {
	for _, h := range a.fresh {
		if a.host.graph.Parent(&h.node) != nil {
			a.host.graph.Delete(&h.node)
		}
	}
	return err
}
