package store

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
)

// lazySync is how long a batch for which nothing waits stays unsynced in mode Sync. Such
// batches cost at most one sync of the disk in that time.
const lazySync = 5 * time.Millisecond

// gatherMax is the longest time that a group commit waits for more batches to join it.
const gatherMax = 200 * time.Microsecond

// gatherMin is the shortest: to look at the clock would take as long as a sync in memory.
const gatherMin = time.Microsecond

// stallReport is how long a sync may take before it is logged.
const stallReport = time.Second

// groupCommit is one sync of the engine, for all batches applied before it. A waiter for a position waits for the end
// of the first group that covers the position, and so is woken once. The mutex of the groupCommits guards it: the same memory is the
// group after the next.
type groupCommit struct {
	target uint64        // positions up to this one are durable when it is over
	done   chan struct{} // closed then; nil: no goroutine waits for it, but perhaps the one that runs it
	asked  bool          // an await waits for it
}

// waited returns the channel to wait for.
func (g *groupCommit) waited() <-chan struct{} {
	if g.done == nil {
		g.done = make(chan struct{})
	}
	return g.done
}

// end wakes those that wait for the group, which is over.
func (g *groupCommit) end() {
	if g.done != nil {
		close(g.done)
	}
}

// groupCommits are what syncLoop and the waiters share.
type groupCommits struct {
	sync.Mutex
	current *groupCommit // under way; nil: none
	next    *groupCommit // waiters for more than current covers join it
	spare   *groupCommit // nil while there is a current one

	// leading is full while a goroutine runs a group: the first that waits for it, if no other one runs, else syncLoop. It is a mutex, taken
	// before the one above, that a simulated clock passes over; and it guards watch.
	leading chan struct{}
	watch   *stallWatch

	took atomic.Int64 // the nanoseconds of the last group
	// covered is a time, on the clock of the store.
	// Invariant: all that was answered before it is durable.
	covered atomic.Int64
	asked   chan struct{} // a group is wanted at once
	fresh   chan struct{} // something was appended while the loop was idle
	idle    atomic.Bool   // the loop has seen nothing unsynced, and waits for fresh, or is about to
	stop    chan struct{}
	ended   chan struct{} // closed when the loop has ended
}

func (r *groupCommits) init(log *slog.Logger) {
	r.next, r.spare = &groupCommit{}, &groupCommit{}
	r.watch, r.leading = newStallWatch(log), make(chan struct{}, 1)
	r.asked, r.fresh = make(chan struct{}, 1), make(chan struct{}, 1)
	r.stop, r.ended = make(chan struct{}), make(chan struct{})
}

// place returns the position of a batch that was applied, and tells an idle loop that there is something to sync. The append
// comes before the answer. So all that was answered before the append is durable if this position is the first that is not. It
// may be a later one: others are appended while the loop becomes idle, and after it has seen nothing unsynced.
func (s *Store) place() Position {
	r := &s.groups
	idle, now := r.idle.Load(), time.Duration(0)
	if idle {
		now = s.clock()
	}
	p := s.appended.Add(1)
	if r.idle.Load() && r.idle.CompareAndSwap(true, false) {
		if idle && p == s.durable.Load()+1 {
			r.covered.Store(int64(now))
		}
		signal(r.fresh)
	}
	return Position(p)
}

// clock is the time since the store was opened.
func (s *Store) clock() time.Duration { return time.Since(s.opened) }

