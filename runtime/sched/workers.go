package sched

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers are the goroutines of a system. There are as many as there is work, since
// each may wait for locks; a few stay for the next task. Close joins them.
type Workers struct {
	scheduler *Scheduler
	idleMax   int
	branchMax int32
	wg        sync.WaitGroup
	scheduled atomic.Int32 // tasks of the scheduler
	branches  atomic.Int32 // reserved
	mu        struct {
		sync.Mutex
		idle   []chan func()
		closed bool
	}
}

// Open is called once, before use. Reserve grants up to so many branches at a time.
func (w *Workers) Open(branches int, s *Scheduler) {
	w.scheduler, w.idleMax, w.branchMax = s, 32*runtime.GOMAXPROCS(0), int32(branches)
}

// Run runs task in a worker.
func (w *Workers) Run(task func()) {
	if w.scheduler != nil {
		w.scheduled.Add(1)
		w.scheduler.Go(&w.wg, func() {
			defer w.scheduled.Add(-1) // also on runtime.Goexit
			task()
		})
		return
	}
	w.mu.Lock()
	if n := len(w.mu.idle); n > 0 {
		ch := w.mu.idle[n-1]
		w.mu.idle = w.mu.idle[:n-1]
		w.mu.Unlock()
		ch <- task
		return
	}
	w.mu.Unlock()
	w.wg.Go(func() { w.loop(task) })
}

// loop runs tasks until the worker is not needed any more.
func (w *Workers) loop(task func()) {
	ch := make(chan func(), 1)
	for task != nil {
		task()
		w.mu.Lock()
		if w.mu.closed || len(w.mu.idle) >= w.idleMax {
			w.mu.Unlock()
			return
		}
		w.mu.idle = append(w.mu.idle, ch)
		w.mu.Unlock()
		task = <-ch
	}
}

// Idle reports whether no task runs in a system that a Scheduler runs.
func (w *Workers) Idle() bool { return w.scheduled.Load() == 0 }

// BranchMax returns how many branches may have a reservation at a time.
func (w *Workers) BranchMax() int { return int(w.branchMax) }

// Reserve reports whether a branch may run in a worker: there is a processor that may
// be idle. The branch gives the reservation back by Unreserve.
func (w *Workers) Reserve() bool {
	if w.branches.Add(1) > w.branchMax {
		w.branches.Add(-1)
		return false
	}
	return true
}

// Unreserve gives a reservation back.
func (w *Workers) Unreserve() { w.branches.Add(-1) }

// Close ends the idle workers and waits for the busy ones.
func (w *Workers) Close() {
	w.mu.Lock()
	w.mu.closed = true
	for _, ch := range w.mu.idle {
		ch <- nil
	}
	w.mu.idle = nil
	w.mu.Unlock()
	w.wg.Wait()
}

// Pending counts what has been issued and has not ended. The zero value counts nothing.
type Pending struct {
	n  atomic.Int64
	mu struct {
		sync.Mutex
		zero chan struct{} // closed when n reaches zero; nil if no goroutine waits
	}
	all  *Pending   // counts what p counts, too, until p has left; nil: p is no part of others
	part sync.Mutex // of one with all: held while both change
	left bool
}

// Joins makes p, which counts nothing, a part of all: what waits for either waits for all.
func (p *Pending) Joins(all *Pending) { p.all = all }

// Leave ends that: what p counts then, and later, is not waited for any more.
func (p *Pending) Leave() {
	p.part.Lock()
	defer p.part.Unlock()
	p.left = true
	p.all.Add(-int(p.n.Load()))
}

// Add adds n, which may be negative.
func (p *Pending) Add(n int) {
	if p.all != nil {
		p.part.Lock()
		defer p.part.Unlock()
		if !p.left {
			p.all.Add(n)
		}
	}
	if n != 0 && p.n.Add(int64(n)) == 0 {
		p.mu.Lock()
		if p.mu.zero != nil && p.n.Load() == 0 {
			close(p.mu.zero)
			p.mu.zero = nil
		}
		p.mu.Unlock()
	}
}

// Count returns how many there are.
func (p *Pending) Count() int64 { return p.n.Load() }

// Zero returns a channel that is closed when nothing is left, nil if nothing is.
func (p *Pending) Zero() <-chan struct{} {
	if p.all != nil && !p.hasLeft() {
		return p.all.Zero()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n.Load() == 0 {
		return nil
	}
	if p.mu.zero == nil {
		p.mu.zero = make(chan struct{})
	}
	return p.mu.zero
}

func (p *Pending) hasLeft() bool {
	p.part.Lock()
	defer p.part.Unlock()
	return p.left
}
