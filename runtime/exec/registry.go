package exec

import (
	"runtime"
	"sort"
	"sync"
	"weak"

	"github.com/aeon-lang/aeon/runtime/event"
)

// registry finds the actors of a system with a store by id: what is read from rows speaks
// of ids. A system without a store has none, as references are pointers there.
//
// Actors that were there when the store was opened stand in blocks, ordered by id, and cost
// nothing else; those that came later in maps.
type registry struct {
	blocks []block // by the id of the first
	shards [registryShards]struct {
		mu struct {
			sync.Mutex
			live map[event.ActorID]*Handle
			// dead are the actors that were deleted, for as long as somebody refers to them:
			// two references to one of them must be equal.
			dead map[event.ActorID]weak.Pointer[Handle]
		}
		_ [40]byte // a shard per cache line
	}
}

const registryShards = 64

// block is a run of recovered actors, in the order of their ids.
type block []Handle

func (r *registry) shard(id event.ActorID) *struct {
	sync.Mutex
	live map[event.ActorID]*Handle
	dead map[event.ActorID]weak.Pointer[Handle]
} {
	return &r.shards[(id.Serial*0x9e3779b97f4a7c15)>>32%registryShards].mu
}

// add enters an actor that is about to be stored for the first time.
func (r *registry) add(h *Handle) {
	sh := r.shard(h.id)
	sh.Lock()
	defer sh.Unlock()
	if sh.live == nil {
		sh.live = make(map[event.ActorID]*Handle)
	}
	sh.live[h.id] = h
}

// bury notes that h was deleted.
func (r *registry) bury(h *Handle) {
	sh := r.shard(h.id)
	sh.Lock()
	defer sh.Unlock()
	if _, was := sh.live[h.id]; was { // else it stays in its block
		delete(sh.live, h.id)
		r.remember(h)
	}
}

// remember lists a dead actor. Caller holds the shard.
func (r *registry) remember(h *Handle) {
	sh := r.shard(h.id)
	if sh.dead == nil {
		sh.dead = make(map[event.ActorID]weak.Pointer[Handle])
	}
	sh.dead[h.id] = weak.Make(h)
	runtime.AddCleanup(h, r.forget, h.id)
}

// forget drops a dead actor that nobody refers to any more.
func (r *registry) forget(id event.ActorID) {
	sh := r.shard(id)
	sh.Lock()
	defer sh.Unlock()
	if sh.dead[id].Value() == nil {
		delete(sh.dead, id)
	}
}

// recovered returns the actor of that id if it was there when the store was opened.
func (r *registry) recovered(id event.ActorID) *Handle {
	i := sort.Search(len(r.blocks), func(i int) bool { return id.Less(r.blocks[i][0].id) }) - 1
	if i < 0 {
		return nil
	}
	b := r.blocks[i]
	j := sort.Search(len(b), func(j int) bool { return !b[j].id.Less(id) })
	if j < len(b) && b[j].id == id {
		return &b[j]
	}
	return nil
}

// find returns the actor of that id, nil if there is none that lives.
func (r *registry) find(id event.ActorID) *Handle {
	if h := r.recovered(id); h != nil {
		return h
	}
	sh := r.shard(id)
	sh.Lock()
	defer sh.Unlock()
	return sh.live[id]
}

// resolve is find, but an actor that is not there is one that was deleted.
func (r *registry) resolve(id event.ActorID) *Handle {
	if h := r.recovered(id); h != nil {
		return h
	}
	sh := r.shard(id)
	sh.Lock()
	defer sh.Unlock()
	if h := sh.live[id]; h != nil {
		return h
	}
	if h := sh.dead[id].Value(); h != nil {
		return h
	}
	h := &Handle{id: id}
	h.node.ID = id.Serial
	h.state.Store(created | deleted)
	r.remember(h)
	return h
}

// Resolve returns the reference to the actor of that id: what decodes stored values asks
// for it. An actor that is not there was deleted.
func (s *System) Resolve(id event.ActorID) Ref {
	if id.IsNull() {
		return Ref{}
	}
	return Ref{h: s.durable.actors.resolve(id)}
}
