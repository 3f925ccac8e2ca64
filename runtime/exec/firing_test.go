package exec

import (
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// Timers of one actor that are due together fire in the order in which they were set, also
// in real time, where a firing does not wait until the one before has settled.
func TestTimersOfAnActorFireInOrder(t *testing.T) {
	const timers = 40
	s, cl := testSystem(t, Config{Clock: sched.RealClock{}})
	for range 20 {
		r := newDesk(t, cl)
		mustNot(t, r.await(cl, func(cx *Cx, _ *desk) {
			for i := range int64(timers) {
				cx.EmitAfter(r.Ref, &methodWork, work(func(cx *Cx, d *desk) {
					if d.n != i {
						t.Errorf("timer %d has fired as number %d", i, d.n)
					}
					d.setN(cx, d.n+1)
				}), time.Millisecond, "")
			}
		}))
		mustNot(t, s.Quiesce(t.Context()))
		if n := r.see(t, cl); n != timers {
			t.Errorf("%d of %d timers have fired", n, timers)
		}
		if t.Failed() {
			return
		}
	}
}

// A timer that calls a client ends with it: nothing that the program can do would end an `every` that has no name.
func TestTimersEndWithTheirClient(t *testing.T) {
	s, cl := testSystem(t, Config{})
	r, guest := newDesk(t, cl), s.Client()
	heard := 0
	g := NewClientObject(guest, &ClientObject{}, nil)
	hear := &ClientMethod{Class: "Guest", Name: "hear", Run: func(*Client, any, order.Args) { heard++ }}
	mustNot(t, r.await(guest, func(cx *Cx, _ *desk) {
		cx.CallbackAfterEvery(g, hear, nil, time.Second, time.Second, "")
		cx.CallbackAfterEvery(g, hear, nil, time.Second, time.Second, "named")
		cx.CallbackAfter(g, hear, nil, 5*time.Second, "")
	}))
	cl.Advance(2 * time.Second)
	if heard != 4 {
		t.Errorf("%d callbacks, want 4", heard)
	}
	guest.Close()
	before := s.Stats().Commits
	cl.Advance(10 * time.Second)
	if left := s.timers.Counts(); left != (outbox.TimerCounts{}) {
		t.Errorf("timers of a client that has gone: %+v", left)
	}
	if n := s.Stats().Commits - before; n != 0 || heard != 4 {
		t.Errorf("%d events and %d callbacks for a client that has gone", n, heard-4)
	}
}
