package pebbledb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/aeon-lang/aeon/runtime/fault"
	"github.com/aeon-lang/aeon/runtime/store"
)

// ForeignError refuses a directory that is not empty and is not a data directory.
type ForeignError struct{ Dir, Found string }

// Error implements error.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is no data directory of aeon, and not empty (%s is in it); name an empty directory or one that does not exist yet", e.Dir, e.Found)
}

// NotDirectoryError refuses a path that is something else.
type NotDirectoryError struct{ Dir string }

// Error implements error.
func (e *NotDirectoryError) Error() string {
	return fmt.Sprintf("%s is a file, and the data needs a directory; name an empty directory or one that does not exist yet", e.Dir)
}

// NowhereError refuses a link to something that is not there.
type NowhereError struct{ Link string }

// Error implements error.
func (e *NowhereError) Error() string {
	return e.Link + " is a link that leads nowhere; mount the disk that it leads to, mend the link, or name another directory"
}

// MissingError says that a directory that was to hold data does not.
type MissingError struct {
	Dir   string
	Found string // something that is in it instead, "" if nothing is
	File  string // what is a file, Dir or something above it, "" if nothing is
}

// Error implements error.
func (e *MissingError) Error() string {
	what := e.Dir + " holds no data of an aeon program"
	switch {
	case e.File != "":
		what = e.File + " is a file, and no data directory of aeon"
	case isSource(e.Found):
		what = fmt.Sprintf("%s is a folder of sources (%s is in it), and no data directory of aeon", e.Dir, e.Found)
	case e.Found != "":
		what = fmt.Sprintf("%s is no data directory of aeon (%s is in it)", e.Dir, e.Found)
	}
	return what + "; name the directory that the program was given with --data"
}

// Is makes errors.Is(err, store.ErrMissing) true if a store could be made there.
func (e *MissingError) Is(target error) bool {
	return target == store.ErrMissing && e.Found == "" && e.File == ""
}

// PartError refuses to use one of the stores of a cluster, as they were restored, by itself.
type PartError struct{ Dir string }

// Error implements error.
func (e *PartError) Error() string {
	return fmt.Sprintf("%s is one of the stores of a cluster, as a snapshot was restored, and can only be looked into by itself: begin a cluster with all of them, by \"aeond start --adopt %s\" with a new directory",
		e.Dir, filepath.Dir(e.Dir))
}

// InUseError refuses a directory that a running process has open.
type InUseError struct {
	Dir string
	PID int // 0: unknown
}

// Error implements error.
func (e *InUseError) Error() string {
	who := "another process"
	switch e.PID {
	case 0:
	case os.Getpid():
		return e.Dir + " is open in this process already; close it first, or name another directory"
	default:
		who = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("%s is in use by %s; stop it first, or name another directory", e.Dir, who)
}

// DamagedError refuses, or ends the use of, a store of which a part is not what was written.
type DamagedError struct {
	Dir, What string
	Why       string
	Engine    error // what the engine says of it; nil if Why is all
}

// Error implements error.
func (e *DamagedError) Error() string {
	text := fmt.Sprintf("the data in %s is damaged: %s: %s; nothing was repaired: restore the directory from a snapshot, or find out what has changed it", e.Dir, e.What, e.Why)
	if e.Engine != nil {
		text += engineSays(e.Engine)
	}
	return text
}

// Unwrap makes errors.Is(err, store.ErrCorrupt) true.
func (e *DamagedError) Unwrap() []error {
	if e.Engine == nil {
		return []error{store.ErrCorrupt}
	}
	return []error{store.ErrCorrupt, e.Engine}
}

// Place implements store.Placed.
func (e *DamagedError) Place() string { return e.Dir }

// What the engine reports of its files.
const (
	whyBytes = "its bytes are not those that were written"
	whyFiles = "its files do not fit together as they were written"
)

// engineSays quotes the engine, on one line, for the developer of aeon.
func engineSays(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	return fmt.Sprintf(" (the engine says: %s)", strings.TrimPrefix(text, "pebble: "))
}

// AccessError says that the system does not let the process use a directory.
type AccessError struct {
	Dir   string
	Cause error
}

// Error implements error.
func (e *AccessError) Error() string {
	return fmt.Sprintf("%s cannot be read and written by this process: %v; give it the right to, or name another directory", e.Dir, e.Cause)
}

// Unwrap returns the system's error.
func (e *AccessError) Unwrap() error { return e.Cause }

// NoSpaceError says that the disk is full.
type NoSpaceError struct {
	Dir   string
	Cause error
}

// Error implements error.
func (e *NoSpaceError) Error() string {
	return fmt.Sprintf("the disk of %s is full: %v; free space on it and start again", e.Dir, e.Cause)
}

// Unwrap returns the system's error.
func (e *NoSpaceError) Unwrap() error { return e.Cause }

// DiskError is any other error that the system reports.
type DiskError struct {
	Dir   string
	Cause error
}

// Error implements error.
func (e *DiskError) Error() string {
	return fmt.Sprintf("the disk of %s has failed: %v; check the disk before starting again", e.Dir, e.Cause)
}

// Unwrap returns the system's error.
func (e *DiskError) Unwrap() error { return e.Cause }

// LimitError says that the system lets the process do no more: open another file, or make one larger.
type LimitError struct {
	Dir   string
	Cause error
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s cannot be used: %v; %s, and start again", e.Dir, e.Cause, fault.Remedy(e.Cause))
}

// Unwrap returns the system's error.
func (e *LimitError) Unwrap() error { return e.Cause }

// EngineError is a failure of the engine that no error of the system explains.
type EngineError struct {
	Dir   string
	Cause error
}

// Error implements error.
func (e *EngineError) Error() string {
	return fmt.Sprintf("the store in %s has failed, and the system has reported no error of its disk; start again, and if that fails, too, let `aeond check` read the directory%s", e.Dir, engineSays(e.Cause))
}

// Unwrap returns the engine's error.
func (e *EngineError) Unwrap() error { return e.Cause }

// describe words an error of pebble or the system for the user. What the system has reported first explains what pebble
// does not, and, while it opens the store, what it takes for damage.
func (d *DB) describe(err error) error {
	told := describe(d.dir, err)
	fault := d.fault.Load()
	if fault != nil && (errors.As(told, new(*EngineError)) || d.opening.Load() && errors.Is(told, store.ErrCorrupt)) {
		return describe(d.dir, *fault)
	}
	return told
}

func describe(dir string, err error) error {
	if bad := new(DamagedError); errors.As(err, &bad) {
		return bad // without what pebble has said around it
	}
	for _, known := range []any{new(*AccessError), new(*NoSpaceError), new(*DiskError), new(*LimitError), new(*EngineError), new(*InUseError), new(*ForeignError), new(*MissingError), new(*PartError),
		new(*NotDirectoryError), new(*NowhereError), new(*store.OtherProgramError), new(*store.NewerFormatError)} {
		if errors.As(err, known) {
			return err
		}
	}
	switch fault.Of(err) {
	case fault.Space:
		return &NoSpaceError{dir, err}
	case fault.Access:
		return &AccessError{dir, err}
	case fault.Limit:
		return &LimitError{dir, err}
	case fault.Disk: // before damage: pebble takes what cannot be read for it
		return &DiskError{dir, err}
	}
	if pebble.IsCorruptionError(err) {
		return &DamagedError{dir, pebbleDir, whyFiles, err}
	}
	return &EngineError{dir, err}
}
