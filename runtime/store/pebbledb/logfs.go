package pebbledb

import (
	"errors"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFS is the file system that pebble sees. It takes what pebble does to its logs into a
// queue, which Sync works off. Pebble writes, closes and creates logs while a commit waits,
// and commits hold locks, so that none of these operations may wait for the disk.
// Everything else goes straight through.
//
// In the order of the queue, each log is complete and synced before anything happens to the
// next one, and nothing that pebble writes behind a sync reaches the file before what is in
// front of it is durable. That is what pebble relies on when it reads logs.
//
// A manifest is synced after the queue has been worked off, so that the log which it calls
// the oldest in use is there.
type logFS struct {
	vfs.FS
	dir string // of the logs
	q   *logQueue
	w   *witness
	// fatal takes an error that pebble would panic with.
	fatal func(error)
	// table checks a table that is opened for the first time; tables are those that it has found good.
	table  func(name string) error
	tables sync.Map
}

const (
	logDirName     = "log"
	logSuffix      = ".log"
	manifestPrefix = "MANIFEST-"
)

func (d *DB) newLogFS(pebbleDir string) *logFS {
	fs := vfs.FS(&changeFS{d.fs, &d.changes})
	w := &witness{fs: fs, id: d.id, path: fs.PathJoin(pebbleDir, witnessName)}
	zeros := make([]byte, fillLess)
	if vfs.Root(fs) == vfs.Default {
		zeros = make([]byte, fillBytes)
	}
	return &logFS{FS: fs, fatal: d.fatal, table: d.checkTable, dir: fs.PathJoin(pebbleDir, logDirName), q: &logQueue{fs: fs, witness: w, zeros: zeros}, w: w}
}

func (fs *logFS) isLog(name string) bool {
	return strings.HasSuffix(name, logSuffix) && fs.PathDir(name) == fs.dir
}

// Lock implements vfs.FS: the lock of the data directory is enough. Pebble would keep its own for ever if it was stopped.
func (fs *logFS) Lock(string) (io.Closer, error) { return unlocked{}, nil }

// Create implements vfs.FS.
func (fs *logFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if fs.isLog(name) {
		return fs.newLog(logOp{kind: opCreate}, name, 0), nil
	}
	f, err := fs.FS.Create(name, c)
	if base := fs.PathBase(name); err == nil && strings.HasPrefix(base, manifestPrefix) {
		return &manifestFile{File: f, fs: fs, dir: fs.PathDir(name), number: manifestNumber(base)}, nil
	}
	return f, err
}

// ReuseForWrite implements vfs.FS. The log that is reused is there: it went out of use by a
// manifest, before which the queue was worked off.
func (fs *logFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if !fs.isLog(name) {
		return fs.FS.ReuseForWrite(old, name, c)
	}
	info, err := fs.FS.Stat(old)
	if err != nil {
		return fs.newLog(logOp{kind: opCreate}, name, 0), nil
	}
	return fs.newLog(logOp{kind: opReuse, old: old}, name, info.Size()), nil
}

// newLog queues the op that makes a log.
func (fs *logFS) newLog(op logOp, name string, size int64) *logFile {
	op.file = &logFile{q: fs.q, name: name, number: logNumber(fs.PathBase(name)), reused: size}
	fs.q.push(op)
	return op.file
}

// Open implements vfs.FS: a reader sees what pebble has synced.
func (fs *logFS) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	if fs.isLog(name) {
		if err := fs.q.drain(); err != nil {
			return nil, err
		}
	}
	if _, known := fs.tables.Load(name); !known && strings.HasSuffix(name, tableSuffix) {
		if err := fs.table(name); err != nil {
			return nil, err
		}
		fs.tables.Store(name, nil)
	}
	return fs.FS.Open(name, o...)
}

// Remove implements vfs.FS.
func (fs *logFS) Remove(name string) error {
	fs.tables.Delete(name)
	return fs.FS.Remove(name)
}

// OpenDir implements vfs.FS.
func (fs *logFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	if name == fs.dir {
		return &logDir{f, fs.q, name}, nil
	}
	return &dirFile{f, fs.fatal}, nil
}

