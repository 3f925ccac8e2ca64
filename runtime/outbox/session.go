package outbox

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Sessions are the durable sessions of a system. Each has a value of R, with which package exec performs its requests.
type Sessions[R any] struct {
	cfg SessionsConfig[R]
	mu  struct {
		sync.Mutex
		byName map[string]*Session[R]
		swept  time.Time
	}
}

// SessionsConfig says how sessions live. All fields are needed but Scheduler.
type SessionsConfig[R any] struct {
	Store     *store.Store
	Append    func(store.Batch) store.Position // to the journal
	Clock     sched.Clock
	Scheduler *sched.Scheduler // nil unless the system is scheduled
	Expiry    time.Duration    // a session that is not used for so long ends
	Begun     func() R
	Expired   func(R)
	// At passes a place where a crash finds the store in another state.
	At func(place string)
}

// Session is one session. The client numbers its requests, from 1 on. The outcome of each is stored in the batch of its
// event, with the target, and a request that comes again gets it without running again. With each request the client says
// up to which number it has got all outcomes: those are dropped, and their requests never run again.
//
// Invariants: a request is performed by at most one event, which has claimed it; the acknowledged number never decreases,
// nor does it in the journal; a session with a claimed request does not expire.
type Session[R any] struct {
	Name  string
	Run   R
	Begun store.Position // the position of its row
	all   *Sessions[R]
	mu    struct {
		sync.Mutex
		ack      uint64                   // requests up to this one are over
		outcomes map[uint64]event.ActorID // stored, by request: the target that the row stands with
		running  map[uint64]chan struct{} // claimed by an event or its chain; closed at the end
		callers  int                      // between Enter and Leave
		used     time.Time
		expired  bool
		sweepAt  int // at so many outcomes those that are over are looked for
	}
}

// SweepMin is how many outcomes that are not needed any more may stay.
const SweepMin = 16

// Open is called before the first use.
func (ss *Sessions[R]) Open(cfg SessionsConfig[R]) {
	ss.cfg = cfg
	ss.mu.byName = make(map[string]*Session[R])
	ss.mu.swept = cfg.Clock.Now()
}

// Begin begins a session, or goes on with the session of that name. The caller waits until its Begun is durable.
func (ss *Sessions[R]) Begin(name string) *Session[R] {
	ss.Sweep()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	x := ss.goOn(name)
	if x == nil {
		x = ss.add(name)
		w := ss.writer()
		x.writeRow(w, 0)
		ss.cfg.At("session/begin")
		x.Begun = ss.cfg.Append(w.Take())
		ss.cfg.At("session/begun")
	}
	return x
}

// Find returns the session of a name, nil if there is none.
func (ss *Sessions[R]) Find(name string) *Session[R] {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.goOn(name)
}

// goOn is Find, which is a use of the session: it does not expire under a client that is about to send its next request. Caller holds mu.
func (ss *Sessions[R]) goOn(name string) *Session[R] {
	x := ss.mu.byName[name]
	if x != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.mu.used = ss.cfg.Clock.Now()
	}
	return x
}

