package exec

import (
	"github.com/aeon-lang/aeon/runtime/order"
	"sync"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/event"
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
	id := s.idOf(c, name, 0)
	sh := s.directory.Of(id.Serial)
	key := nameKey{class: c, name: name}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if h := sh.mu.named[key]; h != nil && !h.Is(order.Deleted) {
		return h
	}
	var h *order.Handle
	if s.durable != nil {
		h = s.durable.named(c, name)
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

// named returns the actor of a name that the store knows, or makes the next one of that
// name and stores it, so that whatever refers to it finds it. Caller holds the shard.
func (d *durable) named(c *order.Shape, name string) *order.Handle {
	s := d.sys
	if !d.visit() { // no event will find it
		h := s.newHandle(c, s.idOf(c, name, 0), 0)
		h.Named = &order.Naming{Name: name}
		return h
	}
	defer d.leave()
	w := &preparation{d: d}
	last, used, dead, err := d.lookup(c, name)
	if err != nil {
		d.store.Fail(err) // the process ends; what is made here is not stored
	}
	if used && !dead {
		h := d.resolve(s.idOf(c, name, last))
		if h.Is(order.Detached) && s.host.Attach(h) != nil || !h.Is(order.Deleted) {
			return h
		}
	}
	if used {
		last++
	}
	h := s.newHandle(c, s.idOf(c, name, last), 0)
	h.Named = &order.Naming{Name: name, Incarnation: last}
	s.host.Graph.NewRoot(&h.Node, &s.host.Partitions[h.ID.Birth].Node)
	w.name(h, false)
	w.header(h)
	h.LastPos = d.journal.Append(w.batch)
	d.actors.keep(h) // not before: until now its header was here alone
	return h
}

// forget takes an actor that was deleted out of the directory.
func (s *System) forget(h *order.Handle) {
	if h.Named == nil {
		return
	}
	key := nameKey{class: h.Shape, name: h.Named.Name}
	sh := s.directory.Of(s.idOf(h.Shape, h.Named.Name, 0).Serial)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.mu.named[key] == h {
		delete(sh.mu.named, key)
	}
}

func (s *System) newHandle(c *order.Shape, id event.ActorID, state uint32) *order.Handle {
	h := &order.Handle{ID: id, Shape: c}
	h.Node.ID = id.Serial
	if s.durable != nil {
		h.Host, h.Layout = &s.host, s.durable.layout(c).Number
	}
	h.State.Store(state)
	return h
}

// Named returns the actor of class c with the given name; the first event on it
// runs its constructor.
func Named(in Namer, c *Class, name string) order.Ref {
	return order.RefOf(in.system().named(&c.Shape, name))
}
