// Package sched has the workers of a system, in which everything runs that no client waits for on the spot: sub-events, firings of
// timers, callbacks, steps of chains, async calls, and events that are awaited later. It also has the clock, lines in
// which jobs wait for each other, what limits and counts jobs, and what
// goroutines use one at a time.
//
// In production Go schedules the goroutines. In a scheduled system of a test, a Scheduler runs one of them at a time, in an order
// that a seed chooses: the same seed repeats a run exactly.
package sched

import (
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/aeon-lang/aeon/runtime/event"
)

// Scheduler makes a system run one task at a time. A task is the goroutine that has made the Scheduler, or a worker. Where a task
// waits or yields it hands over to a task that the seed chooses among those that could run. So a seed stands for one interleaving,
// whatever the machine does. A nil Scheduler leaves the choice to Go.
//
// Workers are coroutines, which the first task resumes: Go switches to one in a third of the time that a goroutine takes to wake another.
//
// Invariant: the fields are touched by the running task; no task hands over while it holds a latch or a
// mutex, so nothing else in the system is ever contended.
type Scheduler struct {
	stuck    func() string // what the tasks wait for
	first    *task
	now      *task // runs
	ready    []*task
	waiting  []waiter
	sleeping map[*Cond][]*task
	tasks    int
	idle     []*task // their coroutines wait for something to run
	random   uint64
	choices  uint64                 // a hash of all so far
	letGo    []func() (hold func()) // see AtCollect

	// How to choose, drawn from the seed: some mistakes need many switches, some few
	// but at odd places.
	ranked bool   // the ready task of the highest rank runs
	change uint64 // of so many choices, one lets the running task fall below all others
	low    uint64 // rank of the task that has fallen last
	stay   uint64 // not ranked: in so many of 16 choices the running task runs on
}

// task is one coroutine, or the goroutine that has made the Scheduler.
type task struct {
	rank   uint64
	group  *sync.WaitGroup
	run    func() // nil: when it is resumed, the coroutine ends
	resume func() (struct{}, bool)
	wait   func(struct{}) bool // returns when it is resumed
}

// waiter is a task that waits for a condition, or until a channel is closed.
type waiter struct {
	task   *task
	cond   func() bool
	closed <-chan struct{} // if there is no cond
}

func (w *waiter) isOver() bool {
	if w.cond != nil {
		return w.cond()
	}
	select {
	case <-w.closed:
		return true
	default:
		return false
	}
}

// rankedMax is among how many tasks ranks are compared; among more, chance decides.
const rankedMax = 512

const lowRank = 1 << 63 // ranks that are drawn are above, those of fallen tasks below

// New returns a Scheduler whose first task is the calling goroutine. If no task can run any more, the process ends with
// what stuck returns.
func New(seed uint64, stuck func() string) *Scheduler {
	s := &Scheduler{stuck: stuck, sleeping: make(map[*Cond][]*task), tasks: 1, low: lowRank}
	s.random = event.EventID{Seq: seed}.Seed() // neighbouring seeds must not be one sequence, shifted
	s.ranked = s.draw()%3 == 0
	s.change = 1 << (1 + s.draw()%6)
	s.stay = [...]uint64{0, 0, 8, 14}[s.draw()%4]
	s.first = s.newTask()
	s.now = s.first
	return s
}

// draw returns the next of the seed's random numbers (splitmix64).
func (s *Scheduler) draw() uint64 {
	s.random += 0x9e3779b97f4a7c15
	return event.Mix(s.random)
}

func (s *Scheduler) newTask() *task {
	return &task{rank: s.drawRank()}
}

func (s *Scheduler) drawRank() uint64 { return s.draw() | lowRank }

// Go makes f a task of a goroutine that group counts. It runs when it is chosen; without a Scheduler, when Go has it run.
func (s *Scheduler) Go(group *sync.WaitGroup, f func()) {
	if s == nil {
		group.Go(f)
		return
	}
	group.Add(1)
	s.tasks++
	t := s.idleTask()
	t.group, t.run = group, f
	s.ready = append(s.ready, t)
}

// idleTask returns a task that has ended, whose coroutine has a stack of a size that others needed, or a new one.
func (s *Scheduler) idleTask() *task {
	last := len(s.idle) - 1
	if last < 0 {
		t := s.newTask()
		t.resume, _ = iter.Pull(func(wait func(struct{}) bool) {
			t.wait = wait
			s.work(t)
		})
		return t
	}
	t := s.idle[last]
	s.idle = s.idle[:last]
	t.rank = s.drawRank()
	return t
}

// work runs one task after the other.
func (s *Scheduler) work(t *task) {
	for t.run != nil {
		s.perform(t)
		s.pass(t)
	}
}

// perform runs a task.
func (s *Scheduler) perform(t *task) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			end(fmt.Sprintf("%v\n%s", p, debug.Stack())) // the first task would panic instead, and show its own stack
		}
		t.run = nil
		s.idle = append(s.idle, t)
		s.tasks--
		t.group.Done()
		if !returned {
			// The task has called runtime.Goexit. If that ended the coroutine, it would end the goroutine that has resumed it, too.
			s.pass(t)
			s.work(t)
		}
	}()
	t.run()
	returned = true
}

// endIdle ends the coroutines of all tasks that have ended. One in which runtime.Goexit was called ends the goroutine that resumes it.
func (s *Scheduler) endIdle() {
	for _, t := range s.idle {
		go t.resume()
	}
	s.idle = nil
}