// Recover finds the sessions that the store has, and which of their requests have outcomes. No other goroutine uses ss.
func (ss *Sessions[R]) Recover() error {
	for p := range ss.cfg.Store.Partitions() {
		err := row.Section(ss.cfg.Store, event.PartitionID(p), store.Sessions, 0, func(key, name, _, payload []byte) error {
			ack, err := row.ReadSession(payload)
			if err == nil {
				ss.add(string(name)).mu.ack = ack
			}
			return row.Damage(key, err)
		})
		if err != nil {
			return err
		}
	}
	for p := range ss.cfg.Store.Partitions() {
		err := row.Section(ss.cfg.Store, event.PartitionID(p), store.Outcomes, row.OutcomeKeyMin, func(key, rest, _, _ []byte) error {
			return row.Damage(key, ss.restoreOutcome(rest))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// restoreOutcome notes an outcome that was found, by the part of its key behind the section.
func (ss *Sessions[R]) restoreOutcome(rest []byte) error {
	of, err := row.ReadOutcomeKey(rest)
	if err != nil {
		return err
	}
	x := ss.mu.byName[of.Session]
	if x == nil {
		return fmt.Errorf("its session %q is missing", of.Session)
	}
	x.mu.outcomes[of.Seq] = of.Target
	return nil
}

// add makes a session. Caller holds mu, or no other goroutine uses ss.
func (ss *Sessions[R]) add(name string) *Session[R] {
	x := &Session[R]{Name: name, Run: ss.cfg.Begun(), all: ss}
	x.mu.outcomes, x.mu.running = make(map[uint64]event.ActorID), make(map[uint64]chan struct{})
	x.mu.used, x.mu.sweepAt = ss.cfg.Clock.Now(), SweepMin
	ss.mu.byName[name] = x
	return x
}

func (ss *Sessions[R]) writer() *row.Writer { return &row.Writer{Store: ss.cfg.Store} }

// Acknowledged returns up to which number requests are over.
func (x *Session[R]) Acknowledged() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mu.ack
}

// Enter notes that requests up to ack are over. The session does not expire until Leave is called. The error is
// event.ErrSessionExpired, or event.ErrAcknowledged if request seq is over.
func (x *Session[R]) Enter(seq, ack uint64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.mu.expired {
		return event.ErrSessionExpired
	}
	x.mu.used = x.all.cfg.Clock.Now()
	x.mu.ack = max(x.mu.ack, ack)
	if seq <= x.mu.ack {
		return event.ErrAcknowledged // for ever, so the actor's lock is not needed
	}
	x.mu.callers++
	return nil
}

// Leave ends what Enter began.
func (x *Session[R]) Leave() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mu.used = x.all.cfg.Clock.Now()
	x.mu.callers--
}

// Perform performs request seq to target, and notes that requests up to ack are over. run runs it, and returns ErrRepeated
// if it is not to claim. Then Perform waits until the event that has claimed it has ended, and replay takes the outcome. The
// result is that of run or of replay; or the error is event.ErrSessionExpired, event.ErrAcknowledged, event.ErrPostponed or
// an *event.UnknownError.
func (x *Session[R]) Perform(seq, ack uint64, target event.ActorID, run func(*Request) error, replay func(*event.Outcome) error) error {
	if ack >= seq {
		return fmt.Errorf("request %d of session %q acknowledges requests up to %d", seq, x.Name, ack)
	}
	x.all.Sweep()
	if err := x.Enter(seq, ack); err != nil {
		return err
	}
	defer x.Leave() // also on runtime.Goexit
	for {
		err := run(x.Request(seq, target))
		if !errors.Is(err, ErrRepeated) {
			return err
		}
		switch at, how := x.Outcome(seq); how {
		case Over:
			return event.ErrAcknowledged
		case Left:
			if lost := x.all.cfg.Store.Err(); lost != nil {
				return &event.UnknownError{Cause: lost} // the client that performed the request could not wait for its first steps
			}
			return event.ErrPostponed
		case Ended:
			return x.replay(&event.Request{Session: x.Name, Seq: seq, Target: at}, replay)
		case Refused: // before it ran: it may be performed now
		}
	}
}

// replay has the outcome of a request read that has run before.
func (x *Session[R]) replay(of *event.Request, replay func(*event.Outcome) error) error {
	s := x.all.cfg.Store
	key := row.AppendOutcomeKey(nil, of)
	value, ok, err := s.Get(key, nil)
	if err != nil {
		return unread(s, err)
	}
	if lost := s.Err(); lost != nil {
		return &event.UnknownError{Cause: lost} // the outcome may not be durable: the client that performed the request could not wait for it
	}
	if !ok {
		return event.ErrAcknowledged // in the meantime
	}
	o, err := row.ReadOutcome(key, value)
	if err != nil {
		return unread(s, err)
	}
	return replayed(s, of, key, &o, replay)
}

// Request returns a request that no event has claimed.
func (x *Session[R]) Request(seq uint64, target event.ActorID) *Request {
	return &Request{Request: event.Request{Session: x.Name, Seq: seq, Target: target}, claims: x}
}

// Reclaim returns the request of a chain that was found in a store and goes on with it. No other goroutine uses the
// session.
func (x *Session[R]) Reclaim(of event.Request) *Request {
	x.mu.running[of.Seq] = make(chan struct{})
	return &Request{Request: of, claims: x, claimed: true}
}

// claim implements claims.
func (x *Session[R]) claim(r *event.Request) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ended := x.mu.outcomes[r.Seq]; ended || r.Seq <= x.mu.ack || x.mu.running[r.Seq] != nil {
		return false
	}
	x.mu.running[r.Seq] = make(chan struct{})
	return true
}

// write implements claims.
func (x *Session[R]) write(w *row.Writer, r *event.Request, o *event.Outcome) {
	w.Key = row.AppendOutcomeKey(w.Key[:0], r)
	w.Row = row.AppendOutcome(w.Row, o)
}

// end implements claims. While a request is left its session does not expire.
func (x *Session[R]) end(r *event.Request, stored, left bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if stored {
		x.mu.outcomes[r.Seq] = r.Target
		x.sweep()
	}
	close(x.mu.running[r.Seq])
	if !left {
		delete(x.mu.running, r.Seq)
	}
}

// Outcome waits while request seq runs, and returns the actor with which its outcome is stored. That is not the target of
// a repetition if the actor was deleted and the repetition names the next actor of its name.
func (x *Session[R]) Outcome(seq uint64) (at event.ActorID, how Ending) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		if seq <= x.mu.ack {
			return at, Over
		}
		before := x.mu.running[seq]
		if before == nil {
			if at, ended := x.mu.outcomes[seq]; ended {
				return at, Ended
			}
			return at, Refused
		}
		x.mu.Unlock()
		x.all.cfg.Scheduler.Wait(before)
		x.mu.Lock()
		if x.mu.running[seq] == before {
			return at, Left
		}
	}
}

