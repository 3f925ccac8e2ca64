package typecheck

import (
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// assign checks x as a value for a place of type target, which what describes
// ("argument 2 of Cook.cook", "field steak"), and reports if it does not fit.
func (b *body) assign(x ast.Expr, target Type, what string) operand {
	op := b.expr(x, target)
	return b.fit(x, op, target, what)
}

// fit converts a checked expression to target.
func (b *body) fit(x ast.Expr, op operand, target Type, what string) operand {
	if op.typ == Invalid || target == Invalid {
		return operand{typ: target}
	}
	if op.typ == Void {
		return b.voidValue(x)
	}
	elem, optional := target, false
	if o, ok := target.(*Optional); ok {
		elem, optional = o.Elem, true
	}
	switch {
	case op.typ == Null && optional:
		b.info.Wraps[x] = target.(*Optional)
		return b.retype(x, operand{typ: target})
	case Identical(op.typ, target):
		return op
	case optional && Identical(op.typ, elem):
		b.info.Wraps[x] = target.(*Optional)
		return operand{typ: target}
	case IsUntyped(op.typ) && op.typ != Null && IsNumeric(elem):
		op = b.convert(x, op, elem)
		if optional && op.typ != Invalid {
			b.info.Wraps[x] = target.(*Optional)
			return operand{typ: target}
		}
		return op
	}
	b.report(b.mismatch(x, op, target, what))
	return operand{typ: target}
}

// quoted makes what stands in single quotes fit double ones.
var quoted = strings.NewReplacer(`\\`, `\\`, `\'`, `'`, `"`, `\"`, `{`, `\{`)

// inDoubleQuotes returns the string that a character was probably meant for, "" if x is none.
func inDoubleQuotes(x ast.Expr) string {
	if lit, ok := x.(*ast.IntLit); ok && len(lit.Text) > 1 && strings.HasPrefix(lit.Text, "'") && strings.HasSuffix(lit.Text, "'") {
		return `"` + quoted.Replace(lit.Text[1:len(lit.Text)-1]) + `"`
	}
	return ""
}

// mismatch is the error for a value of the wrong type.
func (b *body) mismatch(x ast.Expr, op operand, target Type, what string) diag.Diagnostic {
	if op.typ == Null {
		d := diag.New(diag.NullNotHere, x.Span(), "%s has the type %s, which is never null", what, target)
		return d.WithHelp("a type with a question mark may be null: `%s?`", target)
	}
	if o, ok := op.typ.(*Optional); ok && Identical(o.Elem, target) {
		return maybeNull(x, fmt.Sprintf("%s needs %s, but this may be null", what, aType(target)))
	}
	d := diag.New(diag.TypeMismatch, x.Span(), "%s needs %s, but this is %s", what, aType(target), aType(op.typ))
	switch {
	case isConvertible(op.typ, target) && IsNumeric(op.typ) && IsNumeric(target) && !IsUntyped(op.typ):
		d = d.WithHelp("numbers are not converted implicitly").
			WithFix("convert it", diag.InsertBefore(x.Span(), target.String()+"("), diag.InsertAfter(x.Span(), ")"))
	case target == String && inDoubleQuotes(x) != "":
		d = d.WithHelp("strings stand in double quotes; in single ones a character is a number").
			WithFix("write "+inDoubleQuotes(x), diag.Replace(x.Span(), inDoubleQuotes(x)))
	case GoTypeBehind(target) != nil:
		d = d.WithHelp("a value of a Go type is made by a Go function that returns one, which an `extern go` block binds")
	case target == String && (GoTypeBehind(op.typ) != nil && !IsOpaque(op.typ) || IsNumeric(op.typ) || op.typ == Bool || op.typ == Time || op.typ == Duration):
		d = d.WithHelp("str(…) makes a string of it").
			WithFix("use str", diag.InsertBefore(x.Span(), "str("), diag.InsertAfter(x.Span(), ")"))
	case target == Int && op.typ == String:
		d = d.WithHelp(parseIntHelp)
	case target == Float && op.typ == String:
		d = d.WithHelp(parseFloatHelp)
	case op.typ == Duration && IsNumeric(target):
		d = d.WithHelp("divide by a unit to get a number: `d / 1ms`; or declare a `duration`")
	case op.typ == Duration && target == Time:
		d = d.WithHelp("add a duration to a time: `now() + 5s`")
	case op.typ == Time && target == Duration:
		d = d.WithHelp("subtract two times to get a duration: `now() - t`")
	case target == Duration && IsInteger(op.typ):
		d = d.WithHelp("a duration has a unit: `5s`, `50ms`, or `n * 1s`")
	case target == Bool && IsNumeric(op.typ):
		d = d.WithHelp("compare it: `x != 0`")
	}
	if p, ok := op.typ.(*Pending); ok && Identical(p.Elem, target) {
		d = d.WithHelp("await it").WithFix("insert await", diag.InsertBefore(x.Span(), "await "))
	}
	return d
}

// maybeNull is the error for using what may be null.
func maybeNull(x ast.Expr, msg string) diag.Diagnostic {
	d := diag.New(diag.MaybeNull, x.Span(), "%s", msg)
	switch ast.Unparen(x).(type) {
	case *ast.Ident, *ast.Field:
		d = d.WithHelp("test it first: `if (x != null) { … }` for a local, `if (T x = …) { … }` for anything; or give another value with `??`; or abort on null with `!`")
	default:
		d = d.WithHelp("test it first: `if (T x = …) { … }`; or give another value with `??`; or abort on null with `!`")
	}
	return d.WithFix("abort if it is null", behind(x, "!")...)
}

// checkAssign checks `lhs = rhs;` and the compound forms.
func (b *body) checkAssign(s *ast.Assign) {
	if s.Op != ast.OpNone {
		b.compound(s)
		return
	}
	target, ok := b.place(s.LHS, s)
	if !ok {
		b.loose(s.RHS)
		return
	}
	op := b.expr(s.RHS, target)
	b.fit(s.RHS, op, target, "this variable")
	if v := b.wholeLocal(s.LHS); v != nil {
		v.Assigned = true
		b.nowHolds(v, op.typ)
	}
}

// wholeLocal returns the local or parameter that x is, or nil.
func (c *checker) wholeLocal(x ast.Expr) *Var {
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		if v, ok := c.info.Uses[id].(*Var); ok && v.Kind != FieldVar {
			return v
		}
	}
	return nil
}

