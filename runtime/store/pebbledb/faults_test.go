package pebbledb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/aeon-lang/aeon/internal/race"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// serial calls one injector at a time.
type serial struct {
	sync.Mutex
	inner errorfs.Injector
}

func (s *serial) String() string { return "serial" }

func (s *serial) MaybeError(op errorfs.Op) error {
	s.Lock()
	defer s.Unlock()
	return s.inner.MaybeError(op)
}

// fault makes all operations of some kinds fail, from the n-th of them on.
type fault struct {
	kinds []errorfs.OpKind
	err   syscall.Errno
	after atomic.Int64
	hit   atomic.Bool
}

func (f *fault) String() string { return fmt.Sprint(f.kinds, f.err) }

func (f *fault) MaybeError(op errorfs.Op) error {
	for _, k := range f.kinds {
		if op.Kind == k && f.after.Add(-1) < 0 {
			f.hit.Store(true)
			return &os.PathError{Op: "test", Path: op.Path, Err: f.err}
		}
	}
	return nil
}

var (
	onWrite = []errorfs.OpKind{errorfs.OpFileWrite, errorfs.OpFileWriteAt, errorfs.OpCreate, errorfs.OpReuseForWrite}
	onSync  = []errorfs.OpKind{errorfs.OpFileSync, errorfs.OpFileSyncData}
	onRead  = []errorfs.OpKind{errorfs.OpFileRead, errorfs.OpFileReadAt}
)

// From some operation on, all of its kind fail, for ever. The store refuses to open, or fails
// once and says why; nothing it has reported durable is lost.
func TestStickyFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		kinds []errorfs.OpKind
		err   syscall.Errno
		want  error // a pointer to its type
	}{
		{"EIO on write", onWrite, syscall.EIO, &pebbledb.DiskError{}},
		{"EIO on sync", onSync, syscall.EIO, &pebbledb.DiskError{}},
		{"EIO on read", onRead, syscall.EIO, &pebbledb.DiskError{}},
		{"ENOSPC on write", onWrite, syscall.ENOSPC, &pebbledb.NoSpaceError{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			opening, running := 0, 0
			for after := 0; after < 150; after += callsApart() {
				f := &fault{kinds: c.kinds, err: c.err}
				f.after.Store(int64(after))
				failed, opened := faultyRun(t, f)
				switch {
				case failed == nil && f.hit.Load():
					t.Errorf("after %d: the fault is not reported", after)
				case failed == nil:
				case !sameType(failed, c.want) || !errors.Is(failed, c.err):
					t.Errorf("after %d: %v", after, failed)
				case opened:
					running++
				default:
					opening++
				}
			}
			if opening == 0 || running == 0 {
				t.Errorf("%d faults while opening, %d while running", opening, running)
			}
			t.Logf("%d faults while opening, %d while running", opening, running)
		})
	}
}

func sameType(err, want error) bool {
	switch want.(type) {
	case *pebbledb.DiskError:
		return errors.As(err, new(*pebbledb.DiskError))
	case *pebbledb.NoSpaceError:
		return errors.As(err, new(*pebbledb.NoSpaceError))
	}
	return false
}

// faultyRun writes and reads groups until the fault is noticed, and returns it.
func faultyRun(t *testing.T, f *fault) (failed error, opened bool) {
	const groups, rows, size = 40, 2, 300
	fs := vfs.NewCrashableMem()
	engine, err := pebbledb.OpenSmall(errorfs.Wrap(fs, f), dataDir, store.EngineOptions{Program: "bank", Log: silent, Cache: &store.Cache{Bytes: 1}})
	if err != nil {
		reopen(t, fs, 0, rows, size)
		return err, false
	}
	var fatal atomic.Int64
	s, err := store.Open(engine, store.Options{Program: "bank", Log: silent, Fatal: func(error) { fatal.Add(1) }})
	if err != nil {
		engine.Close() // the first error counts
		reopen(t, fs, 0, rows, size)
		return err, false
	}
	var acked atomic.Int64
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		for n := 0; n < groups && s.Err() == nil; n++ {
			if s.Wait(context.Background(), appendGroup(s, n, rows, size)) == nil {
				acked.Store(int64(n) + 1)
			}
			if n%8 == 0 {
				engine.Flush() // a failure is the store's
				s.Get(groupKey(n, 0), nil)
			}
		}
	}()
	select {
	case <-wrote:
	case <-engine.Stuck(): // with locks that a write may wait for; a process would have ended
	}
	failed = s.Err()
	if failed != nil {
		if err := s.Wait(context.Background(), appendGroup(s, groups, rows, size)); err == nil {
			t.Error("a store that has failed reports a batch durable")
		}
		if err := s.Credit(context.Background()); err == nil {
			t.Error("a store that has failed gives credit")
		}
	}
	s.Close() // fails if the store has
	if failed == nil {
		failed = s.Err() // the last sync may be what fails
	}
	if want := int64(1); failed != nil && fatal.Load() != want {
		t.Errorf("Fatal was called %d times", fatal.Load())
	}
	reopen(t, fs, int(acked.Load()), rows, size)
	return failed, true
}

// reopen looks at what a crash leaves now, on a disk that works again.
func reopen(t *testing.T, fs *vfs.MemFS, acked, rows, size int) {
	t.Helper()
	s, _, err := openOn(fs.CrashClone(vfs.CrashCloneCfg{}), nil)
	if err != nil {
		t.Errorf("after the fault: %v", err)
		return
	}
	defer s.Close()
	if n, err := readGroups(s, rows, size); err != nil || n < acked {
		t.Errorf("%d groups were reported durable, %d are there: %v", acked, n, err)
	}
}

// However short the newest log is cut, what is there is a prefix, as after a crash that came earlier. It is refused if the log was
// durable beyond that when it was first synced, and, of a store that was closed, if anything is missing.
func TestCutLog(t *testing.T) {
	for _, closed := range []bool{false, true} {
		fs := smallStore(t, true, closed)
		dir := dataDir + "/db/log/"
		names, err := fs.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		path, size := "", 0
		for _, n := range names {
			if n > path {
				path, size = n, sizeOf(t, fs, dir+n)
			}
		}
		step := 31 * min(race.Slower, 3)
		seen := map[int]bool{}
		for cut := 0; cut < size; cut += step {
			image := fs.CrashClone(vfs.CrashCloneCfg{})
			shorten(t, image, dir+path, cut)
			s, _, err := openOn(image, nil)
			if refused(err) && len(seen) == 0 {
				continue // it has lost what is known to have been durable, and so had all that were shorter
			}
			if err != nil {
				t.Fatalf("cut at %d of %d: %v", cut, size, err)
			}
			n, err := readGroups(s, flipRows, flipSize)
			if err != nil {
				t.Errorf("cut at %d of %d: %v", cut, size, err)
			}
			seen[n] = true
			s.Close()
		}
		if !closed && len(seen) < 10 || closed && (len(seen) != 1 || !seen[flipGroups]) {
			t.Errorf("closed: %v, these numbers of groups were seen: %v", closed, seen)
		}
	}
}

func shorten(t *testing.T, fs vfs.FS, path string, size int) {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if f, err = fs.Create(path, vfs.WriteCategoryUnspecified); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
