package pebbledb

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// A reader sees what was applied and still is in the log only, and reading changes nothing.
func TestReadOnlyChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if _, err := OpenReadOnly(dir, store.EngineOptions{}); !errors.As(err, new(*MissingError)) {
		t.Errorf("a directory that is not there: %v", err)
	}
	if _, err := Open(dir, store.EngineOptions{Program: "bank", MustExist: true}); !errors.Is(err, store.ErrMissing) {
		t.Errorf("a store that must exist, and does not: %v", err)
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

// An error about a missing store, of a reader or of a program that goes on with one, names what is there instead, and
// says to look elsewhere. Only for an empty place does it say that a store could be made there.
func TestWhatIsThereInsteadOfAStoreIsNamed(t *testing.T) {
	const remedy = "; name the directory that the program was given with --data"
	for _, c := range []struct {
		files, want string // PARENT/DIR/file …
		free        bool
	}{
		{"", "DIR holds no data of an aeon program", true},
		{"DIR/LOCK", "DIR holds no data of an aeon program", true},
		{"DIR/a.txt DIR/shop.aeon", "DIR is a folder of sources (shop.aeon is in it), and no data directory of aeon", false},
		{"DIR/thesis.tex DIR/a.txt", "DIR is no data directory of aeon (a.txt is in it)", false},
		{"DIR", "DIR is a file, and no data directory of aeon", false},
		{"PARENT", "PARENT is a file, and no data directory of aeon", false},
	} {
		parent := filepath.Join(t.TempDir(), "p")
		dir := filepath.Join(parent, "d")
		for name := range strings.FieldsSeq(c.files) {
			name = strings.NewReplacer("PARENT", parent, "DIR", dir).Replace(name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		_, look := OpenReadOnly(dir, store.EngineOptions{})
		_, whose := Identify(dir)
		_, goOn := Open(dir, store.EngineOptions{Program: "bank", MustExist: true})
		for i, err := range []error{look, whose, goOn} {
			if !errors.As(err, new(*MissingError)) || errors.Is(err, store.ErrMissing) != c.free {
				t.Errorf("%q, %d: %T %v", c.files, i, err, err)
			} else if got := strings.NewReplacer(dir, "DIR", parent, "PARENT").Replace(err.Error()); got != c.want+remedy {
				t.Errorf("%q, %d: %s, want %s", c.files, i, got, c.want+remedy)
			}
		}
	}
}

// Several readers may share the lock, and leave the file as it was. A program that would start meanwhile is refused,
// and the error does not name the id of a process that has ended long ago.
func TestReadersShareAndExcludeWriters(t *testing.T) {
	t.Parallel() // it waits for a lock
	dir := filepath.Join(t.TempDir(), "data")
	d, err := Open(dir, store.EngineOptions{Program: "bank"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, lockName)
	before, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	one, err := OpenReadOnly(dir, store.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	two, err := OpenReadOnly(dir, store.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var inUse *InUseError
	if _, err := Open(dir, store.EngineOptions{Program: "bank"}); !errors.As(err, &inUse) || inUse.PID != 0 {
		t.Errorf("a program starts while others look: %v", err)
	}
	if err := errors.Join(one.Close(), two.Close()); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(lock); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the lock says %q after %q, %v", after, before, err)
	}
	if _, err := os.Stat(filepath.Join(dir, pebbleDir, "LOCK")); !os.IsNotExist(err) {
		t.Errorf("there is another lock: %v", err)
	}
}
