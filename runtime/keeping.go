package runtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/runtime/history"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// keeping is where a program keeps its state; the zero value keeps it in memory.
type keeping struct {
	settings.State
	open  store.Opener // nil: the program was compiled without the store
	store *store.Store // nil: in memory

	openTarget TargetOpener
	target     snapshot.Target   // nil: no snapshots are taken
	actor      archive.ActorName // the one to take snapshots of, if SnapshotActor is not ""
	taking     turn              // of those that take snapshots; nil: no other system of the process takes any
	last       *lastSnapshot     // of the cluster; nil: this is no node of one
	failed     chan error        // gets the store's error, once
}

// errNoStore answers flags of a program that has no store.
var errNoStore = errors.New("this program was compiled to keep its state in memory only; `aeonc build` without --memory-only, and `aeonc run --data DIR`, compile it with the store")

// cacheShare is the part of --memory that the engines get as their cache.
const cacheShare = 8

// cache returns the cache for the engines of the process.
func (k *keeping) cache() *store.Cache { return &store.Cache{Bytes: k.MemoryMax / cacheShare} }

// statesMax returns how much of --memory is for the states of actors; 0: there is no limit.
func statesMax(s *settings.State) int64 { return s.MemoryMax - s.MemoryMax/cacheShare }

// inMemory is how often a store in memory is synced, which does nothing: answers do not wait.
const inMemory = time.Minute

// memoryBeside is what the process may take besides the states and the cache: the engine
// has up to 128 MiB that are not written to tables yet.
const memoryBeside = 256 << 20

// limitMemory sets the limit near which Go collects more often rather than grow, if there is --memory. beside is what the process may take besides that.
func limitMemory(s *settings.State, beside int64) {
	if s.MemoryMax > 0 {
		debug.SetMemoryLimit(s.MemoryMax + beside)
	}
}

// begin opens the store if a directory was named, and returns the configuration of a system that
// uses it. mustExist refuses a directory that holds nothing.
func (k *keeping) begin(c Config, p *Package, log *slog.Logger, mustExist, listens bool) (Config, error) {
	if k.Dir == "" && !listens {
		return c, nil
	}
	if err := k.beginSnapshots(log); err != nil {
		return c, err
	}
	if k.Dir == "" {
		k.Durability = store.Relaxed(inMemory)
	}
	engine, err := k.open(k.Dir, store.EngineOptions{Program: p.Name, Log: log, Cache: k.cache(), MustExist: mustExist && k.Dir != ""})
	if errors.Is(err, store.ErrMissing) {
		err = fmt.Errorf("%w\n\tto begin with a new store there, add --create", err)
	}
	if err != nil {
		return c, k.refused(err)
	}
	if err := archive.NotAdopted(k.Dir); k.Dir != "" && err != nil {
		return c, errors.Join(err, engine.Close())
	}
	k.failed = make(chan error, 1)
	k.store, err = store.Open(engine, store.Options{
		Program: p.Name, Durability: k.Durability, Log: log, Fatal: func(err error) { k.failed <- err },
	})
	if err != nil {
		_ = engine.Close() // the error that counts is the first
		return c, k.refused(err)
	}
	c.Store, c.Classes, c.DropFields = k.store, AllClasses(p), k.DropFields
	c.MemoryMax = statesMax(&k.State)
	limitMemory(&k.State, memoryBeside)
	return c, nil
}

// refused is the error of a store that cannot be opened, with the remedy.
func (k *keeping) refused(err error) error {
	if errors.Is(err, store.ErrCorrupt) {
		return fmt.Errorf("%w\n\t%s", store.In(k.Dir, err), k.listDamage())
	}
	return err
}

func (k *keeping) listDamage() string {
	return "`aeond check --data " + k.Dir + "` lists what is damaged"
}

// header adds to the header of a trace the store, the number of its run, and how much of the run before has
// survived.
func (k *keeping) header(h trace.Header) (trace.Header, error) {
	if k.store == nil {
		return h, nil
	}
	return history.Header(h, k.store)
}

// flushMax is how long a program that is told to end waits for the disk.
const flushMax = 5 * time.Second

// later says what becomes of events that a signal has cut off.
func (k *keeping) later() string {
	if k.Dir == "" {
		return ""
	}
	return "; sub-events and timers go on at the next start"
}

// flush makes durable what has been answered; the store stays open for events that still run.
func (k *keeping) flush() error {
	if k.store == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushMax)
	defer cancel()
	err := k.store.Flush(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("the disk of %s has not ended a sync in %v: what was not answered yet may be lost", k.Dir, flushMax)
	}
	return err
}

// end makes everything durable and closes the store of a system that has been closed.
func (k *keeping) end() error {
	if k.store == nil {
		return nil
	}
	return k.store.Close()
}

// describeOpened tells what the store held when the program opened it.
func (k *keeping) describeOpened(r Restored) string {
	if k.store.Fresh() {
		return "created " + k.Dir
	}
	return fmt.Sprintf("opened %s: %s", k.Dir, describeRestored(r))
}

// describeRestored writes what was found: "3 actors, 2 sub-events and 1 timer go on".
func describeRestored(r Restored) string {
	var parts []string
	total := 0
	for _, part := range []struct {
		n    int
		noun string
	}{{r.Actors, "actor"}, {r.SubEvents, "sub-event"}, {r.Continuations, "tail call"}, {r.Timers, "timer"}} {
		total += part.n
		switch {
		case part.n > state.RestoredMax && part.noun == "actor":
			parts = append(parts, fmt.Sprintf("more than %d actors", state.RestoredMax))
		case part.n > 0:
			parts = append(parts, plural(uint64(part.n), part.noun))
		}
	}
	switch {
	case total == 0:
		return "nothing is in it"
	case total == 1:
		return parts[0] + " goes on"
	case len(parts) == 1:
		return parts[0] + " go on"
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1] + " go on"
}

// hasFailed reports whether the store has failed; if so, its error was sent to failed.
func (k *keeping) hasFailed() bool { return k.store != nil && k.store.Err() != nil }

// afterFailure tells the user what is left after the store has failed with err.
func (k *keeping) afterFailure(err error) string {
	switch {
	case errors.Is(err, store.ErrCorrupt):
		return k.listDamage()
	case !k.Durability.AnswersWait():
		return fmt.Sprintf("what was answered is in %s, but for the last moments (%s); the program goes on from there when it is started again", k.Dir, k.Durability)
	}
	return "what was answered is in " + k.Dir + "; the program goes on from there when it is started again"
}
