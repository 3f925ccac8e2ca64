package outbox

import (
	"container/heap"
	"slices"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// Timer is one pending `after` or `every`. Its fields are guarded by the mutex of Timers, except
// those that never change.
type Timer[C any] struct {
	Issuer     *order.Handle // nil of a timer of the system, which has no name
	Name       string
	Call       C             // the call that it makes
	Every      time.Duration // 0 for a one-shot timer
	Generation uint64        // its number, which no other timer has
	Row        TimerRow      // of a system with a store

	Due   time.Time
	Ticks uint64 // how many firings have begun

	stored  bool      // it was found in a store, and is due by the clock of the day
	late    bool      // it is among the late ones (late.go)
	slot    int       // in its heap, -1 outside
	off     bool      // cancelled, replaced or done
	next    *Timer[C] // of the same issuer, among those that are not off
	prev    *Timer[C]
	firings int // how many firings, and events or callbacks of theirs, have not ended; meanwhile ticks coalesce
}

// TimerRow is what a timer keeps of its row. A callback of a client of its own store has no row.
type TimerRow struct {
	Call      []byte // the part that does not change; nil if there is no row
	Signature uint32 // number of the signature of its call
	Due       int64  // the due time in its key; guarded by the stripe of timers
}

type timerKey struct {
	issuer *order.Handle
	name   string
}

// Timers holds the pending timers. A firing is an event on the issuer, which checks under the
// issuer's lock that the timer has not been cancelled, and emits the event proper. With a real
// clock a goroutine waits for the next due time; with a simulated one the owner of the clock fires
// the due timers.
//
// Invariants, of a timer under the mutex: it is listed by its issuer if and only if it is not off; one that is off is in
// no heap and has no name; its firings are never negative.
type Timers[C any] struct {
	cfg  TimersConfig[C]
	sim  bool
	kick chan struct{}
	stop chan struct{}
	done chan struct{}
	mu   struct {
		sync.Mutex
		heap     timerHeap[C]
		named    map[timerKey]*Timer[C]
		last     uint64 // generation
		oneShots int    // one-shot timers that are pending or firing
		idle     chan struct{}
		running  bool // the goroutine was started
		closed   bool
		first    map[*order.Handle]*Timer[C] // by issuer, of its timers that are not off
		late     lateTimers[C]
		began    time.Time     // when the first stored timer was restored; zero: none was
		ahead    time.Duration // by which the clock of the day was set forward since then
	}
}

// TimersConfig says how timers fire.
type TimersConfig[C any] struct {
	Clock sched.Clock
	Fire  func(*Timer[C]) // begins a firing of a timer, which ends with a call of Ended
	// Settle waits, in simulated time, until a firing has ended, with all that it has caused.
	Settle func()
}

// Open is called before the first use.
func (ts *Timers[C]) Open(cfg TimersConfig[C]) {
	ts.cfg = cfg
	_, ts.sim = cfg.Clock.(*sched.SimClock)
	ts.kick = make(chan struct{}, 1)
	ts.stop, ts.done = make(chan struct{}), make(chan struct{})
	ts.mu.named = make(map[timerKey]*Timer[C])
	ts.mu.first = make(map[*order.Handle]*Timer[C])
}

// Set begins a timer. It replaces the timer of the same name, if there is one. The event that has set it still holds the
// issuer. A timer without a generation gets one.
func (ts *Timers[C]) Set(t *Timer[C]) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.Name != "" {
		ts.drop(ts.mu.named[timerKey{t.Issuer, t.Name}])
	}
	if t.Generation == 0 {
		ts.mu.last++
		t.Generation = ts.mu.last
	}
	ts.enter(t)
}

// Restore begins a timer that was found in a store. One that is due already is late. When the clock of the machine is set forward, as one that was behind when
// the store was opened is put right, it is due as much sooner (look). When the clock is set back it is due no later.
func (ts *Timers[C]) Restore(t *Timer[C], now time.Time) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.mu.began.IsZero() {
		ts.mu.began = now
	}
	ts.look(now)
	t.stored = true
	ts.place(t, t.Due.Sub(now), now)
	ts.enter(t)
}

// setMin is by how much a clock is set at least: its two readings are not taken at one moment.
const setMin = time.Second

// place has a stored timer, which is in no heap, due in some time. A stored time has no monotonic reading. Among times that have one it would be in no order when
// the clock of the machine is set, so it gets one. Caller holds mu.
func (ts *Timers[C]) place(t *Timer[C], in time.Duration, now time.Time) {
	if t.Every > 0 && t.Ticks > 0 { // else the clock was set back since it ticked
		in = min(in, t.Every)
	}
	t.Due = sched.After(now, in)
	t.late = !ts.sim && !t.Due.After(now)
}

