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

// LogOwned notes the value of field p, which holds plain actor references, before v is
// assigned to it, removes the edges to what it held and adds those to what v holds.
func LogOwned[T any](cx *Cx, self *Self, field uint16, p *T, v T) {
	cx.moveEdges(self, any(*p), any(v))
	logHeader(cx, self, field, p)
}

// eachRef calls f for every reference in v, which is a reference, a value class or a
// container.
func eachRef(v any, f func(Ref)) {
	switch v := v.(type) {
	case nil:
	case RefHolder:
		v.EachRef(f)
	case ElemHolder:
		v.EachElem(func(e any) { eachRef(e, f) })
	}
}

// singleRef is implemented by references, also those that generated code wraps.
type singleRef interface{ handle() *Handle }

// singleRefs returns the actors that old and v refer to, nil for none, if each of them is
// a reference or nothing: the common case, which needs no closure.
func singleRefs(old, v any) (o, n *Handle, ok bool) {
	if old != nil {
		r, single := old.(singleRef)
		if !single {
			return nil, nil, false
		}
		o = r.handle()
	}
	if v != nil {
		r, single := v.(singleRef)
		if !single {
			return nil, nil, false
		}
		n = r.handle()
	}
	return o, n, true
}

// moveEdges takes the edges from self to what old holds and adds those to what v holds.
func (cx *Cx) moveEdges(self *Self, old, v any) {
	p := self.h
	if o, n, ok := singleRefs(old, v); ok {
		if o != nil {
			cx.edge(p, o, -1)
		}
		if n != nil {
			cx.edge(p, n, 1)
		}
		return
	}
	// Additions are checked after removals, so that an edge may be turned round.
	eachRef(old, func(r Ref) { cx.edge(p, r.h, -1) })
	eachRef(v, func(r Ref) { cx.edge(p, r.h, 1) })
}

// edge notes that p holds units more references to c.
func (cx *Cx) edge(p, c *Handle, units int) {
	cx.attach(c)
	// The class graph has no cycles but loops, so that a cycle lies within one class.
	if units > 0 && p.class.SelfRecursive && p.class == c.class {
		cx.checkCycle(p, c)
	}
	ev := cx.ev
	if ev.parallel {
		ev.mu.Lock()
		defer ev.mu.Unlock()
	}
	ev.edges = append(ev.edges, edgeDelta{p, c, units})
}

// netEdges returns the net changes of the event so far.
func (a *Attempt) netEdges() map[edgeKey]int {
	if a.parallel {
		a.mu.Lock()
		defer a.mu.Unlock()
	}
	net := make(map[edgeKey]int, len(a.edges))
	for _, e := range a.edges {
		net[edgeKey{e.p, e.c}] += e.units
	}
	return net
}

// checkCycle faults if an edge p -> c would close a cycle in the instance graph, the
// event's own changes included ([OWN]). It holds all of reach(c) for reading then (protocol
// rule 8): otherwise another event might add the other half of a cycle meanwhile.
func (cx *Cx) checkCycle(p, c *Handle) {
	ev := cx.ev
	if p == c {
		Fault(cx, msgCycle)
	}
	if p.is(fresh) && !ev.hasEdge(func(e *edgeDelta) bool { return e.c == p }) {
		return // nobody can reach p
	}
	if c.is(fresh) && !ev.hasEdge(func(e *edgeDelta) bool { return e.p == c }) {
		return // c reaches nobody
	}
	if ev.owns(p, c) {
		return // a reference moves within p: what it reaches does not grow
	}
	changed := ev.hasEdge(func(e *edgeDelta) bool { return e.p == c })
	var net map[edgeKey]int
	for {
		reach := []*Handle{c}
		if changed || len(ev.sys.graph.Owned(nil, &c.node)) > 0 {
			if net == nil { // not for an event that only collects leaves, of which it may have many
				net = ev.netEdges()
			}
			reach = ev.reach(c, net)
		}
		if !cx.holdAll(reach) {
			continue // it may have changed before it was held
		}
		if slices.Contains(reach, p) {
			Fault(cx, msgCycle)
		}
		return
	}
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
	committed := a.sys.graph.Units(&p.node, &c.node)
	return committed+units > 0 || committed > 0 && !others
}

const msgCycle = "ownership cycle: an actor would own itself"

// hasEdge reports whether this event has changed an edge that match accepts.
func (a *Attempt) hasEdge(match func(*edgeDelta) bool) bool {
	if a.parallel {
		a.mu.Lock()
		defer a.mu.Unlock()
	}
	for i := range a.edges {
		if match(&a.edges[i]) {
			return true
		}
	}
	return false
}

// reach lists c and everything below it, by the committed edges and net.
func (a *Attempt) reach(c *Handle, net map[edgeKey]int) []*Handle {
	s := a.sys
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

// holdAll acquires every actor of the list for reading and reports whether all of
// them were held before. If the entry does not cover them the attempt is withdrawn,
// and the next one carries all of them.
func (cx *Cx) holdAll(list []*Handle) (held bool) {
	ev := cx.ev
	held = true
	ev.mu.Lock()
	for _, h := range list {
		if h.is(fresh|deleted) || ev.home.Holds(h) != 0 {
			continue
		}
		held = false
		ev.extra = append(ev.extra, member{h: h, mode: Read})
	}
	ev.mu.Unlock()
	if held {
		for _, h := range list {
			cx.respect(h)
			cx.maxPos = max(cx.maxPos, h.lastPos) // whether there is a cycle tells of the last change
			ev.traceRead(h)
		}
		return true
	}
	for _, h := range list {
		if !h.is(fresh | deleted) {
			cx.hold(h, Read)
		}
	}
	ev.mu.Lock()
	ev.extra = ev.extra[:0]
	ev.mu.Unlock()
	return false
}

// commitOwnership brings the event's ownership changes and fresh actors into the
// graph. The event still holds every owner whose edges change. It fails only on a cycle,
// and then has changed nothing.
func (a *Attempt) commitOwnership() error {
	if len(a.fresh) == 0 && len(a.edges) == 0 && len(a.deletes) == 0 {
		return nil
	}
	if a.commitChildren() {
		return nil
	}
	s := a.sys
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
		s.maintainer.kick()
	}
	for _, h := range a.deletes {
		if !h.is(fresh) {
			s.graph.Delete(&h.node)
			s.maintainer.kick()
		}
	}
	for _, h := range a.fresh {
		h.unset(fresh)
	}
	return nil
}

// deleting reports whether this event deletes h. Another event may be deleting it, too,
// and may yet be undone: what is owned is settled in the graph by who commits first.
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

// commitChildren is commitOwnership for an event that has only created actors.
func (a *Attempt) commitChildren() bool {
	if !a.onlyChildren() {
		return false
	}
	s := a.sys
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
	s := a.sys
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
		if a.sys.graph.Parent(&h.node) != nil {
			a.sys.graph.Delete(&h.node)
		}
	}
	return err
}
