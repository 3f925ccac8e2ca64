package typecheck

import (
	"go/constant"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// target is a loop or switch that break may leave.
type target struct {
	mark   factMark
	breaks []delta // what was known at each break
	loop   bool
}

func (b *body) block(s *ast.Block) {
	if s == nil {
		return
	}
	b.scope.open()
	b.stmts(s.Stmts)
	b.scope.close()
}

func (b *body) stmts(list []ast.Stmt) {
	for _, s := range list {
		b.stmt(s)
	}
}

func (b *body) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.Block:
		b.block(s)
	case *ast.VarDecl:
		b.varDecl(s)
	case *ast.Assign:
		b.checkAssign(s)
	case *ast.IncDec:
		b.incDec(s)
	case *ast.If:
		b.ifStmt(s)
	case *ast.Switch:
		b.switchStmt(s)
	case *ast.Match:
		b.matchStmt(s)
	case *ast.Return:
		b.returnStmt(s)
	case *ast.TailCall:
		b.tailCall(s)
	case *ast.GoCall:
		b.goCall(s)
	case *ast.Break:
		b.breakStmt(s)
	case *ast.Continue:
		b.continueStmt(s)
	case *ast.ExprStmt:
		b.exprStmt(s)
	case *ast.BadStmt:
		b.bf.bad = true
		if s.X != nil {
			b.expr(s.X, nil)
		}
	case *ast.While, *ast.For, *ast.ForUpto, *ast.ForEach:
		b.loopStmt(s)
	default:
		b.effectStmt(s)
	}
}

// effectStmt checks the statements that are commands of their own.
func (b *body) effectStmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.Require:
		b.cond(s.Cond, "require")
		b.message(s.Msg)
		whenTrue, _ := b.implied(s.Cond)
		b.know(whenTrue)
	case *ast.Assert:
		b.cond(s.Cond, "assert")
		b.message(s.Msg)
		whenTrue, _ := b.implied(s.Cond)
		b.know(whenTrue)
	case *ast.Abort:
		b.message(s.Msg)
		b.null.dead = true
	case *ast.Delete:
		b.deleteStmt(s)
	case *ast.Cancel:
		b.cancelStmt(s)
	case *ast.TryCatch:
		b.tryStmt(s)
	case *ast.Settle:
		b.needClient(s.Span(), "settle")
	case *ast.Sleep:
		b.needClient(s.Span(), "sleep")
		b.assign(s.D, Duration, "sleep")
	case *ast.Advance:
		if b.fn != nil && b.fn == b.pkg.Main {
			b.report(diag.New(diag.ClientOnly, s.Span(), "advance is for tests: the time of main is real").WithHelp("`sleep(…)` waits"))
		}
		b.needClient(s.Span(), "advance")
		b.assign(s.D, Duration, "advance")
	default:
		assert.Unreachable("the checker does not know the statement %T", s)
	}
}

// cancelStmt checks `cancel "name";` of an actor, and `cancel p;` of a client.
func (b *body) cancelStmt(s *ast.Cancel) {
	if b.isActor() && b.unquoted(s.Name) {
		return
	}
	op := b.value(s.Name, String)
	if isPending(op.typ) {
		b.needClient(s.Span(), "cancelling an event")
		return
	}
	if b.isClient() {
		d := b.errorf(diag.TimerOutside, s, "cancel of a timer is for actors: a client has no durable timers")
		d.Help = "`cancel p;` ends the event of a pending value p; a timer is cancelled by the actor that has set it"
		return
	}
	b.bf.cancels = append(b.bf.cancels, s)
	b.needActor(s.Span(), "cancel")
	b.checkTimerName(s.Name, op)
}

// unquoted reports the name of a timer that stands without its quotes, as an undeclared name.
func (b *body) unquoted(x ast.Expr) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok || b.lookup(id, nil) != nil || len(b.values[id.Name]) > 0 {
		return false
	}
	b.report(diag.New(diag.UndefinedName, id.Span(), "%s is not declared", id.Name).
		WithHelp("the name of a timer is a string: `\"%s\"`", id.Name).
		WithFix("quote it", diag.InsertBefore(id.Span(), `"`), diag.InsertAfter(id.Span(), `"`)))
	return true
}

// checkTimerName checks the name of a timer, which is the operand op.
func (b *body) checkTimerName(x ast.Expr, op operand) {
	switch {
	case op.typ != Invalid && op.typ != String:
		b.errorf(diag.BadTimer, x, "the name of a timer is a string, but this is %s", aType(op.typ))
	case op.val != nil && constant.StringVal(op.val) == "":
		b.errorf(diag.BadTimer, x, "the name of a timer is empty").Help = "give it one, as in `\"tick\"`; a one-shot timer that is not to be cancelled needs none"
	}
}

// cond checks a condition.
func (b *body) cond(x ast.Expr, what string) operand {
	op := b.expr(x, Bool)
	b.wantBool(x, op, what)
	return op
}

func (b *body) message(x ast.Expr) {
	if x != nil {
		b.assign(x, String, "the message")
	}
}

