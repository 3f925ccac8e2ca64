package typecheck

import (
	"go/constant"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// unary checks -x, +x, !x and ^x.
func (b *body) unary(x *ast.Unary, want Type) operand {
	op := b.expr(x.X, want)
	if op.typ == Void || op.typ == Null {
		op = b.settle(x.X, op)
	}
	if op.typ == Invalid {
		return invalid
	}
	ok := false
	switch x.Op {
	case ast.OpNot:
		ok = op.typ == Bool
	case ast.OpBitXor:
		ok = IsInteger(op.typ)
	default:
		ok = IsNumeric(op.typ) || op.typ == Duration
	}
	if !ok {
		d := b.errorf(diag.BadOperand, x, "%s does not work on %s", x.Op, aType(op.typ))
		if x.Op == ast.OpNot {
			d.Help = "`!` needs a bool; to test for null write `x == null`"
		}
		return invalid
	}
	if op.val == nil {
		return operand{typ: op.typ}
	}
	var bits uint
	if x.Op == ast.OpBitXor && IsUnsigned(op.typ) {
		bits = 8 << (op.typ.(*Basic).Kind - Uint8Kind)
	}
	val := b.fits(x, op.typ, constant.UnaryOp(goUnary(x.Op), op.val, bits))
	if val == nil {
		return invalid
	}
	return operand{op.typ, val}
}

// binary checks a chain of binary operators. The left spine is walked in a
// loop, because generated programs contain very long ones.
func (b *body) binary(x *ast.Binary, want Type) operand {
	if x.Op == ast.OpAnd || x.Op == ast.OpOr {
		return b.logical(x)
	}
	var spine []*ast.Binary
	var left ast.Expr = x
	for {
		bin, ok := left.(*ast.Binary)
		if !ok || bin.Op == ast.OpAnd || bin.Op == ast.OpOr {
			break
		}
		spine = append(spine, bin)
		left = bin.X
	}
	if len(spine) > exprDepthMax {
		b.errorf(diag.TooDeep, x, "this expression has more than %d operators", exprDepthMax).Help = "compute a part of it in a statement of its own"
		return invalid
	}
	if x.Op.IsComparison() {
		want = nil
	}
	first := spine[len(spine)-1]
	var op, right operand
	if first.Op.IsComparison() && b.isBareValue(left) && !b.isBareValue(first.Y) {
		right = b.expr(first.Y, nil)
		op = b.expr(left, right.typ)
	} else {
		op = b.expr(left, want)
		right = b.expr(first.Y, rightHint(first, op))
	}
	for i := len(spine) - 1; i >= 0; i-- {
		bin := spine[i]
		if bin != first {
			right = b.expr(bin.Y, rightHint(bin, op))
		}
		op = b.operate(bin, op, right)
		if i > 0 {
			b.record(bin, op)
		}
	}
	return op
}

// rightHint returns what the right operand of x is wanted to be: a shift says nothing of it.
func rightHint(x *ast.Binary, left operand) Type {
	if x.Op == ast.OpShl || x.Op == ast.OpShr {
		return nil
	}
	return left.typ
}

// logical checks a chain of && or of ||; each operand knows what the ones
// before it have established.
func (b *body) logical(x *ast.Binary) operand {
	var operands []ast.Expr
	var nodes []*ast.Binary
	var left ast.Expr = x
	for {
		bin, ok := left.(*ast.Binary)
		if !ok || bin.Op != x.Op {
			break
		}
		operands, nodes = append(operands, bin.Y), append(nodes, bin)
		left = bin.X
	}
	operands = append(operands, left)
	m := b.null.mark()
	val := constant.MakeBool(x.Op == ast.OpAnd)
	for i := len(operands) - 1; i >= 0; i-- {
		e := operands[i]
		op := b.expr(e, Bool)
		b.wantBool(e, op, x.Op.String())
		if op.val == nil || op.val.Kind() != constant.Bool { // of another type: an error
			val = nil
		} else if val != nil {
			val = constant.BinaryOp(val, goOps[x.Op], op.val)
		}
		if i < len(nodes) && i > 0 {
			b.record(nodes[i], operand{typ: Bool})
		}
		whenTrue, whenFalse := b.implied(e)
		if x.Op == ast.OpAnd {
			b.know(whenTrue)
		} else {
			b.know(whenFalse)
		}
	}
	b.null.undo(m)
	return operand{Bool, val}
}

func (b *body) wantBool(e ast.Expr, op operand, operator string) {
	if op.typ == Bool || op.typ == Invalid {
		return
	}
	if op.typ == Void {
		b.voidValue(e)
		return
	}
	d := b.errorf(diag.BadOperand, e, "%s needs a bool, but this is %s", operator, aType(op.typ))
	if _, optional := op.typ.(*Optional); optional {
		d.Help = "to test for null write `x != null`"
	} else if IsNumeric(op.typ) {
		d.Help = "compare it: `x != 0`"
	}
}

// operate gives the result of an operator other than && and ||.
func (b *body) operate(x *ast.Binary, l, r operand) operand {
	if l.typ == Void {
		l = b.voidValue(x.X)
	}
	if r.typ == Void {
		r = b.voidValue(x.Y)
	}
	if l.typ == Invalid || r.typ == Invalid {
		if x.Op.IsComparison() {
			return operand{typ: Bool}
		}
		return invalid
	}
	switch x.Op {
	case ast.OpEq, ast.OpNe:
		return b.equality(x, l, r)
	case ast.OpShl, ast.OpShr:
		return b.shift(x, l, r)
	}
	if op, done := b.timeArithmetic(x, l, r); done {
		return op
	}
	l, r, t := b.match(x, l, r)
	if t == nil {
		b.badOperands(x, l, r)
		return invalid
	}
	if !operatorWorks(x.Op, t) {
		b.badOperands(x, l, r)
		if x.Op.IsComparison() {
			return operand{typ: Bool}
		}
		return invalid
	}
	return b.finish(x, t, l, r)
}

// finish folds constants and gives the result its type.
func (b *body) finish(x *ast.Binary, t Type, l, r operand) operand {
	result := t
	if x.Op.IsComparison() {
		result = Bool
	}
	if (x.Op == ast.OpDiv || x.Op == ast.OpRem) && r.val != nil && (IsInteger(t) || t == Duration || l.val != nil) && constant.Sign(r.val) == 0 {
		b.errorf(diag.ConstDivision, x.Y, "division by zero")
		return invalid
	}
	if l.val == nil || r.val == nil {
		return operand{typ: result}
	}
	if t == UntypedInt && x.Op == ast.OpRem || IsInteger(t) {
		l.val, r.val = constant.ToInt(l.val), constant.ToInt(r.val)
	}
	val := b.fold(x, t, l.val, r.val)
	if val == nil && result != String {
		return invalid
	}
	return operand{result, val}
}

// match brings both operands to one type, or returns nil. Only untyped
// constants change.
func (b *body) match(x *ast.Binary, l, r operand) (operand, operand, Type) {
	lu, ru := IsUntyped(l.typ), IsUntyped(r.typ)
	switch {
	case l.typ == Null || r.typ == Null:
		return l, r, nil
	case lu && ru:
		if l.typ == UntypedFloat || r.typ == UntypedFloat {
			return l, r, UntypedFloat
		}
		return l, r, UntypedInt
	case lu && IsNumeric(r.typ):
		l = b.convert(x.X, l, r.typ)
		return l, r, l.typ
	case ru && IsNumeric(l.typ):
		r = b.convert(x.Y, r, l.typ)
		return l, r, r.typ
	case Identical(l.typ, r.typ):
		return l, r, l.typ
	}
	return l, r, nil
}

func operatorWorks(op ast.Op, t Type) bool {
	switch op {
	case ast.OpAdd:
		return IsNumeric(t) || t == String || t == Duration || t == Invalid
	case ast.OpSub:
		return IsNumeric(t) || t == Duration || t == Invalid
	case ast.OpMul, ast.OpDiv:
		return IsNumeric(t) || t == Invalid
	case ast.OpRem, ast.OpBitAnd, ast.OpBitOr, ast.OpBitXor, ast.OpAndNot:
		return IsInteger(t) || t == Invalid || t == Duration && op == ast.OpRem
	case ast.OpLt, ast.OpLe, ast.OpGt, ast.OpGe:
		return isOrdered(t) || t == Invalid
	}
	return false
}

// timeArithmetic has the operators on time and duration that mix types.
func (b *body) timeArithmetic(x *ast.Binary, l, r operand) (operand, bool) {
	switch {
	case l.typ == Time && r.typ == Duration && (x.Op == ast.OpAdd || x.Op == ast.OpSub), x.Op == ast.OpAdd && l.typ == Duration && r.typ == Time:
		return operand{typ: Time}, true
	case l.typ == Time && r.typ == Time && x.Op == ast.OpSub:
		return operand{typ: Duration}, true
	case l.typ == Duration && r.typ == Duration && x.Op == ast.OpDiv:
		op := b.finish(x, Duration, l, r)
		if op.typ == Invalid {
			return op, true
		}
		return operand{Int, op.val}, true
	case l.typ == Duration && (r.typ == Int || r.typ == UntypedInt) && (x.Op == ast.OpMul || x.Op == ast.OpDiv):
		r = b.settle(x.Y, r)
		return b.finish(x, Duration, l, r), true
	case r.typ == Duration && (l.typ == Int || l.typ == UntypedInt) && x.Op == ast.OpMul:
		l = b.settle(x.X, l)
		return b.finish(x, Duration, l, r), true
	}
	return operand{}, false
}

func (b *body) badOperands(x *ast.Binary, l, r operand) {
	if l.typ == Invalid || r.typ == Invalid {
		return
	}
	if o, ok := l.typ.(*Optional); ok && r.typ != Null {
		b.report(maybeNull(x.X, "the left side of "+x.Op.String()+" may be null: it is "+aType(o)))
		return
	}
	if o, ok := r.typ.(*Optional); ok && l.typ != Null {
		b.report(maybeNull(x.Y, "the right side of "+x.Op.String()+" may be null: it is "+aType(o)))
		return
	}
	d := diag.New(diag.BadOperand, x.Span(), "%s does not work on %s and %s", x.Op, aType(l.typ), aType(r.typ))
	if Identical(l.typ, r.typ) {
		d = diag.New(diag.BadOperand, x.Span(), "%s does not work on %s values", x.Op, l.typ)
	}
	switch {
	case x.Op == ast.OpAdd && (l.typ == String || r.typ == String):
		d = d.WithHelp("write it into a string: `\"{x}\"`, or use str(…)")
	case x.Op.IsComparison() && (l.typ == Uint8 && r.typ == String || l.typ == String && r.typ == Uint8):
		d = d.WithHelp("the elements of a string are bytes; one is written between single quotes: 'a'")
	case x.Op.IsComparison() && (l.typ == String && r.typ == UntypedInt || l.typ == UntypedInt && r.typ == String):
		d = d.WithHelp("single quotes make the number of a character; strings stand between double quotes")
	case isPending(l.typ) || isPending(r.typ):
		d = d.WithHelp("await the result first: `await p`")
	case x.Op == ast.OpAdd && isVector(l.typ):
		d = d.WithHelp("a vector grows with `xs.push(x);`")
	case x.Op == ast.OpRem && (l.typ == Float || r.typ == Float):
		d = d.WithHelp("%% is for integers")
	case !Identical(l.typ, r.typ) && IsNumeric(l.typ) && IsNumeric(r.typ) && isConvertible(r.typ, l.typ):
		d = d.WithHelp("numbers are not converted implicitly: write %s(…) around one of them", l.typ)
	case l.typ == Duration && IsNumeric(r.typ) || r.typ == Duration && IsNumeric(l.typ):
		d = d.WithHelp("a duration has a unit: `5s`, `50ms`; it can be multiplied and divided by an int")
	}
	b.report(d)
}

func isPending(t Type) bool { _, ok := t.(*Pending); return ok }

func isVector(t Type) bool { _, ok := t.(*Vector); return ok }

// equality checks == and !=: structural on values, identity on actors.
func (b *body) equality(x *ast.Binary, l, r operand) operand {
	result := operand{typ: Bool}
	switch {
	case l.typ == Null && r.typ == Null:
		b.errorf(diag.BadOperand, x, "null compared with null")
		return result
	case r.typ == Null:
		b.compareNull(x, x.X, x.Y, l)
		return result
	case l.typ == Null:
		b.compareNull(x, x.Y, x.X, r)
		return result
	}
	l, r, t := b.match(x, l, r)
	if t == nil {
		lo, lok := l.typ.(*Optional)
		ro, rok := r.typ.(*Optional)
		switch {
		case lok && IsOpaque(lo) && Identical(lo.Elem, r.typ), rok && IsOpaque(ro) && Identical(ro.Elem, l.typ):
			b.report(opaqueHere(l.typ, x.Span(), "these cannot be compared"))
		case lok && !rok:
			b.fit(x.Y, r, lo, "the right side of "+x.Op.String())
		case rok && !lok:
			b.fit(x.X, l, ro, "the left side of "+x.Op.String())
		default:
			b.badOperands(x, l, r)
		}
		return result
	}
	if IsOpaque(t) {
		b.report(opaqueHere(t, x.Span(), "these cannot be compared"))
		return result
	}
	if !comparable(t) {
		b.errorf(diag.NotComparable, x, "%s values cannot be compared", t)
		return result
	}
	if t == Invalid {
		return result
	}
	return b.finish(x, t, l, r)
}

// comparable reports whether values of t have ==.
func comparable(t Type) bool { return !containsPending(t) && t != Void }

// compareNull checks x == null, where null is nul.
func (b *body) compareNull(x *ast.Binary, e, nul ast.Expr, op operand) {
	if o, ok := op.typ.(*Optional); ok {
		b.info.Wraps[nul] = o
		b.retype(nul, operand{typ: o})
		return
	}
	if v := b.wholeLocal(e); v != nil { // narrowed: known, and harmless
		if o, ok := v.typ.(*Optional); ok {
			b.info.Wraps[nul] = o
			b.retype(nul, operand{typ: o})
			b.retype(e, operand{typ: o})
			return
		}
	}
	always := "always false"
	if x.Op == ast.OpNe {
		always = "always true"
	}
	b.report(diag.New(diag.NeverNull, x.Span(), "%s is never null, so this is %s", op.typ, always).
		WithHelp("only types with a question mark, such as `%s?`, may be null", op.typ))
}

func (b *body) shift(x *ast.Binary, l, r operand) operand {
	if l.typ == UntypedFloat && l.val != nil {
		if v := represent(l.val, UntypedInt); v != nil {
			l = operand{UntypedInt, v}
		}
	}
	if !IsInteger(l.typ) || !IsInteger(r.typ) {
		b.badOperands(x, l, r)
		return invalid
	}
	if r.typ == UntypedInt {
		if r.val != nil && constant.Sign(r.val) < 0 {
			b.errorf(diag.ConstOverflow, x.Y, "shift by %s: the count cannot be negative", constText(r.val))
			return invalid
		}
		if l.val == nil && !constant.Compare(r.val, goOps[ast.OpLt], constant.MakeInt64(64)) {
			b.errorf(diag.ConstOverflow, x.Y, "shift by %s is out of range", constText(r.val))
			return invalid
		}
		if l.val == nil || !IsUntyped(l.typ) {
			r = b.settle(x.Y, r)
		}
	}
	if l.val != nil && r.val != nil {
		if val := b.fold(x, l.typ, l.val, r.val); val != nil {
			return operand{l.typ, val}
		}
		return invalid
	}
	if l.typ == UntypedInt {
		l = b.settle(x.X, l)
	}
	return operand{typ: l.typ}
}
