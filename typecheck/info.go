// Package typecheck checks an .aeon package and records what it finds in side
// tables keyed by the nodes of the syntax tree, which it never changes.
//
// check.go lists the passes in order; each pass, or each construct within a
// large pass, has a file of its own. Something that was reported once has the
// Invalid type from then on, and later passes accept that silently.
package typecheck

import (
	"go/constant"

	"github.com/aeon-lang/aeon/lang/ast"
)

// Info holds the results of checking one package. After Check it is read-only
// and may be shared between goroutines. With errors it is incomplete: only
// the graph is meaningful then.
type Info struct {
	Package *Package

	// Types has the type of every expression that has a value, and its value
	// if it is constant (then a code generator needs to look no deeper). An
	// untyped constant has the type its context gives it; the value of an enum
	// constant is its index, that of a duration its nanoseconds. The type of an
	// identifier is the narrowed one: where a local `V? x` is known not to be
	// null, Types[x] is V and Uses[x].Type() is V?.
	Types map[ast.Expr]TypeAndValue
	// TypeExprs has the type that every type as written denotes.
	TypeExprs map[ast.Type]Type
	// Defs has the object of every declaring node: *ast.ClassDecl,
	// *ast.EnumDecl, *ast.EnumValue, *ast.ConstDecl, *ast.FuncDecl,
	// *ast.MethodDecl, *ast.CtorDecl, *ast.SnapshotDecl, *ast.TestDecl, *ast.FieldDecl,
	// *ast.Param, *ast.VarDecl, *ast.ForEach, *ast.LoopValue, *ast.ForUpto, *ast.CatchClause.
	Defs map[ast.Node]Object
	// Uses has the object of every *ast.Ident, *ast.Field and
	// *ast.OptionalField that denotes one: a bare field name in a method is an
	// Ident whose object is a FieldVar, and means this.name.
	Uses map[ast.Expr]Object
	// Wraps has the expressions of type T (or null) that stand where T? is
	// wanted: the target type. A null literal has that type in Types too.
	Wraps map[ast.Expr]*Optional

	Calls map[*ast.Call]*Call
	// GoCalls has the statements `event go`. Info.Calls has their calls, too: a FuncCall and an ActorCall, both of mode Event.
	GoCalls map[*ast.GoCall]*GoCall
	News    map[*ast.New]*New
	Awaits  map[*ast.Await]*Await
	// Patterns has the enum value of every pattern of a match.
	Patterns map[*ast.Pattern]*EnumValue

	// Stores has every place that writes: *ast.Assign and *ast.IncDec, and
	// every *ast.Call of a method that changes its receiver (library methods
	// such as push, and mutating value-class methods).
	Stores map[ast.Node]*Store
	// CopyLoops has the loops over a value that their body may change: these
	// must iterate over a copy. Other loops may read the value in place.
	CopyLoops map[*ast.ForEach]bool
	// Exhaustive has the switches without default that name every value of
	// their enum; control does not pass such a switch if it does not pass a case.
	Exhaustive map[*ast.Switch]bool

	// Graph is the ownership graph of the classes; always set.
	Graph *Graph
}

// TypeAndValue is what is known of an expression.
type TypeAndValue struct {
	Type  Type
	Value constant.Value // nil if not constant
}

// TypeOf returns the type of x, parentheses or not, or Invalid.
func (in *Info) TypeOf(x ast.Expr) Type {
	if tv, ok := in.Types[x]; ok {
		return tv.Type
	}
	return Invalid
}

// ConstOf returns the value of a constant expression, else nil.
func (in *Info) ConstOf(x ast.Expr) constant.Value { return in.Types[x].Value }

// CallKind tells what a call calls.
type CallKind uint8

