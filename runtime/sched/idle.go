package sched

import (
	"sync"
	"sync/atomic"
)

// Idle keeps things that are used by one goroutine at a time, while none uses them. In contrast to those of a sync.Pool they stay.
type Idle[T any] struct {
	first atomic.Pointer[T] // idle, too: uses one after the other take no mutex
	mu    struct {
		sync.Mutex
		others []*T
	}
}

// Take returns a thing that no other goroutine uses, nil if there is none.
func (p *Idle[T]) Take() *T {
	if x := p.first.Swap(nil); x != nil {
		return x
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.mu.others)
	if n == 0 {
		return nil
	}
	x := p.mu.others[n-1]
	p.mu.others = p.mu.others[:n-1]
	return x
}

// Give ends the use of x.
func (p *Idle[T]) Give(x *T) {
	if p.first.CompareAndSwap(nil, x) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.others = append(p.mu.others, x)
}
