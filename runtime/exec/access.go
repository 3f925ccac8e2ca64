package exec

// access returns when the event may touch h in mode, or unwinds: with a fault if h
// is null or deleted, with a withdrawal if the entry does not cover it. c is the class that h
// must have, nil if the caller does not know.
func (cx *Cx) access(h *Handle, mode Mode, c *Shape) {
	if h == nil {
		Fault(cx, msgNull)
	}
	if h.is(deleted | away) {
		cx.find(h, c)
	}
	if !h.is(created | fresh) {
		mode = Write // to run its constructor
	}
	cx.hold(h, mode)
	cx.ev.respect(h)
	if h.lastPos > cx.maxPos {
		cx.maxPos = h.lastPos // before any fault: that tells of the last write, too
	}
	st := h.state.Load()
	if h.layout != 0 && !h.has(markUsed) {
		h.mark(markUsed, true)
	}
	if st&unloaded != 0 {
		cx.mustLoad(h)
	}
	if cx.ev.traced != nil {
		cx.ev.traceRead(h)
	}
	// What another event has deleted counts once it has committed, so only now.
	if st&(deleted|dying) != 0 {
		Fault(cx, msgDeleted(h))
	}
	if h.obj == nil {
		cx.construct(h)
	}
}

// find attaches h, or faults if it was deleted.
func (cx *Cx) find(h *Handle, c *Shape) {
	cx.attach(h)
	if h.is(deleted) {
		cx.maxPos = max(cx.maxPos, h.lastPos) // final, as the deletion is
		cx.ev.traceRead(h)
		Fault(cx, msgGone(h, c))
	}
}

// hold returns when the event holds h in mode, be h deleted or not, or unwinds with a
// withdrawal.
func (cx *Cx) hold(h *Handle, mode Mode) {
	if len(cx.branches) > 0 {
		cx.waitFor(accessOf(h, mode))
	}
	cx.ev.Attempt.hold(h, mode)
}