// The kinds of calls.
const (
	ConversionCall CallKind = iota // int(f): Call.Result is the target type
	BuiltinCall                    // len(x): Call.Builtin
	LibraryCall                    // xs.push(x): Call.Library, receiver Call.Recv
	FuncCall                       // a free function: Call.Func; or a method of a Go type on a value, with Call.Recv
	SelfCall                       // sync m() or this.m() in an actor, client or value class: a plain call
	ValueCall                      // a method of a value class on some value
	ActorCall                      // sync, async or event on an actor (mode in ast.Call), `event this.m()` and `async this.m()` too
	ClientCall                     // event on a client class: a callback
)

// Call is what is known of one call.
type Call struct {
	Kind    CallKind
	Func    *Func     // FuncCall, SelfCall, ValueCall, ActorCall, ClientCall
	Builtin BuiltinID // BuiltinCall
	Library LibraryID // LibraryCall
	Recv    ast.Expr  // receiver; nil for m() without one, and for functions
	// RecvType is the type of the receiver, without `?` where Optional.
	RecvType Type
	// Optional: x?.m(); nothing is called if x is null, and a result is T?.
	Optional bool
	Params   []Type // of the arguments, library calls included
	// Result is the type of the call expression: the method's result, the
	// same with `?` if Optional, pending<T> for an event of a client, Void for
	// `async` and for an event of an actor.
	Result Type
	// Through is how the receiver is reached, for ActorCall and ClientCall.
	Through Through
	Query   *Query // of find, range and sorted of a table
	Fields  []*Var // of sort of a vector of objects
	// Unawaited: an event of a client whose pending is not used.
	Unawaited bool
}

// Through is how a call reaches its receiver: a column of the call table.
type Through uint8

// The ways to reach a receiver.
const (
	ThroughPlain Through = iota
	ThroughYield
	ThroughThis
	ThroughClient
)

// New is what is known of one `new T(args)`.
type New struct {
	Type Type  // *Class, or a container type (no arguments)
	Ctor *Func // nil for containers
	// Fields are the fields that the arguments of an implicit constructor set,
	// one per argument; nil if the constructor is written.
	Fields []*Var
	Params []Type
	// Client: written in code of a client, so an awaited event of its own.
	Client bool
}

// Await is what is known of one `await x`.
type Await struct {
	// Call is the event that is awaited on the spot, so that no pending value
	// is needed; nil if a stored pending is awaited.
	Call   *ast.Call
	Result Type
}

// Store is one write.
type Store struct {
	// Root is the variable that the path starts from; a FieldVar means a field
	// of `this`. Nil if the receiver of a mutating call is `this` itself.
	Root *Var
	// Steps lead from the root to the place that is written. Empty: the whole
	// variable is.
	Steps []Step
	// Owner: how the write may change ownership; of stores into plain fields
	// of actors whose type holds actor references.
	Owner OwnerChange
	// Value is the type of what is stored at the place; nil for calls.
	Value Type
}

// Step is one step of a path: a field of a value class, an element, or `!`.
type Step struct {
	Kind  StepKind
	Field *Var     // FieldStep
	Index ast.Expr // IndexStep
	Expr  ast.Expr // the expression up to and with this step
}

// StepKind tells what a step is.
type StepKind uint8

// The steps.
const (
	FieldStep   StepKind = iota // .f of a value class
	IndexStep                   // [i] of a vector, [k] of a map, [i] of bytes
	NonNullStep                 // ! of an optional; also where narrowing has removed the `?`
)

// OwnerChange says what a store does to ownership edges.
type OwnerChange uint8

// The answers, from weak to strong.
const (
	// OwnerNone: no actor reference in a plain field is written.
	OwnerNone OwnerChange = iota
	// OwnerMoves: every reference stored was read from this actor's own plain
	// fields. Multiplicities change, but what is below this actor does not
	// grow: not an ownership change.
	OwnerMoves
	// OwnerShrinks: references are removed or overwritten by none.
	OwnerShrinks
	// OwnerFresh: every reference stored is to an actor made in this method.
	OwnerFresh
	// OwnerChanges: a reference from elsewhere may be stored.
	OwnerChanges
)
