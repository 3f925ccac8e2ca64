package exec

import (
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// subEvent is an event that waits for its turn in a lane.
type subEvent struct {
	id     event.EventID
	target *order.Handle
	method *Method
	args   order.Args
	timer  *timer         // that has fired it, if one has
	from   *trace.Source  // traced systems only
	origin *span.Origin   // while spans are recorded
	chain  *chain         // that it is a step of, but not the first
	seq    uint64         // in the outbox of a system with a store
	pos    store.Position // of the event that has issued it
	called bool           // it follows a call of a Go function, which has ended
}

type (
	lane  = outbox.Lane[subEvent]
	lanes = outbox.Lanes[subEvent]
)

// wait appends a sub-event to its lane, and returns the lane if the caller has to start it.
func (s *System) wait(issuer *order.Handle, e subEvent) (start *lane) {
	s.live.Add(1)
	return s.lanes.Push(outbox.LaneKey{Issuer: issuer, Target: e.target, Firing: e.method == &methodFire}, e)
}

// drain runs the sub-events of a lane until there is none left.
func (s *System) drain(l *lane) {
	finished := false
	var e subEvent
	var ev *Event
	defer func() {
		if !finished { // runtime.Goexit in an event: its worker is going away
			err := &event.AbortError{Msg: msgGoexit, Event: e.id, Fault: true}
			if e.chain != nil {
				e.chain.end(ev, err)
			} else {
				s.deadLetter(failure{id: e.id, target: e.target, method: e.method, err: err, pos: ev.maxPos})
			}
			s.timers.Ended(e.timer)
			s.live.Add(-1)
			s.workers.Run(func() { s.drain(l) })
		}
	}()
	for {
		var ok bool
		if e, ok = s.lanes.Next(l); !ok {
			finished = true
			return
		}
		if !e.called && s.postpones(e.seq, l.Key.Firing) {
			s.postpone(e, l.Key.Firing)
			continue
		}
		ev = s.takeEvent(s.inner, e.id, e.target, e.method, e.args)
		ev.from, ev.told.from, ev.maxPos = e.from, e.origin, e.pos
		ev.stepOf(e.chain)
		if !l.Key.Firing && s.durable != nil {
			ev.issuer, ev.outSeq, ev.byTimer = l.Key.Issuer, e.seq, e.timer
		}
		err := ev.perform()
		if err == event.ErrClosed {
			s.giveBack(ev)
			s.postpone(e, l.Key.Firing)
			continue
		}
		// A timer goes with its issuer: a firing whose issuer is deleted has not failed.
		if ev.chain != nil {
			s.stepped(ev, err)
		} else if err != nil && !(l.Key.Firing && e.target.Is(order.Deleted)) {
			s.deadLetter(failure{id: e.id, target: e.target, method: e.method, err: err, pos: ev.maxPos})
		}
		s.giveBack(ev)
		s.timers.Ended(e.timer)
		s.live.Add(-1)
	}
}

// postpone leaves a sub-event, or a firing, to the next opening of the store, where its row is.
func (s *System) postpone(e subEvent, firing bool) {
	s.postponed.Add(1)
	if e.chain != nil {
		e.chain.postpone(e.pos)
	}
	if firing {
		s.timers.Postponed(e.timer)
	} else {
		s.timers.Ended(e.timer)
	}
	s.live.Add(-1)
}
