package runtime

import (
	"errors"

	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Must returns the result of an awaited event, or panics with the failure of the event.
// It is called by code of clients.
func Must[T any](ret T, err error) T {
	Check(err)
	return ret
}

// Check panics with the failure of an awaited event, if there is one.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Try runs body, which is code of a client, and reports a failure of it: of an
// awaited event, or a fault of the body itself. A bug of the system is not caught, and neither is
// a store that has failed: nobody knows what has happened, and the process is ending.
func Try(body func()) (why string, failed bool) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		err, _ := r.(error)
		var unknown *exec.UnknownError
		var abort *exec.AbortError
		var fault value.Fault
		var limit *exec.LimitError
		switch {
		case errors.As(err, &unknown): // also inside of the abort of an event that could not read on
			panic(r)
		case errors.As(err, &abort):
			why, failed = abort.Msg, true
		case errors.As(err, &fault):
			why, failed = fault.Msg, true
		case errors.As(err, &limit):
			why, failed = limit.Error(), true
		default:
			panic(r)
		}
	}()
	body()
	return "", false
}
