package pebbledb

import (
	"errors"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// callFS is a file system that calls before ahead of each operation, and failed with the error of each that has failed.
// What is only a hint to the system goes straight through.
type callFS struct {
	vfs.FS
	before func() // nil: nothing is called
	// failed returns the error that the caller gets. It need not return.
	failed func(op, path string, err error) error
}

func (c *callFS) begin() {
	if c.before != nil {
		c.before()
	}
}

func (c *callFS) end(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return c.failed(op, path, err)
}

func (c *callFS) file(op, path string, f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, c.failed(op, path, err)
	}
	return &callFile{f, c, path}, nil
}

// Create implements vfs.FS.
func (c *callFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	c.begin()
	f, err := c.FS.Create(name, category)
	return c.file("create", name, f, err)
}

// Open implements vfs.FS.
func (c *callFS) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	c.begin()
	f, err := c.FS.Open(name, o...)
	return c.file("open", name, f, err)
}

// OpenReadWrite implements vfs.FS.
func (c *callFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	c.begin()
	f, err := c.FS.OpenReadWrite(name, category, o...)
	return c.file("open", name, f, err)
}

// OpenDir implements vfs.FS.
func (c *callFS) OpenDir(name string) (vfs.File, error) {
	c.begin()
	f, err := c.FS.OpenDir(name)
	return c.file("open", name, f, err)
}

// ReuseForWrite implements vfs.FS.
func (c *callFS) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	c.begin()
	f, err := c.FS.ReuseForWrite(old, name, category)
	return c.file("rename", name, f, err)
}

// Link implements vfs.FS.
func (c *callFS) Link(old, name string) error {
	c.begin()
	return c.end("link", name, c.FS.Link(old, name))
}

// Remove implements vfs.FS.
func (c *callFS) Remove(name string) error {
	c.begin()
	return c.end("remove", name, c.FS.Remove(name))
}

// RemoveAll implements vfs.FS.
func (c *callFS) RemoveAll(name string) error {
	c.begin()
	return c.end("remove", name, c.FS.RemoveAll(name))
}

// Rename implements vfs.FS.
func (c *callFS) Rename(old, name string) error {
	c.begin()
	return c.end("rename", old, c.FS.Rename(old, name))
}

// MkdirAll implements vfs.FS.
func (c *callFS) MkdirAll(dir string, mode os.FileMode) error {
	c.begin()
	return c.end("mkdir", dir, c.FS.MkdirAll(dir, mode))
}

// Lock implements vfs.FS.
func (c *callFS) Lock(name string) (io.Closer, error) {
	c.begin()
	l, err := c.FS.Lock(name)
	return l, c.end("lock", name, err)
}

// List implements vfs.FS.
func (c *callFS) List(dir string) ([]string, error) {
	c.begin()
	names, err := c.FS.List(dir)
	return names, c.end("list", dir, err)
}

// Stat implements vfs.FS.
func (c *callFS) Stat(name string) (vfs.FileInfo, error) {
	c.begin()
	info, err := c.FS.Stat(name)
	return info, c.end("stat", name, err)
}

// Unwrap implements vfs.FS.
func (c *callFS) Unwrap() vfs.FS { return c.FS }

// callFile is a file of a callFS.
type callFile struct {
	vfs.File
	fs   *callFS
	path string
}

// Read implements vfs.File.
func (f *callFile) Read(p []byte) (int, error) {
	f.fs.begin()
	n, err := f.File.Read(p)
	return n, f.fs.end("read", f.path, err)
}

// ReadAt implements vfs.File.
func (f *callFile) ReadAt(p []byte, at int64) (int, error) {
	f.fs.begin()
	n, err := f.File.ReadAt(p, at)
	return n, f.fs.end("read", f.path, err)
}

// Write implements vfs.File.
func (f *callFile) Write(p []byte) (int, error) {
	f.fs.begin()
	n, err := f.File.Write(p)
	return n, f.fs.end("write", f.path, err)
}

// WriteAt implements vfs.File.
func (f *callFile) WriteAt(p []byte, at int64) (int, error) {
	f.fs.begin()
	n, err := f.File.WriteAt(p, at)
	return n, f.fs.end("write", f.path, err)
}

// Stat implements vfs.File.
func (f *callFile) Stat() (vfs.FileInfo, error) {
	f.fs.begin()
	info, err := f.File.Stat()
	return info, f.fs.end("stat", f.path, err)
}

// Sync implements vfs.File.
func (f *callFile) Sync() error {
	f.fs.begin()
	return f.fs.end("sync", f.path, f.File.Sync())
}

// SyncData implements vfs.File.
func (f *callFile) SyncData() error {
	f.fs.begin()
	return f.fs.end("sync", f.path, f.File.SyncData())
}

// SyncTo implements vfs.File.
func (f *callFile) SyncTo(length int64) (full bool, err error) {
	f.fs.begin()
	full, err = f.File.SyncTo(length)
	return full, f.fs.end("sync", f.path, err)
}

// Close implements vfs.File.
func (f *callFile) Close() error {
	f.fs.begin()
	return f.fs.end("close", f.path, f.File.Close())
}

// isFault reports whether an error is the system's, and no answer that may be expected.
func isFault(err error) bool {
	return ofSystem(err) && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrExist)
}

// naming is fs whose errors name the call and the file, which some of the system's do not. Each goes to note, too.
func naming(fs vfs.FS, note func(error)) vfs.FS {
	return &callFS{FS: fs, failed: func(op, path string, err error) error {
		if isFault(err) {
			err = named(op, path, err)
			note(err)
		}
		return err
	}}
}

func named(op, path string, err error) error {
	if errors.As(err, new(*os.PathError)) || errors.As(err, new(*os.LinkError)) {
		return err
	}
	return &os.PathError{Op: op, Path: path, Err: err}
}

// forPebble is fs as pebble sees it. A call that fails while pebble opens the store does not return, nor does any that
// begins later: pebble would close what its goroutines still use, and panic in one of them, where nothing recovers. The
// process ends, or goes on without this store.
func (d *DB) forPebble(fs vfs.FS) vfs.FS {
	return &callFS{
		FS: fs,
		before: func() {
			if d.opening.Load() {
				select {
				case <-d.stuck:
					select {}
				default:
				}
			}
		},
		failed: func(_, _ string, err error) error {
			if d.opening.Load() && isFault(err) {
				d.stop(err)
				select {}
			}
			return err
		},
	}
}
