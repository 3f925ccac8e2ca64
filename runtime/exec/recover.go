package exec

import (
	"errors"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/history"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state"
)

// Recover opens a system on cfg.Store with everything that is in it: actors, ownership, the
// sequencing tree, sessions, sub-events that have not ended, timers. The states of actors are
// read when they are used. Events run from then on. An error means that nothing has run and
// nothing was changed. It is an error of the store, a *store.CorruptError, or it says what the program cannot
// read of the store: then it wraps ErrClass for a class, a *store.SchemaError for each field and a
// *store.CallError for each method.
//
// The caller closes the system, then the store.
func Recover(cfg Config) (*System, error) {
	s := newSystem(cfg)
	d, err := newDurable(s, &s.cfg)
	if err == nil {
		s.durable = d
		if s.tracer != nil {
			s.tracer.Resume(&d.State)
		}
		r := recovery{d: d, s: s}
		err = r.run()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	if s.scheduler == nil {
		d.Memory.Start()
	}
	return s, nil
}

// recovery is one reading of a store.
type recovery struct {
	d      *durable
	s      *System
	lanes  []*lane
	timers map[uint64]*timer // by generation: those that are set
	steps  []tailStep        // of chains that keep their actors
	chains []*chain          // theirs
	live   int               // how much of that the system counts as issued
}

func (r *recovery) run() error {
	for _, step := range []func() error{r.classes, r.count, r.d.Recover, r.sessions, r.setTimers, r.continuations, r.outbox, r.unread} {
		if err := step(); err != nil {
			r.s.live.Add(-r.live) // what was read will not run, and closing the system waits for all that is counted
			return err
		}
	}
	r.d.Layouts.Tell(r.s.log)
	r.d.Store.WriteSchema(r.d.Layouts.Schema)
	if r.s.tracer == nil {
		history.Untraced(r.d.Store)
	}
	r.d.Ready()
	for i, ch := range r.chains {
		r.s.workers.Run(func() { ch.proceed(r.steps[i]) })
	}
	for _, l := range r.lanes {
		r.s.workers.Run(func() { r.s.drain(l) })
	}
	r.s.timers.Wake()
	r.s.host.Tighten()
	return nil
}

// unread refuses a store in which calls wait that the program cannot read.
func (r *recovery) unread() error { return r.d.signatures.Unread(r.d.Layouts.Schema) }

// classes refuses a store with actors of a class that the program has lost.
func (r *recovery) classes() error { return r.d.Layouts.Lost(r.d.Store) }

// count counts the actors, up to a number that takes no time.
func (r *recovery) count() error {
	n := &r.d.found.Actors
	err := r.d.Headers(func(_ event.ActorID, h *row.Header) error {
		if !h.Unborn {
			*n++
		}
		if *n > RestoredMax {
			return state.ErrEnough
		}
		return nil
	})
	if errors.Is(err, state.ErrEnough) {
		return nil
	}
	return err
}

// Restored counts what Recover has found in a store.
type Restored struct {
	Actors        int // RestoredMax + 1 if there are more than RestoredMax
	SubEvents     int
	Continuations int // tail calls
	Timers        int
}

// RestoredMax is up to how many actors are counted: opening a store does not read all of them.
const RestoredMax = 1000

// Restored returns what Recover has found in the store of the system, nothing if it has none.
func (s *System) Restored() Restored {
	if s.durable == nil {
		return Restored{}
	}
	return s.durable.found
}
