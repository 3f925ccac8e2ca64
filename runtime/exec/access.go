package exec

import (
	"github.com/aeon-lang/aeon/runtime/lock"
)

// access returns when the event may touch h in mode, or unwinds: with a fault if h
// is null or deleted, with a withdrawal if the entry does not cover it. c is the class that h
// must have, nil if the caller does not know.
func (cx *Cx) access(h *Handle, mode Mode, c *Class) {
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
	cx.respect(h)
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
func (cx *Cx) find(h *Handle, c *Class) {
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
		cx.waitFor(print{target: h, self: mode})
	}
	if h.is(fresh) {
		return // only this event knows it
	}
	ev := cx.ev
	var d lock.Decision[*Handle]
	if !ev.parallel && !ev.expecting {
		// Nobody else looks at home: what others granted came before this.
		d = ev.home.Access(ev.sys.view, h, lockMode(mode))
		if planted.narrowAtPass && d.Act == lock.Withdraw && ev.method.Below == Exact {
			d.Act = lock.Run // trusting what was read at the pass
		}
		if d.Act == lock.Run {
			return
		}
	}
	ev.acquire(h, mode, d)
}

// acquire goes down to h one lazy hold at a time (protocol rule 6). d is what Access has decided for it,
// zero if it was not asked yet.
func (a *Attempt) acquire(h *Handle, mode Mode, d lock.Decision[*Handle]) {
	a.cancel.waits(a)
	defer a.cancel.waited()
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.expecting = a.pending > 0 }()
	for ; ; d = a.home.Access(a.sys.view, h, lockMode(mode)) {
		switch d.Act {
		case lock.Run:
			return
		case lock.Withdraw:
			panic(withdrawal{claim: member{h: h, mode: mode}})
		case lock.Ask:
			a.mu.Unlock()
			a.sys.scheduler.Yield()
			a.ask(h, d)
			a.mu.Lock()
		case lock.Wait:
			if a.cancelled() { // perhaps before it was known that the event waits
				a.giveUp()
				break
			}
			a.sys.parked.add(a)
			a.news.Wait()
			a.sys.parked.remove(a)
		default:
			continue
		}
		if a.refusal.Kind != 0 {
			panic(withdrawal{claim: member{h: h, mode: mode}})
		}
	}
}

// ask acquires the next node towards h below the lazy hold that d names.
func (a *Attempt) ask(h *Handle, d lock.Decision[*Handle]) {
	defer endOnBug() // before the event's boundary, which would take it for the program's
	drv := takeDriver(a.sys)
	d.At.latch.Lock()
	drv.out = d.At.queue.Acquire(a.sys.view, d.Ref, a.home.ID(), h, drv.out)
	drv.execute(d.At, 0)
	d.At.unlatch(a.sys)
	drv.finish()
}

// withdrawal unwinds an attempt that touched what its entry does not cover; the
// next attempt carries the actor.
type withdrawal struct {
	claim member
	kept  *keep // of a chain that must have gone before the next attempt; else nil
}
