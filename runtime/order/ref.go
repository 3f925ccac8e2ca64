package order

import (
	"unsafe"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
)

// Object is the state of an actor: a struct that embeds Self.
type Object interface{ ActorSelf() *Self }

// opaque stands for Handle in what generated code sees: in Ref, Self and Footprint. Go compiles the generic code behind a type
// once more in each package that sees the type, and behind Handle is the core of the locks. TestGeneratedCodeIsLight of the
// runtime has the bound.
type opaque struct{ _ byte }

// Self is embedded by every generated actor struct and leads back to its handle.
type Self struct {
	of   *opaque // the handle
	rows image.Large
}

// ActorSelf implements Object.
func (s *Self) ActorSelf() *Self { return s }

// StoredRows is for package image.
func (s *Self) StoredRows() *image.Large { return &s.rows }

// Ref returns the reference to this actor.
func (s *Self) Ref() Ref { return Ref{s.of} }

// Name returns the name of this actor, if it has one.
func (s *Self) Name() (name string, named bool) {
	return nameOf(s.Ref())
}

// nameOf is not inlined: callers in generated code would see Handle.
//
//go:noinline
func nameOf(r Ref) (name string, named bool) {
	h := HandleOf(r)
	if h.Named == nil {
		return "", false
	}
	return h.Named.Name, true
}

// Bind makes obj, which is new, the state of h; it becomes that of the handle when it is complete.
func Bind(obj Object, h *Handle) { obj.ActorSelf().of = RefOf(h).of }

// Ref is a reference to an actor; the zero Ref is null. Refs are comparable:
// within a process every actor has one handle.
type Ref struct{ of *opaque }

// RefOf returns the reference to an actor, null for nil.
func RefOf(h *Handle) Ref { return Ref{(*opaque)(unsafe.Pointer(h))} }

// HandleOf returns the handle of the actor, nil for null.
func HandleOf(r Ref) *Handle { return (*Handle)(unsafe.Pointer(r.of)) }

// IsNull reports whether the reference is null.
func (r Ref) IsNull() bool { return r.of == nil }

// Bare returns the reference without the class that generated code gives it.
func (r Ref) Bare() Ref { return r }

// ID returns the actor's id, the zero id for null.
func (r Ref) ID() event.ActorID {
	if r.of == nil {
		return event.ActorID{}
	}
	return idOf(r)
}

//go:noinline
func idOf(r Ref) event.ActorID { return HandleOf(r).ID }

// EachRef calls f with r unless it is null. Value classes that contain actor
// references have a method of this name, too.
func (r Ref) EachRef(f func(Ref)) {
	if r.of != nil {
		f(r)
	}
}

// CompareKey orders references as map keys and set elements.
func (r Ref) CompareKey(o Ref) int { return r.ID().Compare(o.ID()) }

// String is the text that a program gets of the reference: Class("name"), or Class alone for
// an actor without a name, so that it is the same in every run.
func (r Ref) String() string {
	if r.of == nil {
		return "null"
	}
	return labelOf(r)
}

//go:noinline
func labelOf(r Ref) string { return HandleOf(r).Label() }

// RefHolder is a value that may contain plain actor references.
type RefHolder interface{ EachRef(f func(Ref)) }

// ElemHolder is a container; EachElem visits its elements (keys and values).
type ElemHolder interface{ EachElem(f func(any)) }

// EachRef calls f for every reference in v, which is a reference, a value class or a
// container.
func EachRef(v any, f func(Ref)) {
	switch v := v.(type) {
	case nil:
	case RefHolder:
		v.EachRef(f)
	case ElemHolder:
		v.EachElem(func(e any) { EachRef(e, f) })
	}
}

// singleRef is implemented by references, also those that generated code wraps.
type singleRef interface{ Bare() Ref }

// SingleRefs returns the actors that old and v refer to, nil for none, if each of them is
// a reference or nothing: the common case, which needs no closure.
func SingleRefs(old, v any) (o, n *Handle, ok bool) {
	if old != nil {
		r, single := old.(singleRef)
		if !single {
			return nil, nil, false
		}
		o = HandleOf(r.Bare())
	}
	if v != nil {
		r, single := v.(singleRef)
		if !single {
			return nil, nil, false
		}
		n = HandleOf(r.Bare())
	}
	return o, n, true
}
