package across

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// What two stores tell each other belongs to a session, which is of one start of either. When it ends all that was under way is lost, and both know
// that: attempts that have not been voted for are withdrawn, what was decided is told again in the next session, and questions are asked again.

// ErrEnded says that a store is not one of several any more: it has failed.
var ErrEnded = fmt.Errorf("the store has left the cluster: %w", event.ErrClosed)

// Up says that a session with another store has begun. The network gives sessions numbers, of which none is 0.
func (s *Store) Up(store event.StoreID, session uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || store >= s.cfg.Stores { // what another node says of a store that there is not is nothing
		return
	}
	s.sessions[store] = session
	s.changed()
	s.loseHeld(store)
	s.carryOut(s.home.Up(store, nil))
	s.carryOut(s.participant.Up(store, nil))
	for _, n := range slices.Sorted(maps.Keys(s.asked)) {
		if q := s.asked[n]; q.of == store {
			s.send(store, &q.message)
		}
	}
	for _, first := range slices.SortedFunc(maps.Keys(s.chains.told), event.EventID.Compare) {
		s.send(store, &Message{Kind: Cancelled, Chain: s.chains.told[first]})
	}
	for _, name := range s.tries.Names() { // what they have gathered may be gone from memory, so they enter anew
		if t := s.tries.Get(name); !t.sent && !t.unordered && s.reachesAll(t) {
			t.attempt.Break(t.token, nil, 0)
		}
	}
	list := s.deferred
	s.deferred = nil
	for i := range list {
		s.order(&list[i])
	}
}

// Lost says that the session with another store has ended.
func (s *Store) Lost(store event.StoreID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost(store)
}

func (s *Store) lost(store event.StoreID) {
	if s.session(store) == 0 {
		return
	}
	s.sessions[store] = 0
	s.changed()
	s.carryOut(s.home.Lost(store, nil))
	s.carryOut(s.participant.Lost(store, nil))
	if store == 0 { // it numbers from 1 on in the next session, and what it has sent is lost
		s.turns.Restart()
		s.missed(func(t *Try) bool {
			return !t.turned || slices.ContainsFunc(t.parts, func(p order.Part) bool { return !t.hasTaken(p.Store) })
		})
	}
	if s.cfg.Store == 0 {
		delete(s.given, store)
		s.deferred = slices.DeleteFunc(s.deferred, func(m Message) bool { return m.Home == store })
		for _, to := range s.reached() {
			s.send(to, &Message{Kind: Missed, Home: store})
		}
	}
	for _, n := range slices.Sorted(maps.Keys(s.asked)) {
		switch q := s.asked[n]; {
		case q.of != store:
		case q.left:
			delete(s.asked, n)
		case q.fails != nil && !s.ended: // else the end answers it
			delete(s.asked, n)
			q.fails("")
		}
	}
	s.loseHeld(store)
}

// missed withdraws attempts of which a part may have been lost on its way from store 0. Caller holds mu.
func (s *Store) missed(which func(*Try) bool) {
	for _, name := range s.tries.Names() {
		if t := s.tries.Get(name); t.sent && which(t) {
			t.attempt.Break(t.token, nil, 0)
		}
	}
}

// reachesAll reports whether there are sessions with all stores that it takes to order an attempt. Caller holds mu.
func (s *Store) reachesAll(t *Try) bool {
	return s.reaches(0) && !slices.ContainsFunc(t.parts, func(p order.Part) bool { return !s.reaches(p.Store) })
}

// End ends what the store, which has failed, waits for of others: nothing of it happens any more.
func (s *Store) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	for store := range s.cfg.Stores {
		s.lost(store)
	}
	for _, name := range s.tries.Names() {
		t := s.tries.Get(name)
		t.attempt.Break(t.token, nil, 0)
	}
	for _, name := range s.parts.Names() {
		if p := s.parts.Get(name); !p.dropped && !p.ending {
			p.drop()
		}
	}
	for _, n := range slices.Sorted(maps.Keys(s.asked)) {
		s.asked[n].answered(nil)
	}
	clear(s.asked)
	s.news.Broadcast()
	s.wakeStoreWaits()
	s.loseHeld(s.cfg.Store)
}

// session returns the number of the session with a store, 0 if there is none. Caller holds mu, as for what follows.
func (s *Store) session(with event.StoreID) uint64 {
	if with >= s.cfg.Stores {
		return 0
	}
	return s.sessions[with]
}

// isCurrent reports whether a message of a session is to be taken.
func (s *Store) isCurrent(from event.StoreID, session uint64) bool {
	return !s.ended && (from == s.cfg.Store || session != 0 && s.session(from) == session)
}

// reaches reports whether there is a session with a store.
func (s *Store) reaches(store event.StoreID) bool {
	return store == s.cfg.Store || s.session(store) != 0
}