func (b *body) newVar(kind VarKind, decl ast.Node, name ast.Name, t Type) *Var {
	v := &Var{Kind: kind, Decl: decl, name: name.Text, typ: t, span: name.Span()}
	v.Used = kind != LocalVar
	b.info.Defs[decl] = v
	return v
}

func (b *body) varDecl(s *ast.VarDecl) {
	var t Type
	var from Type // of the initial value
	switch {
	case s.Type != nil:
		t = b.typ(b.file, s.Type)
		if s.Init != nil {
			op := b.expr(s.Init, t)
			b.fit(s.Init, op, t, "variable "+s.Name.Text)
			from = op.typ
		}
	case s.Init != nil:
		op := b.value(s.Init, nil)
		t, from = op.typ, op.typ
	default:
		t = Invalid
	}
	v := b.newVar(LocalVar, s, s.Name, t)
	b.declare(v)
	b.null.set(v, false)
	if from != nil {
		b.nowHolds(v, from)
	}
}

func (b *body) ifStmt(s *ast.If) {
	b.scope.open()
	var whenTrue, whenFalse []*Var
	if s.Decl != nil {
		b.ifDecl(s.Decl)
	} else {
		b.cond(s.Cond, "if")
		whenTrue, whenFalse = b.implied(s.Cond)
	}
	m := b.null.mark()
	b.know(whenTrue)
	b.block(s.Then)
	then := b.null.take(m)
	b.scope.close()

	b.know(whenFalse)
	if s.Else != nil {
		b.stmt(s.Else)
	}
	b.null.join(then, b.null.take(m))
}

// ifDecl checks `if (V v = e)`: e may be null, and v is not.
func (b *body) ifDecl(d *ast.VarDecl) {
	var t, want Type
	if d.Type != nil {
		if t = b.typ(b.file, d.Type); t != Invalid {
			want = makeOptional(t)
		}
	}
	op := b.value(d.Init, want)
	o, ok := op.typ.(*Optional)
	switch {
	case op.typ == Invalid:
		if t == nil {
			t = Invalid
		}
	case !ok:
		b.report(diag.New(diag.NeverNull, d.Init.Span(), "%s, so this `if` has nothing to test", b.notNull(d.Init, op.typ)).
			WithHelp("declare the variable in a statement of its own"))
		if t == nil {
			t = op.typ
		}
	case t == nil:
		t = o.Elem
	case t != Invalid && !Identical(nonNull(t), o.Elem):
		b.report(b.mismatch(d.Init, operand{typ: o.Elem}, t, "variable "+d.Name.Text))
	case t != Invalid && !Identical(t, o.Elem):
		b.report(diag.New(diag.BadTypeUse, d.Type.Span(), "in this branch %s is not null: its type is %s", d.Name.Text, o.Elem).
			WithFix("write "+o.Elem.String(), diag.Replace(d.Type.Span(), o.Elem.String())))
		t = o.Elem
	}
	v := b.newVar(LocalVar, d, d.Name, t)
	v.inHead = true
	b.declare(v)
}

func (b *body) loopStmt(s ast.Stmt) {
	b.scope.open()
	defer b.scope.close()
	switch s := s.(type) {
	case *ast.While:
		b.conditionLoop(s.Cond, nil, s.Body)
	case *ast.For:
		if s.Init != nil {
			b.stmt(s.Init)
		}
		b.conditionLoop(s.Cond, s.Post, s.Body)
	case *ast.ForUpto:
		b.uptoLoop(s)
	case *ast.ForEach:
		b.eachLoop(s)
	}
}

// conditionLoop checks while and C-style for loops.
func (b *body) conditionLoop(cond ast.Expr, post ast.Stmt, loopBody *ast.Block) {
	b.forgetAssigned(cond, post, loopBody)
	var whenTrue, whenFalse []*Var
	endless := cond == nil
	if cond != nil {
		op := b.cond(cond, "the condition of a loop")
		endless = isTrue(op.val)
		whenTrue, whenFalse = b.implied(cond)
	}
	m := b.null.mark()
	b.know(whenTrue)
	broken := b.loopBody(loopBody, m)
	b.null.undo(m)
	if post != nil {
		b.stmt(post)
		b.null.undo(m)
	}
	switch {
	case broken:
	case endless:
		b.null.dead = true
	default:
		b.know(whenFalse)
	}
}

// loopBody checks the body and reports whether a break leaves the loop.
func (b *body) loopBody(body *ast.Block, m factMark) (broken bool) {
	b.targets = append(b.targets, target{mark: m, loop: true})
	b.block(body)
	last := b.targets[len(b.targets)-1]
	b.targets = b.targets[:len(b.targets)-1]
	return len(last.breaks) > 0
}

