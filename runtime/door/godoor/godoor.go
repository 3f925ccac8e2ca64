// Package godoor runs a program inside a Go process: Go code that aeonc gen has generated opens it here, and calls its
// actors. What users name of it is in the root package of the module; the rest is for generated code.
package godoor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Option says how a program is opened.
type Option func(*config)

type config struct {
	dir      string
	inMemory bool
	log      *slog.Logger
	stdout   io.Writer
	spans    io.Writer   // nil: none are recorded
	drop     []string    // fields whose stored values may be lost
	sim      *Simulation // nil: the program is not in a test
}

// Dir keeps the state in a directory, which is made if it does not exist. One DB at a time may have it.
func Dir(dir string) Option { return func(c *config) { c.dir = dir } }

// InMemory keeps the state in memory: it is gone when the DB is closed.
func InMemory() Option { return func(c *config) { c.inMemory = true } }

// Logger takes what the runtime has to say, such as events that have failed and that no caller awaits; without it that
// goes to slog.Default().
func Logger(log *slog.Logger) Option { return func(c *config) { c.log = log } }

// Stdout takes what the program prints; without it that goes to os.Stdout.
func Stdout(w io.Writer) Option { return func(c *config) { c.stdout = w } }

// Spans takes what events do, as spans of OpenTelemetry: each Write gets a line, a request of OTLP in JSON. One goroutine at a time writes, and
// no call waits for it; what does not fit while it writes is dropped and counted.
func Spans(w io.Writer) Option { return func(c *config) { c.spans = w } }

// DropFields gives up what is stored in these fields, as bank.Account.note, which the program does not have any more: without it such a
// program is not opened.
func DropFields(fields ...string) Option {
	return func(c *config) { c.drop = append(c.drop, fields...) }
}

// inMemory is how often a store in memory is synced, which does nothing: answers do not wait.
const inMemory = time.Minute

// DB is an open program. Any goroutine may use it.
type DB struct {
	sys     *aeonrt.System
	door    *door.Door
	maker   *aeonrt.Client // finds actors, and makes those without names
	store   *store.Store   // nil: the program was generated without one, and is in memory
	log     *slog.Logger
	spans   *span.Tracer // nil: none are recorded
	clients clients
	sim     *Simulation  // nil: it is not in a test
	killed  atomic.Bool  // in its simulation
	reads   sync.RWMutex // held for reading by calls whose results are read from the store, for writing while that is closed
	close   struct {
		sync.Once
		err error
	}
}

// Open opens a program with everything that is stored of it. disk opens its store; nil: it can be in memory only, and takes
// no keys. ctx can prevent the opening, not cut it off. The error wraps store.ErrCorrupt if the data is damaged; if the
// directory is in use, or belongs to another program, the error says so.
func Open(ctx context.Context, p *aeonrt.Package, disk store.Opener, opts []Option) (*DB, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := config{log: slog.Default(), stdout: os.Stdout}
	for _, o := range opts {
		o(&c)
	}
	switch {
	case c.sim != nil && (c.inMemory || c.dir != ""):
		return nil, fmt.Errorf("%s: %w", p.Name, errSimulated)
	case c.sim != nil:
	case c.inMemory == (c.dir != ""):
		return nil, fmt.Errorf("%s: say where the state is kept: either aeon.Dir, with a name, or aeon.InMemory", p.Name)
	case disk == nil && !c.inMemory:
		return nil, fmt.Errorf("%s was generated to be in memory only; run `aeonc gen` without --memory-only, so that it can keep its state in %s", p.Name, c.dir)
	}
	db := &DB{log: c.log}
	classes := aeonrt.AllClasses(p)
	cfg := aeonrt.Config{Log: c.log, Stdout: c.stdout, Classes: classes}
	if len(c.drop) > 0 {
		var err error
		if cfg.DropFields, err = store.ParseFields(strings.Join(c.drop, ",")); err != nil {
			return nil, fmt.Errorf("%s: aeon.DropFields: %w", p.Name, err)
		}
	}
	if err := db.open(p, disk, c, cfg); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, store.In(c.dir, err))
	}
	db.maker = db.sys.Client()
	program, err := door.ProgramOf(classes, nil)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	db.door = door.Open(door.Config{System: db.sys, Program: program})
	return db, nil
}

// open opens the store, if there is one, and the system.
func (db *DB) open(p *aeonrt.Package, disk store.Opener, c config, cfg aeonrt.Config) error {
	if c.sim != nil {
		return c.sim.open(db, p, c, cfg)
	}
	if disk == nil {
		db.record(p, c, &cfg)
		db.sys = aeonrt.Open(cfg)
		return nil
	}
	o := store.Options{Program: p.Name, Log: c.log, Fatal: func(err error) { // calls fail from now on
		c.log.Error("the store has failed; close it and open it again", "program", p.Name, "error", err.Error())
	}}
	if c.inMemory {
		o.Durability = store.Relaxed(inMemory)
	}
	engine, err := disk(c.dir, store.EngineOptions{Program: p.Name, Log: c.log})
	if err != nil {
		return err
	}
	if err := archive.NotAdopted(c.dir); c.dir != "" && err != nil {
		return errors.Join(err, engine.Close())
	}
	if db.store, err = store.Open(engine, o); err != nil {
		return errors.Join(err, engine.Close())
	}
	cfg.Store = db.store
	db.record(p, c, &cfg)
	if db.sys, err = aeonrt.Recover(cfg); err != nil {
		db.spans.Close()
		return errors.Join(err, db.store.Close())
	}
	return nil
}

// record begins to record spans, if they are to be.
func (db *DB) record(p *aeonrt.Package, c config, cfg *aeonrt.Config) {
	if c.spans == nil {
		return
	}
	of := span.Config{Program: p.Name, Sample: 1, Sink: &span.Lines{To: c.spans}, Log: c.log}
	if db.store != nil {
		of.Store = db.store.Identity().Store
	}
	db.spans = span.Open(of)
	cfg.Spans = db.spans
}

// Close refuses new calls, waits until those under way have ended, and closes the store: everything is durable
// then. Sub-events and timers go on when the program is opened again. Callbacks that wait are called; then their clients end.
// Every Close returns the error of the first one: of the store, if that has failed. Neither a callback nor a Go function that a
// program calls may wait for it, as it waits for them.
func (db *DB) Close() error {
	db.close.Do(func() {
		db.enter()
		db.sys.Close()
		db.leave()
		db.spans.Close()
		for db.sim != nil && db.sim.callback(db) {
		}
		db.clients.close()
		if db.store != nil {
			db.reads.Lock() // no event is left, so no call that has it waits for another one
			db.close.err = db.store.Close()
			db.reads.Unlock()
		}
		if db.sim != nil {
			db.sim.closed(db)
		}
	})
	return db.close.err
}
