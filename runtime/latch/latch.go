// Package latch has the latch of an actor, which holds the fast-path holders of its lock, too.
package latch

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/lock"
)

// Latch guards the lock of one actor for the few hundred nanoseconds of a step of the
// protocol, and holds the fast-path holders of the actor (lock.Word). A goroutine that has a latch never waits for an
// event, so it is worth trying again before anything else. Under contention a sync.Mutex parks its
// callers and hands over in order, which on a hot actor cost more than the steps
// themselves. The queue orders events, the latch does not.
type Latch struct{ word atomic.Uint32 }

const (
	looks     = 40 // at the latch between yields
	YieldsMax = 64 // yields before naps: the holder has lost its processor
	napTime   = 20 * time.Microsecond
)

// Load returns the word.
func (l *Latch) Load() lock.Word { return lock.Word(l.word.Load()) }

// Swap replaces the word, or reports that it has changed.
func (l *Latch) Swap(old, next lock.Word) bool {
	return l.word.CompareAndSwap(uint32(old), uint32(next))
}

// Lock takes the latch. It never waits for a clock of Go's, which in a synctest bubble stands still while others wait
// for a mutex that its caller has.
func (l *Latch) Lock() {
	w := l.Load()
	if next, ok := w.Latch(); !ok || !l.Swap(w, next) {
		l.lockSlow()
	}
}

func (l *Latch) lockSlow() {
	for round := 0; !l.TryLock(); round++ {
		if round >= YieldsMax {
			nap(napTime)
		}
		runtime.Gosched()
	}
}

// TryLock is Lock, but gives up soon: it may be called with other latches taken.
func (l *Latch) TryLock() bool {
	for range looks {
		w := l.Load()
		if w.Spreads() {
			if l.recall(w) {
				return true
			}
		} else if next, ok := w.Latch(); ok && l.Swap(w, next) {
			return true
		}
	}
	return false
}

// Unlock gives the latch back; the queue has not been changed.
func (l *Latch) Unlock() {
	for {
		if w := l.Load(); l.Swap(w, w.Unlatched()) {
			return
		}
	}
}

// Join makes an attempt a fast-path holder in mode m, or reports false. It looks again up to spins times while that
// may help. Of a reader serial is the number of the attempt: the same when it leaves.
func (l *Latch) Join(m lock.Mode, serial uint32, spins int) bool {
	w := l.Load()
	disputed := false
	for {
		switch {
		case !w.Spreads():
		case m == lock.Write:
			if l.recall(w) {
				l.Unlock()
			}
			w = l.Load()
			continue
		case l.placeOf(serial).join(l):
			return true
		}
		next, ok := w.Join(m)
		if ok {
			if l.Swap(w, next) {
				if disputed && m == lock.Read {
					l.dispute(next)
				}
				return true
			}
			disputed = true
		} else if spins--; spins < 0 || !w.Brief() {
			return false
		}
		w = l.Load()
	}
}

// JoinLatched is Join for a caller that has the latch.
func (l *Latch) JoinLatched(m lock.Mode) bool {
	for {
		w := l.Load()
		next, ok := w.JoinLatched(m)
		if !ok || l.Swap(w, next) {
			return ok
		}
	}
}

// Leave ends the hold of an attempt, a fast-path holder in mode m, and reports whether the queue is to be told.
func (l *Latch) Leave(m lock.Mode, serial uint32) bool {
	if m == lock.Read && l.Load().Spreads() && l.placeOf(serial).leave(l) {
		return false
	}
	return lock.Word(l.word.Add(-uint32(m.Unit()))).Awaited()
}
