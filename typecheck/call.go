package typecheck

import (
	"fmt"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// callUse says what becomes of the result of a call.
type callUse uint8

const (
	valueUsed   callUse = iota
	valueUnused         // an expression statement
	awaited             // await event x.m()
)

// call checks a call in any of its forms.
func (b *body) call(x *ast.Call, want Type, use callUse) operand {
	if len(x.TypeArgs) > 0 && !b.takesType(x) {
		b.later(x.TypeArgs[0].Span(), "calls with type arguments")
		b.looseArgs(x)
		return invalid
	}
	switch fun := ast.Unparen(x.Fun).(type) {
	case *ast.Ident:
		return b.callName(x, fun, want, use)
	case *ast.Field:
		return b.callField(x, fun, want, use)
	case *ast.OptionalField:
		return b.callOptional(x, fun, use)
	case *ast.BadExpr:
		b.bf.bad = true
	default:
		if op := b.value(x.Fun, nil); op.typ != Invalid {
			b.errorf(diag.NotCallable, x.Fun, "%s cannot be called: it is no function", op.typ)
		}
	}
	b.looseArgs(x)
	return invalid
}

// looseArgs checks the arguments of a call that is wrong already.
func (b *body) looseArgs(x *ast.Call) {
	for _, a := range x.Args {
		b.loose(a)
	}
	b.timer(x)
}

// loose checks a value whose place is wrong already, so that nothing is known of
// the type that it should have.
func (b *body) loose(x ast.Expr) operand {
	op := b.expr(x, Invalid)
	if op.typ == Void {
		return b.voidValue(x)
	}
	return op
}

func (b *body) callName(x *ast.Call, id *ast.Ident, want Type, use callUse) operand {
	obj := b.lookup(id, nil)
	if obj == nil {
		b.undefinedFunc(id)
		b.looseArgs(x)
		return invalid
	}
	b.info.Uses[id] = obj
	switch obj := obj.(type) {
	case *Func:
		if obj.Kind == Method {
			if b.fieldInit {
				b.errorf(diag.InitialiserUse, id, "an initialiser cannot call %s", obj.name).Help = "set the field in the constructor"
			}
			return b.callMethod(x, obj, nil, b.class, use)
		}
		return b.callFunc(x, obj)
	case *basicName:
		return b.conversion(x, obj)
	case *Builtin:
		return b.builtin(x, obj, want)
	case *EnumValue:
		if obj.Decl.Payload == nil {
			b.errorf(diag.NotCallable, id, "%s has no payload, so it takes no arguments", id.Name)
		}
	case *GoType:
		b.errorf(diag.NotCallable, id, "%s is a Go type: Go functions make its values", id.Name).Help = "call a function of the `extern go` block that returns one"
	case *Class:
		d := diag.New(diag.ConstructorCalled, x.Span(), "%s is %s: its objects are made with new", id.Name, describe(obj))
		b.report(d.WithFix("insert new", diag.InsertBefore(id.Span(), "new ")))
	case *badObject:
	default:
		if v, ok := obj.(*Var); ok {
			v.Used = true
		}
		b.report(diag.New(diag.NotCallable, id.Span(), "%s is %s and cannot be called", id.Name, describe(obj)))
	}
	b.looseArgs(x)
	return invalid
}

func (b *body) undefinedFunc(id *ast.Ident) {
	if ours := foreignTypes[id.Name]; ours != "" && universe[ours] != nil {
		d := b.errorf(diag.UndefinedName, id, "%s is not declared", id.Name)
		b.didYouMean(d, id.Span(), ours)
		return
	}
	b.undefined(id, true)
}

// callFunc checks a call of a free function.
func (b *body) callFunc(x *ast.Call, f *Func) operand {
	b.undecorated(x, "a function")
	if f.Decl != nil {
		if d, ok := f.Decl.(*ast.FuncDecl); ok && d.IsMain() && f.Pkg.Main == f {
			b.errorf(diag.BadMain, x, "main is run by `aeonc run`; it cannot be called")
		}
	}
	if f.Go != nil && f.Go.Wrong {
		b.looseArgs(x)
		return invalid
	}
	if f.Go != nil && f.Go.Effect {
		b.report(diag.New(diag.GoEffect, x.Span(), "%s has an effect: it is neither `pure` nor `ro`, so it is not called within an event", f.name).
			With(f.span, "declared here").
			WithHelp("issue the call, in a method of an actor: `event go %s(…) retry 5;` makes it after the commit", f.name))
	}
	info := &Call{Kind: FuncCall, Func: f, Result: f.Result}
	b.args(x, f, info)
	return b.recordCall(x, info)
}

// undecorated refuses async and event where there is no actor to call.
func (b *body) undecorated(x *ast.Call, what string) {
	if x.Mode == ast.Sync {
		return
	}
	span := x.ModePos
	d := diag.New(diag.BadDecoration, span, "%s is for methods of actors, but this calls %s", x.Mode, what)
	end := spaceAfter(span)
	b.report(d.WithFix("remove "+x.Mode.String(), diag.Replace(ast.Span{Src: span.Src, Start: span.Start, End: end}, "")))
	b.timer(x)
}

func (b *body) callField(x *ast.Call, fun *ast.Field, want Type, use callUse) operand {
	if obj, done := b.packageMember(fun); done {
		b.info.Uses[fun] = obj
		switch obj := obj.(type) {
		case *Func:
			return b.callFunc(x, obj)
		case *Class:
			d := b.errorf(diag.ConstructorCalled, x, "%s is %s: its objects are made with new", fun.Name.Text, describe(obj))
			*d = d.WithFix("insert new", diag.InsertBefore(fun.Span(), "new "))
		case nil:
		default:
			b.errorf(diag.NotCallable, fun, "%s is %s and cannot be called", fun.Name.Text, describe(obj))
		}
		b.looseArgs(x)
		return invalid
	}
	if e, v := b.enumCallee(fun); e {
		if v != nil && v.Decl.Payload == nil {
			b.errorf(diag.NotCallable, fun, "%s has no payload, so it takes no arguments", fun.Name.Text)
		}
		b.looseArgs(x)
		return invalid
	}
	recv := b.receiver(fun.X)
	if o, ok := recv.typ.(*Optional); ok {
		d := maybeNull(fun.X, "this may be null, so "+fun.Name.Text+" cannot be called on it")
		v, _ := b.info.Uses[ast.Unparen(fun.X)].(*Var)
		if _, bare := ast.Unparen(fun.X).(*ast.Ident); bare && v != nil && v.Kind == FieldVar {
			d = d.WithHelp("a test does not narrow a field, as another call may change it; copy it: `if (%s x = %s) { … }`", o.Elem, v.name)
		}
		b.report(d)
		recv.typ = o.Elem
	}
	return b.callOn(x, fun, fun.X, fun.Name, recv.typ, use, false)
}

// packageMember handles pkg.f in a call.
func (b *body) packageMember(fun *ast.Field) (Object, bool) {
	id, ok := ast.Unparen(fun.X).(*ast.Ident)
	if !ok || b.scope.lookup(id.Name) != nil || b.class != nil && b.class.members[id.Name] != nil {
		return nil, false
	}
	p, ok := b.lookupTop(b.file, id.Name).(*PkgName)
	if !ok {
		return nil, false
	}
	b.info.Uses[id] = p
	if p.Pkg == nil {
		return nil, true
	}
	return b.member(p.Pkg, fun.Name), true
}

// enumCallee handles Enum.VALUE(…), which is of a later version, and
// Class.method(…), which is none.
func (b *body) enumCallee(fun *ast.Field) (handled bool, v *EnumValue) {
	id, ok := ast.Unparen(fun.X).(*ast.Ident)
	if !ok || b.scope.lookup(id.Name) != nil || b.class != nil && b.class.members[id.Name] != nil {
		return false, nil
	}
	switch owner := b.lookupTop(b.file, id.Name).(type) {
	case *Enum:
		obj, _, _ := b.enumMember(fun, owner)
		v, _ = obj.(*EnumValue)
		return true, v
	case *Class:
		d := b.errorf(diag.WrongKind, fun, "%s is %s; methods are called on its objects", id.Name, describe(owner))
		if d.Help = "make one: `new " + id.Name + "(…)`"; owner.Kind == ast.ActorClass {
			d.Help += "; or take the one of a name: `actor<" + id.Name + ">(\"name\")`"
		}
		return true, nil
	case *badObject:
		return true, nil
	}
	return false, nil
}

func (b *body) callOptional(x *ast.Call, fun *ast.OptionalField, use callUse) operand {
	recv := b.receiver(fun.X)
	t := recv.typ
	if o, ok := t.(*Optional); ok {
		t = o.Elem
	} else if t != Invalid {
		b.neverNull(fun.X, t, "?.", ast.Span{Src: fun.Name.Range.Src, Start: fun.X.Span().End, End: fun.Name.Range.Start}, ".")
	}
	return b.callOn(x, fun, fun.X, fun.Name, t, use, true)
}

// callOn checks recv.name(args) for a receiver of type t.
func (b *body) callOn(x *ast.Call, fun, recv ast.Expr, name ast.Name, t Type, use callUse, optional bool) operand {
	class, ok := t.(*Class)
	if t == Invalid && b.brokenQuery(x, recv, name) {
		return invalid
	}
	if t == Invalid || name.Text == "" {
		b.looseArgs(x)
		return invalid
	}
	if of := GoTypeBehind(t); of != nil {
		return b.callGoMethod(x, fun, recv, name, of, optional)
	}
	if !ok {
		return b.libraryCall(x, recv, name, t, optional)
	}
	obj := b.findMember(class, name, true)
	m, ok := obj.(*Func)
	if !ok {
		if _, bad := obj.(*badObject); obj != nil && !bad {
			b.errorAt(diag.NotCallable, name.Span(), "%s is %s and cannot be called", name.Text, describe(obj))
		}
		b.looseArgs(x)
		return invalid
	}
	b.info.Uses[fun] = m
	op := b.callMethod(x, m, recv, class, use)
	if info := b.info.Calls[x]; optional && info != nil {
		info.Optional = true
		if _, pending := info.Result.(*Pending); pending {
			b.report(diag.New(diag.NotAwaitable, x.Span(), "where ?. finds null no event is issued, and there is nothing to await").
				WithHelp("test for null first: `if (x != null) { … }`; or use `x!.%s(…)`", m.Name()))
			info.Result = Invalid
		} else {
			info.Result = makeOptional(info.Result)
		}
		op.typ = info.Result
	}
	return op
}

// callMethod checks a call of a method of a class; recv is nil for m().
func (b *body) callMethod(x *ast.Call, m *Func, recv ast.Expr, class *Class, use callUse) operand {
	info := &Call{Func: m, Recv: recv, RecvType: class, Result: m.Result}
	_, onThis := ast.Unparen(recv).(*ast.This)
	onThis = onThis || recv == nil
	switch {
	case class.Kind == ast.ValueClass:
		info.Kind = ValueCall
		if onThis {
			info.Kind = SelfCall
		}
		b.undecorated(x, "a method of a class, which is a value")
	case onThis && x.Mode == ast.Sync:
		info.Kind = SelfCall
	case class.Kind == ast.ClientClass:
		info.Kind = ClientCall
	default:
		info.Kind = ActorCall
	}
	b.args(x, m, info)
	b.callResult(x, info, use)
	return b.recordCall(x, info)
}

// callResult gives async and event calls their result.
func (b *body) callResult(x *ast.Call, info *Call, use callUse) {
	if info.Kind != ActorCall && info.Kind != ClientCall {
		return
	}
	switch x.Mode {
	case ast.Async:
		if use != valueUnused {
			b.report(diag.New(diag.AsyncResult, x.Span(), "an async call has no result to use").
				WithHelp("a call without `async` waits for the result").
				WithFix("remove async", diag.Replace(ast.Span{Src: x.ModePos.Src, Start: x.ModePos.Start, End: spaceAfter(x.ModePos)}, "")))
			info.Result = Invalid
			return
		}
		info.Result = Void
	case ast.Event:
		b.eventResult(x, info, use)
	case ast.Tail:
		info.Result = Void // the result goes to the issuer of the chain
	}
}

func (b *body) eventResult(x *ast.Call, info *Call, use callUse) {
	switch {
	case use == valueUnused:
		info.Result, info.Unawaited = Void, true
	case info.Kind == ClientCall:
		d := diag.New(diag.EventResult, x.Span(), "a callback has no result, and cannot be awaited: %s belongs to a client object", info.Func.FullName())
		switch {
		case b.isActor():
			d = d.WithHelp("let the client issue an event back to this actor with what you want to know")
		case b.class != nil: // a callback itself, which settle() would wait for
			d = d.WithHelp("issue it alone, `event …;`: it runs after this callback")
		default:
			d = d.WithHelp("issue it alone, `event …;`; `settle();` waits until all callbacks have run")
		}
		b.report(d)
		info.Result = Invalid
	case b.isActor() && use != awaited:
		b.report(diag.New(diag.EventResult, x.Span(), "an event that an actor issues has no result: it runs after this event has committed").
			WithHelp("call the method without `event` to get its result, or let the callee issue an event back"))
		info.Result = Invalid
	default:
		if use != awaited {
			b.needClient(x.Span(), "the pending result of an event")
		}
		if containsInvalid(info.Func.Result) {
			info.Result = Invalid
			return
		}
		info.Result = &Pending{info.Func.Result}
	}
}

// recordCall enters the call into the tables.
func (b *body) recordCall(x *ast.Call, info *Call) operand {
	b.info.Calls[x] = info
	b.bf.calls = append(b.bf.calls, x)
	if info.Kind == ActorCall || info.Kind == ClientCall {
		b.timer(x)
	}
	return operand{typ: info.Result}
}

// timer checks the clauses after, every and as.
func (b *body) timer(x *ast.Call) {
	for _, clause := range []struct {
		e    ast.Expr
		word string
	}{{x.After, "after"}, {x.Every, "every"}} {
		if clause.e == nil {
			continue
		}
		op := b.expr(clause.e, Duration)
		if op.typ != Invalid && op.typ != Duration {
			b.report(diag.New(diag.BadTimer, clause.e.Span(), "%s needs a duration, but this is %s", clause.word, aType(op.typ)).
				WithHelp("a duration has a unit: `5s`, `50ms`, `n * 1s`"))
		}
	}
	if x.Name != nil && !b.unquoted(x.Name) {
		b.checkTimerName(x.Name, b.value(x.Name, String))
	}
	if (x.After != nil || x.Every != nil) && x.Mode == ast.Event {
		b.needActor(x.Span(), "a timer")
	}
}

// args checks the arguments of a call of f.
func (b *body) args(x *ast.Call, f *Func, info *Call) {
	info.Params = make([]Type, len(f.Params))
	for i, p := range f.Params {
		info.Params[i] = p.typ
	}
	if len(x.Args) != len(f.Params) {
		b.argCount(x, x.Args, f, len(f.Params))
	}
	for i, a := range x.Args {
		if len(x.Args) == len(f.Params) {
			b.assign(a, f.Params[i].typ, argName(f, i))
		} else {
			b.loose(a) // which of them is too much, or where one is missing, is not known
		}
	}
}

func argName(f *Func, i int) string {
	return fmt.Sprintf("parameter %s of %s", f.Params[i].name, f.FullName())
}

// argCount reports the wrong number of arguments.
func (b *body) argCount(at ast.Node, args []ast.Expr, f *Func, want int) {
	name := f.FullName()
	if f.Kind == Constructor {
		name = "new " + f.name
	}
	d := diag.New(diag.BadArgCount, at.Span(), "%s takes %s, but %d %s given", name, plural(want, "argument"), len(args), wasWere(len(args)))
	if f.span.IsValid() {
		d = d.With(f.span, "it is `%s`", f.Signature())
	}
	b.report(d)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
