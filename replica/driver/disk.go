package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Disk is where a node keeps its log and the states of its groups, each in an engine: in a directory, or in memory. Any goroutine may call it, for
// one group one at a time.
//
//	log/            the log
//	states/3/7/     a state of group 3; if there are several, the one with the highest number counts
//	states/3/8.new/ a state that is coming
type Disk struct {
	place Place

	mu sync.Mutex
	// numbers are of the states that count; of a group that was removed, of the one that comes next.
	// Invariant: they grow only. A view may hold an engine open whose directory was removed, and no other one is opened there.
	numbers map[replica.Group]int
}

// Place is a tree of directories, each of which may have an engine.
type Place interface {
	// Open opens the engine in a directory, and makes one if there is none.
	Open(dir string) (store.Engine, error)
	// List returns the names of directories in a directory; none if that is missing.
	List(dir string) ([]string, error)
	// Rename gives a directory another name, durably.
	Rename(old, new string) error
	// Remove removes a directory and all below it; it may be missing. A crash may undo that.
	Remove(dir string) error
}

// NewDisk returns the disk in a place.
func NewDisk(p Place) *Disk { return &Disk{place: p, numbers: make(map[replica.Group]int)} }

const (
	logDir    = "log"
	statesDir = "states"
	comingExt = ".new"
)

func (d *Disk) log() (store.Engine, error) { return d.place.Open(logDir) }

// groups lists the groups of which there is a state.
func (d *Disk) groups() (list []replica.Group, err error) {
	names, err := d.place.List(statesDir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		g, err := strconv.ParseUint(name, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no number of a group", statesDir, name)
		}
		list = append(list, replica.Group(g))
	}
	slices.Sort(list)
	return list, nil
}

// state opens the state of a group, and makes an empty one if there is none. What others have left is removed. None of the group is open.
func (d *Disk) state(g replica.Group) (store.Engine, error) {
	names, err := d.place.List(groupDir(g))
	if err != nil {
		return nil, err
	}
	number := max(1, d.number(g))
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			number = max(number, n)
		} else if !strings.HasSuffix(name, comingExt) {
			return nil, fmt.Errorf("%s: %q is no number of a state", groupDir(g), name)
		}
	}
	d.mu.Lock()
	d.numbers[g] = number
	d.mu.Unlock()
	for _, name := range names {
		if name != strconv.Itoa(number) {
			if err := d.place.Remove(filepath.Join(groupDir(g), name)); err != nil {
				return nil, err
			}
		}
	}
	return d.place.Open(stateDir(g, number))
}

func groupDir(g replica.Group) string { return filepath.Join(statesDir, strconv.Itoa(int(g))) }

func stateDir(g replica.Group, number int) string {
	return filepath.Join(groupDir(g), strconv.Itoa(number))
}

func (d *Disk) number(g replica.Group) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.numbers[g]
}

// coming makes an empty engine for a state that comes from another node. One that came before was closed, and is removed.
func (d *Disk) coming(g replica.Group) (store.Engine, error) {
	dir := stateDir(g, d.number(g)+1) + comingExt
	if err := d.place.Remove(dir); err != nil {
		return nil, err
	}
	return d.place.Open(dir)
}

// replace has the state that has come, and was closed, stand in the place of the old one, durably, and opens it. The old one may be open.
func (d *Disk) replace(g replica.Group) (store.Engine, error) {
	next := d.number(g) + 1
	if err := d.place.Rename(stateDir(g, next)+comingExt, stateDir(g, next)); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.numbers[g] = next
	d.mu.Unlock()
	return d.place.Open(stateDir(g, next))
}

// forget removes a state that was replaced and is closed. It may be gone with its group.
func (d *Disk) forget(g replica.Group, number int) error {
	assert.That(number < d.number(g), "driver: state %d of group %d, which counts, is removed", number, g)
	return d.place.Remove(stateDir(g, number))
}

// Seed makes a first state of a group that this node has no part in yet, durably. fill fills the engine of it; if fill is nil there is none.
// Begin, also that of a later process, makes it the state of the group. What was seeded before is replaced. No driver uses the disk.
func (d *Disk) Seed(g replica.Group, fill func(store.Engine) error) (err error) {
	log, err := d.log() // has other processes stay away
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := d.remove(g); err != nil || fill == nil {
		return err
	}
	e, err := d.coming(g)
	if err != nil {
		return err
	}
	if err = fill(e); err == nil {
		err = e.Sync()
	}
	if err = errors.Join(err, e.Close()); err != nil {
		return err
	}
	next := stateDir(g, d.number(g)+1)
	return d.place.Rename(next+comingExt, next)
}

// remove removes all states of a group. They are closed, but that a view may hold one open.
func (d *Disk) remove(g replica.Group) error {
	d.mu.Lock()
	if _, known := d.numbers[g]; known {
		d.numbers[g]++
	}
	d.mu.Unlock()
	return d.place.Remove(groupDir(g))
}

// Dir is a Place in a file system, below Root. Opener opens an engine in a directory: a state with Options, the log with LogOptions.
type Dir struct {
	Root                string
	Opener              store.Opener
	Options, LogOptions store.EngineOptions
	FS                  FS // nil: that of the operating system
}

// FS is what a Dir needs of its file system beside what Opener uses.
type FS interface {
	// MkdirAll makes a directory; it may be there.
	MkdirAll(dir string, perm os.FileMode) error
	// List returns the names in a directory.
	List(dir string) ([]string, error)
	Rename(old, new string) error
	// RemoveAll removes a directory and all below it; it may be missing.
	RemoveAll(dir string) error
	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error
}

func (d Dir) fs() FS {
	if d.FS == nil {
		return system{}
	}
	return d.FS
}

// Open implements Place.
func (d Dir) Open(dir string) (store.Engine, error) {
	if err := d.make(filepath.Dir(dir)); err != nil {
		return nil, err
	}
	o := d.Options
	if dir == logDir {
		o = d.LogOptions
		o.ShortLived = true
	}
	return d.Opener(filepath.Join(d.Root, dir), o)
}

// make makes a directory, and those above it up to Root, durably: the log would outlive the state of a group whose directory only seems to be there. One
// that is there may be of a process that ended before it has synced it.
func (d Dir) make(dir string) error {
	if dir != "." {
		if err := d.make(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	dir = filepath.Join(d.Root, dir)
	if err := d.fs().MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return d.fs().SyncDir(filepath.Dir(dir))
}

// List implements Place.
func (d Dir) List(dir string) ([]string, error) {
	names, err := d.fs().List(filepath.Join(d.Root, dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// Rename implements Place.
func (d Dir) Rename(old, new string) error {
	new = filepath.Join(d.Root, new)
	if err := d.fs().Rename(filepath.Join(d.Root, old), new); err != nil {
		return err
	}
	return d.fs().SyncDir(filepath.Dir(new))
}

// Remove implements Place.
func (d Dir) Remove(dir string) error { return d.fs().RemoveAll(filepath.Join(d.Root, dir)) }

// system is the FS of the operating system.
type system struct{}

// MkdirAll implements FS.
func (system) MkdirAll(dir string, perm os.FileMode) error { return os.MkdirAll(dir, perm) }

// List implements FS: it names directories only.
func (system) List(dir string) (names []string, err error) {
	list, err := os.ReadDir(dir)
	for _, e := range list {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Rename implements FS.
func (system) Rename(old, new string) error { return os.Rename(old, new) }

// RemoveAll implements FS.
func (system) RemoveAll(dir string) error { return os.RemoveAll(dir) }

// SyncDir implements FS.
func (system) SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
