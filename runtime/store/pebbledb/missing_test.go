package pebbledb_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// testStores are stores with some of what they have in tables, in one log or in several, closed or killed.
var testStores = func() map[string]func(*testing.T) *vfs.MemFS {
	stores := map[string]func(*testing.T) *vfs.MemFS{"rotating": rotatingStore}
	for _, c := range []struct{ flushed, closed bool }{{true, false}, {true, true}, {false, false}, {false, true}} {
		stores[fmt.Sprintf("flushed=%v,closed=%v", c.flushed, c.closed)] = func(t *testing.T) *vfs.MemFS { return smallStore(t, c.flushed, c.closed) }
	}
	return stores
}()

// If any one file was removed, the store is refused, or everything is there. A log may be missing because files
// were deleted by their names, to tidy a directory up.
func TestMissingFile(t *testing.T) {
	for name, build := range testStores {
		t.Run(name, func(t *testing.T) {
			fs := build(t)
			for _, path := range filesOf(t, fs, dataDir) {
				image := fs.CrashClone(vfs.CrashCloneCfg{})
				if err := image.Remove(path); err != nil {
					t.Fatal(err)
				}
				lossIsNoticed(t, image, path)
			}
		})
	}
}

// rotatingStore crashes with several logs in use: each is full after some groups, and no table is written.
func rotatingStore(t *testing.T) *vfs.MemFS {
	t.Helper()
	fs, full := vfs.NewCrashableMem(), make(chan struct{})
	noTables := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			<-full
		}
		return nil
	})
	e, err := pebbledb.OpenSmall(errorfs.Wrap(fs, noTables), dataDir, store.EngineOptions{Program: "bank", Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(e, store.Options{Program: "bank", Log: silent, Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	filler := store.MetaKey("filler")
	for n := range flipGroups {
		b := s.NewBatch()
		b.Set(filler, store.AppendRow(nil, filler, make([]byte, 3<<10)))
		s.Append(b)
		if err := s.Wait(t.Context(), appendGroup(s, n, flipRows, flipSize)); err != nil {
			t.Fatal(err)
		}
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	close(full)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	logs := 0
	for _, path := range filesOf(t, crashed, dataDir) {
		if strings.HasSuffix(path, ".log") {
			logs++
		}
	}
	if logs < 4 {
		t.Fatalf("there are %d logs only", logs)
	}
	return crashed
}

// Files that are empty, as an attempt to repair the file system may leave them, are like files that are missing. The
// file that lists the others is itself among those that must be there.
func TestEmptyFile(t *testing.T) {
	for name, build := range testStores {
		t.Run(name, func(t *testing.T) {
			fs := build(t)
			for _, path := range filesOf(t, fs, dataDir) {
				image := fs.CrashClone(vfs.CrashCloneCfg{})
				f, err := image.Create(path, vfs.WriteCategoryUnspecified)
				if err == nil {
					err = f.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
				lossIsNoticed(t, image, path)
			}
		})
	}
}

// lossIsNoticed fails if the store is opened without a word, and lacks something. The witness is missed in any case.
func lossIsNoticed(t *testing.T, image *vfs.MemFS, path string) {
	t.Helper()
	s, _, err := openOn(image, nil)
	if err != nil {
		if !refused(err) {
			t.Errorf("without %s: refused with %v", path, err)
		}
		return
	}
	if n, err := readGroups(s, flipRows, flipSize); !refused(err) && (err != nil || n != flipGroups) {
		t.Errorf("without %s: silently lost: %d of %d groups are there, %v", path, n, flipGroups, err)
	}
	if strings.HasSuffix(path, "WITNESS") {
		t.Errorf("without %s: the missing file is not reported", path)
	}
	s.Close()
}
