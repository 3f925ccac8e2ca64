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
// Invariant: Now never goes back. So a node whose machine's clock was ahead, and is set back, stays ahead for a while: see steady.
type Hybrid struct {
	machine steady
	last    atomic.Int64 // nanoseconds since 1970: what Now has returned, or was told of
}

// NewHybrid returns a clock on top of that of the machine.
func NewHybrid(machine Clock) *Hybrid {
	return &Hybrid{machine: steady{clock: machine, began: machine.Now()}}
}

// steady is the clock of a machine, which goes on when it is set back, a tenth slower until the two agree. So timers do not wait until the clock has come as far
// again, and other nodes do not refuse this one: neither at once nor after many set-backs.
type steady struct {
	clock Clock
	began time.Time
	// ahead is how much more time has passed for steady than the monotonic reading says, in nanoseconds.
	ahead atomic.Int64
	since atomic.Int64 // how much had passed by the monotonic reading when ahead was made less last
}

const (
	steadyBeat = 10 * time.Millisecond // after which ahead is made less
	steadySlow = 10                    // a second has 1/10 less while steady is ahead of the clock
)

// Now implements Clock. The monotonic reading of the time is as far from another one's as the times are. It may be a millisecond behind that of a call that has
// run beside this one.
func (s *steady) Now() time.Time {
	t := s.clock.Now()
	passed := t.Sub(s.began)
	set := t.UnixNano() - s.began.UnixNano() - int64(passed) // by which the clock was set forward; 0 of one that has no monotonic reading
	ahead, since := s.ahead.Load(), s.since.Load()
	for ahead < set && !s.ahead.CompareAndSwap(ahead, set) {
		ahead = s.ahead.Load()
	}
	if beat := int64(passed) - since; beat >= int64(steadyBeat) && s.since.CompareAndSwap(since, int64(passed)) && ahead > set {
		return s.began.Add(passed + time.Duration(s.ahead.Add(-min(ahead-set, beat/steadySlow))))
	}
	return s.began.Add(passed + time.Duration(max(ahead, set)))
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
