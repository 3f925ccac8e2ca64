package exec

import (
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
)

// Mode is how strongly an event wants an actor.
type Mode uint8

// The modes, in order of strength.
const (
	NoAccess Mode = iota // not touched
	Read                 // shared with other readers
	Write                // exclusive
)

// String names the mode as the protocol does.
func (m Mode) String() string { return [...]string{"-", "R", "W"}[m] }

// Below says what a method may touch apart from its target and the members
// that ArgRefs lists.
type Below uint8

// The kinds of footprint below an actor.
const (
	None  Below = iota // nothing
	Exact              // the members that Method.Narrow lists, under a hold on the target
	Any                // anything reachable
)

// Args is a pointer to the argument struct of one method; its last field, ret,
// takes the result. Codecs are found by interface where a call leaves the process.
type Args any

// ClassMode is an effect: actors of Class are touched, at most with Mode.
type ClassMode struct {
	Class *Class
	Mode  Mode
}

// Method describes one method of an actor class. There is one per method, a
// package-level variable. Run, Narrow and ArgRefs are to be set in init, since
// Go refuses variables that refer to themselves through a function.
type Method struct {
	Class     *Class
	Name      string
	Signature string // its types, as the schema of a store has them; package codegen says how it is written
	Index     int
	ReadOnly  bool

	Self      Mode        // strongest mode on the target, fixed at entry
	Below     Below       // what is touched below the target
	BelowMode Mode        // strongest mode below, whatever the class
	Touches   []ClassMode // strongest mode per class below; a class not listed is never touched

	// Narrow lists the members of an Exact footprint. It is called under a hold
	// on self, only reads it, and adds nothing for elements that are missing.
	Narrow func(self any, args Args, f *Footprint)
	// ArgRefs lists the plain actor arguments, also those nested in values.
	ArgRefs func(args Args, f *Footprint)
	Run     func(cx *Cx, self any, args Args)
	NewArgs func() Args
}

// String returns Class.method.
func (m *Method) String() string {
	if m.Class == nil {
		return m.Name
	}
	return m.Class.Name + "." + m.Name
}

// modeOf returns the strongest mode in which m may touch actors of class c below its target.
func (m *Method) modeOf(c *Class) Mode {
	for i := range m.Touches {
		if m.Touches[i].Class == c {
			return m.Touches[i].Mode
		}
	}
	return NoAccess
}

// Field describes one field of an actor class.
type Field struct {
	Name   string
	Type   string // as the schema of a store has it; package codegen says how it is written
	Owning bool   // holds plain actor references: assignments change ownership
}

// Class describes an actor class. There is one per class, a package-level
// variable; Methods, New and Construct are to be set in init.
type Class struct {
	Package string
	Name    string
	New     func() Object
	Fields  []Field
	Methods []*Method
	// SelfRecursive: an actor of this class may own another of its class, so that adding an
	// edge between two of them needs the instance cycle check.
	SelfRecursive bool
	// Construct is the parameterless constructor of a class whose actors can be
	// named, nil if there is none.
	Construct *Method
	// Snapshot changes a copy of an actor's state into what snapshots contain of the actor; nil
	// if that is the state itself. It assigns no field that is Owning, calls no actor, and
	// follows from the state alone.
	Snapshot func(cx *Cx, self any)
}

// Object is the state of an actor: a struct that embeds Self.
type Object interface{ ActorSelf() *Self }

// Self is embedded by every generated actor struct and leads back to its handle.
type Self struct {
	h    *Handle
	rows image.Large
}

// ActorSelf implements Object.
func (s *Self) ActorSelf() *Self { return s }

// StoredRows is for package image.
func (s *Self) StoredRows() *image.Large { return &s.rows }

// Ref returns the reference to this actor.
func (s *Self) Ref() Ref { return Ref{h: s.h} }

// Ref is a reference to an actor; the zero Ref is null. Refs are comparable:
// within a process every actor has one handle.
type Ref struct{ h *Handle }

// IsNull reports whether the reference is null.
func (r Ref) IsNull() bool { return r.h == nil }

// ID returns the actor's id, the zero id for null.
func (r Ref) ID() event.ActorID {
	if r.h == nil {
		return event.ActorID{}
	}
	return r.h.id
}

func (r Ref) handle() *Handle { return r.h }

// EachRef calls f with r unless it is null. Value classes that contain actor
// references have a method of this name, too.
func (r Ref) EachRef(f func(Ref)) {
	if r.h != nil {
		f(r)
	}
}

// CompareKey orders references as map keys and set elements.
func (r Ref) CompareKey(o Ref) int {
	switch a, b := r.ID(), o.ID(); {
	case a == b:
		return 0
	case a.Less(b):
		return -1
	}
	return 1
}

// String is the text that a program gets of the reference: Class("name"), or Class alone for
// an actor without a name, so that it is the same in every run.
func (r Ref) String() string {
	if r.h == nil {
		return "null"
	}
	return r.h.label()
}

// Namer is a Cx or a Client: what can look up a named actor.
type Namer interface{ system() *System }

// RefHolder is a value that may contain plain actor references.
type RefHolder interface{ EachRef(f func(Ref)) }

// ElemHolder is a container; EachElem visits its elements (keys and values).
type ElemHolder interface{ EachElem(f func(any)) }
