package store

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// creditDefault is how much may be applied and not yet synced.
	creditDefault = 16 << 20
	// eventCredit is what an event holds of the budget from its admission until its batch,
	// which then counts by its size, is appended.
	eventCredit = 1 << 10
)

// credit is the budget of bytes that are applied and not yet synced. It is taken at
// admission, before the first lock, so that a stalled disk stops clients and never an event
// that holds locks.
type credit struct {
	max      int64
	applied  atomic.Int64 // bytes applied since the start
	synced   atomic.Int64 // of these durable
	reserved atomic.Int64 // by events that were admitted and have not appended
	waiting  atomic.Int64 // length of the queue, read without mu

	mu struct {
		sync.Mutex
		queue  []chan struct{} // closed when credit was given, or the store has failed
		failed bool
	}
}

func (c *credit) init(bytes int64) {
	c.max = bytes
	if c.max == 0 {
		c.max = creditDefault
	}
	c.max = max(c.max, eventCredit)
}

// Credit takes part of the budget for one event, and waits while the budget is used up; first
// come, first served. It is called before the event's first lock; Return gives the part back.
func (s *Store) Credit(ctx context.Context) error {
	c := &s.credit
	if s.hasFailed() {
		return s.Err()
	}
	if c.waiting.Load() == 0 && c.take() {
		return nil
	}
	c.mu.Lock()
	if c.mu.failed {
		c.mu.Unlock()
		return s.Err()
	}
	mine := make(chan struct{})
	c.mu.queue = append(c.mu.queue, mine)
	c.waiting.Add(1)
	c.grant()
	c.mu.Unlock()
	signal(s.groups.asked)
	if s.scheduler != nil {
		s.scheduler.Wait(mine)
		return s.Err()
	}
	select {
	case <-mine:
		return s.Err()
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.mu.queue, mine)
	if i < 0 { // given in the meantime
		c.reserved.Add(-eventCredit)
	} else {
		c.mu.queue = slices.Delete(c.mu.queue, i, i+1)
		c.waiting.Add(-1)
	}
	c.grant()
	return ctx.Err()
}

// Return gives back what Credit has given. It is called when the event's batch is appended, or
// the event has ended without one.
func (s *Store) Return() {
	s.credit.reserved.Add(-eventCredit)
	s.credit.serve()
}

// take takes an event's credit if the budget has as much left.
func (c *credit) take() bool {
	if c.reserved.Add(eventCredit)+c.applied.Load()-c.synced.Load() <= c.max {
		return true
	}
	c.reserved.Add(-eventCredit)
	return false
}

// grant serves the queue as far as there is credit; c.mu is held.
func (c *credit) grant() {
	for len(c.mu.queue) > 0 && (c.mu.failed || c.take()) {
		close(c.mu.queue[0])
		c.mu.queue[0] = nil
		c.mu.queue = c.mu.queue[1:]
		c.waiting.Add(-1)
	}
}

func (c *credit) serve() {
	if c.waiting.Load() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grant()
}

func (c *credit) use(bytes int64) { c.applied.Add(bytes) }

// giveBack counts everything applied up to a count as durable.
func (c *credit) giveBack(applied int64) {
	c.synced.Store(applied)
	c.serve()
}

func (c *credit) fail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.failed = true
	c.grant()
}
