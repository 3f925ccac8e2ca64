package typecheck

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// Options parametrise Check. The zero value checks a package without imports.
type Options struct {
	// Path is the import path of the package; only for messages and Package.Path.
	Path string
	// Import returns the checked package for an import path, or an error that
	// says why there is none. Nil: there are no packages to import.
	Import func(path string) (*Package, error)
	// Go returns the Go package for the path of an `extern go` block, or an error that
	// says why there is none. Nil: there are no Go packages to bind.
	Go func(path string) (*GoPackage, error)
}

// checker holds what the passes share.
type checker struct {
	opts  Options
	info  *Info
	pkg   *Package
	diags []diag.Diagnostic

	consts     map[*Const]*constState
	files      map[*ast.File]*fileScope
	fileOf     map[ast.Decl]*fileScope
	values     map[string][]*EnumValue // enum values by bare name
	tests      map[string]*Func        // by name
	externs    []*ast.ExternGoDecl
	goPackages map[*ast.ExternGoDecl]*GoPackage // nil where there is none
	facts      map[*Func]*bodyFacts
	owning     map[*Class]bool // does it hold an actor reference in a plain field? see holdsActors
	closure    *closure        // of the ownership graph
	suggests   int             // how many suggestions were computed
	textTotal  int             // bytes of constant strings made by +
}

// Check checks the files of one package. The diagnostics are sorted; the Info
// is complete if none of them is an error. Files with syntax errors may be
// checked too: what the parser could not read is passed over silently. Check
// does not change the trees, and may run concurrently with itself.
func Check(files []*ast.File, opts Options) (*Info, []diag.Diagnostic) {
	c := &checker{
		opts:       opts,
		info:       newInfo(files, opts),
		consts:     make(map[*Const]*constState),
		files:      make(map[*ast.File]*fileScope),
		fileOf:     make(map[ast.Decl]*fileScope),
		values:     make(map[string][]*EnumValue),
		tests:      make(map[string]*Func),
		facts:      make(map[*Func]*bodyFacts),
		owning:     make(map[*Class]bool),
		goPackages: make(map[*ast.ExternGoDecl]*GoPackage),
	}
	c.pkg = c.info.Package

	c.collect()     // resolve.go: names at the top level, imports
	c.bindTypes()   // externtype.go: the Go types of `extern go` blocks
	c.members()     // decl.go: types of fields, parameters and results
	c.bindExterns() // externgo.go: the Go functions of `extern go` blocks
	c.bindBodies()  // gobody.go: the Go functions that are bodies `= go`
	c.layout()      // decl.go: value classes that contain themselves
	c.tables()      // table.go: keys and indexes of tables
	c.allConsts()   // constdecl.go: values of constants
	c.bodies()      // body.go: types of all expressions, null narrowing
	c.graphKnown()  // ownership.go: whether what has been found wrong hides an edge of the graph
	c.mutation()    // mutating.go: which methods and variables are written
	c.flow()        // flow.go: definite assignment, returns, unreachable code, unused names
	c.contexts()    // context.go: which code is run by clients, which by actors
	c.yields()      // yield.go: plain and yield references
	c.checkCalls()  // calltable_check.go: which calls are allowed; ro
	c.ownership()   // ownership.go: the class graph and its cycles
	if !diag.HasErrors(c.diags) {
		c.effects()    // effects_infer.go: what functions of actors touch
		c.keptSteps()  // tail.go: what the steps of a chain may touch
		c.lostWrites() // lost.go: writes to copies that nothing uses afterwards
	}
	return c.info, diag.Sort(withoutDerived(files, c.diags))
}

func newInfo(files []*ast.File, opts Options) *Info {
	nodes := 0
	for _, f := range files {
		nodes += len(f.Src.Text) / 8
	}
	return &Info{
		Package:    &Package{Path: opts.Path, Files: files, scope: make(map[string]Object)},
		Types:      make(map[ast.Expr]TypeAndValue, nodes),
		TypeExprs:  make(map[ast.Type]Type),
		Defs:       make(map[ast.Node]Object),
		Uses:       make(map[ast.Expr]Object, nodes/2),
		Wraps:      make(map[ast.Expr]*Optional),
		Calls:      make(map[*ast.Call]*Call),
		GoCalls:    make(map[*ast.GoCall]*GoCall),
		News:       make(map[*ast.New]*New),
		Awaits:     make(map[*ast.Await]*Await),
		Patterns:   make(map[*ast.Pattern]*EnumValue),
		Stores:     make(map[ast.Node]*Store),
		CopyLoops:  make(map[*ast.ForEach]bool),
		Exhaustive: make(map[*ast.Switch]bool),
		Graph:      &Graph{},
	}
}

// report adds a diagnostic.
func (c *checker) report(d diag.Diagnostic) { c.diags = append(c.diags, d) }

// errorf reports an error without further ado and returns its place for
// adding labels, help and fix: c.errorf(…).Help = ….
func (c *checker) errorf(code diag.Code, at ast.Node, format string, args ...any) *diag.Diagnostic {
	return c.errorAt(code, at.Span(), format, args...)
}

func (c *checker) errorAt(code diag.Code, at ast.Span, format string, args ...any) *diag.Diagnostic {
	c.diags = append(c.diags, diag.New(code, at, format, args...))
	return &c.diags[len(c.diags)-1]
}
