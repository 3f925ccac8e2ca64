// Package aeon runs programs that were written in aeon inside of programs in Go. `aeonc gen` writes a Go package of a
// program, which opens it and calls its actors:
//
//	db, err := bank.Open(ctx, aeon.Dir("data"))
//	defer db.Close()
//	n, err := db.Bank("main").Deposit(ctx, "ann", 5, aeon.Once(requestID))
package aeon

import (
	"io"
	"log/slog"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/godoor"
)

// DB is an open program. Any goroutine may use it.
type DB = godoor.DB

// Option says how a program is opened. Either Dir or InMemory must be there.
type Option = godoor.Option

// Dir keeps the state of a program in a directory, which is made if it does not exist. One open program at a time may have it.
func Dir(dir string) Option { return godoor.Dir(dir) }

// InMemory keeps the state of a program in memory: it is gone when the program is closed.
func InMemory() Option { return godoor.InMemory() }

// DropFields gives up what is stored in these fields, as bank.Account.note, which the program does not have any more. Without it a program that
// has lost a field does not open what was stored with it.
func DropFields(fields ...string) Option { return godoor.DropFields(fields...) }

// Logger takes what the runtime has to say, such as events that have failed and that no caller awaits; without it that
// goes to slog.Default().
func Logger(log *slog.Logger) Option { return godoor.Logger(log) }

// Stdout takes what the program prints; without it that goes to os.Stdout.
func Stdout(w io.Writer) Option { return godoor.Stdout(w) }

// Spans takes what events do, as spans of OpenTelemetry (docs/spans.md): each Write gets a line, a request of OTLP in JSON, which is for a file or
// for a collector at /v1/traces. One goroutine at a time writes, and no call waits for it; what does not fit while it writes is dropped and counted.
func Spans(w io.Writer) Option { return godoor.Spans(w) }

// MetricsContentType is the type of what WriteMetrics of an open program writes, for the header Content-Type.
const MetricsContentType = godoor.MetricsContentType

// CallOption says how a call is performed.
type CallOption = godoor.CallOption

// Once makes a call take effect once, however often it comes, through crashes: the key names the request, and its client has
// chosen the key for this request alone. A call that comes again with its key, to the same actor, gets the first outcome, and
// one that comes with the key of another one is ErrKeyReused. An outcome is kept for a day at least, however often it is asked for;
// then the key is as good as new.
func Once(key string) CallOption { return godoor.Once(key) }

// Traceparent makes a call part of a trace, with the span that a header traceparent of W3C Trace Context names as its parent, if the program
// was opened with Spans. A value that is none begins a trace.
func Traceparent(header string) CallOption { return godoor.Traceparent(header) }

// Handle is what the handles of all classes have in common. Handles are comparable, the zero handle leads to no actor, and the
// text of one is Class/name or Class:id. One that was read from JSON can be passed to a program, which looks the actor up.
type Handle = godoor.Handle

// Client receives callbacks: the generated package makes objects of it, one for each implementation of a client class, which
// are passed to methods. NewClient of an open program makes one, and Close ends it. The callbacks of all its objects come one at
// a time, in the order in which their events have committed, each once, when what they tell of is durable.
type Client = godoor.Client

// ClientOption says how a client is made.
type ClientOption = godoor.ClientOption

// KeptMax bounds the callbacks of a client that wait, as one before them has not returned: their number, and the bytes of their
// arguments; without it 10 000 and 1 MiB. Beyond it the client ends, and its Err is ErrOverflow: a gap could not be seen.
func KeptMax(callbacks int, bytes int64) ClientOption { return godoor.KeptMax(callbacks, bytes) }

// ClientObject is what the objects of all client classes have in common. They are comparable, and the zero one is null.
type ClientObject = godoor.ClientObject

// Keys of maps that encoding/json cannot write by itself, or not without loss.
type (
	BytesKey = godoor.BytesKey
	BoolKey  = godoor.BoolKey
)

// Error is how a call has failed. Its fields: Code, as docs/http.md lists them; Msg, the program's message; At, its line, and Path, the
// lines of the calls that led there; Happened, what is certain; Later, whether it may succeed later. errors.As finds it, and
// errors.Is tells the kinds below apart. A call that has ended with its context has not happened, and is context.Canceled or
// context.DeadlineExceeded.
type Error = godoor.Error

// What is certain of a call that has failed, in Error.Happened.
const (
	No      = door.No      // nothing of it has happened
	Yes     = door.Yes     // it has happened, whole
	Begun   = door.Begun   // the first steps of its chain have happened, and the others will
	Partly  = door.Partly  // the first steps of its chain have happened, and nothing else will
	Unknown = door.Unknown // it has happened whole or not at all, or it is a chain that goes on, or has ended, in another store
)

// The kinds of failures.
var (
	ErrAborted     = godoor.ErrAborted     // by the program: abort, require, assert; it has not happened, or Partly
	ErrFault       = godoor.ErrFault       // a fault of the program, such as an index out of range or too many steps; it has not happened, or Partly
	ErrUnknown     = godoor.ErrUnknown     // the store has failed: send it again, with its key, when the program is open again; or the same call, with its key, has not ended: send it again
	ErrClosed      = godoor.ErrClosed      // the program is closed or closing
	ErrUnavailable = godoor.ErrUnavailable // too many calls wait; it has not happened, and may succeed later
	ErrKeyReused   = godoor.ErrKeyReused   // the key was used for another request; it has not happened
	ErrOverflow    = godoor.ErrOverflow    // of a client, whose Err it is: too many callbacks have waited
	ErrArguments   = godoor.ErrArguments   // an argument cannot be passed, such as a handle of another open program
)
