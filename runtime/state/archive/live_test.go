package archive

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// A store whose directory was brought back from a copy has forgotten its last snapshots. The next one is the newest of the place all the same, above those
// whose manifests are damaged, too, and the store counts on from there.
func TestSnapshotsOfAPlaceAscend(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	place, other := snapshot.Dir(filepath.Join(root, "place")), snapshot.Dir(filepath.Join(root, "other"))
	engine := memengine.New()
	s, err := store.Open(engine, store.Options{Program: "bank"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// forgotten makes a snapshot that the store knows nothing of.
	forgotten := func(number uint64) string {
		m := snapshot.Manifest{Kind: snapshot.Node, Store: s.Identity().Store, Program: "bank", Number: number, Taken: time.Unix(int64(number), 0)}
		saved, err := snapshot.Save(ctx, place, m, func(emit func(key, row []byte) error) error { return NodeRows(engine, nil, emit) })
		if err != nil {
			t.Fatal(err)
		}
		return saved.Name
	}
	l := &Live{Store: s, Clock: sched.RealClock{}, Overrides: func(store.Reader) *Overrides { return nil }}
	taken := func(number uint64, to snapshot.Target) {
		t.Helper()
		saved, err := l.Snapshot(ctx, to)
		if err != nil {
			t.Fatal(err)
		}
		if saved.Number != number || s.SnapshotNumber() != number {
			t.Errorf("the store has taken %s, and knows %d, not %d", saved.Name, s.SnapshotNumber(), number)
		}
		if f, err := snapshot.Find(ctx, to, snapshot.Wanted{}); err != nil || f.Name != saved.Name {
			t.Errorf("the newest is %v, %v, and %s was made last", f, err, saved.Name)
		}
	}
	taken(1, place)
	forgotten(12)
	forgotten(13)
	taken(14, place)
	if err := os.Truncate(filepath.Join(root, "place", s.Identity().Store, "snapshots", forgotten(20)+".json"), 10); err != nil {
		t.Fatal(err)
	}
	taken(21, place)
	taken(22, other)
	stopped := Stopped{View: engine, Identity: s.Identity()}
	for want := range uint64(3) {
		if saved, err := stopped.Snapshot(ctx, place, event.ActorID{}); err != nil || saved.Number != 23+want {
			t.Errorf("the store that does not run has taken %v, %v", saved, err)
		}
	}
	taken(26, place)
}
