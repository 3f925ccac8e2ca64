package exec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/state"
)

const (
	msgNull   = "call through a null reference"
	msgGoexit = "runtime.Goexit called in an event"
)

func msgDeleted(h *order.Handle) string { return "actor " + h.Label() + " was deleted" }

// msgGone is msgDeleted for an actor that only its id is left of, as it was deleted before the
// store was opened. c is the class that it must have had, nil if that is not known.
func msgGone(h *order.Handle, c *order.Shape) string {
	switch {
	case h.Shape != nil:
		return msgDeleted(h)
	case c != nil:
		return "actor " + c.Name + " was deleted"
	}
	return "the actor was deleted"
}

// AbortError is the failure of an event: by abort, a failed require, or a fault.
type AbortError struct {
	// Msg is what the program gets to see in catch, no more and no less.
	Msg string
	// Event is the event that was undone.
	Event event.EventID
	// Fault is set for a run-time fault, unset for abort, require and assert.
	Fault bool
	// Path leads from where the abort happened outwards through the methods of all
	// actors that the event was in, across async calls. Frames of the runtime are left out.
	Path []callpath.Frame
	// Cause is what a panic in Go code had carried, if it was an error.
	Cause error
}

// Error returns the message alone.
func (e *AbortError) Error() string { return e.Msg }

// AbortMessage returns the message that a client's catch gets.
func (e *AbortError) AbortMessage() string { return e.Msg }

// Unwrap returns the cause.
func (e *AbortError) Unwrap() error { return e.Cause }

// Pos returns where the abort happened, the zero Frame if it is not known.
func (e *AbortError) Pos() callpath.Frame {
	if len(e.Path) == 0 {
		return callpath.Frame{}
	}
	return e.Path[0]
}

// At returns Pos as file:line, "" if it is not known.
func (e *AbortError) At() string {
	if len(e.Path) == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", e.Path[0].File, e.Path[0].Line)
}

// Trace returns the call path, one frame a line, innermost first.
func (e *AbortError) Trace() string {
	var b strings.Builder
	for _, f := range e.Path {
		fmt.Fprintf(&b, "\t%s\n", f)
	}
	return b.String()
}

// ErrClosed is the failure of an event on a system that is closing: it has not happened.
var ErrClosed = state.ErrClosed

// ErrPostponed is the ErrClosed of a chain of tail calls that has begun: what its first steps did stays, and it goes on
// when the store is opened again. This answer is as reliable as any other.
var ErrPostponed = fmt.Errorf("%w: the chain has begun, and goes on when the store is opened again", ErrClosed)

// LimitError says that an event exceeded a bound.
type LimitError struct {
	Limit  string // the name of the bound in Config, which programs in aeon do not name
	Max    int64
	what   string
	remedy string
}

// tooDeep and tooLong are the bounds on what one step does.
func tooDeep(calls int64) *LimitError {
	return &LimitError{Limit: "DepthMax", Max: calls, what: "nested calls", remedy: "see that the recursion ends, or write it as a loop"}
}

func tooLong(rounds int64) *LimitError {
	return &LimitError{Limit: "FuelMax", Max: rounds, what: "loop iterations in one step", remedy: "see that the loop ends, or go on in a later step, by `tail` or `event`"}
}

// Error says what there is too much of, and what to do.
func (e *LimitError) Error() string {
	return fmt.Sprintf("too many %s: the limit is %d, and no flag changes it; %s", e.what, e.Max, e.remedy)
}

// AbortMessage returns the message that a client's catch gets.
func (e *LimitError) AbortMessage() string { return e.Error() }

// waitForSome is the remedy where a client has issued more than can be done.
const waitForSome = "wait for the results of some events before issuing others"

// UnknownError is the failure of an event whose outcome is unknown, because the store has
// failed before it was durable: the process is ending.
type UnknownError = state.UnknownError

// ErrNoStore refuses sessions, requests with keys, and snapshots of a system that keeps nothing.
var ErrNoStore = errors.New("the system keeps its state in memory only; sessions, requests with keys and snapshots need a store")

// ErrClass is wrapped by the error for rows that this program has no class for.
var ErrClass = state.ErrClass
