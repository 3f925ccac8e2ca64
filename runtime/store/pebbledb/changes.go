package pebbledb

import (
	"io"
	"os"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fileChanges are the calls by which an engine changes files. A pebble that was stopped in the middle of something has
// goroutines left that go on. The lock of the directory outlasts their calls, so that none of them writes beside another
// engine, which may be one of this process.
type fileChanges struct {
	mu       sync.Mutex
	underWay int
	ended    bool     // none begins any more
	last     []func() // are called when none is under way
}

// begin does not return once end was called: its goroutine is one of a pebble that was stopped.
func (c *fileChanges) begin() {
	c.mu.Lock()
	ended := c.ended
	if !ended {
		c.underWay++
	}
	c.mu.Unlock()
	if ended {
		select {}
	}
}

func (c *fileChanges) done() {
	c.mu.Lock()
	var last []func()
	if c.underWay--; c.underWay == 0 {
		last, c.last = c.last, nil
	}
	c.mu.Unlock()
	for _, f := range last {
		f()
	}
}

// end has no change begin any more, and closes l when none is under way. It does not wait for that: on a disk that hangs
// a call may never return. Then the result is nil.
func (c *fileChanges) end(l io.Closer) error {
	c.mu.Lock()
	c.ended = true
	later := c.underWay > 0
	if later {
		c.last = append(c.last, func() { l.Close() }) // a failure has no other caller to go to
	}
	c.mu.Unlock()
	if later {
		return nil
	}
	return l.Close()
}

// unlock gives the directory back, or has the last change that is under way do so.
func (d *DB) unlock(l io.Closer) error { return d.changes.end(l) }

// changeFS counts the calls that change something. A sync changes nothing.
type changeFS struct {
	vfs.FS
	changes *fileChanges
}

func (c *changeFS) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &changeFile{f, c.changes}, nil
}

// Create implements vfs.FS.
func (c *changeFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	c.changes.begin()
	defer c.changes.done()
	return c.file(c.FS.Create(name, category))
}

// OpenReadWrite implements vfs.FS: it makes a file that is missing.
func (c *changeFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	c.changes.begin()
	defer c.changes.done()
	return c.file(c.FS.OpenReadWrite(name, category, o...))
}

// ReuseForWrite implements vfs.FS.
func (c *changeFS) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	c.changes.begin()
	defer c.changes.done()
	return c.file(c.FS.ReuseForWrite(old, name, category))
}

// Link implements vfs.FS.
func (c *changeFS) Link(old, name string) error {
	c.changes.begin()
	defer c.changes.done()
	return c.FS.Link(old, name)
}

// Remove implements vfs.FS.
func (c *changeFS) Remove(name string) error {
	c.changes.begin()
	defer c.changes.done()
	return c.FS.Remove(name)
}

// RemoveAll implements vfs.FS.
func (c *changeFS) RemoveAll(name string) error {
	c.changes.begin()
	defer c.changes.done()
	return c.FS.RemoveAll(name)
}

// Rename implements vfs.FS.
func (c *changeFS) Rename(old, name string) error {
	c.changes.begin()
	defer c.changes.done()
	return c.FS.Rename(old, name)
}

// MkdirAll implements vfs.FS.
func (c *changeFS) MkdirAll(dir string, mode os.FileMode) error {
	c.changes.begin()
	defer c.changes.done()
	return c.FS.MkdirAll(dir, mode)
}

// Unwrap implements vfs.FS.
func (c *changeFS) Unwrap() vfs.FS { return c.FS }

// changeFile is a file of a changeFS.
type changeFile struct {
	vfs.File
	changes *fileChanges
}

// Write implements vfs.File.
func (f *changeFile) Write(p []byte) (int, error) {
	f.changes.begin()
	defer f.changes.done()
	return f.File.Write(p)
}

// WriteAt implements vfs.File.
func (f *changeFile) WriteAt(p []byte, at int64) (int, error) {
	f.changes.begin()
	defer f.changes.done()
	return f.File.WriteAt(p, at)
}
