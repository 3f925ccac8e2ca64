package sched

import (
	"sync"
	"sync/atomic"
)

// Idle keeps things that are used by one goroutine at a time, while none uses them. In contrast to those of a sync.Pool they stay.
type Idle[T any] struct {
	free  atomic.Bool       // first is idle: uses of it one after the other take no mutex. A flag takes half the time of a pointer that is swapped
	first atomic.Pointer[T] // the thing that was given first; it does not change
	mu    struct {
		sync.Mutex
		others []*T // idle, too
	}
}

// Take returns a thing that no other goroutine uses, nil if there is none.
func (p *Idle[T]) Take() *T {
	if p.free.CompareAndSwap(true, false) {
		return p.first.Load()
	}
	return p.other()
}

func (p *Idle[T]) other() *T {
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
	if p.first.Load() == x || p.first.CompareAndSwap(nil, x) {
		p.free.Store(true)
		return
	}
	p.keep(x)
}

func (p *Idle[T]) keep(x *T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.others = append(p.mu.others, x)
}
