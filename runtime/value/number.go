package value

import (
	"math"
	"strconv"
	"unsafe"
)

// Signed is any signed integer type of the language.
type Signed interface {
	~int8 | ~int16 | ~int32 | ~int64
}

// Unsigned is any unsigned integer type of the language.
type Unsigned interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Integer is any integer type of the language.
type Integer interface{ Signed | Unsigned }

// Add returns a + b, or faults on overflow.
func Add[T Integer](a, b T) T {
	r := a + b
	if (r < a) != (b < 0) {
		Fail(MsgOverflow)
	}
	return r
}

// Sub returns a - b, or faults on overflow.
func Sub[T Integer](a, b T) T {
	r := a - b
	if (r > a) != (b < 0) {
		Fail(MsgOverflow)
	}
	return r
}

// Mul returns a * b, or faults on overflow.
func Mul[T Integer](a, b T) T {
	r := a * b
	if x, y := uint64(a), uint64(b); (x|y)>>31 == 0 && uint64(r) == x*y {
		return r // small operands need no division to check
	}
	return mulChecked(a, b)
}

func mulChecked[T Integer](a, b T) T {
	r := a * b
	if b != 0 && (r/b != a || a < 0 && b < 0 && r < 0) {
		Fail(MsgOverflow)
	}
	return r
}

// Div returns a / b truncated towards zero, or faults when b is zero or the
// quotient does not fit.
func Div[T Integer](a, b T) T {
	if b == 0 {
		Fail(MsgDivision)
	}
	r := a / b
	if a < 0 && b < 0 && r < 0 {
		Fail(MsgOverflow)
	}
	return r
}

// Mod returns the remainder of a / b with the sign of a, or faults when b is zero.
func Mod[T Integer](a, b T) T {
	if b == 0 {
		Fail(MsgDivision)
	}
	return a % b
}

// Neg returns -a, or faults on overflow.
func Neg[T Integer](a T) T {
	r := -a
	if a != 0 && (r < 0) == (a < 0) {
		Fail(MsgOverflow)
	}
	return r
}

// Shl returns a << n. As in Go, bits that leave the type are lost; a count that
// is negative or not below the width of the type faults.
func Shl[T, N Integer](a T, n N) T {
	checkShift(uint64(unsafe.Sizeof(a))*8, int64(n), n < 0)
	return a << (uint64(n) & 63)
}

// Shr returns a >> n, arithmetic for signed types. It faults as Shl does.
func Shr[T, N Integer](a T, n N) T {
	checkShift(uint64(unsafe.Sizeof(a))*8, int64(n), n < 0)
	return a >> (uint64(n) & 63)
}

func checkShift(width uint64, n int64, negative bool) {
	if negative || uint64(n) >= width {
		failShift(width, n, negative)
	}
}

//go:noinline
func failShift(width uint64, n int64, negative bool) {
	count := strconv.FormatUint(uint64(n), 10)
	if negative {
		count = strconv.FormatInt(n, 10)
	}
	Fail("shift by " + count + " out of range for " + strconv.FormatUint(width, 10) + " bits")
}

// Convert returns x as an integer of type To, or faults when it does not fit.
func Convert[To, From Integer](x From) To {
	r := To(x)
	if From(r) != x || (r < 0) != (x < 0) {
		Fail(MsgOverflow)
	}
	return r
}

// Trunc returns f truncated towards zero as an integer of type To, or faults when
// that does not fit or f is not a number.
func Trunc[To Integer](f float64) To {
	t := math.Trunc(f)
	var zero To
	bits := int(unsafe.Sizeof(zero)) * 8
	lo, hi := 0.0, math.Ldexp(1, bits)
	if ^zero < 0 {
		lo, hi = -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1)
	}
	if !(t >= lo && t < hi) { // false for NaN too
		Fail(StrFloat(f) + " does not fit an integer of " + strconv.Itoa(bits) + " bits")
	}
	return To(t)
}

// Abs returns the absolute value of a, or faults on overflow.
func Abs[T Integer](a T) T {
	if a < 0 {
		return Neg(a)
	}
	return a
}

// AbsFloat returns the absolute value of f.
func AbsFloat(f float64) float64 { return math.Abs(f) }
