package exec

import (
	"sync"
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// timer is one pending `after` or `every`. Its fields are guarded by timers.mu, except
// those that never change.
type timer struct {
	issuer     *order.Handle
	name       string
	target     *order.Handle
	method     *Method
	object     *ClientObject // of a callback, which has no target
	call       *ClientMethod
	args       order.Args
	every      time.Duration // 0 for a one-shot timer
	generation uint64
	from       *origin // traced systems only

	payload   []byte         // of its row, in a system with a store: what does not change; nil if it has none
	signature uint32         // number of that of its call, in the row
	pos       store.Position // of the event that has set it
	stored    int64          // the due time under which the row stands; guarded by the stripe of timers

	late bool // it is among the late ones (late.go)

	due     time.Time
	tick    uint64
	slot    int    // in its heap, -1 outside
	off     bool   // cancelled, replaced or done
	next    *timer // of the same issuer, among those that are not off
	prev    *timer
	firings int // firings, and what they have emitted, that have not ended: later ticks coalesce
}

type timerKey struct {
	issuer *order.Handle
	name   string
}

// timers holds what is to happen later. Firing is an event on the issuer, which checks
// under the issuer's lock that the timer has not been cancelled, and emits the event
// proper. With a real clock a goroutine waits for the next due time; with a simulated
// one Client.Advance fires.
type timers struct {
	sys  *System
	kick chan struct{}
	stop chan struct{}
	done chan struct{}
	mu   struct {
		sync.Mutex
		heap     timerHeap
		named    map[timerKey]*timer
		last     uint64 // generation
		oneShots int    // one-shot timers that are pending or firing
		idle     chan struct{}
		running  bool // the goroutine was started
		closed   bool
		first    map[*order.Handle]*timer // by issuer, of its timers that are not off
		late     lateTimers
	}
}

func (ts *timers) open(s *System) {
	ts.sys = s
	ts.kick = make(chan struct{}, 1)
	ts.stop, ts.done = make(chan struct{}), make(chan struct{})
	ts.mu.named = make(map[timerKey]*timer)
	ts.mu.first = make(map[*order.Handle]*timer)
}

// set adds the timer that o describes, which comes from an event. That event that issued it still holds the issuer.
func (ts *timers) set(o *op, from *origin) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if o.name != "" {
		ts.drop(ts.mu.named[timerKey{o.issuer, o.name}])
	}
	t := o.made
	if t == nil {
		ts.mu.last++
		t = &timer{issuer: o.issuer, name: o.name, target: o.target, method: o.method, object: o.object, call: o.call,
			args: o.args, every: o.every, generation: ts.mu.last, due: sched.After(ts.sys.clock.Now(), o.delay)}
		o.made = t
	}
	t.from = from
	ts.enter(t)
}

// cancel removes a timer by name.
func (ts *timers) cancel(issuer *order.Handle, name string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.drop(ts.mu.named[timerKey{issuer, name}])
}

// drop ends t, if it is not nil and not over. Caller holds mu.
func (ts *timers) drop(t *timer) {
	if t == nil || t.off {
		return
	}
	t.off = true
	ts.unlist(t)
	if t.slot >= 0 {
		ts.unqueue(t)
	}
	if t.name != "" {
		delete(ts.mu.named, timerKey{t.issuer, t.name})
	}
	if t.every == 0 && t.firings == 0 {
		ts.lessOneShot()
	}
}

func (ts *timers) lessOneShot() {
	ts.mu.oneShots--
	if ts.mu.oneShots == 0 && ts.mu.idle != nil {
		close(ts.mu.idle)
		ts.mu.idle = nil
	}
}

