package order

import (
	"slices"

	"github.com/aeon-lang/aeon/dominator"
)

// EdgeDelta is a change of the number of references that p holds to c.
type EdgeDelta struct {
	Owner, Child *Handle
	Units        int
}

type edgeKey struct{ p, c *Handle }

// changes are what the code of an attempt does to the ownership graph, once the event commits. Branches
// that run beside each other change them under the mutex of the attempt.
type changes struct {
	Fresh   []*Handle // actors that the attempt has created
	Deletes []*Handle
	Born    []*Handle // named actors that it has constructed
	Edges   []EdgeDelta
	Abroad  []EdgeDelta      // to actors of other stores
	edits   []dominator.Edit // scratch of the commit
}

// DeletesNamed reports whether actors that have names are among those deleted.
func (c *changes) DeletesNamed() bool {
	return slices.ContainsFunc(c.Deletes, func(h *Handle) bool { return h.ID.Named() })
}

func (c *changes) clear() {
	if len(c.Fresh)+len(c.Deletes)+len(c.Born) > 0 {
		clear(c.Fresh)
		clear(c.Deletes)
		clear(c.Born)
		c.Fresh, c.Deletes, c.Born = c.Fresh[:0], c.Deletes[:0], c.Born[:0]
	}
	if len(c.Edges) > 0 {
		clear(c.Edges)
		c.Edges = c.Edges[:0]
	}
	if len(c.Abroad) > 0 {
		clear(c.Abroad)
		c.Abroad = c.Abroad[:0]
	}
}

// LockShared locks what the branches of the event share, if it has any.
func (a *Attempt) LockShared() {
	if a.parallel {
		a.mu.Lock()
	}
}

// UnlockShared unlocks what LockShared has locked.
func (a *Attempt) UnlockShared() {
	if a.parallel {
		a.mu.Unlock()
	}
}

// Fork makes the attempt one whose code runs in branches beside each other.
func (a *Attempt) Fork() {
	if !a.parallel { // else other branches are reading it
		a.mu.Lock() // a queue reads it when it grants what was asked for earlier
		defer a.mu.Unlock()
		a.parallel = true
	}
}

// Creates notes that the attempt has created h.
func (a *Attempt) Creates(h *Handle) {
	a.LockShared()
	defer a.UnlockShared()
	a.Fresh = append(a.Fresh, h)
}

// Constructs notes that the attempt runs the constructor of h, a named actor.
func (a *Attempt) Constructs(h *Handle) {
	a.LockShared()
	defer a.UnlockShared()
	a.Born = append(a.Born, h)
}

// Delete notes that h is deleted when the event commits.
func (a *Attempt) Delete(h *Handle) {
	a.LockShared()
	defer a.UnlockShared()
	h.Set(Dying)
	a.Deletes = append(a.Deletes, h)
}

// ChangeEdge notes that p holds units more references to c.
func (a *Attempt) ChangeEdge(p, c *Handle, units int) {
	a.LockShared()
	defer a.UnlockShared()
	a.Edges = append(a.Edges, EdgeDelta{p, c, units})
}

// SettledGraph reports whether the committed graph is all there is to this event.
func (a *Attempt) SettledGraph() bool {
	a.LockShared()
	defer a.UnlockShared()
	return len(a.Edges) == 0 && len(a.Fresh) == 0
}

// ChangesOwnership reports whether the commit changes what other events see of ownership: not if all that it does is to create actors.
func (a *Attempt) ChangesOwnership() bool {
	return len(a.Deletes)+len(a.Born)+len(a.Abroad) > 0 || len(a.Edges)+len(a.Fresh) > 0 && !a.onlyChildren()
}

// netEdges returns the net changes of the event so far.
func (a *Attempt) netEdges() map[edgeKey]int {
	a.LockShared()
	defer a.UnlockShared()
	net := make(map[edgeKey]int, len(a.Edges))
	for _, e := range a.Edges {
		net[edgeKey{e.Owner, e.Child}] += e.Units
	}
	return net
}