// reached lists all stores with which there is a session, and this one.
func (s *Store) reached() (list []event.StoreID) {
	for store := range s.cfg.Stores {
		if s.reaches(store) {
			list = append(list, store)
		}
	}
	return list
}

// send sends a message, unless there is no session: then it is lost with the one that there was.
func (s *Store) send(to event.StoreID, m *Message) {
	if !s.ended && s.reaches(to) {
		if to != s.cfg.Store {
			s.counts.Messages++
		}
		s.mu.put(to, s.session(to), m)
	}
}

// tell is send for a caller that does not hold mu.
func (s *Store) tell(to event.StoreID, m *Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(to, m)
}

// asked is a question that is not answered.
type asked struct {
	of       event.StoreID
	message  Message
	by       *order.Attempt    // that waits for the answer; nil: it is not known
	answered func(*Question)   // nil: this store has ended. Caller holds mu
	left     bool              // nothing waits for the answer any more: it is not asked again in a later session
	fails    func(name string) // nil: it is asked again then; else it is not, and what waits is told: name is what the program there lacks, "" if the session has ended. Caller holds mu
}

// Ask has another store answer a question, and waits, over sessions. The error is ErrEnded, or an *event.AwayError if ctx ends before. ctx does not end
// the waiting of a system that is scheduled.
func (s *Store) Ask(ctx context.Context, of event.StoreID, q Question) (Question, error) {
	return s.ask(ctx, of, q, nil)
}

// AwaitKept has an event wait until a chain has left an actor of another store, or the event is cancelled. It is between two attempts.
func (s *Store) AwaitKept(a *order.Attempt, actor event.ActorID) {
	_, _ = s.ask(a.Context(), s.cfg.StoreOf(actor), Question{Kept: actor}, a) // the next attempt sees what is wrong
}

func (s *Store) ask(ctx context.Context, of event.StoreID, q Question, by *order.Attempt) (_ Question, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := false
	n, _ := s.question(of, q, by, func(answer *Question) {
		if over = true; answer == nil {
			err = ErrEnded
			return
		}
		q = *answer
	})
	s.await(ctx, func() bool { return over })
	if !over {
		delete(s.asked, n)
		err = &event.AwayError{Store: of, Reached: s.reaches(of), Cause: ctx.Err()}
	}
	return q, err
}

// AskFor is Ask for the code of an attempt. It returns false if the attempt is over before: the code is to unwind.
func (s *Store) AskFor(a *order.Attempt, of event.StoreID, q Question) (Question, bool) {
	token, over := a.Token(), false
	s.mu.Lock()
	n, _ := s.question(of, q, a, func(answer *Question) {
		a.Notify(token, func() {
			if over = true; answer != nil {
				q = *answer
			}
		})
	})
	s.mu.Unlock()
	ok := a.AwaitNews(func() bool { return over })
	if !ok {
		s.mu.Lock()
		delete(s.asked, n)
		s.mu.Unlock()
	}
	return q, ok
}

// question asks, and returns the number of the question, and what there is of it. Caller holds mu.
func (s *Store) question(of event.StoreID, q Question, by *order.Attempt, answered func(*Question)) (uint64, *asked) {
	a := &asked{of: of, message: Message{Kind: Ask, Number: s.questions + 1, Question: &q}, by: by, answered: answered}
	if s.ended {
		answered(nil)
		return 0, a
	}
	s.questions++
	s.asked[s.questions] = a
	s.send(of, &a.message)
	return s.questions, a
}

// Away lists the other stores with which there is no session: they have no leader, or this one is cut off from it.
func (s *Store) Away() (list []event.StoreID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.cfg.Stores {
		if !s.reaches(id) {
			list = append(list, id)
		}
	}
	return list
}

// answer answers a question that has come in a session, with a number.
func (s *Store) answer(from event.StoreID, session, number uint64, q Question) {
	id := heldID{from, q.Number}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isCurrent(from, session) {
		return // it is asked again in the next one
	}
	if q.Lines != nil {
		q.Held = s.holds(id)
	}
	var known bool
	s.mu.outside(func() { known = s.cfg.Local.Answer(&q) })
	if !s.isCurrent(from, session) {
		return // and what was held is dropped
	}
	if !known {
		if s.let(id, false); q.Lines != nil {
			s.send(from, &Message{Kind: Let, Number: q.Number | refused})
		}
		return
	}
	if q.Held != nil {
		q.Held.told = true
	}
	s.send(from, &Message{Kind: Answer, Number: number, Question: &Question{Class: q.Class, Actor: q.Actor, Label: q.Label, First: q.First, Gone: q.Gone, Lacks: q.Lacks}})
}
