package across

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/runtime/order"
)

// What operators see of the attempts over several stores: what each has in this store, and for which stores it waits. Their queues show what is in the way of locks.

// Seen is an attempt over several stores that waits, or the part that one has here.
type Seen struct {
	Event  event.EventID
	Work   string        // its method
	Target *order.Handle // nil: it is in another store, or none
	Home   event.StoreID
	At     []order.Visit
	// For are the stores for which it waits, and Why what for; "": it waits for none.
	For []event.StoreID
	Why string
}

// Look returns the attempts of this store that wait, and the parts that those of other stores have here. One that is just going on may be left out.
func (s *Store) Look() (list []Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.tries.Names() {
		t := s.tries.Get(name)
		if at, ok := t.attempt.Look(t.token); ok {
			x := Seen{Event: name.Event, Work: t.attempt.Work.String(), Target: t.attempt.Target, Home: s.cfg.Store, At: at}
			x.For, x.Why = s.awaited(t)
			list = append(list, x)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(s.asked)) {
		if q := s.asked[n]; q.by != nil {
			list = append(list, Seen{Event: q.by.ID, Work: q.by.Work.String(), Target: q.by.Target, Home: s.cfg.Store, For: []event.StoreID{q.of}, Why: q.why()})
		}
	}
	for _, x := range s.storeWaits {
		list = append(list, Seen{Event: x.by.ID, Work: x.by.Work.String(), Target: x.by.Target, Home: s.cfg.Store, For: []event.StoreID{x.lacks.Of}, Why: x.why()})
	}
	for _, name := range s.parts.Names() {
		p := s.parts.Get(name)
		if at, ok := p.attempt.Look(p.token); ok {
			x := Seen{Event: name.Event, Work: p.attempt.Work.String(), Home: p.home, At: at}
			switch {
			case s.participant.IsInDoubt(name):
				x.For, x.Why = []event.StoreID{p.home}, "it is in doubt: its home decides"
			case p.awaitsHome():
				x.For, x.Why = []event.StoreID{p.home}, "a call by way of its home"
			}
			list = append(list, x)
		}
	}
	return list
}

// why says what an event waits for that has asked.
func (q *asked) why() string {
	switch of := q.message.Question; {
	case of.Lines != nil:
		return "the places of its callbacks"
	case !of.Kept.IsNull():
		return fmt.Sprintf("a chain keeps actor %v", of.Kept)
	case of.Actor.IsNull():
		return "the actor of a name"
	default:
		return "the label of an actor"
	}
}

// why says what an event waits for.
func (x *storeWait) why() string {
	if x.lacks.Name == "" {
		return "the places of its callbacks: there is no session with it"
	}
	return fmt.Sprintf("its program does not have %s", x.lacks.Name)
}

// awaited returns for which stores an attempt waits, and why. Caller holds mu.
func (s *Store) awaited(t *Try) (list []event.StoreID, why string) {
	switch {
	case t.unordered: // it has waited for nothing before its calls
	case !t.sent:
		for _, p := range t.parts {
			if !s.reaches(p.Store) {
				list = append(list, p.Store)
			}
		}
		if !s.reaches(0) {
			list = append(list, 0)
		}
		return list, "there is no session with it"
	case !t.turned:
		return []event.StoreID{0}, "its place in the order of all stores"
	}
	for _, p := range t.parts {
		if !t.hasTaken(p.Store) {
			list = append(list, p.Store)
		}
	}
	if len(list) > 0 {
		return list, "its part there is not taken yet"
	}
	if list = s.home.Unvoted(t.name); len(list) > 0 {
		return list, "its vote"
	}
	for _, th := range t.threads {
		if to := th.awaits.Load(); to > 0 && !slices.Contains(list, event.StoreID(to-1)) {
			list = append(list, event.StoreID(to-1))
		}
	}
	if len(list) > 0 {
		slices.Sort(list)
		return list, "a call there"
	}
	return nil, ""
}

// InDoubt returns how many events of other stores have prepared something here, and have not been carried out.
func (s *Store) InDoubt() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.participant.InDoubt()
}

// WriteMetrics writes what the store counts.
func (s *Store) WriteMetrics(w *metrics.Writer) {
	c := s.Counts()
	w.Gauge("aeon_events_in_doubt", "Events of other stores that have prepared something here, and have not been carried out.", int64(s.InDoubt()))
	w.Counter("aeon_wide_attempts_total", "Attempts of events of this store that have touched other stores, or entered with actors of them.", uint64(c.Wide))
	w.Counter("aeon_wide_attempts_withdrawn_total", "Of these, those that were withdrawn.", uint64(c.Withdrawn))
	w.Counter("aeon_wide_events_committed_total", "Events of this store that have committed with other stores.", uint64(c.Committed))
}
