package state

import (
	"errors"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Named implements order.Residence. It returns the actor that has the name in the store. If there is none it makes the next
// one of that name and stores it, so that references find it.
func (s *State) Named(c *order.Shape, name string) *order.Handle {
	if !s.Visit() { // no event will find it
		return s.incarnation(c, name, 0)
	}
	defer s.Leave()
	last, used, err := s.lookup(c, name)
	if err != nil {
		s.Store.Fail(err) // the process ends; the new actor is not stored
	}
	if used && !last.Dead {
		h := s.Handle(s.idOf(c, name, last.Incarnation))
		if h.Is(order.Detached) && s.Attach(h) != nil || !h.Is(order.Deleted) {
			return h
		}
	}
	if used {
		last.Incarnation++
	}
	h := s.incarnation(c, name, last.Incarnation)
	s.host.Graph.NewRoot(&h.Node, &s.host.Partitions[h.ID.Birth].Node)
	w := NewWriter(s)
	w.name(h, false)
	w.Header(h)
	h.LastPos = s.Journal.Append(w.Take())
	s.actors.keep(h) // not before: until now only this goroutine used its header
	return h
}

// incarnation returns a new handle of an actor of a name.
func (s *State) incarnation(c *order.Shape, name string, incarnation uint32) *order.Handle {
	h := s.host.NewHandle(c, s.idOf(c, name, incarnation), 0)
	h.Named = &order.Naming{Name: name, Incarnation: incarnation}
	return h
}

// Layout implements order.Residence.
func (s *State) Layout(c *order.Shape) uint32 { return s.Layouts.Of(c).Number }

// idOf returns the id of the incarnation-th actor of a name.
func (s *State) idOf(c *order.Shape, name string, incarnation uint32) event.ActorID {
	return event.NamedActor(c.Path(), name, incarnation, len(s.host.Partitions))
}

// lookup reads the row of a name: the incarnation that has the name, or had it last.
func (s *State) lookup(c *order.Shape, name string) (last row.Name, used bool, err error) {
	key := row.NameKey(c.Path(), name, len(s.host.Partitions))
	value, ok, err := s.Store.Get(key, nil)
	if err != nil || !ok {
		return last, false, err
	}
	last, err = row.ReadName(key, value)
	return last, err == nil, err
}

// FirstOf returns the id of the first actor of the name of h, which it attaches; that of h itself if it has none.
func (s *State) FirstOf(h *order.Handle) event.ActorID {
	switch h.Label(); { // attaches it
	case h.Shape == nil:
		return s.firstOf(h.ID)
	case h.Named != nil:
		return s.idOf(h.Shape, h.Named.Name, 0)
	}
	return h.ID
}

// firstOf is FirstOf for an actor that was deleted in an earlier run: what is kept of it is the row of its name. It reads the names of one partition.
func (s *State) firstOf(id event.ActorID) event.ActorID {
	first := id
	if !id.Named() || !s.Visit() {
		return id
	}
	defer s.Leave()
	err := row.Section(s.Store, id.Birth, store.Names, 1, func(key, rest, value, _ []byte) error {
		last, err := row.ReadName(key, value)
		if err != nil {
			return err
		}
		class, name, _ := strings.Cut(string(rest), "\x00")
		for n := range last.Incarnation + 1 {
			if event.NamedActor(class, name, n, len(s.host.Partitions)) == id {
				first = event.NamedActor(class, name, 0, len(s.host.Partitions))
				return errEnough
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		s.Store.Fail(err)
	}
	return first
}
