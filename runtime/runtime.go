// Package runtime is the API that generated code calls; it is imported there as
// aeonrt. It adds nothing of its own: the work is done by runtime/exec,
// runtime/activation and the packages below them.
package runtime

import (
	"time"

	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// Identity of actors and events.
type (
	ActorID = event.ActorID
	EventID = event.EventID
)

// Descriptors and state of actors.
type (
	Class     = activation.Class
	Shape     = order.Shape
	Field     = order.Field
	Method    = activation.Method
	Effects   = order.Effects
	ClassMode = order.ClassMode
	Footprint = order.Footprint
	Mode      = order.Mode
	Below     = order.Below
	Args      = order.Args
	Object    = order.Object
	Self      = order.Self
	Ref       = order.Ref
)

// Execution.
type (
	Cx     = activation.Cx
	System = exec.System
	Config = exec.Config
	Across = exec.Across
	Client = exec.Client
	Future = exec.Future
	GoCall = activation.GoCall
)

// Client objects.
type (
	ClientObject = exec.ClientObject
	ClientRef    = exec.ClientRef
	ClientClass  = exec.ClientClass
	ClientMethod = exec.ClientMethod
)

// Modes of access.
const (
	NoAccess = order.NoAccess
	Read     = order.Read
	Write    = order.Write
)

// Kinds of footprint below an actor.
const (
	None  = order.None
	Exact = order.Exact
	Any   = order.Any
)

// Enter begins a sync call of m on target. It acquires the lock of target in the
// method's mode unless the event holds it; null and a deleted actor are faults.
// ok is false if target is on another host: then CallRemote makes the call.
// Leave ends the call.
func Enter[T Object](cx *Cx, target Ref, m *Method) (self T, ok bool) {
	return activation.Enter[T](cx, target, m)
}

// CallRemote calls m on an actor of another host: it encodes args, waits, and decodes the result into args.
func CallRemote(cx *Cx, target Ref, m *Method, args Args) { activation.CallRemote(cx, target, m, args) }

// Async begins an async call of m on target: it runs in parallel with what follows
// where the two have nothing in common, otherwise before it.
func Async(cx *Cx, target Ref, m *Method, args Args) { activation.Async(cx, target, m, args) }

// New creates an actor of class c. Its constructor body runs next, on the result,
// and Constructed ends it.
func New[T Object](cx *Cx, c *Class) T { return activation.New[T](cx, c) }

// CreateRemote is New for an actor that is to be in another store (Cx.Elsewhere), and runs its constructor with args.
func CreateRemote(cx *Cx, c *Class, args Args) Ref { return activation.CreateRemote(cx, c, args) }

// Constructed ends the construction that New began.
func Constructed(cx *Cx) { activation.Constructed(cx) }

// Delete deletes target: later calls on it are faults, later sub-events dead letters.
func Delete(cx *Cx, target Ref) { activation.Delete(cx, target) }

// Named returns the actor of class c with the given name. It is created by the first event on it.
func Named(in activation.Namer, c *Class, name string) Ref { return activation.Named(in, c, name) }

// Abort ends the event; everything it did is undone, and an await of it gets msg.
func Abort(cx *Cx, msg string) { activation.Abort(cx, msg) }

// Require aborts with msg unless cond holds.
func Require(cx *Cx, cond bool, msg string) {
	if !cond {
		activation.Abort(cx, msg)
	}
}

// Fault aborts because of a run-time fault, such as an overflow.
func Fault(cx *Cx, msg string) { activation.Fault(cx, msg) }

// Log notes the value of field p, for undo and redo, before the field is assigned. It
// allocates nothing for numbers, strings, references and containers.
func Log[T any](cx *Cx, self *Self, field uint16, p *T) { undo.Field(cx.UndoLog(), self, field, p) }

// LogOwned notes the value of a field that holds plain actor references before v is
// assigned to it. It removes the edges to the actors in the old value and adds those to
// the actors in v.
func LogOwned[T any](cx *Cx, self *Self, field uint16, p *T, v T) {
	undo.FieldOwned(cx.UndoLog(), self, field, p, v)
}

// NewClientObject makes self, which embeds o, an object of client cl.
func NewClientObject(cl *Client, o *ClientObject, self any) ClientRef {
	return exec.NewClientObject(cl, o, self)
}

// SystemOf returns the system that a client belongs to.
func SystemOf(cl *Client) *System { return exec.SystemOf(cl) }

// Clocks of a system: the machine's, and a simulated one that Client.Advance moves.
type (
	Clock     = sched.Clock
	RealClock = sched.RealClock
	SimClock  = sched.SimClock
)

// NewSimClock returns a simulated clock that stands at start.
func NewSimClock(start time.Time) *SimClock { return sched.NewSimClock(start) }

// Failures and what is counted.
type (
	AbortError = event.AbortError
	LimitError = event.LimitError
	Frame      = callpath.Frame
	DeadLetter = exec.DeadLetter
	Stats      = exec.Stats
)

// Open starts a system that keeps nothing. The caller closes it.
func Open(cfg Config) *System { return exec.Open(cfg) }

// Recover opens a system on cfg.Store, with everything that is stored there. The caller closes
// the system, then the store.
func Recover(cfg Config) (*System, error) { return exec.Recover(cfg) }

// Call is a request from outside of the program, which System.Perform performs.
type Call = exec.Call

// ErrKeyReused refuses a request whose key was used for another one.
var ErrKeyReused = event.ErrKeyReused

// Session is a durable session of a client that may send a request again.
type Session = exec.Session

// UnknownError is the failure of an event whose outcome is unknown, as the store has failed, or of a chain that may go on in a store with which the
// connection was lost.
type UnknownError = event.UnknownError

// ResultError refuses a request of a durable session whose outcome the program cannot read any more.
type ResultError = event.ResultError

// Errors of requests that a session refuses, and of actors whose class the program does not have any more.
var (
	ErrSessionExpired = event.ErrSessionExpired
	ErrAcknowledged   = event.ErrAcknowledged
	ErrNoStore        = exec.ErrNoStore
	ErrClass          = state.ErrClass
)

// AllClasses returns the classes of a package and of all that it imports, once each, for
// Config.Classes.
func AllClasses(p *Package) (list []*Class) {
	p.visit(make(map[*Package]bool), func(p *Package) { list = append(list, p.Classes...) })
	return list
}

// AllClientClasses returns the client classes of a package and of all that it imports, once each.
func AllClientClasses(p *Package) (list []*ClientClass) {
	p.visit(make(map[*Package]bool), func(p *Package) { list = append(list, p.ClientClasses...) })
	return list
}

// Restored counts what a system has found in its store.
type Restored = state.Restored

// Pending is the result of an event that a client issued and may await.
type Pending[T any] struct {
	future *exec.Future
	result func() T
}

// Issue submits an event; result reads its result from args once it has committed.
func Issue[T any](cl *Client, target Ref, m *Method, args Args, result func() T) Pending[T] {
	return Pending[T]{future: cl.Issue(target, m, args), result: result}
}

// Cancel ends the event with the failure "cancelled", unless it has ended. Of a chain of tail calls it ends the next
// step.
func (p Pending[T]) Cancel() { p.future.Cancel() }

// Await returns the result of the event when it has ended.
func (p Pending[T]) Await() (ret T, err error) {
	if err = p.future.Wait(); err == nil && p.result != nil {
		ret = p.result()
	}
	return ret, err
}
