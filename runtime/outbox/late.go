package outbox

import (
	"container/heap"
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
)

// After an outage all timers that have become due meanwhile fire at once, in the order in which they were due. After each
// LateBurst timers there is a pause of LatePause, in which other events run.
const (
	LateBurst = 64
	LatePause = 5 * time.Millisecond
)

// lateTimers are the timers that were due when the store was opened, and have not fired since. Other timers do not wait
// for them. But the timers of one issuer fire in the order in which they are due: a due timer whose issuer has late ones
// joins them.
type lateTimers[C any] struct {
	heap  timerHeap[C]
	of    map[*order.Handle]int // how many, by issuer
	burst int                   // how many have fired since the last pause
	pause time.Time             // the end of the pause
}

// queue puts t into its heap. Caller holds mu.
func (ts *Timers[C]) queue(t *Timer[C]) {
	if !t.late {
		heap.Push(&ts.mu.heap, t)
		return
	}
	l := &ts.mu.late
	heap.Push(&l.heap, t)
	if l.of == nil {
		l.of = make(map[*order.Handle]int)
	}
	l.of[t.Issuer]++
}

// unqueue takes t out of its heap; it is not late any more. Caller holds mu.
func (ts *Timers[C]) unqueue(t *Timer[C]) {
	if !t.late {
		heap.Remove(&ts.mu.heap, t.slot)
		return
	}
	l := &ts.mu.late
	heap.Remove(&l.heap, t.slot)
	t.late = false
	if l.of[t.Issuer]--; l.of[t.Issuer] == 0 {
		delete(l.of, t.Issuer)
	}
}

// earliest returns the timer to fire at now, which is the one that was due first, or the time until there may be one.
// Caller holds mu.
func (ts *Timers[C]) earliest(now time.Time) (t *Timer[C], wait time.Duration, ok bool) {
	l := &ts.mu.late
	for len(ts.mu.heap) > 0 {
		h := ts.mu.heap[0]
		if wait = h.Due.Sub(now); wait > 0 {
			ok = true
			break
		}
		if l.of[h.Issuer] == 0 {
			t, wait, ok = h, 0, true
			break
		}
		ts.unqueue(h)
		h.late = true
		ts.queue(h)
	}
	if len(l.heap) == 0 || t != nil && t.before(l.heap[0]) {
		return t, wait, ok
	}
	if l.burst == LateBurst {
		l.burst, l.pause = 0, now.Add(LatePause)
	}
	pause := l.pause.Sub(now)
	switch {
	case pause <= 0:
		l.burst++
		return l.heap[0], 0, true
	case !ok || t == nil && pause < wait:
		return nil, pause, true
	}
	return t, wait, ok
}
