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

// takenAt takes a snapshot of a store, which knows of one with the number last, by a clock that may go back.
func takenAt(t *testing.T, to snapshot.Target, last uint64, second int64) *snapshot.Saved {
	t.Helper()
	number, err := snapshot.NextNumber(context.Background(), to, "ab12", last)
	if err != nil {
		t.Fatal(err)
	}
	m := snapshot.Manifest{Kind: snapshot.Node, Store: "ab12", Program: "bank", Number: number, Taken: time.Unix(second, 0)}
	s, err := snapshot.Save(context.Background(), to, m, func(emit func(key, value []byte) error) error { return emit([]byte("a"), []byte{byte(number)}) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pruned deletes old snapshots, and returns the numbers of those that are left; the content of others stays while a manifest is damaged.
func pruned(t *testing.T, to snapshot.Target, like *snapshot.Saved, keep int) (numbers []uint64) {
	t.Helper()
	if _, err := snapshot.Prune(context.Background(), to, &like.Manifest, keep); err != nil && !errors.As(err, new(*snapshot.DamageError)) {
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
		takenAt(t, to, uint64(n), 100+n)
	}
	last := takenAt(t, to, 3, 50)
	if left := pruned(t, to, last, 3); !slices.Equal(left, []uint64{2, 3, 4}) {
		t.Errorf("the snapshots %d are left", left)
	}
	if f, err := snapshot.Find(ctx, to, snapshot.Wanted{}); err != nil || f.Name != last.Name {
		t.Errorf("the newest is %v, %v", f, err)
	}
	last = takenAt(t, to, 3, 40) // the store has lost the number of the one before in a crash, under --durability relaxed
	if left := pruned(t, to, last, 3); !slices.Equal(left, []uint64{3, 4, 5}) {
		t.Errorf("the snapshots %d are left", left)
	}
	if err := os.Truncate(manifestOf(root, last), 100); err != nil {
		t.Fatal(err)
	}
	bad := new(snapshot.DamageError)
	if f, err := snapshot.Find(ctx, to, snapshot.Wanted{}); !errors.As(err, &bad) {
		t.Errorf("an older one is taken for the newest, which is damaged: %v, %v", f, err)
	}
}

// A store whose directory was brought back from a copy goes on behind what it had sent to a place before: what it makes now is the newest, and what it had
// made before goes first, even if a manifest of that is damaged.
func TestAStoreIsBroughtBack(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	to := snapshot.Dir(root)
	for n := range int64(3) {
		takenAt(t, to, uint64(n+10), 100+n)
	}
	last := takenAt(t, to, 13, 110)
	if err := os.Truncate(manifestOf(root, last), 100); err != nil {
		t.Fatal(err)
	}
	knows := uint64(5)
	for i, want := range [][]uint64{{12, 13, 15}, {13, 15, 16}, {15, 16, 17}, {16, 17, 18}} {
		last := takenAt(t, to, knows, 200+int64(i))
		knows = last.Number
		_, err := snapshot.Prune(ctx, to, &last.Manifest, 3)
		if bad := new(snapshot.DamageError); errors.As(err, &bad) != (i < 2) {
			t.Errorf("beside %d and one whose manifest is damaged: %v", want, err)
		}
		if left := pruned(t, to, last, 3); !slices.Equal(left, want) {
			t.Errorf("the snapshots %d are left, not %d", left, want)
		}
		if f, err := snapshot.Find(ctx, to, snapshot.Wanted{}); err != nil || f.Name != last.Name {
			t.Errorf("the newest is %v, %v, and %s was made last", f, err, last.Name)
		}
	}
	if files, err := to.List(ctx, "ab12/"); err != nil || len(files) != 6 {
		t.Errorf("of 3 snapshots there are %v, %v", files, err)
	}
}

// A store of a cluster that was brought back goes on behind what it had sent to the places of all nodes. What is made stays at least as long as nothing newer
// is, though its number is lower, as another place could not be read when it was made.
func TestAStoreOfAClusterIsBroughtBack(t *testing.T) {
	ctx, root := context.Background(), snapshot.Dir(t.TempDir())
	before := snapshot.Below(root, "node1", nil)
	for n := range int64(3) {
		takenAt(t, before, uint64(n+9), 100+n)
	}
	now := snapshot.Below(root, "node2", func() []string { return []string{"node1"} })
	alone := takenAt(t, snapshot.Below(root, "node2", nil), 5, 200)
	if left := pruned(t, now, alone, 3); !slices.Equal(left, []uint64{6}) {
		t.Errorf("the snapshots %d are left of one with the number 6", left)
	}
	last := takenAt(t, now, 6, 201)
	if left := pruned(t, now, last, 3); !slices.Equal(left, []uint64{13}) {
		t.Errorf("the snapshots %d are left, and 13 was made last", left)
	}
	if list, _, err := snapshot.List(ctx, before, ""); err != nil || len(list) != 3 {
		t.Errorf("%d snapshots are in the other place, %v", len(list), err)
	}
}
