package pebbledb

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/store"
)

// OpenReadOnly opens the store in a directory for reading, whatever its program is if o names none. It changes nothing,
// and needs only the right to read. One of the stores of a cluster can be read, too. Readers share its lock, so that no program uses the directory meanwhile. The errors
// are those of Open for a store that must exist. Nothing may be applied to the result.
func OpenReadOnly(dir string, o store.EngineOptions) (*DB, error) {
	return openReadOnlyFS(vfs.Default, dir, o)
}

// Identify returns the program and the store of a directory, whether a process uses it or not. The
// errors are those of OpenReadOnly.
func Identify(dir string) (store.Identity, error) {
	d := newDB(vfs.Default, dir, store.EngineOptions{})
	f, err := d.present("")
	if err != nil {
		return store.Identity{}, d.describe(err)
	}
	return store.Identity{Store: f.store, Program: f.program, Place: dir}, nil
}

func openReadOnlyFS(fs vfs.FS, dir string, o store.EngineOptions) (*DB, error) {
	d := newDB(fs, dir, o)
	d.readOnly = true
	if err := d.openReadOnly(o); err != nil {
		if d.lock != nil {
			d.unlock(d.lock) // the error that counts is the first
		}
		return nil, d.describe(err)
	}
	return d, nil
}

func (d *DB) openReadOnly(o store.EngineOptions) error {
	f, err := d.present(o.Program)
	if err != nil {
		return err
	}
	if d.lock, err = lockDir(d.fs, d.dir, true); err != nil {
		return err
	}
	d.identity, d.part = store.Identity{Store: f.store, Program: f.program, Place: d.dir}, f.part
	_, err = d.openPebble(f, o)
	return err
}
