package runtime

import (
	"context"
	"log/slog"

	"github.com/aeon-lang/aeon/runtime/settings"
)

// DoorConfig is what a door needs, but for the system.
type DoorConfig struct {
	Program string // its name
	settings.Listen
	Dir           string // the data directory, from which aeond asks the process; "": there is none
	Classes       []*Class
	ClientClasses []*ClientClass
	Log           *slog.Logger
}

// Door takes calls from outside.
type Door interface {
	// Address is where it listens: host:port; "": it does not.
	Address() string
	// Failed gets the error that has ended the listening, or must end it, if one does.
	Failed() <-chan error
	// Close takes no more calls. It waits until those under way have been answered, or ctx ends.
	Close(ctx context.Context) error
}

// DoorOpener reads what a door needs, and makes nothing: what is wrong with that is told before the program opens a store. What it returns opens the door to a
// system with a store, which listens when that returns.
type DoorOpener func(DoorConfig) (open func(*System) (Door, error), err error)

// listening is where a program takes calls from outside; the zero value takes none.
type listening struct {
	settings.Listen
	openDoor DoorOpener                  // nil: the program was compiled without doors
	opens    func(*System) (Door, error) // nil: the program can be asked nothing
	door     Door                        // nil: it is not open
}

// listens reports whether the program is to take calls.
func (l *listening) listens() bool { return l.Listen.Address != "" }

// prepare reads what the doors of a program with a store need. dir is its data directory, "" if that is in memory.
func (l *listening) prepare(p *Package, dir string, log *slog.Logger) (err error) {
	if l.openDoor != nil && (l.listens() || dir != "") {
		l.opens, err = l.openDoor(DoorConfig{Program: p.Name, Listen: l.Listen, Dir: dir, Classes: AllClasses(p), ClientClasses: AllClientClasses(p), Log: log})
	}
	return err
}

// open opens the doors to the system of the program.
func (l *listening) open(s *System) (err error) {
	if l.opens != nil {
		l.door, err = l.opens(s)
	}
	return err
}

// close takes no more calls. Those under way get a short time to end.
func (l *listening) close() {
	if l.door != nil {
		ctx, cancel := context.WithTimeout(context.Background(), graceMax/2)
		defer cancel()
		_ = l.door.Close(ctx) // calls that go on are undone, and their clients send them again
	}
}

// failed gets the error that has ended the listening; nil if the program does not listen.
func (l *listening) failed() <-chan error {
	if l.door == nil {
		return nil
	}
	return l.door.Failed()
}
