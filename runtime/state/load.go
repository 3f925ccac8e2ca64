package state

import (
	"fmt"
	"maps"
	"sync"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
)

// loads are held while the states of actors are read from the store: one reader per actor.
type loads struct{ shard.Set[loading] }

type loading struct {
	sync.Mutex
	retired Retired
}

// Retired has the actors whose states were dropped while there were copies of their
// containers, which read from the store. An actor whose state is not read again stays until its
// copies have gone and the map has doubled.
type Retired struct {
	Copies  map[*order.Handle]*image.Copies
	pruneAt int // at this size actors whose copies have gone are looked for
}

// RetiredMin is the least size at which actors whose copies have gone are looked for.
const RetiredMin = 16

// Drop notes the copies of containers of h, whose state is being dropped.
func (r *Retired) Drop(h *order.Handle) {
	c := h.Object.ActorSelf().StoredRows().Retire()
	if c == nil {
		return
	}
	if r.Copies == nil {
		r.Copies, r.pruneAt = map[*order.Handle]*image.Copies{}, RetiredMin
	}
	r.Copies[h] = c
	if len(r.Copies) >= r.pruneAt {
		maps.DeleteFunc(r.Copies, func(_ *order.Handle, c *image.Copies) bool { return c.Gone() })
		r.pruneAt = max(RetiredMin, 2*len(r.Copies))
	}
}

// Load implements order.Residence. The caller need not hold the actor: while its state is in
// the store alone it does not change, as an event that writes it has loaded it first.
func (s *State) Load(h *order.Handle) error {
	loaded, err := s.readState(h)
	if loaded {
		s.resident.add(h) // not under the lock of loads: the evictor takes that under its own
	}
	return err
}

func (s *State) readState(h *order.Handle) (loaded bool, err error) {
	mu := s.loads.Of(h.ID.Serial)
	mu.Lock()
	defer mu.Unlock()
	if !h.Is(order.Unloaded) {
		return false, nil
	}
	obj := h.Shape.New()
	order.Bind(obj, h)
	stored, ok := obj.(image.Stored)
	if !ok {
		return false, fmt.Errorf("class %s cannot be stored", h.Shape.Name)
	}
	layout, _, err := s.Layouts.ByNumber(h.Layout)
	if err != nil {
		return false, err // recovery has checked that it is there
	}
	var met *referred
	resolve := s.Resolve
	if h.Has(order.MarkPartial) {
		met = &referred{state: s, max: s.host.Shareable()}
		resolve = met.resolve
	}
	in := image.NewReader(s.Store, h.ID, layout, s.cfg.References(resolve)).Resume(mu.retired.Copies[h]).Within(&s.Memory)
	if err := in.Read(stored); err != nil {
		s.Store.Fail(err)
		return false, &event.UnknownError{Cause: err}
	}
	delete(mu.retired.Copies, h)
	if met != nil {
		if err := met.attach(h, in.Far()); err != nil {
			return false, err
		}
	}
	h.Object = obj
	h.Unset(order.Unloaded) // from here on other goroutines see it
	return true, nil
}

// referred collects the actors that the state of an actor refers to while the state is read, if they are few.
// Readers share a tree only where all that they may reach is in the graph (runtime/order/share.go).
type referred struct {
	state *State
	max   int
	list  []*order.Handle
	many  bool
	done  bool // the state has been read; containers go on resolving
}

// resolve is State.Resolve.
func (r *referred) resolve(id event.ActorID) order.Ref {
	ref := r.state.Resolve(id)
	switch {
	case r.done, r.many, order.HandleOf(ref) == nil:
	case len(r.list) == r.max:
		r.many, r.list = true, nil
	default:
		r.list = append(r.list, order.HandleOf(ref))
	}
	return ref
}

// attach attaches all that was collected, the actors that h owns among them, unless far says that there is more.
func (r *referred) attach(h *order.Handle, far bool) error {
	if r.done = true; r.many || far {
		return nil
	}
	h.Mark(order.MarkPartial, false)
	for _, c := range r.list {
		if c.Is(order.Detached) {
			if err := r.state.Attach(c); err != nil {
				return err
			}
		}
	}
	r.list = nil
	return nil
}
