package snapshot_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/snapshot"
)

// takenAt takes a snapshot of a store by a clock that may go back.
func takenAt(t *testing.T, to snapshot.Target, number uint64, second int64) *snapshot.Saved {
	t.Helper()
	m := snapshot.Manifest{Kind: snapshot.Node, Store: "ab12", Program: "bank", Number: number, Taken: time.Unix(second, 0)}
	s, err := snapshot.Save(context.Background(), to, m, func(emit func(key, value []byte) error) error { return emit([]byte("a"), []byte{byte(number)}) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pruned deletes old snapshots, and returns the numbers of those that are left.
func pruned(t *testing.T, to snapshot.Target, like *snapshot.Saved, keep int) (numbers []uint64) {
	t.Helper()
	if _, err := snapshot.Prune(context.Background(), to, &like.Manifest, keep); err != nil {
		t.Fatal(err)
	}
	list, _, err := snapshot.List(context.Background(), to, "")
	for i := range list {
		numbers = append(numbers, list[i].Number)
		err = errors.Join(err, snapshot.Verify(context.Background(), to, &list[i]))
	}
	if err != nil {
		t.Error(err)
	}
	slices.Sort(numbers)
	return numbers
}

// When the clock was set back the snapshot made last is the newest all the same: it is kept, and found.
func TestTheClockIsSetBack(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	to := snapshot.Dir(root)
	for n := range int64(3) {
		takenAt(t, to, uint64(n+1), 100+n)
	}
	last := takenAt(t, to, 4, 50)
	if left := pruned(t, to, last, 3); !slices.Equal(left, []uint64{2, 3, 4}) {
		t.Errorf("the snapshots %d are left", left)
	}
	if f, err := snapshot.Find(ctx, to, snapshot.Wanted{}); err != nil || f.Name != last.Name {
		t.Errorf("the newest is %v, %v", f, err)
	}
	last = takenAt(t, to, 4, 40) // the store has lost the number of the one before in a crash, under --durability relaxed
	if left := pruned(t, to, last, 3); !slices.Equal(left, []uint64{3, 4, 4}) {
		t.Errorf("the snapshots %d are left", left)
	}
	if left := pruned(t, to, last, 1); !slices.Equal(left, []uint64{4}) || snapshot.Verify(ctx, to, &last.Manifest) != nil {
		t.Errorf("the snapshots %d are left, and not the last one", left)
	}
	takenAt(t, to, 3, 102)
	if err := os.Truncate(manifestOf(root, last), 100); err != nil {
		t.Fatal(err)
	}
	bad := new(snapshot.DamageError)
	if f, err := snapshot.Find(ctx, to, snapshot.Wanted{}); !errors.As(err, &bad) {
		t.Errorf("an older one is taken for the newest, which is damaged: %v, %v", f, err)
	}
}

// A store whose directory was brought back from a copy numbers its snapshots anew: what it makes now counts, and what it had made before goes first.
func TestAStoreIsBroughtBack(t *testing.T) {
	to := snapshot.Dir(t.TempDir())
	for n := range int64(3) {
		takenAt(t, to, uint64(n+11), 100+n)
	}
	for i, want := range [][]uint64{{6, 12, 13}, {6, 7, 13}, {6, 7, 8}, {7, 8, 9}} {
		last := takenAt(t, to, uint64(i+6), 200+int64(i))
		if left := pruned(t, to, last, 3); !slices.Equal(left, want) {
			t.Errorf("the snapshots %d are left, not %d", left, want)
		}
	}
}
