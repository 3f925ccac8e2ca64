package order

import "time"

// FullError says that the queue of an actor was full for as long as a client may wait.
type FullError struct {
	At  *Handle
	Max int // events
}

// Error implements error.
func (e *FullError) Error() string { return "too many events wait for " + e.At.String() }

// room waits until the queue at h has room for a client's event, or the event was cancelled. Bounds are taken at
// admission only, before the first lock: what was admitted is never refused. Sub-events, timers and moves are never refused.
func (a *Attempt) room(h *Handle) error {
	s := a.Host
	if !a.Bounded || a.Number > 1 {
		return nil
	}
	full := func() bool { return !a.Cancelled() && h.Waiting() >= s.depthMax }
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
			deadline = now.Add(s.waitMax)
		}
		if s.waitMax > 0 && now.After(deadline) {
			return &FullError{h, s.depthMax}
		}
		s.Waits.Add(1)
		time.Sleep(pause)
	}
}

// Waiting returns how many attempts wait at h.
func (h *Handle) Waiting() int {
	h.latch.Lock()
	defer h.latch.Unlock()
	if h.queue == nil {
		return 0
	}
	_, n := h.queue.Len()
	return n
}
