package driver_test

import (
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// directories is a driver.FS in memory.
type directories struct{ *vfs.MemFS }

// SyncDir implements driver.FS.
func (d directories) SyncDir(dir string) error {
	f, err := d.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// placeOn returns a driver.Dir on a file system in memory.
func placeOn(fs *vfs.MemFS) driver.Dir {
	return driver.Dir{Root: "node/replica", FS: directories{fs}, Opener: func(dir string, _ store.EngineOptions) (store.Engine, error) {
		return pebbledb.OpenFS(fs, dir, store.EngineOptions{Program: "test", Log: slog.New(slog.DiscardHandler), Cache: &store.Cache{Bytes: 1 << 20}})
	}}
}

// A directory in which an engine was opened is there after a crash, with those above it: a log does not outlive the state of its group.
func TestOpenedDirectoriesSurviveACrash(t *testing.T) {
	fs := vfs.NewCrashableMem()
	if err := errors.Join(fs.MkdirAll("node", 0o700), directories{fs}.SyncDir("")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"log", "states/3/7", "states/12/1.new"} {
		e, err := placeOn(fs).Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		crashed := placeOn(fs.CrashClone(vfs.CrashCloneCfg{}))
		for above, name := dir, ""; above != "."; {
			above, name = fs.PathDir(above), fs.PathBase(above)
			if names, err := crashed.List(above); err != nil || !slices.Contains(names, name) {
				t.Errorf("%s is not in %s after a crash: %v (%v)", name, above, names, err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
