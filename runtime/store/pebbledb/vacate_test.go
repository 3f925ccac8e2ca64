package pebbledb

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// What an attempt to make a store has left goes; a store, and the files of another program, stay.
func TestVacateRemovesWhatIsOfNoValue(t *testing.T) {
	t.Parallel() // it waits for a lock
	for _, c := range []struct {
		name  string
		files map[string]string
		left  int
	}{
		{"empty", nil, 0},
		{"a lock", map[string]string{lockName: "12\n"}, 0},
		{"half a name", map[string]string{lockName: "", aeonTemp: ""}, 0},
		{"being created", map[string]string{lockName: "", aeonName: aeonFile{format: 1, program: "p", store: "ab"}.String(), "db/x": "1"}, 0},
		{"a store", map[string]string{lockName: "", aeonName: aeonFile{format: 1, program: "p", store: "ab", ready: true}.String(), "db/x": "1"}, 3},
		{"a damaged store", map[string]string{lockName: "", aeonName: "aeon", "db/x": "1"}, 3},
		{"somebody's", map[string]string{lockName: "", "db/x": "1"}, 2},
		{"the root of a file system", map[string]string{LostAndFound + "/1": "1"}, 1},
		{"sources", map[string]string{lockName: "", "a.aeon": "1"}, 2},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			file := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		if removed, err := Vacate(dir); removed != (len(c.files) > 0 && c.left == 0) || err != nil {
			t.Errorf("%s: removed %v, %v", c.name, removed, err)
		}
		if left, err := os.ReadDir(dir); len(left) != c.left || err != nil {
			t.Errorf("%s: %v is left, %v", c.name, left, err)
		}
	}
	dir := t.TempDir()
	lock, err := lockDir(vfs.Default, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	var inUse *InUseError
	if _, err := Vacate(dir); !errors.As(err, &inUse) {
		t.Errorf("while somebody makes a store: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, lockName)); err != nil {
		t.Error(err)
	}
}
