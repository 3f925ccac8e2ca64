package pebbledb_test

import (
	"context"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// stalling makes everything that writes to the disk wait while it is stalled.
type stalling struct {
	mu      sync.Mutex
	stalled chan struct{} // closed when it is over; nil: not stalled
}

func (s *stalling) String() string { return "stalling" }

func (s *stalling) MaybeError(op errorfs.Op) error {
	s.mu.Lock()
	stalled := s.stalled
	s.mu.Unlock()
	if stalled != nil && (op.Kind.ReadOrWrite() == errorfs.OpIsWrite || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSync) {
		<-stalled
	}
	return nil
}

func (s *stalling) set(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on {
		s.stalled = make(chan struct{})
	} else {
		close(s.stalled)
		s.stalled = nil
	}
}

// While the disk takes nothing at all, batches are appended and read up to the credit, and
// further: the log rotates some times meanwhile. (Should an Append wait for the disk, this test
// does not end.) Then the credit is used up; and when the disk works again, everything is
// durable.
func TestStalledDiskStopsNoLockHolder(t *testing.T) {
	disk := &stalling{}
	fs := vfs.NewCrashableMem()
	engine, err := pebbledb.OpenFS(errorfs.Wrap(fs, disk), dataDir, store.EngineOptions{Program: "bank", Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(engine, store.Options{Program: "bank", Log: silent, Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	const rows, size, beyond = 4, 2000, 24 << 20 // of size pairs of bytes
	disk.set(true)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	var last store.Position
	n, admitted := 0, 0
	for ; n*rows*size*2 < beyond; n++ {
		if s.Credit(done) == nil {
			admitted++
			s.Return()
		}
		last = appendGroup(s, n, rows, size)
		if _, ok, err := s.Get(groupKey(n, 0), nil); !ok || err != nil {
			t.Fatalf("group %d is not seen: %v", n, err)
		}
	}
	if mb := admitted * rows * size * 2 >> 20; mb < 15 || mb > 17 {
		t.Errorf("credit was given for %d MiB", mb)
	}
	disk.set(false)
	if err := s.Credit(t.Context()); err != nil {
		t.Error(err)
	}
	s.Return()
	if err := s.Wait(t.Context(), last); err != nil {
		t.Error(err)
	}
	image := fs.CrashClone(vfs.CrashCloneCfg{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, _ := mustOpen(t, image)
	defer again.Close()
	if got, err := readGroups(again, rows, size); got != n || err != nil {
		t.Errorf("%d of %d groups are there: %v", got, n, err)
	}
}
