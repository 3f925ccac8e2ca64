// Package pebbledb is the store's engine on pebble, whose write-ahead log is the journal. It
// deals with directories and disks; package store defines what is in the rows.
package pebbledb

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/store"
)

// DB is a store.Engine.
type DB struct {
	db   *pebble.DB
	fs   vfs.FS // what the directory is in
	logs *logFS // what pebble sees of it
	dir  string
	id   storeID
	// ownedFrom is the number from which on pebble's files name their store.
	ownedFrom uint64
	identity  store.Identity
	log       *slog.Logger
	lock      io.Closer
	changes   fileChanges // by pebble, and to its logs
	group     group
	memory    memory
	readOnly  bool
	part      bool
	tune      func(*pebble.Options) // by tests; nil: as options says

	opening atomic.Bool           // pebble is about to open, or to create, the store
	fault   atomic.Pointer[error] // the first one of the file system
	failure struct {
		sync.Mutex
		err  error
		tell func(error) // nil: there was no OnFailure yet
	}
	failed   chan struct{} // closed when failure.err is set
	stuck    chan struct{} // closed when pebble was stopped in the middle of something: it can no longer be closed
	stopOnce sync.Once     // closes stuck
}

// Identity implements store.Identified.
func (d *DB) Identity() store.Identity { return d.identity }

// Part reports whether the store is one of those of a cluster, as EngineOptions.Part says.
func (d *DB) Part() bool { return d.part }

// OnFailure implements store.Failing.
func (d *DB) OnFailure(f func(error)) {
	d.failure.Lock()
	err := d.failure.err
	d.failure.tell = f
	d.failure.Unlock()
	if err != nil {
		f(err)
	}
}

// BeforeWrite implements store.Announcing: what is applied stays in the queue until then.
func (d *DB) BeforeWrite(f func()) {
	d.logs.q.work.Lock()
	defer d.logs.q.work.Unlock()
	d.logs.q.before = f
}

// fail makes everything that is called from now on return an error, the first one that was
// given.
func (d *DB) fail(err error) error {
	d.failure.Lock()
	tell := d.failure.tell
	if d.failure.err != nil {
		tell = nil
	} else {
		d.failure.err = d.describe(err)
		close(d.failed)
	}
	err = d.failure.err
	d.failure.Unlock()
	if tell != nil {
		tell(err)
	}
	return err
}

func (d *DB) err() error {
	d.failure.Lock()
	defer d.failure.Unlock()
	return d.failure.err
}

// stop is fail for an error after which pebble cannot be closed.
func (d *DB) stop(err error) error {
	err = d.fail(err)
	d.stopOnce.Do(func() { close(d.stuck) })
	return err
}

// guard turns a panic of pebble's into an error: pebble panics when a write has failed. Any other panic is a bug of
// the engine, and never taken for damage.
func (d *DB) guard(err *error) {
	switch r := recover().(type) {
	case nil:
	case fatalError:
		*err = d.stop(r.error)
	default:
		cause, ok := r.(error)
		if !ok || !ofSystem(cause) {
			cause = &EngineError{d.dir, fmt.Errorf("pebble: %v", r)}
		}
		*err = d.stop(cause)
	}
}

// Apply implements store.Engine.
func (d *DB) Apply(b store.Batch) (err error) {
	if err := d.err(); err != nil {
		b.Discard()
		return err
	}
	defer d.guard(&err)
	batch := b.(*batch)
	if d.readOnly {
		batch.err = pebble.ErrReadOnly // pebble would be asked at the next sync only
	}
	if batch.err != nil {
		return d.fail(batch.err)
	}
	if batch.Size() > groupBytes {
		return d.commitAlone(batch.handOver())
	}
	size, err := d.join(batch)
	if err != nil {
		return d.fail(err)
	}
	batch.release()
	if size > groupBytes {
		return d.settle()
	}
	return nil
}

// Sync implements store.Engine. It may return before pebble has taken everything: then all is
// durable in the log.
func (d *DB) Sync() (err error) {
	defer d.guard(&err)
	if err := d.takeTurn(d.failed); err != nil {
		return err
	}
	b := d.take()
	if b == nil {
		b = d.newGroup() // for the seal
		d.sealGroup(b)
	}
	queued := d.logs.q.expect(d.group.records + 1)
	taken := make(chan error, 1)
	go func() { taken <- d.commit(b, pebble.Sync) }()
	select {
	case <-queued:
	case err := <-taken:
		if err != nil {
			return err
		}
	case <-d.failed:
		return d.err()
	}
	if err := d.logs.q.drain(); err != nil {
		return d.fail(err)
	}
	return d.err()
}

// Close implements store.Engine.
func (d *DB) Close() (err error) {
	defer func() {
		if unlocked := d.unlock(d.lock); err == nil {
			err = unlocked
		}
	}()
	defer d.guard(&err)
	// The second sync says in the log that the first one was complete. So damage to anything but
	// the second is told from a log which a crash has cut short.
	for i := 0; i < 2 && !d.readOnly && err == nil; i++ {
		err = d.Sync()
	}
	if closed := d.closePebble(d.db); closed != nil && err == nil {
		err = d.fail(closed)
	}
	if closed := d.logs.close(); closed != nil && err == nil {
		err = d.fail(closed)
	}
	return err
}

// closePebble closes db, or returns when that has become impossible.
func (d *DB) closePebble(db *pebble.DB) error {
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		defer d.guard(&err)
		if err = d.takeTurn(d.stuck); err == nil {
			defer d.endTurn()
			d.memory.closing()
			err = db.Close()
			d.memory.leave()
		}
	}()
	select {
	case err := <-done:
		return err
	case <-d.stuck:
		return d.err() // the process is to end
	}
}
