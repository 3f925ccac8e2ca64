package sched

import (
	"errors"
	"sync"
	"testing"
	"time"
	"unsafe"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// settable is a clock of a machine that is also set back.
type settable struct{ now time.Time }

func (c *settable) Now() time.Time { return c.now }

func TestHybridNeverGoesBack(t *testing.T) {
	machine := &settable{noon}
	h := NewHybrid(machine)
	is := func(want time.Time) {
		t.Helper()
		if got := h.Now(); !got.Equal(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	is(noon)
	machine.now = noon.Add(-time.Hour)
	is(noon)
	machine.now = noon.Add(time.Second)
	is(noon.Add(time.Second))
	if err := h.Observe(noon.Add(3 * time.Second)); err != nil {
		t.Error(err)
	}
	is(noon.Add(3 * time.Second))
	if err := h.Observe(noon); err != nil { // what is behind changes nothing
		t.Error(err)
	}
	is(noon.Add(3 * time.Second))
	machine.now = noon.Add(4 * time.Second)
	is(noon.Add(4 * time.Second))
	if behind := h.Resume(noon.Add(time.Hour)); behind != time.Hour-4*time.Second {
		t.Errorf("behind by %v", behind)
	}
	is(noon.Add(time.Hour))
	if behind := h.Resume(noon); behind != 0 {
		t.Errorf("behind by %v", behind)
	}
}

// set returns a time with its monotonic reading as a clock of a machine tells it that was set forward by d.
func set(t time.Time, d time.Duration) time.Time {
	t = t.Add(d)
	(*struct {
		wall uint64
		ext  time.Duration // with a monotonic reading that
		loc  *time.Location
	})(unsafe.Pointer(&t)).ext -= d
	return t
}

// A clock that is set back goes on, a tenth slower until it agrees with the machine's, and one that is set forward is followed.
func TestHybridGoesOnWhenTheClockIsSet(t *testing.T) {
	began := time.Now()
	machine := &settable{began}
	h := NewHybrid(machine)
	for _, c := range []struct{ at, set, want time.Duration }{
		{0, 0, 0}, {1, -3600, 0.9e9}, {2, -7200, 1.8e9}, {3, 3600, 3603e9}, {4, 0, 3603.9e9}, {103, 3600 - 5, 3703e9 - 5e9}, {104, 3600 - 5, 3704e9 - 5e9},
	} {
		machine.now = set(began.Add(c.at*time.Second), c.set*time.Second)
		for range 2 {
			if got := time.Duration(h.Now().UnixNano() - began.UnixNano()); got != c.want {
				t.Errorf("%d s after it has begun, set by %d s: %v, expected %v", c.at, c.set, got, c.want)
			}
		}
	}
}

// Nodes do not refuse one whose clock is set back a little again and again.
func TestHybridOfAClockThatIsOftenSetBack(t *testing.T) {
	began := time.Now()
	machine := &settable{began}
	h := NewHybrid(machine)
	for n := range 24 * 60 {
		at := began.Add(time.Duration(n) * time.Minute)
		machine.now = set(at, time.Duration(n/60)*-2*time.Second)
		if err := h.Compare(at.Add(time.Duration(n/60) * -2 * time.Second)); err != nil {
			t.Fatalf("after %d minutes: %v", n, err)
		}
	}
}

func TestHybridRefusesClocksThatAreFarOff(t *testing.T) {
	h := NewHybrid(&settable{noon})
	far := noon.Add(ClockOffMax + 1500*time.Millisecond)
	const ahead = "its clock is 6.5s ahead of that of this node (2030-01-01T12:00:06.500Z, and 2030-01-01T12:00:00.000Z here), and may be off by 5s: have both set by a time service, and restart the node whose clock was ahead"
	for name, err := range map[string]error{"Observe": h.Observe(far), "Compare": h.Compare(far)} {
		if bad := new(ClockError); !errors.As(err, &bad) || bad.Off != 6500*time.Millisecond || err.Error() != ahead {
			t.Errorf("%s: %v, want %s", name, err, ahead)
		}
	}
	if !h.Now().Equal(noon) {
		t.Errorf("a clock that is refused was followed to %v", h.Now())
	}
	const behind = "its clock is 1m0s behind that of this node (2030-01-01T11:59:00.000Z, and 2030-01-01T12:00:00.000Z here), and may be off by 5s: have both set by a time service, and restart the node whose clock was ahead"
	if err := h.Compare(noon.Add(-time.Minute)); err == nil || err.Error() != behind {
		t.Errorf("%v, want %s", err, behind)
	}
	if err := errors.Join(h.Compare(noon.Add(ClockOffMax)), h.Compare(noon.Add(-ClockOffMax)), h.Observe(noon.Add(-time.Hour))); err != nil {
		t.Error(err)
	}
}

func TestHybridOfManyGoroutines(t *testing.T) {
	h := NewHybrid(RealClock{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			last := h.Now()
			for range 10_000 {
				if now := h.Now(); now.Before(last) {
					t.Errorf("%v after %v", now, last)
				} else {
					last = now
				}
				if err := h.Observe(last.Add(time.Microsecond)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
