package replicatest

import (
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

var replicated = flag.Bool("replicated", false, "keep each store on three replicas in this process, whose disks crash together")

// Asked reports whether tests are to keep their stores on three replicas: the flag -replicated was given.
func Asked() bool { return *replicated }

// Engine is what a test keeps a store on: an engine in memory that can crash.
type Engine interface {
	store.Engine
	// Crash returns what a crash at this moment may leave: all that was synced, and of what was applied since as much as kept says, which is
	// told of how many pieces. The engine itself goes on.
	Crash(kept func(unsynced int) int) Engine
	// Reopen returns an engine with what one has left that was closed.
	Reopen() Engine
	// Fail makes every later Apply and Sync return err.
	Fail(err error)
	// Applied returns how many batches were applied.
	Applied() int
}

// New returns an empty engine: one in memory, or with -replicated one on three replicas.
func New() Engine {
	if Asked() {
		return Three()
	}
	return single{memengine.New()}
}

// single is an engine without replicas.
type single struct{ *memengine.Engine }

// Crash implements Engine.
func (s single) Crash(kept func(unsynced int) int) Engine { return single{s.Engine.Crash(kept)} }

// Reopen implements Engine.
func (s single) Reopen() Engine { return single{s.Engine.Reopen()} }

// Three returns an empty engine on three replicas, each of which has a disk in memory. The disks crash together, and what each of them keeps of
// what was not synced is drawn for itself. The replicas are started when the engine is used first.
func Three() Engine { return &trio{disks: [3]*Memory{{}, {}, {}}} }

type trio struct {
	disks [3]*Memory

	mu       sync.Mutex
	leading  *leading // nil: it was not used
	failWith error    // of Apply and Sync
	applied  int
}

// stateBytes is how much a state takes before it is synced and its log is cut. It is little, so that the logs of replicas which start again begin in
// the middle even in short tests.
const stateBytes = 2 << 10

// use returns the engine of the leader. It is closed at the latest when the trio is no longer reached: some tests only look at what a crash has left.
func (t *trio) use() *leading {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.leading == nil {
		cfg := Config{SyncBytes: stateBytes, Logger: slog.New(slog.DiscardHandler)}
		for _, d := range t.disks {
			cfg.Places = append(cfg.Places, d)
		}
		e, err := open(cfg)
		if err != nil {
			panic(fmt.Sprintf("three replicas do not start: %v", err))
		}
		t.leading = e
		runtime.AddCleanup(t, func(e *leading) { go e.Of.Close() }, e) // one goroutine runs all cleanups of the process
	}
	return t.leading
}

// Crash implements Engine. What was applied and not synced is nowhere but in the memory of the leader; it goes to the disks first if all of one
// piece is to be kept.
func (t *trio) Crash(kept func(unsynced int) int) Engine {
	t.mu.Lock()
	running := t.leading
	t.mu.Unlock()
	if running != nil && kept(1) == 1 {
		_ = running.Sync() // if it has ended, or fails, the disks have what they have
	}
	c := &trio{}
	for i, d := range t.disks {
		c.disks[i] = d.Crash(kept)
	}
	return c
}

// Reopen implements Engine.
func (t *trio) Reopen() Engine { return t.Crash(func(int) int { return 0 }) }

// Fail implements Engine.
func (t *trio) Fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failWith = err
}

func (t *trio) fails() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failWith
}

// Applied implements Engine.
func (t *trio) Applied() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.applied
}

// NewBatch implements store.Engine.
func (t *trio) NewBatch() store.Batch { return t.use().NewBatch() }

// Apply implements store.Engine.
func (t *trio) Apply(b store.Batch) error {
	if err := t.fails(); err != nil {
		return err
	}
	err := t.use().Apply(b)
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.applied++
	}
	return err
}

// Sync implements store.Engine.
func (t *trio) Sync() error {
	if err := t.fails(); err != nil {
		return err
	}
	return t.use().Sync()
}

// Get implements store.Reader.
func (t *trio) Get(key, buf []byte) ([]byte, bool, error) { return t.use().Get(key, buf) }

// Scan implements store.Reader.
func (t *trio) Scan(from, to []byte) store.Iterator { return t.use().Scan(from, to) }

// Snapshot implements store.Engine.
func (t *trio) Snapshot() store.Snapshot { return t.use().Snapshot() }

// Confirm implements store.Confirming.
func (t *trio) Confirm() error { return t.use().Confirm() }

// OnFailure implements store.Failing.
func (t *trio) OnFailure(f func(error)) { t.use().OnFailure(f) }

// Close implements store.Engine.
func (t *trio) Close() error {
	if err := t.fails(); err != nil {
		_ = t.use().Of.Close() // the error that counts is the first
		return err
	}
	return t.use().Close()
}

// ThreeInMemory returns an opener of directories in memory, each on three replicas. They last as long as the opener; one that is opened was closed before.
func ThreeInMemory() store.Opener {
	dirs := make(map[string]Engine)
	return func(dir string, _ store.EngineOptions) (store.Engine, error) {
		if e := dirs[dir]; e != nil {
			dirs[dir] = e.Reopen()
		} else {
			dirs[dir] = Three()
		}
		return dirs[dir], nil
	}
}

// ThreeIn returns an opener that keeps three replicas in the folders 1, 2 and 3 of a directory, each as opener keeps a store. A disk that fails ends the
// process.
func ThreeIn(opener store.Opener) store.Opener {
	return func(dir string, o store.EngineOptions) (store.Engine, error) {
		cfg := Config{SyncBytes: stateBytes, Logger: o.Log}
		for id := range 3 {
			cfg.Places = append(cfg.Places, driver.Dir{Root: filepath.Join(dir, fmt.Sprint(id+1)), Opener: opener, Options: o, LogOptions: o})
		}
		return OpenEngine(cfg)
	}
}
