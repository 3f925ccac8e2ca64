package order

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
		// deleted counts, without a residence, the deletions of each name, by the serial of its first id. Nothing is ever taken out: a few bytes for
		// each name that was deleted, as a store keeps a row.
		deleted map[uint64]uint32
	}
}

type nameKey struct {
	class *Shape
	name  string
}

// Named returns the handle of the actor of class c with the given name. It is
// placed in the sequencing tree, but its constructor runs in its first event.
func (s *Host) Named(c *Shape, name string) *Handle {
	first := s.FirstID(c, name).Serial
	sh := s.directory.Of(first)
	key := nameKey{class: c, name: name}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	h := sh.mu.named[key]
	switch {
	case h != nil && !h.Is(Deleted):
		return h
	case s.residence != nil:
		h = s.residence.Named(c, name)
	default:
		n := sh.mu.deleted[first]
		if h != nil {
			n = h.Named.Incarnation + 1 // it is about to be forgotten
		}
		h = s.NewHandle(c, event.NamedActor(c.Path(), name, n, len(s.Partitions)), 0)
		h.Named = &Naming{Name: name, Incarnation: n}
		s.Graph.NewRoot(&h.Node, &s.Partitions[h.ID.Birth].Node)
	}
	if sh.mu.named == nil {
		sh.mu.named, sh.mu.deleted = make(map[nameKey]*Handle), make(map[uint64]uint32)
	}
	sh.mu.named[key] = h
	return h
}

// FirstID returns the id of the first actor of a name, which is in the partition of all of that name.
func (s *Host) FirstID(c *Shape, name string) event.ActorID {
	return event.NamedActor(c.Path(), name, 0, len(s.Partitions))
}

// Forget takes an actor that was deleted or detached out of the directory.
func (s *Host) Forget(h *Handle) {
	if h.Named == nil {
		return
	}
	key, first := nameKey{class: h.Shape, name: h.Named.Name}, s.FirstID(h.Shape, h.Named.Name).Serial
	sh := s.directory.Of(first)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.mu.named[key] != h {
		return
	}
	delete(sh.mu.named, key)
	if s.residence == nil {
		sh.mu.deleted[first] = h.Named.Incarnation + 1
	}
}

// NewHandle returns the handle of a new actor, which is in no graph yet.
func (s *Host) NewHandle(c *Shape, id event.ActorID, state uint32) *Handle {
	h := &Handle{ID: id, Shape: c}
	h.Node.ID = id.Serial
	if s.residence != nil {
		h.Host, h.Layout = s, s.residence.Layout(c)
	}
	h.State.Store(state)
	return h
}
