package store

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// Exit codes of processes that keep state, with the numbers of sysexits.h. Go itself ends a process with 2: by a panic
// that is not recovered, and where no recovery is possible: memory is at an end, a stack has become too large, or two
// goroutines write one map at once.
const (
	ExitUsage  = 64 // the command line is wrong; nothing was done
	ExitFailed = 74 // the store has failed
)

// Options says how a store is opened.
type Options struct {
	// Program is the name of the program; a store of another one is refused.
	Program string
	// Number is the number of the store in its cluster; 0: it is in none. A store keeps the number it was made with.
	Number event.StoreID
	// Partitions is how many partitions a new store gets; 0: event.Partitions. A store keeps
	// the number it was made with.
	Partitions int
	// Durability is the mode; a store cannot have InMemory.
	Durability Durability
	// CreditBytes is how much may be applied and not yet synced before Credit makes clients
	// wait; 0: 16 MiB.
	CreditBytes int64
	// Log takes warnings, of a stalled disk above all; nil: slog.Default().
	Log *slog.Logger
	// Scheduler runs what waits for the disk, and what syncs it, if it does so with the system; nil: Go does.
	Scheduler *sched.Scheduler
	// Fatal is called once, when the store has failed: the process has to end, as the outcome of
	// all that was not answered is unknown. It must not call the store. nil: write the error to
	// standard error and exit with ExitFailed.
	Fatal func(error)
}

// Store is the state on disk of one node: rows, and the journal of the batches that change
// them. All methods may be called from any goroutine.
//
// As a Reader it shows everything whose Append has returned. An error of a read is final, as
// one of a write is: the store fails.
type Store struct {
	engine   Engine
	confirms Confirming // nil: the engine is no such
	log      *slog.Logger
	mode     Durability
	opened   time.Time
	meta     meta

	// appended counts the batches that are in the log; durable is how many of them are safe.
	// Invariant: durable <= appended.
	appended atomic.Uint64
	durable  atomic.Uint64
	appends  sync.RWMutex // held for reading while a batch is appended, for writing while none may be: see Halt

	credit credit
	groups groupCommits

	scheduler *sched.Scheduler
	loops     sync.WaitGroup
	syncs     metrics.Histogram

	failure struct {
		sync.Mutex
		err   error
		fatal func(error)
	}
	failed chan struct{} // closed when failure.err is set
}

// Open takes an engine into use: it writes or checks the identity of the store and counts the
// start, durably, before it returns. Close closes the engine, too; when Open fails the caller
// has to close it.
func Open(engine Engine, o Options) (*Store, error) {
	s := &Store{engine: engine, log: o.Log, mode: o.Durability, scheduler: o.Scheduler, opened: time.Now(), failed: make(chan struct{})}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.mode.Memory() {
		return nil, fmt.Errorf("a store cannot be opened with durability %v", s.mode)
	}
	if err := s.start(o); err != nil {
		return nil, In(s.meta.identity.Place, err)
	}
	s.failure.fatal = o.Fatal
	if s.failure.fatal == nil {
		s.failure.fatal = exit
	}
	s.credit.init(o.CreditBytes)
	s.groups.init(s.log)
	if f, ok := engine.(Failing); ok {
		f.OnFailure(s.Fail)
	}
	s.confirms, _ = engine.(Confirming)
	s.scheduler.Go(&s.loops, s.syncLoop)
	return s, nil
}

func exit(err error) {
	fmt.Fprintf(os.Stderr, "%v\n", err)
	os.Exit(ExitFailed)
}

// NewBatch returns an empty batch.
func (s *Store) NewBatch() Batch { return s.engine.NewBatch() }

