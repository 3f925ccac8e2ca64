package spec

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// frame is one call in progress. Code of events and of clients runs in the same
// frames; ev and th tell which it is.
type frame struct {
	m      *Machine
	info   *typecheck.Info
	fn     *typecheck.Func // nil for an initialiser of a field
	locals map[*typecheck.Var]value
	result value

	cell *value    // the object of a value class; a mutating method writes through it
	who  *identity // the actor that runs the code
	obj  clientRef // the client object that runs the code

	ev *event  // the event; nil in a client
	th *client // the thread of a client; nil in an event

	caller *frame
	at     ast.Span // of the call in caller
	depth  int
}

// callee is the object that a method is called on.
type callee struct {
	cell *value
	who  *identity
	obj  clientRef
}

// call runs a function that another one calls. at is the place of the call.
func (f *frame) call(fn *typecheck.Func, on callee, args []value, at ast.Node) value {
	if fn.Go != nil { // a method of a value class, whose body is written in Go
		return f.goCall(at, fn, *on.cell, args)
	}
	g := &frame{m: f.m, info: f.m.p.infos[fn.Pkg], fn: fn, locals: map[*typecheck.Var]value{}, ev: f.ev, th: f.th,
		cell: on.cell, who: on.who, obj: on.obj, caller: f, depth: f.depth + 1}
	if at != nil {
		g.at = callPlace(at)
	}
	if g.depth > f.m.opts.DepthMax {
		f.fail(at, limitText("nested calls", f.m.opts.DepthMax, "see that the recursion ends, or write it as a loop"))
	}
	f.m.spend(f, at)
	for i, p := range fn.Params {
		if i < len(args) {
			g.locals[p] = args[i]
		}
	}
	return g.run()
}

// run runs the body of the function.
func (g *frame) run() value {
	if g.fn.Kind == typecheck.Constructor {
		g.initialise()
	}
	if g.fn.Body != nil {
		g.stmts(g.fn.Body.Stmts)
	}
	return g.result
}

// initialise runs the initialisers of the fields, in source order, and an implicit
// constructor: [T-INIT] leaves the other fields to the body.
func (g *frame) initialise() {
	for _, field := range g.fn.Class.Fields {
		if d := field.Field(); d != nil && d.Init != nil {
			g.setVar(field, g.eval(d.Init), d)
		}
	}
	if g.fn.Decl == nil {
		for i, field := range g.fn.ImplicitFields {
			g.setVar(field, g.locals[g.fn.Params[i]], g.fn.Class.Decl)
		}
	}
}

// callPlace is the line that a call reports: that of the method's name.
func callPlace(n ast.Node) ast.Span {
	switch x := n.(type) {
	case *ast.Binary:
		return x.OpPos
	case *ast.Call:
		switch fun := x.Fun.(type) {
		case *ast.Field:
			return fun.Name.Span()
		case *ast.OptionalField:
			return fun.Name.Span()
		}
	}
	return n.Span()
}

// variable reads a variable. ([READ] for a field of an actor.)
func (f *frame) variable(v *typecheck.Var) value {
	if v.Kind != typecheck.FieldVar {
		x, ok := f.locals[v]
		if !ok {
			panic(bug{"the variable " + v.Name() + " is read before it is set"})
		}
		return x
	}
	switch {
	case f.cell != nil:
		return (*f.cell).(*structure).fields[v.Index]
	case f.who != nil:
		return f.ev.readField(f.who, v.Index)
	default:
		return f.th.readField(f.obj, v.Index)
	}
}

// setVar assigns a whole variable. at is where it is done. ([WRITE] for a field of an actor.)
func (f *frame) setVar(v *typecheck.Var, x value, at ast.Node) {
	if v.Kind != typecheck.FieldVar {
		f.locals[v] = x
		return
	}
	switch {
	case f.cell != nil:
		*f.cell = (*f.cell).(*structure).with(v.Index, x)
	case f.who != nil:
		f.ev.writeField(f, f.who, v, x, at)
	default:
		f.th.writeField(f.obj, v.Index, x)
	}
}

// this is the value of `this`.
func (f *frame) this() value {
	switch {
	case f.cell != nil:
		return *f.cell
	case f.who != nil:
		return actorRef{f.who}
	}
	return f.obj
}

// self calls the current object again.
func (f *frame) self() callee { return callee{f.cell, f.who, f.obj} }
