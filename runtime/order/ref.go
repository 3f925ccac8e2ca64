package order

import (
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
)

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

// Name returns the name of this actor, if it has one.
func (s *Self) Name() (name string, named bool) {
	if s.h.Named == nil {
		return "", false
	}
	return s.h.Named.Name, true
}

// Handle is for the runtime.
func (s *Self) Handle() *Handle { return s.h }

// Bind makes obj, which is new, the state of h; it becomes that of the handle when it is complete.
func Bind(obj Object, h *Handle) { obj.ActorSelf().h = h }

// Ref is a reference to an actor; the zero Ref is null. Refs are comparable:
// within a process every actor has one handle.
type Ref struct{ h *Handle }

// RefOf returns the reference to an actor, null for nil.
func RefOf(h *Handle) Ref { return Ref{h: h} }

// IsNull reports whether the reference is null.
func (r Ref) IsNull() bool { return r.h == nil }

// ID returns the actor's id, the zero id for null.
func (r Ref) ID() event.ActorID {
	if r.h == nil {
		return event.ActorID{}
	}
	return r.h.ID
}

// Handle is for the runtime; nil for null.
func (r Ref) Handle() *Handle { return r.h }

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
	return r.h.Label()
}

// RefHolder is a value that may contain plain actor references.
type RefHolder interface{ EachRef(f func(Ref)) }

// ElemHolder is a container; EachElem visits its elements (keys and values).
type ElemHolder interface{ EachElem(f func(any)) }
