package exec

import (
	"context"
	"fmt"
	"github.com/aeon-lang/aeon/runtime/order"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// durable is what a system with a store has besides; a system without one has none.
type durable struct {
	sys         *System
	store       *store.Store
	journal     journal
	answersWait bool // answers to clients of this process are gated, too
	actors      registry
	layouts     layouts
	signatures  signatures
	loads       loads
	visits      visits
	attaching   attaching
	ready       atomic.Bool // the store has been read
	seq         atomic.Uint64

	// owning is held while an event changes ownership, or the maintainer T, until that has its
	// place in the journal: the rows of edges and headers tell of several actors. It is taken
	// before stripes.
	owning sync.Mutex

	resident resident
	evictor  sync.Mutex // held while actors are detached
	leaving  struct {   // guarded by evictor
		list   []*order.Handle
		period uint64 // the grace period that began when they were marked
		shard  int    // where the next ones are looked for
	}
	memory    memory
	sessions  sessions
	snapshots snapshots
	found     Restored
	recovered int64  // order of the last traced event that is in the store
	epoch     uint64 // number of the run with which the trace began
}

// journal orders batches and makes them durable. It is the store, except in tests.
type journal interface {
	Append(store.Batch) store.Position
	Durable(store.Position) bool
	Wait(context.Context, store.Position) error
}

// visits counts the callers that use the store and need not be in an event: a client that looks for an
// actor, or begins a session. Close waits for them, and lets none in afterwards.
type visits struct{ inside atomic.Int64 } // negative: closed

// visit reports whether the store may be used until leave is called. Visits may lie within each other, and within events.
func (d *durable) visit() bool {
	for {
		n := d.visits.inside.Load()
		if n < 0 {
			return false
		}
		if d.visits.inside.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (d *durable) leave() {
	if d.visits.inside.Add(-1) == 0 {
		d.sys.leave()
	}
}

// end reports whether none is inside, and none will be from now on.
func (v *visits) end() bool { return v.inside.CompareAndSwap(0, -1) }

// startShift is where the number of the start stands in what is counted from start to start.
const startShift = 40

// startsMax is how often a store can be opened.
const startsMax = 1<<23 - 1

// nextSeq returns a number that is larger than all before it, of earlier runs, too.
func (d *durable) nextSeq() uint64 { return d.seq.Add(1) }

// first returns what a counter begins with in this run.
func (s *System) first() uint64 {
	if s.durable == nil {
		return 0
	}
	return s.durable.store.Starts() << startShift
}

// layout returns the layout of new actors of a class.
func (d *durable) layout(c *order.Shape) *store.Layout { return d.layouts.of(c) }

// newDurable takes cfg.Store into use.
func newDurable(s *System, cfg *Config) (*durable, error) {
	d := &durable{sys: s, store: cfg.Store, journal: cfg.Store}
	if cfg.journal != nil {
		d.journal = cfg.journal
	}
	if d.store.Starts() > startsMax {
		return nil, fmt.Errorf("the store was opened %d times: it cannot be opened again", d.store.Starts())
	}
	s.host.Reside(d)
	d.answersWait = d.store.Mode().AnswersWait()
	d.seq.Store(d.store.Starts() << startShift)
	if err := d.layouts.open(d.store, cfg.Classes, cfg.DropFields); err != nil {
		return nil, err
	}
	d.signatures.open(d.layouts.schema, cfg.Classes)
	d.sessions.open(d)
	d.memory.init(s, cfg.MemoryMax)
	return d, nil
}

// idOf returns the id of the incarnation-th actor of a name.
func (s *System) idOf(c *order.Shape, name string, incarnation uint32) event.ActorID {
	return event.NamedActor(c.Path(), name, incarnation, len(s.host.Partitions))
}

// lookup reads the row of a name: the incarnation that has it or has had it last.
func (d *durable) lookup(c *order.Shape, name string) (incarnation uint32, used, dead bool, err error) {
	key := appendNameKey(nil, d.sys.idOf(c, name, 0).Birth, c, name)
	row, ok, err := d.store.Get(key, nil)
	if err != nil || !ok {
		return 0, false, false, err
	}
	incarnation, dead, err = readNameRow(key, row)
	return incarnation, err == nil, dead, err
}

// Ownership implements residence.
func (d *durable) Ownership() sync.Locker { return &d.owning }

// Moved implements residence. The mover holds both parents and c, so that what they own of c stays as it is.
func (d *durable) Moved(c, old *order.Handle) {
	at("move", kindMove)
	w := &preparation{d: d}
	w.header(c)
	now := d.sys.host.ParentOf(c)
	for _, p := range [...]*order.Handle{old, now} {
		if p.Is(order.Virtual | order.Deleted) {
			continue
		}
		units := 0
		if p != now {
			units = d.sys.host.Graph.Units(&p.Node, &c.Node)
		}
		w.edgeRow(p, c, units)
	}
	d.journal.Append(w.open()) // a move is not seen by programs: no answer waits for it
	at("moved", kindMove)
}
