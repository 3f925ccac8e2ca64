package pebbledb_test

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// noTables makes the creation of a table wait and then fail, until tables can be made again.
type noTables struct {
	fail, again chan struct{} // closed when it is time
}

func (f noTables) String() string { return "no tables" }

func (f noTables) MaybeError(op errorfs.Op) error {
	if op.Kind != errorfs.OpCreate || !strings.HasSuffix(op.Path, ".sst") {
		return nil
	}
	<-f.fail
	select {
	case <-f.again:
		return nil
	default:
		return &os.PathError{Op: "create", Path: op.Path, Err: syscall.EIO}
	}
}

// told is closed when the log is told something.
type told struct {
	once  sync.Once
	heard chan struct{}
}

func (l *told) Write(p []byte) (int, error) {
	l.once.Do(func() { close(l.heard) })
	return len(p), nil
}

// While a write waits in pebble for tables, which cannot be made, the store fails. No caller waits for the end of
// that write, and no reader sees a store without what was applied. (Should a caller wait, this test does not end.)
func TestNoCallerWaitsForPebbleAfterAFailure(t *testing.T) {
	disk := noTables{make(chan struct{}), make(chan struct{})}
	stalled := &told{heard: make(chan struct{})}
	d, err := pebbledb.OpenSmall(errorfs.Wrap(vfs.NewMem(), disk), dataDir, store.EngineOptions{Program: "bank", Log: slog.New(slog.NewTextHandler(stalled, nil))})
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan struct{})
	d.OnFailure(func(error) { close(failed) })
	apply := func(n, size int) error {
		b := d.NewBatch()
		b.Set(groupKey(n, 0), make([]byte, size))
		return d.Apply(b)
	}
	applied := make(chan error)
	go func() {
		var err error
		for n := 1; err == nil; n++ {
			err = apply(n, 100<<10)
		}
		applied <- err
	}()
	<-stalled.heard
	if err := apply(0, 1); err != nil {
		t.Error(err)
	}
	close(disk.fail)
	<-failed

	want := func(what string, err error) {
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", what, err)
		}
	}
	want("Apply", apply(0, 2))
	want("Sync", d.Sync())
	_, _, err = d.Get(groupKey(0, 0), nil)
	want("Get", err)
	_, err = scanned(d, groupKey(0, 0), groupKey(1, 0))
	want("Scan", err)
	s := d.Snapshot()
	_, _, err = s.Get(groupKey(0, 0), nil)
	want("Get of a snapshot", err)
	_, err = scanned(s, groupKey(0, 0), groupKey(1, 0))
	want("Scan of a snapshot", err)
	if err := s.Close(); err != nil {
		t.Error(err)
	}

	close(disk.again)
	want("Apply", <-applied)
	want("Close", d.Close())
}

// What is applied to a store that was opened read-only is refused, and not dropped.
func TestNothingIsAppliedToAReadOnlyStore(t *testing.T) {
	dir := t.TempDir()
	e, err := pebbledb.Open(dir, store.EngineOptions{Program: "bank", Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := pebbledb.OpenReadOnly(dir, store.EngineOptions{Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b := d.NewBatch()
	b.Set([]byte("k"), nil)
	if err := d.Apply(b); err == nil {
		t.Error("it was taken")
	}
}
