package gobuild

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// EnvCache names the environment variable that overrides where the cache is.
const EnvCache = "AEONCACHE"

const (
	cacheReadme = `This directory is the cache of aeonc: the source of the runtime, generated Go
and finished programs. It can be deleted at any time ("aeonc clean" does);
aeonc makes it again.
`
	// What has not been used for unusedMax goes, and beyond bytesMax the least
	// recently used go first, but never what a running aeonc may be about to use.
	unusedMax = 14 * 24 * time.Hour
	bytesMax  = 1 << 30
	busyFor   = time.Hour

	readmeName = "README"
)

// ownNames are all that a cache holds beside its README.
var ownNames = []string{"build", "runtime", "store", "tmp", "trimmed", "go-build", "gopath"}

// CacheError says that the cache directory cannot be used.
type CacheError struct {
	Dir string // empty if its place is not even known
	Err error
}

// Error implements error; it names the remedy.
func (e *CacheError) Error() string {
	if e.Dir == "" {
		return fmt.Sprintf("there is no place for the cache: %v\n\tset %s to a directory that you can write", e.Err, EnvCache)
	}
	return fmt.Sprintf("the cache directory %s cannot be used: %v\n\tset %s to a directory that you can write, and that is empty or does not exist", e.Dir, e.Err, EnvCache)
}

// Unwrap returns the cause.
func (e *CacheError) Unwrap() error { return e.Err }

// Cache is the directory that holds what builds can share. Every entry is named
// by a hash of what it was made from and appears whole, by a rename, so that any
// number of processes may use one cache at once. A Cache may be used by any
// goroutine.
type Cache struct{ dir string }

// DefaultCache returns the cache at $AEONCACHE, or in the user's cache directory.
// It is not created before something is stored.
func DefaultCache() (*Cache, error) {
	if dir := os.Getenv(EnvCache); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, &CacheError{dir, err}
		}
		return &Cache{abs}, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return nil, &CacheError{"", err}
	}
	return &Cache{filepath.Join(base, "aeon")}, nil
}

// NewCache returns the cache in dir, an absolute path.
func NewCache(dir string) *Cache { return &Cache{dir} }

// Dir returns where the cache is.
func (c *Cache) Dir() string { return c.dir }

// Clean deletes the cache and returns how many bytes that freed. A directory that aeonc did not make is refused, and what others have
// put into one stays. The README goes last, so that a Clean that was interrupted can be repeated.
func (c *Cache) Clean() (freed int64, err error) {
	entries, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, &CacheError{c.dir, err}
	}
	if len(entries) > 0 && !c.isOurs() {
		return 0, &CacheError{c.dir, errors.New("it has no README of aeonc, so it is not deleted")}
	}
	for _, own := range ownNames {
		name := filepath.Join(c.dir, own)
		bytes := sizeOf(name)
		if err := os.RemoveAll(name); err != nil {
			return freed, &CacheError{c.dir, err}
		}
		freed += bytes
	}
	if c.ofOthers(entries) != "" {
		return freed, nil // beside files of others only the README says that builds may use the directory
	}
	if err := os.RemoveAll(filepath.Join(c.dir, readmeName)); err != nil {
		return freed, &CacheError{c.dir, err}
	}
	if info, err := os.Lstat(c.dir); err == nil && !info.IsDir() {
		return freed, nil // a link: without a directory it could not be used again
	}
	if err := os.Remove(c.dir); err != nil {
		return freed, &CacheError{c.dir, err}
	}
	return freed, nil
}

// ofOthers returns the name of an entry that aeonc does not make, "" if there is none.
func (c *Cache) ofOthers(entries []fs.DirEntry) string {
	ours := c.isOurs()
	for _, e := range entries {
		if !slices.Contains(ownNames, e.Name()) && !(ours && e.Name() == readmeName) {
			return e.Name()
		}
	}
	return ""
}

func (c *Cache) isOurs() bool {
	data, err := os.ReadFile(filepath.Join(c.dir, readmeName))
	return err == nil && string(data) == cacheReadme
}

// claim makes the directory one of aeonc by its README, unless it has that already. A directory with files of others is refused: what
// is old in the cache goes, and so might they.
func (c *Cache) claim() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &CacheError{c.dir, err}
	}
	if name := c.ofOthers(entries); name != "" && !c.isOurs() {
		return &CacheError{c.dir, fmt.Errorf("it holds other files, such as %s", name)}
	}
	tmp := filepath.Join(c.dir, "tmp")
	if err := os.MkdirAll(tmp, 0o777); err != nil {
		return &CacheError{c.dir, err}
	}
	if c.isOurs() {
		return nil
	}
	readme, err := os.CreateTemp(tmp, "") // another process finds it whole or not at all
	if err != nil {
		return &CacheError{c.dir, err}
	}
	_, err = readme.WriteString(cacheReadme)
	if err = errors.Join(err, readme.Chmod(0o644), readme.Close()); err == nil {
		err = os.Rename(readme.Name(), filepath.Join(c.dir, readmeName))
	}
	if err != nil {
		return &CacheError{c.dir, errors.Join(err, os.Remove(readme.Name()))}
	}
	return nil
}

