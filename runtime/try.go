package runtime

import (
	"errors"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Must returns the result of an awaited event, or panics with the failure of the event.
// Code of clients calls it.
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

// Try runs body, which is code of a client, and reports its failure: that of an
// awaited event, or a fault of the body itself. It does not catch a bug of the system, nor an
// unknown outcome: code that takes it for a failure may do a second time what has happened.
func Try(body func()) (why string, failed bool) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		err, _ := r.(error)
		var unknown *event.UnknownError
		var abort *event.AbortError
		var fault value.Fault
		var limit *event.LimitError
		switch {
		case errors.As(err, &unknown): // also as the cause of an abort: the event could not read the store
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
