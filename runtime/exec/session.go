package exec

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Session is a durable session of a client that may send a request again, because it or
// this node has crashed, or an answer was lost. Requests are numbered by the client, from 1
// on; the outcome of each, an abort included, is stored in the batch of its event, with the target,
// and a request that comes again gets it without running again: it waits for the target's lock as any event
// does, and under it learns that it has run. With each request the client
// says up to which number it has got all outcomes: those are dropped, and never run again.
// Any goroutine may use it.
type Session struct {
	sys    *System
	name   string
	client *Client
	begun  store.Position // of its row
	mu     struct {
		sync.Mutex
		ack      uint64                   // requests up to this one are over
		outcomes map[uint64]event.ActorID // stored, by request: the target that the row stands with
		running  map[uint64]chan struct{} // claimed by an event or its chain; closed at the end
		callers  int                      // of Await
		used     time.Time
		expired  bool
		sweepAt  int // so many outcomes are worth looking for those that are over
	}
}

// sweepMin is up to how many outcomes stay that are not needed any more.
const sweepMin = 16

// Errors of requests that are refused. None of them has run.
var (
	// ErrSessionExpired refuses requests of a session that is not there: it has not been used
	// for Config.SessionExpiry, or never began.
	ErrSessionExpired = errors.New("the session has expired, or was never begun")
	// ErrAcknowledged refuses a request whose outcome the client has acknowledged.
	ErrAcknowledged = errors.New("the outcome of the request was acknowledged before")
	// ErrNoStore refuses sessions and snapshots of a system that keeps nothing.
	ErrNoStore = errors.New("the system keeps its state in memory only; sessions and snapshots need a store")
)

// sessions are the durable sessions of a system.
type sessions struct {
	d  *durable
	mu struct {
		sync.Mutex
		byName map[string]*Session
		swept  time.Time
	}
}

func (ss *sessions) open(d *durable) {
	ss.d = d
	ss.mu.byName = make(map[string]*Session)
	ss.mu.swept = d.sys.clock.Now()
}

// BeginSession begins a session, durably, or goes on with the one of that name. A name must be
// the client's own for ever: one that was used before and has expired would begin anew.
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
	ss := &s.durable.sessions
	ss.sweep()
	ss.mu.Lock()
	x := ss.mu.byName[name]
	if x == nil {
		x = ss.add(name)
		w := newPreparation(ss.d)
		w.session(x, 0)
		at("session/begin", kindSession)
		x.begun = ss.d.Journal.Append(w.Take())
		at("session/begun", kindSession)
	}
	ss.mu.Unlock()
	return x.known()
}

// known returns the session when it is durable, in whatever process it was begun.
func (x *Session) known() (*Session, error) {
	if err := x.sys.durable.Wait(x.begun); err != nil {
		return nil, &UnknownError{Cause: err}
	}
	return x, nil
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
	ss := &s.durable.sessions
	ss.sweep()
	ss.mu.Lock()
	x := ss.mu.byName[name]
	ss.mu.Unlock()
	if x == nil {
		return nil, ErrSessionExpired
	}
	return x.known()
}

// add makes a session. Caller holds mu, or is alone.
func (ss *sessions) add(name string) *Session {
	x := &Session{sys: ss.d.sys, name: name, client: ss.d.sys.newClient()}
	x.mu.outcomes, x.mu.running = make(map[uint64]event.ActorID), make(map[uint64]chan struct{})
	x.mu.used, x.mu.sweepAt = ss.d.sys.clock.Now(), sweepMin
	ss.mu.byName[name] = x
	return x
}

// Name returns the name of the session.
func (x *Session) Name() string { return x.name }

// Acknowledged returns up to which number requests are over.
func (x *Session) Acknowledged() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mu.ack
}

// request is one request of a session while it is performed.
type request struct {
	event.Request
	session *Session
	claimed bool // no other event performs it
	stored  bool // the outcome is in a batch
	left    bool // its chain goes on when the store is opened again
}

// errRepeated ends an event that has found under its target's lock that its request is not its own to perform.
var errRepeated = errors.New("the request has run or is running")

// Await runs request seq and returns when its outcome is durable; args take the result. If
// the request has run before, they take the result of that, or its failure is returned. All
// requests up to ack, which is below seq, are over. The errors are those of Client.Await, ErrAcknowledged,
// ErrSessionExpired and *ResultError.
func (x *Session) Await(seq, ack uint64, target order.Ref, m *Method, args order.Args) error {
	if ack >= seq {
		return fmt.Errorf("request %d of session %q acknowledges requests up to %d", seq, x.name, ack)
	}
	if target.Handle() == nil {
		return &AbortError{Msg: msgNull, Fault: true}
	}
	if !x.sys.durable.Visit() {
		return ErrClosed
	}
	defer x.sys.durable.Leave()
	x.sys.durable.sessions.sweep()
	if err := x.enter(seq, ack); err != nil {
		return err
	}
	defer x.leave() // also on runtime.Goexit
	for {
		err := x.perform(&request{session: x, Request: event.Request{Session: x.name, Seq: seq, Target: target.Handle().ID}}, target.Handle(), m, args)
		if !errors.Is(err, errRepeated) {
			return err
		}
		at, ended, err := x.outcome(seq)
		switch {
		case err != nil:
			return err
		case !ended: // it was refused before it ran, and may be performed now
		default:
			return x.replay(at, seq, m, args)
		}
	}
}