// look places the stored timers again if the clock of the day was set, and so has gone on by more or less than the monotonic one. Caller holds mu.
func (ts *Timers[C]) look(now time.Time) {
	if ts.mu.began.IsZero() {
		return
	}
	ahead := max(0, time.Duration(now.UnixNano()-ts.mu.began.UnixNano())-now.Sub(ts.mu.began))
	by := ahead - ts.mu.ahead
	if by.Abs() < setMin {
		return
	}
	ts.mu.ahead = ahead
	for _, t := range slices.Concat(ts.mu.heap, ts.mu.late.heap) {
		if t.stored {
			ts.unqueue(t)
			ts.place(t, t.Due.Sub(now)-by, now)
			ts.queue(t)
		}
	}
}

// Cancel ends the timer of a name, if there is one.
func (ts *Timers[C]) Cancel(issuer *order.Handle, name string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.drop(ts.mu.named[timerKey{issuer, name}])
}

// enter puts a timer into the heap. Caller holds mu.
func (ts *Timers[C]) enter(t *Timer[C]) {
	if t.Every == 0 {
		ts.mu.oneShots++
	}
	if t.Name != "" {
		ts.mu.named[timerKey{t.Issuer, t.Name}] = t
	}
	ts.list(t)
	ts.queue(t)
}

// list notes that t is not off. Caller holds mu.
func (ts *Timers[C]) list(t *Timer[C]) {
	if t.Issuer == nil {
		return
	}
	if t.next = ts.mu.first[t.Issuer]; t.next != nil {
		t.next.prev = t
	}
	ts.mu.first[t.Issuer] = t
	t.Issuer.Mark(order.MarkTimed, true)
}

// unlist notes that t is off. If t was the last timer of its actor the actor may be detached. Caller holds mu.
func (ts *Timers[C]) unlist(t *Timer[C]) {
	if t.Issuer == nil {
		return
	}
	if t.next != nil {
		t.next.prev = t.prev
	}
	switch {
	case t.prev != nil:
		t.prev.next = t.next
	case t.next != nil:
		ts.mu.first[t.Issuer] = t.next
	default:
		delete(ts.mu.first, t.Issuer)
		t.Issuer.Mark(order.MarkTimed, false)
	}
	t.next, t.prev = nil, nil
}

// drop ends t, if it is not nil and not over. Caller holds mu.
func (ts *Timers[C]) drop(t *Timer[C]) {
	if t == nil || t.off {
		return
	}
	t.off = true
	ts.unlist(t)
	if t.slot >= 0 {
		ts.unqueue(t)
	}
	if t.Name != "" {
		delete(ts.mu.named, timerKey{t.Issuer, t.Name})
	}
	if t.Every == 0 && t.firings == 0 {
		ts.lessOneShot()
	}
}

func (ts *Timers[C]) lessOneShot() {
	ts.mu.oneShots--
	assert.That(ts.mu.oneShots >= 0, "outbox: more one-shot timers have ended than were set")
	if ts.mu.oneShots == 0 && ts.mu.idle != nil {
		close(ts.mu.idle)
		ts.mu.idle = nil
	}
}

// Wake makes the goroutine look at the heap again; it starts it at the first timer.
func (ts *Timers[C]) Wake() {
	if ts.sim {
		return
	}
	ts.mu.Lock()
	start := !ts.mu.running && !ts.mu.closed && len(ts.mu.heap)+len(ts.mu.late.heap) > 0
	ts.mu.running = ts.mu.running || start
	running := ts.mu.running
	ts.mu.Unlock()
	if start {
		go ts.loop()
		return
	}
	if running {
		select {
		case ts.kick <- struct{}{}:
		default:
		}
	}
}

// lookEach is after what time the goroutine looks at the clock again, at the latest.
const lookEach = time.Minute

// loop fires timers by the real clock until Close.
func (ts *Timers[C]) loop() {
	defer close(ts.done)
	for {
		var wait <-chan time.Time
		var alarm *time.Timer
		if d, ok := ts.FireDue(ts.cfg.Clock.Now()); ok {
			alarm = time.NewTimer(min(d, lookEach)) // the clock may be set meanwhile
			wait = alarm.C
		}
		select {
		case <-ts.stop:
			if alarm != nil {
				alarm.Stop()
			}
			return
		case <-ts.kick:
		case <-wait:
		}
		if alarm != nil {
			alarm.Stop()
		}
	}
}

// Close ends the goroutine.
func (ts *Timers[C]) Close() {
	ts.mu.Lock()
	ts.mu.closed = true
	running := ts.mu.running
	ts.mu.Unlock()
	close(ts.stop)
	if running {
		<-ts.done
	}
}

// Next returns the earliest due time. It is for simulated time, in which no timer is late.
func (ts *Timers[C]) Next() (due time.Time, ok bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if len(ts.mu.heap) == 0 {
		return due, false
	}
	return ts.mu.heap[0].Due, true
}

// FireDue fires all timers due at now, in order of due time, and returns the time until
// the next one. In simulated time each firing settles before the next, so that a test sees
// one order.
func (ts *Timers[C]) FireDue(now time.Time) (wait time.Duration, ok bool) {
	for {
		t, wait, ok := ts.Pop(now)
		if t == nil {
			return wait, ok
		}
		ts.cfg.Fire(t)
		if ts.sim {
			ts.cfg.Settle()
		}
	}
}

