package across

import (
	"context"
	"fmt"
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Try is an attempt at its home.
type Try struct {
	s       *Store
	name    commit.Name
	attempt *order.Attempt
	token   uint32

	// unordered: it has not entered by TOP, and is not known to store 0. See order/grow.go.
	unordered bool

	// Guarded by the mutex of the Store.
	machine  commit.Try
	sessions uint64        // Store.Sessions when the attempt began
	lacking  event.StoreID // that has answered with what it lacks
	method   string        // of the event, as Local names it
	chain    event.Chain   // that the event is a step of, or would begin
	parts    []order.Part  // in other stores, that store 0 orders
	habit    *habit        // of its method
	sent     bool          // it is under way
	turned   bool          // the attempt has its place in this store
	place    uint64        // among all, then
	stores   []inStore     // what it has in other stores
	took     int           // the Locked of the attempt, when that was looked at last

	threads []*thread
	open    int // so many of their calls are not answered

	// What most attempts have of these lists is part of the Try.
	firstStores [2]inStore
	firstThread [1]*thread
	own         thread

	// further are the stores in which the attempt has parts that it was not ordered with at first: whether they were taken. The mutex of the attempt guards
	// that.
	further map[event.StoreID]bool

	// The mutex of the attempt guards these.
	judged  bool
	verdict Verdict // then
}

// inStore is what an attempt has in one other store.
type inStore struct {
	store event.StoreID
	taken bool // its part

	// The calls that it has made there.
	called   bool     // any
	sent     uint64   // without those that were made within others
	answered bool     // any
	wrote    bool     // anything, or a row of what the attempt has read there
	last     *learned // of the last of these that was sent
	took     int      // the took of the attempt when the last was answered, or tookBeside
	asked    bool     // for a vote when that has ended
}

// in returns what the attempt has in a store; nil: nothing yet. It is valid until the next begins. Caller holds the mutex of the Store.
func (t *Try) in(store event.StoreID) *inStore {
	for i := range t.stores {
		if t.stores[i].store == store {
			return &t.stores[i]
		}
	}
	return nil
}

// begins returns the same, of a store in which the attempt is about to have something.
func (t *Try) begins(store event.StoreID) *inStore {
	if x := t.in(store); x != nil {
		return x
	}
	t.stores = append(t.stores, inStore{store: store})
	return &t.stores[len(t.stores)-1]
}

// hasTaken reports whether the part of the attempt in a store was taken. Caller holds the mutex of the Store.
func (t *Try) hasTaken(store event.StoreID) bool {
	x := t.in(store)
	return x != nil && x.taken
}

// voteKey tells the calls of an event apart.
type voteKey struct {
	called string // the method
	nth    uint64 // of the calls that the attempt makes in the store, from 1 on
}

// habit is what was learned of the events of a method that go over several stores.
//
// A participant votes with the answer of a call that is thought to be the last one of its store, and to leave a row, or else to be one after which the attempt takes no lock
// anywhere (commit, [EARLY]). Whether it was is learned when the attempt ends, or asks that store for more. Where nothing is written, and that was so for some time, the participant
// is over with that vote (commit, [LAST]). An attempt that takes a lock then is withdrawn, which costs more than a vote in vain, so it takes longer until that is tried again. An
// event with several threads, of which any may come last, does without it, and so does one that was withdrawn before.
type habit struct {
	tells bool // the last one has told something
	calls map[voteKey]*learned
}

// habitOf returns the habit of a method. Caller holds mu.
func (s *Store) habitOf(method string) *habit {
	h := s.habits[method]
	if h == nil {
		h = &habit{calls: make(map[voteKey]*learned)}
		s.habits[method] = h
	}
	return h
}

// call returns what was learned of a call. The mutex of the Store guards it.
func (h *habit) call(k voteKey) *learned {
	l := h.calls[k]
	if l == nil {
		l = &learned{}
		h.calls[k] = l
	}
	return l
}

const (
	nthMax      = 64 // of what is told apart
	voteMax     = 4  // of the counts of what was learned
	votedInVain = -2
	overSure    = 4 // so often it would have been right
	overInVain  = -12

	tookBeside = -1 // another thread has taken a lock while the call was under way
)

// learned counts, for calls, how often a vote with the answer was right, and how often the participant could have been over then.
type learned struct{ votes, over int8 }

// count counts for a vote with the answer to a call, and for being over then, or against that.
func (l *learned) count(vote, over int8) {
	l.votes = max(min(l.votes+vote, voteMax), -voteMax)
	if over < 0 {
		l.over = over
	} else {
		l.over = min(l.over+over, overSure)
	}
}

// noteTaken notes what locks the attempt has got since it was called last. Caller holds the mutex of the Store.
func (t *Try) noteTaken() {
	if n := t.attempt.Locked(); n != t.took {
		t.took = n
		t.taken()
	}
}

// taken is commit.Home.Taken. Caller holds the mutex of the Store.
func (t *Try) taken() {
	t.s.carryOut(t.s.home.Taken(t.name, t.s.noEffects()))
}

// touch is commit.Home.Touch. Caller holds the mutex of the Store.
func (t *Try) touch(store event.StoreID) bool {
	out, ok := t.s.home.Touch(t.name, store, t.s.noEffects())
	t.s.carryOut(out)
	return ok
}

// learn notes which answers were the last ones. Caller holds the mutex of the Store.
func (t *Try) learn() {
	for i := range t.stores {
		a := &t.stores[i]
		if !a.called {
			continue
		}
		switch {
		case a.wrote: // a row holds what it votes for
			a.last.count(1, overInVain)
		case a.took == t.took:
			a.last.count(1, 1)
		default:
			a.last.count(votedInVain, overInVain)
		}
	}
}

// Verdict is how an attempt that all stores have voted for is to be decided.
type Verdict struct {
	Keep   bool            // the batch of the event needs a row of the decision
	Stores []event.StoreID // that the row names
	At     int64           // when it is decided, in nanoseconds since 1970, which the home notes then
}

// order returns what store 0 gets to order the attempt.
func (t *Try) order() Message {
	return Message{Kind: Order, Name: t.name, Home: t.s.cfg.Store, Method: t.method, Chain: t.chain, Parts: t.parts}
}

// Name names the attempt.
func (t *Try) Name() commit.Name { return t.name }

// has reports whether the attempt was ordered with a part in a store.
func (t *Try) has(store event.StoreID) bool {
	return slices.ContainsFunc(t.parts, func(p order.Part) bool { return p.Store == store })
}

// Reach reports whether the attempt has a part in a store, and gets one there if it has none: if it is unordered the next call begins that; else it is ordered once
// more, behind all that store 0 has ordered meanwhile. There it may take what it meets (order/grow.go). It waits, and fails if there is no session, or the attempt is
// over.
func (t *Try) Reach(store event.StoreID) bool {
	s := t.s
	s.mu.Lock()
	if t.hasTaken(store) {
		s.mu.Unlock()
		return true
	}
	if t.unordered {
		defer s.mu.Unlock()
		if s.ended || !s.reaches(store) || !t.touch(store) {
			return false
		}
		t.begins(store).taken = true
		t.attempt.AddPlace(store)
		return true
	}
	ok := !s.ended && s.reaches(0) && s.reaches(store) && t.touch(store)
	if ok && !t.has(store) { // else another thread waits for it
		m := t.order()
		m.Place, m.Parts = t.place, []order.Part{{Store: store}}
		t.parts = append(slices.Clone(t.parts), m.Parts[0])
		t.attempt.Notify(t.token, func() {
			if t.further == nil {
				t.further = make(map[event.StoreID]bool)
			}
			t.further[store] = false
		})
		s.counts.Further++
		s.send(0, &m)
	}
	s.mu.Unlock()
	if !ok || !t.attempt.AwaitNews(func() bool { return t.further[store] }) {
		return false
	}
	t.attempt.AddPlace(store)
	return true
}

// GoOut has an attempt, which may go out, go to other stores by its calls, first of all to one. nil: the store has left them, or the event was cancelled.
func (s *Store) GoOut(a *order.Attempt, to event.StoreID) *Try {
	t := s.newTry(a, a.Token(), nil)
	t.unordered = true
	if !a.GoOut(t.name.Number, to) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.add(t) {
		return nil
	}
	s.counts.Unordered++
	return t
}

// TryOf returns the attempt, which has entered with parts in other stores.
func (s *Store) TryOf(a *order.Attempt) *Try {
	s.mu.Lock()
	defer s.mu.Unlock()
	return tryOf(a)
}

// Wrote says how much of what an attempt has done in other stores is to be committed.
type Wrote uint8

const (
	Nothing Wrote = iota // it has aborted
	Changes              // what it has changed: stores in which it has only read may release their locks with their votes
	All                  // all stores hold all their locks until the decision, as nothing of other events may be seen before that (commit, [HOLD])
)

// End is [PREPARE] and waits for the votes; here says whether the event has written in this store. If it returns nil the attempt is to be withdrawn. No thread runs any
// more.
func (t *Try) End(here bool, there Wrote) *Verdict {
	s := t.s
	t.attempt.Ended()
	s.mu.Lock()
	t.noteTaken()
	t.learn()
	if there != Nothing {
		t.habit.tells = there == All
	}
	if t.open > 0 {
		// Invariant: when an attempt asks for votes no code of it runs in any store.
		if !t.attempt.Stopped() {
			assert.Unreachable("across: %v is to be decided, and %d of its calls are not answered", t.name, t.open)
		}
		defer s.mu.Unlock()
		if out, ok := s.home.Withdraw(t.name, s.noEffects()); ok {
			s.carryOut(out)
		}
		return nil
	}
	s.carryOut(s.home.End(t.name, here, func(p event.StoreID) bool {
		x := t.in(p)
		return there == All || there == Changes && x != nil && x.wrote
	}, s.noEffects()))
	s.mu.Unlock()
	if !t.attempt.AwaitNews(func() bool { return t.judged }) { // though the verdict may have come meanwhile
		s.mu.Lock()
		defer s.mu.Unlock()
		out, ok := s.home.Withdraw(t.name, nil)
		if ok {
			s.carryOut(out)
			return nil
		}
	}
	// Invariant: an attempt that cannot be withdrawn any more has a verdict.
	if !t.judged {
		assert.Unreachable("across: %v is being decided, and has no verdict", t.name)
	}
	return &t.verdict
}

// Lost ends the attempt, of which another store has lost its part, perhaps as that did not cover an actor.
func (t *Try) Lost(claim order.Wanted) {
	if claim.Actor.IsNull() {
		t.attempt.Break(t.token, nil, order.NoAccess)
		return
	}
	t.attempt.Break(t.token, t.s.cfg.Local.Handle(claim.Actor), claim.Mode)
}

// Leave ends the attempt at its home, before its object is used again: its decision has its place in the journal.
func (t *Try) Leave() {
	s := t.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Committed++
	t.attempt.Learn(func(of event.StoreID) bool {
		x := t.in(of)
		return x != nil && x.called
	})
	s.leave(t)
}

// Decided is [DECIDE]: the decision of an attempt, which was made at a time, is durable.
func (s *Store) Decided(name commit.Name, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.carryOut(s.home.Decided(name, at, s.noEffects()))
}

// Quiesce is [QUIESCE], up to GoOn: it returns when other stores have carried out all that was decided before, and the store has no row of that any more. The error says
// that it is not so when ctx ends.
func (s *Store) Quiesce(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.home.Quiesce()
	var undone []event.StoreID
	settled := func() bool {
		undone = s.home.Undone()
		return len(undone) == 0 && !s.settled.busy
	}
	s.await(ctx, func() bool { return s.ended || settled() })
	switch {
	case s.ended:
		return ErrEnded
	case !settled():
		return fmt.Errorf("stores %v have not carried out all that it has decided: %w", undone, ctx.Err())
	}
	return nil
}

// GoOn ends what Quiesce has begun.
func (s *Store) GoOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.carryOut(s.home.GoOn(s.noEffects()))
}

// Lacks is Store.Lacks at the home of an attempt, for what has answered its last call, or for the home, here.
func (t *Try) Lacks(name string, here bool) order.Withdrawal {
	of := t.lacking
	if here {
		of = t.s.cfg.Store
	}
	return t.s.Lacks(of, name, t.sessions)
}
