// Package door lets callers outside of a program call the methods of its actors: it finds classes, actors and methods by
// their names, reads arguments and writes results as JSON, and tells how a call has ended. What carries the calls is
// above it: package httpdoor for HTTP.
package door

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
	"github.com/aeon-lang/aeon/runtime/watch"
)

// Door is the border of one system, which has a store. Any goroutine may use it.
type Door struct {
	*Program
	Remotes *Remotes // the clients outside that receive callbacks
	sys     *exec.System
	namer   *exec.Client // looks up actors
	guards  guards
}

// Config says what a door opens to. The system has the classes of the program.
type Config struct {
	System  *exec.System
	Program *Program
	Limits  RemoteLimits // of Door.Remotes
}

// Open returns the border of a system.
func Open(cfg Config) *Door {
	d := &Door{Program: cfg.Program, sys: cfg.System, namer: cfg.System.Client()}
	d.Remotes = newRemotes(d, cfg.Limits)
	return d
}

// Actor returns an actor of c by its key: its name, or a colon and its id if it has no name. An actor with a name need not
// be there: its first event creates it. The error is a *NotFoundError, or an *event.AwayError.
func (d *Door) Actor(ctx context.Context, c *Class, key string) (order.Ref, error) {
	if id, ok := strings.CutPrefix(key, ":"); ok {
		return d.unnamed(ctx, c, id)
	}
	return d.named(ctx, c, key)
}

// ActorOf returns an actor of c by its text, as values have it: Class/name, which may begin with a colon, or Class:id if it has no name. The error is that of
// Actor, or says that the text is neither.
func (d *Door) ActorOf(ctx context.Context, c *Class, text string) (order.Ref, error) {
	find := d.named
	class, key, named := strings.Cut(text, "/")
	if !named {
		class, key, _ = strings.Cut(text, ":")
		find = d.unnamed
	}
	if class != c.Name && class != c.Path() {
		return order.Ref{}, notOf(c.Name, text)
	}
	return find(ctx, c, key)
}

// notOf says that a text is that of no actor of a class.
func notOf(class, text string) error {
	return &jsoncodec.Error{Msg: fmt.Sprintf("%q is no %s: that is %[2]s/NAME, or %[2]s:ID", text, class)}
}

// named finds an actor by its name.
func (d *Door) named(ctx context.Context, c *Class, name string) (order.Ref, error) {
	ctx, cancel := d.within(ctx)
	defer cancel()
	switch {
	case c.Construct == nil:
		return order.Ref{}, notFound("actors of class %s have no names, as its constructor has parameters: say %s/:ID, with the id that the program has given", c.Name, c.Name)
	case name == "":
		return order.Ref{}, notFound("an actor of class %s needs a name that is not empty", c.Name)
	}
	return activation.FindNamed(ctx, d.namer, c.Class, name)
}

// unnamed finds an actor by its id.
func (d *Door) unnamed(ctx context.Context, c *Class, text string) (order.Ref, error) {
	ctx, cancel := d.within(ctx)
	defer cancel()
	id, err := event.ParseActorID(text)
	if err != nil || id.IsNull() {
		return order.Ref{}, notFound("%q is no id of an actor", text)
	}
	gone := id
	r, err := d.sys.Find(id)
	if err != nil {
		return order.Ref{}, err
	}
	if !r.IsNull() {
		class, err := d.sys.ClassOf(ctx, r)
		if err != nil || class == c.Path() {
			return r, err
		}
		if class != "" { // it is one of another class
			gone = event.ActorID{}
		}
	}
	return order.Ref{}, &NotFoundError{fmt.Sprintf("there is no actor %s:%s", c.Name, text), gone}
}

// Target is Actor for the target of a call that has its key. If the call was performed before, which may have deleted the actor, the
// reference leads to its outcome.
func (d *Door) Target(ctx context.Context, call *Call, c *Class, key string) (order.Ref, error) {
	r, err := d.Actor(ctx, c, key)
	missing, is := errors.AsType[*NotFoundError](err)
	if !is || missing.Gone.IsNull() || call.Key == "" {
		return r, err
	}
	once, wrong := call.key()
	if wrong != nil {
		return r, wrong
	}
	ctx, cancel := d.within(ctx)
	defer cancel()
	switch performed, failed := d.sys.HasPerformed(ctx, missing.Gone, once); {
	case failed != nil:
		return r, failed
	case performed:
		return d.sys.Resolve(missing.Gone), nil
	}
	return r, err
}