// wake makes the goroutine look at the heap again; it starts it at the first timer.
func (ts *timers) wake() {
	if _, sim := ts.sys.clock.(*sched.SimClock); sim {
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

// loop fires timers by the real clock until close.
func (ts *timers) loop() {
	defer close(ts.done)
	for {
		var wait <-chan time.Time
		var alarm *time.Timer
		if d, ok := ts.fireDue(ts.sys.clock.Now()); ok {
			alarm = time.NewTimer(d)
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

func (ts *timers) close() {
	ts.mu.Lock()
	ts.mu.closed = true
	running := ts.mu.running
	ts.mu.Unlock()
	close(ts.stop)
	if running {
		<-ts.done
	}
}

// next returns the earliest due time, in simulated time, in which none is late.
func (ts *timers) next() (due time.Time, ok bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if len(ts.mu.heap) == 0 {
		return due, false
	}
	return ts.mu.heap[0].due, true
}

// fireDue fires everything due at now, in order of due time, and returns how long it
// is to the next. In simulated time each firing settles before the next, so that a
// test sees one order.
func (ts *timers) fireDue(now time.Time) (wait time.Duration, ok bool) {
	_, sim := ts.sys.clock.(*sched.SimClock)
	for {
		t, wait, ok := ts.pop(now)
		if t == nil {
			return wait, ok
		}
		ts.fire(t)
		if sim {
			ts.sys.settle()
		}
	}
}

// pop takes the first timer that is due, and puts a periodic one back: at its next
// tick after now, so that missed ticks become one.
func (ts *timers) pop(now time.Time) (t *timer, wait time.Duration, ok bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for {
		t, wait, ok := ts.earliest(now)
		if t == nil {
			return nil, wait, ok
		}
		ts.unqueue(t)
		busy := t.firings > 0
		if t.every > 0 {
			missed := now.Sub(t.due) / t.every
			t.due = sched.After(t.due.Add(missed*t.every), t.every)
			ts.queue(t)
		}
		if busy {
			continue // the tick before has not been handled yet: they coalesce
		}
		t.firings++
		t.tick++
		return t, 0, true
	}
}

// fireArgs are the arguments of the event that a timer fires on its issuer.
type fireArgs struct {
	ts *timers
	t  *timer
}

// methodFire checks under the issuer's lock that the timer is still set, and emits.
var methodFire = Method{Name: "timer", Effects: order.Effects{Self: order.Read, ReadOnly: true}}

func init() {
	methodFire.Run = func(cx *Cx, _ any, args order.Args) {
		a := args.(*fireArgs)
		a.ts.mu.Lock()
		off := a.t.off
		a.ts.mu.Unlock()
		switch {
		case off:
		case a.t.object != nil:
			cx.emit(op{kind: opCallback, object: a.t.object, call: a.t.call, args: a.t.args, timer: a.t})
		default:
			cx.emit(op{kind: opEmit, target: a.t.target, method: a.t.method, args: a.t.args, timer: a.t})
		}
	}
}

// fire runs the firing of t in a worker, after the earlier firings of its issuer: what they
// emit has an order. What a firing emits is counted as live before the firing itself is done.
func (ts *timers) fire(t *timer) {
	s := ts.sys
	e := subEvent{id: t.issuer.ID.TimerEvent(t.generation, t.tick), target: t.issuer, method: &methodFire, args: &fireArgs{ts, t},
		timer: t, from: t.from.fired(t), pos: t.pos}
	if l := s.lanes.push(s, t.issuer, e); l != nil {
		s.workers.Run(func() { s.drain(l) })
	}
}

// emitted notes that a firing of t, if it is one, has emitted the event or the callback
// proper, which ends by itself.
func (ts *timers) emitted(t *timer) {
	if t == nil {
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.firings++
}

// fired notes that a firing of t, if it is one, or what it has emitted, has ended.
func (ts *timers) fired(t *timer) {
	if t == nil {
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.firings--
	if t.every > 0 {
		return
	}
	if !t.off {
		t.off = true
		ts.unlist(t)
		if t.name != "" && ts.mu.named[timerKey{t.issuer, t.name}] == t {
			delete(ts.mu.named, timerKey{t.issuer, t.name})
		}
	}
	if t.firings == 0 {
		ts.lessOneShot()
	}
}

// postponed notes that a firing of t has not begun and will not: t is set as before, with its row, though it does not
// fire again. An event that has not ended yet may cancel it, or delete its issuer.
func (ts *timers) postponed(t *timer) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.firings--
}

// forget drops the timers of an actor that was deleted.
func (ts *timers) forget(issuer *order.Handle) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for t := ts.mu.first[issuer]; t != nil; {
		next := t.next
		if t.slot >= 0 { // else it is firing, and that ends by itself
			ts.drop(t)
		}
		t = next
	}
}

// waitOneShots returns a channel closed when no one-shot timer is left, nil if none is.
func (ts *timers) waitOneShots() <-chan struct{} {
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

// timerHeap orders timers by due time, then by the order in which they were set.
type timerHeap []*timer

// Len implements heap.Interface.
func (h timerHeap) Len() int { return len(h) }

// Less implements heap.Interface.
func (h timerHeap) Less(i, j int) bool { return h[i].before(h[j]) }

func (t *timer) before(u *timer) bool {
	if !t.due.Equal(u.due) {
		return t.due.Before(u.due)
	}
	return t.generation < u.generation
}

// Swap implements heap.Interface.
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].slot, h[j].slot = i, j
}

// Push implements heap.Interface.
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.slot = len(*h)
	*h = append(*h, t)
}

// Pop implements heap.Interface.
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.slot = -1
	return t
}
