package exec

import (
	"fmt"
	"github.com/aeon-lang/aeon/runtime/order"
	"sort"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
)

// ActorState is what States tells of an actor.
type ActorState struct {
	ID    event.ActorID
	Class string // with its package
	State []byte // of its fields; equal states have equal bytes
}

// States returns the states of all actors of a system with a store, in the order of their ids: those in
// memory as they are, the others are read. No event must run meanwhile.
func (s *System) States() (list []ActorState, err error) {
	if s.durable == nil {
		return nil, ErrNoStore
	}
	all, err := s.attachAll()
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		if !h.Is(order.Created) || h.Is(order.Deleted) {
			continue
		}
		if err := s.durable.Load(h); err != nil {
			return nil, err
		}
		obj, ok := h.Object.(image.Stored)
		if !ok {
			return nil, fmt.Errorf("class %s cannot be stored", h.Shape.Path())
		}
		list = append(list, ActorState{ID: h.ID, Class: h.Shape.Path(), State: image.State(obj, len(h.Shape.Fields))})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID.Less(list[j].ID) })
	return list, nil
}

// attachAll attaches every actor that is in the store, and returns them.
func (s *System) attachAll() (list []*order.Handle, err error) {
	r := recovery{d: s.durable, s: s}
	err = r.headers(func(id event.ActorID, _ *headerRow) error {
		h := s.durable.resolve(id)
		list = append(list, h)
		if h.Is(order.Detached) {
			return s.host.Attach(h)
		}
		return nil
	})
	return list, err
}
