package exec

import "github.com/aeon-lang/aeon/runtime/order"

// access returns when the event may touch h in mode, or unwinds: with a fault if h
// is null or deleted, with a withdrawal if the entry does not cover it. c is the class that h
// must have, nil if the caller does not know.
func (cx *Cx) access(h *order.Handle, mode order.Mode, c *order.Shape) {
	if h == nil {
		Fault(cx, msgNull)
	}
	if h.Is(order.Deleted | order.Away) {
		cx.find(h, c)
	}
	if !h.Is(order.Created | order.Fresh) {
		mode = order.Write // to run its constructor
	}
	cx.hold(h, mode)
	cx.ev.Respect(h)
	if h.LastPos > cx.maxPos {
		cx.maxPos = h.LastPos // before any fault: that tells of the last write, too
	}
	st := h.State.Load()
	if h.Layout != 0 && !h.Has(order.MarkUsed) {
		h.Mark(order.MarkUsed, true)
	}
	if st&order.Unloaded != 0 {
		cx.load(h)
	}
	if cx.ev.traced != nil {
		cx.ev.traceRead(h)
	}
	// What another event has deleted counts once it has committed, so only now.
	if st&(order.Deleted|order.Dying) != 0 {
		Fault(cx, msgDeleted(h))
	}
	if h.Object == nil {
		cx.construct(h)
	}
}

// find attaches h, or faults if it was deleted.
func (cx *Cx) find(h *order.Handle, c *order.Shape) {
	cx.attach(h)
	if h.Is(order.Deleted) {
		cx.maxPos = max(cx.maxPos, h.LastPos) // final, as the deletion is
		cx.ev.traceRead(h)
		Fault(cx, msgGone(h, c))
	}
}

// hold returns when the event holds h in mode, be h deleted or not, or unwinds with a
// withdrawal.
func (cx *Cx) hold(h *order.Handle, mode order.Mode) {
	if len(cx.branches) > 0 {
		cx.waitFor(order.AccessOf(h, mode))
	}
	cx.ev.Attempt.Hold(h, mode)
}

// attach attaches h, unless it is, and unwinds the event if the store fails.
func (cx *Cx) attach(h *order.Handle) {
	if h.Is(order.Away) {
		if err := cx.ev.sys.host.Attach(h); err != nil {
			panic(err)
		}
	}
}

// load reads the state of h, unless it is in memory, and unwinds the event if the store fails.
func (cx *Cx) load(h *order.Handle) {
	if err := cx.ev.sys.durable.Load(h); err != nil {
		panic(err)
	}
}
