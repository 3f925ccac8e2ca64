package state

import (
	"runtime"
	"sync"
	"weak"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// registry finds the actors of a system with a store by id, as rows refer to actors by ids. A
// system without a store has no registry: its references are pointers.
type registry struct {
	shards    shard.Set[registryShard]
	elsewhere func(event.ActorID) bool // nil: no actor is in another store
	scheduler *sched.Scheduler         // nil unless the system is scheduled
}

type registryShard struct{ mu registered }

type registered struct {
	sync.Mutex
	live map[event.ActorID]*order.Handle // the attached actors
	// loose are the detached and deleted actors, for as long as they are referred to: two
	// references to one of them must be equal.
	loose map[event.ActorID]weak.Pointer[order.Handle]
	// held are the loose actors of a scheduled system, which stay: a run must not depend on when the garbage collector takes
	// one of them.
	held    map[event.ActorID]*order.Handle
	lastPos store.Position // the largest LastPos of an actor that was detached or deleted
}

func (r *registry) shard(id event.ActorID) *registered { return &r.shards.Of(id.Serial).mu }

// keep enters an actor that is attached, or about to be stored for the first time.
func (r *registry) keep(h *order.Handle) {
	sh := r.shard(h.ID)
	sh.Lock()
	defer sh.Unlock()
	if sh.live == nil {
		sh.live = make(map[event.ActorID]*order.Handle)
	}
	sh.live[h.ID] = h
	delete(sh.loose, h.ID)
	delete(sh.held, h.ID)
}

// loosen notes that h was detached or deleted.
func (r *registry) loosen(h *order.Handle) {
	sh := r.shard(h.ID)
	sh.Lock()
	defer sh.Unlock()
	delete(sh.live, h.ID)
	sh.lastPos = max(sh.lastPos, h.LastPos)
	r.remember(h)
}

// remember lists h among the loose ones. Caller holds the shard.
func (r *registry) remember(h *order.Handle) {
	sh := r.shard(h.ID)
	if sh.loose == nil {
		sh.loose = make(map[event.ActorID]weak.Pointer[order.Handle])
	}
	sh.loose[h.ID] = weak.Make(h)
	if r.scheduler != nil {
		sh.hold(h)
	}
	if !h.Has(order.MarkListed) {
		h.Mark(order.MarkListed, true)
		runtime.AddCleanup(h, forgetLoose, looseActor{weak.Make(r), h.ID})
	}
}

// hold keeps h, which is loose, from the garbage collector. Caller holds the shard.
func (sh *registered) hold(h *order.Handle) {
	if sh.held == nil {
		sh.held = make(map[event.ActorID]*order.Handle)
	}
	sh.held[h.ID] = h
}

// letGo has the garbage collector take loose actors of a scheduled system, until what it returns is called.
func (r *registry) letGo() (hold func()) {
	r.each(func(sh *registered) { sh.held = nil })
	return func() {
		r.each(func(sh *registered) {
			for id, w := range sh.loose {
				if h := w.Value(); h != nil {
					sh.hold(h)
				} else {
					delete(sh.loose, id)
				}
			}
		})
	}
}

func (r *registry) each(visit func(*registered)) {
	for shard := range r.shards.All {
		sh := &shard.mu
		sh.Lock()
		visit(sh)
		sh.Unlock()
	}
}

// looseActor is what the cleanup of a loose handle gets. It must not keep the registry alive: the registry leads to all
// that refers to the actor, which then would never be collected, nor anything of a closed system.
type looseActor struct {
	registry weak.Pointer[registry]
	id       event.ActorID
}

func forgetLoose(l looseActor) {
	if r := l.registry.Value(); r != nil {
		r.forget(l.id)
	}
}

// forget drops an actor that has no references any more.
func (r *registry) forget(id event.ActorID) {
	sh := r.shard(id)
	sh.Lock()
	defer sh.Unlock()
	if sh.loose[id].Value() == nil {
		delete(sh.loose, id)
	}
}

// resolve returns the handle of an actor, detached if it was not used yet.
func (r *registry) resolve(id event.ActorID, host *order.Host) *order.Handle {
	sh := r.shard(id)
	sh.Lock()
	defer sh.Unlock()
	if h := sh.live[id]; h != nil {
		return h
	}
	if h := sh.loose[id].Value(); h != nil {
		return h
	}
	h := &order.Handle{ID: id, Host: host, LastPos: sh.lastPos} // an earlier handle of it may have been collected
	h.Node.ID = id.Serial
	h.State.Store(order.Detached)
	if r.elsewhere != nil && r.elsewhere(id) {
		h.State.Store(order.Elsewhere)
	}
	r.remember(h)
	return h
}

// Announce has references find an actor that an event has created, and that other stores may refer to before the event has committed.
func (s *State) Announce(h *order.Handle) {
	sh := s.actors.shard(h.ID)
	sh.Lock()
	defer sh.Unlock()
	s.actors.remember(h)
}

// Remake returns the handle of an actor that is fresh, with a layout, as an event of an earlier start has created it. Nothing of it is stored.
func (s *State) Remake(id event.ActorID, layout uint32) (*order.Handle, error) {
	_, shape, err := s.Layouts.ByNumber(layout)
	if err != nil {
		return nil, err
	}
	h := s.Handle(id)
	h.Shape, h.Layout = shape, layout
	h.State.Store(order.Fresh)
	return h, nil
}

// Handle returns the handle of an actor, detached if it was not used yet. There is one handle for each actor as long as
// anything refers to it.
func (s *State) Handle(id event.ActorID) *order.Handle { return s.actors.resolve(id, s.host) }

// Resolve returns the reference to the actor of an id, which may have been deleted: null if the id is.
func (s *State) Resolve(id event.ActorID) order.Ref {
	if id.IsNull() {
		return order.Ref{}
	}
	return order.RefOf(s.Handle(id))
}

// IsLoaded reports whether the state of an actor is in memory.
func (s *State) IsLoaded(id event.ActorID) bool {
	sh := s.actors.shard(id)
	sh.Lock()
	h := sh.live[id]
	sh.Unlock()
	return h != nil && h.Is(order.Created) && !h.Is(order.Unloaded)
}

// Collected drops the handle of an actor that is not attached, as the garbage collector does at some time: the next
// reference gets another one. It reports whether there was one. It is for tests.
func (s *State) Collected(id event.ActorID) bool {
	sh := s.actors.shard(id)
	sh.Lock()
	defer sh.Unlock()
	_, was := sh.loose[id]
	delete(sh.loose, id)
	delete(sh.held, id)
	return was
}

// Actors returns how many actors are attached, and how many others are referred to.
func (s *State) Actors() (attached, loose int) {
	s.actors.each(func(sh *registered) { attached, loose = attached+len(sh.live), loose+len(sh.loose) })
	return attached, loose
}
