package godoor

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// SimEngine keeps the state of a simulated program, over openings and crashes.
type SimEngine interface {
	store.Engine
	// Applied returns how many batches were applied.
	Applied() int
	// Told says that as many of the batches applied may be known outside of the program: no crash may lose them. Nor may it lose
	// what was synced.
	Told(batches int)
	// Crash returns what a crash now may leave: all that it may not lose, and the first of the batches since, as many of them as
	// kept returns.
	Crash(kept func(since int) int) SimEngine
	// Reopen returns what a closed engine has.
	Reopen() SimEngine
}

// Simulation runs a program in a test: its time is simulated, and its goroutines run one at a time, in an order that a seed
// draws. Package aeontest makes it. One program at a time is open in it. Any goroutine may call the program, one at a time;
// nothing moves between calls, and callbacks are called by Settle, Advance and Close alone.
type Simulation struct {
	seed  uint64
	clock *sched.SimClock
	log   *slog.Logger
	turn  sync.Mutex // held by the goroutine that uses the system
	state struct {   // its lock is taken after turn
		sync.Mutex
		engine   SimEngine
		random   *rand.Rand
		openings uint64
		before   int // batches that the engine had applied at position 0 of db
		db       *DB // that is open; nil: none
		failures []string
		heard    int // dead letters of db that are among them, or were
	}
}

// NewSimulation returns a simulation that begins at a time.
func NewSimulation(seed uint64, start time.Time, engine SimEngine, log *slog.Logger) *Simulation {
	s := &Simulation{seed: seed, clock: sched.NewSimClock(start), log: log}
	s.state.engine, s.state.random = engine, rand.New(rand.NewPCG(seed, 0))
	return s
}

// Simulated opens a program in a simulation.
func Simulated(s *Simulation) Option { return func(c *config) { c.sim, c.log = s, s.log } }

// errSimulated refuses a place for the state.
var errSimulated = errors.New("the state of a program in a test is kept by package aeontest: leave out aeon.Dir and aeon.InMemory")

// open opens a program.
func (s *Simulation) open(db *DB, p *aeonrt.Package, c config, cfg aeonrt.Config) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.state.Lock()
	defer s.state.Unlock()
	if s.state.db != nil {
		return errors.New("it is open in this test already; close or kill it first")
	}
	s.state.openings++
	cfg.Clock, cfg.Scheduled, cfg.Seed = s.clock, true, s.seed+s.state.openings<<32
	engine := s.state.engine
	cfg.Log = slog.New(&simHandler{c.log.Handler(), db})
	cfg.Stdout = &simWriter{c.stdout, db}
	var err error
	o := store.Options{Program: p.Name, Log: cfg.Log, Durability: store.Relaxed(inMemory), Fatal: func(err error) { panic(err) }}
	if db.store, err = store.Open(engine, o); err != nil {
		return err
	}
	cfg.Store = db.store
	db.record(p, c, &cfg)
	if db.sys, err = aeonrt.Recover(cfg); err != nil {
		db.spans.Close()
		err = errors.Join(err, db.store.Close())
		s.state.engine = engine.Reopen()
		return err
	}
	appended, _ := db.store.Positions()
	s.state.before = engine.Applied() - int(appended)
	db.sim, db.log, s.state.db = s, cfg.Log, db
	return nil
}

// enter waits until no other goroutine uses a simulated system. leave ends that.
func (db *DB) enter() {
	if db.sim != nil {
		db.sim.turn.Lock()
	}
}

func (db *DB) leave() {
	if db.sim != nil {
		db.sim.turn.Unlock()
	}
}

// told says that an answer has left the program, which has seen the store up to a position; 0: it may have seen all.
func (s *Simulation) told(seen store.Position) {
	s.state.Lock()
	defer s.state.Unlock()
	batches := s.state.before + int(seen)
	if seen == 0 {
		batches = s.state.engine.Applied()
	}
	s.state.engine.Told(batches)
}

// opened returns the program that is open, nil if none is.
func (s *Simulation) opened() *DB {
	s.state.Lock()
	defer s.state.Unlock()
	return s.state.db
}

// Now returns the simulated time.
func (s *Simulation) Now() time.Time { return s.clock.Now() }

// Settle runs what the program has to run, and calls callbacks, until nothing is left but timers.
func (s *Simulation) Settle() {
	db := s.opened()
	if db == nil {
		return
	}
	for settled := false; !settled; settled = !s.callback(db) {
		db.enter()
		db.maker.Settle()
		db.leave()
	}
}

