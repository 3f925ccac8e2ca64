package pebbledb

import (
	"errors"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Vacate empties a directory in which there is nothing but what a process has left that could not make a store there, for a
// full disk perhaps. Any other stays as it is. The errors are *InUseError, and those of the system.
func Vacate(dir string) error {
	d := &DB{fs: vfs.Default, dir: dir}
	names, err := d.fs.List(dir)
	if err != nil || len(names) == 0 || !d.vacant() {
		return nil // there is nothing to remove, or who uses the directory says what the matter is
	}
	lock, err := lockDir(d.fs, dir, false)
	if err != nil {
		return d.describe(err)
	}
	defer lock.Close()
	if !d.vacant() {
		return nil // somebody has made one meanwhile
	}
	for _, name := range []string{pebbleDir, aeonTemp, aeonName, lockName} {
		if err := d.fs.RemoveAll(d.fs.PathJoin(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return d.describe(err)
		}
	}
	return nil
}

// vacant reports whether a store may be made in the directory, for there is none in it, nor anything else.
func (d *DB) vacant() bool {
	f, err := d.inspect("")
	return err == nil && !f.ready
}
