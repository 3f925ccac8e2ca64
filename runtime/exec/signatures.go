package exec

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Footprint collects the actors that a method may touch apart from its target.
type Footprint struct{ unused int }

// Add says that the method may touch the actor r itself, in mode, and nothing below it. Null is ignored.
func (f *Footprint) Add(r Ref, mode Mode) { landing() }

// AddTree says that the method may touch r in mode, and anything reachable from
// it in the modes of Method.Touches. Null is ignored.
func (f *Footprint) AddTree(r Ref, mode Mode) { landing() }

// Handle is what the runtime keeps of one actor.
type Handle struct {
	id    event.ActorID
	class *Class
}

// Cx is the context of one branch of one event. Only the goroutine that runs
// the branch may use it.
type Cx struct{ fuel int64 }

// Step begins a call of another method on the same actor; Leave ends it.
func (cx *Cx) Step() { landing() }

// Leave ends what Enter or Step began.
func (cx *Cx) Leave() { landing() }

// Spend takes one unit of fuel; loops call it at their back-edges.
func (cx *Cx) Spend() {
	if cx.fuel--; cx.fuel < 0 {
		landing()
	}
}

// Emit issues a sub-event of the current actor. It runs after this event has committed.
func (cx *Cx) Emit(target Ref, m *Method, args Args) { landing() }

// EmitAfter issues an event on target that becomes due after d; name may be empty.
func (cx *Cx) EmitAfter(d time.Duration, name string, target Ref, m *Method, args Args) { landing() }

// EmitEvery issues an event on target every d, from d after the commit on, until it is cancelled.
func (cx *Cx) EmitEvery(d time.Duration, name string, target Ref, m *Method, args Args) { landing() }

// Cancel removes the current actor's timer of that name, if there is one.
func (cx *Cx) Cancel(name string) { landing() }

// Callback calls a method of a client object after the commit, in order with the sub-events.
func (cx *Cx) Callback(target ClientRef, m *ClientMethod, args Args) { landing() }

// Now returns the time of the event, the same throughout, in nanoseconds since 1970.
func (cx *Cx) Now() int64 { landing(); return 0 }

// Random returns a number in [0, 1) drawn from the event's own seed.
func (cx *Cx) Random() float64 { landing(); return 0 }

// EventID returns the id of the event.
func (cx *Cx) EventID() event.EventID { landing(); return event.EventID{} }

// Print writes a line to standard output when the event commits.
func (cx *Cx) Print(s string) { landing() }

// Log writes a line to the log when the event commits.
func (cx *Cx) Log(s string) { landing() }

// Enter begins a sync call of m on target. ok is false if target is on another host.
func Enter[T Object](cx *Cx, target Ref, m *Method) (self T, ok bool) { landing(); return }

// CallRemote calls m on an actor of another host.
func CallRemote(cx *Cx, target Ref, m *Method, args Args) { landing() }

// Async begins an async call of m on target.
func Async(cx *Cx, target Ref, m *Method, args Args) { landing() }

// New creates an actor; its constructor body runs next, on the result.
func New[T Object](cx *Cx, c *Class) (self T) { landing(); return }

// Constructed ends the construction that New began.
func Constructed(cx *Cx) { landing() }

// Delete deletes an actor.
func Delete(cx *Cx, target Ref) { landing() }

// Namer is a Cx or a Client.
type Namer interface{ system() *System }

// Named returns the actor of class c with the given name.
func Named(in Namer, c *Class, name string) Ref { landing(); return Ref{} }

// Abort ends the event, undone.
func Abort(cx *Cx, msg string) { landing() }

// Require aborts with msg unless cond holds.
func Require(cx *Cx, cond bool, msg string) {
	if !cond {
		Abort(cx, msg)
	}
}

// Fault ends the event, undone, because of a run-time fault.
func Fault(cx *Cx, msg string) { landing() }

// Log notes the value of a field before it is assigned.
func Log[T any](cx *Cx, self *Self, field uint16, p *T) { landing() }

// LogOwned notes the value of a field with plain actor references before v is assigned, and moves the edges.
func LogOwned[T any](cx *Cx, self *Self, field uint16, p *T, v T) { landing() }

// ClientObject is embedded by the state of every client class.
type ClientObject struct{ unused int }

// ClientRef is a reference to a client object; the zero ClientRef is null.
type ClientRef struct{ o *ClientObject }

// ClientMethod describes one method of a client class.
type ClientMethod struct {
	Class string
	Name  string
	Run   func(cl *Client, self any, args Args)
}

// Client issues events.
type Client struct{ unused int }

func (cl *Client) system() *System { landing(); return nil }
func (cx *Cx) system() *System     { landing(); return nil }

// NewClientObject makes o a client object of cl; self is the struct that embeds it.
func NewClientObject(cl *Client, o *ClientObject, self any) ClientRef { landing(); return ClientRef{} }

// Await runs an event and returns when it has committed or aborted.
func (cl *Client) Await(target Ref, m *Method, args Args) error { landing(); return nil }

// Issue submits an event.
func (cl *Client) Issue(target Ref, m *Method, args Args) *Future { landing(); return nil }

// New creates an unnamed root actor; m is its constructor.
func (cl *Client) New(c *Class, m *Method, args Args) (Ref, error) { landing(); return Ref{}, nil }

// Delete deletes an actor.
func (cl *Client) Delete(target Ref) error { landing(); return nil }

// Settle waits until no event, sub-event or callback is left.
func (cl *Client) Settle() { landing() }

// Sleep pauses for d of real time.
func (cl *Client) Sleep(d time.Duration) { landing() }

// Advance moves simulated time by d, and fires what becomes due.
func (cl *Client) Advance(d time.Duration) { landing() }

// Print writes a line to standard output.
func (cl *Client) Print(s string) { landing() }

// Future is the outcome of an event that was issued and not awaited yet.
type Future struct{ unused int }

// Wait returns the outcome.
func (f *Future) Wait() error { landing(); return nil }

// Clock is the time of a system.
type Clock interface {
	Now() time.Time
}

// Config configures a system; the zero Config is usable.
type Config struct {
	Clock   Clock
	Stdout  io.Writer
	Log     *slog.Logger
	Journal store.Journal
}

// System runs events on one node.
type System struct{ unused int }

// Open starts a system.
func Open(cfg Config) *System { landing(); return nil }

// Client returns a new client session.
func (s *System) Client() *Client { landing(); return nil }

// Quiesce waits until no event, sub-event, callback or one-shot timer is left.
func (s *System) Quiesce(ctx context.Context) error { landing(); return nil }

// Close stops the system and joins its goroutines.
func (s *System) Close() { landing() }

func landing() { assert.Unreachable("exec: body not landed") }
