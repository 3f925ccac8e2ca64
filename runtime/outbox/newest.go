package outbox

import (
	"slices"
	"sync"
)

// NewestMax is how many elements a Newest keeps at most.
const NewestMax = 1024

// Newest keeps the newest of what is added to it, for inspection. The zero Newest is empty.
type Newest[T any] struct {
	mu struct {
		sync.Mutex
		list []T
	}
}

// Add adds x.
func (n *Newest[T]) Add(x T) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.mu.list) >= NewestMax {
		n.mu.list = append(n.mu.list[:0], n.mu.list[NewestMax/2:]...)
	}
	n.mu.list = append(n.mu.list, x)
}

// List returns a copy of what is kept, the oldest first.
func (n *Newest[T]) List() []T {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.mu.list)
}
