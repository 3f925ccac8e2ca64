// Package inspection shows the actors of a store to users: it lists them, and writes the state of one as JSON. It reads a view
// of the store, and needs no program: the stored schema has the types of all fields. So it takes no lock, loads no
// actor into memory, and shows what an event has left there that was stopped in the middle of a chain.
//
//	inspection.go  Inspection: a view, its classes, and the texts of actors
//	list.go        the actors, line by line
//	state.go       the fields of one actor
//	dead.go        the dead letters
//	timers.go      the pending timers
package inspection

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Inspection reads one view of a store. It belongs to one goroutine.
type Inspection struct {
	// Partial says that the store is one of several: an actor that is not found may have neighbours elsewhere.
	Partial bool

	view       store.Reader
	program    string
	schema     *store.Schema
	partitions int
	classes    map[uint32]string // by layout
}

// Open begins to read a view of a store of a program.
func Open(view store.Reader, program string) (*Inspection, error) {
	schema, err := store.ReadSchema(view)
	if err != nil {
		return nil, err
	}
	partitions, err := store.PartitionsOf(view)
	return &Inspection{view: view, program: program, schema: schema, partitions: partitions, classes: make(map[uint32]string)}, err
}

// class returns the class of a layout, with its package.
func (in *Inspection) class(layout uint32) (string, error) {
	name, known := in.classes[layout]
	if !known {
		if _, name = in.schema.ByNumber(layout); name == "" {
			return "", fmt.Errorf("its layout %d is not in the schema", layout)
		}
		in.classes[layout] = name
	}
	return name, nil
}

// short is the name of a class as users write it: without the package, if that is the program's.
func (in *Inspection) short(class string) string { return strings.TrimPrefix(class, in.program+".") }

// nameOf returns the text by which users name an actor: Class/name, or Class:id.
func (in *Inspection) nameOf(class string, id event.ActorID, header *row.Header) string {
	if header.Named {
		return in.short(class) + "/" + header.Name
	}
	return in.short(class) + ":" + id.String()
}

// ActorText implements jsoncodec.Names.
func (in *Inspection) ActorText(class string, id event.ActorID) string {
	if h, found, err := row.GetHeader(in.view, id); err == nil && found { // else it was deleted, or the row is damaged: its id is known
		return in.nameOf(class, id, &h)
	}
	return in.short(class) + ":" + id.String()
}

var errWritesOnly = errors.New("an inspection reads no JSON")

// Actor implements jsoncodec.Names.
func (in *Inspection) Actor(_, _ string) (event.ActorID, error) {
	return event.ActorID{}, errWritesOnly
}

// Client implements jsoncodec.Names.
func (in *Inspection) Client(_, _ string) (uint64, error) { return 0, errWritesOnly }

var _ jsoncodec.Names = (*Inspection)(nil)

// Find returns the actor that a user names: Class/name, Class:id or the id. The errors are those of archive.ParseActorName, as a
// *NameError, and of archive.ActorName.Find.
func (in *Inspection) Find(text string) (event.ActorID, error) {
	name, err := archive.ParseActorName(in.program, text)
	if err != nil {
		return event.ActorID{}, &NameError{err}
	}
	id, err := name.Find(in.view)
	if none := new(archive.NoActorError); in.Partial && errors.As(err, &none) {
		none.More = true
	}
	if err != nil {
		return id, err
	}
	h, _, err := row.GetHeader(in.view, id)
	if err == nil && h.Unborn { // its constructor has not run
		err = &archive.NoActorError{Class: in.short(name.Class), Name: h.Name}
	}
	return id, err
}

// NameError says that a text names no actor, nor could.
type NameError struct{ Cause error }

// Error implements error.
func (e *NameError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *NameError) Unwrap() error { return e.Cause }

// IsMissing reports whether an error of Find or List says that there is no such actor or class.
func IsMissing(err error) bool {
	var (
		actor *archive.NoActorError
		class *archive.NoClassError
		other *archive.OtherActorError
	)
	return errors.As(err, &actor) || errors.As(err, &class) || errors.As(err, &other)
}
