package pebbledb

import (
	"cmp"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/fault"
	"github.com/aeon-lang/aeon/runtime/store"
)

// inMemory is the name of the directory of a store in memory.
const inMemory = "memory"

// Open opens the store in a directory of the file system, and creates it if the directory is
// empty or missing, unless it must exist; without a directory it makes one in memory, which is gone with the process. A directory that it refuses is as it was before; the errors are
// *MissingError, *ForeignError, *NotDirectoryError, *NowhereError, *InUseError, *DamagedError, *AccessError, *NoSpaceError,
// *DiskError, *EngineError, *PartError, *store.OtherProgramError and *store.NewerFormatError.
func Open(dir string, o store.EngineOptions) (store.Engine, error) {
	fs := vfs.Default
	if dir == "" {
		fs, dir = vfs.NewMem(), inMemory
	}
	d, err := OpenFS(fs, dir, o)
	if err != nil {
		return nil, err // a nil *DB is no nil store.Engine
	}
	return d, nil
}

// OpenFS opens the store in a directory of fs, for tests: vfs.NewMem, or one that crashes.
func OpenFS(fs vfs.FS, dir string, o store.EngineOptions) (*DB, error) {
	return newDB(fs, dir, o).opened(o)
}

func (d *DB) opened(o store.EngineOptions) (*DB, error) {
	if err := d.open(o); err != nil {
		if d.lock != nil {
			d.unlock(d.lock) // the error that counts is the first
		}
		return nil, d.describe(err)
	}
	return d, nil
}

func newDB(fs vfs.FS, dir string, o store.EngineOptions) *DB {
	d := &DB{dir: dir, log: o.Log, failed: make(chan struct{}), stuck: make(chan struct{})}
	d.fs = naming(fs, func(err error) { d.fault.CompareAndSwap(nil, &err) })
	d.group.turn = make(chan struct{}, 1)
	d.memory.cache, d.memory.shortLived = cmp.Or(o.Cache, &store.Cache{}), o.ShortLived
	if d.log == nil {
		d.log = slog.Default()
	}
	return d
}

// open does what Open promises.
func (d *DB) open(o store.EngineOptions) error {
	f, err := d.prepare(o)
	if err != nil {
		return err
	}
	if !f.ready {
		f.ready, f.part = true, o.Part
		if err := f.write(d.fs, d.dir); err != nil {
			return err
		}
	}
	return d.use(f, o)
}

// prepare takes the directory for this process, in this order: look, lock, look again, create what is missing. What it creates is not ready.
func (d *DB) prepare(o store.EngineOptions) (f aeonFile, err error) {
	if f, err = d.look(o); err != nil {
		return f, err
	}
	if err := makeDir(d.fs, d.dir, 0o700); err != nil { // what actors have is not for all to see
		return f, err
	}
	if d.lock, err = lockDir(d.fs, d.dir, false); err != nil {
		return f, err
	}
	if f, err = d.look(o); err != nil || f.ready {
		return f, err
	}
	if err := syncAbove(d.fs, d.dir); err != nil {
		return f, err
	}
	return d.create(f, o)
}

// use opens what is in the directory that the process has taken.
func (d *DB) use(f aeonFile, o store.EngineOptions) error {
	d.identity, d.part = store.Identity{Store: f.store, Program: f.program, Place: d.dir}, f.part
	found, err := d.openPebble(f, o)
	if err == nil && f.format == aeonFormatUnowned {
		if err = d.adopt(f, found); err != nil {
			d.closePebble(d.db) // the error that counts is the first
		}
	}
	return err
}

// look is inspect, or present, for a process that is to write.
func (d *DB) look(o store.EngineOptions) (f aeonFile, err error) {
	if o.MustExist {
		f, err = d.present(o.Program)
	} else {
		f, err = d.inspect(o.Program)
	}
	if err == nil && f.part && !o.Part {
		err = &PartError{d.dir}
	}
	return f, err
}

// adopt puts the mark of the store into what an older version has made; files without it are damage afterwards.
func (d *DB) adopt(f aeonFile, found checked) error {
	for _, l := range found.logs {
		if err := d.logs.w.log(l.number, l.durable, true); err != nil {
			return err
		}
	}
	if err := d.logs.w.adopt(found.manifest); err != nil {
		return err
	}
	f.format, f.owned = aeonFormat, found.next
	return f.write(d.fs, d.dir)
}

