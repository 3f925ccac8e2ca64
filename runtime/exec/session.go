package exec

import (
	"errors"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/store"
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

// Errors of requests that are refused. None of them has run.
var (
	// ErrSessionExpired refuses requests of a session that is not there: it has not been used
	// for Config.SessionExpiry, or never began.
	ErrSessionExpired = outbox.ErrSessionExpired
	// ErrAcknowledged refuses a request whose outcome the client has acknowledged.
	ErrAcknowledged = outbox.ErrAcknowledged
)

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
		return nil, ErrClosed
	}
	defer s.durable.Leave()
	return s.known(s.durable.sessions.Begin(name))
}

// Session returns the session of that name, or ErrSessionExpired.
func (s *System) Session(name string) (*Session, error) {
	if s.durable == nil {
		return nil, ErrNoStore
	}
	if !s.durable.Visit() {
		return nil, ErrClosed
	}
	defer s.durable.Leave()
	s.durable.sessions.Sweep()
	x := s.durable.sessions.Find(name)
	if x == nil {
		return nil, ErrSessionExpired
	}
	return s.known(x)
}

// known returns a session once its beginning is durable, in whatever process that was.
func (s *System) known(x *outbox.Session[*client]) (*Session, error) {
	if err := s.durable.Wait(x.Begun); err != nil {
		return nil, &UnknownError{Cause: err}
	}
	return &Session{s, x}, nil
}

// Name returns the name of the session.
func (x *Session) Name() string { return x.is.Name }

// Acknowledged returns up to which number requests are over.
func (x *Session) Acknowledged() uint64 { return x.is.Acknowledged() }

// Await runs request seq and returns when its outcome is durable; args take the result. If
// the request has run before, args take the result of that run, or its failure is returned. All
// requests up to ack, which is below seq, are over. The errors are those of Client.Await, ErrAcknowledged,
// ErrSessionExpired and *ResultError.
func (x *Session) Await(seq, ack uint64, target order.Ref, m *Method, args order.Args) error {
	if ack >= seq {
		return fmt.Errorf("request %d of session %q acknowledges requests up to %d", seq, x.Name(), ack)
	}
	if order.HandleOf(target) == nil {
		return &AbortError{Msg: msgNull, Fault: true}
	}
	d := x.sys.durable
	if !d.Visit() {
		return ErrClosed
	}
	defer d.Leave()
	d.sessions.Sweep()
	if err := x.is.Enter(seq, ack); err != nil {
		return err
	}
	defer x.is.Leave() // also on runtime.Goexit
	for {
		_, err := x.sys.perform(x.is.Run, x.is.Request(seq, order.HandleOf(target).ID), &Call{Target: target, Method: m, Args: args})
		if !errors.Is(err, errRepeated) {
			return err
		}
		switch at, how := x.is.Outcome(seq); how {
		case outbox.Over:
			return ErrAcknowledged
		case outbox.Left:
			if lost := d.Store.Err(); lost != nil {
				return &UnknownError{Cause: lost} // the client that performed the request could not wait for its first steps
			}
			return ErrPostponed
		case outbox.Ended:
			return x.replay(at, seq, m, args)
		case outbox.Refused: // before it ran: it may be performed now
		}
	}
}

// ResultError refuses a request of a durable session that has run, with an outcome that the program cannot
// read any more.
type ResultError = state.ResultError

// replay returns the outcome of a request that has run before.
func (x *Session) replay(target event.ActorID, seq uint64, m *Method, args order.Args) error {
	d := x.sys.durable
	key := row.AppendOutcomeKey(nil, &event.Request{Session: x.Name(), Seq: seq, Target: target})
	value, ok, err := d.Store.Get(key, nil)
	if err != nil {
		return &UnknownError{Cause: err}
	}
	if lost := d.Store.Err(); lost != nil {
		return &UnknownError{Cause: lost} // the outcome may not be durable: the client that performed the request could not wait for it
	}
	if !ok {
		return ErrAcknowledged // in the meantime
	}
	o, err := row.ReadOutcome(key, value)
	if err == nil {
		err = x.sys.replay(&o, m, args)
	}
	if changed := new(ResultError); errors.As(err, &changed) {
		changed.Session, changed.Seq = x.Name(), seq
	}
	return d.unreadable(key, err)
}

// sessions reads the sessions and which of their requests have outcomes.
func (r *recovery) sessions() error {
	ss := &r.d.sessions
	err := r.d.Rows(store.Sessions, 0, func(_ event.PartitionID, name, payload []byte) error {
		ack, err := row.ReadSession(payload)
		if err == nil {
			ss.Restore(string(name), ack)
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.d.Rows(store.Outcomes, row.OutcomeKeyMin, func(p event.PartitionID, rest, _ []byte) error {
		of, err := row.ReadOutcomeKey(p, rest)
		if err != nil {
			return err
		}
		x := ss.Find(of.Session)
		if x == nil {
			return fmt.Errorf("its session %q is missing", of.Session)
		}
		x.RestoreOutcome(of)
		return nil
	})
}