// Advance lets time pass: it settles, and fires the timers that become due one by one, and settles after each.
func (s *Simulation) Advance(d time.Duration) {
	end := sched.After(s.clock.Now(), d)
	for fired := true; fired; {
		s.Settle()
		db := s.opened()
		if db == nil { // a callback has closed it
			break
		}
		db.enter()
		fired = db.sys.FireNextUntil(end)
		db.leave()
	}
	s.clock.Set(end)
}

// callback calls one of the callbacks that are next for their clients, and reports whether there was one.
func (s *Simulation) callback(db *DB) bool {
	ready := slices.DeleteFunc(db.clients.list(), func(c *Client) bool { return !c.ready() })
	if len(ready) == 0 {
		return false
	}
	ready[s.draw(len(ready))].callOne()
	return true
}

func (s *Simulation) draw(n int) int {
	s.state.Lock()
	defer s.state.Unlock()
	return s.state.random.IntN(n)
}

// Kill ends the program as if its process were killed. What is opened next has what may be durable then: all that was known
// outside of the program, and of what was not as much as the seed draws. Calls of the killed program fail, and its clients
// have ended.
func (s *Simulation) Kill() error {
	db := s.opened()
	if db == nil {
		return errors.New("no program is open that could be killed")
	}
	db.close.Do(func() {
		db.sim.turn.Lock()
		defer db.sim.turn.Unlock()
		s.state.Lock()
		left := s.state.engine.Crash(func(since int) int { return s.state.random.IntN(since + 1) })
		s.state.Unlock()
		db.killed.Store(true) // nothing is heard of it any more
		db.clients.endAll()
		s.note(db)
		db.sys.Close()
		db.spans.Close()
		db.close.err = db.store.Close()
		s.ended(left)
	})
	return db.close.err
}

// closed notes that the program was closed.
func (s *Simulation) closed(db *DB) {
	s.note(db)
	s.state.Lock()
	engine := s.state.engine
	s.state.Unlock()
	s.ended(engine.Reopen())
}

func (s *Simulation) ended(left SimEngine) {
	s.state.Lock()
	defer s.state.Unlock()
	s.state.db, s.state.engine, s.state.heard = nil, left, 0
}

// note keeps the failures of events that no caller has learned of.
func (s *Simulation) note(db *DB) {
	s.state.Lock()
	defer s.state.Unlock()
	list := slices.DeleteFunc(db.sys.DeadLetters(), func(d exec.DeadLetter) bool { return d.Call })
	for _, d := range list[min(s.state.heard, len(list)):] {
		s.state.failures = append(s.state.failures, "no caller has awaited "+d.Method+", which has failed: "+d.Err.Error())
	}
	s.state.heard = len(list)
}

// Failures takes the failures so far that no caller has learned of: of events that were not awaited, and of callbacks.
func (s *Simulation) Failures() []string {
	if db := s.opened(); db != nil {
		s.note(db)
	}
	s.state.Lock()
	defer s.state.Unlock()
	list := s.state.failures
	s.state.failures = nil
	return list
}

func (s *Simulation) fail(text string) {
	s.state.Lock()
	defer s.state.Unlock()
	s.state.failures = append(s.state.failures, text)
}

// Close closes the program if it is open, and returns what Failures returns.
func (s *Simulation) Close() (failures []string, err error) {
	if db := s.opened(); db != nil {
		err = db.Close()
	}
	return s.Failures(), err
}

// simWriter and simHandler drop what a killed program says.
type simWriter struct {
	to io.Writer
	db *DB
}

// Write implements io.Writer.
func (w *simWriter) Write(p []byte) (int, error) {
	if w.db.killed.Load() {
		return len(p), nil
	}
	return w.to.Write(p)
}

type simHandler struct {
	slog.Handler
	db *DB
}

// Handle implements slog.Handler.
func (h *simHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.db.killed.Load() {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *simHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &simHandler{h.Handler.WithAttrs(attrs), h.db}
}

// WithGroup implements slog.Handler.
func (h *simHandler) WithGroup(name string) slog.Handler {
	return &simHandler{h.Handler.WithGroup(name), h.db}
}

// ready reports whether a callback waits, and none is under way.
func (c *Client) ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.mu.running && len(c.mu.kept) > 0
}

// callOne calls one callback of a client that is ready.
func (c *Client) callOne() {
	c.mu.Lock()
	c.mu.running = true
	c.mu.Unlock()
	defer func() { // also on runtime.Goexit
		c.mu.Lock()
		defer c.mu.Unlock()
		c.idle()
	}()
	if cb, ok := c.take(); ok {
		c.call(cb)
	}
}
