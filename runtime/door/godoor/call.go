package godoor

import (
	"context"
	"errors"
	"strings"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/value"
)

// CallOption says how a call is performed.
type CallOption struct {
	key    string
	once   bool
	parent string // a traceparent; "": none
}

// Traceparent makes a call part of a trace, with the span that a header traceparent of W3C Trace Context names as its parent, if
// the program was opened with Spans. A value that is none begins a trace.
func Traceparent(header string) CallOption { return CallOption{parent: header} }

// Once makes a call take effect once, however often it comes, through crashes: the key names the request, and its client has
// chosen the key for this request alone. A call that comes again with its key, to the same actor, gets the first outcome. A
// call that comes with the key of another one is ErrKeyReused. An outcome is kept for a day at least, however often it is asked
// for; then the key is as good as new.
func Once(key string) CallOption { return CallOption{key: key, once: true} }

const msgNoContext = "the context of the call is nil; pass context.Background() where there is none"

const msgNoActor = "the handle is that of no actor that can be called; get one from an open program"

// Call performs a call of m on the actor of h. args take the result. Most calls have no options and a context that does not
// end: nothing else is here, and h is a pointer, as to copy what only others need takes a tenth of such a call.
func Call(ctx context.Context, h *Handle, m *aeonrt.Method, args aeonrt.Args, opts []CallOption) error {
	if ctx == nil || h.db == nil || h.class != m.Class {
		return uncallable(ctx, *h, m)
	}
	if len(opts) > 0 || h.db.sim != nil || ctx.Done() != nil {
		return callWith(ctx, h.db, &aeonrt.Call{Target: h.ref, Method: m, Args: args}, opts)
	}
	if _, err := h.db.sys.Perform(&aeonrt.Call{Target: h.ref, Method: m, Args: args}); err != nil {
		return failed(ctx, err)
	}
	return nil
}

// Fetch is Call of a method whose result may have to be read from the store, such as a large map. read does that before the store is closed.
func Fetch(ctx context.Context, h *Handle, m *aeonrt.Method, args aeonrt.Args, opts []CallOption, read func()) error {
	if h.db == nil {
		return uncallable(ctx, *h, m)
	}
	h.db.reads.RLock()
	defer h.db.reads.RUnlock()
	if err := Call(ctx, h, m, args, opts); err != nil {
		return err
	}
	if lost := value.Try(read); lost != nil {
		return failed(ctx, &aeonrt.UnknownError{Cause: lost})
	}
	return nil
}

// callWith performs a call that may have options, a context that ends, or be in a test.
func callWith(ctx context.Context, db *DB, c *aeonrt.Call, opts []CallOption) error {
	if err := choose(c, db, opts); err != nil {
		return err
	}
	if db.sim != nil {
		return callSimulated(ctx, db, c)
	}
	if ctx.Done() == nil {
		if _, err := db.sys.Perform(c); err != nil {
			return failed(ctx, err)
		}
		return nil
	}
	return callUntil(ctx, db, c)
}

// uncallable refuses a call that names no actor of the class of m.
func uncallable(ctx context.Context, h Handle, m *aeonrt.Method) error {
	switch {
	case ctx == nil:
		return invalid(msgNoContext)
	case h.db == nil:
		return invalid(msgNoActor)
	}
	return invalid("%v is no %s", h, m.Class.Name)
}

// choose has a call performed as its options say.
func choose(c *aeonrt.Call, db *DB, opts []CallOption) error {
	for _, o := range opts {
		if !o.once {
			if parent := span.Parse([]string{o.parent}, nil); db.spans != nil && parent.Valid() {
				c.From = &span.Origin{Parent: parent}
			}
			continue
		}
		switch {
		case o.key == "":
			return invalid("the key of Once is empty, so it would not tell this request from others")
		case len(o.key) > door.KeyMax:
			return invalid("the key of Once has %d bytes, and at most %d fit", len(o.key), door.KeyMax)
		case strings.IndexByte(o.key, 0) >= 0:
			return invalid("the key of Once has a byte 0")
		case c.Key != "":
			return invalid("the call has two keys: Once is given twice")
		}
		c.Key = o.key
	}
	return nil
}

