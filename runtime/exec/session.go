package exec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"github.com/aeon-lang/aeon/runtime/order"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
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

// sessionNameMax is how many bytes the name of a session has at most: keys of outcomes tell that in two.
const sessionNameMax = 1<<16 - 1

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
	if len(name) > sessionNameMax {
		return nil, fmt.Errorf("the name of a session has %d bytes, and at most %d fit; give it a shorter one", len(name), sessionNameMax)
	}
	if !s.durable.visit() {
		return nil, ErrClosed
	}
	defer s.durable.leave()
	ss := &s.durable.sessions
	ss.sweep()
	ss.mu.Lock()
	x := ss.mu.byName[name]
	if x == nil {
		x = ss.add(name)
		w := &preparation{d: ss.d}
		w.session(x, 0)
		at("session/begin", kindSession)
		x.begun = ss.d.journal.Append(w.batch)
		at("session/begun", kindSession)
	}
	ss.mu.Unlock()
	return x.known()
}

// known returns the session when it is durable, in whatever process it was begun.
func (x *Session) known() (*Session, error) {
	if err := x.sys.durable.wait(x.begun); err != nil {
		return nil, &UnknownError{Cause: err}
	}
	return x, nil
}

// Session returns the session of that name, or ErrSessionExpired.
func (s *System) Session(name string) (*Session, error) {
	if s.durable == nil {
		return nil, ErrNoStore
	}
	if !s.durable.visit() {
		return nil, ErrClosed
	}
	defer s.durable.leave()
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
	session *Session
	seq     uint64
	target  event.ActorID // with which the outcome is stored
	claimed bool          // no other event performs it
	stored  bool          // the outcome is in a batch
	left    bool          // its chain goes on when the store is opened again
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
	if !x.sys.durable.visit() {
		return ErrClosed
	}
	defer x.sys.durable.leave()
	x.sys.durable.sessions.sweep()
	if err := x.enter(seq, ack); err != nil {
		return err
	}
	defer x.leave() // also on runtime.Goexit
	for {
		err := x.perform(&request{session: x, seq: seq, target: target.Handle().ID}, target.Handle(), m, args)
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
	if _, ended := x.mu.outcomes[r.seq]; ended || r.seq <= x.mu.ack || x.mu.running[r.seq] != nil {
		return false
	}
	x.mu.running[r.seq] = make(chan struct{})
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
			if lost := x.sys.durable.store.Err(); lost != nil {
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
		x.mu.outcomes[r.seq] = r.target
		x.sweep()
	}
	close(x.mu.running[r.seq])
	if !r.left {
		delete(x.mu.running, r.seq)
	}
}

// Flags of an outcome.
const (
	outcomeResult = iota
	outcomeAbort
	outcomeFault
)

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
	x := r.session
	w.key = appendOutcomeKey(w.key[:0], r.target, x.name, r.seq)
	w.begin()
	switch {
	case abort != nil && abort.Fault:
		w.row = append(append(w.row, outcomeFault), abort.Msg...)
	case abort != nil:
		w.row = append(append(w.row, outcomeAbort), abort.Msg...)
	default:
		w.row = append(w.row, outcomeResult)
		w.row = binary.AppendUvarint(w.row, uint64(w.d.signatures.numbers[m]))
		w.row = append(w.row, w.result...)
	}
	w.set()
	r.stored = true
}

// sweep drops the outcomes that are over, if there are enough. Caller holds mu, so that in the journal, too, the session's
// watermark never goes back: a request without an outcome above it would run again.
func (x *Session) sweep() {
	if len(x.mu.outcomes) < x.mu.sweepAt {
		return
	}
	d := x.sys.durable
	w := &preparation{d: d}
	for seq, target := range x.mu.outcomes {
		if seq <= x.mu.ack {
			w.key = appendOutcomeKey(w.key[:0], target, x.name, seq)
			w.open().Delete(w.key)
			delete(x.mu.outcomes, seq)
		}
	}
	x.mu.sweepAt = 2*len(x.mu.outcomes) + sweepMin
	w.session(x, x.mu.ack)
	at("session/sweep", kindSession)
	d.journal.Append(w.batch)
	at("session/swept", kindSession)
}

// session writes the row of a session. Outcomes up to ack have no rows any more.
func (w *preparation) session(x *Session, ack uint64) {
	w.key = appendSessionKey(w.key[:0], w.d.sys.partitionOf(x.name), x.name)
	w.begin()
	w.row = binary.AppendUvarint(w.row, ack)
	w.set()
}

