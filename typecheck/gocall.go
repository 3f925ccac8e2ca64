package typecheck

import (
	"go/constant"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// [GO-ISSUE]: an effect leaves the program after the commit. A method of an actor issues the call of a Go function, as it
// issues a sub-event, and a method of the same actor learns how it has ended.

// goTriesMax is how often a call of a Go function can be tried: 100 tries take about eight hours.
const goTriesMax = 100

// GoCall is what is known of one `event go f(x) retry n then m(y);`.
type GoCall struct {
	*ClassGoCall
	Tries int
}

// ClassGoCall is a Go function and a method that `event go` statements of a class name together.
type ClassGoCall struct {
	Func *Func // that the Go function is bound to
	Then *Func // nil without `then`; its last parameter, of type string?, gets the error of the last try
	// Call is what a call that waits is to stores and tools: a method that no source declares. Its parameters are the number of tries,
	// those of Func, and those of Then but the last.
	Call *Func
}

// goCall checks `event go f(x) retry n then m(y);`.
func (b *body) goCall(s *ast.GoCall) {
	if !b.fn.mayTail() {
		b.goPlace(s)
		b.looseArgs(s.X)
		b.loose(s.Retry)
		if s.Then != nil {
			b.looseArgs(s.Then)
		}
		return
	}
	f, n := b.goFunction(s.X), b.tries(s.Retry)
	var then *Func
	if s.Then != nil {
		then = b.goThen(s.Then)
	}
	if f != nil {
		b.info.GoCalls[s] = &GoCall{b.class.goCall(f, then), n}
	}
	b.bf.effects = append(b.bf.effects, s)
}

// goCall returns what the statements of the class that name f and then have in common.
func (c *Class) goCall(f, then *Func) *ClassGoCall {
	for _, g := range c.GoCalls {
		if g.Func == f && g.Then == then {
			return g
		}
	}
	call := &Func{Kind: Method, Pkg: c.Pkg, Class: c, Result: Void, Index: len(c.GoCalls), name: "go " + f.Go.Path + "." + f.name, span: f.span}
	param := func(name string, t Type) {
		call.Params = append(call.Params, &Var{Kind: ParamVar, Owner: call, Index: len(call.Params), name: name, typ: t})
	}
	param("tries", Int)
	for _, v := range f.Params {
		param(v.name, v.typ)
	}
	if then != nil {
		call.name += " then " + then.name
		for _, v := range then.Params[:len(then.Params)-1] {
			param(v.name, v.typ)
		}
	}
	g := &ClassGoCall{f, then, call}
	c.GoCalls = append(c.GoCalls, g)
	return g
}

// goPlace reports a call of a Go function that is issued where none can be.
func (b *body) goPlace(s *ast.GoCall) {
	d := diag.New(diag.GoEffect, s.X.ModePos, "a call of a Go function is issued by methods of actors that are not ro")
	switch {
	case b.fn.RO && b.fn.IsMethodOf(ast.ActorClass):
		d = d.With(roSpan(b.fn), "declared ro here").WithHelp("remove `ro`: what a method leaves behind is an effect of it")
	case b.isActor() && b.fn.Kind == Constructor:
		d = d.WithHelp("issue it in a method that the creator calls")
	default:
		d = d.WithHelp("the call belongs to the actor that issues it: give an actor a method for it, and call that")
	}
	b.report(d)
}

// goFunction checks the call of the Go function, and returns the function; nil if it is none that can be called so.
func (b *body) goFunction(x *ast.Call) *Func {
	obj := b.goCallee(x.Fun)
	f, ok := obj.(*Func)
	switch {
	case !ok || f.Go == nil:
		if _, bad := obj.(*badObject); !bad && obj != nil {
			b.errorf(diag.GoEffect, x.Fun, "%s is %s, and no Go function", x.Fun.Span().Text(), describe(obj)).
				Help = "`event go` calls functions of an `extern go` block; `event` calls methods of actors"
		}
		b.looseArgs(x)
		return nil
	case f.Go.Wrong:
		b.looseArgs(x)
		return nil
	case !f.Go.Effect:
		b.report(diag.New(diag.GoEffect, x.Fun.Span(), "%s has no effect that a call after the commit could have", f.name).With(f.span, "declared here").
			WithHelp("call it as any function; or declare it without `pure` and `ro` if it changes what is outside of the program"))
	}
	info := &Call{Kind: FuncCall, Func: f, Result: Void}
	b.args(x, f, info)
	b.info.Calls[x] = info
	b.bf.calls = append(b.bf.calls, x)
	return f
}

// goCallee returns what f or package.f denotes; nil if that is reported, or not known.
func (b *body) goCallee(fun ast.Expr) Object {
	switch fun := fun.(type) {
	case *ast.Ident:
		obj := b.lookup(fun, nil)
		if obj == nil {
			b.undefinedFunc(fun)
			return nil
		}
		b.info.Uses[fun] = obj
		return obj
	case *ast.Field:
		if obj, done := b.packageMember(fun); done {
			b.info.Uses[fun] = obj
			return obj
		}
		b.errorf(diag.GoEffect, fun, "%s is no function of a package", fun.Span().Text()).
			Help = "`event go` calls functions of an `extern go` block, of this package or an imported one"
	}
	return nil
}

// tries returns the value of the constant behind `retry`.
func (b *body) tries(x ast.Expr) int {
	op := b.assign(x, Int, "retry")
	if op.typ == Invalid {
		return 0
	}
	if op.val == nil {
		b.errorf(diag.GoEffect, x, "how often a call is tried is not known at compile time").Help = "write a number, or name a constant"
		return 0
	}
	n, _ := constant.Int64Val(op.val)
	if n < 1 || n > goTriesMax {
		b.errorf(diag.GoEffect, x, "a call is tried 1 to %d times, not %s", goTriesMax, op.val).Help = "the time between two tries doubles, up to five minutes"
		return 0
	}
	return int(n)
}

// goThen checks the call behind `then`, and returns the method; nil if it is none that can be called so.
func (b *body) goThen(x *ast.Call) *Func {
	id := x.Fun
	obj := b.goCallee(id)
	m, ok := obj.(*Func)
	if !ok || m.Kind != Method || m.Class != b.class {
		if _, bad := obj.(*badObject); !bad && obj != nil {
			b.errorf(diag.GoEffect, id, "%s is %s, and no method of %s", id.Span().Text(), describe(obj), b.class.name).Help = "the actor itself learns how the call has ended: name one of its methods"
		}
		b.looseArgs(x)
		return nil
	}
	n := len(m.Params) - 1
	if o, ok := lastParam(m).(*Optional); !ok || o.Elem != String {
		b.report(diag.New(diag.GoEffect, id.Span(), "the last parameter of %s is not of type string?", m.FullName()).With(m.span, "it is `%s`", m.Signature()).
			WithHelp("it gets the error of the last try, or null: write `void %s(…, string? failure)`", m.name))
		b.looseArgs(x)
		return nil
	}
	info := &Call{Kind: ActorCall, Func: m, RecvType: b.class, Result: Void, Unawaited: true}
	for i := range n {
		info.Params = append(info.Params, m.Params[i].typ)
	}
	if len(x.Args) != n {
		b.report(diag.New(diag.BadArgCount, x.Span(), "%s takes %s here, but %d %s given", m.FullName(), plural(n, "argument"), len(x.Args), wasWere(len(x.Args))).
			With(m.span, "it is `%s`", m.Signature()).WithHelp("the last one, the error, is not written"))
	}
	for i, a := range x.Args {
		if len(x.Args) == n {
			b.assign(a, m.Params[i].typ, argName(m, i))
		} else {
			b.loose(a)
		}
	}
	b.info.Calls[x] = info
	b.bf.calls = append(b.bf.calls, x)
	return m
}

func lastParam(m *Func) Type {
	if len(m.Params) == 0 {
		return Void
	}
	return m.Params[len(m.Params)-1].typ
}
