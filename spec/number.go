package spec

import (
	"math"
	"math/big"
	"strconv"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// The messages of the faults that name no operand. They are part of the language: a
// program sees them in catch.
const (
	msgOverflow = "integer overflow"
	msgDivision = "division by zero"
	msgNull     = "null value" // that of ! goes on with what was null
	msgEmpty    = "pop from an empty vector"
	msgNullCall = "call through a null reference"
	msgCycle    = "ownership cycle: an actor would own itself"
	msgPeriod   = "timer period must be positive"
	msgNoName   = "the name of a timer is empty"
)

// width returns the bits of an integer type and whether it has a sign.
func width(k typecheck.BasicKind) (bits int, signed bool) {
	switch k {
	case typecheck.Int8Kind:
		return 8, true
	case typecheck.Int16Kind:
		return 16, true
	case typecheck.Int32Kind:
		return 32, true
	case typecheck.Uint8Kind:
		return 8, false
	case typecheck.Uint16Kind:
		return 16, false
	case typecheck.Uint32Kind:
		return 32, false
	case typecheck.Uint64Kind:
		return 64, false
	}
	return 64, true
}

func (n integer) big() *big.Int {
	if n.kind == typecheck.Uint64Kind {
		return new(big.Int).SetUint64(uint64(n.bits))
	}
	return big.NewInt(n.bits)
}

// fit returns x as an integer of kind k, or reports that it does not fit.
func fit(k typecheck.BasicKind, x *big.Int) (integer, bool) {
	if k == typecheck.Uint64Kind {
		return integer{k, int64(x.Uint64())}, x.IsUint64()
	}
	n, ok := x.Int64(), x.IsInt64()
	bits, signed := width(k)
	if ok && bits < 64 {
		if signed {
			ok = n >= -1<<(bits-1) && n < 1<<(bits-1)
		} else {
			ok = n >= 0 && n < 1<<bits
		}
	}
	return integer{k, n}, ok
}

// checked computes a op b exactly and faults, by the message it returns, unless the result fits.
func checked(op ast.Op, a, b integer) (integer, string) {
	if r, ok := small(op, a, b); ok {
		return r, ""
	}
	x, y := a.big(), b.big()
	switch op {
	case ast.OpAdd:
		x.Add(x, y)
	case ast.OpSub:
		x.Sub(x, y)
	case ast.OpMul:
		x.Mul(x, y)
	case ast.OpDiv, ast.OpRem:
		if y.Sign() == 0 {
			return a, msgDivision
		}
		if op == ast.OpDiv {
			x.Quo(x, y)
		} else {
			x.Rem(x, y)
		}
	case ast.OpShl, ast.OpShr:
		return shift(op, a, b)
	default:
		return bitwise(op, a, b), ""
	}
	r, ok := fit(a.kind, x)
	if !ok {
		return a, msgOverflow
	}
	return r, ""
}

// small computes what small ints need no exact arithmetic for.
func small(op ast.Op, a, b integer) (integer, bool) {
	const limit = 1 << 31
	if a.kind != typecheck.IntKind || b.kind != typecheck.IntKind || a.bits <= -limit || a.bits >= limit || b.bits <= -limit || b.bits >= limit {
		return a, false
	}
	switch {
	case op == ast.OpAdd:
		a.bits += b.bits
	case op == ast.OpSub:
		a.bits -= b.bits
	case op == ast.OpMul:
		a.bits *= b.bits
	case op == ast.OpDiv && b.bits != 0:
		a.bits /= b.bits
	case op == ast.OpRem && b.bits != 0:
		a.bits %= b.bits
	default:
		return a, false
	}
	return a, true
}

// shift is << and >>: bits that leave the width are lost, and only the distance is checked.
func shift(op ast.Op, a, b integer) (integer, string) {
	bits, signed := width(a.kind)
	n := b.big()
	if n.Sign() < 0 || n.Cmp(big.NewInt(int64(bits))) >= 0 {
		return a, "shift by " + n.String() + " out of range for " + strconv.Itoa(bits) + " bits"
	}
	by := uint(n.Uint64())
	switch {
	case op == ast.OpShl:
		a.bits = wrap(a.kind, a.bits<<by)
	case signed:
		a.bits >>= by
	default:
		a.bits = int64(uint64(a.bits) >> by)
	}
	return a, ""
}

// wrap cuts n to the width of k.
func wrap(k typecheck.BasicKind, n int64) int64 {
	switch k {
	case typecheck.Int8Kind:
		return int64(int8(n))
	case typecheck.Int16Kind:
		return int64(int16(n))
	case typecheck.Int32Kind:
		return int64(int32(n))
	case typecheck.Uint8Kind:
		return int64(uint8(n))
	case typecheck.Uint16Kind:
		return int64(uint16(n))
	case typecheck.Uint32Kind:
		return int64(uint32(n))
	}
	return n
}

func bitwise(op ast.Op, a, b integer) integer {
	switch op {
	case ast.OpBitAnd:
		a.bits &= b.bits
	case ast.OpBitOr:
		a.bits |= b.bits
	case ast.OpBitXor:
		a.bits ^= b.bits
	case ast.OpAndNot:
		a.bits &^= b.bits
	default:
		panic("spec: no integer operator " + op.String())
	}
	return a
}

func complement(a integer) integer {
	a.bits = wrap(a.kind, ^a.bits)
	return a
}

// truncate is int(f): towards zero, if it fits.
func truncate(k typecheck.BasicKind, f float64) (integer, string) {
	bits, _ := width(k)
	if t := math.Trunc(f); !math.IsNaN(t) && !math.IsInf(t, 0) {
		exact, _ := new(big.Float).SetFloat64(t).Int(nil)
		if n, ok := fit(k, exact); ok {
			return n, ""
		}
	}
	return integer{kind: k}, floatText(f) + " does not fit an integer of " + strconv.Itoa(bits) + " bits"
}

func (n integer) float() float64 {
	if n.kind == typecheck.Uint64Kind {
		return float64(uint64(n.bits))
	}
	return float64(n.bits)
}

func floatOp(op ast.Op, a, b float64) float64 {
	switch op {
	case ast.OpAdd:
		return a + b
	case ast.OpSub:
		return a - b
	case ast.OpMul:
		return float64(a * b)
	case ast.OpDiv:
		return a / b
	}
	panic("spec: no float operator " + op.String())
}
