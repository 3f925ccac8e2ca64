package pebbledb

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/aeon-lang/aeon/runtime/store"
)

// contents returns all files below dir but the locks.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == lockName {
			return err
		}
		data, err := os.ReadFile(name)
		files[name] = string(data)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	return files
}

// What was applied, and still is in the log only, is seen by who looks, and nothing is changed by looking.
func TestReadOnlyChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if _, err := OpenReadOnly(dir, store.EngineOptions{}); !errors.As(err, new(*MissingError)) {
		t.Errorf("a directory that is not there: %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it was made: %v", err)
	}
	d, err := Open(dir, store.EngineOptions{Program: "bank"})
	if err != nil {
		t.Fatal(err)
	}
	b := d.NewBatch()
	b.Set([]byte("k"), []byte("value"))
	if err := errors.Join(d.Apply(b), d.Sync()); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(dir, store.EngineOptions{}); !errors.As(err, new(*InUseError)) {
		t.Errorf("while a program uses it: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	r, err := OpenReadOnly(dir, store.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok, err := r.Get([]byte("k"), nil); err != nil || !ok || !bytes.Equal(got, []byte("value")) || r.Identity().Program != "bank" {
		t.Errorf("Get: %q, %v, %v; identity %+v", got, ok, err, r.Identity())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	after := contents(t, dir)
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s has changed", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
}
