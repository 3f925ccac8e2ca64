package runtime

import (
	"errors"

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

// aborted is the failure of an event: its message is exactly what the program gave.
type aborted interface {
	error
	AbortMessage() string
}

// Try runs body, which is code of a client, and reports a failure of it: of an
// awaited event, or a fault of the body itself. A bug of the system is not caught.
func Try(body func()) (why string, failed bool) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		err, _ := r.(error)
		var abort aborted
		var fault value.Fault
		switch {
		case errors.As(err, &abort):
			why, failed = abort.AbortMessage(), true
		case errors.As(err, &fault):
			why, failed = fault.Msg, true
		default:
			panic(r)
		}
	}()
	body()
	return "", false
}
