package runtime

import (
	"context"
	"log/slog"

	"github.com/aeon-lang/aeon/runtime/settings"
)

// DoorConfig is what a door needs. The system has a store.
type DoorConfig struct {
	Program string // its name
	settings.Listen
	Dir           string // the data directory, from which aeond asks the process; "": there is none
	System        *System
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

// DoorOpener opens a door, which listens when it returns.
type DoorOpener func(DoorConfig) (Door, error)

// listening is where a program takes calls from outside; the zero value takes none.
type listening struct {
	settings.Listen
	openDoor DoorOpener // nil: the program was compiled without doors
	door     Door       // nil: it can be asked nothing
}

// listens reports whether the program is to take calls.
func (l *listening) listens() bool { return l.Listen.Address != "" }

// open opens the doors of a program with a store. dir is its data directory, "" if that is in memory.
func (l *listening) open(s *System, p *Package, dir string, log *slog.Logger) (err error) {
	if l.openDoor != nil && (l.listens() || dir != "") {
		l.door, err = l.openDoor(DoorConfig{Program: p.Name, Listen: l.Listen, Dir: dir, System: s, Classes: AllClasses(p), ClientClasses: AllClientClasses(p), Log: log})
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
