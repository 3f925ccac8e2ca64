package state

import (
	"errors"
	"fmt"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// recovery is one reading of the ownership graph.
type recovery struct {
	*State
	placed []dominator.Placed
	heads  []row.Header           // of the actors in placed
	taken  map[*order.Handle]bool // the actors in placed
}

// Recover attaches the actors that have an owner besides their T-parent, their owners, and all
// actors above these in the tree. Other actors are attached when they are used.
func (s *State) Recover() error {
	r := recovery{State: s, taken: make(map[*order.Handle]bool)}
	edges, err := r.edges()
	if err != nil {
		return err
	}
	for i := 0; i < len(r.placed); i++ { // it grows
		p := &r.placed[i]
		at, err := s.parent(s.host.HandleOf(p.Node).ID, &r.heads[i])
		if err == nil && !at.Is(order.Virtual) {
			err = r.take(at)
			p = &r.placed[i]
		}
		if err != nil {
			return err
		}
		if at.Is(order.Deleted) {
			at, p.Units = s.host.Partitions[s.host.HandleOf(p.Node).ID.Birth], 0
		}
		p.Parent = s.host.NodeOf(at)
	}
	if err := s.host.Graph.Restore(r.placed, edges); err != nil {
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return nil
}

// edges reads the edges whose owner is not the T-parent.
func (r *recovery) edges() (list []dominator.Edit, err error) {
	err = r.Rows(store.Edges, row.EdgeKeyMin, func(_ event.PartitionID, rest, payload []byte) error {
		e, err := row.ReadEdge(rest, payload)
		if err != nil {
			return err
		}
		child, owner := r.Handle(e.Child), r.Handle(e.Owner)
		if child.Is(order.Elsewhere) {
			r.host.AddAbroad(e.Owner, e.Child, e.Units)
			return nil
		}
		if err := errors.Join(r.take(child), r.take(owner)); err != nil {
			return err
		}
		switch {
		case child.Is(order.Deleted):
			return fmt.Errorf("the owned actor %v is missing", child.ID)
		case owner.Is(order.Deleted):
			return fmt.Errorf("the owner %v is missing", owner.ID)
		}
		list = append(list, dominator.Edit{Owner: &owner.Node, Child: &child.Node, Units: e.Units})
		return nil
	})
	return list, err
}

// take lists h, which is detached, among the actors to be placed, unless it is listed already or
// was deleted.
func (r *recovery) take(h *order.Handle) error {
	if r.taken[h] || h.Is(order.Deleted) {
		return nil
	}
	header, found, err := row.GetHeader(r.Store, h.ID)
	if err != nil {
		return err
	}
	state := order.Created | order.Deleted
	if found {
		if state, err = r.describe(h, &header); err != nil {
			return err
		}
		r.taken[h] = true
		r.actors.keep(h)
		r.placed = append(r.placed, dominator.Placed{Node: &h.Node, Units: header.Units})
		r.heads = append(r.heads, header)
	}
	h.State.Store(state)
	return nil
}

// Headers calls f for the header of every actor until f returns an error.
func (s *State) Headers(f func(id event.ActorID, header *row.Header) error) error {
	var header row.Header
	return s.Rows(store.Headers, store.ActorSize, func(_ event.PartitionID, rest, payload []byte) error {
		if err := header.Read(payload); err != nil {
			return err
		}
		return f(store.ActorInKey(rest), &header)
	})
}

// Count counts the actors in the store that were constructed, up to a number.
func (s *State) Count(most int) (n int, err error) {
	err = s.Headers(func(_ event.ActorID, h *row.Header) error {
		if !h.Unborn {
			n++
		}
		if n >= most {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return n, err
}

// errEnough ends a reading of rows; it is not taken for damage.
var errEnough = errors.New("enough rows were read")

// Rows calls f for every row of a section, in order, with the rest of its key, which has at least keyMin bytes, and its
// payload. An error of f is taken for damage of that row, unless it wraps ErrClass, or is itself a
// *store.CorruptError.
func (s *State) Rows(section store.Section, keyMin int, f func(p event.PartitionID, rest, payload []byte) error) error {
	for i := range s.host.Partitions {
		p := event.PartitionID(i)
		err := row.Section(s.Store, p, section, keyMin, func(key, rest, _, payload []byte) error {
			err := f(p, rest, payload)
			var known *store.CorruptError
			switch {
			case err == nil, errors.As(err, &known), errors.Is(err, errEnough):
				return err
			case isClass(err):
				return fmt.Errorf("%s: %w", store.DescribeKey(key), err)
			}
			return row.Damage(key, err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// AttachAll attaches every actor that is in the store, and returns them.
func (s *State) AttachAll() (list []*order.Handle, err error) {
	err = s.Headers(func(id event.ActorID, _ *row.Header) error {
		h := s.Handle(id)
		list = append(list, h)
		if h.Is(order.Detached) {
			return s.Attach(h)
		}
		return nil
	})
	return list, err
}

// Restored counts what an opening has found in a store.
type Restored struct {
	Actors        int // RestoredMax + 1 if there are more than RestoredMax
	SubEvents     int
	Continuations int // tail calls
	Timers        int
}

// RestoredMax is up to how many actors are counted: opening a store does not read all of them.
const RestoredMax = 1000
