package outbox

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Unclaimed keeps failures that may still be awaited, in the order in which they came.
type Unclaimed[F any] struct {
	mu struct {
		sync.Mutex
		failures map[*F]uint64 // with their numbers
		last     uint64
	}
}

// Put adds a failure.
func (u *Unclaimed[F]) Put(f *F) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.mu.failures == nil {
		u.mu.failures = make(map[*F]uint64)
	}
	u.mu.last++
	u.mu.failures[f] = u.mu.last
}

// Take removes a failure and reports whether it was there.
func (u *Unclaimed[F]) Take(f *F) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, ok := u.mu.failures[f]
	delete(u.mu.failures, f)
	return ok
}

// Count returns how many there are. It is for tests.
func (u *Unclaimed[F]) Count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.mu.failures)
}

// TakeAll removes all failures and returns them, the oldest first.
func (u *Unclaimed[F]) TakeAll() []*F {
	u.mu.Lock()
	defer u.mu.Unlock()
	numbers := u.mu.failures
	u.mu.failures = nil
	return slices.SortedFunc(maps.Keys(numbers), func(a, b *F) int { return cmp.Compare(numbers[a], numbers[b]) })
}
