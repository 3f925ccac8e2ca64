package pebbledb

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Make makes a store in a directory that is missing or empty, or that Make was killed in. It fills the directory where it is, which may be a
// mount point or a link. Until all that fill has written is durable the directory says that it is being created, and its lock is held: no crash
// leaves a part for a store, and none takes the store away once Make has returned. If Make fails there is nothing in the directory; the error says so
// if the store is there and may go. Vacate removes what Make leaves when it is killed.
func Make(dir string, o store.EngineOptions, fill func(*DB) error) error {
	return makeOn(vfs.Default, dir, o, fill)
}

func makeOn(fs vfs.FS, dir string, o store.EngineOptions, fill func(*DB) error) error {
	d := newDB(fs, dir, o)
	there, err := isThere(d.fs, dir)
	if err == nil && !there {
		err = makePrivateDir(d.fs, dir)
	}
	if err != nil {
		return d.describe(err)
	}
	f, err := d.prepare(o)
	if d.lock == nil {
		return d.describe(err)
	}
	defer d.unlock(d.lock)
	d.lock = unlocked{} // Close is not the end of it
	switch {
	case err != nil:
		err = d.describe(err)
	case f.ready:
		err = fmt.Errorf("%s holds a store; name an empty directory or one that does not exist yet", dir)
	default:
		err = d.fill(f, o, fill)
	}
	if err != nil && d.vacant() && d.clear() == nil && !there {
		_ = d.fs.Remove(dir) // the error that counts is the first
	}
	return err
}

// makePrivateDir is makeDir for a directory that its owner alone may read: what is restored is not for all to see.
func makePrivateDir(fs vfs.FS, dir string) error {
	parent := fs.PathDir(dir)
	if err := makeDir(fs, parent, 0o755); err != nil {
		return err
	}
	if err := syncAbove(fs, parent); err != nil {
		return err
	}
	return mkdir(fs, dir, 0o700) // which is made durable with the store
}

// fill opens the store that was created, and says that it is ready when all that is to be in it is durable.
func (d *DB) fill(f aeonFile, o store.EngineOptions, fill func(*DB) error) error {
	if err := d.use(f, o); err != nil {
		return d.describe(err)
	}
	if err := errors.Join(fill(d), d.Close()); err != nil {
		return err
	}
	f.ready, f.part = true, o.Part
	err := f.write(d.fs, d.dir)
	if err == nil {
		return nil
	}
	now, _ := d.inspect("")
	return d.describeLast(err, now.ready)
}

// describeLast is describe for the error of what was to be written last. It may be there all the same.
func (d *DB) describeLast(err error, there bool) error {
	err = d.describe(err)
	if there {
		err = fmt.Errorf("%s is there, and a crash of the machine may take it away: %w", d.dir, err)
	}
	return err
}
