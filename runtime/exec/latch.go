package exec

import (
	"runtime"
	"sync/atomic"
	"time"
)

// latch guards the lock of one actor for the few hundred nanoseconds of a step of the
// protocol. Whoever holds one never waits for an event, so it is worth trying again
// before anything else; under contention a sync.Mutex parks its callers and hands over
// in order, which on a hot actor cost more than the steps themselves. Order among
// events is the queue's matter, not the latch's.
type latch struct{ held atomic.Uint32 }

const (
	latchSpins   = 40 // looks at the latch between yields
	latchYields  = 64 // yields before sleeping: the holder has lost its processor
	latchNapTime = 20 * time.Microsecond
)

// Lock takes the latch.
func (l *latch) Lock() {
	if !l.held.CompareAndSwap(0, 1) {
		l.lockSlow()
	}
}

func (l *latch) lockSlow() {
	for round := 0; ; round++ {
		for range latchSpins {
			if l.held.Load() == 0 && l.held.CompareAndSwap(0, 1) {
				return
			}
		}
		if round < latchYields {
			runtime.Gosched()
		} else {
			time.Sleep(latchNapTime)
		}
	}
}

// Unlock gives the latch back.
func (l *latch) Unlock() { l.held.Store(0) }
