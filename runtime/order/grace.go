package order

import (
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

// gracePeriods tell which events are under way in a system with a store, so that actors are detached only after a grace
// period: when all events that were under way at its beginning have ended. Later events know nothing that those events
// had looked at.
//
// An event that waits between two attempts, perhaps for hours, is not under way meanwhile. It keeps handles of its target, its arguments and its claims, and
// relies on none of them: the next attempt attaches them again, as it would if a client had kept them.
type gracePeriods struct {
	period atomic.Uint64 // their number, from 1 on
	mu     struct {
		sync.Mutex
		all, free []*presence
	}
}

func newGracePeriods() *gracePeriods {
	g := &gracePeriods{}
	g.period.Store(1)
	return g
}

// presence has the period in which an event has begun, 0 while there is none. It stays with a pooled Attempt.
type presence struct {
	since atomic.Uint64
	_     [56]byte // one per cache line
}

// add returns a presence for a, which goes back once the collector has taken a.
func (g *gracePeriods) add(a *Attempt) *presence {
	g.mu.Lock()
	defer g.mu.Unlock()
	var p *presence
	if n := len(g.mu.free); n > 0 {
		p, g.mu.free = g.mu.free[n-1], g.mu.free[:n-1]
	} else {
		p = &presence{}
		g.mu.all = append(g.mu.all, p)
	}
	runtime.AddCleanup(a, giveBack, unusedPresence{weak.Make(g), p})
	return p
}

// unusedPresence is a presence whose attempt the collector has taken. It may take the system as well.
type unusedPresence struct {
	of       weak.Pointer[gracePeriods]
	presence *presence
}

func giveBack(u unusedPresence) {
	if g := u.of.Value(); g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.mu.free = append(g.mu.free, u.presence)
	}
}

// Begin notes that the event is under way; it looks at no handle before.
func (a *Attempt) Begin() { a.presence.since.Store(a.Host.grace.period.Load()) }

// End notes that the event relies on no handle any more that it has looked at.
func (a *Attempt) End() { a.presence.since.Store(0) }

// NextPeriod begins a period and returns its number.
func (s *Host) NextPeriod() uint64 { return s.grace.period.Add(1) }

// PeriodOver reports whether all events have ended, or wait between two attempts, that had begun before a period.
func (s *Host) PeriodOver(period uint64) bool {
	g := s.grace
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.mu.all {
		if since := p.since.Load(); since != 0 && since < period {
			return false
		}
	}
	return true
}