func (b *body) uptoLoop(s *ast.ForUpto) {
	var t Type
	if s.Type != nil {
		t = b.typ(b.file, s.Type)
		if t != Invalid && !IsInteger(t) {
			b.errorf(diag.TypeMismatch, s.Type, "the variable of an upto loop is an integer, not %s", aType(t))
			t = Invalid
		}
		b.assign(s.From, t, "variable "+s.Name.Text)
		b.assign(s.To, t, "the bound of the loop")
	} else {
		from, to := b.expr(s.From, nil), b.expr(s.To, nil)
		t = Type(Int)
		if from.typ != Invalid && !IsUntyped(from.typ) {
			t = from.typ
		} else if to.typ != Invalid && !IsUntyped(to.typ) {
			t = to.typ
		}
		if !IsInteger(t) {
			b.errorf(diag.TypeMismatch, s.From, "an upto loop counts integers, but this is %s", aType(t))
			t = Invalid
		}
		b.fit(s.From, from, t, "variable "+s.Name.Text)
		b.fit(s.To, to, t, "the bound of the loop")
	}
	b.declare(b.newVar(LoopVar, s, s.Name, t))
	b.forgetAssigned(s.Body)
	m := b.null.mark()
	b.loopBody(s.Body, m)
	b.null.undo(m)
}

func (b *body) breakStmt(s *ast.Break) {
	if len(b.targets) == 0 {
		b.errorf(diag.BadJump, s, "break outside of a loop or switch")
		return
	}
	t := &b.targets[len(b.targets)-1]
	if t.loop {
		t.breaks = append(t.breaks, delta{}) // only that there is one matters
	} else if !b.null.dead {
		t.breaks = append(t.breaks, b.null.peek(t.mark))
	}
	b.null.dead = true
}

func (b *body) continueStmt(s *ast.Continue) {
	for i := len(b.targets) - 1; i >= 0; i-- {
		if b.targets[i].loop {
			b.null.dead = true
			return
		}
	}
	b.errorf(diag.BadJump, s, "continue outside of a loop")
}

func (b *body) returnStmt(s *ast.Return) {
	f := b.fn
	switch {
	case s.X == nil:
		if f.Result != Void && f.Result != Invalid {
			b.report(diag.New(diag.BadReturn, s.Span(), "%s returns %s, so return needs a value", f.FullName(), aType(f.Result)).
				With(f.span, "declared here"))
		}
	case f.Result == Void:
		op := b.expr(s.X, Invalid)
		if _, literal := ast.Unparen(s.X).(*ast.VectorLit); op.typ != Invalid || literal {
			d := diag.New(diag.BadReturn, s.X.Span(), "%s has no result, so return takes no value", f.FullName())
			b.report(d.With(f.span, "declared here"))
		}
	default:
		b.assign(s.X, f.Result, "the result of "+f.FullName())
	}
	b.null.dead = true
}

func (b *body) deleteStmt(s *ast.Delete) {
	op := b.value(s.X, nil)
	if o, ok := op.typ.(*Optional); ok {
		b.report(maybeNull(s.X, "this may be null, so it cannot be deleted"))
		op.typ = o.Elem
	}
	if op.typ == Invalid {
		return
	}
	if !IsActor(op.typ) {
		d := b.errorf(diag.BadDelete, s.X, "only actors are deleted; this is %s", aType(op.typ))
		d.Help = "values go away by themselves; elements are removed with remove(…)"
		return
	}
	b.bf.deletes = append(b.bf.deletes, s)
}

func (b *body) tryStmt(s *ast.TryCatch) {
	b.needClient(ast.Span{Src: s.Range.Src, Start: s.Range.Start, End: s.Range.Start + 3}, "try")
	b.forgetAssigned(s.Body)
	m := b.null.mark()
	b.block(s.Body)
	tried := b.null.take(m)
	if s.Catch == nil {
		b.null.join(tried)
		return
	}
	b.scope.open()
	t := Type(String)
	if s.Catch.Type != nil {
		if t = b.typ(b.file, s.Catch.Type); t != String && t != Invalid {
			b.report(diag.New(diag.BadTypeUse, s.Catch.Type.Span(), "what is caught is the message, a string, not %s", aType(t)).
				WithFix("write string", diag.Replace(s.Catch.Type.Span(), "string")))
			t = String
		}
	}
	b.declare(b.newVar(CatchVar, s.Catch, s.Catch.Name, t))
	b.block(s.Catch.Body)
	b.scope.close()
	b.null.join(tried, b.null.take(m))
}

func (b *body) exprStmt(s *ast.ExprStmt) {
	x := ast.Unparen(s.X)
	call, ok := x.(*ast.Call)
	if !ok {
		b.expr(s.X, nil)
		return
	}
	b.depth++
	op := b.call(call, nil, valueUnused)
	b.depth--
	b.retype(s.X, op)
	b.record(call, op)
	if info := b.info.Calls[call]; info != nil && isPure(info) {
		b.errorf(diag.UnusedExpression, s.X, "the result of this call is not used, and it does nothing else")
	}
}

// isPure reports whether a call only computes its result.
func isPure(c *Call) bool {
	switch c.Kind {
	case ConversionCall:
		return true
	case BuiltinCall:
		return c.Builtin != PrintFunc && c.Builtin != LogFunc
	case LibraryCall:
		sig, ok := libraryMethod(c.RecvType, c.Library.String())
		return ok && !sig.mutates
	}
	return false
}
