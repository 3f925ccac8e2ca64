package sched

import (
	"slices"
	"sync"
)

// Siblings are systems of one process that wait for each other: what one has issued is live in all, and their timers fire in one order.
type Siblings[S comparable] struct {
	live    Pending
	mu      sync.Mutex
	systems []S // guarded by mu
}

// Opened adds a system, and what it will have issued.
func (b *Siblings[S]) Opened(s S, live *Pending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	live.Joins(&b.live)
	b.systems = append(b.systems, s)
}

// Add has what is pending elsewhere be live in all.
func (b *Siblings[S]) Add(live *Pending) { live.Joins(&b.live) }

// Gone takes a system out that has failed.
func (b *Siblings[S]) Gone(s S, live *Pending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	live.Leave()
	b.systems = slices.DeleteFunc(b.systems, func(x S) bool { return x == s })
}

// All lists the systems.
func (b *Siblings[S]) All() []S {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.systems)
}