// owns reports whether p owns c so that another edge closes no cycle and needs no rule 8: by an edge that is there now, or by a committed one that the
// event has taken away, if meanwhile it has given nothing to other owners, by which c could have come to reach p. The committed edges of p are still, as
// the event holds p for writing.
func (a *Attempt) owns(p, c *Handle) bool {
	a.LockShared()
	units, others := 0, a.wide || a.isPart // what it has given in other stores is not known here
	for _, list := range [...][]EdgeDelta{a.Edges, a.Abroad} {
		for i := range list {
			if e := &list[i]; e.Owner == p && e.Child == c {
				units += e.Units
			} else if e.Owner != p && e.Units > 0 {
				others = true
			}
		}
	}
	a.UnlockShared()
	if p.Is(Fresh|Deleted) || c.Is(Fresh|Deleted) {
		return units > 0
	}
	committed := a.Host.Graph.Units(&p.Node, &c.Node)
	if c.Is(Elsewhere) {
		committed = a.Host.UnitsAbroad(p.ID, c.ID)
	}
	return committed+units > 0 || committed > 0 && !others
}

// hasEdge reports whether this event has changed an edge that match accepts.
func (a *Attempt) hasEdge(match func(*EdgeDelta) bool) bool {
	a.LockShared()
	defer a.UnlockShared()
	for i := range a.Edges {
		if match(&a.Edges[i]) {
			return true
		}
	}
	return false
}

// made reports whether the attempt has created h.
func (a *Attempt) made(h *Handle) bool {
	switch {
	case h.IsPrivate():
		return true
	case !h.Is(Announced):
		return false
	}
	a.LockShared() // a branch may be creating another
	defer a.UnlockShared()
	return slices.Contains(a.Fresh, h)
}

// MayClose reports whether another edge from p to c may close a cycle, as far as this can be told without what c reaches.
func (a *Attempt) MayClose(p, c *Handle) bool {
	switch {
	case p.IsPrivate() && !a.hasEdge(func(e *EdgeDelta) bool { return e.Child == p }):
		return false // nothing can reach p
	case a.made(c) && !a.hasEdge(func(e *EdgeDelta) bool { return e.Owner == c }) && len(a.OwnsAbroad(c)) == 0:
		return false // c reaches nothing
	}
	return !a.owns(p, c) // else a reference moves within p: what it reaches does not grow
}

// Reachable lists c and everything below it, the event's own changes included.
func (a *Attempt) Reachable(c *Handle) []*Handle {
	if !a.hasEdge(func(e *EdgeDelta) bool { return e.Owner == c }) && len(a.Host.Graph.Owned(nil, &c.Node)) == 0 {
		return []*Handle{c} // without the net changes: an event may collect many leaves
	}
	return a.reach(c, a.netEdges())
}

// Carry has the next attempt enter with all of the list, for reading, if this one is withdrawn. It reports whether the attempt holds all of them.
func (a *Attempt) Carry(list []*Handle) (held bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	held = true
	for _, h := range list {
		if h.Is(Deleted) {
			a.gets()
			continue
		}
		if h.IsPrivate() || a.home.Holds(h) != 0 {
			continue
		}
		held = false
		a.extra = append(a.extra, member{h: h, mode: Read})
	}
	return held
}

// Carried takes back what Carry has noted: the attempt holds it now.
func (a *Attempt) Carried() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.extra = a.extra[:0]
}

// reach lists c and everything below it, by the committed edges and net.
func (a *Attempt) reach(c *Handle, net map[edgeKey]int) []*Handle {
	s := a.Host
	own := make(map[*Handle][]*Handle)
	for k, n := range net {
		if n > 0 {
			own[k.p] = append(own[k.p], k.c)
		}
	}
	for _, list := range own {
		sortByID(list) // locks are asked for in this order: not in that of a map
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
		if p.Is(Fresh | Deleted) {
			continue
		}
		owned = s.Graph.Owned(owned[:0], &p.Node)
		for _, o := range owned {
			h := s.present(o)
			if n := net[edgeKey{p, h}]; n < 0 && s.Graph.Units(&p.Node, o)+n <= 0 {
				continue
			}
			visit(h)
		}
	}
	return list
}