// Pop takes the first timer that is due, and puts a periodic one back at its next tick
// after now, so that missed ticks become one; there is none after the end of time. The caller fires the timer.
func (ts *Timers[C]) Pop(now time.Time) (t *Timer[C], wait time.Duration, ok bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.look(now)
	for {
		t, wait, ok := ts.earliest(now)
		if t == nil {
			return nil, wait, ok
		}
		ts.unqueue(t)
		busy := t.firings > 0
		if t.Every > 0 && t.Due.Before(sched.EndOfTime) {
			missed := now.Sub(t.Due) / t.Every
			t.Due = sched.After(t.Due.Add(missed*t.Every), t.Every)
			ts.queue(t)
		}
		if busy {
			continue // the tick before has not ended: the two coalesce
		}
		t.firings++
		t.Ticks++
		return t, 0, true
	}
}

// Off reports whether t was cancelled, or is a one-shot timer that has fired.
func (ts *Timers[C]) Off(t *Timer[C]) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return t.off
}

// DueOf returns when t is due next, or was due last.
func (ts *Timers[C]) DueOf(t *Timer[C]) time.Time {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return t.Due
}

// Emitted notes that a firing of t, if t is not nil, has emitted the event or the callback
// proper, which ends by itself.
func (ts *Timers[C]) Emitted(t *Timer[C]) {
	if t == nil {
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.firings++
}

// Ended notes that a firing of t, if t is not nil, or the event or callback that it has emitted, has ended.
func (ts *Timers[C]) Ended(t *Timer[C]) {
	if t == nil {
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.lessFiring(t)
	if t.Every > 0 {
		return
	}
	if !t.off {
		t.off = true
		ts.unlist(t)
		if t.Name != "" && ts.mu.named[timerKey{t.Issuer, t.Name}] == t {
			delete(ts.mu.named, timerKey{t.Issuer, t.Name})
		}
	}
	if t.firings == 0 {
		ts.lessOneShot()
	}
}

func (ts *Timers[C]) lessFiring(t *Timer[C]) {
	t.firings--
	assert.That(t.firings >= 0, "outbox: more firings of a timer have ended than begun")
}

// Postponed notes that a firing of t has not begun and will not. t stays set, with its row, but does not fire again. An
// event that has not ended yet may cancel it, or delete its issuer.
func (ts *Timers[C]) Postponed(t *Timer[C]) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.lessFiring(t)
}

// Drop ends t, if it is not nil and not over.
func (ts *Timers[C]) Drop(t *Timer[C]) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.drop(t)
}

// Forget drops the timers of an actor that was deleted.
func (ts *Timers[C]) Forget(issuer *order.Handle) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for t := ts.mu.first[issuer]; t != nil; {
		next := t.next
		if t.slot >= 0 { // else it is firing, and ends by itself
			ts.drop(t)
		}
		t = next
	}
}

// OneShots returns a channel that is closed when no one-shot timer is left, nil if none is.
func (ts *Timers[C]) OneShots() <-chan struct{} {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.mu.oneShots == 0 {
		return nil
	}
	if ts.mu.idle == nil {
		ts.mu.idle = make(chan struct{})
	}
	return ts.mu.idle
}

// Pending calls f for every timer that waits, in no order, and says whether it is the one that its name finds. It is for tests.
func (ts *Timers[C]) Pending(f func(t *Timer[C], found bool)) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.mu.heap {
		f(t, ts.mu.named[timerKey{t.Issuer, t.Name}] == t)
	}
}

// TimerCounts has how many timers wait, how many have names, how many are one-shot timers that have not ended, and how
// many actors have timers.
type TimerCounts struct{ Waiting, Named, OneShots, Issuers int }

// Counts returns the counts as they are now. It is for tests.
func (ts *Timers[C]) Counts() TimerCounts {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return TimerCounts{len(ts.mu.heap) + len(ts.mu.late.heap), len(ts.mu.named), ts.mu.oneShots, len(ts.mu.first)}
}

// timerHeap orders timers by due time, then by the order in which they were set.
type timerHeap[C any] []*Timer[C]

var _ heap.Interface = (*timerHeap[int])(nil)

// Len implements heap.Interface.
func (h timerHeap[C]) Len() int { return len(h) }

// Less implements heap.Interface.
func (h timerHeap[C]) Less(i, j int) bool { return h[i].before(h[j]) }

func (t *Timer[C]) before(u *Timer[C]) bool {
	if !t.Due.Equal(u.Due) {
		return t.Due.Before(u.Due)
	}
	return t.Generation < u.Generation
}

// Swap implements heap.Interface.
func (h timerHeap[C]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].slot, h[j].slot = i, j
}

// Push implements heap.Interface.
func (h *timerHeap[C]) Push(x any) {
	t := x.(*Timer[C])
	t.slot = len(*h)
	*h = append(*h, t)
}

// Pop implements heap.Interface.
func (h *timerHeap[C]) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.slot = -1
	return t
}
