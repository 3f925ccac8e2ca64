package exec

import (
	"fmt"
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
	for _, h := range s.durable.actors.all() {
		if !h.is(created) || h.is(deleted) {
			continue
		}
		if err := s.load(h); err != nil {
			return nil, err
		}
		obj, ok := h.obj.(image.Stored)
		if !ok {
			return nil, fmt.Errorf("class %s cannot be stored", h.class.path())
		}
		list = append(list, ActorState{ID: h.id, Class: h.class.path(), State: image.State(obj, len(h.class.Fields))})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID.Less(list[j].ID) })
	return list, nil
}

// all returns every actor that has a handle, deleted ones that were there when the store was opened
// included.
func (r *registry) all() (list []*Handle) {
	for _, b := range r.blocks {
		for i := range b {
			list = append(list, &b[i])
		}
	}
	for i := range r.shards {
		sh := &r.shards[i].mu
		sh.Lock()
		for _, h := range sh.live {
			list = append(list, h)
		}
		sh.Unlock()
	}
	return list
}