// Yield is a point at which another task may go on. The caller holds no latch and no mutex.
func (s *Scheduler) Yield() {
	if s != nil {
		s.yield()
	}
}

func (s *Scheduler) yield() {
	me := s.now
	s.ready = append(s.ready, me)
	s.pass(me)
}

// Wait returns when ch is closed.
func (s *Scheduler) Wait(ch <-chan struct{}) {
	if s == nil {
		<-ch
		return
	}
	s.await(waiter{closed: ch})
}

// WaitEither returns when ch or or is closed. A nil channel never is.
func (s *Scheduler) WaitEither(ch, or <-chan struct{}) {
	if s == nil {
		select {
		case <-ch:
		case <-or:
		}
		return
	}
	a, b := waiter{closed: ch}, waiter{closed: or}
	s.Until(func() bool { return a.isOver() || b.isOver() })
}

// Until returns when cond holds. The running task, whichever it is, evaluates cond and holds nothing then. The
// Scheduler is not nil.
func (s *Scheduler) Until(cond func() bool) {
	s.await(waiter{cond: cond})
}

func (s *Scheduler) await(w waiter) {
	w.task = s.now
	s.waiting = append(s.waiting, w)
	s.pass(w.task)
}

// pass hands over to a task that is ready and returns when me runs again.
func (s *Scheduler) pass(me *task) {
	s.now = s.choose()
	if me != s.first {
		if s.now != me {
			me.wait(struct{}{})
		}
		return
	}
	for s.now != me {
		if s.now.resume(); s.tasks == 1 {
			s.endIdle()
		}
	}
}

// choose takes a task out of those that are ready.
func (s *Scheduler) choose() *task {
	kept := 0
	for i := range s.waiting {
		w := &s.waiting[i]
		if w.isOver() {
			s.ready = append(s.ready, w.task)
			continue
		}
		if kept < i { // most wait on, and stay where they are
			s.waiting[kept] = *w
		}
		kept++
	}
	clear(s.waiting[kept:])
	s.waiting = s.waiting[:kept]
	if len(s.ready) == 0 {
		s.deadlock()
	}
	i := 0
	if len(s.ready) > 1 {
		i = s.pick()
		s.choices = s.choices*0x9e3779b97f4a7c15 + uint64(len(s.ready))<<32 + uint64(i) + 1
	}
	t, last := s.ready[i], len(s.ready)-1
	s.ready[i], s.ready[last] = s.ready[last], nil
	s.ready = s.ready[:last]
	return t
}

// pick returns the index of the ready task that runs next.
func (s *Scheduler) pick() int {
	n := len(s.ready)
	if s.ranked && n <= rankedMax {
		if s.draw()%s.change == 0 {
			s.low--
			s.now.rank = s.low
		}
		best := 0
		for i, t := range s.ready {
			if t.rank > s.ready[best].rank {
				best = i
			}
		}
		return best
	}
	if s.draw()%16 < s.stay {
		if s.ready[n-1] == s.now { // it has just yielded
			return n - 1
		}
	}
	return int(s.draw() % uint64(n))
}

// deadlock ends the process: every task waits for another.
func (s *Scheduler) deadlock() {
	end("sched: deadlock: no task of the scheduled system can run\n" + s.stuck())
}

// Cond is a sync.Cond for tasks that a Scheduler may run.
type Cond struct {
	scheduler *Scheduler
	cond      sync.Cond
}

// Init says which mutex guards the condition, and how its waiters are scheduled. It is called once, before use.
func (c *Cond) Init(l sync.Locker, s *Scheduler) { c.cond.L, c.scheduler = l, s }

// Wait waits for a Broadcast. The caller holds the mutex, and has it again afterwards.
func (c *Cond) Wait() {
	s := c.scheduler
	if s == nil {
		c.cond.Wait()
		return
	}
	me := s.now
	s.sleeping[c] = append(s.sleeping[c], me)
	c.cond.L.Unlock()
	s.pass(me)
	c.cond.L.Lock()
}

// Broadcast wakes all that wait. The caller holds the mutex.
func (c *Cond) Broadcast() {
	if s := c.scheduler; s != nil {
		if list := s.sleeping[c]; len(list) > 0 {
			s.ready = append(s.ready, list...)
			delete(s.sleeping, c)
		}
	}
	c.cond.Broadcast()
}

// AtCollect has letGo called by Collect: it lets go of what it holds only to keep it from the garbage collector, and returns what
// holds again the things that are left. A nil Scheduler holds nothing.
func (s *Scheduler) AtCollect(letGo func() (hold func())) {
	if s != nil {
		s.letGo = append(s.letGo, letGo)
	}
}

// Collect has the garbage collector take, here and not at any time, what the tasks do not use any more.
func (s *Scheduler) Collect() {
	var holds []func()
	for _, letGo := range s.letGo {
		holds = append(holds, letGo())
	}
	runtime.GC()
	runtime.GC() // what is in a sync.Pool outlives the first one
	for _, hold := range holds {
		hold()
	}
}

// Choices returns a hash of all choices so far: it tells runs apart.
func (s *Scheduler) Choices() uint64 { return event.Mix(s.choices) }

// scatterMax bounds how many times a goroutine yields before it starts.
const scatterMax = 8

// Scatter yields to other goroutines, as often as a seed says.
func Scatter(seed uint64) {
	for range seed >> 32 % scatterMax {
		runtime.Gosched()
	}
}
