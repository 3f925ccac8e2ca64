package order

import (
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// Hold returns when the attempt holds h in mode, or h is deleted for good, or unwinds with a withdrawal. It reports whether it has waited.
func (a *Attempt) Hold(h *Handle, mode Mode) (waited bool) {
	if h.IsPrivate() {
		return false // only this event knows it
	}
	var d lock.Decision[*Handle]
	if !a.parallel && !a.Expecting {
		// No other goroutine uses home now: all that queues granted came before this.
		if a.home.Runs(h, lockMode(mode)) {
			return false
		}
		d = a.home.Access(a.Host.view, h, lockMode(mode))
	}
	return a.acquire(h, mode, d)
}

// acquire goes down to h one lazy hold at a time (protocol rule 6). d is what Access has decided for it, zero if it was not asked yet.
func (a *Attempt) acquire(h *Handle, mode Mode, d lock.Decision[*Handle]) (waited bool) {
	a.Cancellation.waits(a)
	defer a.Cancellation.waited()
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.Expecting = a.pending > 0 }()
	for ; ; d = a.home.Access(a.Host.view, h, lockMode(mode)) {
		switch d.Act {
		case lock.Run:
			return waited
		case lock.Withdraw:
			if h.Is(Deleted) { // while the attempt waited; that is final
				a.gets()
				return waited
			}
			if a.turn != 0 && d.MayGrow(h) {
				if grown, behind := a.grow(h, max(mode, Read)); grown {
					return waited
				} else if behind {
					waited = true
					break
				}
			}
			panic(Withdrawal{claim: member{h: h, mode: mode}})
		case lock.Ask:
			a.mu.Unlock()
			a.Host.scheduler.Yield()
			a.ask(h, d)
			a.mu.Lock()
		case lock.Wait:
			if a.Cancelled() { // perhaps before it was known that the event waits
				a.giveUp()
			}
			if a.refusal.Kind != 0 { // before the event has come here: nothing would wake it
				break
			}
			if a.unordered() {
				panic(Withdrawal{claim: member{h: h, mode: mode}})
			}
			waited = true
			a.Host.parked.add(a)
			a.inQueues++
			a.news.Wait()
			if a.inQueues--; a.inQueues == 0 && a.parallel {
				a.news.Broadcast() // a branch may be about to go to other stores
			}
			a.Host.parked.remove(a)
		default:
			continue
		}
		if a.refusal.Kind != 0 {
			panic(Withdrawal{claim: member{h: h, mode: mode}})
		}
	}
}

// ask acquires the next node towards h below the lazy hold that d names.
func (a *Attempt) ask(h *Handle, d lock.Decision[*Handle]) {
	defer sched.EndOnBug() // before the event's boundary, which would take the bug for one of the program
	drv := takeDriver(a.Host)
	d.At.latch.Lock()
	drv.out = d.At.queue.Acquire(a.Host.view, d.Ref, a.home.ID(), h, drv.out)
	drv.execute(d.At, 0)
	d.At.unlatch(a.Host)
	drv.finish()
}

// Withdrawal unwinds an attempt that touched what its entry does not cover; the next attempt carries the actor.
type Withdrawal struct {
	claim member
	Kept  *Keep // of a chain that must have gone before the next attempt; else nil
	// InTurn: the next attempt makes async calls one after the other, which this one has not done.
	InTurn bool
	Lacks  *Lacking // nil: nothing; else the next attempt is to wait for another version of the program, or for a store
}

// Lacking says that a store runs a version of the program that does not have what an attempt has asked it for, or is away.
type Lacking struct {
	Of       event.StoreID
	Name     string // of a method or a class; "": it is away
	Sessions uint64 // how many sessions of the store of the event had begun or ended before it has asked
}

// Claim returns the actor that the next attempt is to enter with, the null id for none.
func (w Withdrawal) Claim() Wanted {
	if w.claim.h == nil {
		return Wanted{}
	}
	return Wanted{w.claim.h.ID, w.claim.mode, w.claim.tree}
}
