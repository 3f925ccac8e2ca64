package order

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/lock"
)

// latch guards the lock of one actor for the few hundred nanoseconds of a step of the
// protocol, and holds the fast-path holders of the actor (lock.Word). A goroutine that has a latch never waits for an
// event, so it is worth trying again before anything else. Under contention a sync.Mutex parks its
// callers and hands over in order, which on a hot actor cost more than the steps
// themselves. The queue orders events, the latch does not.
type latch struct{ word atomic.Uint32 }

const (
	latchSpins   = 40 // looks at the latch between yields
	latchYields  = 64 // yields before sleeping: the holder has lost its processor
	latchNapTime = 20 * time.Microsecond

	// Before an event queues it reads a word joinSpinsMax times, as the holds of fast-path holders are
	// short. It also lets other goroutines run joinYieldsMax times: the goroutine in the way may have lost
	// its processor, or have been admitted and not run yet. A queue that many callers enter at once
	// is otherwise never empty again, and every event pays for parking.
	joinSpinsMax  = 200
	joinYieldsMax = 2
)

func (l *latch) load() lock.Word { return lock.Word(l.word.Load()) }

func (l *latch) swap(old, next lock.Word) bool {
	return l.word.CompareAndSwap(uint32(old), uint32(next))
}

// Lock takes the latch.
func (l *latch) Lock() {
	w := l.load()
	if next, ok := w.Latch(); !ok || !l.swap(w, next) {
		l.lockSlow(latchYields)
	}
}

// LockAwake is Lock for a goroutine that has a mutex. It never sleeps, so that waiters for the mutex do not
// wait for a clock, which in a synctest bubble stands still meanwhile.
func (l *latch) LockAwake() {
	w := l.load()
	if next, ok := w.Latch(); !ok || !l.swap(w, next) {
		l.lockSlow(math.MaxInt)
	}
}

func (l *latch) lockSlow(yields int) {
	for round := 0; !l.tryLock(); round++ {
		if round < yields {
			runtime.Gosched()
		} else {
			time.Sleep(latchNapTime)
		}
	}
}

// tryLock is Lock, but gives up soon: it may be called with other latches taken.
func (l *latch) tryLock() bool {
	for range latchSpins {
		w := l.load()
		if w.Spreads() {
			if l.recall(w) {
				return true
			}
		} else if next, ok := w.Latch(); ok && l.swap(w, next) {
			return true
		}
	}
	return false
}

// Unlock gives the latch back; the queue has not been changed.
func (l *latch) Unlock() {
	for {
		if w := l.load(); l.swap(w, w.Unlatched()) {
			return
		}
	}
}

// join makes a a fast-path holder in mode m, or reports false. It looks again up to spins times while that
// may help.
func (l *latch) join(m lock.Mode, a *Attempt, spins int) bool {
	w := l.load()
	disputed := false
	for {
		switch {
		case !w.Spreads():
		case m == lock.Write:
			if l.recall(w) {
				l.Unlock()
			}
			w = l.load()
			continue
		case a.placeOf(l).join(l):
			return true
		}
		next, ok := w.Join(m)
		if ok {
			if l.swap(w, next) {
				if disputed && m == lock.Read {
					l.dispute(next)
				}
				return true
			}
			disputed = true
		} else if spins--; spins < 0 || !w.Brief() {
			return false
		}
		w = l.load()
	}
}

// joinLatched is join for a caller that has the latch.
func (l *latch) joinLatched(m lock.Mode) bool {
	for {
		w := l.load()
		next, ok := w.JoinLatched(m)
		if !ok || l.swap(w, next) {
			return ok
		}
	}
}

// leave ends the hold of a, a fast-path holder in mode m, and reports whether the queue is to be told.
func (l *latch) leave(m lock.Mode, a *Attempt) bool {
	if m == lock.Read && l.load().Spreads() && a.placeOf(l).leave(l) {
		return false
	}
	return lock.Word(l.word.Add(-uint32(m.Unit()))).Awaited()
}
