package typecheck

import (
	"go/constant"
	"go/token"
	"math"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// Constant expressions are evaluated exactly, as in Go; a value must fit its
// type wherever it gets one.

const (
	constBitsMax   = 512     // of untyped integers
	constShiftMax  = 511     // of constant shifts
	constTextMax   = 1 << 16 // bytes of a constant string made by +
	constTextTotal = 1 << 23 // bytes of all of them in one run
)

// intRange has the smallest and largest value of the integer types.
var intRange = map[BasicKind][2]constant.Value{
	IntKind:      {constant.MakeInt64(math.MinInt64), constant.MakeInt64(math.MaxInt64)},
	Int8Kind:     {constant.MakeInt64(math.MinInt8), constant.MakeInt64(math.MaxInt8)},
	Int16Kind:    {constant.MakeInt64(math.MinInt16), constant.MakeInt64(math.MaxInt16)},
	Int32Kind:    {constant.MakeInt64(math.MinInt32), constant.MakeInt64(math.MaxInt32)},
	Uint8Kind:    {constant.MakeInt64(0), constant.MakeInt64(math.MaxUint8)},
	Uint16Kind:   {constant.MakeInt64(0), constant.MakeInt64(math.MaxUint16)},
	Uint32Kind:   {constant.MakeInt64(0), constant.MakeInt64(math.MaxUint32)},
	Uint64Kind:   {constant.MakeInt64(0), constant.MakeUint64(math.MaxUint64)},
	TimeKind:     {constant.MakeInt64(math.MinInt64), constant.MakeInt64(math.MaxInt64)},
	DurationKind: {constant.MakeInt64(math.MinInt64), constant.MakeInt64(math.MaxInt64)},
}

// represent returns val as a value of t, or nil if it does not fit.
func represent(val constant.Value, t Type) constant.Value {
	b, ok := t.(*Basic)
	if !ok {
		return nil
	}
	switch b.Kind {
	case UntypedIntKind:
		if v := constant.ToInt(val); v.Kind() == constant.Int && constant.BitLen(v) <= constBitsMax {
			return v
		}
	case UntypedFloatKind:
		if v := constant.ToFloat(val); v.Kind() == constant.Float {
			return v
		}
	case FloatKind:
		v := constant.ToFloat(val)
		if v.Kind() != constant.Float {
			return nil
		}
		if f, _ := constant.Float64Val(v); !math.IsInf(f, 0) {
			return constant.MakeFloat64(f)
		}
	case BoolKind, StringKind:
		return val
	default:
		r, ok := intRange[b.Kind]
		if !ok {
			return nil
		}
		v := constant.ToInt(val)
		if v.Kind() == constant.Int && constant.Compare(v, token.GEQ, r[0]) && constant.Compare(v, token.LEQ, r[1]) {
			return v
		}
	}
	return nil
}

// constText returns a constant for messages, shortened.
func constText(val constant.Value) string {
	s := val.String()
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return s
}

var goOps = map[ast.Op]token.Token{
	ast.OpOr: token.LOR, ast.OpAnd: token.LAND, ast.OpEq: token.EQL, ast.OpNe: token.NEQ, ast.OpLt: token.LSS,
	ast.OpLe: token.LEQ, ast.OpGt: token.GTR, ast.OpGe: token.GEQ, ast.OpAdd: token.ADD, ast.OpSub: token.SUB,
	ast.OpBitOr: token.OR, ast.OpBitXor: token.XOR, ast.OpMul: token.MUL, ast.OpDiv: token.QUO, ast.OpRem: token.REM,
	ast.OpShl: token.SHL, ast.OpShr: token.SHR, ast.OpBitAnd: token.AND, ast.OpAndNot: token.AND_NOT, ast.OpNot: token.NOT,
}

// fold computes x op y of type t (the type of the operands; of the left one in
// shifts), or reports and returns nil. Both values are constants.
func (b *body) fold(at *ast.Binary, t Type, x, y constant.Value) constant.Value {
	tok := goOps[at.Op]
	switch {
	case at.Op.IsComparison():
		return constant.MakeBool(constant.Compare(x, tok, y))
	case at.Op == ast.OpShl || at.Op == ast.OpShr:
		return b.foldShift(at, t, x, y)
	case at.Op == ast.OpDiv && (IsInteger(t) || t == Duration):
		tok = token.QUO_ASSIGN // integer division
	case t == String:
		return b.foldText(at, x, y)
	}
	return b.fits(at, t, constant.BinaryOp(x, tok, y))
}

func (b *body) foldText(at *ast.Binary, x, y constant.Value) constant.Value {
	l, r := constant.StringVal(x), constant.StringVal(y)
	n := len(l) + len(r)
	b.textTotal += n
	if n > constTextMax || b.textTotal > constTextTotal {
		return nil // computed at run time instead
	}
	return constant.MakeString(l + r)
}

func (b *body) foldShift(at *ast.Binary, t Type, x, y constant.Value) constant.Value {
	n, ok := constant.Uint64Val(constant.ToInt(y))
	if !ok || n > constShiftMax {
		b.errorf(diag.ConstOverflow, at.Y, "shift by %s is out of range", constText(y))
		return nil
	}
	return b.fits(at, t, constant.Shift(constant.ToInt(x), goOps[at.Op], uint(n)))
}

// fits returns val as a value of t, or reports that it overflows.
func (b *body) fits(at ast.Node, t Type, val constant.Value) constant.Value {
	if v := represent(val, t); v != nil {
		return v
	}
	if val.Kind() != constant.Unknown {
		if IsUntyped(t) {
			b.errorf(diag.ConstOverflow, at, "the value of this constant expression is too large")
		} else {
			b.errorf(diag.ConstOverflow, at, "%s does not fit into %s", constText(val), t)
		}
	}
	return nil
}
