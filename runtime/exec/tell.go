package exec

import (
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/watch"
)

// What becomes of events is told to those that follow the system, and recorded as spans if it is to be. Callers look whether it is before
// they call.

// telling is what is told of an event. The zero value: it has begun before it was followed.
type telling struct {
	began int64        // nanoseconds since 1970
	from  *span.Origin // of an event that another one, or a call from outside, has issued while spans are recorded
	span  *span.Event  // nil: the event is not recorded
}

// Follow begins to follow what becomes of events: lines come as it happens, perhaps before it is durable. The caller closes what it gets.
func (s *System) Follow(f watch.Filter) *watch.Follower { return s.watch.Follow(f) }

// Spans returns what records the spans of the system, nil if nothing does.
func (s *System) Spans() *span.Tracer { return s.cfg.Spans }

// nanos returns the time of spans, in nanoseconds since 1970.
func (s *System) nanos() int64 { return s.clock.Now().UnixNano() }

// tellBegun notes when the event has begun, and tells that a client has issued it.
func (ev *Event) tellBegun() {
	now := time.Now()
	ev.told.began = now.UnixNano()
	if t := ev.sys.cfg.Spans; t != nil {
		if e := t.Begin(ev.ID, ev.told.from, ev.sys.nanos(), ev.Waits); e != nil {
			ev.told.span = e
			ev.Root.Record(e.Root())
		}
	}
	if ev.client == ev.sys.inner {
		return // told by the event that has issued it
	}
	ev.tell(watch.Line{Time: now, Kind: watch.Issued})
}

// tellEnded tells how the event has ended.
func (ev *Event) tellEnded(err error) {
	if e := ev.told.span; e != nil && err != outbox.ErrRepeated { // a repetition has no span
		e.Ended(ev.sys.nanos(), err)
	}
	if ev.method == &methodFire && err == nil {
		return // it has issued the event that users know
	}
	l := watch.Line{Time: time.Now(), Kind: watch.Committed}
	if ev.told.began != 0 {
		l.Took = time.Duration(max(1, l.Time.UnixNano()-ev.told.began)).Seconds()
		ev.told.began = 0
	}
	if err == outbox.ErrRepeated {
		l.Kind = watch.Repeated
	} else if err != nil {
		l.Kind, l.Failure = watch.Undone, bytejson.Text(err.Error())
	}
	if ev.issuer != nil && ev.sys.watch.Listened() {
		l.From = bytejson.Text(ev.issuer.Known(nil))
	}
	ev.tell(l)
}

func (ev *Event) tell(l watch.Line) {
	if !ev.sys.watch.Listened() {
		return
	}
	l.Event, l.Method, l.Actor = ev.ID.String(), ev.method.Name, bytejson.Text(ev.actorName())
	ev.sys.watch.Tell(l, ev.Target.KnownClass(ev.method.Shape()))
}

// actorName returns the name of the target, "" if there is none.
func (ev *Event) actorName() string {
	if ev.Target == nil {
		return ""
	}
	return ev.Target.Known(ev.method.Shape())
}

// tellIssued tells of what a committed event has issued.
func (s *System) tellIssued(o *activation.Op, e *subEvent) {
	if s.watch.Listened() {
		s.watch.Tell(watch.Line{Time: time.Now(), Kind: watch.Issued, Event: e.id.String(), Actor: bytejson.Text(o.Target.Known(o.Method.Shape())), Method: o.Method.Name,
			From: bytejson.Text(o.Issuer.Known(nil))}, o.Target.KnownClass(o.Method.Shape()))
	}
}

// exportSpan exports the event, whose answer may leave.
func (ev *Event) exportSpan() {
	ev.told.span.Export(ev.sys.nanos(), ev.method.String(), ev.actorName(), ev.ID.String(), int(ev.Number))
	ev.told.span = nil
	ev.Root.Record(nil)
}

// awaitDurable waits until all that the event has seen is durable, and the store was this process's at some time since the event began.
func (ev *Event) awaitDurable() error {
	d, e := ev.sys.durable, ev.told.span
	wait := (*state.State).Wait
	if ev.wrote {
		wait = (*state.State).WaitOwn
	}
	if e != nil && !d.Journal.Durable(ev.maxPos) {
		from := ev.sys.nanos()
		defer func() { e.Root().Waited(span.ForDurability, from, ev.sys.nanos()) }()
	}
	return wait(&d.State, ev.maxPos)
}
