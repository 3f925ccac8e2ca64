package sched

import (
	"math"
	"sync"
	"time"
)

// EndOfTime is the last time that can be stored.
var EndOfTime = time.Unix(0, math.MaxInt64)

// After returns the time d after t, which does not come after the end of time.
func After(t time.Time, d time.Duration) time.Time {
	if d >= EndOfTime.Sub(t) {
		return EndOfTime
	}
	return t.Add(d)
}

// Clock is the time of a system.
type Clock interface {
	Now() time.Time
}

// RealClock is the clock of the machine.
type RealClock struct{}

// Now implements Clock.
func (RealClock) Now() time.Time { return time.Now() }

// SimClock is a clock that stands still until it is moved. Any goroutine may
// read it.
type SimClock struct {
	mu struct {
		sync.Mutex
		now time.Time
	}
}

// NewSimClock returns a clock that stands at start.
func NewSimClock(start time.Time) *SimClock {
	c := &SimClock{}
	c.mu.now = start
	return c
}

// Now implements Clock.
func (c *SimClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.now
}

// Set moves the clock on to t; it never goes back.
func (c *SimClock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.mu.now) {
		c.mu.now = t
	}
}
