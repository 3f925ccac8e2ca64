package pebbledb

import (
	"errors"
	"io"
	"os"
	"slices"

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

// Lock makes a directory in which parts are to be made, and takes it for this process until the result is closed. The errors are *InUseError and
// those of the system.
func Lock(dir string) (io.Closer, error) {
	d := newDB(vfs.Default, dir, store.EngineOptions{})
	err := makePrivateDir(d.fs, dir)
	if err == nil {
		d.lock, err = lockDir(d.fs, dir, false)
	}
	if err != nil {
		return nil, d.describe(err)
	}
	return d.lock, nil
}

// FinishParts writes the file that says that all parts are in a directory that Lock has made, durably. A crash leaves the file whole or not at all;
// without it VacateParts removes the parts. If it fails and the file is there, which may go, the error says so. The errors are those of Vacate.
func FinishParts(dir, name, text string) error {
	d := newDB(vfs.Default, dir, store.EngineOptions{})
	err := replaceFile(d.fs, dir, name, text)
	if err == nil {
		return nil
	}
	_, missing := d.fs.Stat(d.fs.PathJoin(dir, name))
	return d.describeLast(err, missing == nil)
}

// VacateParts removes what is left of parts in a directory that Lock has made, and reports whether there was something; isPart says which names
// parts have. It removes nothing if there is anything else: a store that is no part may be a program's. The errors are those of Vacate.
func VacateParts(dir string, isPart func(name string) bool) (removed bool, err error) {
	d := newDB(vfs.Default, dir, store.EngineOptions{})
	if removed, err = d.emptyParts(isPart); err != nil {
		err = d.describe(err)
	}
	return removed, err
}

func (d *DB) emptyParts(isPart func(name string) bool) (emptied bool, err error) {
	if _, ok := d.leftParts(isPart); !ok {
		return false, nil
	}
	lock, err := lockDir(d.fs, d.dir, false)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	parts, ok := d.leftParts(isPart)
	if !ok {
		return false, nil // they were finished meanwhile
	}
	for _, p := range parts {
		emptied, err := p.empty(p.isLeft)
		if err == nil && emptied {
			err = d.fs.Remove(p.dir)
		}
		if err != nil || !emptied {
			return false, err
		}
	}
	return true, d.remove(aeonTemp, lockName)
}

// leftParts returns the parts in a directory. ok is false if that is not all that is in it.
func (d *DB) leftParts(isPart func(name string) bool) (parts []*DB, ok bool) {
	names, err := d.names()
	if err != nil || !slices.Contains(names, lockName) {
		return nil, false
	}
	for _, name := range names {
		if name == lockName || name == aeonTemp {
			continue
		}
		p := newDB(d.fs, d.fs.PathJoin(d.dir, name), store.EngineOptions{})
		if inside, err := d.fs.List(p.dir); err != nil || !isPart(name) || !p.isLeft(inside) {
			return nil, false
		}
		parts = append(parts, p)
	}
	return parts, true
}

// isLeft reports whether a directory with such names has a part, or a store that is not ready, and nothing else.
func (d *DB) isLeft(names []string) bool {
	f, err := d.inspect("")
	foreign := func(name string) bool {
		return !slices.Contains([]string{pebbleDir, aeonTemp, aeonName, lockName}, name)
	}
	return err == nil && (!f.ready || f.part) && !slices.ContainsFunc(names, foreign)
}

// empty removes everything from a directory if it may, judging by the names in it, before and once it is locked.
func (d *DB) empty(may func(names []string) bool) (emptied bool, err error) {
	names, err := d.names()
	if err != nil || !may(names) {
		return false, nil // there is nothing to remove, or the next open reports the error
	}
	lock, err := lockDir(d.fs, d.dir, false)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if names, err = d.names(); err != nil || !may(names) {
		return false, err // a store was made meanwhile
	}
	return true, d.clear()
}

// clear removes what a store that is a part, or not ready, has in its directory, which is locked. AEON goes when the rest is gone for good: until then it
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
