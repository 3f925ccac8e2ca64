package spec

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
)

// Place is a line of the program and the function that it is in.
type Place struct {
	Func string
	Pos  ast.Pos
}

// String returns file:line function.
func (p Place) String() string { return fmt.Sprintf("%s:%d %s", p.Pos.File(), p.Pos.Line(), p.Func) }

// Short returns the file without its folders, and the line.
func (p Place) Short() string { return fmt.Sprintf("%s:%d", filepath.Base(p.Pos.File()), p.Pos.Line()) }

// Failure is how an event, or code of a client, has failed ([FAULT]).
type Failure struct {
	// Msg is what catch gets, no more and no less.
	Msg string
	// Assert: by an assert statement, in contrast to abort, require and faults.
	Assert bool
	// cancelled: by the client that had issued the event.
	cancelled bool
	// Path leads from where it happened outwards through the calls, across actors, and to
	// the await of the client if the event was awaited on the spot.
	Path []Place
}

// Error returns the message alone.
func (f *Failure) Error() string { return f.Msg }

// Trace returns the lines of the path, innermost first. A line that follows itself, as in
// recursion, stands once.
func (f *Failure) Trace() string {
	var lines []string
	for _, p := range f.Path {
		if s := p.Short(); len(lines) == 0 || lines[len(lines)-1] != s {
			lines = append(lines, s)
		}
	}
	return strings.Join(lines, " < ")
}

// bug unwinds a run that has shown a mistake of the checker or of this interpreter: what
// it says can never be right, whatever the program.
type bug struct{ msg string }

// killed unwinds client code whose thread is given up.
type killed struct{}

// fail ends the event, or the client's code, at a node of the program.
func (f *frame) fail(at ast.Node, msg string) { panic(f.failure(at, msg)) }

func (f *frame) failure(at ast.Node, msg string) *Failure {
	var place ast.Span
	if at != nil { // else the event has failed before it began
		place = callPlace(at)
	}
	return &Failure{Msg: msg, Path: f.path(place)}
}

// path lists the calls that are under way, innermost first.
func (f *frame) path(at ast.Span) []Place {
	var list []Place
	for ; f != nil; f = f.caller {
		if at.IsValid() {
			list = append(list, Place{f.name(), at.Pos()})
		}
		at = f.at
		if len(list) >= pathMax {
			break
		}
	}
	return list
}

// pathMax bounds the places of a failure: endless recursion would fill memory with them.
const pathMax = 128

// name is the name of the function in messages.
func (f *frame) name() string {
	switch {
	case f.fn == nil:
		return "?"
	case f.fn == f.m.entry.fn && f.m.entry.Test:
		return "test"
	}
	return f.fn.FullName()
}

func indexText(i int64, size int) string {
	return fmt.Sprintf("index %d out of range, size %d", i, size)
}

func sliceText(a, b int64, size int) string {
	return fmt.Sprintf("slice %d to %d out of range, size %d", a, b, size)
}

func limitText(what string, max int, remedy string) string {
	return fmt.Sprintf("too many %s: the limit is %d, and no flag changes it; %s", what, max, remedy)
}
