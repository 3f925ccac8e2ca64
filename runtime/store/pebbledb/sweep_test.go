package pebbledb_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// callFault makes one call of a file system fail, or that one and all behind it. The error has no more than its number: that is all
// that fdatasync gives.
type callFault struct {
	errno  syscall.Errno
	at     int // which call
	sticky bool

	sync.Mutex
	calls int
	hit   []errorfs.Op // those that have failed
}

func (f *callFault) String() string { return fmt.Sprintf("%v at call %d", f.errno, f.at) }

// MaybeError implements errorfs.Injector. What is only a hint to the system, or a question about it, does not count.
func (f *callFault) MaybeError(op errorfs.Op) error {
	if op.Kind == errorfs.OpFilePreallocate || op.Kind == errorfs.OpGetDiskUsage {
		return nil
	}
	if strings.HasSuffix(op.Path, ".sst") { // a disk takes its time: other goroutines go on meanwhile
		for range 2000 {
			runtime.Gosched()
		}
	}
	f.Lock()
	defer f.Unlock()
	n := f.calls
	f.calls++
	if n != f.at && !(f.sticky && n > f.at) {
		return nil
	}
	f.hit = append(f.hit, op)
	return f.errno
}

// failed returns the calls that have failed.
func (f *callFault) failed() []errorfs.Op {
	f.Lock()
	defer f.Unlock()
	return slices.Clone(f.hit)
}

// faultNumbers are the numbers that a call may fail with, and the errors that say so.
var faultNumbers = []struct {
	errno syscall.Errno
	told  func(error) bool
}{
	{syscall.ENOSPC, isA[*pebbledb.NoSpaceError]},
	{syscall.EIO, isA[*pebbledb.DiskError]},
	{syscall.EACCES, isA[*pebbledb.AccessError]},
	{syscall.EMFILE, isA[*pebbledb.LimitError]},
	{syscall.EROFS, isA[*pebbledb.AccessError]},
	{syscall.EDQUOT, isA[*pebbledb.NoSpaceError]},
	{syscall.EFBIG, isA[*pebbledb.LimitError]},
	{syscall.ENOMEM, isA[*pebbledb.LimitError]},
	{syscall.EPERM, isA[*pebbledb.AccessError]},
	{syscall.ENFILE, isA[*pebbledb.LimitError]},
}

var (
	faultsEach  = flag.Int("faults.each", 1, "with how many numbers TestEveryCallFails has a call fail; 10: all")
	faultsEvery = flag.Int("faults.every", 3, "of how many calls TestEveryCallFails and TestStickyFaults have one fail")
)

// callsApart is how many calls there are from one that fails to the next: no divisor of the numbers, so that all have their turn.
func callsApart() int {
	if testing.Short() {
		return 7 * *faultsEvery
	}
	return *faultsEvery
}

func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// faultyAct is something that is done with the data directory on a file system, each call of which fails once.
type faultyAct struct {
	name   string
	before func(*testing.T) *vfs.MemFS
	do     func(vfs.FS) error
	groups int // that are in the store before
	dir    string
}

// openAndClose opens the store, reads all of it, and closes it.
func openAndClose(groups int) func(vfs.FS) error {
	return func(fs vfs.FS) error {
		s, _, err := openOn(fs, nil)
		if err != nil {
			return err
		}
		n, err := readGroups(s, flipRows, flipSize)
		if err == nil && n != groups {
			err = fmt.Errorf("%d of %d groups are there", n, groups)
		}
		return errors.Join(err, s.Close())
	}
}

// look opens the store to read it.
func look(fs vfs.FS) error {
	e, err := pebbledb.OpenReadOnlyFS(fs, dataDir, store.EngineOptions{Program: "bank", Log: silent})
	if err != nil {
		return err
	}
	n, err := readGroups(e, flipRows, flipSize)
	if err == nil && n != flipGroups {
		err = fmt.Errorf("%d of %d groups are there", n, flipGroups)
	}
	return errors.Join(err, e.Close())
}

