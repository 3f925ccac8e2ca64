// Package aeontest runs programs in tests of Go services. Time is simulated, and a seed draws the order in which the goroutines of
// the program run, so a seed repeats a run. A program can be killed, and opened again with what was durable.
//
//	func TestHold(t *testing.T) {
//		aeontest.Run(t, 20, func(t *testing.T, p *aeontest.Program) {
//			db, err := hall.Open(t.Context(), p.Option())
//			…
//			err = db.Hall("main").Hold(t.Context(), "A1", "ann")
//			p.Kill()
//			db, err = hall.Open(t.Context(), p.Option()) // it is held
//			p.Advance(10 * time.Minute)                  // and not any more
//		})
//	}
//
// Nothing of the program moves between calls: what an event has issued runs, and callbacks are called, in Settle and Advance. So
// call Settle before you look at what follows from a call, and wait for it by no other means. Any goroutine may call the
// program; calls run one at a time, and a context that ends later does not end one. Go functions that have an effect are not called: each
// try ends well or fails, as the seed draws.
package aeontest

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/runtime/door/godoor"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// start is the simulated time at which a program begins, as in `aeonc test`.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Program is where one program at a time is open, and what is durable of it.
type Program struct {
	t   testing.TB
	sim *godoor.Simulation
}

// Run runs a test with so many schedules, each a subtest named by its seed, so that `go test -run 'TestHold/seed=7$'` repeats one.
func Run(t *testing.T, schedules int, test func(t *testing.T, p *Program)) {
	t.Helper()
	for seed := 1; seed <= schedules; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { test(t, New(t, uint64(seed))) })
	}
}

// New returns where a program can be opened, with nothing stored, for one test with one seed. When the test ends the program is
// closed; the test fails if an event has failed that was not awaited, or a callback has panicked.
func New(t testing.TB, seed uint64) *Program {
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	p := &Program{t, godoor.NewSimulation(seed, start, newEngine(memengine.New()), log)}
	t.Cleanup(func() {
		failures, err := p.sim.Close()
		if err != nil {
			t.Errorf("the program was closed: %v", err)
		}
		for _, f := range failures {
			t.Error(f)
		}
	})
	return p
}

// Option opens the program in the test, with what is durable of it, instead of aeon.Dir or aeon.InMemory. What the program logs
// goes to the log of the test, unless an aeon.Logger comes behind.
func (p *Program) Option() aeon.Option { return godoor.Simulated(p.sim) }

// Settle runs events and callbacks until none is left but those of timers. In a callback it leaves out that one's client.
func (p *Program) Settle() { p.sim.Settle() }

// Advance lets time pass: it settles, then fires the timers that are due one by one, and settles after each.
func (p *Program) Advance(d time.Duration) { p.sim.Advance(d) }

// Now returns the simulated time.
func (p *Program) Now() time.Time { return p.sim.Now() }

// Kill ends the open program as a crash of its process would. What was answered, printed or called back is durable; of what else has
// happened, the seed draws how much, and sub-events and timers that it undoes happen again. Handles of the killed program fail with aeon.ErrClosed, and its clients have ended.
func (p *Program) Kill() {
	p.t.Helper()
	if err := p.sim.Kill(); err != nil {
		p.t.Fatal(err)
	}
}

// Failures returns the failures so far that no caller has learned of, of events that were not awaited and of callbacks. They do not fail
// the test then.
func (p *Program) Failures() []string { return p.sim.Failures() }

// engine makes nothing durable but what may be known outside of the program, and what is synced: a crash can lose the rest. A
// simulated program syncs only what a line or a callback waits for.
type engine struct {
	*memengine.Engine
	known atomic.Int64 // how many of the batches applied no crash can lose
}

func newEngine(e *memengine.Engine) *engine { return &engine{Engine: e} }

// Sync implements store.Engine.
func (e *engine) Sync() error {
	e.Told(e.Applied())
	return nil
}

// Told implements godoor.SimEngine.
func (e *engine) Told(batches int) { e.known.Store(max(e.known.Load(), int64(batches))) }

// Crash implements godoor.SimEngine.
func (e *engine) Crash(kept func(since int) int) godoor.SimEngine {
	return newEngine(e.Engine.Crash(func(applied int) int {
		known := int(e.known.Load())
		return known + kept(applied-known)
	}))
}

// Reopen implements godoor.SimEngine.
func (e *engine) Reopen() godoor.SimEngine { return newEngine(e.Engine.Reopen()) }
