package exec

import (
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/row"
)

// Session is a durable session of a client that may send a request again, because it or
// this node has crashed, or an answer was lost. The client numbers its requests from 1
// on. The outcome of each, an abort included, is stored in the batch of its event, with the target.
// A request that comes again gets that outcome without running again: it waits for the target's lock as any event
// does, and learns under the lock that it has run. With each request the client
// says up to which number it has got all outcomes: those are dropped, and their requests never run again.
// Any goroutine may use it.
type Session struct {
	sys *System
	is  *outbox.Session[*client]
}

// BeginSession begins a session, durably, or goes on with the one of that name. A name must be
// the client's own for ever: a name that was used before and has expired begins a new session.
func (s *System) BeginSession(name string) (*Session, error) {
	if s.durable == nil {
		return nil, ErrNoStore
	}
	if len(name) > row.SessionNameMax {
		return nil, fmt.Errorf("the name of a session has %d bytes, and at most %d fit; give it a shorter one", len(name), row.SessionNameMax)
	}
	if !s.durable.Visit() {
		return nil, event.ErrClosed
	}
	defer s.durable.Leave()
	return s.known(s.durable.sessions.Begin(name))
}

// Session returns the session of that name, or event.ErrSessionExpired.
func (s *System) Session(name string) (*Session, error) {
	if s.durable == nil {
		return nil, ErrNoStore
	}
	if !s.durable.Visit() {
		return nil, event.ErrClosed
	}
	defer s.durable.Leave()
	s.durable.sessions.Sweep()
	x := s.durable.sessions.Find(name)
	if x == nil {
		return nil, event.ErrSessionExpired
	}
	return s.known(x)
}

// known returns a session once its beginning is durable, in whatever process that was.
func (s *System) known(x *outbox.Session[*client]) (*Session, error) {
	if err := s.durable.Wait(x.Begun); err != nil {
		return nil, &event.UnknownError{Cause: err}
	}
	return &Session{s, x}, nil
}

// Name returns the name of the session.
func (x *Session) Name() string { return x.is.Name }

// Acknowledged returns up to which number requests are over.
func (x *Session) Acknowledged() uint64 { return x.is.Acknowledged() }

// Await runs request seq and returns when its outcome is durable; args take the result. If
// the request has run before, args take the result of that run, or its failure is returned. All
// requests up to ack, which is below seq, are over. The errors are those of Client.Await, event.ErrAcknowledged,
// event.ErrSessionExpired and *event.ResultError.
func (x *Session) Await(seq, ack uint64, target order.Ref, m *Method, args order.Args) error {
	if order.HandleOf(target) == nil {
		return &event.AbortError{Msg: msgNull, Fault: true}
	}
	s := x.sys
	if !s.durable.Visit() {
		return event.ErrClosed
	}
	defer s.durable.Leave()
	return x.is.Perform(seq, ack, order.HandleOf(target).ID, func(r *request) error {
		_, err := s.perform(x.is.Run, r, &Call{Target: target, Method: m, Args: args})
		return err
	}, func(o *event.Outcome) error { return s.replay(o, m, args) })
}