// busyStore crashes with ranges deleted in its log: what the next opening writes into tables keeps pebble busy while it opens.
func busyStore(t *testing.T) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewCrashableMem()
	s, engine := mustOpen(t, fs)
	defer s.Close()
	for n := range flipGroups {
		if err := s.Wait(t.Context(), appendGroup(s, n, flipRows, flipSize)); err != nil {
			t.Fatal(err)
		}
		b := s.NewBatch()
		b.DeleteRange(store.MetaKey(fmt.Sprintf("zero %02d", n)), store.MetaKey("zz"))
		if err := s.Wait(t.Context(), s.Append(b)); err != nil {
			t.Fatal(err)
		}
		if n%8 == 4 {
			if err := engine.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return fs.CrashClone(vfs.CrashCloneCfg{})
}

func empty(*testing.T) *vfs.MemFS { return vfs.NewCrashableMem() }

// faultyActs are all that is done with a data directory while no program runs.
var faultyActs = []faultyAct{
	{"create", empty, openAndClose(0), 0, dataDir},
	{"open a closed store", testStores["flushed=true,closed=true"], openAndClose(flipGroups), flipGroups, dataDir},
	{"open a killed store", testStores["flushed=true,closed=false"], openAndClose(flipGroups), flipGroups, dataDir},
	{"open one with several logs", testStores["rotating"], openAndClose(flipGroups), flipGroups, dataDir},
	{"open a busy one", busyStore, openAndClose(flipGroups), flipGroups, dataDir},
	{"look at a closed store", testStores["flushed=true,closed=true"], look, flipGroups, dataDir},
	{"look at a killed store", testStores["flushed=true,closed=false"], look, flipGroups, dataDir},
	{"make", empty, makeOn, 0, madeDir},
}

// Each call of an opening, of a closing, of a look and of a restore fails with each number. The outcome is never
// damage: it names the file and the number, and has the type that says what to do. When the fault is gone the store
// opens with all that is in it, whether the machine has lost its power in between or not, and in the same process, too.
func TestEveryCallFails(t *testing.T) {
	for _, a := range faultyActs {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			base := a.before(t)
			count := &callFault{at: -1}
			if err := a.do(errorfs.Wrap(base.CrashClone(vfs.CrashCloneCfg{}), count)); err != nil {
				t.Fatalf("without a fault: %v", err)
			}
			told, tried := 0, 0
			for at := 0; at < count.calls; at += callsApart() {
				tried++
				for n := range len(faultNumbers) {
					if (at*7+n)%len(faultNumbers) >= *faultsEach { // the numbers change from call to call
						continue
					}
					if a.fails(t, base, &callFault{errno: faultNumbers[n].errno, at: at, sticky: (at+n)%2 == 0}, faultNumbers[n].told) {
						told++
					}
				}
			}
			t.Logf("%d of %d calls, %d faults were told", tried, count.calls, told)
			if told < tried*9/10 { // pebble goes on without removing what is obsolete
				t.Errorf("only %d faults were told for %d calls", told, tried)
			}
		})
	}
}

// fails performs the act with the fault, and reports whether it has failed.
func (a *faultyAct) fails(t *testing.T, base *vfs.MemFS, f *callFault, told func(error) bool) bool {
	t.Helper()
	fs := base.CrashClone(vfs.CrashCloneCfg{})
	err := a.do(errorfs.Wrap(fs, f))
	hit := f.failed()
	named := func(op errorfs.Op) bool { return strings.Contains(err.Error(), fs.PathBase(op.Path)) }
	switch {
	case len(hit) == 0 && err != nil:
		t.Errorf("%v: nothing has failed, and yet: %v", f, err)
	case err == nil:
	case errors.Is(err, store.ErrCorrupt) || !errors.Is(err, f.errno) || !told(err) || !slices.ContainsFunc(hit, named):
		t.Errorf("%v, %v of %s, sticky %v: %v", f, hit[0].Kind, hit[0].Path, f.sticky, err)
	}
	for _, lost := range []int{0, 100} {
		image := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: lost, RNG: rand.New(rand.NewPCG(uint64(f.at), 1))})
		if a.dir == madeDir {
			if !made(t, image) && err == nil {
				t.Errorf("%v, sticky %v: Make has returned, and after a crash there is no store", f, f.sticky)
			}
			continue
		}
		if err := openAndClose(a.groups)(image); err != nil {
			t.Errorf("%v, sticky %v: afterwards, with %d %% of what was not synced: %v", f, f.sticky, lost, err)
		}
	}
	if a.dir == madeDir && made(t, fs) {
		return err != nil
	}
	if err := worksAgain(fs, a.do); err != nil {
		t.Errorf("%v, sticky %v: again: %v", f, f.sticky, err)
	}
	return err != nil
}