// inspect returns what the directory says of itself, the zero aeonFile if there is nothing of
// value in it. It returns an error if program, "" for any, must not use the directory. It changes
// nothing.
func (d *DB) inspect(program string) (aeonFile, error) {
	names, err := d.names()
	if errors.Is(err, os.ErrNotExist) {
		return aeonFile{}, nil
	}
	if err != nil {
		if file := fileAbove(d.fs, d.dir); file != "" {
			return aeonFile{}, &NotDirectoryError{file}
		}
		return aeonFile{}, err
	}
	if !slices.Contains(names, aeonName) {
		_, err := d.fs.Stat(d.fs.PathJoin(d.dir, pebbleDir, witnessName))
		if err == nil {
			return aeonFile{}, &DamagedError{d.dir, aeonName, "it is missing", nil} // a store has been here
		}
		if isFault(err) && !errors.Is(err, syscall.ENOTDIR) {
			return aeonFile{}, err
		}
		if n := foreign(names); n != "" {
			return aeonFile{}, &ForeignError{d.dir, n}
		}
		return aeonFile{}, nil
	}
	f, err := readAeonFile(d.fs, d.dir)
	switch {
	case err != nil:
		return f, err
	case f.format > aeonFormat:
		return f, &store.NewerFormatError{Place: d.dir, Found: f.format, Known: aeonFormat}
	case program != "" && f.program != program:
		return f, &store.OtherProgramError{Place: d.dir, Found: f.program, Program: program}
	}
	return f, nil
}

// present is inspect for a directory that must hold a store. What is there instead is a *MissingError.
func (d *DB) present(program string) (aeonFile, error) {
	f, err := d.inspect(program)
	other, file := new(ForeignError), new(NotDirectoryError)
	switch {
	case errors.As(err, &other):
		err = &MissingError{Dir: d.dir, Found: other.Found}
	case errors.As(err, &file):
		err = &MissingError{Dir: d.dir, File: file.Dir}
	case err == nil && !f.ready:
		err = &MissingError{Dir: d.dir}
	}
	return f, err
}

// LostAndFound is what the root of a file system has: a directory with nothing else is empty.
const LostAndFound = "lost+found"

// names returns what is in the directory.
func (d *DB) names() ([]string, error) {
	names, err := d.fs.List(d.dir)
	return slices.DeleteFunc(names, func(n string) bool { return n == LostAndFound }), err
}

// foreign returns a name that no data directory has, a source if there is one; "" if there is none.
func foreign(names []string) (found string) {
	slices.Sort(names)
	for _, n := range names {
		switch {
		case n == lockName || n == aeonTemp:
		case isSource(n):
			return n
		case found == "":
			found = n
		}
	}
	return found
}

// isSource reports whether a file holds sources of a program.
func isSource(name string) bool { return strings.HasSuffix(name, ".aeon") }

// fileAbove returns path, or the nearest thing above it that is there, if that is a file.
func fileAbove(fs vfs.FS, path string) string {
	for {
		if info, err := fs.Stat(path); err == nil {
			if info.IsDir() {
				return ""
			}
			return path
		}
		parent := fs.PathDir(path)
		if parent == path {
			return ""
		}
		path = parent
	}
}

// create makes the store, and leaves a directory that says that it is being created. While it does
// the next open begins again: nothing of value is in it yet.
func (d *DB) create(f aeonFile, o store.EngineOptions) (aeonFile, error) {
	if f.store == "" || f.format < aeonFormat {
		f = aeonFile{format: aeonFormat, program: o.Program, store: store.NewStoreID()}
		if err := f.write(d.fs, d.dir); err != nil {
			return f, err
		}
	}
	path := d.fs.PathJoin(d.dir, pebbleDir)
	if err := d.fs.RemoveAll(path); err != nil {
		return f, err
	}
	if err := makeDir(d.fs, path, 0o755); err != nil { // the rights of the directory above count
		return f, err
	}
	d.id = idOf(f.store)
	// Pebble keeps the log format of an older version until it is opened again.
	return f, d.createPebble(path, o)
}

