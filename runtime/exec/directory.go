package exec

import (
	"sync"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/event"
)

// directory finds named actors. Every shard has a lock of its own.
type directory struct{ shard.Set[directoryShard] }

type directoryShard struct {
	mu struct {
		sync.Mutex
		named map[nameKey]*Handle
	}
}

type nameKey struct {
	class *Shape
	name  string
}

// named returns the handle of the actor of class c with the given name. It is
// placed in the sequencing tree, but its constructor runs in its first event.
func (s *System) named(c *Shape, name string) *Handle {
	id := s.idOf(c, name, 0)
	sh := s.directory.Of(id.Serial)
	key := nameKey{class: c, name: name}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if h := sh.mu.named[key]; h != nil && !h.is(deleted) {
		return h
	}
	var h *Handle
	if s.durable != nil {
		h = s.durable.named(c, name)
	} else {
		h = s.newHandle(c, id, 0)
		h.named = &naming{name: name}
		s.host.graph.NewRoot(&h.node, &s.host.partitions[id.Birth].node)
	}
	if sh.mu.named == nil {
		sh.mu.named = make(map[nameKey]*Handle)
	}
	sh.mu.named[key] = h
	return h
}

// named returns the actor of a name that the store knows, or makes the next one of that
// name and stores it, so that whatever refers to it finds it. Caller holds the shard.
func (d *durable) named(c *Shape, name string) *Handle {
	s := d.sys
	if !d.visit() { // no event will find it
		h := s.newHandle(c, s.idOf(c, name, 0), 0)
		h.named = &naming{name: name}
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
		if h.is(detached) && s.host.attach(h) != nil || !h.is(deleted) {
			return h
		}
	}
	if used {
		last++
	}
	h := s.newHandle(c, s.idOf(c, name, last), 0)
	h.named = &naming{name: name, incarnation: last}
	s.host.graph.NewRoot(&h.node, &s.host.partitions[h.id.Birth].node)
	w.name(h, false)
	w.header(h)
	h.lastPos = d.journal.Append(w.batch)
	d.actors.keep(h) // not before: until now its header was here alone
	return h
}

// forget takes an actor that was deleted out of the directory.
func (s *System) forget(h *Handle) {
	if h.named == nil {
		return
	}
	key := nameKey{class: h.shape, name: h.named.name}
	sh := s.directory.Of(s.idOf(h.shape, h.named.name, 0).Serial)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.mu.named[key] == h {
		delete(sh.mu.named, key)
	}
}

func (s *System) newHandle(c *Shape, id event.ActorID, state uint32) *Handle {
	h := &Handle{id: id, shape: c}
	h.node.ID = id.Serial
	if s.durable != nil {
		h.host, h.layout = &s.host, s.durable.layout(c).Number
	}
	h.state.Store(state)
	return h
}

// Named returns the actor of class c with the given name; the first event on it
// runs its constructor.
func Named(in Namer, c *Class, name string) Ref { return refOf(in.system().named(&c.Shape, name)) }
