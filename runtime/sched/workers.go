package sched

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers are the goroutines of a system. There are as many as there is work, since
// each may wait for locks; a few stay for the next task. Close joins them.
//
// A task does not wait for another one. But where many come at once most are over soon, so they need not have a worker each: one is woken, and when it takes
// a task and leaves others it wakes the next one. A worker whose task is over goes on with what there is.
type Workers struct {
	scheduler *Scheduler
	idleMax   int
	branchMax int32
	wg        sync.WaitGroup
	scheduled atomic.Int32 // tasks of the scheduler
	branches  atomic.Int32 // reserved
	mu        struct {
		sync.Mutex
		tasks  []func() // that no worker has taken, the first one at next
		next   int
		waking bool            // a worker was woken, or begun, and has not looked yet. Invariant: so it is, if there are tasks
		idle   []chan struct{} // of workers that wait
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
	if m := &w.mu; len(m.tasks) == cap(m.tasks) && m.next > len(m.tasks)/2 { // there is always one that waits: room is made at the front
		n := copy(m.tasks, m.tasks[m.next:])
		clear(m.tasks[n:])
		m.tasks, m.next = m.tasks[:n], 0
	}
	w.mu.tasks = append(w.mu.tasks, task)
	w.wake()
}

// wake sees to it that a worker takes the next task, if there is any. Caller holds mu, and has not afterwards.
func (w *Workers) wake() {
	if w.mu.waking || len(w.mu.tasks) == 0 {
		w.mu.Unlock()
		return
	}
	w.mu.waking = true
	last := len(w.mu.idle) - 1
	if last < 0 {
		w.mu.Unlock()
		w.wg.Go(w.work)
		return
	}
	ch := w.mu.idle[last]
	w.mu.idle = w.mu.idle[:last]
	w.mu.Unlock()
	ch <- struct{}{}
}

// work runs tasks until the worker is not needed any more.
func (w *Workers) work() {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	for {
		w.mu.waking = false // it was this one; or it is woken by Close, and looks now
		for len(w.mu.tasks) > 0 {
			task := w.take()
			w.wake() // before the task, which may wait
			task()
			w.mu.Lock()
		}
		if w.mu.closed || len(w.mu.idle) >= w.idleMax {
			w.mu.Unlock()
			return
		}
		w.mu.idle = append(w.mu.idle, ch)
		w.mu.Unlock()
		<-ch
		w.mu.Lock()
	}
}

// take takes the first task. Caller holds mu.
func (w *Workers) take() func() {
	task := w.mu.tasks[w.mu.next]
	w.mu.tasks[w.mu.next] = nil
	if w.mu.next++; w.mu.next == len(w.mu.tasks) {
		w.mu.tasks, w.mu.next = w.mu.tasks[:0], 0
	}
	return task
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
		ch <- struct{}{}
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
