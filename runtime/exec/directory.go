package exec

import (
	"sync"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// directory finds named actors. Every shard has a lock of its own.
type directory struct{ shard.Set[directoryShard] }

type directoryShard struct {
	mu struct {
		sync.Mutex
		named map[nameKey]*order.Handle
	}
}

type nameKey struct {
	class *order.Shape
	name  string
}

// named returns the handle of the actor of class c with the given name. It is
// placed in the sequencing tree, but its constructor runs in its first event.
func (s *System) named(c *order.Shape, name string) *order.Handle {
	id := s.idOf(c, name)
	sh := s.directory.Of(id.Serial)
	key := nameKey{class: c, name: name}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if h := sh.mu.named[key]; h != nil && !h.Is(order.Deleted) {
		return h
	}
	var h *order.Handle
	if s.durable != nil {
		h = s.durable.Named(c, name)
	} else {
		h = s.newHandle(c, id, 0)
		h.Named = &order.Naming{Name: name}
		s.host.Graph.NewRoot(&h.Node, &s.host.Partitions[id.Birth].Node)
	}
	if sh.mu.named == nil {
		sh.mu.named = make(map[nameKey]*order.Handle)
	}
	sh.mu.named[key] = h
	return h
}

// forget takes an actor that was deleted out of the directory.
func (s *System) forget(h *order.Handle) {
	if h.Named == nil {
		return
	}
	key := nameKey{class: h.Shape, name: h.Named.Name}
	sh := s.directory.Of(s.idOf(h.Shape, h.Named.Name).Serial)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.mu.named[key] == h {
		delete(sh.mu.named, key)
	}
}

func (s *System) newHandle(c *order.Shape, id event.ActorID, state uint32) (h *order.Handle) {
	if s.durable != nil {
		h = s.durable.NewHandle(c, id)
	} else {
		h = &order.Handle{ID: id, Shape: c}
		h.Node.ID = id.Serial
	}
	h.State.Store(state)
	return h
}

// idOf returns the id of the first actor of a name.
func (s *System) idOf(c *order.Shape, name string) event.ActorID {
	return event.NamedActor(c.Path(), name, 0, len(s.host.Partitions))
}

// Named returns the actor of class c with the given name; the first event on it
// runs its constructor.
func Named(in Namer, c *Class, name string) order.Ref {
	return order.RefOf(in.system().named(&c.Shape, name))
}