// nowHolds notes whether an optional variable is null after a value of type t
// was stored in it.
func (b *body) nowHolds(v *Var, t Type) {
	if _, optional := v.typ.(*Optional); optional {
		_, mayBe := t.(*Optional)
		b.null.set(v, !mayBe && t != Null && t != Invalid)
	}
}

// compound checks `x += e;` as x = x + e.
func (b *body) compound(s *ast.Assign) {
	target, ok := b.changedPlace(s.LHS, s)
	if !ok {
		b.loose(s.RHS)
		return
	}
	want := target
	if s.Op == ast.OpShl || s.Op == ast.OpShr {
		want = Int
	}
	right := b.expr(s.RHS, want)
	// The operation is checked on a node of its own, which is not recorded.
	bin := &ast.Binary{Loc: s.Loc, Op: s.Op, OpPos: s.OpPos, X: s.LHS, Y: s.RHS}
	op := b.operate(bin, operand{typ: target}, right)
	if op.typ != Invalid && target != Invalid && !Identical(op.typ, target) {
		b.errorf(diag.TypeMismatch, s.RHS, "%s %s %s gives %s, not %s", target, s.Op, right.typ, aType(op.typ), aType(target))
	}
}

// incDec checks x++ and x--.
func (b *body) incDec(s *ast.IncDec) {
	target, ok := b.changedPlace(s.X, s)
	if !ok {
		return
	}
	if !IsNumeric(target) {
		b.errorf(diag.BadOperand, s.X, "++ and -- need a number, but this is %s", aType(target))
	}
}

// changedPlace is place for a statement that reads before it writes. An optional local that is known not to be null is
// changed within, and stays so.
func (b *body) changedPlace(x ast.Expr, at ast.Node) (Type, bool) {
	t, ok := b.place(x, at)
	if !ok {
		return Invalid, false
	}
	v, store := b.wholeLocal(x), b.info.Stores[at]
	if v != nil {
		v.Assigned = true
	}
	o, optional := t.(*Optional)
	switch {
	case !optional:
		return t, true
	case v == nil || !b.null.has(v):
		b.report(diag.New(diag.MaybeNull, x.Span(), "this is changed from what it has, but it may be null: it is %s", aType(t)).
			WithHelp("test it first: `if (x != null) { … }` for a local; or assign to it, and give another value with `??`: `x = (x ?? …) + …`"))
		return Invalid, false
	}
	store.Steps, store.Value = []Step{{Kind: NonNullStep, Expr: x}}, o.Elem
	b.retype(x, operand{typ: o.Elem})
	return o.Elem, true
}
