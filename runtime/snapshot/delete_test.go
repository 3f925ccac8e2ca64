package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a clean-up deletes of a snapshot goes in an order in which a crash leaves none that lacks a part: its manifest has gone
// for good before anything that it lists is touched.
func TestPruneMakesDeletionsDurableInOrder(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	to := Dir(root)
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
	var synced []string
	sync := syncDir
	defer func() { syncDir = sync }()
	syncDir = func(dir string) error {
		synced = append(synced, filepath.Base(dir))
		if len(synced) == 1 && (count("snapshots") != 1 || count("chunks") != 3) {
			t.Errorf("the first sync finds %d snapshots and %d chunks", count("snapshots"), count("chunks"))
		}
		return sync(dir)
	}
	if n, err := Prune(ctx, to, &last.Manifest, 1); n != 2 || err != nil {
		t.Errorf("Prune: %d, %v", n, err)
	}
	if got := strings.Join(synced, " "); got != "snapshots chunks" || count("chunks") != 1 {
		t.Errorf("synced: %s; %d chunks are left", got, count("chunks"))
	}
}
