package grpcdoor

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
)

// ending returns how long after began r is ended, and by which code.
func ending(r *reading, began time.Time) (time.Duration, string) {
	got := <-r.got
	refused := new(door.Refusal)
	errors.As(got.err, &refused)
	return time.Since(began), refused.Code
}

// Arguments that do not arrive are awaited for a time of their own each, however many calls are read by one timer; and for a
// shorter one while calls of others wait.
func TestReadingsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := &readers{max: 2, each: 2, patience: time.Second, late: 40 * time.Second, of: make(map[gate.Source]int)}
		a := gate.SourceOf(nil, "a")
		began := time.Now()
		first := rs.enter(a)
		time.Sleep(30 * time.Second)
		second := rs.enter(a)
		if after, code := ending(first, began); after != 40*time.Second || code != door.TimedOut {
			t.Errorf("the first is ended after %v: %s", after, code)
		}
		rs.leave(first)
		if after, code := ending(second, began); after != 70*time.Second || code != door.TimedOut {
			t.Errorf("the second is ended after %v: %s", after, code)
		}
		rs.leave(second)

		began = time.Now()
		first, second = rs.enter(a), rs.enter(a)
		time.Sleep(200 * time.Millisecond)
		other := rs.enter(gate.SourceOf(nil, "b"))
		if after, code := ending(first, began); after != time.Second || code != door.Full {
			t.Errorf("the first gives way after %v: %s", after, code)
		}
		rs.leave(first)
		<-other.admitted
		if after, code := ending(second, began); after != 40*time.Second || code != door.TimedOut {
			t.Errorf("the second is ended after %v: %s", after, code)
		}
		if after, code := ending(other, began); after != 40*time.Second+200*time.Millisecond || code != door.TimedOut {
			t.Errorf("the other is ended after %v: %s", after, code) // from when it asked
		}
		rs.leave(second)
		rs.leave(other)
		time.Sleep(time.Hour)
		if len(rs.open)+len(rs.waiting)+len(rs.of) > 0 || !rs.looks.IsZero() {
			t.Errorf("left: %d open, %d waiting, %d sources, look at %v", len(rs.open), len(rs.waiting), len(rs.of), rs.looks)
		}
	})
}

// A call gets what was received for it. What is still being received when a reading is ended comes to no other call.
func TestReadingsAreNotMixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := &readers{max: 2, each: 2, patience: time.Second, late: 40 * time.Second, of: make(map[gate.Source]int)}
		arrive := func(r *reading, text string) {
			r.message.bytes = []byte(text)
			r.got <- received{whole: true}
		}
		ended := rs.enter(gate.SourceOf(nil, "a"))
		if b, err := rs.done(ended); b != nil || err == nil {
			t.Errorf("a reading that was ended has %q: %v", b, err)
		}
		for range 10 {
			r := rs.enter(gate.SourceOf(nil, "b"))
			if r == ended {
				t.Fatal("a call has a reading whose message may still arrive")
			}
			rs.leave(r)
			arrive(r, "b")
			if b, err := rs.done(r); string(b) != "b" || err != nil {
				t.Errorf("read %q: %v", b, err)
			}
		}
		rs.leave(ended)
		arrive(ended, "a")
	})
}
