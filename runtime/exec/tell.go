package exec

import (
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/watch"
)

// What becomes of events is told to those that follow the system. Callers look whether there are any before they call.

// Follow begins to follow what becomes of events: lines come as it happens, perhaps before it is durable. The caller closes what it gets.
func (s *System) Follow(f watch.Filter) *watch.Follower { return s.watch.Follow(f) }

// tellBegun notes when the event has begun, and tells that a client has issued it.
func (ev *Event) tellBegun() {
	now := time.Now()
	ev.began = now.UnixNano()
	if ev.client == ev.sys.inner {
		return // told by the event that has issued it
	}
	ev.tell(watch.Line{Time: now, Kind: watch.Issued})
}

// tellEnded tells how the event has ended.
func (ev *Event) tellEnded(err error) {
	if ev.method == &methodFire && err == nil {
		return // it has issued the event that users know
	}
	l := watch.Line{Time: time.Now(), Kind: watch.Committed}
	if ev.began != 0 {
		l.Took = time.Duration(max(1, l.Time.UnixNano()-ev.began)).Seconds()
		ev.began = 0
	}
	if err != nil {
		l.Kind, l.Failure = watch.Undone, bytejson.Text(err.Error())
	}
	if ev.issuer != nil {
		l.From = bytejson.Text(ev.issuer.Known(nil))
	}
	ev.tell(l)
}

func (ev *Event) tell(l watch.Line) {
	l.Event, l.Method = ev.ID.String(), ev.method.Name
	class := ev.method.Class
	if ev.Target != nil {
		l.Actor = bytejson.Text(ev.Target.Known(shapeOf(class)))
	}
	ev.sys.watch.Tell(l, ev.Target.KnownClass(shapeOf(class)))
}

// tellIssued tells of what a committed event has issued.
func (s *System) tellIssued(o *op, e *subEvent) {
	s.watch.Tell(watch.Line{Time: time.Now(), Kind: watch.Issued, Event: e.id.String(), Actor: bytejson.Text(o.target.Known(shapeOf(o.method.Class))), Method: o.method.Name,
		From: bytejson.Text(o.issuer.Known(nil))}, o.target.KnownClass(shapeOf(o.method.Class)))
}