// ApplyChanges brings the event's ownership changes and fresh actors into the
// graph. The event still holds every owner whose edges change. It fails only on a cycle,
// and then has changed nothing.
func (a *Attempt) ApplyChanges() error {
	if len(a.Fresh) == 0 && len(a.Edges) == 0 && len(a.Deletes) == 0 {
		return nil
	}
	if a.commitChildren() {
		return nil
	}
	s := a.Host
	net := a.netEdges()
	owners := make(map[*Handle][]*Handle, len(a.Fresh))
	for _, e := range a.Edges { // in program order, for a reproducible tree
		k := edgeKey{e.Owner, e.Child}
		if e.Child.Is(Fresh) && !a.Deleting(e.Child) && net[k] > 0 && !a.Deleting(e.Owner) {
			owners[e.Child] = appendNew(owners[e.Child], e.Owner)
		}
	}
	for _, h := range a.Fresh {
		if !a.Deleting(h) {
			a.place(h, owners, net)
		}
	}
	edits := a.edits[:0]
	for _, e := range a.Edges {
		k := edgeKey{e.Owner, e.Child}
		n := net[k]
		delete(net, k)
		if n != 0 && !a.Deleting(e.Owner) && !a.Deleting(e.Child) && !e.Child.Is(Deleted) {
			edits = append(edits, dominator.Edit{Owner: &e.Owner.Node, Child: &e.Child.Node, Units: n})
		}
	}
	if len(edits) > 0 {
		err := s.Graph.Apply(edits)
		clear(edits)
		a.edits = edits[:0]
		if err != nil {
			return a.unplace(err)
		}
		s.Tighten()
	}
	for _, h := range a.Deletes {
		if !h.IsPrivate() { // else it was never in the graph
			s.Graph.Delete(&h.Node)
			s.Tighten()
		}
	}
	for _, h := range a.Fresh {
		h.Unset(Fresh | Announced)
	}
	return nil
}

// Deleting reports whether this event deletes h. Another event may be deleting it, too,
// and may yet be undone. The event that commits first settles in the graph what is owned.
func (a *Attempt) Deleting(h *Handle) bool { return h.Is(Dying) && slices.Contains(a.Deletes, h) }

const childrenMax = 8 // fresh actors and edges up to which commitChildren looks at them

// onlyChildren reports whether the event has only created actors, each stored once, in an actor that was there before, or not at all.
func (a *Attempt) onlyChildren() bool {
	if len(a.Deletes) > 0 || len(a.Fresh) > childrenMax || len(a.Edges) > childrenMax || len(a.Fresh) > 0 && a.Fresh[0].Is(Announced) {
		return false
	}
	for i, e := range a.Edges {
		if e.Units != 1 || !a.made(e.Child) || e.Owner.Is(Fresh) {
			return false
		}
		for _, o := range a.Edges[:i] {
			if o.Child == e.Child {
				return false
			}
		}
	}
	return true
}

// commitChildren is ApplyChanges for an event that has only created actors.
func (a *Attempt) commitChildren() bool {
	if !a.onlyChildren() {
		return false
	}
	s := a.Host
	for _, h := range a.Fresh {
		h.State.Store(Created)
		var owner *Handle
		for _, e := range a.Edges {
			if e.Child == h {
				owner = e.Owner
			}
		}
		if owner != nil {
			s.Graph.NewChild(&owner.Node, &h.Node)
		} else {
			s.Graph.NewRoot(&h.Node, &s.Partitions[int(h.ID.Birth)%len(s.Partitions)].Node)
		}
	}
	return true
}

// place puts the fresh actor h, whose owners are listed, into the graph, its fresh owners before it.
func (a *Attempt) place(h *Handle, owners map[*Handle][]*Handle, net map[edgeKey]int) {
	s := a.Host
	if s.Graph.Parent(&h.Node) != nil {
		h.Set(Created) // it was announced, or placed with an actor that it owns
		return
	}
	list := owners[h]
	for _, p := range list {
		if p.Is(Fresh) {
			a.place(p, owners, net)
		}
	}
	h.Set(Created)
	switch len(list) {
	case 0:
		s.Graph.NewRoot(&h.Node, &s.Partitions[int(h.ID.Birth)%len(s.Partitions)].Node)
	case 1:
		s.Graph.NewChild(&list[0].Node, &h.Node)
	default:
		nodes := make([]*dominator.Node, len(list))
		for i, p := range list {
			nodes[i] = &p.Node
		}
		s.Graph.PlaceFresh(&h.Node, nodes)
	}
	for _, p := range list {
		net[edgeKey{p, h}]-- // the unit that placing has given
	}
}

// unplace takes fresh actors out of the graph again, after a cycle was found.
func (a *Attempt) unplace(err error) error {
	for _, h := range a.Fresh {
		if a.Host.Graph.Parent(&h.Node) != nil {
			a.Host.Graph.Delete(&h.Node)
		}
	}
	return err
}
