package activation

// Edges of ownership, which writes to fields that own actors move.

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// MoveEdges implements undo.Edges.
func (cx *Activation) MoveEdges(self *order.Self, old, v any) {
	p := order.HandleOf(self.Ref())
	if o, n, ok := order.SingleRefs(old, v); ok {
		if o != nil && o != n {
			cx.edge(p, o, -1)
		}
		if n != nil && o != n {
			cx.edge(p, n, 1)
		}
		return
	}
	// What both refer to p owns all the while: it is not given anew, and is not checked.
	net := make(map[order.Ref]int)
	order.EachRef(old, func(r order.Ref) { net[r]-- })
	order.EachRef(v, func(r order.Ref) { net[r]++ })
	// Additions are checked after removals, so that an edge may be turned round.
	order.EachRef(old, func(r order.Ref) {
		if net[r] < 0 {
			net[r]++
			cx.edge(p, order.HandleOf(r), -1)
		}
	})
	order.EachRef(v, func(r order.Ref) {
		if net[r] > 0 {
			net[r]--
			cx.edge(p, order.HandleOf(r), 1)
		}
	})
}

// edge notes that p holds units more references to c.
func (cx *Activation) edge(p, c *order.Handle, units int) {
	cx.attach(c)
	abroad := c.Is(order.Elsewhere)
	// The class graph has no cycles but loops, so that a cycle lies within one class. That of an actor of another store may be unknown.
	if units > 0 && p.Shape.SelfRecursive && (abroad || p.Shape == c.Shape) {
		cx.checkCycle(p, c)
	}
	if abroad {
		cx.Run.ChangeAbroad(p, c, units)
	} else {
		cx.Run.ChangeEdge(p, c, units)
	}
}

// MsgCycle is the fault of an event whose changes would close a cycle of ownership.
const MsgCycle = "ownership cycle: an actor would own itself"

// checkCycle faults if an edge p -> c would close a cycle in the instance graph, the
// event's own changes included ([OWN]). It holds all of reach(c) for reading then (protocol
// rule 8): otherwise another event might add the other half of a cycle meanwhile.
func (cx *Activation) checkCycle(p, c *order.Handle) {
	r := cx.Run
	if p == c {
		fault(MsgCycle)
	}
	switch {
	case !r.MayClose(p, c):
	case c.Is(order.Elsewhere):
		cx.checkAbroad(p, []event.ActorID{c.ID})
	default:
		reach, abroad := cx.reach(c)
		if slices.Contains(reach, p) {
			fault(MsgCycle)
		}
		cx.checkAbroad(p, abroad)
	}
}

// reach returns all that c reaches in this store, c among it, and what of that owns actors of other stores leads to. The event holds it for reading then.
func (cx *Activation) reach(c *order.Handle) (reach []*order.Handle, abroad []event.ActorID) {
	for {
		reach = cx.Run.Reachable(c)
		if !cx.holdAll(reach) {
			continue // it may have changed before it was held
		}
		if cx.Run.sys.Across == nil {
			return reach, nil
		}
		for _, h := range reach {
			abroad = append(abroad, cx.Run.OwnsAbroad(h)...)
		}
		return reach, abroad
	}
}

// holdAll acquires every actor of the list for reading and reports whether all of
// them were held before. If the entry does not cover them the attempt is withdrawn,
// and the next one carries all of them.
func (cx *Activation) holdAll(list []*order.Handle) (held bool) {
	r := cx.Run
	if held = r.Carry(list); held {
		for _, h := range list {
			r.Respect(h)
			cx.MaxPos = max(cx.MaxPos, h.LastPos) // whether there is a cycle depends on the last change
			r.NoteRead(h)
		}
		return true
	}
	for _, h := range list {
		if !h.IsPrivate() && !h.Is(order.Deleted) {
			cx.hold(h, order.Read)
		}
	}
	r.Carried()
	return false
}
