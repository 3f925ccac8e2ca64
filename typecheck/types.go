package typecheck

import (
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
)

// Type is what an expression, variable or result has ([T-TYPE]). Types are compared with
// Identical, not with ==, except for the predeclared ones and *Class, *Enum,
// which exist once.
type Type interface {
	// String returns the type as a user would write it.
	String() string
	aType()
}

// BasicKind numbers the predeclared types.
type BasicKind uint8

// The predeclared types. Invalid is the type of what was wrong: every
// operation accepts it silently, so that one mistake gives one error.
const (
	InvalidKind BasicKind = iota
	VoidKind
	BoolKind
	IntKind // int and int64
	Int8Kind
	Int16Kind
	Int32Kind
	Uint8Kind
	Uint16Kind
	Uint32Kind
	Uint64Kind
	FloatKind
	StringKind
	BytesKind
	TimeKind
	DurationKind
	UntypedIntKind   // only of constants
	UntypedFloatKind // only of constants
	NullKind         // of null before its context is known
)

// Basic is a predeclared type, or a Go type whose values are texts.
type Basic struct {
	Kind BasicKind
	name string
	of   *GoType // nil if it is predeclared
}

// The predeclared types.
var (
	Invalid      = &Basic{Kind: InvalidKind, name: "invalid type"}
	Void         = &Basic{Kind: VoidKind, name: "void"}
	Bool         = &Basic{Kind: BoolKind, name: "bool"}
	Int          = &Basic{Kind: IntKind, name: "int"}
	Int8         = &Basic{Kind: Int8Kind, name: "int8"}
	Int16        = &Basic{Kind: Int16Kind, name: "int16"}
	Int32        = &Basic{Kind: Int32Kind, name: "int32"}
	Uint8        = &Basic{Kind: Uint8Kind, name: "uint8"}
	Uint16       = &Basic{Kind: Uint16Kind, name: "uint16"}
	Uint32       = &Basic{Kind: Uint32Kind, name: "uint32"}
	Uint64       = &Basic{Kind: Uint64Kind, name: "uint64"}
	Float        = &Basic{Kind: FloatKind, name: "float"}
	String       = &Basic{Kind: StringKind, name: "string"}
	Bytes        = &Basic{Kind: BytesKind, name: "bytes"}
	Time         = &Basic{Kind: TimeKind, name: "time"}
	Duration     = &Basic{Kind: DurationKind, name: "duration"}
	UntypedInt   = &Basic{Kind: UntypedIntKind, name: "integer constant"}
	UntypedFloat = &Basic{Kind: UntypedFloatKind, name: "float constant"}
	Null         = &Basic{Kind: NullKind, name: "null"}
)

// Vector is vector<T>, also written T[].
type Vector struct{ Elem Type }

// Map is map<K, V>.
type Map struct{ Key, Value Type }

// Set is set<T>.
type Set struct{ Elem Type }

// Optional is T?. Elem is never itself Optional.
type Optional struct{ Elem Type }

// Pending is pending<T>; Elem is Void for pending<void>.
type Pending struct{ Elem Type }

// Class is a class, actor class or client class: a type and the object that
// declares it.
type Class struct {
	Kind ast.ClassKind
	Pkg  *Package
	Decl *ast.ClassDecl
	name string

	Fields  []*Var         // in source order
	Methods []*Func        // in source order
	GoCalls []*ClassGoCall // that methods of an actor class issue, in the order of their statements
	// Ctor is the constructor, also for classes without a written one: then
	// Decl is nil and its parameters are those of the implicit constructor.
	Ctor *Func
	// Snapshot is the snapshot block of an actor class, nil if it has none.
	Snapshot *Func

	// ContainsItself: an object of the value class may have one of it inside, through optional values and containers, too. Only
	// such objects nest deeper than their types.
	ContainsItself bool
	// SelfRecursive: the ownership graph has the self-loop Class -> Class.
	SelfRecursive bool
	// Owns lists the actor classes this one has an ownership edge to, itself
	// excluded, by name.
	Owns []*Class

	members map[string]Object
	index   int // order of declaration in the package
}

// Enum is an enum: a type and the object that declares it.
type Enum struct {
	Pkg    *Package
	Decl   *ast.EnumDecl
	name   string
	Values []*EnumValue // in source order
}

// value returns the value with a name; nil if there is none.
func (e *Enum) value(name string) *EnumValue {
	for _, v := range e.Values {
		if v.Name() == name {
			return v
		}
	}
	return nil
}

func (*Basic) aType()    {}
func (*Vector) aType()   {}
func (*Map) aType()      {}
func (*Set) aType()      {}
func (*Optional) aType() {}
func (*Pending) aType()  {}
func (*Class) aType()    {}
func (*Enum) aType()     {}

func (t *Basic) String() string    { return t.name }
func (t *Vector) String() string   { return "vector<" + typeString(t.Elem, 1) + ">" }
func (t *Set) String() string      { return "set<" + typeString(t.Elem, 1) + ">" }
func (t *Optional) String() string { return typeString(t.Elem, 1) + "?" }
func (t *Pending) String() string  { return "pending<" + typeString(t.Elem, 1) + ">" }
func (t *Class) String() string    { return t.name }
func (t *Enum) String() string     { return t.name }
func (t *Map) String() string {
	return "map<" + typeString(t.Key, 1) + ", " + typeString(t.Value, 1) + ">"
}

// typeStringMax bounds the nesting that messages show.
const typeStringMax = 8

