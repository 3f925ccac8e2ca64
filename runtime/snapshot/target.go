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
)

// Target is where snapshots are kept. Names are slash-separated. All methods may be called
// from any goroutine.
type Target interface {
	// Put stores the size bytes of r under name, whole or not at all. What had the name is
	// replaced.
	Put(ctx context.Context, name string, r io.Reader, size int64) error
	// Get returns the content of name; the error is fs.ErrNotExist if there is none.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// List returns the names that begin with prefix, ascending, with the sizes of the content.
	List(ctx context.Context, prefix string) ([]Entry, error)
	// Delete removes names, which have gone for good when it returns; it is no error if there is none of a name.
	Delete(ctx context.Context, names ...string) error
	// String names the target to people.
	String() string
}

// Entry is what a Target has under a name.
type Entry struct {
	Name string
	Size int64
}

// Dir returns the target that keeps everything below a directory, which is made when
// something is put there.
func Dir(dir string) Target { return directory(dir) }

type directory string

// String implements Target.
func (d directory) String() string { return string(d) }

func (d directory) path(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", fmt.Errorf("%q is no name of a part of a snapshot", name)
	}
	return filepath.Join(string(d), filepath.FromSlash(name)), nil
}

// Put implements Target. The content is synced before it gets its name, and the name
// before Put returns.
func (d directory) Put(ctx context.Context, name string, r io.Reader, size int64) (err error) {
	to, err := d.path(name)
	if err != nil {
		return err
	}
	if err := makeDirs(filepath.Dir(to)); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(to), partPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	n, err := io.Copy(f, contextReader{ctx, r})
	if err == nil && n != size {
		err = fmt.Errorf("%s: %d bytes instead of %d", name, n, size)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// Get implements Target.
func (d directory) Get(_ context.Context, name string) (io.ReadCloser, error) {
	from, err := d.path(name)
	if err != nil {
		return nil, err
	}
	return os.Open(from)
}

// List implements Target.
func (d directory) List(ctx context.Context, prefix string) ([]Entry, error) {
	var list []Entry
	root, err := d.path(path.Dir(prefix + "x"))
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), partPrefix) {
			return err
		}
		rel, err := filepath.Rel(string(d), file)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if name := filepath.ToSlash(rel); err == nil && strings.HasPrefix(name, prefix) {
			list = append(list, Entry{name, info.Size()})
		}
		return errors.Join(err, ctx.Err())
	})
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// partPrefix begins the names of what has not all been written.
const partPrefix = ".part-"

// sweep removes what processes that were killed have left below a store. Nobody may be writing there.
func (d directory) sweep(ctx context.Context, store string) error {
	root, err := d.path(store)
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // nothing was sent
		}
		if err == nil && !e.IsDir() && strings.HasPrefix(e.Name(), partPrefix) {
			err = os.Remove(file)
		}
		return errors.Join(err, ctx.Err())
	})
}

// Delete implements Target. Each directory is synced once.
func (d directory) Delete(ctx context.Context, names ...string) (err error) {
	dirs := make(map[string]bool)
	for _, name := range names {
		file, bad := d.path(name)
		if err = errors.Join(bad, ctx.Err()); err == nil {
			err = os.Remove(file)
		}
		if err == nil {
			dirs[filepath.Dir(file)] = true
		} else if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		err = nil
	}
	for dir := range dirs {
		err = errors.Join(err, syncDir(dir))
	}
	return err
}

// makeDirs is os.MkdirAll; what it has made is there after a crash.
func makeDirs(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDirs(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// syncDir makes the names in a directory durable; tests look at when.
var syncDir = func(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// contextReader ends with the context's error once that is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
