package pebbledb_test

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

const (
	witnessPath  = dataDir + "/db/WITNESS"
	witnessSlot  = 4096
	witnessEntry = 28
)

func contentOf(t *testing.T, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// replaced is an image of fs in which a file has another content.
func replaced(t *testing.T, fs *vfs.MemFS, path string, data []byte) *vfs.MemFS {
	t.Helper()
	image := fs.CrashClone(vfs.CrashCloneCfg{})
	f, err := image.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return image
}

// cuts are the places where to cut a WITNESS: in each of its entries, before, and behind.
func cuts() (list []int) {
	for at := 0; at < pebbledb.WitnessBytes; at += witnessSlot {
		for _, n := range []int{at, at + witnessEntry/2, at + witnessEntry, at + witnessSlot - 1} {
			if n < pebbledb.WitnessBytes {
				list = append(list, n)
			}
		}
	}
	return append(list, pebbledb.WitnessBytes-1)
}

// everythingIsThere opens the store, which must have all groups, and closes it.
func everythingIsThere(t *testing.T, when string, fs vfs.FS) {
	t.Helper()
	s, _, err := openOn(fs, nil)
	if err != nil {
		t.Errorf("%s: %v", when, err)
		return
	}
	if n, err := readGroups(s, flipRows, flipSize); n != flipGroups || err != nil {
		t.Errorf("%s: %d of %d groups are there, %v", when, n, flipGroups, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("%s: %v", when, err)
	}
}

// A WITNESS that was cut is missed, wherever that was: also behind the entries of the manifests, where what is lost says
// which logs there must be.
func TestCutWitness(t *testing.T) {
	for name, build := range testStores {
		t.Run(name, func(t *testing.T) {
			fs := build(t)
			data := contentOf(t, fs, witnessPath)
			everythingIsThere(t, "whole", replaced(t, fs, witnessPath, data))
			for _, n := range cuts() {
				if s, _, err := openOn(replaced(t, fs, witnessPath, data[:n]), nil); !refused(err) {
					t.Errorf("cut at %d of %d: %v", n, len(data), err)
					if err == nil {
						s.Close()
					}
				}
			}
		})
	}
}

// The entry that was being written when a process ended is torn: that is not taken for a cut.
func TestTornWitness(t *testing.T) {
	for name, build := range testStores {
		t.Run(name, func(t *testing.T) {
			fs := build(t)
			data := contentOf(t, fs, witnessPath)
			for at := 0; at < pebbledb.WitnessBytes; at += witnessSlot {
				torn := append([]byte(nil), data...)
				clear(torn[at+witnessEntry/2 : at+witnessEntry])
				if s, _, err := openOn(replaced(t, fs, witnessPath, torn), nil); err == nil {
					s.Close()
				} else {
					t.Errorf("torn at %d: %v", at, err)
				}
			}
		})
	}
}

// A store of an older version has a shorter WITNESS: it opens, with all that is in it, and has a whole one from then on.
func TestOldWitness(t *testing.T) {
	for name, build := range testStores {
		t.Run(name, func(t *testing.T) {
			fs := build(t)
			old := pebbledb.OldWitness(contentOf(t, fs, witnessPath))
			if len(old) >= pebbledb.WitnessBytes {
				t.Fatalf("it has %d bytes", len(old))
			}
			image := replaced(t, replaced(t, fs, witnessPath, old), dataDir+"/AEON", pebbledb.OldAeonFile(contentOf(t, fs, dataDir+"/AEON")))
			everythingIsThere(t, "old", image)
			data := contentOf(t, image, witnessPath)
			everythingIsThere(t, "again", replaced(t, image, witnessPath, data))
			if _, _, err := openOn(replaced(t, image, witnessPath, data[:len(old)]), nil); !refused(err) {
				t.Errorf("cut at %d of %d: %v", len(old), len(data), err)
			}
		})
	}
}

// The first WITNESS is durable in its directory before pebble goes on.
func TestFirstWitnessIsMadeDurable(t *testing.T) {
	for name, base := range map[string]vfs.FS{"system": vfs.Default, "memory": vfs.NewMem()} {
		dir, made, synced := filepath.Join(t.TempDir(), "data"), false, false
		fs := errorfs.Wrap(base, errorfs.InjectorFunc(func(op errorfs.Op) error {
			switch {
			case op.Kind == errorfs.OpFileSyncData && filepath.Base(op.Path) == "WITNESS":
				made = true
			case op.Kind == errorfs.OpOpenDir && filepath.Base(op.Path) == "db":
				synced = synced || made
			case op.Kind == errorfs.OpCreate && strings.HasPrefix(filepath.Base(op.Path), "marker.manifest.000001"):
				if !synced {
					t.Errorf("%s: the marker is made before the WITNESS is durable", name)
				}
			}
			return nil
		}))
		d, err := pebbledb.OpenFS(fs, dir, store.EngineOptions{Program: "bank", Log: silent})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if !made {
			t.Errorf("%s: there is no WITNESS", name)
		}
	}
}
