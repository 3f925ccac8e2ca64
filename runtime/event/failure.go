package event

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/callpath"
)

// MsgGoexit is why an event has failed whose Go code has ended its goroutine.
const MsgGoexit = "runtime.Goexit called in an event"

// AbortError is the failure of an event: by abort, a failed require, or a fault.
type AbortError struct {
	// Msg is what the program gets to see in catch, no more and no less.
	Msg string
	// Event is the event that was undone.
	Event EventID
	// Fault is set for a run-time fault, unset for abort, require and assert.
	Fault bool
	// Partly: the event was a step behind the first of its chain. What the steps before it did stays.
	Partly bool
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

// Places returns the places of the path as users read them, the innermost first, up to a number.
func (e *AbortError) Places(most int) (list []string) {
	for _, f := range e.Path[:min(len(e.Path), most)] {
		list = append(list, f.Short())
	}
	return list
}

// OwnError returns a copy of err for one caller: several may get one failure, and its fields can be written.
func OwnError(err error) error {
	if e, ok := err.(*AbortError); ok {
		own := *e
		own.Path = slices.Clone(e.Path)
		return &own
	}
	return err
}

// BehindFirst returns the failure of a step behind the first of a chain.
func BehindFirst(err error) error {
	if abort := (*AbortError)(nil); errors.As(err, &abort) {
		abort.Partly = true
	}
	return err
}

// Outcome returns the abort as the outcome of a request, of an event or of a step behind the first of a chain. The places are not part of it.
func (e *AbortError) Outcome(behind bool) Outcome {
	o := Outcome{Kind: Abort, Data: []byte(e.Msg)}
	if e.Fault {
		o.Kind = Fault
	}
	if behind {
		o.Kind = o.Kind.BehindFirst()
	}
	return o
}

// Failed returns the abort that an outcome has, nil if it has a result.
func (o *Outcome) Failed() *AbortError {
	if o.Kind == Result {
		return nil
	}
	return &AbortError{Msg: string(o.Data), Fault: o.Kind == Fault || o.Kind == FaultBehind, Partly: o.Kind >= AbortBehind}
}

// ErrClosed is the failure of an event on a system that is closing: it has not happened.
var ErrClosed = errors.New("the system is closed")

// NotBegun returns the ErrClosed of an event that has not begun, as the store had failed before; why is the error of the store.
func NotBegun(why error) error {
	return fmt.Errorf("%w, and the event has not begun: %w", ErrClosed, why)
}

// ErrPostponed is the ErrClosed of a chain of tail calls that has begun: what its first steps did stays, and it goes on
// when the store is opened again. This answer is as reliable as any other.
var ErrPostponed = fmt.Errorf("%w: the chain has begun, and goes on when the store is opened again", ErrClosed)

// LimitError says that an event exceeded a bound.
type LimitError struct {
	Limit  string // the name of the bound in the configuration, which programs in aeon do not name
	Max    int64
	What   string // what there is too much of
	Remedy string
}

// TooDeep is the failure of a branch with more nested calls than it may have.
func TooDeep(calls int64) *LimitError {
	return &LimitError{Limit: "DepthMax", Max: calls, What: "nested calls", Remedy: "see that the recursion ends, or write it as a loop"}
}

// TooLong is the failure of a branch with more rounds of loops than it may have.
func TooLong(rounds int64) *LimitError {
	return &LimitError{Limit: "FuelMax", Max: rounds, What: "loop iterations in one step", Remedy: "see that the loop ends, or go on in a later step, by `tail` or `event`"}
}

// waitForSome is the remedy where a client has issued more than can be done.
const waitForSome = "wait for the results of some events before issuing others"

// TooManyIssued refuses an event of a client while so many are issued and not awaited.
func TooManyIssued(events int64) *LimitError {
	return &LimitError{Limit: "EventsMax", Max: events, What: "events issued", Remedy: waitForSome}
}

// TooManyWaiting refuses an event while so many wait for an actor, or at a place in the sequencing tree.
func TooManyWaiting(events int64, at string) *LimitError {
	return &LimitError{Limit: "QueueDepthMax", Max: events, What: "events waiting for " + at, Remedy: waitForSome}
}

// Error says what there is too much of, and what to do.
func (e *LimitError) Error() string {
	return fmt.Sprintf("too many %s: the limit is %d, and no flag changes it; %s", e.What, e.Max, e.Remedy)
}

// AbortMessage returns the message that a client's catch gets.
func (e *LimitError) AbortMessage() string { return e.Error() }

// AwayError says that an answer of another store was not waited for any longer.
type AwayError struct {
	Store   StoreID
	Reached bool   // its leader is; else it has none, or this node is cut off from it
	Lacks   string // the method that the version of the program does not have which runs there; "": that is not why
	Cause   error  // why it was not
}

// Error implements error.
func (e *AwayError) Error() string {
	if e.Lacks != "" {
		return fmt.Sprintf("store %d runs a version of the program that has no %s, or one with other types: start all nodes with one version", e.Store, e.Lacks)
	}
	if e.Reached {
		return fmt.Sprintf("store %d has not answered in time", e.Store)
	}
	return fmt.Sprintf("store %d is away: it has no leader that is reached", e.Store)
}

// Unwrap returns the cause.
func (e *AwayError) Unwrap() error { return e.Cause }

// UnknownError is the failure of an event whose outcome is unknown. Either the store has failed before the
// event was durable: the process is ending, and when the program runs again the event may have happened, or not.
// Or the event has begun a chain, and the connection was lost with a store in which that may go on: it does, or has ended.
type UnknownError struct {
	Event EventID
	Cause error
}

// Error implements error.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("the outcome of the event is unknown: %v", e.Cause)
}

// AbortMessage returns the message that a client's catch gets.
func (e *UnknownError) AbortMessage() string { return e.Error() }

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Cause }

// Errors of requests that are refused. None of them has run.
var (
	// ErrSessionExpired refuses requests of a session that is not there: it has not been used
	// for a time that the system says, or never began.
	ErrSessionExpired = errors.New("the session has expired, or was never begun")
	// ErrAcknowledged refuses a request whose outcome the client has acknowledged.
	ErrAcknowledged = errors.New("the outcome of the request was acknowledged before")
	// ErrKeyReused refuses a request that has come before with another method or other arguments.
	ErrKeyReused = errors.New("the key was used for another request to this actor")
)

// ErrUnderWay answers a request with a key that has come before, when it cannot wait for the end of what performs it.
var ErrUnderWay = errors.New("the request came before with this key, and has not ended yet; send it again with the key for its outcome")

// ResultError refuses a request of a durable session that has run, with an outcome that the program cannot
// read any more.
type ResultError struct {
	Session   string
	Seq       uint64 // 0: Session is the key of a request by itself
	Then, Now string // the methods, with their types
	Reason    string
}

// Error implements error.
func (e *ResultError) Error() string {
	if e.Seq == 0 {
		return fmt.Sprintf("the request %q has run, and its outcome, of %s, cannot be read as one of %s: %s; ask the version before for it",
			e.Session, e.Then, e.Now, e.Reason)
	}
	return fmt.Sprintf("request %d of session %q has run, and its outcome, of %s, cannot be read as one of %s: %s; ask the version before for it, or acknowledge it",
		e.Seq, e.Session, e.Then, e.Now, e.Reason)
}

// PathOf returns the call path of err. An error without one, as that of an event that has not begun, gets the path of
// the caller's stack.
func PathOf(err error) []callpath.Frame {
	var abort *AbortError
	if errors.As(err, &abort) && len(abort.Path) > 0 {
		return abort.Path
	}
	return callpath.Here()
}
