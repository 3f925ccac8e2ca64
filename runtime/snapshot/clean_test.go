package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// longRows are those of the n-th snapshot of a store in which everything changes all the time: a megabyte. An error that is not nil ends them.
func longRows(n int, end error) Rows {
	return func(emit func(key, value []byte) error) error {
		for i := range 1000 {
			value := strings.Repeat(fmt.Sprintf("%d.%d ", n, i), 1000)[:1000]
			if err := emit(fmt.Appendf(nil, "key %06d", i), []byte(value)); err != nil {
				return err
			}
		}
		return end
	}
}

// bytesIn returns how many bytes all files below a directory have.
func bytesIn(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.Walk(dir, func(_ string, i os.FileInfo, err error) error {
		if err == nil && !i.IsDir() {
			n += i.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// While snapshots fail a place does not grow: it has what the last one has sent, from which the next one goes on, and nothing of those before. On a full disk
// that goes, too, and so do those that are too many, of what was to be taken alone.
func TestAPlaceDoesNotGrowWhileSnapshotsFail(t *testing.T) {
	ctx, dir, failed := context.Background(), t.TempDir(), errors.New("the snapshot block has failed")
	to := Dir(dir)
	save := func(kind Kind, n int, end error) (*Saved, error) {
		m := Manifest{Kind: kind, Store: "ab12", Program: "bank", Number: uint64(n), Taken: time.Unix(int64(n), 0)}
		if kind == Actor {
			m.Actor = "Shop/main"
		}
		return Save(ctx, to, m, longRows(n, end))
	}
	of := Wanted{Store: "ab12"}
	for n := range 5 {
		kind := Node
		if n < 2 {
			kind = Actor
		}
		if _, err := save(kind, n, nil); err != nil {
			t.Fatal(err)
		}
	}
	const keep = 3
	before := bytesIn(t, dir)
	one := before / 5
	for n := 5; n < 10; n++ {
		saved, err := save(Node, n, failed)
		if !errors.Is(err, failed) || saved == nil {
			t.Fatalf("%v, %v", saved, err)
		}
		if deleted, err := Clean(ctx, to, of, keep, &saved.Manifest); deleted != 0 || err != nil {
			t.Errorf("%d snapshots are deleted, %v", deleted, err)
		}
		if now := bytesIn(t, dir); now < before+one/4 || now > before+one*5/4 {
			t.Errorf("after attempt %d there are %d bytes, %d of them in snapshots, of which one has %d", n, now, before, one)
		}
	}
	again, err := save(Node, 9, failed)
	if !errors.Is(err, failed) || again.New != 0 {
		t.Errorf("%d files of the attempt before are sent again, %v", again.New, err)
	}
	if deleted, err := Clean(ctx, to, of, keep-1, nil); deleted != 1 || err != nil {
		t.Errorf("%d snapshots are deleted, %v", deleted, err)
	}
	if now := bytesIn(t, dir); now > before-one*3/4 {
		t.Errorf("%d bytes are left on a full disk, %d were in snapshots before", now, before)
	}
	list, damaged, err := List(ctx, to, "")
	if err != nil || len(damaged) > 0 || len(list) != 4 {
		t.Errorf("%d snapshots are left, %v, %v", len(list), damaged, err)
	}
	for i := range list {
		if err := Verify(ctx, to, &list[i]); err != nil {
			t.Error(err)
		}
	}
}
