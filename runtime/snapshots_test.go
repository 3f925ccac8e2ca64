package runtime

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/snapshot"
)

// A node that has begun finds the last snapshot of its cluster, in the places of all nodes: neither one that lacks a part nor that of another cluster. From then on
// what is told counts, if it is newer.
func TestTheLastSnapshotIsFound(t *testing.T) {
	place := snapshot.Dir(t.TempDir())
	n := &NodeSnapshots{keeping: keeping{openTarget: func(context.Context, string) (snapshot.Target, error) { return place, nil }}}
	n.Snapshots, n.SnapshotEvery = "place", time.Hour
	if err := n.Open(1, func() []event.NodeID { return []event.NodeID{1, 2} }); err != nil {
		t.Fatal(err)
	}
	number := uint64(0)
	save := func(taken time.Time, stores ...string) {
		t.Helper()
		set := snapshot.NewSet(taken, 2)
		for i, store := range stores {
			at := set.At(i)
			number++
			to := snapshot.Below(place, []string{"node2", "node3"}[i], func() []string { return nil })
			m := snapshot.Manifest{Kind: snapshot.Store, Store: store, Program: "p", Number: number, Taken: taken, Set: &at}
			if _, err := snapshot.Save(t.Context(), to, m, func(func(key, row []byte) error) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	find := func(want time.Time) {
		t.Helper()
		n.find(t.Context(), "a", slog.New(slog.DiscardHandler))
		if got := n.Last(); !got.Equal(want) {
			t.Errorf("the last snapshot was taken at %v, expected %v", got, want)
		}
	}
	find(time.Time{})
	first := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	save(first, "a", "b")
	save(first.Add(time.Hour), "a") // of two
	save(first.Add(2*time.Hour), "c", "d")
	find(first)
	n.Note(first.Add(-time.Hour))
	find(first)
	n.Note(first.Add(3 * time.Hour))
	find(first.Add(3 * time.Hour))
}
