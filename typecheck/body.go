package typecheck

import (
	"fmt"
	"go/constant"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// body is the environment in which statements and expressions are checked.
type body struct {
	*checker
	fn    *Func      // nil in the value of a constant
	class *Class     // the class whose members bare names may denote, else nil
	file  *fileScope // for imports
	scope *locals
	null  *facts // which locals and parameters of an optional type are not null here
	bf    *bodyFacts

	targets    []target // open loops and switches
	depth      int      // of the expression
	constDepth int      // of constants that are being evaluated
	fieldInit  bool
	tableAt    ast.Expr // where a table may stand; see receiver
	written    ast.Expr // the last path that was written
}

// bodyFacts is what checking a function found for the passes that follow.
type bodyFacts struct {
	calls   []*ast.Call // with an entry in Info.Calls, in evaluation order
	news    []*ast.New
	deletes []*ast.Delete
	cancels []*ast.Cancel
	named   []*ast.ActorRef
	tails   []*ast.TailCall
	effects []*ast.GoCall // with an entry in Info.GoCalls
	stores  []ast.Node    // with an entry in Info.Stores
	loops   []*ast.ForEach
	// clientOnly has the constructs that only clients may use.
	clientOnly []use
	// actorOnly has those that only actors may use.
	actorOnly []use
	// unread are the uses of variables in writing positions only.
	bad bool // contains syntax errors: say nothing about what is missing
}

// use is a construct with its place.
type use struct {
	at   ast.Span
	what string
}

// operand is a checked expression.
type operand struct {
	typ Type
	val constant.Value // nil if not constant
}

var invalid = operand{typ: Invalid}

// bodies checks everything that has statements or expressions.
func (c *checker) bodies() {
	c.pkg.AllFuncs(func(f *Func) {
		b := c.newBody(f)
		c.facts[f] = b.bf
		if f.Kind == Constructor {
			b.fieldInits()
		}
		if f.Body == nil {
			return
		}
		b.scope.open()
		for _, p := range f.Params {
			b.declare(p)
		}
		b.stmts(f.Body.Stmts)
		b.scope.close()
		// Invariant: what a body opens it closes: scopes, loops and switches, expressions.
		assert.That(len(b.scope.marks) == 0 && len(b.targets) == 0 && b.depth == 0, "a body is left open")
	})
}

func (c *checker) newBody(f *Func) *body {
	b := &body{checker: c, fn: f, class: f.Class, scope: newLocals(), null: newFacts(), bf: &bodyFacts{}}
	switch {
	case f.Class != nil:
		b.file = c.fileOf[f.Class.Decl]
	case f.Decl != nil:
		b.file = c.fileOf[f.Decl.(ast.Decl)]
	}
	return b
}

// fieldInits checks the initialisers of a class as a part of its constructor.
func (b *body) fieldInits() {
	b.fieldInit = true
	for _, f := range b.class.Fields {
		if init := f.Field().Init; init != nil {
			b.assign(init, f.typ, "field "+f.name)
		}
	}
	b.fieldInit = false
}

// isClient reports whether the code is known to be run by clients alone.
func (b *body) isClient() bool { return b.fn != nil && b.fn.Context == ClientContext }

// isActor reports whether the code is known to be run by actors alone.
func (b *body) isActor() bool { return b.fn != nil && b.fn.Context == ActorContext }

// needClient notes that the code uses something that only clients have, or
// reports it in a method of an actor.
func (b *body) needClient(at ast.Span, what string) {
	if b.isActor() {
		b.report(clientOnly(at, what))
		return
	}
	b.bf.clientOnly = append(b.bf.clientOnly, use{at, what})
}

func clientOnly(at ast.Span, what string) diag.Diagnostic {
	d := diag.New(diag.ClientOnly, at, "%s is for clients only: main, tests, client classes and functions they call", what)
	switch what {
	case "await":
		return d.WithHelp("inside an event, call the method without `await event`: a sync call returns the result")
	case "sleep":
		return d.WithHelp("inside an actor, issue an event later: `event this.m() after 50ms;`")
	case "try":
		return d.WithHelp("an abort undoes the whole event; return a value for failures you expect")
	}
	return d
}

// needActor is needClient the other way round.
func (b *body) needActor(at ast.Span, what string) {
	if b.isClient() {
		d := b.errorAt(diag.TimerOutside, at, "%s is for actors: a client has no durable timers", what)
		d.Help = "let a method of an actor issue the event, or use sleep(…) in main and advance(…) in tests"
		return
	}
	b.bf.actorOnly = append(b.bf.actorOnly, use{at, what})
}

// declare binds a variable and reports a second one of the same name.
func (b *body) declare(v *Var) {
	if v.name == "" {
		return
	}
	if v.Kind != ParamVar {
		v.Owner = b.fn
		if b.fn != nil {
			v.Index = len(b.fn.Locals)
			b.fn.Locals = append(b.fn.Locals, v)
		}
	}
	if v.typ == Invalid {
		v.Used = true // that it is not used may be due to the error
	}
	if old := b.scope.declare(v); old != nil {
		help := oneName
		if v.Kind == LocalVar && Identical(v.typ, old.typ) {
			help = fmt.Sprintf(assignOrRename, v.name)
		}
		b.redeclared(v.name, v.span, old.span, help)
		v.Used, old.Used = true, true // which one is meant is not known
	}
}

// record notes the type and value of an expression.
func (b *body) record(x ast.Expr, op operand) operand {
	// Invariant: every expression that was checked has a type, Invalid if it is wrong.
	assert.That(op.typ != nil, "an expression has no type")
	b.info.Types[x] = TypeAndValue{op.typ, op.val}
	return op
}

// exprDepthMax bounds the nesting of expressions, chains of operators included.
const exprDepthMax = 10_000

// expr checks x. want is the type that the context expects, or nil: it settles the
// type of null, [], constants and ambiguous enum values; x may have another type.
// Untyped constants and null keep their type; see assign.
func (b *body) expr(x ast.Expr, want Type) operand {
	if x == nil {
		return invalid
	}
	if b.depth++; b.depth > exprDepthMax {
		b.depth--
		b.errorf(diag.TooDeep, x, "this expression is nested more than %d deep", exprDepthMax).Help = "compute a part of it in a statement of its own"
		return b.record(x, invalid)
	}
	op := b.exprKind(x, want)
	b.depth--
	return b.record(x, op)
}

func (b *body) exprKind(x ast.Expr, want Type) operand {
	switch x := x.(type) {
	case *ast.Ident:
		return b.ident(x, want)
	case *ast.Paren:
		return b.expr(x.X, want)
	case *ast.This:
		return b.this(x)
	case *ast.Field:
		return b.field(x, want)
	case *ast.OptionalField:
		return b.optionalField(x)
	case *ast.Index:
		return b.index(x)
	case *ast.Slice:
		return b.slice(x)
	case *ast.Unary:
		return b.unary(x, want)
	case *ast.Binary:
		return b.binary(x, want)
	case *ast.Coalesce:
		return b.coalesce(x, want)
	case *ast.NonNull:
		return b.nonNull(x, want)
	case *ast.Call:
		return b.call(x, want, valueUsed)
	case *ast.New:
		return b.new(x)
	case *ast.ActorRef:
		return b.actorRef(x)
	case *ast.Await:
		return b.await(x)
	case *ast.BadExpr:
		b.bf.bad = true
		return invalid
	}
	return b.literal(x, want)
}

// value is expr for a place that needs a value of some type: void is an error,
// and what is untyped gets its default type.
func (b *body) value(x ast.Expr, want Type) operand {
	op := b.expr(x, want)
	return b.settle(x, op)
}

// settle gives an untyped constant its default type and refuses null and void.
func (b *body) settle(x ast.Expr, op operand) operand {
	switch op.typ {
	case Void:
		return b.voidValue(x)
	case Null:
		d := b.errorf(diag.CannotInfer, x, "the type of null is not known here")
		d.Help = "declare the variable with its type: `T? x = null;`"
		return b.retype(x, invalid)
	case UntypedInt:
		return b.convert(x, op, Int)
	case UntypedFloat:
		return b.convert(x, op, Float)
	}
	return op
}

func (b *body) voidValue(x ast.Expr) operand {
	d := diag.New(diag.VoidValue, x.Span(), "this call has no result, so it cannot be used as a value")
	if call, ok := ast.Unparen(x).(*ast.Call); ok {
		if info := b.info.Calls[call]; info != nil && info.Func != nil {
			d = d.With(info.Func.span, "%s is declared without a result", info.Func.FullName())
		}
	}
	b.report(d)
	return b.retype(x, invalid)
}

// retype changes the recorded type of x, through parentheses.
func (b *body) retype(x ast.Expr, op operand) operand {
	for {
		b.info.Types[x] = TypeAndValue{op.typ, op.val}
		p, ok := x.(*ast.Paren)
		if !ok {
			return op
		}
		x = p.X
	}
}

// convert gives an untyped numeric constant the type t, or reports.
func (b *body) convert(x ast.Expr, op operand, t Type) operand {
	if op.val == nil {
		return b.retype(x, operand{typ: t})
	}
	v := represent(op.val, t)
	if v == nil {
		if IsInteger(t) && constant.ToInt(op.val).Kind() != constant.Int {
			d := b.errorf(diag.ConstOverflow, x, "%s is not a whole number, so it is no %s", constText(op.val), t)
			d.Help = "round it, or use float"
		} else {
			b.errorf(diag.ConstOverflow, x, "%s does not fit into %s", constText(op.val), t)
		}
		return b.retype(x, invalid)
	}
	return b.retype(x, operand{t, v})
}

// await checks `await x`.
func (b *body) await(x *ast.Await) operand {
	b.needClient(x.Span(), "await")
	if call, ok := ast.Unparen(x.X).(*ast.Call); ok && call.Mode == ast.Event {
		op := b.call(call, nil, awaited)
		b.retype(x.X, op)
		p, ok := op.typ.(*Pending)
		if !ok {
			return invalid
		}
		b.info.Awaits[x] = &Await{Call: call, Result: p.Elem}
		return operand{typ: p.Elem}
	}
	op := b.expr(x.X, nil)
	if b.isActor() {
		return invalid // that await is for clients is the mistake
	}
	switch t := op.typ.(type) {
	case *Pending:
		b.info.Awaits[x] = &Await{Result: t.Elem}
		return operand{typ: t.Elem}
	case *Basic:
		if t == Invalid {
			return invalid
		}
	}
	d := diag.New(diag.NotAwaitable, x.X.Span(), "await needs a pending result; this is %s", aType(op.typ))
	if call, ok := ast.Unparen(x.X).(*ast.Call); ok && call.Mode == ast.Sync {
		switch info := b.info.Calls[call]; {
		case info != nil && info.Kind == ActorCall:
			d = d.WithHelp("issue an event and await it: `await event …`").WithFix("insert event", diag.InsertBefore(call.Span(), "event "))
		default:
			d = d.WithHelp("this runs here and has ended when it returns: call it without `await`")
		}
	}
	b.report(d)
	return invalid
}

// aType names a type in a sentence.
func aType(t Type) string {
	switch t {
	case Void:
		return "nothing"
	case UntypedInt:
		return "an integer constant"
	case UntypedFloat:
		return "a float constant"
	case Null:
		return "null"
	}
	s := t.String()
	switch s[0] {
	case 'a', 'e', 'i', 'o', 'A', 'E', 'I', 'O':
		return "an " + s
	}
	return "a " + s
}