// close finishes what pebble has left to do.
func (fs *logFS) close() error {
	err := fs.q.drain()
	if end := fs.q.durable(); err == nil && end.log != 0 {
		err = fs.w.log(uint64(end.log), end.offset, true)
	}
	if closed := fs.w.close(); err == nil {
		err = closed
	}
	return err
}

// Unwrap implements vfs.FS.
func (fs *logFS) Unwrap() vfs.FS { return fs.FS }

// dirFile is any other directory.
type dirFile struct {
	vfs.File
	fatal func(error)
}

// Sync implements vfs.File.
func (d *dirFile) Sync() error {
	err := d.File.Sync()
	if err != nil {
		d.fatal(err)
	}
	return err
}

// logDir is the directory of the logs.
type logDir struct {
	vfs.File
	q    *logQueue
	name string
}

// Sync implements vfs.File.
func (d *logDir) Sync() error {
	d.q.push(logOp{kind: opSyncDir, old: d.name})
	return nil
}

// SyncData implements vfs.File.
func (d *logDir) SyncData() error { return d.Sync() }

// manifestFile is synced after the logs, and before the witness. The first time its
// directory is synced, too: pebble makes the marker that names it without.
type manifestFile struct {
	vfs.File
	fs      *logFS
	dir     string // "" when it is synced
	number  uint64
	written uint64
	sum     uint32 // of what was written
}

func (f *manifestFile) Write(p []byte) (int, error) {
	sum := crc32.Update(f.sum, castagnoli, p) // the file may change p
	n, err := f.File.Write(p)
	f.written, f.sum = f.written+uint64(n), sum
	return n, err
}

// Sync implements vfs.File.
func (f *manifestFile) Sync() error { return f.sync(f.File.Sync) }

// SyncData implements vfs.File.
func (f *manifestFile) SyncData() error { return f.sync(f.File.SyncData) }

func (f *manifestFile) sync(file func() error) error {
	if err := f.fs.q.drain(); err != nil {
		return err
	}
	if err := file(); err != nil {
		return err
	}
	if f.dir != "" {
		if err := syncDir(f.fs.FS, f.dir); err != nil {
			return err
		}
		f.dir = ""
	}
	return f.fs.w.manifest(f.number, f.written, f.sum)
}

// logFile is a log that pebble writes.
type logFile struct {
	q      *logQueue
	name   string
	number uint32
	reused int64 // the size of the file when it was reused
	// size is what pebble has written; its one writer uses it.
	size int64

	// The rest belongs to the goroutine that works the queue off.
	real    vfs.File
	written int64
	filled  int64 // the size of the file
}

var errWriteOnly = errors.New("a log is only written")

func (f *logFile) Write(p []byte) (int, error) {
	f.q.write(f, p)
	f.size += int64(len(p))
	return len(p), nil
}

func (f *logFile) Sync() error {
	f.q.push(logOp{kind: opSync, file: f})
	return nil
}

func (f *logFile) SyncData() error { return f.Sync() }

func (f *logFile) Close() error {
	f.q.push(logOp{kind: opClose, file: f})
	return nil
}

func (f *logFile) Stat() (vfs.FileInfo, error)             { return logInfo{f}, nil }
func (f *logFile) SyncTo(int64) (fullSync bool, err error) { return false, nil }
func (f *logFile) Preallocate(offset, length int64) error  { return nil }
func (f *logFile) Prefetch(offset, length int64) error     { return nil }
func (f *logFile) Fd() uintptr                             { return vfs.InvalidFd }

func (f *logFile) Read([]byte) (int, error)           { return 0, errWriteOnly }
func (f *logFile) ReadAt([]byte, int64) (int, error)  { return 0, errWriteOnly }
func (f *logFile) WriteAt([]byte, int64) (int, error) { return 0, errWriteOnly }

// logInfo is what pebble asks of a log that it has reused: how large it is.
type logInfo struct{ f *logFile }

func (i logInfo) Name() string           { return i.f.name }
func (i logInfo) Size() int64            { return max(i.f.reused, i.f.size) }
func (i logInfo) Mode() os.FileMode      { return 0o644 }
func (i logInfo) ModTime() time.Time     { return time.Time{} }
func (i logInfo) IsDir() bool            { return false }
func (i logInfo) Sys() any               { return nil }
func (i logInfo) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }
