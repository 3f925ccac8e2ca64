package driver

import (
	"sync"

	"github.com/aeon-lang/aeon/runtime/sched"
)

// queue hands jobs to one goroutine, in order.
type queue struct {
	mu     sync.Mutex
	wake   sched.Cond
	jobs   []func()
	closed bool
}

func (q *queue) init(s *sched.Scheduler) { q.wake.Init(&q.mu, s) }

// add appends a job. It reports false, and drops the job, after close.
func (q *queue) add(job func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	if q.jobs = append(q.jobs, job); len(q.jobs) == 1 {
		q.wake.Broadcast()
	}
	return true
}

// close ends run when the jobs that were added are done.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake.Broadcast()
}

// run does the jobs until the queue is closed. After each lot, which is all that there were, it calls after, unless that is nil.
func (q *queue) run(after func()) {
	for {
		q.mu.Lock()
		for len(q.jobs) == 0 && !q.closed {
			q.wake.Wait()
		}
		lot := q.jobs
		q.jobs = nil
		q.mu.Unlock()
		if len(lot) == 0 {
			return
		}
		for _, job := range lot {
			job()
		}
		if after != nil {
			after()
		}
	}
}
