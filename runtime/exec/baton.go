package exec

import (
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
)

// baton makes a scheduled system run one task at a time. A task is a goroutine: the
// client's, which has opened the system, and every worker. Where a task waits, and where
// an event begins or ends, issues a branch or goes down to another lock, it hands the
// baton to a task that the seed chooses among those that could run. So a seed stands for
// one interleaving, whatever the machine does.
//
// Invariant: the fields are touched by the task that has the baton; no task hands it on
// while it holds a latch or a mutex, so nothing else in the system is ever contended.
type baton struct {
	sys      *System
	now      *task // has the baton
	ready    []*task
	waiting  []waiter
	sleeping map[*Event][]*task
	tasks    int
	random   uint64

	// How to choose, drawn from the seed: some mistakes need many switches, others few
	// but at odd places.
	ranked bool   // the ready task of the highest rank runs
	change uint64 // of so many choices, one lets the running task fall below all others
	low    uint64 // rank of the task that has fallen last
	stay   uint64 // not ranked: in so many of 16 choices the running task runs on
}

// task is one goroutine of a scheduled system.
type task struct {
	turn chan struct{}
	rank uint64
}

// waiter is a task that waits for a condition.
type waiter struct {
	task *task
	cond func() bool
}

// rankedMax is among how many tasks ranks are compared; among more, chance decides.
const rankedMax = 512

const lowRank = 1 << 63 // ranks that are drawn are above, those of fallen tasks below

// newBaton gives the baton to the calling goroutine.
func newBaton(s *System, seed uint64) *baton {
	b := &baton{sys: s, sleeping: make(map[*Event][]*task), tasks: 1, low: lowRank}
	b.random = event.EventID{Seq: seed}.Seed() // neighbouring seeds must not be one sequence, shifted
	b.ranked = b.draw()%3 == 0
	b.change = 1 << (1 + b.draw()%6)
	b.stay = [...]uint64{0, 0, 8, 14}[b.draw()%4]
	b.now = b.newTask()
	return b
}

// draw returns the next of the seed's random numbers (splitmix64).
func (b *baton) draw() uint64 {
	b.random += 0x9e3779b97f4a7c15
	z := b.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (b *baton) newTask() *task {
	return &task{turn: make(chan struct{}, 1), rank: b.draw() | lowRank}
}

// start makes f a task. It runs when it is chosen.
func (b *baton) start(w *workers, f func()) {
	t := b.newTask()
	b.tasks++
	b.ready = append(b.ready, t)
	w.wg.Go(func() {
		<-t.turn
		defer func() { // also on runtime.Goexit
			b.tasks--
			b.pass(nil)
		}()
		f()
	})
}

// yield lets the seed choose who goes on.
func (b *baton) yield() {
	me := b.now
	b.ready = append(b.ready, me)
	b.pass(me)
}

// until returns when cond holds. It is evaluated by whoever has the baton, who holds
// nothing then.
func (b *baton) until(cond func() bool) {
	me := b.now
	b.waiting = append(b.waiting, waiter{me, cond})
	b.pass(me)
}

// sleep waits for news of ev, as ev.cond.Wait does; the caller holds ev.mu.
func (b *baton) sleep(ev *Event) {
	me := b.now
	b.sleeping[ev] = append(b.sleeping[ev], me)
	ev.mu.Unlock()
	b.pass(me)
	ev.mu.Lock()
}

// rouse makes those that sleep on ev ready.
func (b *baton) rouse(ev *Event) {
	if list := b.sleeping[ev]; len(list) > 0 {
		b.ready = append(b.ready, list...)
		delete(b.sleeping, ev)
	}
}

// pass hands the baton to a task that is ready and returns when me has it again; a task
// that has ended is nil.
func (b *baton) pass(me *task) {
	t := b.choose()
	b.now = t
	if t == me {
		return
	}
	t.turn <- struct{}{}
	if me != nil {
		<-me.turn
	}
}

// choose takes a task out of those that are ready.
func (b *baton) choose() *task {
	kept := b.waiting[:0]
	for _, w := range b.waiting {
		if w.cond() {
			b.ready = append(b.ready, w.task)
		} else {
			kept = append(kept, w)
		}
	}
	clear(b.waiting[len(kept):])
	b.waiting = kept
	if len(b.ready) == 0 {
		b.stuck()
	}
	i := 0
	if len(b.ready) > 1 {
		i = b.pick()
	}
	t, last := b.ready[i], len(b.ready)-1
	b.ready[i], b.ready[last] = b.ready[last], nil
	b.ready = b.ready[:last]
	return t
}

// pick returns the index of the ready task that runs next.
func (b *baton) pick() int {
	n := len(b.ready)
	if b.ranked && n <= rankedMax {
		if b.draw()%b.change == 0 {
			b.low--
			b.now.rank = b.low
		}
		best := 0
		for i, t := range b.ready {
			if t.rank > b.ready[best].rank {
				best = i
			}
		}
		return best
	}
	if b.draw()%16 < b.stay {
		if b.ready[n-1] == b.now { // it has just yielded
			return n - 1
		}
	}
	return int(b.draw() % uint64(n))
}

// stuck ends the process: every task waits for another. No recover of an event may take
// that for a failure of its own.
func (b *baton) stuck() {
	var waits strings.Builder
	b.sys.WriteWaits(&waits)
	go panic("exec: deadlock: no task of the scheduled system can run\n" + waits.String())
	select {}
}

// yield is a point at which a scheduled system may go on elsewhere. The caller holds no
// latch and no mutex.
func (s *System) yield() {
	if s.baton != nil {
		s.baton.yield()
	}
}

// wait returns when ch is closed.
func (s *System) wait(ch <-chan struct{}) {
	if s.baton == nil {
		<-ch
		return
	}
	s.baton.until(func() bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	})
}

// sleep waits for news of the event; the caller holds ev.mu.
func (ev *Event) sleep() {
	if ev.baton != nil {
		ev.baton.sleep(ev)
		return
	}
	ev.cond.Wait()
}

// rouse wakes those who sleep on the event; the caller holds ev.mu.
func (ev *Event) rouse() {
	if ev.baton != nil {
		ev.baton.rouse(ev)
	}
	ev.cond.Broadcast()
}