// awayMax is how long a question to another store waits for one that has no leader, before its call is performed.
const awayMax = 10 * time.Second

// within bounds the time of such a question, if the system has one of several stores.
func (d *Door) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if !d.IsPartial() {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, awayMax)
}

// View returns the store of the system as it is now, as exec.System.View does.
func (d *Door) View(ctx context.Context) (*exec.View, error) { return d.sys.View(ctx) }

// Follow begins to follow what becomes of events, as exec.System.Follow does.
func (d *Door) Follow(f watch.Filter) *watch.Follower { return d.sys.Follow(f) }

// Serve begins to record a call, whose caller may have a trace. It returns nil if the system records no spans.
func (d *Door) Serve(name string, caller span.Context) *span.Call {
	return d.sys.Spans().Serve(name, caller)
}

// Records reports whether the system records spans.
func (d *Door) Records() bool { return d.sys.Spans() != nil }

// Guard begins to cancel a call when ctx ends or, unless timeMax is 0, after this time. Caller ends it when the call has ended.
func (d *Door) Guard(ctx context.Context, timeMax time.Duration) *Guarded {
	return d.guards.begin(ctx, timeMax)
}

// ForgetDeadLetters is exec.System.ForgetDeadLetters.
func (d *Door) ForgetDeadLetters(ctx context.Context, all bool, events []string) (int, error) {
	return d.sys.ForgetDeadLetters(ctx, all, events)
}

// IsPartial reports whether the system has one of several stores.
func (d *Door) IsPartial() bool { return d.sys.Across() != nil }

// Ready returns why no calls are performed, nil if they are.
func (d *Door) Ready() error { return d.sys.Ready() }

// WriteMetrics writes what the system counts.
func (d *Door) WriteMetrics(w *metrics.Writer) {
	d.sys.WriteMetrics(w)
	if a := d.sys.Across(); a != nil {
		a.WriteMetrics(w)
	}
	d.Remotes.writeMetrics(w)
}

// names are the texts of actors in JSON, and of the clients of one caller.
type names struct {
	*Door
	ctx    context.Context // bounds questions to other stores
	caller string
}

// Actor implements jsoncodec.Names.
func (n names) Actor(class, text string) (event.ActorID, error) {
	c := n.classes.byPath[class]
	if c == nil {
		return event.ActorID{}, notOf(class[strings.LastIndexByte(class, '.')+1:], text)
	}
	r, err := n.ActorOf(n.ctx, c, text)
	if missing, is := errors.AsType[*NotFoundError](err); is && !missing.Gone.IsNull() {
		err = &NoActorError{missing.Msg}
	}
	return r.ID(), err
}

// ActorText implements jsoncodec.Names.
func (n names) ActorText(class string, id event.ActorID) string {
	if r, err := n.sys.Find(id); err == nil && !r.IsNull() && order.HandleOf(r).Shape != nil { // else another store has it
		return order.HandleOf(r).Address()
	}
	return class[strings.LastIndexByte(class, '.')+1:] + ":" + id.String()
}

// Client implements jsoncodec.Names. The error is a *NoClientError, or an *event.AwayError.
func (n names) Client(class, text string) (uint64, error) {
	ctx, cancel := n.within(n.ctx)
	defer cancel()
	if number, ok, err := n.Remotes.number(ctx, n.caller, n.clients.byPath[class], text); ok || err != nil {
		return number, err
	}
	return 0, &NoClientError{fmt.Sprintf("there is no client %q of class %s; begin a client, and give its reference", text, class[strings.LastIndexByte(class, '.')+1:])}
}

// Names returns the texts of actors in JSON, and of the clients of a caller, by its name. Texts are read until ctx ends.
func (d *Door) Names(ctx context.Context, caller string) jsoncodec.Names {
	return names{d, ctx, caller}
}

// Call is one call.
type Call struct {
	Target order.Ref
	Method *Method
	Args   []byte     // as Method.Params reads them
	Key    string     // as exec.Call has it, chosen by Caller, whose keys are its own
	Caller string     // the name of the caller; "": the door does not tell callers apart
	Form   Form       // of the result; nil: Method.Result, which writes JSON
	Span   *span.Call // records the call; nil: nothing does

	TimeMax time.Duration // after which it is cancelled; 0: only its context bounds it
}

