package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/fault"
)

// Dir returns the target that keeps everything below a directory, which is made when
// something is put there. Where the system reports an error, its errors are *DirError.
func Dir(dir string) Target { return &directory{dir, osFiles{}} }

type directory struct {
	root  string
	files files
}

// DirError says that the system does not let the process keep snapshots in a directory, or read them there.
type DirError struct {
	Dir   string
	Kind  fault.Kind
	Cause error
}

// Error implements error.
func (e *DirError) Error() string {
	switch e.Kind {
	case fault.Space:
		return fmt.Sprintf("the disk of %s is full: %v; free space on it, or name another place", e.Dir, e.Cause)
	case fault.Access:
		return fmt.Sprintf("%s cannot be read and written by this process: %v; give it the right to, or name another place", e.Dir, e.Cause)
	case fault.Limit:
		return fmt.Sprintf("%s cannot be used: %v; %s", e.Dir, e.Cause, fault.Remedy(e.Cause))
	}
	return fmt.Sprintf("the disk of %s has failed: %v; check the disk, or name another place", e.Dir, e.Cause)
}

// Unwrap returns the system's error.
func (e *DirError) Unwrap() error { return e.Cause }

// describe words an error of the system for the user. That something is there, or is not, is none.
func (d *directory) describe(err error) error {
	kind := fault.Of(err)
	if kind == fault.None || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return err
	}
	return &DirError{d.root, kind, err}
}

// String implements Target.
func (d *directory) String() string { return d.root }

func (d *directory) path(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", fmt.Errorf("%q is no name of a part of a snapshot", name)
	}
	return filepath.Join(d.root, filepath.FromSlash(name)), nil
}

// Put implements Target. The content is synced before it gets its name, and the name
// before Put returns.
func (d *directory) Put(ctx context.Context, name string, r io.Reader, size int64) error {
	to, err := d.path(name)
	if err == nil {
		err = d.put(to, contextReader{ctx, r}, size)
	}
	return d.describe(err)
}

func (d *directory) put(to string, r io.Reader, size int64) (err error) {
	dir := filepath.Dir(to)
	if err := d.makeDirs(dir); err != nil {
		return err
	}
	f, err := d.files.CreateTemp(dir, partPrefix+"*")
	if err != nil {
		return err
	}
	written := f.Name()
	defer func() {
		if err != nil {
			_ = d.files.Remove(written) // the error that counts is the first; the next snapshot sweeps
		}
	}()
	n, err := io.Copy(f, r)
	if err == nil && n != size {
		err = fmt.Errorf("%s: %d bytes instead of %d", filepath.Base(to), n, size)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if err := d.files.Rename(written, to); err != nil {
		return err
	}
	written = to // a crash may take it away: it must not be found
	return d.syncDir(dir)
}

// Get implements Target.
func (d *directory) Get(_ context.Context, name string) (io.ReadCloser, error) {
	from, err := d.path(name)
	if err != nil {
		return nil, err
	}
	f, err := d.files.Open(from)
	if err != nil {
		return nil, d.describe(err)
	}
	return &dirFile{f, d}, nil
}

// dirFile is a file of a directory.
type dirFile struct {
	file
	of *directory
}

// Read implements io.Reader.
func (f *dirFile) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	return n, f.of.describe(err)
}

// Close implements io.Closer.
func (f *dirFile) Close() error { return f.of.describe(f.file.Close()) }

// List implements Target.
func (d *directory) List(ctx context.Context, prefix string) ([]Entry, error) {
	return d.list(ctx, prefix, nil)
}

// list is List. Unless passed is nil it is called for directories that refuse access: see walk.
func (d *directory) list(ctx context.Context, prefix string, passed func(dir string, err error) error) ([]Entry, error) {
	var list []Entry
	root, err := d.path(path.Dir(prefix + "x"))
	if err != nil {
		return nil, err
	}
	err = d.walk(ctx, root, passed, func(file string, e fs.DirEntry) error {
		name, err := d.name(file)
		if err != nil || strings.HasPrefix(e.Name(), partPrefix) || !strings.HasPrefix(name, prefix) {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if err == nil {
			list = append(list, Entry{name, info.Size()})
		}
		return err
	})
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return list, d.describe(err)
}

// name returns the name of a file, or of a directory, as that of a part.
func (d *directory) name(file string) (string, error) {
	rel, err := filepath.Rel(d.root, file)
	return filepath.ToSlash(rel), err
}

// lenient is a Target that may have directories which refuse access.
type lenient interface {
	// listAllowed is List without what is in directories below that of the prefix that refuse access. It returns these, too.
	listAllowed(ctx context.Context, prefix string) (list []Entry, refused []*DamageError, err error)
}

// listAllowed lists what this process may see. Nothing must be deleted because it is not there.
func listAllowed(ctx context.Context, t Target, prefix string) (list []Entry, refused []*DamageError, err error) {
	if l, ok := t.(lenient); ok {
		return l.listAllowed(ctx, prefix)
	}
	list, err = t.List(ctx, prefix)
	return list, nil, err
}

// lostAndFound is the directory that file systems make at their root. It has no snapshots.
const lostAndFound = "lost+found"

// listAllowed implements lenient.
func (d *directory) listAllowed(ctx context.Context, prefix string) (list []Entry, refused []*DamageError, err error) {
	list, err = d.list(ctx, prefix, func(dir string, err error) error {
		name, bad := d.name(dir)
		if bad != nil || name+"/" == prefix || name == "." {
			return err
		}
		if name != lostAndFound {
			refused = append(refused, unread(d, name+"/", d.describe(err)))
		}
		return nil
	})
	return list, refused, err
}

// walk calls f for all files below a directory, for none if it is not there. If a directory refuses access passed, unless it is nil, says whether that is an
// error.
func (d *directory) walk(ctx context.Context, dir string, passed func(dir string, err error) error, f func(file string, e fs.DirEntry) error) error {
	entries, err := d.files.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ctx.Err()
	case passed != nil && fault.Of(err) == fault.Access:
		return passed(dir, err)
	}
	for i := 0; i < len(entries) && err == nil; i++ {
		e := entries[i]
		if name := filepath.Join(dir, e.Name()); e.IsDir() {
			err = d.walk(ctx, name, passed, f)
		} else if err = f(name, e); err == nil {
			err = ctx.Err()
		}
	}
	return err
}

