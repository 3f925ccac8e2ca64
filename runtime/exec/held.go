package exec

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Callbacks of events to clients of other stores: see across.Held.

// hold has the stores of clients give what activation.HoldCallbacks has gathered its places while the event has all its locks: so callbacks have the order of the
// commits. False: the attempt is over before, as if a vote was lost, or is to be withdrawn, and the next one to wait for a store that is away.
func (ev *Event) hold() bool {
	ev.lacks = nil
	for i := range ev.prep.held {
		h := &ev.prep.held[i]
		ev.sys.live.Add(1)                           // until it has been told what becomes of them
		ev.sys.cfg.Spans.Issues(ev.told.span, ev.ID) // by that store
		placed := false
		if h.Gone, placed, ev.lacks = ev.sys.across.Hold(&ev.Attempt, h.Store, h.Number, h.Lines); !placed {
			ev.prep.held = slices.Delete(ev.prep.held, i+1, len(ev.prep.held)) // the others were not sent
			return false
		}
	}
	return true
}

// let says what becomes of the callbacks that other stores hold: they run when the event is durable, and all that was printed here by then is out.
func (ev *Event) let(yes bool) {
	s, pos := ev.sys, ev.maxPos
	for _, h := range ev.prep.held {
		if !yes {
			s.across.Let(h.Store, h.Number, false)
			s.live.Add(-1)
			continue
		}
		s.workers.Run(func() {
			if s.durable.Wait(pos) == nil {
				s.output.FlushAll() // also lines of this event, and of those before it
				s.across.Let(h.Store, h.Number, true)
			}
			s.live.Add(-1)
		})
	}
	ev.prep.held = slices.Delete(ev.prep.held, 0, len(ev.prep.held))
}

// endsTimer reports whether a timer has fired a callback of a client that has gone, and so is over.
func (ev *Event) endsTimer(o *activation.Op) bool {
	held := ev.prep != nil && len(ev.prep.held) > 0 && ev.prep.held[0].Gone // a firing has one op
	return o.Timer != nil && (held || clientOf(receiver(o).client).gone())
}

// holdFor gives callbacks of another store's event their places. False: this version of the program does not have one of their methods.
func (s *System) holdFor(q *across.Question) bool {
	if q.Gone = !slices.ContainsFunc(q.Lines, func(l across.Line) bool { return s.objects.Find(l.Object) != nil }); q.Gone {
		return true // perhaps with the version of the program that had their methods
	}
	list := make([]callback, len(q.Lines))
	for i := range q.Lines {
		object, m, args := s.readLine(&q.Lines[i])
		if m == nil {
			s.across.Lacks(s.across.ID(), q.Lines[i].Method, 0)
			return false
		}
		list[i] = callback{object: object.(ClientRef).o, method: m.(*ClientMethod), args: args, number: q.Lines[i].Number, held: q.Held, origin: s.cfg.Spans.Stored(q.Event)}
	}
	for i, c := range list {
		c.from = s.tracer.Held(q.Event, q.Held.Home, q.Lines[i].Issuer, c.number)
		if to := clientOf(c.object.client); to.post(c) {
			s.workers.Run(to.drain)
		}
	}
	return true
}

// clientOf returns the client of a client object that is not one of this start: it has gone, or it is one of another store.
func (s *System) clientOf(object uint64) *Client {
	if s.across == nil || event.StoreIn(object) == s.cfg.Across.Store {
		return goneClient
	}
	return abroadClient
}

// abroadClient is the client of all objects whose client is one of another store.
var abroadClient = &(&client{abroad: true}).Client

// readLine returns the callback that a line describes, no method if this version of the program does not have that.
func (s *System) readLine(l *across.Line) (object activation.Receiver, _ activation.Callback, args order.Args) {
	m := s.clientMethods[l.Method]
	if m == nil {
		return nil, nil, nil
	}
	args = m.NewArgs()
	if err := codec.ReadArgs(l.Args, s, args); err != nil {
		assert.Unreachable("exec: the arguments of %s cannot be read: %v", l.Method, err)
	}
	return s.ResolveClient(l.Object), m, args
}