// Append gives the batch its place in the log, behind everything whose Append has returned
// before, makes it visible to readers, and returns its position. It does not wait for the disk.
// After a failure the position never becomes durable.
func (s *Store) Append(b Batch) Position {
	if s.hasFailed() {
		b.Discard()
		return Position(s.appended.Add(1))
	}
	size := int64(b.Size())
	s.appends.RLock()
	if err := s.engine.Apply(b); err != nil {
		s.Fail(err)
	}
	s.credit.use(size)
	p := s.place()
	s.appends.RUnlock()
	return p
}

// Durable reports whether everything up to p is safe; it never blocks.
func (s *Store) Durable(p Position) bool { return uint64(p) <= s.durable.Load() }

// Wait returns nil when everything up to p is safe, the store's error when it has failed
// before that, or that of ctx when ctx is done first.
func (s *Store) Wait(ctx context.Context, p Position) error {
	if s.Durable(p) {
		return nil
	}
	if uint64(p) > s.appended.Load() {
		assert.Unreachable("a wait for position %d, but the journal has given %d", p, s.appended.Load())
	}
	return s.await(ctx, p)
}

// Confirm returns nil when what was read by now may be answered though nothing has to become durable for it: the store was still
// that of this process at some time since the call. Wait tells as much of a batch that was appended since then, and of no other.
func (s *Store) Confirm() error {
	if s.confirms == nil {
		return nil
	}
	if err := s.confirms.Confirm(); err != nil {
		s.Fail(err)
		return s.Err()
	}
	return nil
}

// Flush returns when everything that was appended before is durable, as Wait does.
func (s *Store) Flush(ctx context.Context) error {
	return s.Wait(ctx, Position(s.appended.Load()))
}

// BeforeWrite has f called before anything that was appended since the last call may survive the process; f must not
// call the store. It reports false if the engine is not Announcing: then f is not called, and a batch may survive as
// soon as Append is called.
func (s *Store) BeforeWrite(f func()) bool {
	a, ok := s.engine.(Announcing)
	if ok {
		a.BeforeWrite(f)
	}
	return ok
}

// Syncs returns how long the syncs of the engine have taken, of which there is one for each group of batches.
func (s *Store) Syncs() *metrics.Histogram { return &s.syncs }

// Positions returns up to which position batches were appended, and up to which they are durable.
func (s *Store) Positions() (appended, durable Position) {
	durable = Position(s.durable.Load()) // first: it never passes the other
	return Position(s.appended.Load()), durable
}

// Mode returns the durability the store was opened with.
func (s *Store) Mode() Durability { return s.mode }

// Fail makes the store fail: what is not durable now never will be, waiters get the error, and
// Options.Fatal is called, if this is the first failure. Code that finds damage in a row calls
// it.
func (s *Store) Fail(err error) {
	if !s.noteFailure(err) {
		return
	}
	s.groups.abandon()
	s.credit.fail()
	s.failure.fatal(s.Err())
}

// noteFailure makes hasFailed report true, and reports whether this failure is the first.
func (s *Store) noteFailure(err error) bool {
	s.failure.Lock()
	defer s.failure.Unlock()
	if s.failure.err != nil {
		return false
	}
	s.failure.err = &FailedError{In(s.meta.identity.Place, err)}
	close(s.failed)
	return true
}

// Err returns the error of a store that has failed, a *FailedError, nil for one that has not.
func (s *Store) Err() error {
	s.failure.Lock()
	defer s.failure.Unlock()
	return s.failure.err
}

func (s *Store) hasFailed() bool {
	return isClosed(s.failed)
}

// Close makes everything durable and closes the engine. No other method may be running or
// called afterwards.
func (s *Store) Close() error {
	s.endLoop()
	s.loops.Wait()
	err := s.Err()
	if closed := s.engine.Close(); err == nil {
		err = closed
	}
	return err
}

// FailedError is the error of a store that has failed.
type FailedError struct{ Cause error }

// Error implements error.
func (e *FailedError) Error() string {
	return fmt.Sprintf("the store has failed, what was not answered yet is unknown: %v", e.Cause)
}

// Unwrap returns the cause.
func (e *FailedError) Unwrap() error { return e.Cause }
