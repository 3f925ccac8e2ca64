package exec

import (
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

type (
	timer  = outbox.Timer[timed]
	timers = outbox.Timers[timed]
)

// timed is what a timer calls: a method of an actor, or of a client object.
type timed struct {
	target *order.Handle
	method *Method
	object *ClientObject // of a callback, which has no target
	call   *ClientMethod
	args   order.Args
	from   *trace.Source  // traced systems only
	origin *span.Origin   // while spans are recorded
	pos    store.Position // of the event that has set it
	again  *goCall        // of a timer that belongs to no actor: the call is tried again, and nothing else is called
}

// newTimer returns the timer that o describes.
func (s *System) newTimer(o *op) *timer {
	return &timer{Issuer: o.issuer, Name: o.name, Every: o.every, Due: s.timers.After(o.delay),
		Call: timed{target: o.target, method: o.method, object: o.object, call: o.call, args: o.args}}
}

// setTimer begins the timer that o describes. The event that issued it still holds the issuer.
func (s *System) setTimer(o *op, from *trace.Source, origin *span.Origin) {
	if o.made == nil {
		o.made = s.newTimer(o)
	}
	o.made.Call.from, o.made.Call.origin = from, origin
	s.timers.Set(o.made)
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
		a := args.(*fireArgs)
		switch c := &a.t.Call; {
		case a.ts.Off(a.t):
		case c.object != nil:
			of(cx).emit(op{kind: opCallback, object: c.object, call: c.call, args: c.args, timer: a.t})
		default:
			of(cx).emit(op{kind: opEmit, target: c.target, method: c.method, args: c.args, timer: a.t})
		}
	}
}

// fire runs the firing of t in a worker, after the earlier firings of its issuer: what they
// emit has an order. What a firing emits is counted as live before the firing itself is done.
func (s *System) fire(t *timer) {
	if t.Call.again != nil {
		s.tryAgain(t)
		return
	}
	e := subEvent{id: t.Issuer.ID.TimerEvent(t.Generation, t.Ticks), target: t.Issuer, method: &methodFire, args: &fireArgs{&s.timers, t},
		timer: t, from: t.Call.from.Fired(t.Ticks, t.Generation), origin: t.Call.origin, pos: t.Call.pos}
	if l := s.wait(t.Issuer, e); l != nil {
		s.workers.Run(func() { s.drain(l) })
	}
}

// FireNext moves simulated time on to the timer that is due next, fires what is due then, and lets the system settle.
// It reports whether there was such a timer.
func (s *System) FireNext() bool { return s.fireNext(s.clock.(*sched.SimClock), sched.EndOfTime) }

// FireNextUntil is FireNext for timers that are due until end.
func (s *System) FireNextUntil(end time.Time) bool {
	return s.fireNext(s.clock.(*sched.SimClock), end)
}

// fireNext is FireNext for timers that are due until end.
func (s *System) fireNext(c *sched.SimClock, end time.Time) bool {
	s.settle()
	due, ok := s.timers.Next()
	if !ok || due.After(end) {
		return false
	}
	c.Set(due)
	s.timers.FireDue(c.Now()) // later than due after an outage
	return true
}
