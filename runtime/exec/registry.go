package exec

import (
	"runtime"
	"sync"
	"weak"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// registry finds the actors of a system with a store by id: what is read from rows speaks
// of ids. A system without a store has none, as references are pointers there.
type registry struct {
	shards shard.Set[registryShard]
}

type registryShard struct{ mu registered }

type registered struct {
	sync.Mutex
	live map[event.ActorID]*Handle // those that are attached
	// loose are the others, detached or deleted, for as long as they are referred to:
	// two references to one of them must be equal.
	loose   map[event.ActorID]weak.Pointer[Handle]
	lastPos store.Position // the largest of an actor that was detached or deleted
}

func (r *registry) shard(id event.ActorID) *registered { return &r.shards.Of(id.Serial).mu }

// keep enters an actor that is attached, or about to be stored for the first time.
func (r *registry) keep(h *Handle) {
	sh := r.shard(h.id)
	sh.Lock()
	defer sh.Unlock()
	if sh.live == nil {
		sh.live = make(map[event.ActorID]*Handle)
	}
	sh.live[h.id] = h
	delete(sh.loose, h.id)
}

// loosen notes that h was detached.
func (r *registry) loosen(h *Handle) {
	sh := r.shard(h.id)
	sh.Lock()
	defer sh.Unlock()
	delete(sh.live, h.id)
	sh.lastPos = max(sh.lastPos, h.lastPos)
	r.remember(h)
}

// bury notes that h was deleted.
func (r *registry) bury(h *Handle) {
	sh := r.shard(h.id)
	sh.Lock()
	defer sh.Unlock()
	delete(sh.live, h.id)
	sh.lastPos = max(sh.lastPos, h.lastPos)
	r.remember(h)
}

// remember lists h among the loose ones. Caller holds the shard.
func (r *registry) remember(h *Handle) {
	sh := r.shard(h.id)
	if sh.loose == nil {
		sh.loose = make(map[event.ActorID]weak.Pointer[Handle])
	}
	sh.loose[h.id] = weak.Make(h)
	if !h.has(markListed) {
		h.mark(markListed, true)
		runtime.AddCleanup(h, forgetLoose, looseActor{weak.Make(r), h.id})
	}
}

// looseActor is what is left of one. A cleanup must not keep the registry alive: that leads to whoever refers to the
// actor, which then would live for ever, and everything of a closed system with it.
type looseActor struct {
	registry weak.Pointer[registry]
	id       event.ActorID
}

func forgetLoose(l looseActor) {
	if r := l.registry.Value(); r != nil {
		r.forget(l.id)
	}
}

// forget drops an actor that nobody refers to any more.
func (r *registry) forget(id event.ActorID) {
	sh := r.shard(id)
	sh.Lock()
	defer sh.Unlock()
	if sh.loose[id].Value() == nil {
		delete(sh.loose, id)
	}
}

// resolve returns the handle of an actor, detached if it was not used yet.
func (r *registry) resolve(id event.ActorID, s *System) *Handle {
	sh := r.shard(id)
	sh.Lock()
	defer sh.Unlock()
	if h := sh.live[id]; h != nil {
		return h
	}
	if h := sh.loose[id].Value(); h != nil {
		return h
	}
	h := &Handle{id: id, host: &s.host, lastPos: sh.lastPos} // it may have been there before, and collected
	h.node.ID = id.Serial
	h.state.Store(detached)
	r.remember(h)
	return h
}

// resolve is registry.resolve.
func (d *durable) resolve(id event.ActorID) *Handle { return d.actors.resolve(id, d.sys) }

// Resolve returns the reference to the actor of that id: what decodes stored values asks
// for it. The actor may have been deleted.
func (s *System) Resolve(id event.ActorID) Ref {
	if id.IsNull() {
		return Ref{}
	}
	return refOf(s.durable.actors.resolve(id, s))
}
