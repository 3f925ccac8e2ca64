package typecheck

import (
	"go/constant"

	"github.com/aeon-lang/aeon/lang/ast"
)

// Object is what a name denotes.
type Object interface {
	Name() string
	// Type returns the type of a variable, constant or enum value, the result
	// of a function, and the type itself for a class, enum or predeclared type.
	Type() Type
	// Span returns the declaring name; it is not valid for predeclared objects.
	Span() ast.Span
}

// VarKind tells what a Var is.
type VarKind uint8

// The kinds of variables.
const (
	LocalVar VarKind = iota // declared by a VarDecl in a body
	ParamVar
	FieldVar
	LoopVar  // of `for (T x : xs)` and `for (int i = a upto b)`
	CatchVar // of `catch (string why)`
)

// Var is a local, parameter, field, loop or catch variable.
type Var struct {
	Kind  VarKind
	Decl  ast.Node // *ast.VarDecl, *ast.Param, *ast.FieldDecl, *ast.ForEach, *ast.LoopValue, *ast.ForUpto or *ast.CatchClause
	Owner *Func    // nil for fields
	Class *Class   // the class of a field, else nil
	Index int      // of a field in Class.Fields, of a parameter in Owner.Params; else of the local in its body

	// Yield: declared so (fields, parameters), or inferred (locals: something
	// that is yield is assigned or inserted anywhere in the method). Always
	// true where the type is a client class.
	Yield bool
	// Assigned: some statement assigns the whole variable after its
	// declaration. A parameter that is not Assigned keeps its argument.
	Assigned bool
	// Mutated: some statement writes the variable or a path through it, calls
	// of mutating methods included.
	Mutated bool
	// Used: some expression reads it.
	Used bool

	inHead bool // declared in the head of an if

	name string
	typ  Type
	span ast.Span
}

// Name implements Object.
func (v *Var) Name() string { return v.name }

// Type implements Object.
func (v *Var) Type() Type { return v.typ }

// Span implements Object.
func (v *Var) Span() ast.Span { return v.span }

// Field returns the declaration of a field.
func (v *Var) Field() *ast.FieldDecl { d, _ := v.Decl.(*ast.FieldDecl); return d }

// Const is a declared constant.
type Const struct {
	Decl  *ast.ConstDecl
	Pkg   *Package
	Value constant.Value // int64-typed ones (time, duration) as integers

	typ Type // may be untyped
}

// Name implements Object.
func (c *Const) Name() string { return c.Decl.Name.Text }

// Type implements Object.
func (c *Const) Type() Type { return c.typ }

// Span implements Object.
func (c *Const) Span() ast.Span { return c.Decl.Name.Span() }

// EnumValue is one alternative of an enum.
type EnumValue struct {
	Enum  *Enum
	Decl  *ast.EnumValue
	Index int
}

// Name implements Object.
func (v *EnumValue) Name() string { return v.Decl.Name.Text }

// Type implements Object.
func (v *EnumValue) Type() Type { return v.Enum }

// Span implements Object.
func (v *EnumValue) Span() ast.Span { return v.Decl.Name.Span() }

// Name implements Object.
func (t *Class) Name() string { return t.name }

// Type implements Object.
func (t *Class) Type() Type { return t }

// Span implements Object.
func (t *Class) Span() ast.Span { return t.Decl.Name.Span() }

// Name implements Object.
func (t *Enum) Name() string { return t.name }

// Type implements Object.
func (t *Enum) Type() Type { return t }

// Span implements Object.
func (t *Enum) Span() ast.Span { return t.Decl.Name.Span() }

// basicName is a predeclared type as an object; int64 is another name of int.
type basicName struct {
	name string
	typ  *Basic
}

func (b *basicName) Name() string { return b.name }

// Type implements Object.
func (b *basicName) Type() Type { return b.typ }

// Span implements Object.
func (b *basicName) Span() ast.Span { return ast.Span{} }

// FuncKind tells what a Func is.
type FuncKind uint8

// The kinds of functions.
const (
	FreeFunc FuncKind = iota
	Method
	Constructor
	Test          // a test block
	SnapshotBlock // of an actor class: no part of any event
)

// Context says whether clients or actors run a piece of code.
type Context uint8

// The contexts. A free function or value-class method that is not called and that
// uses nothing special is AnyContext.
const (
	AnyContext    Context = iota // callable from clients and from actors
	ActorContext                 // code of actors: sync and async calls
	ClientContext                // main, tests, client classes, and functions that use await, try, …
)

