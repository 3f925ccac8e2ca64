package snapshot_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/snapshot"
)

// manifestOf returns the file of a snapshot's manifest.
func manifestOf(root string, m *snapshot.Saved) string {
	return filepath.Join(root, m.Store, "snapshots", m.Name+".json")
}

// A snapshot whose manifest is damaged is named, and hides no other; an older one is not taken for the newest.
func TestADamagedManifestHidesNoSnapshot(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	to := snapshot.Dir(root)
	var all []*snapshot.Saved
	for n := range 3 {
		all = append(all, take(t, to, uint64(n), map[string]string{"a": fmt.Sprint(n)}))
	}
	for i, bad := range all {
		file := manifestOf(root, bad)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		unsummed, _, _ := strings.Cut(string(whole), "\n\"sha256:")
		for text, newer := range map[string]bool{string(whole[:100]): false, strings.Replace(unsummed, `"version": 1`, `"version": 99`, 1): true} {
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			list, damaged, err := snapshot.List(ctx, to, "")
			if err != nil || len(list) != 2 || len(damaged) != 1 || damaged[0].Snapshot() != bad.Name || (damaged[0].Trouble == snapshot.Newer) != newer {
				t.Errorf("%d: List: %v, %v, %v", i, list, damaged, err)
			}
			for j, one := range all {
				var damage *snapshot.DamageError
				m, err := snapshot.Find(ctx, to, snapshot.Wanted{Name: one.Name})
				if i == j && !errors.As(err, &damage) || i != j && (err != nil || m.Name != one.Name) {
					t.Errorf("%d: Find of %d: %v, %v", i, j, m, err)
				}
			}
			var damage *snapshot.DamageError
			m, err := snapshot.Find(ctx, to, snapshot.Wanted{})
			if i == 2 && !errors.As(err, &damage) || i != 2 && (err != nil || m.Name != all[2].Name) {
				t.Errorf("%d: Find of the newest: %v, %v", i, m, err)
			}
			if _, err := snapshot.Find(ctx, to, snapshot.Wanted{Actor: "Shop/main"}); errors.As(err, &damage) {
				t.Errorf("%d: Find of an actor: %v", i, err)
			}
		}
		if err := os.WriteFile(file, whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Old snapshots are deleted beside one whose manifest is damaged. What they have had stays until that is as old as
// they are, and goes with it.
func TestPruneGoesOnBesideADamagedManifest(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	to := snapshot.Dir(root)
	number := uint64(0)
	next := func() *snapshot.Saved {
		number++
		return take(t, to, number, map[string]string{"a": fmt.Sprint(number)})
	}
	state := func() (list []snapshot.Manifest, chunks int) {
		list, _, err := snapshot.List(ctx, to, "")
		if err != nil {
			t.Fatal(err)
		}
		entries, err := to.List(ctx, "ab12/chunks/")
		if err != nil {
			t.Fatal(err)
		}
		return list, len(entries)
	}
	next()
	bad := next()
	if err := os.Truncate(manifestOf(root, bad), 100); err != nil {
		t.Fatal(err)
	}
	last := next()
	_, err := snapshot.Prune(ctx, to, &last.Manifest, 2) // 1 and 3 are kept
	var damage *snapshot.DamageError
	if !errors.As(err, &damage) || damage.Snapshot() != bad.Name {
		t.Errorf("Prune: %v", err)
	}
	if list, chunks := state(); len(list) != 2 || chunks != 3 {
		t.Errorf("%d snapshots and %d chunks are left", len(list), chunks)
	}
	last = next()
	if n, err := snapshot.Prune(ctx, to, &last.Manifest, 2); n != 2 || err != nil { // the first, and the damaged one with it
		t.Errorf("Prune: %d, %v", n, err)
	}
	if list, chunks := state(); len(list) != 2 || chunks != 2 || list[0].Number != 3 {
		t.Errorf("%v and %d chunks are left", list, chunks)
	}
	if _, err := os.Stat(manifestOf(root, bad)); !os.IsNotExist(err) {
		t.Errorf("the damaged one: %v", err)
	}
}

// What a snapshot has sent that was never finished goes with the next clean-up.
func TestPruneDeletesWhatNoSnapshotHas(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	to := snapshot.Dir(root)
	killed := take(t, to, 1, map[string]string{"a": "killed"})
	if err := os.Remove(manifestOf(root, killed)); err != nil {
		t.Fatal(err)
	}
	last := take(t, to, 2, map[string]string{"a": "whole"})
	if n, err := snapshot.Prune(ctx, to, &last.Manifest, 5); n != 0 || err != nil {
		t.Errorf("Prune: %d, %v", n, err)
	}
	if entries, err := to.List(ctx, "ab12/chunks/"); len(entries) != 1 || err != nil {
		t.Errorf("%v, %v", entries, err)
	}
	if err := snapshot.Verify(ctx, to, &last.Manifest); err != nil {
		t.Error(err)
	}
}

// Sizes that no chunk can have are damage, whatever the checksum says, and no memory is reserved for
// them.
func TestImpossibleSizes(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	to := snapshot.Dir(root)
	one := take(t, to, 1, map[string]string{"a": "1"})
	file := manifestOf(root, one)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(whole), "\n\"sha256:")
	for was, now := range map[string]string{
		fmt.Sprintf(`"bytes": %d`, one.Chunks[0].Bytes): fmt.Sprintf(`"bytes": %d`, int64(1)<<60),
		`"rows": 1,`: fmt.Sprintf(`"rows": %d,`, int64(1)<<60),
	} {
		hostile := strings.Replace(text, was, now, 1)
		if hostile == text {
			t.Fatalf("there is no %s in %s", was, text)
		}
		hostile = fmt.Sprintf("%s\n\"sha256:%x\"\n", hostile, sha256.Sum256([]byte(hostile)))
		if err := os.WriteFile(file, []byte(hostile), 0o666); err != nil {
			t.Fatal(err)
		}
		list, damaged, err := snapshot.List(ctx, to, "")
		if err != nil || len(list) != 0 || len(damaged) != 1 || !strings.Contains(damaged[0].Error(), fmt.Sprint(int64(1)<<60)) {
			t.Errorf("%s: %v, %v, %v", now, list, damaged, err)
		}
	}
}

// A later snapshot relies on content that is there, and does not read it again. A read names content that has rotted.
// Once that was deleted, the next snapshot brings it back for all snapshots that have it; content of another length
// comes back by itself.
func TestRottenContent(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	to := snapshot.Dir(root)
	content := map[string]string{"a": "the same"}
	first := take(t, to, 1, content)
	file := filepath.Join(root, first.Store, "chunks", first.Chunks[0].SHA256)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n, rotten := range []string{strings.Replace(string(whole), "same", "lame", 1), string(whole[:len(whole)-1])} {
		if err := os.WriteFile(file, []byte(rotten), 0o666); err != nil {
			t.Fatal(err)
		}
		var damage *snapshot.DamageError
		if err := snapshot.Verify(ctx, to, &first.Manifest); !errors.As(err, &damage) || !strings.HasSuffix(file, filepath.FromSlash(damage.Name)) {
			t.Fatalf("Verify: %v", err)
		}
		if len(rotten) == len(whole) {
			if next := take(t, to, uint64(10*n+2), content); next.New != 0 || !strings.Contains(damage.Error(), "until it is deleted") {
				t.Errorf("a snapshot sent %d chunks, and it is said: %v", next.New, damage)
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		if next := take(t, to, uint64(10*n+3), content); next.New != 1 {
			t.Errorf("the next snapshot sent %d chunks", next.New)
		}
		if err := snapshot.Verify(ctx, to, &first.Manifest); err != nil {
			t.Error(err)
		}
	}
}