// callSimulated performs a call in a test. It takes no time, so ctx can prevent it alone.
func callSimulated(ctx context.Context, db *DB, c *aeonrt.Call) error {
	if ctx.Err() != nil {
		return failed(ctx, order.ErrCancelled)
	}
	db.enter()
	defer db.leave()
	seen, err := db.sys.Perform(c)
	if err != nil {
		db.sim.told(0)
		return failed(ctx, err)
	}
	db.sim.told(seen)
	return nil
}

// callUntil performs a call that is undone if ctx ends before it.
func callUntil(ctx context.Context, db *DB, c *aeonrt.Call) error {
	if ctx.Err() != nil {
		return failed(ctx, order.ErrCancelled)
	}
	guarded := db.door.Guard(ctx, 0)
	c.Cancel = &guarded.Cancellation
	_, err := db.sys.Perform(c)
	guarded.End()
	if err != nil {
		return failed(ctx, err)
	}
	return nil
}

// New makes an actor without a name, in an event of its own; m is the constructor of c. ctx can prevent it, not undo it.
func New(ctx context.Context, db *DB, c *aeonrt.Class, m *aeonrt.Method, args aeonrt.Args) (Handle, error) {
	if ctx == nil {
		return Handle{}, invalid(msgNoContext)
	}
	if ctx.Err() != nil {
		return Handle{}, failed(ctx, order.ErrCancelled)
	}
	db.enter()
	r, err := db.maker.New(c, m, args)
	if db.sim != nil {
		db.sim.told(0)
	}
	db.leave()
	if err != nil {
		return Handle{}, failed(ctx, err)
	}
	return Handle{db: db, ref: r, class: c}, nil
}

// The kinds of failures, for errors.Is.
var (
	ErrAborted     = errors.New("the program has aborted the call")
	ErrFault       = errors.New("the program has a fault")
	ErrUnknown     = errors.New("the outcome of the call is unknown")
	ErrClosed      = errors.New("the program is closed")
	ErrUnavailable = errors.New("too many calls wait")
	ErrKeyReused   = errors.New("the key was used for another request")
	ErrArguments   = errors.New("the call cannot be made with these arguments")
)

// cancelled is the code of calls whose context was cancelled. Other doors have no such code, as the caller has gone.
const cancelled = "cancelled"

// kinds are the kinds of failures by their codes.
var kinds = map[string]error{
	door.Aborted: ErrAborted, door.Fault: ErrFault, door.TooMuch: ErrFault, door.Full: ErrUnavailable, door.KeyReused: ErrKeyReused,
	door.NotThere: ErrArguments, door.BadArgs: ErrArguments, door.NoOutcome: ErrUnknown, door.Closing: ErrClosed,
}

// Error is how a call has failed. errors.Is tells the kinds apart.
type Error struct {
	door.Failure
	kind  error // nil: none
	cause error
}

// Error says why the call has failed; for an abort that is the program's message alone.
func (e *Error) Error() string { return e.Msg }

// Unwrap returns the kind of the failure, and what the runtime has said.
func (e *Error) Unwrap() []error {
	if e.kind == nil {
		return []error{e.cause}
	}
	return []error{e.kind, e.cause}
}

// failed tells how a call has failed.
func failed(ctx context.Context, err error) error {
	e := &Error{Failure: *door.Explain(err), cause: err}
	e.kind = kinds[e.Code]
	switch {
	case e.kind == ErrClosed:
		e.Msg = ErrClosed.Error()
	case e.Code == door.TimedOut && ctx.Err() != nil:
		e.kind, e.Msg = ctx.Err(), "the call was undone: "+context.Cause(ctx).Error()
		if e.kind == context.Canceled {
			e.Code, e.Later = cancelled, false
		}
	}
	if errors.Is(err, aeonrt.ErrNoStore) {
		e.Failure, e.kind = door.Failure{Code: door.BadArgs, Happened: door.No, Msg: "Once needs a store; run `aeonc gen` without --memory-only"}, ErrArguments
	}
	return e
}
