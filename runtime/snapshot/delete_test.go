package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A clean-up deletes a snapshot in an order in which a crash leaves none that lacks a part: its manifest has gone for
// good before anything that it lists is touched.
func TestPruneMakesDeletionsDurableInOrder(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	watched := &watchedSyncs{}
	to := &directory{root, watched}
	var last *Saved
	for n := range 3 {
		m := Manifest{Kind: Node, Store: "ab12", Program: "bank", Number: uint64(n), Taken: time.Unix(int64(n), 0)}
		var err error
		last, err = Save(ctx, to, m, func(emit func(key, value []byte) error) error { return emit([]byte("a"), []byte{byte(n)}) })
		if err != nil {
			t.Fatal(err)
		}
	}
	count := func(dir string) int {
		list, err := os.ReadDir(filepath.Join(root, "ab12", dir))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	watched.before = func(dir string) {
		watched.synced = append(watched.synced, filepath.Base(dir))
		if len(watched.synced) == 1 && (count("snapshots") != 1 || count("chunks") != 3) {
			t.Errorf("the first sync finds %d snapshots and %d chunks", count("snapshots"), count("chunks"))
		}
	}
	if n, err := Prune(ctx, to, &last.Manifest, 1); n != 2 || err != nil {
		t.Errorf("Prune: %d, %v", n, err)
	}
	if got := strings.Join(watched.synced, " "); got != "snapshots chunks" || count("chunks") != 1 {
		t.Errorf("synced: %s; %d chunks are left", got, count("chunks"))
	}
}

// watchedSyncs looks on while directories are synced.
type watchedSyncs struct {
	osFiles
	before func(dir string)
	synced []string
}

func (w *watchedSyncs) Open(path string) (file, error) {
	f, err := w.osFiles.Open(path)
	return &watchedFile{f, w}, err
}

type watchedFile struct {
	file
	of *watchedSyncs
}

func (f *watchedFile) Sync() error {
	if f.of.before != nil {
		f.of.before(f.Name())
	}
	return f.file.Sync()
}
