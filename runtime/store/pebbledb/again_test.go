package pebbledb_test

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// failing returns fs, of which calls of a kind fail while on is set, if their path has part in it.
func failing(fs vfs.FS, on *atomic.Bool, kind errorfs.OpKind, part string, errno syscall.Errno) vfs.FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if on.Load() && op.Kind == kind && strings.Contains(op.Path, part) {
			return &os.PathError{Op: "test", Path: op.Path, Err: errno}
		}
		return nil
	}))
}

// worksAgain does something with the store in this process, in which it has failed before. Until the calls of the pebble
// that was stopped have ended, the store is in use.
func worksAgain(fs vfs.FS, do func(vfs.FS) error) error {
	for began := time.Now(); ; runtime.Gosched() {
		if err := do(fs); !errors.As(err, new(*pebbledb.InUseError)) || time.Since(began) > time.Minute {
			return err
		}
	}
}

// A fault while the store is opened stops pebble in the middle. It takes nothing along that the next opening needs.
func TestOpensAgainAfterAFaultOfItsOpening(t *testing.T) {
	var on atomic.Bool
	fs := failing(smallStore(t, true, true), &on, errorfs.OpCreate, "dbtmp", syscall.EMFILE)
	on.Store(true)
	if _, _, err := openOn(fs, nil); !errors.As(err, new(*pebbledb.LimitError)) {
		t.Fatalf("with the fault: %v", err)
	}
	on.Store(false)
	if err := worksAgain(fs, openAndClose(flipGroups)); err != nil {
		t.Errorf("without the fault: %v", err)
	}
}

// Neither does a fault while it runs, in a goroutine of pebble's.
func TestOpensAgainAfterAFaultWhileItRan(t *testing.T) {
	var on atomic.Bool
	fs := failing(vfs.NewCrashableMem(), &on, errorfs.OpFileSync, "MANIFEST", syscall.EIO)
	s, engine, err := openOn(fs, nil)
	if err == nil {
		err = s.Wait(t.Context(), appendGroup(s, 0, flipRows, flipSize))
	}
	if err != nil {
		t.Fatal(err)
	}
	on.Store(true)
	if err := engine.Flush(); !errors.As(err, new(*pebbledb.DiskError)) {
		t.Fatalf("with the fault: %v", err)
	}
	<-engine.Stuck()
	on.Store(false)
	if err := s.Close(); !errors.As(err, new(*pebbledb.DiskError)) {
		t.Errorf("Close after the fault: %v", err)
	}
	if err := worksAgain(fs, openAndClose(1)); err != nil {
		t.Errorf("without the fault: %v", err)
	}
}

// A pebble that was stopped may still be in a call that changes a file. Close does not wait for it: the disk may never
// answer. The store is in use until then, and the old pebble changes nothing afterwards.
func TestStoppedPebbleWritesBesideNoOther(t *testing.T) {
	base, answers, asked := vfs.NewCrashableMem(), make(chan struct{}), make(chan struct{})
	var table, later atomic.Int64
	fs := errorfs.Wrap(base, errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch changes := op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpFileClose; {
		case op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") && table.Add(1) == 1:
			close(asked)
			<-answers
		case changes && table.Load() > 0:
			later.Add(1)
		}
		return nil
	}))
	s, engine, err := openOn(fs, nil)
	if err == nil {
		err = s.Wait(t.Context(), appendGroup(s, 0, flipRows, flipSize))
	}
	if err != nil {
		t.Fatal(err)
	}
	go engine.Flush() // fails
	<-asked
	engine.Stop(syscall.EIO)
	if err := s.Close(); !errors.As(err, new(*pebbledb.DiskError)) {
		t.Errorf("Close after the fault: %v", err)
	}
	later.Store(0)
	if _, _, err := openOn(base, nil); !errors.As(err, new(*pebbledb.InUseError)) {
		t.Errorf("the old pebble is in a call, and the store opens: %v", err)
	}
	close(answers)
	if err := worksAgain(base, openAndClose(1)); err != nil {
		t.Errorf("when the call has ended: %v", err)
	}
	if n := later.Load(); n > 0 {
		t.Errorf("the old pebble makes %d more changes", n)
	}
}