func (d *DB) createPebble(path string, o store.EngineOptions) error {
	d.logs = d.newLogFS(path)
	d.opening.Store(true)
	options := d.options(o)
	options.ErrorIfExists = true
	db, err := d.pebbleOpen(path, options)
	if err != nil {
		d.logs.w.close() // the error that counts is the first
		return err
	}
	if err := d.closePebble(db); err != nil {
		return err
	}
	return d.logs.close()
}

func (d *DB) openPebble(f aeonFile, o store.EngineOptions) (checked, error) {
	path := d.fs.PathJoin(d.dir, pebbleDir)
	found, err := d.check(path, f)
	if err != nil {
		return found, err
	}
	d.id, d.ownedFrom = idOf(f.store), f.ownedFrom()
	d.logs = d.newLogFS(path)
	d.opening.Store(true)
	options := d.options(o)
	options.ErrorIfNotExists = true
	options.ReadOnly = d.readOnly
	db, err := d.pebbleOpen(path, options)
	if err == nil {
		d.db = db
		d.opening.Store(false)
		return found, nil
	}
	d.logs.w.close() // the error that counts is the first
	if !ofSystem(err) && !errors.Is(err, store.ErrCorrupt) && !errors.As(err, new(*EngineError)) {
		// The disk has answered, and so has pebble: what it refuses is the content.
		return found, &DamagedError{d.dir, pebbleDir, whyFiles, err}
	}
	return found, err
}

// pebbleOpen opens pebble, whose panics become errors. A failure of one of its goroutines ends
// the opening, even if pebble goes on: it may try again for ever.
func (d *DB) pebbleOpen(path string, o *pebble.Options) (*pebble.DB, error) {
	type opened struct {
		db  *pebble.DB
		err error
	}
	done := make(chan opened, 1)
	go func() {
		var r opened
		defer func() { done <- r }()
		defer d.guard(&r.err)
		d.memory.take(o)
		if r.db, r.err = pebble.Open(path, o); r.err != nil {
			d.memory.leave()
			return
		}
		d.memory.opened(r.db, d.unwritten)
	}()
	select {
	case r := <-done:
		if r.err == nil && d.err() != nil {
			d.closePebble(r.db) // the error that counts has happened
			return nil, d.err()
		}
		return r.db, r.err
	case <-d.failed:
	}
	go func() {
		if r := <-done; r.err == nil {
			d.closePebble(r.db) // the error that counts has happened
		}
	}()
	return nil, d.err()
}

// makeDir creates a directory with a mode, and those above it, durably.
func makeDir(fs vfs.FS, dir string, mode os.FileMode) error {
	if there, err := isThere(fs, dir); there || err != nil {
		return err
	}
	parent := fs.PathDir(dir)
	there, err := isThere(fs, parent)
	switch {
	case parent == dir:
	case there:
		err = syncAbove(fs, parent)
	case err == nil:
		err = makeDir(fs, parent, 0o755)
	}
	if err != nil {
		return err
	}
	if err := mkdir(fs, dir, mode); err != nil {
		return err
	}
	return syncDir(fs, parent)
}

// mkdir creates a directory in one that is there, unless another process does. A link that leads nowhere is there, too,
// and nothing is found at it.
func mkdir(fs vfs.FS, dir string, mode os.FileMode) error {
	err := fs.MkdirAll(dir, mode)
	if !errors.Is(err, os.ErrExist) {
		return err
	}
	there, err := isThere(fs, dir)
	if err == nil && !there {
		err = &NowhereError{dir}
	}
	return err
}

func isThere(fs vfs.FS, path string) (bool, error) {
	_, err := fs.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// syncAbove makes durable that a directory is there: a process may have made it that was killed before it did so.
func syncAbove(fs vfs.FS, dir string) error {
	err := syncDir(fs, fs.PathDir(dir))
	if fault.NoSync(err) {
		return nil // then another process has made it
	}
	return err
}

// ofSystem reports whether an error is the operating system's.
func ofSystem(err error) bool { return fault.Of(err) != fault.None }
