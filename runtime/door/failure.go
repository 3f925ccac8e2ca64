package door

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Happened says what is certain of a call that has failed.
type Happened string

// What is certain.
const (
	No      Happened = "no"      // nothing of it has happened
	Yes     Happened = "yes"     // it has happened, whole
	Begun   Happened = "begun"   // the first steps of its chain have happened, and the others will
	Partly  Happened = "partly"  // the first steps of its chain have happened, and nothing else will
	Unknown Happened = "unknown" // it has happened whole or not at all, or it is a chain that goes on, or has ended, in another store
)

// Failure is how a call has failed, for its caller.
type Failure struct {
	Code     string // a word that programs can rely on
	Msg      string
	Happened Happened
	At       string   // file:line of the program's source; "" if the failure is not the program's
	Path     []string // the calls that led there, the innermost first
	Later    bool     // it may succeed if it is sent again later
	Away     bool     // a store that the call is about is away, or the same request has not ended: that was waited for, and another sending of what is forwarded would wait as long
}

// The codes of failures.
const (
	Aborted   = "aborted"     // by the program: abort, require, assert
	Fault     = "fault"       // of the program: an index out of range, a deleted actor
	TooMuch   = "limit"       // the program has exceeded a limit of an event
	Full      = "full"        // too many events wait
	TimedOut  = "timeout"     // undone at the end of its time
	KeyReused = "key-reused"  // the key was used for another request
	NotThere  = "not-found"   // no such class, method, actor or client
	NoClient  = "no-client"   // an argument refers to a client that is not there
	Forgotten = "forgotten"   // the callbacks that are asked for are not kept any more
	BadArgs   = "arguments"   // the arguments cannot be read
	NoOutcome = "unknown"     // the store has failed; or the same request is under way; or the failure is none that is known here
	Closing   = "unavailable" // the program is ending
	BadResult = "result"      // the result cannot be written, or not be read any more

	// Of requests that are refused before their arguments are read.
	Unauthenticated = "unauthenticated" // it has no token that is known
	Forbidden       = "forbidden"       // the rights of its caller do not reach the method
	TooLarge        = "too-large"       // its arguments are
)

// Refusal is the error of a request that a door has refused, so that it has not happened. Explain returns its Failure.
type Refusal struct{ Failure }

// Error implements error.
func (e *Refusal) Error() string { return e.Msg }

// Refuse returns a Refusal. It says that the request may succeed later if the code is Full or TimedOut.
func Refuse(code, format string, args ...any) error {
	return &Refusal{Failure{Code: code, Happened: No, Later: code == Full || code == TimedOut, Msg: fmt.Sprintf(format, args...)}}
}

// Explain tells how a call has failed.
func Explain(err error) *Failure {
	if refused := new(Refusal); errors.As(err, &refused) {
		return &refused.Failure
	}
	f := &Failure{Msg: err.Error(), Happened: No}
	var (
		abort   *event.AbortError
		limit   *event.LimitError
		lost    *event.UnknownError
		result  *ResultError
		changed *event.ResultError
		missing *NotFoundError
		wrong   *jsoncodec.Error
		key     *KeyError
		client  *NoClientError
		full    *FullError
		from    *FromError
		away    *event.AwayError
	)
	switch {
	case errors.Is(err, order.ErrCancelled):
		f.Code, f.Msg, f.Later = TimedOut, "the call has not ended in time, and was undone", true
		if errors.As(err, &away) {
			f.Msg += "; " + away.Error()
		}
	case errors.As(err, &away):
		f.Code, f.Later, f.Away = Closing, true, true
		f.Msg = away.Error() + ", and the call asks for something there; `aeond status` says what that store lacks, and the call can be sent again when it is there"
	case errors.As(err, &abort):
		f.Code = Aborted
		switch {
		case errors.As(err, &limit): // that is its cause
			f.Code = TooMuch
		case abort.Fault:
			f.Code = Fault
		}
		for _, p := range abort.Path {
			f.Path = append(f.Path, p.Short())
		}
		if len(f.Path) > 0 {
			f.At, _, _ = strings.Cut(f.Path[0], " ")
		}
	case errors.As(err, &limit): // before it has begun
		f.Code, f.Later = Full, true
	case errors.As(err, &lost):
		f.Code, f.Happened, f.Later = NoOutcome, Unknown, true
	case errors.Is(err, event.ErrUnderWay):
		f.Code, f.Happened, f.Later, f.Away = NoOutcome, Unknown, true, true
	case errors.Is(err, event.ErrPostponed):
		f.Code, f.Happened, f.Later = Closing, Begun, true
	case errors.Is(err, event.ErrClosed):
		f.Code, f.Later = Closing, true
	case errors.Is(err, event.ErrKeyReused):
		f.Code = KeyReused
	case errors.As(err, &result), errors.As(err, &changed):
		f.Code, f.Happened = BadResult, Yes
	case errors.As(err, &client):
		f.Code = NoClient
	case errors.As(err, &full):
		f.Code, f.Later = Full, true
	case errors.As(err, &from):
		if f.Code = BadArgs; from.Forgotten {
			f.Code = Forgotten
		}
	case errors.As(err, &wrong), errors.Is(err, codec.ErrCorrupt), errors.As(err, &key):
		f.Code = BadArgs
	case errors.As(err, &missing):
		f.Code = NotThere
	default:
		f.Code, f.Happened, f.Later = NoOutcome, Unknown, true
	}
	if errors.As(err, &abort) && abort.Partly {
		if f.Happened, f.Later = Partly, false; f.Code == TimedOut {
			f.Msg = "the call has not ended in time: the step that ran was undone, and what the steps before it did stays"
		}
	}
	return f
}
