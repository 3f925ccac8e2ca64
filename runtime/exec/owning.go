package exec

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/order"
)

// LogOwned notes the value of field p, which holds plain actor references, before v is
// assigned to it, removes the edges to what it held and adds those to what v holds.
func LogOwned[T any](cx *Cx, self *order.Self, field uint16, p *T, v T) {
	cx.moveEdges(self, any(*p), any(v))
	logHeader(cx, self, field, p)
}

// eachRef calls f for every reference in v, which is a reference, a value class or a
// container.
func eachRef(v any, f func(order.Ref)) {
	switch v := v.(type) {
	case nil:
	case order.RefHolder:
		v.EachRef(f)
	case order.ElemHolder:
		v.EachElem(func(e any) { eachRef(e, f) })
	}
}

// singleRef is implemented by references, also those that generated code wraps.
type singleRef interface{ Handle() *order.Handle }

// singleRefs returns the actors that old and v refer to, nil for none, if each of them is
// a reference or nothing: the common case, which needs no closure.
func singleRefs(old, v any) (o, n *order.Handle, ok bool) {
	if old != nil {
		r, single := old.(singleRef)
		if !single {
			return nil, nil, false
		}
		o = r.Handle()
	}
	if v != nil {
		r, single := v.(singleRef)
		if !single {
			return nil, nil, false
		}
		n = r.Handle()
	}
	return o, n, true
}

// moveEdges takes the edges from self to what old holds and adds those to what v holds.
func (cx *Cx) moveEdges(self *order.Self, old, v any) {
	p := self.Handle()
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
	eachRef(old, func(r order.Ref) { cx.edge(p, r.Handle(), -1) })
	eachRef(v, func(r order.Ref) { cx.edge(p, r.Handle(), 1) })
}

// edge notes that p holds units more references to c.
func (cx *Cx) edge(p, c *order.Handle, units int) {
	cx.attach(c)
	// The class graph has no cycles but loops, so that a cycle lies within one class.
	if units > 0 && p.Shape.SelfRecursive && p.Shape == c.Shape {
		cx.checkCycle(p, c)
	}
	cx.ev.ChangeEdge(p, c, units)
}

const msgCycle = "ownership cycle: an actor would own itself"

// checkCycle faults if an edge p -> c would close a cycle in the instance graph, the
// event's own changes included ([OWN]). It holds all of reach(c) for reading then (protocol
// rule 8): otherwise another event might add the other half of a cycle meanwhile.
func (cx *Cx) checkCycle(p, c *order.Handle) {
	ev := cx.ev
	if p == c {
		Fault(cx, msgCycle)
	}
	if !ev.MayClose(p, c) {
		return
	}
	for {
		reach := ev.Reachable(c)
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
func (cx *Cx) holdAll(list []*order.Handle) (held bool) {
	ev := cx.ev
	if held = ev.Carry(list); held {
		for _, h := range list {
			ev.Respect(h)
			cx.maxPos = max(cx.maxPos, h.LastPos) // whether there is a cycle tells of the last change
			ev.traceRead(h)
		}
		return true
	}
	for _, h := range list {
		if !h.Is(order.Fresh | order.Deleted) {
			cx.hold(h, order.Read)
		}
	}
	ev.Carried()
	return false
}