// replay returns the outcome of a request that has run before.
func (x *Session) replay(target event.ActorID, seq uint64, m *Method, args order.Args) error {
	d := x.sys.durable
	key := appendOutcomeKey(nil, target, x.name, seq)
	row, ok, err := d.store.Get(key, nil)
	if err != nil {
		return &UnknownError{Cause: err}
	}
	if lost := d.store.Err(); lost != nil {
		return &UnknownError{Cause: lost} // it may not be durable: the client that performed the request could not wait for that
	}
	if !ok {
		return ErrAcknowledged // in the meantime
	}
	payload, err := store.Payload(key, row)
	if err == nil && len(payload) == 0 {
		err = &store.CorruptError{Key: key, Reason: "it is empty"}
	}
	if err != nil {
		d.store.Fail(err)
		return &UnknownError{Cause: err}
	}
	if payload[0] != outcomeResult {
		return &AbortError{Msg: string(payload[1:]), Fault: payload[0] == outcomeFault}
	}
	err = x.result(payload[1:], m, args)
	if changed := new(ResultError); errors.As(err, &changed) {
		changed.Session, changed.Seq = x.name, seq
		return changed
	}
	if err != nil {
		err = &store.CorruptError{Key: key, Reason: err.Error()}
		d.store.Fail(err)
		return &UnknownError{Cause: err}
	}
	return nil
}

// result reads what the row of an outcome says of the result of m.
func (x *Session) result(payload []byte, m *Method, args order.Args) error {
	in := payloadReader{rest: payload}
	number := uint32(in.uint())
	if in.bad {
		return in.end()
	}
	if err := x.sys.durable.signatures.result(number, m); err != nil {
		return err
	}
	a, ok := args.(resultCodec)
	if !ok || len(in.rest) == 0 {
		return nil
	}
	dec := codec.NewDecoder(in.rest)
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
	w := &preparation{d: ss.d}
	for name, x := range ss.mu.byName {
		if x.expire(w, now.Add(-s.cfg.SessionExpiry)) {
			delete(ss.mu.byName, name)
		}
	}
	if w.batch != nil {
		at("session/expire", kindSession)
		ss.d.journal.Append(w.batch)
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
		w.key = appendOutcomeKey(w.key[:0], target, x.name, seq)
		w.open().Delete(w.key)
	}
	x.mu.outcomes = nil
	w.key = appendSessionKey(w.key[:0], x.sys.partitionOf(x.name), x.name)
	w.open().Delete(w.key)
	return true
}

// partitionOf returns the partition in which the row of a session stands.
func (s *System) partitionOf(session string) event.PartitionID {
	return event.NamedActor("", session, 0, len(s.host.Partitions)).Birth
}

func appendSessionKey(k []byte, p event.PartitionID, name string) []byte {
	return append(store.AppendSection(k, p, store.Sessions), name...)
}

func appendOutcomeKey(k []byte, target event.ActorID, session string, seq uint64) []byte {
	k = store.AppendSerial(store.AppendSection(k, target.Birth, store.Outcomes), target.Serial)
	k = binary.BigEndian.AppendUint16(k, uint16(len(session)))
	return store.AppendSerial(append(k, session...), seq)
}

// sessions reads the sessions and which of their requests have outcomes.
func (r *recovery) sessions() error {
	ss := &r.d.sessions
	for p := range r.s.host.Partitions {
		err := r.rows(event.PartitionID(p), store.Sessions, 0, func(key, payload []byte) error {
			in := payloadReader{rest: payload}
			ack := in.uint()
			if err := in.end(); err != nil {
				return err
			}
			ss.add(string(key)).mu.ack = ack
			return nil
		})
		if err != nil {
			return err
		}
	}
	for p := range r.s.host.Partitions {
		err := r.rows(event.PartitionID(p), store.Outcomes, 18, func(key, _ []byte) error {
			target := event.ActorID{Birth: event.PartitionID(p), Serial: binary.BigEndian.Uint64(key)}
			n := int(binary.BigEndian.Uint16(key[8:]))
			if len(key) != 18+n {
				return errors.New("its key is of another length")
			}
			x := ss.mu.byName[string(key[10:10+n])]
			if x == nil {
				return fmt.Errorf("its session %q is missing", key[10:10+n])
			}
			x.mu.outcomes[binary.BigEndian.Uint64(key[10+n:])] = target
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
