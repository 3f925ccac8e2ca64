package state

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Config says what a State is for. All fields are needed but MemoryMax, DropFields, Elsewhere and Scheduler.
type Config struct {
	Host    *order.Host
	Store   *store.Store
	Journal Journal // Store, but in tests
	Log     *slog.Logger
	// Classes are those of the program; Schema describes them to a schema, in the same order.
	Classes []*order.Shape
	Schema  []store.Class
	// DropFields are the fields that the program does not have and whose stored values may be lost.
	DropFields []store.Part
	MemoryMax  int64 // bytes; 0: there is no limit
	// References returns the Context of the Decoder of stored values, which finds actors with resolve.
	References func(resolve func(event.ActorID) order.Ref) any
	// Elsewhere tells the actors of other stores; nil: there are none.
	Elsewhere func(event.ActorID) bool
	Scheduler *sched.Scheduler // nil unless the system is scheduled
	// Left is called when the last visit has ended.
	Left func()
}

// Journal orders batches and makes them durable.
type Journal interface {
	Append(store.Batch) store.Position
	Durable(store.Position) bool
	Wait(context.Context, store.Position) error
}

// State is the actors of a system in a store. It is an order.Residence.
type State struct {
	cfg     Config
	host    *order.Host
	Store   *store.Store
	Journal Journal
	Layouts Layouts
	Memory  Memory

	actors    registry
	loads     loads
	visits    visits
	attaching attaching
	ready     atomic.Bool // the store has been read

	// owning is held while an event changes ownership, or the maintainer changes T, until the
	// change has its place in the journal: a row of an edge or a header is about several actors.
	owning sync.Mutex

	resident resident
	evictor  sync.Mutex // held while actors are detached
	leaving  struct {   // guarded by evictor
		list   []*order.Handle
		period uint64 // the grace period that began when they were marked
		shard  int    // of the registry, in which the next ones are looked for
	}
}

// Open takes a store into use, and reads its schema. Nothing is written.
func (s *State) Open(cfg Config) error {
	s.cfg, s.host, s.Store, s.Journal = cfg, cfg.Host, cfg.Store, cfg.Journal
	s.actors.elsewhere, s.actors.scheduler = cfg.Elsewhere, cfg.Scheduler
	cfg.Scheduler.AtCollect(s.actors.letGo)
	s.Memory.init(s, cfg.MemoryMax)
	return s.Layouts.Open(s.Store, cfg.Classes, cfg.Schema, cfg.DropFields)
}

// Ready notes that the store has been read: from then on attached actors may be moved in T.
func (s *State) Ready() { s.ready.Store(true) }

// visits counts the callers that use the store and need not be in an event: a client that looks for an
// actor, or begins a session. Close waits for them, and refuses later ones.
type visits struct{ inside atomic.Int64 } // negative: closed

// Visit reports whether the store may be used until Leave is called. Visits may be nested, also in events.
func (s *State) Visit() bool {
	for {
		n := s.visits.inside.Load()
		if n < 0 {
			return false
		}
		if s.visits.inside.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Leave ends a visit.
func (s *State) Leave() {
	if s.visits.inside.Add(-1) == 0 {
		s.cfg.Left()
	}
}

// EndVisits reports whether there is no visit; if so, none can begin any more.
func (s *State) EndVisits() bool { return s.visits.inside.CompareAndSwap(0, -1) }

// Wait waits until everything up to p, which the caller has seen, is durable, and the store was this process's at some time since the call.
// The first does not tell the second: a leader that was paused may find that its followers had taken the batch at p before the pause,
// and not know yet that another node leads since.
func (s *State) Wait(p store.Position) error {
	if err := s.Store.Confirm(); err != nil {
		return err
	}
	return s.WaitOwn(p)
}

// WaitAll is Wait for everything that was appended by now.
func (s *State) WaitAll() error {
	appended, _ := s.Store.Positions()
	return s.Wait(appended)
}

// WaitOwn waits until the batch at p, which the caller has appended, is durable: the store was this process's when it became so. Only a
// failure of the store stops it: a caller cannot cancel a commit that has begun.
func (s *State) WaitOwn(p store.Position) error {
	return s.Journal.Wait(context.Background(), p)
}

// Ownership implements order.Residence.
func (s *State) Ownership() sync.Locker { return &s.owning }

// Moved implements order.Residence. The mover holds both parents and c, so that their ownership of c stays as it is.
func (s *State) Moved(c, old *order.Handle) {
	w := NewWriter(s)
	w.Header(c)
	now := s.host.ParentOf(c)
	for _, p := range [...]*order.Handle{old, now} {
		if p.Is(order.Virtual | order.Deleted) {
			continue
		}
		units := 0
		if p != now {
			units = s.host.Graph.Units(&p.Node, &c.Node)
		}
		w.edgeRow(p, c, units)
	}
	s.Journal.Append(w.Take()) // programs do not see a move: no answer waits for it
}
