package order

import (
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/runtime/event"
)

// Edges of ownership to actors of other stores are in no graph: T is that of one store (docs/rfc/stores.md, 6). They are kept for the search for
// cycles.

// abroad has the edges to actors of other stores, by owner.
type abroad struct {
	mu    sync.Mutex
	units map[event.ActorID]map[event.ActorID]int
}

// AddAbroad adds units to the edge from an owner to an actor of another store, and returns how many it has then.
func (s *Host) AddAbroad(owner, child event.ActorID, units int) int {
	e := &s.abroad
	e.mu.Lock()
	defer e.mu.Unlock()
	of := e.units[owner]
	if of == nil {
		of = make(map[event.ActorID]int)
		if e.units == nil {
			e.units = make(map[event.ActorID]map[event.ActorID]int)
		}
		e.units[owner] = of
	}
	n := of[child] + units
	if of[child] = n; n == 0 {
		if delete(of, child); len(of) == 0 {
			delete(e.units, owner)
		}
	}
	return n
}

// OwnedAbroad lists the actors of other stores that an actor owns, in order.
func (s *Host) OwnedAbroad(owner event.ActorID) (list []event.ActorID) {
	e := &s.abroad
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.units[owner] {
		list = append(list, id)
	}
	slices.SortFunc(list, event.ActorID.Compare)
	return list
}

// ChangeAbroad notes that p holds units more references to c, an actor of another store.
func (a *Attempt) ChangeAbroad(p, c *Handle, units int) {
	a.LockShared()
	defer a.UnlockShared()
	a.Abroad = append(a.Abroad, EdgeDelta{p, c, units})
}

// OwnsAbroad lists the actors of other stores that h owns, the event's own changes included.
func (a *Attempt) OwnsAbroad(h *Handle) (list []event.ActorID) {
	units := make(map[event.ActorID]int)
	for _, id := range a.Host.OwnedAbroad(h.ID) {
		units[id] = a.Host.UnitsAbroad(h.ID, id)
	}
	a.LockShared()
	for _, e := range a.Abroad {
		if e.Owner == h {
			units[e.Child.ID] += e.Units
		}
	}
	a.UnlockShared()
	for id, n := range units {
		if n > 0 {
			list = append(list, id)
		}
	}
	slices.SortFunc(list, event.ActorID.Compare)
	return list
}

// UnitsAbroad returns how many units the edge from an owner to an actor of another store has.
func (s *Host) UnitsAbroad(owner, child event.ActorID) int {
	s.abroad.mu.Lock()
	defer s.abroad.mu.Unlock()
	return s.abroad.units[owner][child]
}
