package value_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/value"
)

// fault runs f and returns the message of the fault it raised, or "".
func fault(f func()) (msg string) {
	defer func() {
		if r := recover(); r != nil {
			var flt value.Fault
			if err, ok := r.(error); !ok || !errors.As(err, &flt) {
				panic(r)
			}
			msg = flt.Msg
		}
	}()
	f()
	return ""
}

// checkInt compares every checked operation of T with exact arithmetic.
func checkInt[T value.Integer](t *testing.T, lo, hi *big.Int, gen *rapid.Generator[T]) {
	toBig := func(x T) *big.Int {
		if x < 0 {
			return big.NewInt(int64(x))
		}
		return new(big.Int).SetUint64(uint64(x))
	}
	fits := func(x *big.Int) bool { return x.Cmp(lo) >= 0 && x.Cmp(hi) <= 0 }
	ops := map[string]struct {
		got   func(a, b T) T
		exact func(a, b *big.Int) *big.Int // nil: division by zero
	}{
		"add": {value.Add[T], func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }},
		"sub": {value.Sub[T], func(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }},
		"mul": {value.Mul[T], func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }},
		"div": {value.Div[T], func(a, b *big.Int) *big.Int {
			if b.Sign() == 0 {
				return nil
			}
			return new(big.Int).Quo(a, b)
		}},
		"mod": {value.Mod[T], func(a, b *big.Int) *big.Int {
			if b.Sign() == 0 {
				return nil
			}
			return new(big.Int).Rem(a, b)
		}},
		"neg": {func(a, _ T) T { return value.Neg(a) }, func(a, _ *big.Int) *big.Int { return new(big.Int).Neg(a) }},
		"abs": {func(a, _ T) T { return value.Abs(a) }, func(a, _ *big.Int) *big.Int { return new(big.Int).Abs(a) }},
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		for name, op := range ops {
			var got T
			msg := fault(func() { got = op.got(a, b) })
			want, exact := "", op.exact(toBig(a), toBig(b))
			switch {
			case exact == nil:
				want = value.MsgDivision
			case !fits(exact):
				want = value.MsgOverflow
			case msg == "" && toBig(got).Cmp(exact) != 0:
				t.Fatalf("%s(%v, %v) = %v, want %v", name, a, b, got, exact)
			}
			if msg != want {
				t.Fatalf("%s(%v, %v): fault %q, want %q", name, a, b, msg, want)
			}
		}
	})
}

func edges[T value.Integer](any *rapid.Generator[T], lo, hi T) *rapid.Generator[T] {
	return rapid.OneOf(any, rapid.SampledFrom([]T{lo, lo + 1, hi, hi - 1, 0, 1, 2, ^T(0)}))
}

func TestIntegersAgreeWithExactArithmetic(t *testing.T) {
	big64 := func(n int64) *big.Int { return big.NewInt(n) }
	t.Run("int8", func(t *testing.T) { checkInt(t, big64(-128), big64(127), rapid.Int8()) })
	t.Run("int16", func(t *testing.T) { checkInt(t, big64(-1<<15), big64(1<<15-1), edges(rapid.Int16(), -1<<15, 1<<15-1)) })
	t.Run("int32", func(t *testing.T) {
		checkInt(t, big64(math.MinInt32), big64(math.MaxInt32), edges(rapid.Int32(), math.MinInt32, math.MaxInt32))
	})
	t.Run("int64", func(t *testing.T) {
		checkInt(t, big64(math.MinInt64), big64(math.MaxInt64), edges(rapid.Int64(), math.MinInt64, math.MaxInt64))
	})
	t.Run("uint8", func(t *testing.T) { checkInt(t, big64(0), big64(255), rapid.Uint8()) })
	t.Run("uint16", func(t *testing.T) { checkInt(t, big64(0), big64(1<<16-1), edges(rapid.Uint16(), 0, 1<<16-1)) })
	t.Run("uint32", func(t *testing.T) { checkInt(t, big64(0), big64(1<<32-1), edges(rapid.Uint32(), 0, 1<<32-1)) })
	t.Run("uint64", func(t *testing.T) {
		checkInt(t, big64(0), new(big.Int).SetUint64(math.MaxUint64), edges(rapid.Uint64(), 0, math.MaxUint64))
	})
}

func TestConversionAndShift(t *testing.T) {
	cases := []struct {
		name string
		f    func() any
		want any
		msg  string
	}{
		{"narrow", func() any { return value.Convert[int8](int64(127)) }, int8(127), ""},
		{"too wide", func() any { return value.Convert[int8](int64(128)) }, nil, value.MsgOverflow},
		{"negative to unsigned", func() any { return value.Convert[uint64](int64(-1)) }, nil, value.MsgOverflow},
		{"large unsigned to signed", func() any { return value.Convert[int64](uint64(math.MaxUint64)) }, nil, value.MsgOverflow},
		{"trunc", func() any { return value.Trunc[int64](-2.9) }, int64(-2), ""},
		{"trunc to the last", func() any { return value.Trunc[uint8](255.9) }, uint8(255), ""},
		{"trunc too large", func() any { return value.Trunc[int64](1 << 63) }, nil, "9.223372036854776e+18 does not fit an integer of 64 bits"},
		{"trunc to the lowest", func() any { return value.Trunc[int64](-1 << 63) }, int64(math.MinInt64), ""},
		{"trunc NaN", func() any { return value.Trunc[int64](math.NaN()) }, nil, "NaN does not fit an integer of 64 bits"},
		{"trunc negative to unsigned", func() any { return value.Trunc[uint8](-1) }, nil, "-1 does not fit an integer of 8 bits"},
		{"shl", func() any { return value.Shl(int8(3), int64(6)) }, int8(-64), ""},
		{"shl width", func() any { return value.Shl(int8(1), int64(8)) }, nil, "shift by 8 out of range for 8 bits"},
		{"shl negative", func() any { return value.Shl(int64(1), int64(-1)) }, nil, "shift by -1 out of range for 64 bits"},
		{"shl huge", func() any { return value.Shl(int64(1), uint64(math.MaxUint64)) }, nil, "shift by 18446744073709551615 out of range for 64 bits"},
		{"shr", func() any { return value.Shr(int64(-8), uint8(1)) }, int64(-4), ""},
		{"shr width", func() any { return value.Shr(uint16(8), int64(16)) }, nil, "shift by 16 out of range for 16 bits"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got any
			if msg := fault(func() { got = c.f() }); msg != c.msg || got != c.want {
				t.Errorf("got %v and fault %q, want %v and %q", got, msg, c.want, c.msg)
			}
		})
	}
}
