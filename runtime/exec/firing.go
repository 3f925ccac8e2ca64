package exec

import (
	"time"

	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/trace"
)

type (
	timer  = activation.Timer
	timed  = activation.Timed
	timers = outbox.Timers[timed]
)

// setTimer begins the timer that o describes. The event that issued it still holds the issuer.
func (s *System) setTimer(o *activation.Op, from *trace.Source, origin *span.Origin) {
	if o.Made == nil {
		o.Made = o.NewTimer(s.clock.Now())
	}
	o.Made.Call.From, o.Made.Call.Origin = from, origin
	s.timers.Set(o.Made)
}

// fireArgs are the arguments of the event that a timer fires on its issuer.
type fireArgs struct {
	ts *timers
	t  *timer
}

// methodFire checks under the issuer's lock that the timer is still set, and emits.
var methodFire = Method{Name: "timer", Effects: order.Effects{Self: order.Read, ReadOnly: true}}

func init() {
	methodFire.Run = func(cx *Cx, _ any, args order.Args) {
		if a := args.(*fireArgs); !a.ts.Off(a.t) {
			activation.Of(cx).Fire(a.t)
		}
	}
}

// fire runs the firing of t in a worker, after the earlier firings of its issuer: what they
// emit has an order. What a firing emits is counted as live before the firing itself is done.
func (s *System) fire(t *timer) {
	switch o := t.Call.Object; {
	case t.Call.Again != nil:
		t.Call.Again()
		return
	case o != nil && t.Row.Call == nil && clientOf(o.(ClientRef).o.client).gone(): // its callbacks are dropped, and no program could end an `every` without a name
		s.timers.Drop(t)
		s.timers.Ended(t)
		return
	}
	e := subEvent{id: t.Issuer.ID.TimerEvent(t.Generation, t.Ticks), target: t.Issuer, method: &methodFire, args: &fireArgs{&s.timers, t},
		timer: t, from: t.Call.From.Fired(t.Ticks, t.Generation), origin: t.Call.Origin, pos: t.Call.Pos}
	if l := s.wait(t.Issuer, e); l != nil {
		s.workers.Run(func() { s.drain(l) })
	}
}

// FireNext moves simulated time on to the timer that is due next, fires what is due then, and lets the system settle.
// It reports whether there was such a timer.
func (s *System) FireNext() bool { return s.FireNextUntil(sched.EndOfTime) }

// FireNextUntil is FireNext for timers that are due until end.
func (s *System) FireNextUntil(end time.Time) bool {
	c := s.clock.(*sched.SimClock)
	s.settle()
	var first *System
	var at time.Time
	for _, x := range s.together() {
		if due, ok := x.timers.Next(); ok && (first == nil || due.Before(at)) {
			first, at = x, due
		}
	}
	if first == nil || at.After(end) {
		return false
	}
	c.Set(at)
	first.timers.FireDue(c.Now()) // later than due after an outage
	return true
}
