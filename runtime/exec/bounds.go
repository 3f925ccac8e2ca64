package exec

import (
	"time"

	"github.com/aeon-lang/aeon/runtime/lock"
)

// Bounds are taken at admission only, before the first lock: what was admitted is never
// refused. A full queue makes a client wait; with Config.AdmissionWaitMax it gets a
// *LimitError that names the bound after that time. Sub-events, timers and maintenance
// are never refused.

// waitForSome is the remedy where a client has issued more than can be done.
const waitForSome = "wait for the results of some events before issuing others"

// admitIssue waits until an event may be issued, which releases the semaphore when it has ended.
func (s *System) admitIssue() error {
	if s.closing.Load() {
		return ErrClosed
	}
	if !s.issued.Acquire(s.cfg.AdmissionWaitMax) {
		return &LimitError{Limit: "EventsMax", Max: int64(s.issued.Max()), what: "events issued", remedy: waitForSome}
	}
	return nil
}

// room waits until the queue at h has room for a client's event, or the event was cancelled.
func (a *Attempt) room(h *Handle) error {
	s := a.sys
	if !a.bounded || a.attempt > 1 {
		return nil
	}
	full := func() bool {
		if a.cancelled() {
			return false
		}
		h.latch.Lock()
		defer h.latch.Unlock()
		return h.queue != nil && depth(h.queue) >= s.cfg.QueueDepthMax
	}
	if s.scheduler != nil {
		s.scheduler.Until(func() bool { return !full() })
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

func depth(q *lock.Queue[*Attempt, *Handle]) int {
	_, waiting := q.Len()
	return waiting
}
