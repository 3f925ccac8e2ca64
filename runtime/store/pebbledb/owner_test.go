package pebbledb_test

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// twins are two stores of one program that were written alike, so that their files have the same names and sizes, but with
// other rows, and tables that end at other rows.
func twins(t *testing.T, how twin) (mine, other *vfs.MemFS) {
	t.Helper()
	return how.build(t, 0), how.build(t, 100)
}

// twin says how both are made.
type twin struct {
	flushed, closed, large bool
}

func (w twin) build(t *testing.T, from int) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewCrashableMem()
	s, engine := mustOpenBy(t, pebbledb.OpenFS, fs) // with small tables some would be merged while files are exchanged
	for n := range flipGroups {
		b := s.NewBatch()
		for i := range flipRows {
			b.Set(groupKey(n, i), store.AppendRow(nil, groupKey(n, i), bytes.Repeat([]byte{byte(from + n), byte(i)}, w.size())))
		}
		if err := s.Wait(t.Context(), s.Append(b)); err != nil {
			t.Fatal(err)
		}
		if w.flushed && n%8 == 4-min(from, 1) {
			if err := engine.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if w.closed {
		return fs
	}
	return crashed
}

// size is that of a row: three large ones are a batch which pebble takes alone.
func (w twin) size() int {
	if w.large {
		return 30 << 10
	}
	return flipSize
}

// exchanged are the parts of a directory that are put into another: each file by itself, and what belongs together. Only one of them may have a log that pebble
// needs no more: it removes them beside other work.
func exchanged(t *testing.T, fs, from vfs.FS) map[string][]string {
	t.Helper()
	parts, both := map[string][]string{}, filesOf(t, from, dataDir)
	for _, file := range filesOf(t, fs, dataDir) {
		if !slices.Contains(both, file) {
			continue
		}
		parts[file] = []string{file}
		base := path.Base(file)
		log := strings.HasSuffix(base, ".log")
		for name, in := range map[string]bool{
			"db":                      path.Dir(file) != dataDir,
			"logs":                    log,
			"logs and WITNESS":        log || base == "WITNESS",
			"MANIFEST and WITNESS":    strings.HasPrefix(base, "MANIFEST") || base == "WITNESS",
			"all but logs":            path.Dir(file) != dataDir && !log,
			"all but WITNESS":         path.Dir(file) != dataDir && base != "WITNESS",
			"tables and MANIFEST":     strings.HasPrefix(base, "MANIFEST") || strings.HasSuffix(base, ".sst"),
			"AEON, MANIFEST, WITNESS": strings.HasPrefix(base, "MANIFEST") || base == "WITNESS" || base == "AEON",
		} {
			if in {
				parts[name] = append(parts[name], file)
			}
		}
	}
	return parts
}

// ownedWhole are the parts that are never taken from another store if they differ, though the rows that they lead to
// may be the store's own.
var ownedWhole = map[string]bool{"MANIFEST": true, "WITNESS": true, "MANIFEST and WITNESS": true}

// kindOf returns what a file is, for the files that are named by numbers; of other parts the name.
func kindOf(part string) string {
	base := path.Base(part)
	if kind, number, ok := strings.Cut(base, "-"); ok && number != "" {
		return kind
	}
	return base
}

// Whatever is exchanged between two stores of one program, the store is refused as damaged, or everything in it is its
// own. The same holds for a store that is opened read-only.
func TestFilesOfAnotherStore(t *testing.T) {
	for _, how := range []twin{{true, true, false}, {true, false, false}, {false, true, false}, {false, false, false}, {false, false, true}} {
		if how.large && testing.Short() {
			continue // which takes long, and goes the same way
		}
		t.Run(fmt.Sprintf("%+v", how), func(t *testing.T) {
			t.Parallel()
			mine, other := twins(t, how)
			refusals := 0
			for name, files := range exchanged(t, mine, other) {
				for action, open := range openings {
					image := mine.CrashClone(vfs.CrashCloneCfg{})
					changed := false
					for _, file := range files {
						data := contentOf(t, other, file)
						changed = changed || !bytes.Equal(data, contentOf(t, mine, file))
						exchange(t, image, file, data)
					}
					err := whole(image, open, how)
					switch {
					case refused(err):
						refusals++
					case err != nil:
						t.Errorf("%s with %s of another store: %v", action, name, err)
					case changed && ownedWhole[kindOf(name)]:
						t.Errorf("%s with %s of another store: it was taken", action, name)
					}
				}
			}
			if refusals < 10 {
				t.Errorf("only %d were refused", refusals)
			}
			t.Logf("%d were refused", refusals)
		})
	}
}

var openings = map[string]func(vfs.FS, string, store.EngineOptions) (*pebbledb.DB, error){"open": pebbledb.OpenFS, "look": pebbledb.OpenReadOnlyFS}

// exchange gives a file another content.
func exchange(t *testing.T, fs vfs.FS, path string, data []byte) {
	t.Helper()
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// whole returns an error unless all groups are there, as they were written.
func whole(fs vfs.FS, open func(vfs.FS, string, store.EngineOptions) (*pebbledb.DB, error), how twin) error {
	e, err := open(fs, dataDir, store.EngineOptions{Program: "bank", Log: silent})
	if err != nil {
		return err
	}
	n, err := readGroups(e, flipRows, how.size())
	if err == nil && n != flipGroups {
		err = fmt.Errorf("%d of %d groups are there", n, flipGroups)
	}
	if closed := e.Close(); err == nil {
		err = closed
	}
	return err
}
