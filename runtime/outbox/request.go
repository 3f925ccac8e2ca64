package outbox

import (
	"errors"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Request is a request that may come again, while it is performed. Its session, or the requests that have keys, see to it
// that at most one event performs it.
type Request struct {
	event.Request
	claims  claims
	claimed bool // no other event performs it
	stored  bool // the outcome is in a batch
	left    bool // its chain goes on when the store is opened again
}

// claims are of a session, or of the requests that have keys.
type claims interface {
	// claim reports whether the caller is the first to claim the request, which has no outcome.
	claim(*event.Request) bool
	// write puts the outcome of a claimed request into the batch of w.
	write(*row.Writer, *event.Request, *event.Outcome)
	// end ends the claim, and wakes the callers that wait for it. A request that is left stays claimed.
	end(r *event.Request, stored, left bool)
}

// Claim claims the request for the calling event, which holds the target or has found it deleted. It reports false if
// another event has claimed it: the request has run, or runs, or is over. The lock of the target does not suffice:
// readers share it, and a chain releases it before its end.
func (r *Request) Claim() bool {
	r.claimed = r.claimed || r.claims.claim(&r.Request) // true by an earlier attempt
	return r.claimed
}

// WriteOutcome writes how the request has ended.
func (r *Request) WriteOutcome(w *row.Writer, o *event.Outcome) {
	assert.That(r.claimed, "outbox: the outcome of a request that no event has claimed")
	w.Begin()
	r.claims.write(w, &r.Request, o)
	w.Set()
	r.stored = true
}

// Postpone leaves the request to the next opening of the store, when its chain goes on.
func (r *Request) Postpone() { r.left = true }

// End wakes the callers that have sent the same request again. A postponed request stays claimed: the row of its chain
// names it.
func (r *Request) End() {
	if r.claimed {
		r.claims.end(&r.Request, r.stored, r.left)
	}
}

// ErrRepeated ends an event that has found under its target's lock that its request is not its own to perform.
var ErrRepeated = errors.New("the request has run or is running")

// replayed has replay read the outcome of a request, which is under a key of a store, and returns its error as the client gets it.
func replayed(s *store.Store, of *event.Request, key []byte, o *event.Outcome, replay func(*event.Outcome) error) error {
	err := replay(o)
	abort, changed := new(event.AbortError), new(event.ResultError)
	switch {
	case err == nil, errors.As(err, &abort):
		return err
	case errors.As(err, &changed):
		changed.Session, changed.Seq = of.Session, of.Seq
		return err
	}
	return unread(s, row.Damage(key, err))
}

// unread is the failure of a request whose outcome could not be read.
func unread(s *store.Store, err error) error {
	s.Fail(err)
	return &event.UnknownError{Cause: err}
}

// Ending is what has become of a request that an event has found claimed.
type Ending uint8

// The endings.
const (
	Over    Ending = iota // it was acknowledged
	Refused               // it was not run, and may be performed
	Ended                 // it has an outcome, which is stored
	Left                  // it is left to the next opening of the store
	Runs                  // it has not ended
)