// Form writes a result.
type Form interface {
	// Append appends the result that a message of package codec holds. The error says why it has none.
	Append(b, msg []byte, names jsoncodec.Names) ([]byte, error)
}

const (
	// CallerMax is how many bytes the name of a caller has at most.
	CallerMax = 64
	// KeyMax is how many bytes a caller's key has at most.
	KeyMax = row.KeyMax - CallerMax - 1
)

// KeyError refuses the key of a request.
type KeyError struct{ Msg string }

// Error implements error.
func (e *KeyError) Error() string { return e.Msg }

// key returns the key by which the store knows the request.
//
// Invariant: callers of two names never get one, nor does a caller with a name and one without, as a byte 0 is in no name
// and in no key of a caller.
func (c *Call) key() (string, error) {
	assert.That(len(c.Caller) <= CallerMax && strings.IndexByte(c.Caller, 0) < 0, "%q is no name of a caller", c.Caller)
	switch {
	case len(c.Key) > KeyMax:
		return "", &KeyError{fmt.Sprintf("the key of the request has %d bytes, and at most %d fit", len(c.Key), KeyMax)}
	case strings.IndexByte(c.Key, 0) >= 0:
		return "", &KeyError{"the key of the request has a byte 0"}
	case c.Key == "" || c.Caller == "":
		return c.Key, nil
	}
	return c.Caller + "\x00" + c.Key, nil
}

// Answer is how a call has ended.
type Answer struct {
	Result []byte         // in the form of the call; nil if the method has no result
	Seen   store.Position // up to which position of the journal the answer has seen the store; 0: it has told an outcome of before
}

// Call performs a call. If ctx ends before the call its event is undone; a chain whose first step has committed goes on, and
// Call waits for its end. The errors are those of System.Perform, and *KeyError.
func (d *Door) Call(ctx context.Context, c *Call) (answer Answer, err error) {
	key, err := c.key()
	if err != nil {
		return answer, err
	}
	args := c.Method.NewArgs()
	if a, ok := args.(interface{ Decode(*codec.Decoder) }); ok {
		dec := codec.NewDecoder(c.Args)
		dec.Context = d.sys
		a.Decode(dec)
		if err := dec.Close(); err != nil {
			return answer, err
		}
	}
	guarded := d.Guard(ctx, c.TimeMax)
	defer guarded.End()
	answer.Seen, err = d.sys.Perform(&exec.Call{Target: c.Target, Method: c.Method.Method, Args: args, Key: key, From: c.Span.Origin(), Cancel: &guarded.Cancellation})
	if changed, is := errors.AsType[*event.ResultError](err); is {
		changed.Session = c.Key // as the caller knows it
	}
	if errors.Is(err, order.ErrCancelled) && d.IsPartial() {
		lacks := new(event.AwayError)
		if away := d.sys.Across().Away(); errors.As(guarded.Why(), &lacks) {
			err = &event.AwayError{Store: lacks.Store, Lacks: lacks.Lacks, Cause: err}
		} else if len(away) > 0 { // it has waited for this one, perhaps
			err = &event.AwayError{Store: away[0], Cause: err}
		}
	}
	if err != nil || c.Method.Result == nil {
		return answer, err
	}
	answer.Result, err = d.result(c, args)
	return answer, err
}

// result writes the result that args have taken.
func (d *Door) result(c *Call, args order.Args) (b []byte, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case value.Fault: // it nests too deeply
			err = &ResultError{r.Msg}
		case *value.Unreadable: // the event has committed with the store, or has been lost with it; a repetition gets the outcome
			err = &event.UnknownError{Cause: r.Err}
		default:
			panic(r)
		}
	}()
	e := codec.NewEncoder(nil)
	args.(interface{ EncodeResult(*codec.Encoder) }).EncodeResult(e)
	form := c.Form
	if form == nil {
		form = c.Method.Result
	}
	if b, err = form.Append([]byte{}, e.Data(), d.Names(context.Background(), c.Caller)); err != nil {
		err = &ResultError{err.Error()}
	}
	return b, err
}

// ResultError says that a call has committed, and its result cannot be written.
type ResultError struct{ Reason string }

// Error implements error.
func (e *ResultError) Error() string {
	return "the event has committed, and its result cannot be written: " + e.Reason
}
