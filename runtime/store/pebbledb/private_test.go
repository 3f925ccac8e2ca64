//go:build unix

package pebbledb_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// A directory that is made is for the user of the program alone, whatever those above it are. One that is there keeps its rights.
func TestWhatIsStoredIsPrivate(t *testing.T) {
	above := filepath.Join(t.TempDir(), "var")
	there := filepath.Join(above, "there")
	if err := os.MkdirAll(there, 0o750); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]os.FileMode{filepath.Join(above, "lib", "shop"): 0o700, there: 0o750} {
		e, err := pebbledb.Open(dir, store.EngineOptions{Program: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if i, err := os.Stat(dir); err != nil || i.Mode().Perm() != want {
			t.Errorf("%s has the mode %v (%v), expected %v", dir, i.Mode().Perm(), err, want)
		}
	}
}
