package client

import "errors"

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

// The codes with which a client gives a call up.
const (
	Unavailable = "unavailable" // no node has performed it
	NoOutcome   = "unknown"     // one may have, and none has answered
)

// Error is how a call has failed.
type Error struct {
	Code     string // as docs/http.md lists them
	Msg      string
	Happened Happened
	At       string   // file:line of the program; "": it is not the program that has failed
	Path     []string // the calls that led there, the innermost first

	outcome bool // it is that of the call, whichever sending has brought it about
	cause   error
}

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.cause != nil:
		return e.Msg + ": " + e.cause.Error()
	case e.Happened == No || e.Happened == "":
		return e.Msg
	}
	return e.Msg + "; " + happenings[e.Happened]
}

var happenings = map[Happened]string{Yes: "the call has happened", Begun: "the call has begun, and goes on", Partly: "the first steps of the call have happened", Unknown: "the call has happened whole or not at all, or is a chain that goes on, or has ended, in another store"}

// Unwrap returns what the last sending has failed with, if no node has answered it: the failure that one has answered would be taken for that of the call.
func (e *Error) Unwrap() error {
	if _, is := errors.AsType[*Error](e.cause); is {
		return nil
	}
	return e.cause
}

// Is has errors.Is find the kinds of errors.
func (e *Error) Is(kind error) bool {
	return kind == ErrUnavailable && e.Code == Unavailable || kind == ErrUnknown && e.Code == NoOutcome
}

// How a call ends that no node has answered.
var (
	ErrUnavailable = errors.New("no node has performed the call") // it has not happened
	ErrUnknown     = errors.New("no node has answered the call")  // it has happened, or not
)
