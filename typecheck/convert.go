package typecheck

import (
	"go/constant"
	"go/token"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// isConvertible reports whether to(x) exists for an x of type from: between
// numbers; between an int and time or duration (nanoseconds); between string
// and bytes.
func isConvertible(from, to Type) bool {
	switch {
	case Identical(from, to):
		return true
	case IsNumeric(from) && IsNumeric(to):
		return true
	case (from == Int || from == UntypedInt) && (to == Time || to == Duration), (from == Time || from == Duration) && to == Int:
		return true
	case from == String && to == Bytes, from == Bytes && to == String:
		return true
	}
	return false
}

// conversion checks T(x) for a predeclared type T.
func (b *body) conversion(x *ast.Call, t *basicName) operand {
	b.undecorated(x, "a conversion")
	if len(x.Args) != 1 || t.typ == Void {
		b.looseArgs(x)
		b.errorf(diag.BadArgCount, x, "a conversion to %s takes one argument, but %d %s given", t.name, len(x.Args), wasWere(len(x.Args)))
		return invalid
	}
	arg := x.Args[0]
	op := b.expr(arg, nil)
	if op.typ == Void || op.typ == Null {
		op = b.settle(arg, op)
	}
	if op.typ == Invalid {
		return operand{typ: t.typ}
	}
	if !isConvertible(op.typ, t.typ) {
		b.badConversion(x, op, t)
		return operand{typ: t.typ}
	}
	info := &Call{Kind: ConversionCall, Result: t.typ, Params: []Type{op.typ}}
	if op.val != nil {
		return b.constConversion(x, op, t.typ, info)
	}
	return b.recordCall(x, info)
}

func (b *body) constConversion(x *ast.Call, op operand, t Type, info *Call) operand {
	arg := x.Args[0]
	if t == Bytes || op.typ == Bytes {
		b.recordCall(x, info)
		return operand{typ: t}
	}
	if IsUntyped(op.typ) {
		if IsNumeric(t) {
			op = b.convert(arg, op, t)
		} else {
			op = b.settle(arg, op)
		}
		if op.typ == Invalid {
			return operand{typ: t}
		}
	} else if IsInteger(t) && op.typ == Float {
		// int(f) of a typed constant rounds towards zero, as it does at run time.
		op.val = truncate(op.val)
	}
	info.Params[0] = b.info.TypeOf(arg)
	b.recordCall(x, info)
	val := op.val
	if t != String {
		if val = b.fits(x, t, op.val); val == nil {
			return operand{typ: t}
		}
	}
	return operand{t, val}
}

func truncate(val constant.Value) constant.Value {
	if v := constant.ToInt(val); v.Kind() == constant.Int {
		return v
	}
	num, denom := constant.Num(val), constant.Denom(val)
	if num.Kind() != constant.Int || denom.Kind() != constant.Int {
		return val
	}
	return constant.BinaryOp(num, token.QUO_ASSIGN, denom)
}

func (b *body) badConversion(x *ast.Call, op operand, t *basicName) {
	if o, ok := op.typ.(*Optional); ok {
		b.report(maybeNull(x.Args[0], "this may be null: it is "+aType(o)))
		return
	}
	d := b.errorf(diag.BadConversion, x, "%s cannot be converted to %s", aType(op.typ), t.name)
	switch {
	case t.typ == String:
		d.Help = "str(…) makes a text of any value"
	case op.typ == String && t.typ == Float:
		d.Help = parseFloatHelp
	case op.typ == String && IsNumeric(t.typ):
		d.Help = parseIntHelp
	case t.typ == Bool:
		d.Help = "compare it: `x != 0`"
	}
}
