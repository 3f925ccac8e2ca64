package outbox

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/aeon-lang/aeon/runtime/sched"
)

// A timer that is found in a store is due by the monotonic clock, as those are that are set later: when the clock of the machine is set they keep their
// order. One that ticked when the clock was ahead ticks again after its period.
func TestTimersOfAStoreWhenTheClockIsSet(t *testing.T) {
	var ts Timers[string]
	ts.Open(TimersConfig[string]{Clock: sched.RealClock{}})
	now := time.Now()
	stored := func(name string, due time.Duration, every time.Duration, ticks uint64) {
		ts.Restore(&Timer[string]{Call: name, Every: every, Ticks: ticks, Due: time.Unix(0, now.Add(due).UnixNano())}, now)
	}
	stored("late", -time.Minute, 0, 0)
	stored("hour", time.Hour, 0, 0)
	stored("first tick", 2*time.Hour, time.Second, 0)
	stored("ticked", 2*time.Hour, time.Second, 1)
	for _, x := range ts.mu.heap {
		if !strings.Contains(x.Due.String(), " m=") {
			t.Errorf("%s is due at %v, without a monotonic reading", x.Call, x.Due)
		}
	}
	var fired []string
	for _, at := range []time.Duration{0, time.Second, time.Hour, 2 * time.Hour} {
		for {
			x, _, _ := ts.Pop(now.Add(at))
			if x == nil {
				break
			}
			fired = append(fired, x.Call)
			ts.Ended(x)
		}
	}
	if want := []string{"late", "ticked", "ticked", "hour", "ticked", "first tick"}; !slices.Equal(fired, want) {
		t.Errorf("fired %q, expected %q", fired, want)
	}
}

// setForward returns a time with its monotonic reading as a clock of a machine tells it that was set forward by d.
func setForward(t time.Time, d time.Duration) time.Time {
	t = t.Add(d)
	(*struct {
		wall uint64
		ext  time.Duration // with a monotonic reading that
		loc  *time.Location
	})(unsafe.Pointer(&t)).ext -= d
	return t
}

// Timers of a store that was opened while the clock was days behind fire when it is put right, each once; an `every` goes on on its grid. Those that are set in
// this process have their delay. A clock that was set forward by mistake, and is set back, brings nothing forward.
func TestTimersOfAStoreWhenTheClockIsPutRight(t *testing.T) {
	const hour, day = time.Hour, 24 * time.Hour
	var ts Timers[string]
	ts.Open(TimersConfig[string]{Clock: sched.RealClock{}})
	now := time.Now()
	for _, x := range []struct {
		name       string
		due, every time.Duration
		ticks      uint64
	}{{"overdue", 2 * day, 0, 0}, {"soon", 3*day + hour, 0, 0}, {"week", 7 * day, 0, 0}, {"daily", 12 * hour, day, 1}} {
		ts.Restore(&Timer[string]{Call: x.name, Every: x.every, Ticks: x.ticks, Due: time.Unix(0, now.Add(x.due).UnixNano())}, now)
	}
	ts.Set(&Timer[string]{Call: "new", Due: now.Add(5 * hour)})
	for _, c := range []struct {
		at, set time.Duration
		want    string
	}{
		{hour / 2, 0, ""}, {hour / 2, 3 * day, "daily overdue"}, {hour / 2, 3 * day, ""}, {hour, 3 * day, "soon"}, {5 * hour, 3 * day, "new"}, {12 * hour, 3 * day, "daily"},
		{13 * hour, 4*day - 2*hour, ""}, {13 * hour, 3 * day, ""}, {36*hour - 1, 3 * day, ""}, {36 * hour, 3 * day, "daily"}, {37 * hour, 2 * day, ""}, {4*day - 1, 3 * day, "daily"}, {4 * day, 3 * day, "week"},
	} {
		var fired []string
		for {
			x, _, _ := ts.Pop(setForward(now.Add(c.at), c.set))
			if x == nil {
				break
			}
			fired = append(fired, x.Call)
			ts.Ended(x)
		}
		if got := strings.Join(fired, " "); got != c.want {
			t.Errorf("after %v, with a clock that was set by %v, %q fire, expected %q", c.at, c.set, got, c.want)
		}
	}
}

