package across

import (
	"errors"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// The causes of failures that cross stores. They are those by which clients and doors tell failures apart: a bound that was exceeded is another code
// than a fault; a cancelled event another than an abort; a bug of the runtime says so; and an unknown outcome is nothing that a program may catch. Any
// other cause, an error of Go code or the cycle of an ownership, does not cross: its text is the message already, nothing of the runtime asks for it, and
// the outcome of a request that is stored has no cause either.
const (
	noCause = iota
	cancelled
	limit
	bug
	unknown
	causes
)

func putFailure(e *codec.Encoder, f *event.AbortError) {
	// Invariant: the failure is one of a call. That of a whole chain is told where the chain has ended.
	assert.That(!f.Partly, "across: the failure of a chain is sent as that of a call")
	e.String(f.Msg)
	putEvent(e, f.Event)
	e.Bool(f.Fault)
	e.Uint(uint64(len(f.Path)))
	for _, p := range f.Path {
		e.String(p.Func)
		e.String(p.File)
		e.Int(int64(p.Line))
	}
	var (
		tooMuch *event.LimitError
		failed  assert.Failure
		lost    *event.UnknownError
	)
	switch err := f.Cause; {
	case err == nil:
		e.Uint(noCause)
	case errors.Is(err, order.ErrCancelled):
		e.Uint(cancelled)
	case errors.As(err, &tooMuch):
		e.Uint(limit)
		e.String(tooMuch.Limit)
		e.Int(tooMuch.Max)
		e.String(tooMuch.What)
		e.String(tooMuch.Remedy)
	case errors.As(err, &failed):
		e.Uint(bug)
		e.String(failed.Msg)
	case errors.As(err, &lost):
		e.Uint(unknown)
		putEvent(e, lost.Event)
		why := ""
		if lost.Cause != nil {
			why = lost.Cause.Error()
		}
		e.String(why)
	default:
		e.Uint(noCause)
	}
}

func getFailure(d *codec.Decoder) *event.AbortError {
	f := &event.AbortError{Msg: d.String(), Event: getEvent(d), Fault: d.Bool()}
	f.Path = list(d, func(d *codec.Decoder) callpath.Frame {
		return callpath.Frame{Func: d.String(), File: d.String(), Line: getInt(d)}
	})
	switch d.Enum(causes) {
	case cancelled:
		f.Cause = order.ErrCancelled
	case limit:
		f.Cause = &event.LimitError{Limit: d.String(), Max: d.Int(), What: d.String(), Remedy: d.String()}
	case bug:
		f.Cause = assert.Failure{Msg: d.String()}
	case unknown:
		u := &event.UnknownError{Event: getEvent(d)}
		if why := d.String(); why != "" {
			u.Cause = errors.New(why)
		}
		f.Cause = u
	}
	return f
}
