package pebbledb

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Vacate removes what is left of attempts to make a store in a directory, on a full disk perhaps. It empties the
// directory, which itself stays, unless there is anything else in it. It removes directories beside it in which Make
// was killed, and returns their paths. The errors are *InUseError if a process is about to make a store, and those of
// the system.
func Vacate(dir string) (killed []string, err error) { return vacateOn(vfs.Default, dir) }

func vacateOn(fs vfs.FS, dir string) (killed []string, err error) {
	d := newDB(fs, dir, store.EngineOptions{})
	siblings, err := d.fs.List(fs.PathDir(dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, d.describe(err)
	}
	for _, name := range siblings {
		id, ok := strings.CutPrefix(name, fs.PathBase(dir)+stagedMark)
		if !ok || !stagedID.MatchString(id) {
			continue
		}
		staged := newDB(fs, fs.PathJoin(fs.PathDir(dir), name), store.EngineOptions{})
		emptied, err := staged.empty(func(names []string) bool { return !slices.ContainsFunc(names, notOurs) })
		if err == nil && emptied {
			err = staged.fs.Remove(staged.dir)
			killed = append(killed, staged.dir)
		}
		if err != nil {
			return killed, staged.describe(err)
		}
	}
	_, err = d.empty(func(names []string) bool { return len(names) > 0 && d.vacant() })
	if err != nil {
		err = d.describe(err)
	}
	return killed, err
}

// notOurs reports whether no store has such a file.
func notOurs(name string) bool { return !slices.Contains(storeNames, name) }

// storeNames are those in a data directory, in the order in which they are removed.
var storeNames = []string{pebbleDir, aeonTemp, aeonName, lockName}

// empty removes everything from a directory if it may, judging by the names in it, before and once it is locked.
func (d *DB) empty(may func(names []string) bool) (emptied bool, err error) {
	names, err := d.fs.List(d.dir)
	if err != nil || !may(names) {
		return false, nil // there is nothing to remove, or the next open reports the error
	}
	lock, err := lockDir(d.fs, d.dir, false)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if names, err = d.fs.List(d.dir); err != nil || !may(names) {
		return false, err // a store was made meanwhile
	}
	for _, name := range storeNames {
		if err := d.fs.RemoveAll(d.fs.PathJoin(d.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
	}
	return true, nil
}

// vacant reports whether a store may be made in the directory: there is neither a store in it, nor
// anything else.
func (d *DB) vacant() bool {
	f, err := d.inspect("")
	return err == nil && !f.ready
}

// stagedMark stands behind the name of a directory, and in front of a stagedID, in that of the directory which Make fills.
const stagedMark = ".restoring-"

var stagedID = regexp.MustCompile(`^[0-9a-f]{8}$`)
