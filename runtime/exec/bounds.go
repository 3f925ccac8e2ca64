package exec

import (
	"sync"
	"time"

	"github.com/aeon-lang/aeon/runtime/lock"
)

// Bounds are taken at admission only, before the first lock: what was admitted is never
// refused. A full queue makes a client wait; with Config.AdmissionWaitMax it gets a
// *LimitError that names the bound after that time. Sub-events, timers and maintenance
// are never refused.

// waitForSome is the remedy where a client has issued more than can be done.
const waitForSome = "wait for the results of some events before issuing others"

// turnstile lets so many pass at a time.
type turnstile struct {
	sys   *System
	limit string
	what  string
	max   int
	mu    struct {
		sync.Mutex
		in      int
		waiters []chan struct{}
	}
}

// enter waits for room; patience 0 is for ever.
func (t *turnstile) enter(patience time.Duration) error {
	t.mu.Lock()
	if t.mu.in < t.max {
		t.mu.in++
		t.mu.Unlock()
		return nil
	}
	ch := make(chan struct{})
	t.mu.waiters = append(t.mu.waiters, ch)
	t.mu.Unlock()
	if patience <= 0 || t.sys.baton != nil { // no real time passes in a scheduled system
		t.sys.wait(ch)
		return nil
	}
	alarm := time.NewTimer(patience)
	defer alarm.Stop()
	select {
	case <-ch:
		return nil
	case <-alarm.C:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, w := range t.mu.waiters {
		if w == ch {
			t.mu.waiters = append(t.mu.waiters[:i], t.mu.waiters[i+1:]...)
			return &LimitError{Limit: t.limit, Max: int64(t.max), what: t.what, remedy: waitForSome}
		}
	}
	return nil // let in at the last moment
}

// inside returns how many have passed and not left.
func (t *turnstile) inside() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int64(t.mu.in)
}

// leave makes room.
func (t *turnstile) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.mu.waiters) > 0 {
		close(t.mu.waiters[0])
		t.mu.waiters = t.mu.waiters[1:]
		return
	}
	t.mu.in--
}

func (s *System) admitIssue() error {
	if s.closing.Load() {
		return ErrClosed
	}
	return s.issued.enter(s.cfg.AdmissionWaitMax)
}

// room waits until the queue at h has room for a client's event, or the event was cancelled.
func (ev *Event) room(h *Handle) error {
	s := ev.sys
	if !ev.bounded || ev.attempt > 1 {
		return nil
	}
	full := func() bool {
		if ev.cancelled() {
			return false
		}
		h.latch.Lock()
		defer h.latch.Unlock()
		return h.queue != nil && depth(h.queue) >= s.cfg.QueueDepthMax
	}
	if s.baton != nil {
		s.baton.until(func() bool { return !full() })
		return nil
	}
	var deadline time.Time
	for pause := 20 * time.Microsecond; ; pause = min(2*pause, time.Millisecond) {
		if !full() {
			return nil
		}
		now := time.Now()
		if deadline.IsZero() {
			deadline = now.Add(s.cfg.AdmissionWaitMax)
		}
		if s.cfg.AdmissionWaitMax > 0 && now.After(deadline) {
			return &LimitError{Limit: "QueueDepthMax", Max: int64(s.cfg.QueueDepthMax),
				what: "events waiting for " + h.label(), remedy: waitForSome}
		}
		s.stats.admissionWaits.Add(1)
		time.Sleep(pause)
	}
}

func depth(q *lock.Queue[*Event, *Handle]) int {
	_, waiting := q.Len()
	return waiting
}
