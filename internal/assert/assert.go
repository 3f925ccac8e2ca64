// Package assert holds the assertions that stay on in production.
//
// An assertion states an invariant of the system itself, never a property of
// input: when one fails the program has a bug, and going on would spread it.
package assert

import "fmt"

// Failure is the value an assertion panics with. Only the event boundary and
// main recover it; both report it as a bug.
type Failure struct{ Msg string }

// Error implements error.
func (f Failure) Error() string { return "assertion failed: " + f.Msg }

// That panics with a Failure when cond is false. The message is built only
// then, but args are boxed at every call: a hot path whose args are not pointers
// tests the condition itself and calls Unreachable.
func That(cond bool, format string, args ...any) {
	if !cond {
		fail(format, args)
	}
}

// Unreachable reports that control reached a place the design rules out.
func Unreachable(format string, args ...any) {
	fail("unreachable: "+format, args)
}

//go:noinline
func fail(format string, args []any) {
	panic(Failure{Msg: fmt.Sprintf(format, args...)})
}
