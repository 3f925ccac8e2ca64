package exec

import "slices"

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
	p := self.handle()
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
	eachRef(old, func(r Ref) { cx.edge(p, r.handle(), -1) })
	eachRef(v, func(r Ref) { cx.edge(p, r.handle(), 1) })
}

// edge notes that p holds units more references to c.
func (cx *Cx) edge(p, c *Handle, units int) {
	cx.attach(c)
	// The class graph has no cycles but loops, so that a cycle lies within one class.
	if units > 0 && p.shape.SelfRecursive && p.shape == c.shape {
		cx.checkCycle(p, c)
	}
	cx.ev.edge(p, c, units)
}

const msgCycle = "ownership cycle: an actor would own itself"

// checkCycle faults if an edge p -> c would close a cycle in the instance graph, the
// event's own changes included ([OWN]). It holds all of reach(c) for reading then (protocol
// rule 8): otherwise another event might add the other half of a cycle meanwhile.
func (cx *Cx) checkCycle(p, c *Handle) {
	ev := cx.ev
	if p == c {
		Fault(cx, msgCycle)
	}
	if !ev.mayClose(p, c) {
		return
	}
	for {
		reach := ev.reachable(c)
		if !cx.holdAll(reach) {
			continue // it may have changed before it was held
		}
		if slices.Contains(reach, p) {
			Fault(cx, msgCycle)
		}
		return
	}
}

// holdAll acquires every actor of the list for reading and reports whether all of
// them were held before. If the entry does not cover them the attempt is withdrawn,
// and the next one carries all of them.
func (cx *Cx) holdAll(list []*Handle) (held bool) {
	ev := cx.ev
	if held = ev.carry(list); held {
		for _, h := range list {
			ev.respect(h)
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
	ev.carried()
	return false
}
