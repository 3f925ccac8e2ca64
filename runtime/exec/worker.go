package exec

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// workers are the goroutines of a system: they run events nobody waits for in place,
// lanes, callbacks, branches and maintenance. There are as many as there is work, since
// each may wait for locks; a few stay for the next task. Close joins them.
type workers struct {
	idleMax   int
	branchMax int32
	wg        sync.WaitGroup
	running   atomic.Int32 // branches
	baton     *baton       // of a scheduled system
	mu        struct {
		sync.Mutex
		idle   []chan func()
		closed bool
	}
}

func (w *workers) open(branches int) {
	w.idleMax, w.branchMax = 4*runtime.GOMAXPROCS(0), int32(branches)
}

// run runs task in a worker.
func (w *workers) run(task func()) {
	if w.baton != nil {
		w.baton.start(w, task)
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
func (w *workers) loop(task func()) {
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

// reserve reports whether a branch may run in a worker: there is a processor that may
// be idle. The branch gives the reservation back.
func (w *workers) reserve() bool {
	if w.running.Add(1) > w.branchMax {
		w.running.Add(-1)
		return false
	}
	return true
}

func (w *workers) unreserve() { w.running.Add(-1) }

// close ends the idle workers and waits for the busy ones.
func (w *workers) close() {
	w.mu.Lock()
	w.mu.closed = true
	for _, ch := range w.mu.idle {
		ch <- nil
	}
	w.mu.idle = nil
	w.mu.Unlock()
	w.wg.Wait()
}

// live counts what has been issued and has not ended, apart from events that their
// callers wait for: sub-events, callbacks, events issued and not awaited.
type live struct {
	n  atomic.Int64
	mu struct {
		sync.Mutex
		zero chan struct{} // closed when n reaches zero; nil if nobody waits
	}
}

func (l *live) add(n int) {
	if n != 0 && l.n.Add(int64(n)) == 0 {
		l.mu.Lock()
		if l.mu.zero != nil && l.n.Load() == 0 {
			close(l.mu.zero)
			l.mu.zero = nil
		}
		l.mu.Unlock()
	}
}

// wait returns a channel that is closed when nothing is left, nil if nothing is.
func (l *live) wait() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n.Load() == 0 {
		return nil
	}
	if l.mu.zero == nil {
		l.mu.zero = make(chan struct{})
	}
	return l.mu.zero
}
