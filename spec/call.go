package spec

import (
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// evalCall evaluates a call of any kind.
func (f *frame) evalCall(x *ast.Call) value {
	c := f.info.Calls[x]
	switch c.Kind {
	case typecheck.ConversionCall:
		return f.conversion(x, c, f.eval(x.Args[0]))
	case typecheck.BuiltinCall:
		return f.builtin(x, c, f.evalAll(x.Args))
	case typecheck.FuncCall:
		if c.Func.Go != nil {
			var recv value
			if c.Recv != nil {
				if recv = f.eval(c.Recv); recv == nil && c.Optional {
					return nil
				}
			}
			return f.goCall(x, c.Func, recv, f.evalAll(x.Args))
		}
		return f.call(c.Func, callee{}, f.evalAll(x.Args), x)
	case typecheck.SelfCall:
		return f.call(c.Func, f.self(), f.evalAll(x.Args), x)
	case typecheck.LibraryCall, typecheck.ValueCall:
		if st := f.info.Stores[x]; st != nil {
			return f.mutatingCall(x, c, st)
		}
		if _, table := c.RecvType.(*typecheck.Table); table { // no value: it is looked at when the arguments are there
			args := f.evalAll(c.Values(x))
			return f.library(x, c, f.eval(c.Recv), args)
		}
		v := f.eval(c.Recv)
		if v == nil && c.Optional {
			return nil
		}
		args := f.evalAll(x.Args)
		if c.Kind == typecheck.LibraryCall {
			return f.library(x, c, v, args)
		}
		return f.call(c.Func, callee{cell: &v}, args, x)
	case typecheck.ActorCall, typecheck.ClientCall:
		return f.issuedCall(x, c)
	}
	panic(bug{"no rule for a call"})
}

// mutatingCall calls a method that changes its receiver, which is a place.
func (f *frame) mutatingCall(x *ast.Call, c *typecheck.Call, st *typecheck.Store) value {
	if st.Root == nil { // another method of the same object of a value class
		return f.call(c.Func, f.self(), f.evalAll(x.Args), x)
	}
	index := f.indexes(st)
	if c.Optional && f.load(x, st.Root, st.Steps[:len(st.Steps)-1], index) == nil { // the last step is the `?`
		return nil
	}
	args := f.evalAll(c.Values(x))
	var result value
	f.mutate(x, st, index, func(old value) value {
		if c.Kind == typecheck.LibraryCall {
			var changed value
			changed, result = f.change(x, c, old, args)
			return changed
		}
		if old == nil {
			f.fail(x, msgNull)
		}
		cell := old
		result = f.call(c.Func, callee{cell: &cell}, args, x)
		return cell
	})
	return result
}

// issuedCall is a call of a method of an actor or a client object: sync, async or event.
// Operands: receiver, arguments, after, every, name.
func (f *frame) issuedCall(x *ast.Call, c *typecheck.Call) value {
	var recv value
	if c.Recv != nil {
		recv = f.eval(c.Recv)
	} else {
		recv = f.this()
	}
	if recv == nil && c.Optional {
		return nil
	}
	o := order{call: c, method: c.Func, args: f.evalAll(x.Args), at: x}
	if x.After != nil {
		o.after, o.timed = f.eval(x.After).(span), true
	}
	if x.Every != nil {
		o.every, o.periodic = f.eval(x.Every).(span), true
		if x.After == nil {
			o.after = o.every
		}
		o.timed = true
	}
	if x.Name != nil {
		o.name = f.timerName(x, f.eval(x.Name))
	}
	switch r := recv.(type) {
	case actorRef:
		o.target = r.who
	case clientRef:
		o.object = &r
	}
	if f.th != nil {
		return f.th.issue(f, o)
	}
	switch x.Mode {
	case ast.Sync:
		return f.ev.syncCall(f, o)
	case ast.Async:
		f.ev.asyncCall(f, o)
	case ast.Tail:
		f.ev.tailCall(f, o)
	default:
		f.ev.emit(f, o)
	}
	return nil
}

// order is an evaluated call of an actor or client object that is to be made or issued.
type order struct {
	call     *typecheck.Call
	method   *typecheck.Func
	target   *identity // nil for null, and for a callback
	object   *clientRef
	args     []value
	timed    bool // after or every is given
	periodic bool
	after    span
	every    span
	name     string
	at       *ast.Call
}

// newObject is `new T(args)`.
func (f *frame) newObject(x *ast.New) value {
	made := f.info.News[x]
	c, ok := made.Type.(*typecheck.Class)
	if !ok {
		return zero(made.Type)
	}
	args := f.evalAll(x.Args)
	switch {
	case c.Kind == ast.ClientClass:
		return f.th.newObject(f, c, f.constructorArgs(c, made, args), x)
	case c.Kind == ast.ActorClass && f.th != nil:
		return f.th.newActor(f, c, f.constructorArgs(c, made, args), x)
	case c.Kind == ast.ActorClass:
		return f.ev.newActor(f, c, f.constructorArgs(c, made, args), x)
	}
	var cell value = newStructure(c)
	if c.Ctor != nil && c.Ctor.Decl != nil {
		f.call(c.Ctor, callee{cell: &cell}, args, x)
		return cell
	}
	return f.implicit(c, made, args, x)
}

// constructorArgs returns one argument for each parameter: those of an implicit
// constructor that a call leaves out are null or empty.
func (f *frame) constructorArgs(c *typecheck.Class, made *typecheck.New, args []value) []value {
	if c.Ctor == nil || c.Ctor.Decl != nil {
		return args
	}
	list := make([]value, len(c.Ctor.ImplicitFields))
	for i, field := range c.Ctor.ImplicitFields {
		if j := slices.Index(made.Fields, field); j >= 0 {
			list[i] = args[j]
		} else {
			list[i] = zero(field.Type())
		}
	}
	return list
}

// config is the parameter of main when no flag is given ([MAIN]): fields without an initialiser have their zero values.
func (f *frame) config(c *typecheck.Class) value {
	fields := c.Ctor.ImplicitFields
	args := make([]value, len(fields))
	for i, field := range fields {
		args[i] = zero(field.Type())
	}
	return f.implicit(c, &typecheck.New{Type: c, Fields: fields}, args, c.Decl)
}

// implicit makes an object of a value class without a constructor: the arguments set the
// fields that have no initialiser, then come the initialisers.
func (f *frame) implicit(c *typecheck.Class, made *typecheck.New, args []value, at ast.Node) value {
	var cell value = newStructure(c)
	g := &frame{m: f.m, info: f.m.p.infos[c.Pkg], fn: c.Ctor, locals: map[*typecheck.Var]value{}, cell: &cell, ev: f.ev, th: f.th,
		caller: f, at: at.Span(), depth: f.depth + 1}
	for i, field := range made.Fields {
		g.setVar(field, args[i], at)
	}
	for _, field := range c.Fields {
		if d := field.Field(); d != nil && d.Init != nil {
			g.setVar(field, g.eval(d.Init), d)
		}
	}
	return cell
}