// deleteOutcome removes the row of an outcome.
func (x *Session[R]) deleteOutcome(w *row.Writer, seq uint64, target event.ActorID) {
	w.Key = row.AppendOutcomeKey(w.Key[:0], &event.Request{Session: x.Name, Seq: seq, Target: target})
	w.Delete()
}

// writeRow writes the row of the session. Outcomes up to ack have no rows any more.
func (x *Session[R]) writeRow(w *row.Writer, ack uint64) {
	w.Key = row.AppendSessionKey(w.Key[:0], x.Name, w.Store.Partitions())
	w.Begin()
	w.Row = row.AppendSession(w.Row, ack)
	w.Set()
}

// sweep drops the outcomes that are over, if there are enough. Caller holds mu, so that the acknowledged number never
// decreases in the journal either: a request above it without an outcome would run again.
func (x *Session[R]) sweep() {
	if len(x.mu.outcomes) < x.mu.sweepAt {
		return
	}
	cfg := &x.all.cfg
	w := x.all.writer()
	for seq, target := range x.mu.outcomes {
		if seq <= x.mu.ack {
			x.deleteOutcome(w, seq, target)
			delete(x.mu.outcomes, seq)
		}
	}
	x.mu.sweepAt = 2*len(x.mu.outcomes) + SweepMin
	x.writeRow(w, x.mu.ack)
	cfg.At("session/sweep")
	cfg.Append(w.Take())
	cfg.At("session/swept")
}

// Sweep ends the sessions that have not been used for Expiry. Most calls, which come soon after another, do nothing.
func (ss *Sessions[R]) Sweep() {
	now := ss.cfg.Clock.Now()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if now.Sub(ss.mu.swept) < ss.cfg.Expiry/16 {
		return
	}
	ss.mu.swept = now
	w := ss.writer()
	for name, x := range ss.mu.byName {
		if x.expire(w, now.Add(-ss.cfg.Expiry)) {
			delete(ss.mu.byName, name)
			ss.cfg.Expired(x.Run)
		}
	}
	if !w.Empty() {
		ss.cfg.At("session/expire")
		ss.cfg.Append(w.Take())
		ss.cfg.At("session/expired")
	}
}

// expire ends the session if its last use was before a time.
func (x *Session[R]) expire(w *row.Writer, before time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.mu.callers+len(x.mu.running) > 0 || !x.mu.used.Before(before) {
		return false
	}
	x.mu.expired = true
	for seq, target := range x.mu.outcomes {
		x.deleteOutcome(w, seq, target)
	}
	x.mu.outcomes = nil
	w.Key = row.AppendSessionKey(w.Key[:0], x.Name, w.Store.Partitions())
	w.Delete()
	return true
}