func typeString(t Type, depth int) string {
	if depth > typeStringMax {
		return "…"
	}
	switch t := t.(type) {
	case *Vector:
		return "vector<" + typeString(t.Elem, depth+1) + ">"
	case *Set:
		return "set<" + typeString(t.Elem, depth+1) + ">"
	case *Optional:
		return typeString(t.Elem, depth+1) + "?"
	case *Pending:
		return "pending<" + typeString(t.Elem, depth+1) + ">"
	case *Map:
		return "map<" + typeString(t.Key, depth+1) + ", " + typeString(t.Value, depth+1) + ">"
	}
	return t.String()
}

// IsActor reports whether t is an actor class.
func IsActor(t Type) bool { c, ok := t.(*Class); return ok && c.Kind == ast.ActorClass }

// IsClient reports whether t is a client class.
func IsClient(t Type) bool { c, ok := t.(*Class); return ok && c.Kind == ast.ClientClass }

// IsRef reports whether t is an actor class or a client class.
func IsRef(t Type) bool { c, ok := t.(*Class); return ok && c.Kind != ast.ValueClass }

// IsValueClass reports whether t is a value class.
func IsValueClass(t Type) bool { c, ok := t.(*Class); return ok && c.Kind == ast.ValueClass }

// IsInteger reports whether t is an integer type or the type of untyped integer constants.
func IsInteger(t Type) bool {
	b, ok := t.(*Basic)
	return ok && (b.Kind >= IntKind && b.Kind <= Uint64Kind || b.Kind == UntypedIntKind)
}

// IsUnsigned reports whether t is one of uint8 to uint64.
func IsUnsigned(t Type) bool {
	b, ok := t.(*Basic)
	return ok && b.Kind >= Uint8Kind && b.Kind <= Uint64Kind
}

// IsNumeric reports whether t is an integer or float type, typed or not.
func IsNumeric(t Type) bool {
	b, ok := t.(*Basic)
	return ok && (IsInteger(t) || b.Kind == FloatKind || b.Kind == UntypedFloatKind)
}

// IsUntyped reports whether t is the type of an untyped constant or of null.
func IsUntyped(t Type) bool { b, ok := t.(*Basic); return ok && b.Kind >= UntypedIntKind }

// isOrdered reports whether values of t have < and >.
func isOrdered(t Type) bool {
	b, ok := t.(*Basic)
	return ok && b.of == nil && (IsNumeric(t) || b.Kind == StringKind || b.Kind == BytesKind || b.Kind == TimeKind || b.Kind == DurationKind)
}

// IsKey reports whether t may be the key of a map or the element of a set.
func IsKey(t Type) bool {
	switch t := t.(type) {
	case *Basic:
		return IsInteger(t) || t.Kind == InvalidKind || t.Kind == BoolKind || t.Kind == StringKind || t.Kind == BytesKind ||
			t.Kind == TimeKind || t.Kind == DurationKind
	case *Enum:
		return true
	case *Class:
		return t.Kind == ast.ActorClass
	}
	return false
}

// IsContainer reports whether t is a vector, map or set.
func IsContainer(t Type) bool {
	switch t.(type) {
	case *Vector, *Map, *Set:
		return true
	}
	return false
}

// Identical reports whether x and y are the same type.
func Identical(x, y Type) bool {
	if x == y {
		return true
	}
	switch x := x.(type) {
	case *Vector:
		y, ok := y.(*Vector)
		return ok && Identical(x.Elem, y.Elem)
	case *Set:
		y, ok := y.(*Set)
		return ok && Identical(x.Elem, y.Elem)
	case *Optional:
		y, ok := y.(*Optional)
		return ok && Identical(x.Elem, y.Elem)
	case *Pending:
		y, ok := y.(*Pending)
		return ok && Identical(x.Elem, y.Elem)
	case *Map:
		y, ok := y.(*Map)
		return ok && Identical(x.Key, y.Key) && Identical(x.Value, y.Value)
	}
	return false
}

// makeOptional returns t?, which is t itself if t is optional already.
func makeOptional(t Type) Type {
	switch t := t.(type) {
	case *Optional:
		return t
	case *Basic:
		if t.Kind == InvalidKind || t.Kind == VoidKind {
			return t
		}
	}
	return &Optional{t}
}

// nonNull returns T for T?, and every other type as it is.
func nonNull(t Type) Type {
	if o, ok := t.(*Optional); ok {
		return o.Elem
	}
	return t
}

// containsInvalid reports whether t is, or is built from, the invalid type.
func containsInvalid(t Type) bool {
	switch t := t.(type) {
	case nil:
		return true
	case *Basic:
		return t.Kind == InvalidKind
	case *Vector:
		return containsInvalid(t.Elem)
	case *Set:
		return containsInvalid(t.Elem)
	case *Optional:
		return containsInvalid(t.Elem)
	case *Pending:
		return containsInvalid(t.Elem)
	case *Map:
		return containsInvalid(t.Key) || containsInvalid(t.Value)
	}
	return false
}

// Offered returns the methods that callers outside of the program know: those that are not internal.
func (c *Class) Offered() []*Func {
	return slices.DeleteFunc(slices.Clone(c.Methods), func(m *Func) bool { return m.Internal })
}

// Signature returns the head of f as a user would write it.
func (f *Func) Signature() string {
	var b strings.Builder
	if f.Internal {
		b.WriteString("internal ")
	}
	if f.RO {
		b.WriteString("ro ")
	}
	if f.Kind != Constructor {
		if f.YieldResult {
			b.WriteString("yield ")
		}
		b.WriteString(f.Result.String() + " ")
	}
	b.WriteString(f.name + "(")
	for i, p := range f.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		if p.Yield {
			b.WriteString("yield ")
		}
		b.WriteString(p.typ.String() + " " + p.name)
	}
	b.WriteString(")")
	return b.String()
}