// Func is a free function, method, constructor or test block.
type Func struct {
	Kind        FuncKind
	Pkg         *Package
	Class       *Class   // of methods and constructors
	Decl        ast.Node // *ast.FuncDecl, *ast.ExternFunc, *ast.MethodDecl, *ast.CtorDecl, *ast.SnapshotDecl or *ast.TestDecl; nil for an implicit constructor
	Body        *ast.Block
	Internal    bool // of methods of actors: no caller outside of the program sees it
	RO          bool
	Params      []*Var
	Result      Type // Void if there is none
	YieldResult bool
	Index       int     // of a method in Class.Methods, else of the function in Package.Funcs or Externs
	Go          *GoFunc // what an `extern go` block binds it to, or its body `= go`; else nil

	// Tails: it contains a tail call, so that its event may be a step of a chain: it is started
	// by `event` and `tail` only.
	Tails bool

	// Locals are all variables that the body declares, in source order.
	Locals []*Var
	// Mutating: a value-class method that writes its fields; inferred.
	Mutating bool
	// Context: what runs it. Methods of actor classes are ActorContext, those of
	// client classes, main and tests ClientContext.
	Context Context
	// ByClient and ByActor: some code of a client, of an actor, may run it.
	ByClient, ByActor bool
	// ImplicitFields are the fields that the parameters of an implicit
	// constructor set, one per parameter.
	ImplicitFields []*Var
	// Effects is what the function may touch; nil if the program has errors,
	// and for code of clients.
	Effects *Effects

	name string
	span ast.Span
	sum  *summary
	// forClient and forActor are why only clients, or only actors, can run a
	// helper; nil if there is no reason. Importing packages ask for them.
	forClient, forActor *need
	// forPlain is why a method cannot be called on a value whose references are yield; nil if there is no reason.
	forPlain *need
	// offence is why an ro method cannot call it; nil if there is no reason.
	offence *offence
	// edges are those that its own code makes for an actor class that runs it; helpers are what it calls.
	edges   []edgeOf
	helpers []*Func
	// onlyWrites: it has no effect beside what it writes to its object.
	onlyWrites bool
	// beyond is why a snapshot block cannot call a helper; nil if there is no reason.
	beyond *need
}

// Name implements Object. It is the text of a test's name for tests.
func (f *Func) Name() string { return f.name }

// Type implements Object: the result.
func (f *Func) Type() Type { return f.Result }

// Span implements Object.
func (f *Func) Span() ast.Span { return f.span }

// IsMethodOf reports whether f is a method or constructor of a class of kind k.
func (f *Func) IsMethodOf(k ast.ClassKind) bool { return f.Class != nil && f.Class.Kind == k }

// FullName returns Class.method, or the name of a free function.
func (f *Func) FullName() string {
	switch {
	case f.Kind == Test:
		return "test \"" + f.name + "\""
	case f.Class != nil:
		return f.Class.name + "." + f.name
	case f.Go != nil && f.Go.Recv != nil:
		return f.Go.Recv.name + "." + f.name
	}
	return f.name
}

// Builtin is a predeclared function.
type Builtin struct {
	ID   BuiltinID
	name string
}

// Name implements Object.
func (b *Builtin) Name() string { return b.name }

// Type implements Object; the result depends on the arguments.
func (b *Builtin) Type() Type { return Invalid }

// Span implements Object.
func (b *Builtin) Span() ast.Span { return ast.Span{} }

// PkgName is an imported package under its name in one file.
type PkgName struct {
	Decl *ast.ImportDecl
	Pkg  *Package // nil if it could not be imported
	name string
	used bool
}

// Name implements Object.
func (p *PkgName) Name() string { return p.name }

// Type implements Object.
func (p *PkgName) Type() Type { return Invalid }

// Span implements Object.
func (p *PkgName) Span() ast.Span { return p.Decl.Span() }

// Package is one checked package.
type Package struct {
	Name     string
	Path     string // import path; "" if it was not stated
	Files    []*ast.File
	Classes  []*Class // in source order, over the files in the order given
	Enums    []*Enum
	Consts   []*Const
	Funcs    []*Func   // free functions
	Externs  []*Func   // Go functions of `extern go` blocks, methods of Go types included
	GoBodies []*Func   // functions, and methods of value classes, whose body is `= go`; they are among Funcs and Methods, too
	GoTypes  []*GoType // of `extern go` blocks
	Tests    []*Func
	Main     *Func // nil if there is none

	scope map[string]Object
	keys  map[string]constant.Value // the constant keys in footprints, by keyText
}

// Lookup returns the object that name denotes at the top level, or nil.
func (p *Package) Lookup(name string) Object { return p.scope[name] }

// Bound returns all that is written in Go: the functions of `extern go` blocks, and those whose body is `= go`.
func (p *Package) Bound() []*Func {
	return append(p.Externs[:len(p.Externs):len(p.Externs)], p.GoBodies...)
}

// AllFuncs calls f for everything with a body: constructors (implicit ones
// too), methods, snapshot blocks, free functions and tests, in source order by kind.
func (p *Package) AllFuncs(f func(*Func)) {
	for _, c := range p.Classes {
		if c.Ctor != nil {
			f(c.Ctor)
		}
		for _, m := range c.Methods {
			f(m)
		}
		if c.Snapshot != nil {
			f(c.Snapshot)
		}
	}
	for _, fn := range p.Funcs {
		f(fn)
	}
	for _, fn := range p.Tests {
		f(fn)
	}
}
