package pebbledb

import (
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Make makes a store in a directory that is missing or empty. The store appears there with all that fill has written to
// it, and no crash takes it away once Make has returned. If Make fails or is ended before, the directory is as it was,
// or missing; the error says so if it is there and may go. Vacate removes what Make leaves beside the directory when it
// is killed: until the directory is in its place, its lock is held.
func Make(dir string, o store.EngineOptions, fill func(*DB) error) error {
	return makeOn(vfs.Default, dir, o, fill)
}

func makeOn(fs vfs.FS, dir string, o store.EngineOptions, fill func(*DB) error) (err error) {
	fs = naming(fs, func(error) {})
	parent, staged := fs.PathDir(dir), dir+stagedMark+store.NewStoreID()[:8]
	if err := makeDir(fs, parent); err != nil {
		return describe(dir, err)
	}
	if err := syncAbove(fs, parent); err != nil {
		return describe(dir, err)
	}
	if err := fs.MkdirAll(staged, 0o700); err != nil {
		return describe(dir, err)
	}
	defer func() {
		if err != nil {
			_ = fs.RemoveAll(staged) // the error that counts is the first
		}
	}()
	d, err := OpenFS(fs, staged, o)
	if err != nil {
		return err
	}
	lock := d.lock
	defer lock.Close()
	d.lock = unlocked{}
	if err := errors.Join(fill(d), d.Close()); err != nil {
		return err
	}
	if err := fs.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return describe(dir, err)
	}
	if err := fs.Rename(staged, dir); err != nil {
		return describe(dir, err)
	}
	if err := syncDir(fs, parent); err != nil {
		return fmt.Errorf("%s is there, and a crash of the machine may take it away: %w", dir, describe(dir, err))
	}
	return nil
}
