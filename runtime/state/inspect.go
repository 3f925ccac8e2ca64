package state

import (
	"fmt"
	"sort"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
)

// ActorState is what States tells of an actor.
type ActorState struct {
	ID    event.ActorID
	Class string // with its package
	State []byte // of its fields; equal states have equal bytes
}

// States returns the states of all actors, in the order of their ids: those in
// memory as they are, the others are read. No event must run meanwhile.
func (s *State) States() (list []ActorState, err error) {
	all, err := s.AttachAll()
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		if !h.Is(order.Created) || h.Is(order.Deleted) {
			continue
		}
		if err := s.Load(h); err != nil {
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