// enter notes that requests up to ack are over, and keeps the session from expiring until leave is called.
func (x *Session) enter(seq, ack uint64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.mu.expired {
		return ErrSessionExpired
	}
	x.mu.used = x.sys.clock.Now()
	x.mu.ack = max(x.mu.ack, ack)
	if seq <= x.mu.ack {
		return ErrAcknowledged // for ever, so no lock is needed to say so
	}
	x.mu.callers++
	return nil
}

func (x *Session) leave() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mu.used = x.sys.clock.Now()
	x.mu.callers--
}

// perform performs r, unless that turns out to be a repetition: then it returns errRepeated.
func (x *Session) perform(r *request, target *order.Handle, m *Method, args order.Args) error {
	defer r.end() // also on runtime.Goexit
	cl := x.client
	id := cl.nextID()
	if x.sys.closing.Load() {
		return cl.refused(ErrClosed)
	}
	ev := x.sys.takeEvent(cl, id, target, m, args)
	ev.Bounded, ev.request = true, r
	err := ev.perform()
	if ev.chain == nil {
		x.sys.giveBack(ev)
	} else {
		err = ev.seeThrough()
	}
	if x.sys.closing.Load() {
		x.sys.leave()
	}
	return err
}

// claim makes the request that of the event which holds its target, or has found it deleted, and reports
// false if it is another one's: it has run, or runs, or is over. The lock alone would not do: readers share
// it, and a chain gives it back before its end.
func (r *request) claim() bool {
	if r.claimed {
		return true // by an earlier attempt
	}
	x := r.session
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ended := x.mu.outcomes[r.Seq]; ended || r.Seq <= x.mu.ack || x.mu.running[r.Seq] != nil {
		return false
	}
	x.mu.running[r.Seq] = make(chan struct{})
	r.claimed = true
	return true
}

// outcome waits while request seq runs, and says with which actor its outcome is stored: another one than
// a repetition has named, if that is the next actor of a name. It has not ended if it was refused. The error is
// ErrAcknowledged, or ErrPostponed if it is left to the next opening of the store.
func (x *Session) outcome(seq uint64) (at event.ActorID, ended bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		if seq <= x.mu.ack {
			return at, false, ErrAcknowledged
		}
		before := x.mu.running[seq]
		if before == nil {
			at, ended = x.mu.outcomes[seq]
			return at, ended, nil
		}
		x.mu.Unlock()
		x.sys.scheduler.Wait(before)
		x.mu.Lock()
		if x.mu.running[seq] == before {
			if lost := x.sys.durable.Store.Err(); lost != nil {
				return at, false, &UnknownError{Cause: lost} // the client that performed the request could not wait for its first steps
			}
			return at, false, ErrPostponed
		}
	}
}

// end lets those go on that have sent the same request again. One that is left stays claimed, and its session is kept:
// the row of its chain names both.
func (r *request) end() {
	if !r.claimed {
		return
	}
	x := r.session
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.stored {
		x.mu.outcomes[r.Seq] = r.Target
		x.sweep()
	}
	close(x.mu.running[r.Seq])
	if !r.left {
		delete(x.mu.running, r.Seq)
	}
}

// resultCodec is implemented by the arguments of generated methods.
type resultCodec interface {
	EncodeResult(*codec.Encoder)
	DecodeResult(*codec.Decoder)
}

// outcome writes how the request, of which m was the only step or the last one, has ended. A refusal is no
// outcome: the client may try again.
func (r *request) outcome(w *preparation, m *Method, err error) {
	var abort *AbortError
	if err != nil && !errors.As(err, &abort) {
		return
	}
	o := event.Outcome{Signature: w.d.signatures.numbers[m], Data: w.result}
	if abort != nil {
		o.Kind, o.Data = event.Abort, []byte(abort.Msg)
		if abort.Fault {
			o.Kind = event.Fault
		}
	}
	w.Key = row.AppendOutcomeKey(w.Key[:0], &r.Request)
	w.Begin()
	w.Row = row.AppendOutcome(w.Row, &o)
	w.Set()
	r.stored = true
}

