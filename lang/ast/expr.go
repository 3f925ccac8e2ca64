package ast

import (
	"strings"
	"time"
)

// Ident is a name used as an expression: a local, parameter, field, constant,
// enum value, function, or the head of a conversion such as `int(f)`.
type Ident struct {
	Loc
	Name string
}

// IntLit is an integer literal as in Go, or a character such as 'a', whose
// value is its code point.
type IntLit struct {
	Loc
	Text  string // as written
	Value uint64 // a sign is a Unary around the literal
}

// FloatLit is a floating-point literal as in Go.
type FloatLit struct {
	Loc
	Text  string
	Value float64
}

// DurationLit is a duration such as 90s, 50ms or 1h30m, with Go's units.
type DurationLit struct {
	Loc
	Text  string
	Value time.Duration
}

// StringLit is a string without interpolation, raw or not.
type StringLit struct {
	Loc
	Raw   bool
	Value string // escapes resolved
}

// InterpolatedString is "a{x}b". Parts are *StringLit (text between, escapes
// resolved, never two in a row and never empty) and other expressions.
type InterpolatedString struct {
	Loc
	Parts []Expr
}

// BoolLit is true or false.
type BoolLit struct {
	Loc
	Value bool
}

// NullLit is null.
type NullLit struct{ Loc }

// VectorLit is `[a, b, c]`: a vector, or where a set is expected, a set.
type VectorLit struct {
	Loc
	Elems []Expr
}

// MapLit is `[k: v, l: w]`. It has a value for each key, and at least one.
type MapLit struct {
	Loc
	Keys, Values []Expr
}

// Parts returns keys and values in the order in which they are written.
func (x *MapLit) Parts() []Expr {
	list := make([]Expr, 0, 2*len(x.Keys))
	for i, k := range x.Keys {
		list = append(list, k, x.Values[i])
	}
	return list
}

// This is `this`.
type This struct{ Loc }

// Paren is `(x)`. It is kept because the formatter needs it; Unparen removes it.
type Paren struct {
	Loc
	X Expr
}

// Unary is `-x`, `+x`, `!x` or `^x`.
type Unary struct {
	Loc
	Op Op
	X  Expr
}

// Binary is `x op y`, `??` excepted.
type Binary struct {
	Loc
	Op    Op
	OpPos Span
	X, Y  Expr
}

// Coalesce is `x ?? y`.
type Coalesce struct {
	Loc
	OpPos Span
	X, Y  Expr
}

// Index is `x[i]`.
type Index struct {
	Loc
	X, I Expr
}

// Slice is `x[lo:hi]`.
type Slice struct {
	Loc
	X      Expr
	Lo, Hi Expr // nil if missing
}

// Field is `x.name`: a field, a method when it is the Fun of a Call, an enum's
// value, or a name of an imported package.
type Field struct {
	Loc
	X    Expr
	Name Name
}

// OptionalField is `x?.name`: null if x is.
type OptionalField struct {
	Loc
	X    Expr
	Name Name
}

// NonNull is `x!`.
type NonNull struct {
	Loc
	X Expr
}

// NullText is what a message calls the operand of `x!`, or x itself where narrowing has removed the `?`: its source,
// on one line.
func NullText(x Expr) string {
	if n, ok := x.(*NonNull); ok {
		x = n.X
	}
	text := Unparen(x).Span().Text()
	if strings.Contains(text, "\n") {
		text = strings.Join(strings.Fields(text), " ")
	}
	return text
}

// CallMode is the decoration of a call.
type CallMode uint8

// The decorations.
const (
	Sync  CallMode = iota // f(x)
	Async                 // async f(x)
	Event                 // event f(x)
	Tail                  // tail f(x); the X of a TailCall
)

// String returns sync, async, event or tail.
func (m CallMode) String() string { return [...]string{"sync", "async", "event", "tail"}[m] }

// Inside reports whether a call is part of the event that makes it; the others begin an event
// when that one has committed.
func (m CallMode) Inside() bool { return m == Sync || m == Async }

// Call is `f(args)` in all its forms: calls of functions, methods and library
// functions, conversions `int(f)`, and enum values with payload `Some(3)`.
type Call struct {
	Loc
	Mode CallMode
	// ModePos is the span of `async`, `event` or `tail`; not valid for Sync.
	ModePos  Span
	Fun      Expr // *Ident, *Field or *OptionalField in sensible programs
	TypeArgs []Type
	Args     []Expr

	// Timer clauses: only with Event, nil otherwise.
	After Expr // `after D`
	Every Expr // `every D`; the parser makes sure that Name is set with it
	Name  Expr // `as "name"`
}

// New is `new T(args)`. Containers are made the same way: `new map<K, V>()`.
type New struct {
	Loc
	Type Type
	Args []Expr
}

// ActorRef is `actor<T>(key)`: the named actor, created at first use.
type ActorRef struct {
	Loc
	Type Type
	Key  Expr
}

// Await is `await p`.
type Await struct {
	Loc
	X Expr
}

// BadExpr stands for source that is not an expression.
type BadExpr struct{ Loc }

// Unparen returns x without the parentheses around it.
func Unparen(x Expr) Expr {
	for {
		p, ok := x.(*Paren)
		if !ok {
			return x
		}
		x = p.X
	}
}

func (*Ident) expr()              {}
func (*IntLit) expr()             {}
func (*FloatLit) expr()           {}
func (*DurationLit) expr()        {}
func (*StringLit) expr()          {}
func (*InterpolatedString) expr() {}
func (*BoolLit) expr()            {}
func (*NullLit) expr()            {}
func (*VectorLit) expr()          {}
func (*MapLit) expr()             {}
func (*This) expr()               {}
func (*Paren) expr()              {}
func (*Unary) expr()              {}
func (*Binary) expr()             {}
func (*Coalesce) expr()           {}
func (*Index) expr()              {}
func (*Slice) expr()              {}
func (*Field) expr()              {}
func (*OptionalField) expr()      {}
func (*NonNull) expr()            {}
func (*Call) expr()               {}
func (*New) expr()                {}
func (*ActorRef) expr()           {}
func (*Await) expr()              {}
func (*BadExpr) expr()            {}
