package exec

import (
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/row"
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
	// Cancel, if set, lets others cancel the event.
	Cancel *order.Cancellation
}

type request = outbox.Request

// callers are the clients that calls are performed with, one call at a time.
type callers struct {
	first atomic.Pointer[client] // idle, too: calls one after the other take no mutex
	sync.Mutex
	idle []*client
}

// ErrKeyReused refuses a request that has come before with another method or other arguments.
var ErrKeyReused = errors.New("the key was used for another request to this actor")

// ErrKeyTooLong refuses a key that does not fit into the key of its row.
var ErrKeyTooLong = fmt.Errorf("the key of the request has more than %d bytes; choose a shorter one", row.KeyMax)

// errRepeated ends an event that has found under its target's lock that its request is not its own to perform.
var errRepeated = errors.New("the request has run or is running")

// Perform performs a call in the calling goroutine, and returns up to which position of the journal its answer has seen
// the store. The errors are those of Client.Await; ErrNoStore, ErrKeyTooLong, ErrKeyReused and *ResultError for a call with a key.
func (s *System) Perform(c *Call) (seen store.Position, err error) {
	if order.HandleOf(c.Target) == nil {
		return 0, &AbortError{Msg: msgNull, Fault: true}
	}
	if c.Key != "" {
		return s.performOnce(c)
	}
	cl := s.takeCaller()
	seen, err = s.perform(cl, nil, c)
	s.giveCaller(cl) // not deferred: that would take as long as the rest of this function
	return seen, err
}

// performOnce performs a call with a key.
func (s *System) performOnce(c *Call) (seen store.Position, err error) {
	cl := s.takeCaller()
	defer s.giveCaller(cl)
	d := s.durable
	switch {
	case d == nil:
		return 0, ErrNoStore
	case len(c.Key) > row.KeyMax:
		return 0, ErrKeyTooLong
	case !d.Visit():
		return 0, ErrClosed
	}
	defer d.Leave()
	d.keyed.Sweep()
	of := event.Request{Session: c.Key, Target: s.scope(order.HandleOf(c.Target)), Fingerprint: c.fingerprint()}
	for {
		seen, err = s.perform(cl, d.keyed.Request(of), c)
		if !errors.Is(err, errRepeated) {
			return seen, err
		}
		o, how, err := d.keyed.Outcome(&of)
		if lost := d.Store.Err(); lost != nil { // the outcome may not be durable: the caller that performed the request could not wait for it
			return 0, &UnknownError{Cause: lost}
		}
		switch {
		case err != nil:
			return 0, d.unreadable(o.Key, err)
		case how == outbox.Left:
			return 0, ErrPostponed
		case how == outbox.Refused: // before it ran: it may be performed now
			continue
		case o.Fingerprint != of.Fingerprint:
			return 0, ErrKeyReused
		}
		err = s.replay(&o.Outcome, c.Method, c.Args)
		if changed := new(ResultError); errors.As(err, &changed) {
			changed.Session = c.Key
		}
		return 0, d.unreadable(o.Key, err)
	}
}

// scope returns the actor that the keys of requests to h belong to: all actors of a name are one.
func (s *System) scope(h *order.Handle) event.ActorID {
	if h.Label(); h.Named != nil && h.Shape != nil { // Label attaches it
		return event.NamedActor(h.Shape.Path(), h.Named.Name, 0, s.cfg.Partitions)
	}
	return h.ID
}

// fingerprint returns the hash of what is called.
func (c *Call) fingerprint() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.Method.Name)) // a hash does not fail
	if a, ok := c.Args.(argsCodec); ok {
		e := codec.NewEncoder(nil)
		a.Encode(e)
		_, _ = h.Write(e.Data())
	}
	return h.Sum64()
}

// takeCaller returns a client that no other call uses.
func (s *System) takeCaller() *client {
	if cl := s.callers.first.Swap(nil); cl != nil {
		return cl
	}
	s.callers.Lock()
	n := len(s.callers.idle)
	if n == 0 {
		s.callers.Unlock()
		return s.newClient()
	}
	cl := s.callers.idle[n-1]
	s.callers.idle = s.callers.idle[:n-1]
	s.callers.Unlock()
	return cl
}

func (s *System) giveCaller(cl *client) {
	if s.callers.first.CompareAndSwap(nil, cl) {
		return
	}
	s.callers.Lock()
	s.callers.idle = append(s.callers.idle, cl)
	s.callers.Unlock()
}

// perform performs a call. If r is a request that turns out to be a repetition, perform returns errRepeated instead; r may
// be nil.
func (s *System) perform(cl *client, r *request, c *Call) (seen store.Position, err error) {
	if r != nil {
		defer r.End() // also on runtime.Goexit
	}
	id := cl.nextID()
	if s.closing.Load() { // after nextID: Close sees one or the other
		return 0, cl.refused(ErrClosed)
	}
	ev := s.takeEvent(cl, id, order.HandleOf(c.Target), c.Method, c.Args)
	ev.Bounded, ev.request, ev.Cancellation = true, r, c.Cancel
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

// resultCodec is implemented by the arguments of generated methods.
type resultCodec interface {
	EncodeResult(*codec.Encoder)
	DecodeResult(*codec.Decoder)
}

// writeOutcome writes how the request r, of which m was the only step or the last one, has ended. A refusal is no
// outcome: the client may try again.
func (w *preparation) writeOutcome(r *request, m *Method, err error) {
	var abort *AbortError
	if err != nil && !errors.As(err, &abort) {
		return
	}
	o := event.Outcome{Signature: w.d.signatures.Result(m), Data: w.result}
	if abort != nil {
		o.Kind, o.Data = event.Abort, []byte(abort.Msg)
		if abort.Fault {
			o.Kind = event.Fault
		}
	}
	r.WriteOutcome(w.rows(), &o)
}

// replay returns the outcome of a request that has run before.
func (s *System) replay(o *event.Outcome, m *Method, args order.Args) error {
	if o.Kind != event.Result {
		return &AbortError{Msg: string(o.Data), Fault: o.Kind == event.Fault}
	}
	now := store.Signature{Method: m.Name, Text: m.Signature}
	if m.Class != nil {
		now.Class = m.Class.Path()
	}
	if err := s.durable.signatures.Readable(o.Signature, m, now); err != nil {
		return err
	}
	a, ok := args.(resultCodec)
	if !ok || len(o.Data) == 0 {
		return nil
	}
	dec := codec.NewDecoder(o.Data)
	dec.Context = s
	a.DecodeResult(dec)
	return dec.Close()
}

// unreadable returns what a client is told if the outcome under a key could not be read, with err; an abort, or an outcome
// that is no result of the method any more, was read.
func (d *durable) unreadable(key []byte, err error) error {
	abort, changed := new(AbortError), new(ResultError)
	if err == nil || errors.As(err, &abort) || errors.As(err, &changed) {
		return err
	}
	if errors.Is(err, codec.ErrCorrupt) {
		err = row.Damage(key, err)
	}
	d.Store.Fail(err)
	return &UnknownError{Cause: err}
}
