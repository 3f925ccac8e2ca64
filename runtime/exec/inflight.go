package exec

import (
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

// inFlight tells which events are under way in a system with a store, so that the hand can wait until all
// that were at some moment have ended: no event that comes later knows what they had in hand.
type inFlight struct {
	round atomic.Uint64 // counts those moments, from 1 on
	mu    struct {
		sync.Mutex
		all, free []*flight
	}
}

// flight is in which round an event has begun, 0 while there is none. It stays with a pooled event.
type flight struct {
	since atomic.Uint64
	_     [56]byte // one per cache line
}

// add returns a flight for ev, which goes back once the collector has taken ev.
func (f *inFlight) add(ev *Event) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	var fl *flight
	if n := len(f.mu.free); n > 0 {
		fl, f.mu.free = f.mu.free[n-1], f.mu.free[:n-1]
	} else {
		fl = &flight{}
		f.mu.all = append(f.mu.all, fl)
	}
	runtime.AddCleanup(ev, landed, landing{weak.Make(f), fl})
	return fl
}

// landing is a flight whose event the collector has taken. It may take the system as well.
type landing struct {
	in     weak.Pointer[inFlight]
	flight *flight
}

func landed(l landing) {
	if f := l.in.Value(); f != nil {
		f.giveBack(l.flight)
	}
}

func (f *inFlight) giveBack(fl *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.free = append(f.mu.free, fl)
}

// begin notes that the event is under way; it looks at no handle before.
func (ev *Event) begin() { ev.flight.since.Store(ev.sys.durable.inFlight.round.Load()) }

// end notes that it has nothing in hand any more.
func (ev *Event) end() { ev.flight.since.Store(0) }

// older reports whether an event is under way that has begun before a round.
func (f *inFlight) older(round uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fl := range f.mu.all {
		if since := fl.since.Load(); since != 0 && since < round && !planted.graceForgotten {
			return true
		}
	}
	return false
}
