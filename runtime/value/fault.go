// Package value holds the values of an aeon program: checked numbers, text,
// time, optional values and the containers vector, map, set and bytes.
//
// Containers are values: an assignment copies. A copy costs O(1), because both
// copies refer to one body that is marked as shared; a write to a shared body
// clones it first. The mark is sticky and atomic, so goroutines that only read (or
// copy) one container may do so at the same time. A write needs the exclusion that
// the actor's lock gives.
//
// An operation that the language does not define for its operands panics with a
// Fault, which the boundary of the event turns into an abort.
package value

import (
	"fmt"
	"strconv"
)

// Fault is the panic value of every run-time fault of a program. Msg is the text
// that a program gets by awaiting the event.
type Fault struct{ Msg string }

// Error implements error.
func (f Fault) Error() string { return f.Msg }

// The texts of the faults that carry no operand. They are part of the
// language: a program sees them in catch.
const (
	MsgOverflow = "integer overflow"
	MsgDivision = "division by zero"
	MsgEmpty    = "pop from an empty vector"
)

// Fail panics with a Fault. It is not inlined so that the checks that call it are.
//
//go:noinline
func Fail(msg string) { panic(Fault{Msg: msg}) }

//go:noinline
func failIndex(i int64, size int) {
	Fail("index " + strconv.FormatInt(i, 10) + " out of range, size " + strconv.Itoa(size))
}

//go:noinline
func failSlice(a, b int64, size int) {
	Fail(fmt.Sprintf("slice %d to %d out of range, size %d", a, b, size))
}

// failNull says what was null, as it is written in the source.
//
//go:noinline
func failNull(what string) { Fail("null value: " + what) }

//go:noinline
func failKey(key string) { Fail("missing key " + key) }

// texter is what generated types with a text of their own implement.
type texter interface{ Str() string }

// KeyText writes a key as a fault message shows it.
func KeyText(k any) string {
	switch k := k.(type) {
	case string:
		return strconv.Quote(k)
	case BytesKey:
		return strconv.Quote(string(k))
	case texter:
		return k.Str()
	default:
		return fmt.Sprint(k)
	}
}
