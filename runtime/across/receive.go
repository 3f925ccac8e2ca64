package across

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Receive takes a message of a session; that of one which has ended is dropped. It waits for no lock of an actor. The caller may use m again, but does not change
// what m refers to.
func (s *Store) Receive(from event.StoreID, session uint64, m *Message) {
	if m.Kind == Take {
		for _, w := range m.Wanted {
			if !w.Actor.IsWholePartition() {
				s.cfg.Local.Handle(w.Actor) // reads the store, which is not to be done under the mutex
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isCurrent(from, session) {
		return
	}
	switch m.Kind {
	case Ask:
		number, q := m.Number, m.Question
		s.cfg.Workers.Run(func() { s.answer(from, session, number, *q) })
	case Order:
		s.order(m)
	case Turn, Take:
		s.turns.Take(m.Number, *m, s.take)
	case Taken:
		s.cfg.Ticks.Heard(m.Tick)
		s.taken(from, m.Name)
		s.carryOut(s.home.Asked(from, commit.Message{Name: m.Name}, nil)) // it may have been withdrawn, and the part not have heard of that
	case Missed:
		s.missed(func(t *Try) bool { return t.has(m.Home) && !t.hasTaken(m.Home) })
	case Called, Returned:
		if p := s.parts.Get(m.Name); p != nil {
			p.deliver(from, m)
			break
		}
		if t := s.tries.Get(m.Name); t != nil {
			// Invariant: what comes is for a thread that has called.
			if m.Number >= uint64(len(t.threads)) {
				assert.Unreachable("across: a message for thread %d of %v, which has %d", m.Number, m.Name, len(t.threads))
			}
			th := t.threads[m.Number]
			t.attempt.Notify(t.token, func() { th.inbox = append(th.inbox, delivery{from, m.Call, m.Reply}) })
		}
		// The part may have begun when the attempt was withdrawn already, though that has not unwound yet.
		s.carryOut(s.home.Asked(from, commit.Message{Name: m.Name}, nil))
	case Visited:
		if p := s.parts.Get(m.Name); p != nil {
			p.deliver(from, m)
		} else if has, _ := s.participant.Has(m.Name); !has { // else it was dropped, and its home is told so
			s.begin(m)
		}
	case Commit:
		s.commit(from, m)
	case Cancelled:
		first := m.Chain.First
		s.cfg.Workers.Run(func() { s.cancelled(first) })
	case Let:
		if m.Number&refused == 0 {
			s.let(heldID{from, m.Number}, m.Yes)
		} else {
			s.cannotHold(from, m.Number&^refused)
		}
	case Answer:
		if q := s.asked[m.Number]; q != nil { // else it was answered in an earlier session
			delete(s.asked, m.Number)
			q.answered(m.Question)
			s.news.Broadcast()
		}
	default:
		assert.Unreachable("across: message %d", m.Kind)
	}
}

// take takes the part of an attempt whose turn it is. Caller holds mu.
func (s *Store) take(m Message) {
	if m.Kind == Take {
		s.begin(&m)
	} else if t := s.tries.Get(m.Name); t != nil {
		t.turned, t.place = true, m.Place
		t.attempt.Take(t.token, m.Place)
	}
}

// taken notes that another store has taken its part of an attempt. Caller holds mu.
func (s *Store) taken(from event.StoreID, name commit.Name) {
	if t := s.tries.Get(name); t != nil && t.has(from) && !t.hasTaken(from) {
		t.begins(from).taken = true
		if _, further := t.further[from]; further {
			t.attempt.Notify(t.token, func() { t.further[from] = true })
		} else {
			t.attempt.Taken(t.token)
		}
	}
}

// order is TOP: it gives each store concerned the next of its numbers. Caller holds mu.
func (s *Store) order(m *Message) {
	assert.That(s.cfg.Store == 0, "across: store %d is to order attempts", s.cfg.Store)
	if i := slices.IndexFunc(m.Parts, func(p order.Part) bool { return !s.reaches(p.Store) }); i >= 0 {
		if m.Place != 0 { // it holds locks
			s.send(m.Home, &Message{Kind: Missed, Home: m.Parts[i].Store})
		} else {
			s.deferred = append(s.deferred, *m)
		}
		return
	}
	number := func(to event.StoreID) uint64 {
		s.given[to]++
		return s.given[to]
	}
	place := m.Place
	if place == 0 {
		place = order.Ordered | s.cfg.Number()
		s.send(m.Home, &Message{Kind: Turn, Name: m.Name, Number: number(m.Home), Place: place})
	}
	for _, p := range m.Parts {
		s.send(p.Store, &Message{Kind: Take, Name: m.Name, Home: m.Home, Method: m.Method, Chain: m.Chain, Number: number(p.Store), Place: place, Wanted: p.Wanted})
	}
}

// commit takes a message between the machines. Caller holds mu.
func (s *Store) commit(from event.StoreID, m *Message) {
	c := m.Commit
	s.cfg.Ticks.Heard(m.Tick)
	out := s.noEffects()
	switch c.Kind {
	case commit.Prepare:
		out = s.participant.Prepare(from, c, out)
	case commit.Decision:
		out = s.participant.Decided(from, c, out)
	case commit.Vote:
		out = s.home.Voted(from, c, out)
	case commit.Done:
		out = s.home.Done(from, c, out)
		for _, c.Name = range m.Also {
			out = s.home.Done(from, c, out)
		}
	case commit.Ask:
		out = s.home.Asked(from, c, out)
	case commit.Dropped:
		out = s.home.Dropped(from, c, out)
	default:
		assert.Unreachable("across: %v", c.Kind)
	}
	s.carryOutFor(out, m.Claim)
}
