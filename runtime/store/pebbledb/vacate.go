package pebbledb

import (
	"errors"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Vacate removes what is left of attempts to make a store in a directory, on a full disk perhaps, and reports whether
// there was some. It empties the directory, which itself stays, unless there is anything else in it. The errors are
// *InUseError if a process is about to make a store, and those of the system.
func Vacate(dir string) (removed bool, err error) { return vacateOn(vfs.Default, dir) }

func vacateOn(fs vfs.FS, dir string) (removed bool, err error) {
	d := newDB(fs, dir, store.EngineOptions{})
	removed, err = d.empty(func(names []string) bool { return len(names) > 0 && d.vacant() })
	if err != nil {
		err = d.describe(err)
	}
	return removed, err
}

// empty removes everything from a directory if it may, judging by the names in it, before and once it is locked.
func (d *DB) empty(may func(names []string) bool) (emptied bool, err error) {
	names, err := d.fs.List(d.dir)
	if err != nil || !may(names) {
		return false, nil // there is nothing to remove, or the next open reports the error
	}
	lock, err := lockDir(d.fs, d.dir, false)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if names, err = d.fs.List(d.dir); err != nil || !may(names) {
		return false, err // a store was made meanwhile
	}
	return true, d.clear()
}

// clear removes what a store that is not ready has in its directory, which is locked. AEON goes when the rest is gone for good: until then it
// says that the rest is of no value.
func (d *DB) clear() error {
	if err := d.remove(pebbleDir, aeonTemp); err != nil {
		return err
	}
	if err := syncDir(d.fs, d.dir); err != nil {
		return err
	}
	return d.remove(aeonName, lockName)
}

func (d *DB) remove(names ...string) error {
	for _, name := range names {
		if err := d.fs.RemoveAll(d.fs.PathJoin(d.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// vacant reports whether a store may be made in the directory: there is neither a store in it, nor
// anything else.
func (d *DB) vacant() bool {
	f, err := d.inspect("")
	return err == nil && !f.ready
}
