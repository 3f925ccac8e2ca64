package across

import (
	"context"
	"log/slog"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// Config says what a Store works with. All fields are needed but Scheduler.
type Config struct {
	Store     event.StoreID
	Stores    event.StoreID // how many there are
	StoreOf   func(event.ActorID) event.StoreID
	Network   Network
	Local     Local
	Number    func() uint64 // of attempts: it returns no number twice, in any start
	Workers   *sched.Workers
	Scheduler *sched.Scheduler
	Ticks     Ticks
	Log       *slog.Logger
}

// Ticks is the clock of a store that is traced. What a part says when it is taken, and the messages of the commit, carry it from store to store.
type Ticks interface {
	Time() int64 // 0: it is not traced
	Heard(tick int64)
}

// Local is the system of the store.
type Local interface {
	// Method names the method of an attempt, as NewPart understands it, and the chain that its event is a step of.
	Method(a *order.Attempt) (method string, c event.Chain)
	// NewPart returns what runs the code of a part, with an attempt that has not been started; Handle finds its actors.
	NewPart(p *Part, method string) (Proxy, *order.Attempt)
	// Handle returns the handle of an actor of the store, attached.
	Handle(event.ActorID) *order.Handle
	// Leads returns when it is known whether the node of the store has led it at some time since the call. If not, the store has failed.
	Leads() bool
	// Answer answers a question, in place. It may wait. False says that it cannot, as the store has failed or is of another version: the question
	// comes again in the next session.
	Answer(*Question) bool
	// Forget deletes the rows of decisions that all have carried out. One goroutine at a time calls it.
	Forget([]commit.Name)
}

// Store is one store among several, in one start of it. Any goroutine may use it.
type Store struct {
	cfg Config

	mu          guard // guards what follows; taken before the mutexes of attempts
	news        sched.Cond
	home        commit.Home
	participant commit.Participant
	tries       commit.Table[Try]
	parts       commit.Table[Part]
	turns       lock.Turns[Message]
	sessions    []uint64                 // those that there are with other stores; 0: there is none
	changes     uint64                   // how often a session has begun or ended
	lacks       []lacking                // what was found since then
	storeWaits  []*storeWait             // of events, between two attempts
	given       map[event.StoreID]uint64 // by store 0: the last number of each store in its session
	deferred    []Message                // of store 0: Orders with parts in stores with which it has no session
	asked       map[uint64]*asked        // that are not answered
	chains      clientChains
	habits      map[string]*habit // of methods, whose events go over several stores: see try.go
	held        map[heldID]*Held  // for events of other stores
	questions   uint64
	effects     []commit.Effect      // of a list that was carried out: see noEffects
	settled     batched[commit.Name] // decisions that all have carried out, and whose rows are to be deleted
	committed   batched[*Part]       // that have nothing to do but to commit
	ended       bool
	counts      Counts
}

// Counts are of one start.
type Counts struct {
	Wide      int64 // attempts that have touched other stores, or entered with actors of them
	Unordered int64 // of these; they have gone there without a place in the order
	Withdrawn int64 // of Wide
	Further   int64 // parts that were added to these later
	Calls     int64 // that other stores have made here
	Beside    int64 // that attempts have made while others of their calls were not answered
	Parts     int64 // taken for other stores
	Prepared  int64 // of these, with a row, when the home asked for that
	Early     int64 // votes that went with an answer
	Over      int64 // of these, of parts that were over with it
	Restored  int64 // parts that an earlier start had prepared
	Committed int64 // events of the store that others have taken part in
	Messages  int64 // to other stores
}

// Open opens the store, before any attempt is made. There is no session with another store yet.
func Open(cfg Config) *Store {
	s := &Store{cfg: cfg, sessions: make([]uint64, cfg.Stores), given: make(map[event.StoreID]uint64), asked: make(map[uint64]*asked),
		held: make(map[heldID]*Held), habits: make(map[string]*habit)}
	s.chains.told, s.chains.mu.here, s.chains.mu.cancelled = make(map[event.EventID]event.Chain), make(map[event.EventID]*chainHere), make(map[event.EventID]struct{})
	s.mu.network = cfg.Network
	s.settled.task, s.committed.task = s.forgetSettled, s.applyCommitted
	s.news.Init(&s.mu, cfg.Scheduler)
	return s
}

// ID returns the number of the store.
func (s *Store) ID() event.StoreID { return s.cfg.Store }

// Counts returns what has happened.
func (s *Store) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Open returns how many attempts, parts and decisions there are.
func (s *Store) Open() (tries, parts, undone int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, undone = s.home.Open()
	return s.tries.Len(), s.parts.Len(), undone
}

// StoreOf implements order.Above.
func (s *Store) StoreOf(id event.ActorID) event.StoreID { return s.cfg.StoreOf(id) }

// IsHere reports whether an actor is one of this store.
func (s *Store) IsHere(id event.ActorID) bool { return s.cfg.StoreOf(id) == s.cfg.Store }

// Order implements order.Above. The attempt holds nothing while it waits for a session.
func (s *Store) Order(a *order.Attempt, token uint32, parts []order.Part) (away bool, err error) {
	t := s.newTry(a, token, parts)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.add(t) {
		return false, ErrEnded
	}
	for i := range parts {
		t.touch(parts[i].Store)
	}
	if !s.reachesAll(t) {
		return true, nil
	}
	t.sent = true
	m := t.order()
	s.send(0, &m)
	return false, nil
}

// newTry makes an attempt.
func (s *Store) newTry(a *order.Attempt, token uint32, parts []order.Part) *Try {
	t := &Try{s: s, name: commit.Name{Event: a.ID, Number: s.cfg.Number()}, attempt: a, token: token}
	t.stores, t.threads = t.firstStores[:0], t.firstThread[:0]
	t.parts = parts
	t.method, t.chain = s.cfg.Local.Method(a)
	return t
}

// add begins an attempt at its home, or reports false: the store has ended. Caller holds mu.
func (s *Store) add(t *Try) bool {
	if s.ended {
		return false
	}
	// Invariant: an attempt that enters again has left.
	if t.attempt.OfAbove() != nil {
		assert.Unreachable("across: %v begins again", t.name)
	}
	s.tries.Put(t.name, t)
	t.attempt.SetAbove(t)
	t.sessions = s.changes
	s.counts.Wide++
	s.home.Begin(t.name, &t.machine)
	t.habit = s.habitOf(t.method)
	return true
}

// Withdrawn implements order.Above.
func (s *Store) Withdrawn(a *order.Attempt, token uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := tryOf(a)
	if t == nil || t.token != token {
		return
	}
	out, ok := s.home.Withdraw(t.name, nil)
	// Invariant: what has been decided stays.
	assert.That(ok, "across: %v is withdrawn, and has been decided", t.name)
	s.counts.Withdrawn++
	s.carryOut(out)
	s.leave(t)
}

// tryOf returns what there is of an attempt, nil if that is nothing. Caller holds mu.
func tryOf(a *order.Attempt) *Try {
	t, _ := a.OfAbove().(*Try)
	return t
}

// leave ends an attempt at its home. Caller holds mu.
func (s *Store) leave(t *Try) {
	s.tries.Delete(t.name)
	t.attempt.SetAbove(nil)
}

// Label implements order.Above.
func (s *Store) Label(id event.ActorID) string {
	q, _ := s.Ask(context.Background(), s.cfg.StoreOf(id), Question{Actor: id}) // else this store has ended
	return q.Label
}

// carryOut carries out what the machines say. Caller holds mu.
func (s *Store) carryOut(list []commit.Effect) { s.carryOutFor(list, order.Wanted{}) }

// carryOutFor is carryOut where a part may have been lost as it did not cover claim.
func (s *Store) carryOutFor(list []commit.Effect, claim order.Wanted) {
	for i := 0; i < len(list); i++ {
		f := &list[i] // what is done later has a copy: the list is used again
		switch f.Act {
		case commit.Send:
			m := Message{Kind: Commit, Commit: f.Message, Tick: s.cfg.Ticks.Time()}
			switch f.Message.Kind {
			case commit.Dropped:
				if p := s.parts.Get(f.Name); p != nil {
					m.Claim = p.claim
				}
			case commit.Done: // those that follow for the same store share the message
				for ; i+1 < len(list) && list[i+1].Message.Kind == commit.Done && list[i+1].To == f.To; i++ {
					m.Also = append(m.Also, list[i+1].Name)
				}
			}
			s.send(f.To, &m)
		case commit.SendConfirmed:
			to, session, m := f.To, s.session(f.To), f.Message
			s.cfg.Workers.Run(func() { s.sendConfirmed(to, session, m) })
		case commit.Decide, commit.Confirm:
			keep, stores := f.Keep, f.Stores
			if p := s.parts.Get(f.Name); p != nil {
				p.ends()
				p.do(func() { p.confirm(keep) })
				break
			}
			t := s.tries.Get(f.Name)
			t.attempt.Notify(t.token, func() { t.judged, t.verdict = true, Verdict{Keep: keep, Stores: stores} })
		case commit.Withdraw:
			s.tries.Get(f.Name).Lost(claim)
		case commit.Answer: // the event's own goroutine goes on by itself
		case commit.Forget:
			s.settled.add(f.Name, s.cfg.Workers)
		case commit.Write:
			s.counts.Prepared++
			p := s.parts.Get(f.Name)
			p.ends()
			p.do(p.write)
		case commit.Apply, commit.Release:
			p := s.parts.Get(f.Name)
			switch p.ending, p.At = true, f.At; {
			case p.dropped: // the store has ended
			case f.Act == commit.Apply && p.busy:
				p.do(p.apply)
			case f.Act == commit.Apply:
				s.committed.add(p, s.cfg.Workers)
			default:
				p.do(func() { p.end(false) })
			}
		case commit.Drop:
			s.parts.Get(f.Name).drop()
		default:
			assert.Unreachable("across: %v", f.Act)
		}
	}
	if clear(list); list != nil && cap(list) <= spareMax {
		s.effects = list[:0]
	}
}

// sendConfirmed is commit.SendConfirmed, for a message of a session.
func (s *Store) sendConfirmed(to event.StoreID, session uint64, m commit.Message) {
	if !s.cfg.Local.Leads() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isCurrent(to, session) {
		s.send(to, &Message{Kind: Commit, Commit: m, Tick: s.cfg.Ticks.Time()})
	}
}

// noEffects is an empty list for the machines to append to. It is carried out before the next.
func (s *Store) noEffects() []commit.Effect {
	list := s.effects
	s.effects = nil
	return list
}

// batched is work for one worker at a time, which does all there is of it at once. The mutex of the Store guards it.
type batched[T any] struct {
	task  func() // of the worker
	list  []T
	spare []T  // the memory of a list that was done
	busy  bool // a worker does some
}

// add adds to the work, and has a worker begin unless one does some.
func (b *batched[T]) add(x T, w *sched.Workers) {
	b.list = append(b.list, x)
	if !b.busy {
		b.busy = true
		w.Run(b.task)
	}
}

// take takes the work that there is.
func (b *batched[T]) take() []T {
	list := b.list
	b.list, b.spare = b.spare, nil
	return list
}

// done gives the memory of work back that was taken.
func (b *batched[T]) done(list []T) {
	clear(list)
	if cap(list) <= spareMax {
		b.spare = list[:0]
	}
}

// applyCommitted has parts commit, as many at once as there are: each would wake a worker. What comes while it waits for the disk another worker begins with.
func (s *Store) applyCommitted() {
	s.mu.Lock()
	list := s.committed.take()
	s.mu.Unlock()
	for _, p := range list {
		p.proxy.Apply()
	}
	s.mu.Lock()
	for _, p := range list {
		p.forget()
	}
	if s.committed.busy = len(s.committed.list) > 0; s.committed.busy {
		s.cfg.Workers.Run(s.committed.task)
	}
	s.mu.Unlock()
	for _, p := range list {
		p.proxy.Ended()
	}
	for _, p := range list {
		if !p.proxy.Applied() {
			return // the store has failed
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.noEffects()
	for _, p := range list {
		out = s.participant.Applied(p.name, out)
	}
	s.carryOut(out)
	s.committed.done(list)
}

// forgetSettled deletes the rows of decisions that all have carried out, as many at once as there are.
func (s *Store) forgetSettled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.settled.list) > 0 {
		list := s.settled.take()
		s.mu.outside(func() { s.cfg.Local.Forget(list) })
		s.settled.done(list)
	}
	s.settled.busy = false
	s.news.Broadcast() // to Quiesce
}

// Add adds other counts.
func (c *Counts) Add(o Counts) {
	c.Wide, c.Unordered, c.Withdrawn, c.Calls, c.Parts = c.Wide+o.Wide, c.Unordered+o.Unordered, c.Withdrawn+o.Withdrawn, c.Calls+o.Calls, c.Parts+o.Parts
	c.Further, c.Early, c.Over, c.Messages, c.Beside = c.Further+o.Further, c.Early+o.Early, c.Over+o.Over, c.Messages+o.Messages, c.Beside+o.Beside
	c.Prepared, c.Restored, c.Committed = c.Prepared+o.Prepared, c.Restored+o.Restored, c.Committed+o.Committed
}