// Overdue reports whether an answer has to wait until it is durable though the mode is Relaxed. It has to as long as an
// answer that is older than the mode's time is not durable. So all answers that a crash takes back were given within
// that time of each other, however long the disk stalls.
func (s *Store) Overdue() bool {
	return s.mode.mode == modeRelaxed && s.clock()-time.Duration(s.groups.covered.Load()) > s.mode.every
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// await joins the group that covers p, and waits for it.
func (s *Store) await(ctx context.Context, p Position) error {
	canLeave := ctx.Done() != nil && s.scheduler == nil
	leads := s.scheduler == nil && !canLeave
	done, first := s.join(p, leads)
	if first && leads {
		if s.lead() {
			return s.outcome(p) // of its group, or of one that has covered p meanwhile
		}
		done, _ = s.join(p, false)
	}
	if done == nil {
		return s.outcome(p)
	}
	if first {
		signal(s.groups.asked)
	}
	if !canLeave {
		s.scheduler.Wait(done)
		return s.outcome(p)
	}
	select {
	case <-done:
		return s.outcome(p)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join joins the group that covers p, and returns what is closed when that is over; nil: it is. first says that no other goroutine has joined it, and none
// runs it: one that leads then, and so needs no channel, or syncLoop is to.
func (s *Store) join(p Position, leads bool) (done <-chan struct{}, first bool) {
	r := &s.groups
	r.Lock()
	defer r.Unlock()
	if s.hasFailed() || s.Durable(p) {
		return nil, false
	}
	g := r.next
	if r.current != nil && uint64(p) <= r.current.target {
		g = r.current
	}
	if first = g == r.next && !g.asked; first {
		if g.asked = true; leads {
			return nil, true
		}
	}
	return g.waited(), first
}

// lead runs a group in the goroutine that waits for it, which saves two changes of goroutines. It returns false if another goroutine runs one.
func (s *Store) lead() bool {
	r := &s.groups
	select {
	case r.leading <- struct{}{}:
	default:
		return false
	}
	s.gather()
	s.syncGroup()
	<-r.leading
	return true
}

// outcome is what Wait returns after the group that covers p.
func (s *Store) outcome(p Position) error {
	if s.Durable(p) {
		return nil
	}
	err := s.Err()
	assert.That(err != nil, "a group ended without position %d", p)
	return err
}

// syncLoop runs one group commit after another until the store is closed or fails.
func (s *Store) syncLoop() {
	defer close(s.groups.ended)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for s.awaitWork(timer) && s.follow() {
	}
}

// follow runs a group in syncLoop, if what it is for has not been in another one meanwhile. It reports whether there may be another.
func (s *Store) follow() bool {
	r := &s.groups
	r.leading <- struct{}{}
	defer func() { <-r.leading }()
	r.Lock()
	done := !s.hasFailed() && !r.next.asked && !s.unsynced()
	r.Unlock()
	if done {
		return true
	}
	s.gather()
	return s.syncGroup()
}

// awaitWork returns true when a group is due, false when the loop is to end. It uses timer, which is stopped.
func (s *Store) awaitWork(timer *time.Timer) bool {
	r := &s.groups
	if s.scheduler != nil {
		over := func() bool { return isClosed(r.stop) || s.hasFailed() }
		s.scheduler.Until(func() bool { return over() || s.unsynced() })
		return !over()
	}
	waits, fresh := false, false // for timer; something was appended
	defer func() {
		if waits {
			timer.Stop()
		}
	}()
	for {
		if !waits && !fresh && !s.unsynced() {
			r.idle.Store(true)
			if s.unsynced() && r.idle.CompareAndSwap(true, false) {
				continue
			}
		} else if !waits {
			waits = true
			timer.Reset(s.delay())
		}
		select {
		case <-r.stop:
			return false
		case <-s.failed:
			return false
		case <-r.asked:
			return true
		case <-timer.C:
			return true
		case <-r.fresh:
			fresh = true // and perhaps synced by now: else each append after a group that a waiter has led would wake the loop
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (s *Store) unsynced() bool { return s.appended.Load() > s.durable.Load() }

// delay is how long a batch for which nothing waits stays unsynced. In mode Relaxed the sync is to end before answers
// are overdue, so that none waits while the disk is as fast as before.
func (s *Store) delay() time.Duration {
	if every := s.mode.every; s.mode.mode == modeRelaxed {
		begin := time.Duration(s.groups.covered.Load()) + max(every/2, every-2*time.Duration(s.groups.took.Load()))
		return begin - s.clock()
	}
	return lazySync
}

// gather waits while the waiters that the last group has woken append. Otherwise
// the first of them would have a group of its own, and all others would wait for two groups. It takes
// a small part of the time of a sync.
func (s *Store) gather() {
	if s.scheduler != nil {
		return
	}
	limit := min(time.Duration(s.groups.took.Load())/4, gatherMax)
	if limit < gatherMin {
		return
	}
	for began := time.Now(); time.Since(began) < limit; {
		n := s.appended.Load()
		runtime.Gosched()
		if s.appended.Load() == n {
			return
		}
	}
}

// syncGroup runs one group and reports whether there may be another. Caller holds leading.
func (s *Store) syncGroup() bool {
	r := &s.groups
	began := time.Now()
	r.Lock()
	if s.hasFailed() { // and a group that has seen that may be the current one
		r.Unlock()
		return false
	}
	// Invariant: groups run one after the other.
	assert.That(r.current == nil, "two groups run at a time")
	mine := r.next
	// The counter is read before the engine syncs: what is counted has been applied.
	mine.target = s.appended.Load()
	bytes := s.credit.applied.Load()
	r.current, r.next, r.spare = mine, r.spare, nil
	r.Unlock()

	r.watch.begin(began)
	err := s.engine.Sync()
	r.watch.end()
	took := time.Since(began)
	r.took.Store(int64(took))
	s.syncs.Observe(took)
	if err != nil {
		s.Fail(err)
	}

	r.Lock()
	defer r.Unlock()
	if s.hasFailed() {
		return false
	}
	// Invariant: a group makes durable what was appended, and nothing twice.
	if was := s.durable.Load(); mine.target < was || mine.target > s.appended.Load() { // no assert.That, whose arguments would be allocated
		assert.Unreachable("a group up to %d after %d", mine.target, was)
	}
	s.durable.Store(mine.target)
	r.covered.Store(int64(began.Sub(s.opened)))
	s.credit.giveBack(bytes)
	mine.end()
	*mine = groupCommit{}
	r.current, r.spare = nil, mine
	return true
}

// abandon wakes all that wait: the store has failed, and from then on no group begins, and none is joined. It is called once.
func (r *groupCommits) abandon() {
	r.Lock()
	defer r.Unlock()
	if r.current != nil {
		r.current.end()
	}
	r.next.end()
}

// endLoop ends syncLoop after a last group.
func (s *Store) endLoop() {
	r := &s.groups
	close(r.stop)
	s.scheduler.Wait(r.ended)
	r.leading <- struct{}{}
	defer func() { <-r.leading }()
	if !s.hasFailed() {
		s.syncGroup()
	}
}
