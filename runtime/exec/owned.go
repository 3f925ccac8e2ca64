package exec

// Edges of ownership, which writes to fields that own actors move.

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/order"
)

// MoveEdges implements undo.Edges.
func (cx *activation) MoveEdges(self *order.Self, old, v any) {
	p := order.HandleOf(self.Ref())
	if o, n, ok := order.SingleRefs(old, v); ok {
		if o != nil {
			cx.edge(p, o, -1)
		}
		if n != nil {
			cx.edge(p, n, 1)
		}
		return
	}
	// Additions are checked after removals, so that an edge may be turned round.
	order.EachRef(old, func(r order.Ref) { cx.edge(p, order.HandleOf(r), -1) })
	order.EachRef(v, func(r order.Ref) { cx.edge(p, order.HandleOf(r), 1) })
}

// edge notes that p holds units more references to c.
func (cx *activation) edge(p, c *order.Handle, units int) {
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
func (cx *activation) checkCycle(p, c *order.Handle) {
	ev := cx.ev
	if p == c {
		fault(msgCycle)
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
			fault(msgCycle)
		}
		return
	}
}

// holdAll acquires every actor of the list for reading and reports whether all of
// them were held before. If the entry does not cover them the attempt is withdrawn,
// and the next one carries all of them.
func (cx *activation) holdAll(list []*order.Handle) (held bool) {
	ev := cx.ev
	if held = ev.Carry(list); held {
		for _, h := range list {
			ev.Respect(h)
			cx.maxPos = max(cx.maxPos, h.LastPos) // whether there is a cycle depends on the last change
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