// settable is a clock that is set forward, as that of a node is: its readings stay together.
type settable struct{ by atomic.Int64 }

func (c *settable) Now() time.Time { return time.Now().Add(time.Duration(c.by.Load())) }

// A timer of a store that waits for days fires soon when the clock is put right.
func TestTimersFireSoonWhenTheClockIsPutRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		var ts Timers[string]
		clock, fired := new(settable), make(chan string, 1)
		ts.Open(TimersConfig[string]{Clock: clock, Fire: func(x *Timer[string]) {
			fired <- x.Call
			ts.Ended(x)
		}})
		defer ts.Close()
		ts.Restore(&Timer[string]{Call: "due", Due: time.Unix(0, time.Now().Add(2*day).UnixNano())}, clock.Now())
		ts.Wake()
		<-time.After(time.Hour)
		clock.by.Store(int64(3 * day))
		set := time.Now()
		<-fired
		if late := time.Since(set); late > lookEach {
			t.Errorf("it fires after %v", late)
		}
	})
}

// Outcomes expire after the clock was ahead for a while, and not before their time.
func TestOutcomesExpireWhenTheClockIsSet(t *testing.T) {
	const hour = time.Hour
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	clock := sched.NewSimClock(noon)
	ks := new(Keyed)
	ks.Open(KeyedConfig{Clock: clock, Expiry: 24 * hour})
	at := func(d time.Duration) time.Duration {
		clock = sched.NewSimClock(noon.Add(d))
		ks.cfg.Clock = clock
		return time.Duration(ks.generation() - noon.UnixNano())
	}
	for _, c := range []struct{ at, want time.Duration }{
		{0, 0}, {5 * hour, 0}, {1000 * hour, 1000 * hour}, {7 * hour, 7 * hour}, {4 * hour, 7 * hour}, {8 * hour, 7 * hour}, {995 * hour, 1000 * hour}, {6*hour + hour/2, 7 * hour},
	} {
		if got := at(c.at); got != c.want {
			t.Errorf("an outcome of %v belongs to the generation of %v, expected %v", c.at, got, c.want)
		}
	}
	if !slices.IsSorted(ks.mu.begun) {
		t.Errorf("the generations are %v", ks.mu.begun)
	}
	for _, c := range []struct {
		at   time.Duration
		want int
	}{{29 * hour, 0}, {30 * hour, 1}, {37 * hour, 2}, {1029 * hour, 2}, {1030 * hour, 3}} {
		ks.cfg.Clock = sched.NewSimClock(noon.Add(c.at))
		if got := ks.expired(); got != c.want {
			t.Errorf("at %v %d generations have expired, expected %d", c.at, got, c.want)
		}
	}
}

// An outcome that was taken before the clock was put right stays for the time that outcomes do.
func TestOutcomesStayWhenTheClockIsPutRight(t *testing.T) {
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	steady := time.Duration(0) // since noon
	ks := new(Keyed)
	ks.Open(KeyedConfig{Clock: sched.NewSimClock(noon.Add(-72 * time.Hour)), Expiry: 24 * time.Hour})
	ks.passed = func(time.Time) time.Duration { return steady }
	ks.generation()
	ks.cfg.Clock = sched.NewSimClock(noon)
	for steady < 24*time.Hour {
		if n := ks.expired(); n > 0 {
			t.Fatalf("it has expired after %v", steady)
		}
		steady += time.Hour
	}
	steady += time.Hour
	if ks.expired() != 1 {
		t.Errorf("it stays after %v", steady)
	}
}
