package across

import (
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Callbacks of events to clients of other stores have the order of the commits: while an event has all its locks, the store of a client gives
// its callbacks their places. They are held there until the store of the event says what becomes of them.

// Held are callbacks that this store holds for an event of another one.
type Held struct {
	// Done is closed when it is known what becomes of them. What follows is valid then.
	Done chan struct{}
	Yes  bool // they run
	Lost bool // the session has ended first: the event has committed, or not
	told bool // the other store may know that they are held
}

// heldID names what is held for an event of another store in the session with that.
type heldID struct {
	from   event.StoreID
	number uint64 // among all of from
}

// Hold has another store give callbacks of an attempt their places, and waits for that. Let says what becomes of them; they are dropped if the session ends before. gone
// says that no client of them is there any more. Not placed: the attempt is over before that store has answered. Then Let is to be told so, and what the store holds behind that is
// dropped.
func (s *Store) Hold(a *order.Attempt, to event.StoreID, number uint64, list []Line) (gone, placed bool) {
	token := a.Token()
	s.mu.Lock()
	n := s.question(to, Question{Lines: list, Number: number, Event: a.ID}, a, func(q *Question) { // nil: this store has ended
		a.Notify(token, func() { gone, placed = q != nil && q.Gone, true })
	})
	s.mu.Unlock()
	if a.AwaitNews(func() bool { return placed }) {
		return gone, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.asked[n]
	switch {
	case q == nil: // it was answered meanwhile
	case s.session(to) == 0:
		delete(s.asked, n)
	default: // what Let is told may come there before the question does
		q.by, q.left = nil, true
		q.answered = func(*Question) { s.send(to, Message{Kind: Let, Number: number}) }
	}
	return false, false
}

// Let says what becomes of callbacks that another store holds.
func (s *Store) Let(to event.StoreID, number uint64, yes bool) {
	s.tell(to, Message{Kind: Let, Number: number, Yes: yes})
}

// holds begins to hold callbacks. Caller holds mu, as for what follows.
func (s *Store) holds(id heldID) *Held {
	h := &Held{Done: make(chan struct{})}
	s.held[id] = h
	return h
}

// let ends the holding of callbacks. They may have been dropped.
func (s *Store) let(id heldID, yes bool) {
	if h := s.held[id]; h != nil {
		delete(s.held, id)
		h.Yes = yes
		close(h.Done)
	}
}

// loseHeld drops the callbacks that are held for events of a store, with which a session has ended.
func (s *Store) loseHeld(store event.StoreID) {
	for id, h := range s.held {
		if id.from == store {
			h.Lost = h.told
			s.let(id, false)
		}
	}
}
