package sched

import "sync"

// Pool is a sync.Pool of one system. In a scheduled system what is given back stays, and the last is taken first: else the garbage
// collector would decide which tasks get a thing that remembers something, and a seed would not repeat a run.
type Pool[T any] struct {
	scheduler *Scheduler
	pool      sync.Pool
	idle      []*T // of a scheduled system
}

// Open says what makes a thing if none is there, and whether a Scheduler runs the tasks. It is called once, before use.
func (p *Pool[T]) Open(s *Scheduler, fresh func() *T) {
	p.scheduler = s
	p.pool.New = func() any { return fresh() }
}

// Get returns a thing that nothing uses.
func (p *Pool[T]) Get() *T {
	if last := len(p.idle) - 1; p.scheduler != nil && last >= 0 {
		x := p.idle[last]
		p.idle[last], p.idle = nil, p.idle[:last]
		return x
	}
	return p.pool.Get().(*T)
}

// Put gives back a thing that nothing uses any more.
func (p *Pool[T]) Put(x *T) {
	if p.scheduler != nil {
		p.idle = append(p.idle, x)
		return
	}
	p.pool.Put(x)
}
