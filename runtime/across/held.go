package across

import (
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Callbacks of events to clients of other stores have the order of the commits: while an event has all its locks, the store of a client gives
// its callbacks their places. They are held there until the store of the event says what becomes of them.

// Held are callbacks that this store holds for an event of another one.
type Held struct {
	Home event.StoreID // of the event
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
// says that no client of them is there any more. Not placed: the attempt is to be withdrawn. Either it is over before that store has answered: then Let is to be told so, and what
// the store holds behind that is dropped. Or the store is away, or its program does not have a method of them, as lacks says: the attempt holds locks, so it does not wait for that here.
func (s *Store) Hold(a *order.Attempt, to event.StoreID, number uint64, list []Line) (gone, placed bool, lacks *order.Lacking) {
	token := a.Token()
	s.mu.Lock()
	away := &order.Lacking{Of: to, Sessions: s.changes}
	if !s.ended && !s.reaches(to) {
		s.mu.Unlock()
		return false, false, away
	}
	n, q := s.question(to, Question{Lines: list, Number: number, Event: a.ID}, a, func(q *Question) { // nil: this store has ended
		a.Notify(token, func() { gone, placed = q != nil && q.Gone, true })
	})
	q.fails = func(name string) {
		away.Name = name
		a.Notify(token, func() { lacks = away })
	}
	s.mu.Unlock()
	if a.AwaitNews(func() bool { return placed || lacks != nil }) {
		return gone, placed, lacks
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked[n] == q { // else it was answered meanwhile, or lost
		// What Let is told may come there before the question does.
		q.by, q.left = nil, true
		q.answered = func(*Question) { s.send(to, &Message{Kind: Let, Number: number}) }
	}
	return false, false, nil
}

// Let says what becomes of callbacks that another store holds.
func (s *Store) Let(to event.StoreID, number uint64, yes bool) {
	s.tell(to, &Message{Kind: Let, Number: number, Yes: yes})
}

// holds begins to hold callbacks. Caller holds mu, as for what follows.
func (s *Store) holds(id heldID) *Held {
	h := &Held{Home: id.from, Done: make(chan struct{})}
	s.held[id] = h
	return h
}

// refused is the bit of a Let by which a store says that it cannot hold callbacks of the addressee, which the number without the bit names. No number of what is held has
// it: a program of an earlier version passes over such a Let, and asks again in the next session.
const refused = 1 << 63

// cannotHold ends the question whether a store holds callbacks, which number names: its program does not have a method of them. Caller holds mu.
func (s *Store) cannotHold(from event.StoreID, number uint64) {
	for n, q := range s.asked {
		of := q.message.Question
		if q.of != from || of.Lines == nil || of.Number != number {
			continue
		}
		if delete(s.asked, n); !q.left {
			var names []string
			for _, l := range of.Lines {
				if name := PathIn(l.Method); !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
			q.fails(strings.Join(names, " or "))
		}
		return
	}
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