// stage returns a new directory on the cache's file system to prepare an entry in.
func (c *Cache) stage() (string, error) {
	if err := c.claim(); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(filepath.Join(c.dir, "tmp"), "")
	if err != nil {
		return "", &CacheError{c.dir, err}
	}
	return dir, nil
}

// publish moves a staged directory to its name. If another process was faster,
// its entry stays: both were made from the same input.
func (c *Cache) publish(staged, name string) error {
	defer os.RemoveAll(staged)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return &CacheError{c.dir, err}
	}
	err := os.Rename(staged, name)
	if err != nil && !isDir(name) {
		return &CacheError{c.dir, err}
	}
	return nil
}

// store makes sure that the entry dir holds these files, intact.
func (c *Cache) store(dir string, files []File) error {
	if intact(dir, files) {
		c.touch(dir)
		return nil
	}
	for range 2 {
		staged, err := c.stage()
		if err != nil {
			return err
		}
		if err := writeTree(staged, files); err != nil {
			return &CacheError{c.dir, err}
		}
		if err := c.publish(staged, dir); err != nil || intact(dir, files) {
			return err
		}
		// It was there before, and is damaged. What another process has stored meanwhile is not, and may be in use: it stays.
		if err := c.discard(dir); err != nil {
			return err
		}
	}
	return &CacheError{c.dir, fmt.Errorf("%s does not keep what is written there", dir)}
}

// keepExecutable moves an executable that has been made to its place in its entry.
func (c *Cache) keepExecutable(made, exe string) error {
	err := os.MkdirAll(filepath.Dir(exe), 0o777)
	if err == nil {
		err = os.Rename(made, exe)
	}
	if err != nil {
		return &CacheError{c.dir, err}
	}
	return nil
}

// discard removes an entry that something outside has damaged. Renaming it away
// first keeps the rule that an entry is whole or absent.
func (c *Cache) discard(dir string) error {
	if !isDir(dir) {
		return nil
	}
	trash, err := c.stage()
	if err != nil {
		return err
	}
	defer os.RemoveAll(trash)
	if err := os.Rename(dir, filepath.Join(trash, "old")); err != nil && isDir(dir) {
		return &CacheError{c.dir, err}
	}
	return nil
}

// lock waits until no other build, of this process or of another one, makes the executable of the entry dir. It saves work and no
// more: where files cannot be locked, builds of one executable go on beside each other. The error is ctx's.
func (c *Cache) lock(ctx context.Context, dir string) (unlock func(), err error) {
	locked := make(chan func(), 1)
	go func() {
		unlock, err := lockedfile.MutexAt(filepath.Join(dir, "lock")).Lock()
		if err != nil {
			unlock = func() {}
		}
		locked <- unlock
	}()
	select {
	case unlock := <-locked:
		return unlock, nil
	case <-ctx.Done():
		go func() { (<-locked)() }()
		return nil, ctx.Err()
	}
}

// intact reports whether dir holds at least these files, with these contents.
func intact(dir string, files []File) bool {
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Name)))
		if err != nil || !bytes.Equal(data, f.Data) {
			return false
		}
	}
	return true
}

// touch notes that an entry was used. A cache that cannot be written still serves.
func (c *Cache) touch(name string) {
	now := time.Now()
	_ = os.Chtimes(name, now, now)
}

// trim deletes entries that have long been unused, and the oldest ones while
// the cache is too large. What cannot be deleted now stays for the next time. It
// looks at each file, and of the last hour nothing could go: so it looks once an hour.
func (c *Cache) trim(now time.Time) {
	if !c.isOurs() {
		return
	}
	last := filepath.Join(c.dir, "trimmed")
	if info, err := os.Stat(last); err == nil && now.Sub(info.ModTime()).Abs() < busyFor {
		return
	}
	c.mark(last)
	type entry struct {
		path string
		used time.Time
		size int64
	}
	var entries []entry
	var total int64
	for _, pattern := range []string{"build/*", "runtime/*", "store/*", "tmp/*"} {
		names, _ := fs.Glob(os.DirFS(c.dir), pattern) // an error is of a bad pattern, which the name of the cache may be
		for _, name := range names {
			p := filepath.Join(c.dir, filepath.FromSlash(name))
			if info, err := os.Stat(p); err == nil {
				e := entry{p, info.ModTime(), sizeOf(p)}
				entries = append(entries, e)
				total += e.size
			}
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return a.used.Compare(b.used) })
	for _, e := range entries {
		age := now.Sub(e.used)
		if age < busyFor || age < unusedMax && total <= bytesMax {
			continue
		}
		if os.RemoveAll(e.path) == nil {
			total -= e.size
		}
	}
}

// sizeOf returns the bytes of the files below dir, as far as they can be read.
func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// digest hashes strings so that no two lists of strings share a hash.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writeTree writes files, given by slash-separated relative path, below dir.
func writeTree(dir string, files []File) error {
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if rel, err := filepath.Rel(dir, name); err != nil || strings.HasPrefix(rel, "..") {
			return fmt.Errorf("%s is outside its directory", f.Name)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
