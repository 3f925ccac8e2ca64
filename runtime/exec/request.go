package exec

import (
	"context"
	"errors"

	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Call is an event that is performed for a caller outside of the program: for a door, or for Go code.
type Call struct {
	Target order.Ref
	Method *Method
	Args   order.Args // take the result
	// Key names the request: if it comes again, with the same key to the same target, it gets the outcome of the first
	// time and does not run. The client has chosen the key for this request alone. "": it is no such request.
	Key string
	// From says of which trace the event is part, if spans are recorded; nil: of none that has begun.
	From *span.Origin
	// Cancel, if set, lets others cancel the event.
	Cancel *order.Cancellation
}

type request = outbox.Request

// Perform performs a call in the calling goroutine, and returns up to which position of the journal its answer has seen
// the store. The errors are those of Client.Await; ErrNoStore, outbox.ErrKeyTooLong, event.ErrKeyReused, event.ErrUnderWay
// and *event.ResultError for a call with a key.
func (s *System) Perform(c *Call) (seen store.Position, err error) {
	if order.HandleOf(c.Target) == nil {
		return 0, &event.AbortError{Msg: msgNull, Fault: true}
	}
	if c.Key != "" {
		return s.performOnce(c)
	}
	cl := s.takeCaller()
	seen, err = s.perform(cl, nil, c)
	s.callers.Give(cl) // not deferred: that would take as long as the rest of this function
	return seen, err
}

// performOnce performs a call with a key.
func (s *System) performOnce(c *Call) (seen store.Position, err error) {
	d := s.durable
	switch {
	case d == nil:
		return 0, ErrNoStore
	case !d.Visit():
		return 0, event.ErrClosed
	}
	defer d.Leave()
	cl := s.takeCaller()
	defer s.callers.Give(cl)
	of, before, err := s.identify(c)
	if away := (*event.AwayError)(nil); errors.As(err, &away) {
		away.Cause = order.ErrCancelled
	}
	if err != nil {
		return 0, err
	}
	return d.keyed.Perform(c.Cancel.Context(), of, before, func(r *request) (store.Position, error) { return s.perform(cl, r, c) },
		func(o *event.Outcome) error { return s.replay(o, c.Method, c.Args) })
}

// identify returns the request that a call with a key is. before are its fingerprints by earlier versions of aeon.
func (s *System) identify(c *Call) (of event.Request, before []event.Fingerprint, err error) {
	first := func(r order.Ref) (order.Ref, error) {
		id, err := s.code.FirstOf(c.Cancel.Context(), order.HandleOf(r))
		return s.Resolve(id), err
	}
	target, err := first(c.Target)
	if err == nil {
		of.Session, of.Target = c.Key, target.ID()
		of.Fingerprint, before, err = activation.Fingerprint(c.Method, c.Args, first, s.references)
	}
	return of, before, err
}

// HasPerformed reports whether a request with a key to an actor, which is not there any more, has an outcome or is under way. The
// error says why another store has not answered.
func (s *System) HasPerformed(ctx context.Context, id event.ActorID, key string) (bool, error) {
	if !s.durable.Visit() {
		return false, event.ErrClosed
	}
	defer s.durable.Leave()
	target, err := s.code.FirstOf(ctx, s.durable.Handle(id))
	if err != nil {
		return false, err
	}
	return s.durable.keyed.Knows(&event.Request{Session: key, Target: target})
}

// takeCaller returns a client that no other call uses.
func (s *System) takeCaller() *client {
	if cl := s.callers.Take(); cl != nil {
		return cl
	}
	return s.newClient()
}

// perform performs a call. If r is a request that turns out to be a repetition, perform returns outbox.ErrRepeated instead; r may
// be nil.
func (s *System) perform(cl *client, r *request, c *Call) (seen store.Position, err error) {
	if r != nil {
		defer r.End() // also on runtime.Goexit
	}
	id := cl.nextID()
	if s.closing.Load() { // after nextID: Close sees one or the other
		return 0, cl.refused(event.ErrClosed)
	}
	ev := s.takeEvent(cl, id, order.HandleOf(c.Target), c.Method, c.Args)
	ev.Bounded, ev.request, ev.Cancellation, ev.told.from = true, r, c.Cancel, c.From
	if t := s.tracer; t != nil && r == nil {
		ev.from = t.Issued(cl.id, false)
	}
	err = ev.perform()
	if ch := ev.chain; ch == nil {
		seen = ev.maxPos
		s.giveBack(ev)
	} else {
		err = ev.seeThrough()
		seen = ch.pos
	}
	if s.closing.Load() {
		s.leave()
	}
	return seen, err
}

// writeOutcome writes how the request has ended of which ev was the only step or the last one. A refusal is no
// outcome: the client may try again.
func (w *preparation) writeOutcome(ev *Event, err error) {
	var abort *event.AbortError
	if err != nil && !errors.As(err, &abort) {
		return
	}
	o := event.Outcome{Signature: w.d.signatures.Result(ev.method), Data: w.result}
	if abort != nil {
		o = abort.Outcome(ev.chain != nil && !ev.chain.isOwed())
	}
	if r := ev.requested(); r != nil {
		r.WriteOutcome(w.rows(), &o)
	} else {
		w.d.ends.Write(w.rows(), ev.chain.is, &o)
	}
}

// replay returns the outcome of a request that has run before.
func (s *System) replay(o *event.Outcome, m *Method, args order.Args) error {
	if o.Kind != event.Result {
		return o.Failed()
	}
	now := store.Signature{Method: m.Name, Text: m.Signature}
	if m.Class != nil {
		now.Class = m.Class.Path()
	}
	if err := s.durable.signatures.Readable(o.Signature, m, now); err != nil {
		return err
	}
	return codec.ReadResult(o.Data, s, args)
}

// requested returns the request that the event, or the chain that it is a step of, is for; nil if there is none.
func (ev *Event) requested() *request {
	if ev.request == nil && ev.chain != nil {
		return ev.chain.request
	}
	return ev.request
}
