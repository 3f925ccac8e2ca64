package sched

import (
	"fmt"
	"sync/atomic"
	"time"
)

// ClockOffMax is how far the clocks of two nodes of a cluster may be apart.
const ClockOffMax = 5 * time.Second

// Hybrid is the clock of a node of a cluster: that of the machine, or the latest time that the node has been told of, whichever is
// later. So what comes after an event of another node never sees an earlier time than that event did.
//
// Invariant: Now never goes back. So a node whose machine's clock was ahead, and is set back, stays ahead until it is restarted.
type Hybrid struct {
	machine steady
	last    atomic.Int64 // nanoseconds since 1970: what Now has returned, or was told of
}

// NewHybrid returns a clock on top of that of the machine.
func NewHybrid(machine Clock) *Hybrid {
	return &Hybrid{machine: steady{clock: machine, began: machine.Now()}}
}

// steady is the clock of a machine, which goes on at its pace when it is set back: timers do not wait until it has come as far again, nor do
// other nodes refuse this one.
type steady struct {
	clock Clock
	began time.Time
	ahead atomic.Int64 // nanoseconds by which the clock was set forward since it began, at most; what is monotonic in it knows nothing of that
}

// Now implements Clock. The monotonic reading of the time is as far from another one's as the times are.
func (s *steady) Now() time.Time {
	t := s.clock.Now()
	passed := t.Sub(s.began)
	set := t.UnixNano() - s.began.UnixNano() - int64(passed) // 0 of a clock that has no monotonic reading
	for {
		most := s.ahead.Load()
		if set <= most || s.ahead.CompareAndSwap(most, set) {
			return s.began.Add(passed + time.Duration(max(most, set)))
		}
	}
}

// Now implements Clock.
func (h *Hybrid) Now() time.Time {
	now := h.machine.Now()
	if last := h.raise(now.UnixNano()); last != now.UnixNano() {
		return time.Unix(0, last)
	}
	return now
}

// raise makes the last time at least t, and returns it.
func (h *Hybrid) raise(t int64) int64 {
	for {
		last := h.last.Load()
		if t <= last {
			return last
		}
		if h.last.CompareAndSwap(last, t) {
			return t
		}
	}
}

// Observe tells the clock of what another node has for the present time, or a moment ago. A clock that is ahead by more than
// ClockOffMax is not followed: the error is a *ClockError.
func (h *Hybrid) Observe(t time.Time) error {
	if now := h.machine.Now(); t.After(now) {
		if err := CompareClocks(t, now); err != nil {
			return err
		}
	}
	h.raise(t.UnixNano())
	return nil
}

// Compare returns a *ClockError if another node's present time is too far from that of this one, in either direction.
func (h *Hybrid) Compare(theirs time.Time) error { return CompareClocks(theirs, h.machine.Now()) }

// CompareClocks is Compare for two times.
func CompareClocks(theirs, ours time.Time) error {
	if off := theirs.Sub(ours); off.Abs() > ClockOffMax {
		return &ClockError{Off: off, Theirs: theirs, Ours: ours}
	}
	return nil
}

// Resume tells the clock of a time that this node's data have: it goes on from there, however far the machine's clock has been set back.
// It returns how far that is, 0 if it is not behind.
func (h *Hybrid) Resume(t time.Time) (behind time.Duration) {
	h.raise(t.UnixNano())
	return max(t.Sub(h.machine.Now()), 0)
}

// ClockError says that the clocks of two nodes are too far apart.
type ClockError struct {
	Off          time.Duration // by which theirs is ahead; negative: it is behind
	Theirs, Ours time.Time
}

// Error implements error.
func (e *ClockError) Error() string {
	where := "ahead of"
	if e.Off < 0 {
		where = "behind"
	}
	return fmt.Sprintf("its clock is %v %s that of this node (%s, and %s here), and may be off by %v: have both set by a time service, and restart the node whose clock was ahead",
		e.Off.Abs().Round(time.Millisecond), where, stamp(e.Theirs), stamp(e.Ours), ClockOffMax)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
