package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/fault"
	"github.com/aeon-lang/aeon/runtime/snapshot"
)

// A node that has begun finds the last snapshot of its cluster, in the places of all nodes: neither one that lacks a part nor that of another cluster. From then on
// what is told counts, if it is newer.
func TestTheLastSnapshotIsFound(t *testing.T) {
	place := snapshot.Dir(t.TempDir())
	n := &NodeSnapshots{keeping: keeping{openTarget: func(context.Context, string) (snapshot.Target, error) { return place, nil }}}
	n.Snapshots, n.SnapshotEvery = "place", time.Hour
	if err := n.Open(1, func() []event.NodeID { return []event.NodeID{1, 2} }, slog.New(slog.DiscardHandler)); err != nil {
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

// While snapshots fail, what one has sent stays for the next one, and what those before have sent goes; on a full disk all of it.
func TestWhatFailedSnapshotsHaveSentGoes(t *testing.T) {
	dir, failed := t.TempDir(), errors.New("the snapshot block has failed")
	k := &keeping{target: snapshot.Dir(dir)}
	k.SnapshotKeep = 2
	attempt := func(n int, end error) (files int) {
		t.Helper()
		k.attempt(t.Context(), slog.New(slog.DiscardHandler), func() (*snapshot.Saved, error) {
			m := snapshot.Manifest{Kind: snapshot.Node, Store: "a", Program: "p", Number: uint64(n), Taken: time.Unix(int64(n), 0)}
			return snapshot.Save(t.Context(), k.target, m, func(emit func(key, row []byte) error) error {
				for i := range 1000 { // so that the first chunks are sent before the end
					if err := emit(fmt.Appendf(nil, "key %06d", i), bytes.Repeat([]byte{byte(n), byte(i)}, 500)); err != nil {
						return err
					}
				}
				return end
			})
		})
		list, err := os.ReadDir(filepath.Join(dir, "a", "chunks"))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	whole := attempt(1, nil)
	first := attempt(2, failed)
	if first <= whole {
		t.Fatalf("nothing was sent: %d files, %d before", first, whole)
	}
	for n := 3; n < 6; n++ {
		if files := attempt(n, failed); files <= whole || files > 2*first-whole {
			t.Errorf("after attempt %d there are %d files, after the first that failed %d, before that %d", n, files, first, whole)
		}
	}
	if files := attempt(6, &snapshot.DirError{Dir: dir, Kind: fault.Space, Cause: failed}); files != whole {
		t.Errorf("on a full disk %d files are left, %d are of a snapshot", files, whole)
	}
}

// A program, and a node, start while the place of their snapshots does not answer, say so, and take them there later. What cannot become right is refused, and so is
// a single snapshot.
func TestThePlaceOfSnapshotsIsAway(t *testing.T) {
	place, away := snapshot.Dir(t.TempDir()), &snapshot.AwayError{Address: "s3://b", Cause: errors.New("connection refused")}
	open := func(answer error) keeping {
		k := keeping{openTarget: func(context.Context, string) (snapshot.Target, error) { return place, answer }}
		k.Snapshots, k.SnapshotEvery = "s3://b", time.Hour
		return k
	}
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	k := open(away)
	if err := k.beginSnapshots(log); err != nil || k.target != place {
		t.Errorf("a program: %v, its place is %v", err, k.target)
	}
	n := &NodeSnapshots{keeping: open(away)}
	if err := n.Open(1, func() []event.NodeID { return nil }, log); err != nil || n.Every() != time.Hour || n.all != place || n.Began().IsZero() {
		t.Errorf("a node: %v, each %v to %v", err, n.Every(), n.all)
	}
	if text := said.String(); strings.Count(text, "level=ERROR") != 2 || strings.Count(text, "connection refused") != 2 || !strings.Contains(text, "every=1h0m0s") {
		t.Errorf("the log says\n%s", text)
	}
	wrong := errors.New("there is no bucket")
	for _, k := range []keeping{open(wrong), open(away)} {
		if _, err := k.takeStopped(t.Context(), &Package{}, ActorID{}, log); err == nil {
			t.Error("a snapshot was taken")
		}
	}
	k = open(wrong)
	if err := k.beginSnapshots(log); !errors.Is(err, wrong) {
		t.Errorf("a program: %v", err)
	}
	n = &NodeSnapshots{keeping: open(wrong)}
	if err := n.Open(1, func() []event.NodeID { return nil }, log); !errors.Is(err, wrong) {
		t.Errorf("a node: %v", err)
	}
}
