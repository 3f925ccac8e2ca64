package state

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Most actors of a store are in the store alone. An actor is attached, that is, brought into
// memory, when more of it than its id is first needed. Until then a reference to it is a detached
// handle, which has only the id.
//
// The set of attached actors is closed upwards: with an actor also its T-parent and all its owners are
// attached. For that, opening the store attaches all actors that have an owner besides their T-parent,
// with those owners. So a detached actor is owned by its T-parent alone, or by none; so are all detached
// actors below it; and no event waits for it or holds it. It follows that no top depends on it, and that
// a path in Omega which ends in an attached actor consists of attached actors. Rule 8 of the protocol
// goes on holding: of two events that would close a cycle from both ends, each holds its own owner, which
// is attached; the event that lists later what it reaches finds the owner of the other one there, and
// waits for it.
//
// A header names its T-parent by id. If the T-parent was deleted the actor hangs below its partition,
// and has no owner. The deletion need not change the actor's header.

// attaching has a mutex for each actor, by its id, that is held while the actor is attached.
type attaching struct{ shard.Set[sync.Mutex] }

// Attach implements order.Residence.
func (s *State) Attach(h *order.Handle) error {
	if !s.Visit() {
		return &event.UnknownError{Cause: event.ErrClosed} // a client still shows a reference
	}
	defer s.Leave()
	for {
		switch st := h.State.Load(); {
		case st&order.Leaving != 0:
			h.Unset(order.Leaving) // unless the evictor has detached it first
		case st&order.Detached == 0:
			return nil
		default:
			if err := s.attachPath(h); err != nil {
				s.Store.Fail(err)
				return &event.UnknownError{Cause: err}
			}
		}
	}
}

// attachPath attaches h after its T-parent. Chains may be long, so it does not call itself.
func (s *State) attachPath(h *order.Handle) error {
	path := []*order.Handle{h}
	for len(path) > 0 {
		x := path[len(path)-1]
		switch up, err := s.attachBelow(x); {
		case err != nil:
			return err
		case up == nil:
			path = path[:len(path)-1]
		case len(path)&(len(path)-1) == 0 && slices.Contains(path, up): // checked now and then: in a cycle the loop would not end
			return &store.CorruptError{Key: store.HeaderKey(up.ID), Reason: "the actor lies below itself in the tree"}
		default:
			path = append(path, up)
		}
	}
	return nil
}

// attachBelow attaches x, unless its T-parent is detached: then it returns that.
func (s *State) attachBelow(x *order.Handle) (up *order.Handle, err error) {
	mu := s.attaching.Of(x.ID.Serial)
	mu.Lock()
	defer mu.Unlock()
	if !x.Is(order.Detached) {
		return nil, nil
	}
	header, found, err := row.GetHeader(s.Store, x.ID)
	if err != nil {
		return nil, err
	}
	if !found {
		x.State.Store(order.Created | order.Deleted)
		return nil, nil
	}
	at, err := s.parent(x.ID, &header)
	switch {
	case err != nil:
		return nil, err
	case at.Is(order.Detached):
		return at, nil
	}
	state, err := s.describe(x, &header)
	if err != nil {
		return nil, err
	}
	g := s.host.Graph
	err = dominator.ErrDeleted
	if !at.Is(order.Deleted) {
		err = g.Attach(&x.Node, s.host.NodeOf(at), header.Units)
	}
	switch {
	case errors.Is(err, dominator.ErrDetached):
		return at, nil // the evictor has just detached it
	case err != nil:
		_ = g.Attach(&x.Node, &s.host.Partitions[x.ID.Birth].Node, 0) // never fails
	case header.Units == 0 && !at.Is(order.Virtual) && s.ready.Load():
		s.host.Tighten()
	}
	// What is attached is closed upwards: the graph attaches nothing below a node that is detached, and detaches none that
	// has something below it. The state of at cannot be asserted here, as the evictor marks it detached before it asks the graph.
	s.actors.keep(x)
	x.State.Store(state) // from here on other goroutines use it
	return nil, nil
}

// parent returns the T-parent that a header names.
func (s *State) parent(id event.ActorID, header *row.Header) (*order.Handle, error) {
	var why string
	switch owned := header.Units > 0; {
	case header.Top && !owned:
		return s.host.Top, nil
	case header.Top:
		why = "TOP owns no actors"
	case header.Parent.Serial > 0:
		return s.Handle(header.Parent), nil
	case int(header.Parent.Birth) >= len(s.host.Partitions):
		why = fmt.Sprintf("there is no partition %d", header.Parent.Birth)
	case owned:
		why = "a partition owns no actors"
	default:
		return s.host.Partitions[header.Parent.Birth], nil
	}
	return nil, &store.CorruptError{Key: store.HeaderKey(id), Reason: why}
}

// describe enters in h what its header says, and returns the state that h is in then.
func (s *State) describe(h *order.Handle, header *row.Header) (state uint32, err error) {
	_, shape, err := s.Layouts.ByNumber(header.Layout)
	switch {
	case isClass(err):
		return 0, fmt.Errorf("%s: %w", store.DescribeKey(store.HeaderKey(h.ID)), err)
	case err != nil:
		return 0, &store.CorruptError{Key: store.HeaderKey(h.ID), Reason: err.Error()}
	}
	if h.Shape != shape { // else it was attached before, and other goroutines read it
		h.Shape, h.Layout = shape, header.Layout
	}
	h.Mark(order.MarkPartial, h.Shape.Owning())
	if header.Named && h.Named == nil {
		h.Named = &order.Naming{Name: header.Name, Incarnation: header.Incarnation}
	}
	if header.Unborn {
		return order.Unborn, nil
	}
	return order.Created | order.Unloaded, nil
}