// sweep drops the outcomes that are over, if there are enough. Caller holds mu, so that in the journal, too, the session's
// watermark never goes back: a request without an outcome above it would run again.
func (x *Session) sweep() {
	if len(x.mu.outcomes) < x.mu.sweepAt {
		return
	}
	d := x.sys.durable
	w := newPreparation(d)
	for seq, target := range x.mu.outcomes {
		if seq <= x.mu.ack {
			w.Key = row.AppendOutcomeKey(w.Key[:0], &event.Request{Session: x.name, Seq: seq, Target: target})
			w.Delete()
			delete(x.mu.outcomes, seq)
		}
	}
	x.mu.sweepAt = 2*len(x.mu.outcomes) + sweepMin
	w.session(x, x.mu.ack)
	at("session/sweep", kindSession)
	d.Journal.Append(w.Take())
	at("session/swept", kindSession)
}

// session writes the row of a session. Outcomes up to ack have no rows any more.
func (w *preparation) session(x *Session, ack uint64) {
	w.Key = row.AppendSessionKey(w.Key[:0], x.name, w.d.Store.Partitions())
	w.Begin()
	w.Row = row.AppendSession(w.Row, ack)
	w.Set()
}

// replay returns the outcome of a request that has run before.
func (x *Session) replay(target event.ActorID, seq uint64, m *Method, args order.Args) error {
	d := x.sys.durable
	key := row.AppendOutcomeKey(nil, &event.Request{Session: x.name, Seq: seq, Target: target})
	value, ok, err := d.Store.Get(key, nil)
	if err != nil {
		return &UnknownError{Cause: err}
	}
	if lost := d.Store.Err(); lost != nil {
		return &UnknownError{Cause: lost} // it may not be durable: the client that performed the request could not wait for that
	}
	if !ok {
		return ErrAcknowledged // in the meantime
	}
	o, err := row.ReadOutcome(key, value)
	if err != nil {
		d.Store.Fail(err)
		return &UnknownError{Cause: err}
	}
	if o.Kind != event.Result {
		return &AbortError{Msg: string(o.Data), Fault: o.Kind == event.Fault}
	}
	err = x.result(&o, m, args)
	if changed := new(ResultError); errors.As(err, &changed) {
		changed.Session, changed.Seq = x.name, seq
		return changed
	}
	if err != nil {
		err = row.Damage(key, err)
		d.Store.Fail(err)
		return &UnknownError{Cause: err}
	}
	return nil
}

// result reads an outcome of m into args.
func (x *Session) result(o *event.Outcome, m *Method, args order.Args) error {
	if err := x.sys.durable.signatures.result(o.Signature, m); err != nil {
		return err
	}
	a, ok := args.(resultCodec)
	if !ok || len(o.Data) == 0 {
		return nil
	}
	dec := codec.NewDecoder(o.Data)
	dec.Context = x.sys
	a.DecodeResult(dec)
	return dec.Close()
}

// sweep ends the sessions that have not been used for long, from time to time.
func (ss *sessions) sweep() {
	s := ss.d.sys
	now := s.clock.Now()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if now.Sub(ss.mu.swept) < s.cfg.SessionExpiry/16 {
		return
	}
	ss.mu.swept = now
	w := newPreparation(ss.d)
	for name, x := range ss.mu.byName {
		if x.expire(w, now.Add(-s.cfg.SessionExpiry)) {
			delete(ss.mu.byName, name)
		}
	}
	if !w.Empty() {
		at("session/expire", kindSession)
		ss.d.Journal.Append(w.Take())
		at("session/expired", kindSession)
	}
}

// expire ends the session if it was last used before a time.
func (x *Session) expire(w *preparation, before time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.mu.callers+len(x.mu.running) > 0 || !x.mu.used.Before(before) {
		return false
	}
	x.mu.expired = true
	x.sys.retire(x.client.stats)
	for seq, target := range x.mu.outcomes {
		w.Key = row.AppendOutcomeKey(w.Key[:0], &event.Request{Session: x.name, Seq: seq, Target: target})
		w.Delete()
	}
	x.mu.outcomes = nil
	w.Key = row.AppendSessionKey(w.Key[:0], x.name, w.d.Store.Partitions())
	w.Delete()
	return true
}

// sessions reads the sessions and which of their requests have outcomes.
func (r *recovery) sessions() error {
	ss := &r.d.sessions
	err := r.d.Rows(store.Sessions, 0, func(_ event.PartitionID, name, payload []byte) error {
		ack, err := row.ReadSession(payload)
		if err != nil {
			return err
		}
		ss.add(string(name)).mu.ack = ack
		return nil
	})
	if err != nil {
		return err
	}
	return r.d.Rows(store.Outcomes, row.OutcomeKeyMin, func(p event.PartitionID, rest, _ []byte) error {
		of, err := row.ReadOutcomeKey(p, rest)
		if err != nil {
			return err
		}
		x := ss.mu.byName[of.Session]
		if x == nil {
			return fmt.Errorf("its session %q is missing", of.Session)
		}
		x.mu.outcomes[of.Seq] = of.Target
		return nil
	})
}
