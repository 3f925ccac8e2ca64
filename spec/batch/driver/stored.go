package driver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// stored is a run on a store. The states of actors are dropped while it runs, as often as can be, and read again: by a
// goroutine beside it, and often when the program prints, as it does between two events. At
// its end the store is opened once more: it has to have all states as they were, and nothing but timers may wait to be
// run.
type stored struct {
	opener store.Opener
	store  *store.Store
	cfg    aeonrt.Config
	clock  *aeonrt.SimClock
	stop   chan struct{}
	ended  chan struct{}
	failed chan error // of the store
	system atomic.Pointer[aeonrt.System]
}

// dropping drops all states behind half of what it writes.
type dropping struct {
	io.Writer
	d    *stored
	seed uint64
	n    atomic.Uint64
}

// Write implements io.Writer.
func (w *dropping) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if s := w.d.system.Load(); s != nil && rand.NewPCG(w.seed, w.n.Add(1)).Uint64()%2 == 0 {
		s.Unload(1)
	}
	return n, err
}

// Memory returns what opens the store of a run, and opens it again when it was closed. Main packages of tests set another one.
var Memory = func() store.Opener {
	e := memengine.New()
	return func(string, store.EngineOptions) (store.Engine, error) {
		e = e.Reopen()
		return e, nil
	}
}

// openSeveral opens systems on new stores.
func (r *run) openSeveral(cfg aeonrt.Config, p *aeonrt.Package) (err error) {
	r.several, err = nodes.Program(cfg, p, r.job.Stores, func() (store.Engine, error) { return Memory()("", store.EngineOptions{}) })
	return err
}

// openStored opens a system on a new store.
func openStored(cfg aeonrt.Config, p *aeonrt.Package) (*stored, *aeonrt.System, error) {
	d := &stored{opener: Memory(), cfg: cfg, failed: make(chan error, 1), stop: make(chan struct{}), ended: make(chan struct{})}
	d.clock, _ = cfg.Clock.(*aeonrt.SimClock)
	d.cfg.Classes = aeonrt.AllClasses(p)
	d.cfg.Stdout = &dropping{Writer: cfg.Stdout, d: d, seed: cfg.Seed}
	s, err := d.open()
	d.system.Store(s)
	if err == nil && !cfg.Scheduled {
		go d.drop(s)
	} else {
		close(d.ended) // a scheduled system is used by one goroutine from outside
	}
	return d, s, err
}

func (d *stored) open() (*aeonrt.System, error) {
	e, err := d.opener("", store.EngineOptions{})
	if err != nil {
		return nil, err
	}
	st, err := store.Open(e, store.Options{Program: "stored", Partitions: 4, Log: slog.New(slog.DiscardHandler),
		Fatal: func(err error) { d.failed <- err }})
	if err != nil {
		return nil, err
	}
	d.store, d.cfg.Store = st, st
	return aeonrt.Recover(d.cfg)
}

// dropInterval is how often states are dropped: rarely enough that events get on.
const dropInterval = 50 * time.Microsecond

// drop drops states until it is stopped.
func (d *stored) drop(s *aeonrt.System) {
	defer close(d.ended)
	t := time.NewTicker(dropInterval)
	defer t.Stop()
	for {
		select {
		case <-d.stop:
			return
		case <-t.C:
			s.Unload(1)
			runtime.Gosched()
		}
	}
}

// end notes the states of a system that is about to be closed; what it returns compares them after that.
func (d *stored) end(s *aeonrt.System, o *Outcome) func() {
	before, err := d.settled(s)
	return func() {
		if err == nil {
			err = d.verify(before)
		}
		if err != nil {
			o.Stored = err.Error()
		}
	}
}

// settled waits until nothing runs any more, and returns what there is then.
func (d *stored) settled(s *aeonrt.System) ([]state.ActorState, error) {
	s.Client().Settle()
	d.system.Store(nil)
	close(d.stop)
	<-d.ended
	return s.States()
}

// verify opens the store again, after it was closed with the system, and compares.
func (d *stored) verify(before []state.ActorState) error {
	if err := d.store.Close(); err != nil {
		return err
	}
	if d.clock != nil {
		d.cfg.Clock = aeonrt.NewSimClock(d.clock.Now())
	}
	d.cfg.Stdout = &buffer{}
	s, err := d.open()
	if err != nil {
		return err
	}
	after, err := s.States()
	if r := s.Restored(); err == nil && r.SubEvents+r.Continuations > 0 {
		err = fmt.Errorf("%d sub-events and %d tail calls have ended, and run again", r.SubEvents, r.Continuations)
	}
	if err == nil {
		err = s.Graph().Validate()
	}
	s.Close()
	if err = errors.Join(err, d.store.Close(), different(before, after)); err != nil {
		return err
	}
	select {
	case err := <-d.failed:
		return err
	default:
		return nil
	}
}

// different says where two lists differ first.
func different(before, after []state.ActorState) error {
	for i := range min(len(before), len(after)) {
		b, a := before[i], after[i]
		switch {
		case b.ID != a.ID:
			return fmt.Errorf("actor %v (%s) was followed by %v (%s), and is by %v (%s) now", before[max(i-1, 0)].ID, before[max(i-1, 0)].Class, b.ID, b.Class, a.ID, a.Class)
		case b.Class != a.Class || !bytes.Equal(b.State, a.State):
			return fmt.Errorf("actor %v was a %s in state %x, and is a %s in state %x", b.ID, b.Class, b.State, a.Class, a.State)
		}
	}
	if len(before) != len(after) {
		return fmt.Errorf("there were %d actors, and are %d", len(before), len(after))
	}
	return nil
}
