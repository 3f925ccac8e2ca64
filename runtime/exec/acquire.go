package exec

import (
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// hold returns when the attempt holds h in mode, be h deleted or not, or unwinds with a withdrawal.
func (a *Attempt) hold(h *Handle, mode Mode) {
	if h.is(fresh) {
		return // only this event knows it
	}
	var d lock.Decision[*Handle]
	if !a.parallel && !a.expecting {
		// No other goroutine looks at home: what queues granted came before this.
		d = a.home.Access(a.host.view, h, lockMode(mode))
		if d.Act == lock.Run {
			return
		}
	}
	a.acquire(h, mode, d)
}

// acquire goes down to h one lazy hold at a time (protocol rule 6). d is what Access has decided for it,
// zero if it was not asked yet.
func (a *Attempt) acquire(h *Handle, mode Mode, d lock.Decision[*Handle]) {
	a.cancel.waits(a)
	defer a.cancel.waited()
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.expecting = a.pending > 0 }()
	for ; ; d = a.home.Access(a.host.view, h, lockMode(mode)) {
		switch d.Act {
		case lock.Run:
			return
		case lock.Withdraw:
			panic(withdrawal{claim: member{h: h, mode: mode}})
		case lock.Ask:
			a.mu.Unlock()
			a.host.scheduler.Yield()
			a.ask(h, d)
			a.mu.Lock()
		case lock.Wait:
			if a.cancelled() { // perhaps before it was known that the event waits
				a.giveUp()
				break
			}
			a.host.parked.add(a)
			a.news.Wait()
			a.host.parked.remove(a)
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
	defer sched.EndOnBug() // before the event's boundary, which would take it for the program's
	drv := takeDriver(a.host)
	d.At.latch.Lock()
	drv.out = d.At.queue.Acquire(a.host.view, d.Ref, a.home.ID(), h, drv.out)
	drv.execute(d.At, 0)
	d.At.unlatch(a.host)
	drv.finish()
}

// withdrawal unwinds an attempt that touched what its entry does not cover; the
// next attempt carries the actor.
type withdrawal struct {
	claim member
	kept  *keep // of a chain that must have gone before the next attempt; else nil
}