// partPrefix begins the names of files that are not complete.
const partPrefix = ".part-"

// settler is a Target that processes which were killed, or failed, may leave out of order.
type settler interface {
	// settle puts in order what they have left of a store: incomplete files go, and the names of the others outlast a
	// crash, as those that Put has made do. No other process may be writing there.
	settle(ctx context.Context, store string) error
}

// settle has a target put in order what processes have left of a store.
func settle(ctx context.Context, t Target, store string) error {
	if s, ok := t.(settler); ok {
		return s.settle(ctx, store)
	}
	return nil
}

// settle implements settler.
func (d *directory) settle(ctx context.Context, store string) error {
	root, err := d.path(store)
	if err != nil {
		return err
	}
	err = d.walk(ctx, root, nil, func(file string, e fs.DirEntry) error {
		if !strings.HasPrefix(e.Name(), partPrefix) {
			return nil
		}
		return d.files.Remove(file)
	})
	for _, dir := range []string{root, filepath.Join(root, "chunks")} {
		if err == nil {
			err = d.syncDir(dir)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // nothing was sent
		}
	}
	return d.describe(err)
}

// Delete implements Target. Each directory is synced once.
func (d *directory) Delete(ctx context.Context, names ...string) (err error) {
	dirs := make(map[string]bool)
	for _, name := range names {
		file, bad := d.path(name)
		if err = errors.Join(bad, ctx.Err()); err == nil {
			err = d.files.Remove(file)
		}
		if err == nil {
			dirs[filepath.Dir(file)] = true
		} else if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		err = nil
	}
	for dir := range dirs {
		if synced := d.syncDir(dir); err == nil {
			err = synced
		}
	}
	return d.describe(err)
}

// makeDirs is os.MkdirAll; what it has made is there after a crash.
func (d *directory) makeDirs(dir string) error {
	if there, err := d.isDir(dir); there || err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	there, err := d.isDir(parent)
	switch {
	case parent == dir:
	case there: // a process may have made it that was killed before it synced
		if err = d.syncDir(filepath.Dir(parent)); fault.NoSync(err) {
			err = nil // then another process has made it
		}
	case err == nil:
		err = d.makeDirs(parent)
	}
	if err != nil {
		return err
	}
	if err := d.files.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.syncDir(parent)
}

func (d *directory) isDir(path string) (bool, error) {
	info, err := d.files.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.IsDir(), err
}

// syncDir makes the names in a directory durable.
func (d *directory) syncDir(dir string) error {
	f, err := d.files.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// files are what a directory needs of a file system, as package os has it. Tests have calls fail.
type files interface {
	CreateTemp(dir, pattern string) (file, error)
	Open(path string) (file, error)
	Stat(path string) (fs.FileInfo, error)
	ReadDir(dir string) ([]fs.DirEntry, error)
	Mkdir(dir string) error
	Rename(from, to string) error
	Remove(path string) error
}

// file is a file or a directory.
type file interface {
	io.ReadWriteCloser
	Name() string
	Sync() error
}

// osFiles are those of the system.
type osFiles struct{}

func (osFiles) CreateTemp(dir, pattern string) (file, error) { return os.CreateTemp(dir, pattern) }
func (osFiles) Open(path string) (file, error)               { return os.Open(path) }
func (osFiles) Stat(path string) (fs.FileInfo, error)        { return os.Stat(path) }
func (osFiles) ReadDir(dir string) ([]fs.DirEntry, error)    { return os.ReadDir(dir) }
func (osFiles) Mkdir(dir string) error                       { return os.Mkdir(dir, 0o777) }
func (osFiles) Rename(from, to string) error                 { return os.Rename(from, to) }
func (osFiles) Remove(path string) error                     { return os.Remove(path) }
