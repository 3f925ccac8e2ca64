package exec

import (
	"fmt"
	"github.com/aeon-lang/aeon/runtime/order"
	"maps"
	"sync"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
)

// loads are held while the states of actors are read from the store: one reader per actor.
type loads struct{ shard.Set[loading] }

type loading struct {
	sync.Mutex
	// copies has the actors whose state was dropped while there were copies of their
	// containers, which read from the store. Those that are not read again stay until their copies
	// have gone and the map has doubled.
	copies  map[*order.Handle]*image.Copies
	pruneAt int // so many are worth looking for those whose copies have gone
}

const pruneMin = 16

// dropped notes what is to be known of h, whose state is being dropped. Caller holds the lock.
func (l *loading) dropped(h *order.Handle) {
	c := h.Object.ActorSelf().StoredRows().Retire()
	if c == nil {
		return
	}
	if l.copies == nil {
		l.copies, l.pruneAt = map[*order.Handle]*image.Copies{}, pruneMin
	}
	l.copies[h] = c
	if len(l.copies) >= l.pruneAt {
		maps.DeleteFunc(l.copies, func(_ *order.Handle, c *image.Copies) bool { return c.Gone() })
		l.pruneAt = max(pruneMin, 2*len(l.copies))
	}
}

// Load implements residence. The caller need not hold the actor for that:
// while its state lies in the store alone nothing can change it, as an event that writes it has
// loaded it first.
func (d *durable) Load(h *order.Handle) error {
	loaded, err := d.readState(h)
	if loaded {
		d.resident.add(h) // not under the lock of loads: the evictor takes that under its own
	}
	return err
}

func (d *durable) readState(h *order.Handle) (loaded bool, err error) {
	s := d.sys
	mu := d.loads.Of(h.ID.Serial)
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
	layout, _, err := d.layouts.byNumber(h.Layout)
	if err != nil {
		return false, err // recovery has looked: it is there
	}
	var met *referred
	resolver := any(s)
	if h.Has(order.MarkPartial) {
		met = &referred{System: s, max: s.host.Shareable()}
		resolver = met
	}
	in := image.NewReader(d.store, h.ID, layout, resolver).Resume(mu.copies[h]).Within(&d.memory)
	if err := in.Read(stored); err != nil {
		d.store.Fail(err)
		return false, &UnknownError{Cause: err}
	}
	delete(mu.copies, h)
	if met != nil {
		if err := met.attach(h, in.Far()); err != nil {
			return false, err
		}
	}
	h.Object = obj
	h.Unset(order.Unloaded) // from here on others see it
	return true, nil
}

// referred collects what the state of an actor refers to while it is read, if that is not much:
// readers share a tree only where all that they may reach is in the graph (share.go).
type referred struct {
	*System
	max  int
	list []*order.Handle
	many bool
	done bool // the state has been read; containers go on resolving
}

// Resolve is System.Resolve.
func (r *referred) Resolve(id event.ActorID) order.Ref {
	ref := r.System.Resolve(id)
	switch {
	case r.done, r.many, ref.Handle() == nil:
	case len(r.list) == r.max:
		r.many, r.list = true, nil
	default:
		r.list = append(r.list, ref.Handle())
	}
	return ref
}

// attach attaches all that was collected; far says that there is more. Those h owns are among them.
func (r *referred) attach(h *order.Handle, far bool) error {
	if r.done = true; r.many || far {
		return nil
	}
	h.Mark(order.MarkPartial, false)
	for _, c := range r.list {
		if c.Is(order.Detached) {
			if err := r.System.host.Attach(c); err != nil {
				return err
			}
		}
	}
	r.list = nil
	return nil
}

// mustLoad is load for code of an event, which it unwinds if the store fails.
func (cx *Cx) mustLoad(h *order.Handle) {
	if err := cx.ev.sys.durable.Load(h); err != nil {
		panic(err)
	}
}
