package activation

import (
	"slices"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// OpKind says what an Op does once its event has committed.
type OpKind uint8

// The kinds of ops.
const (
	OpEmit OpKind = iota
	OpCallback
	OpTimer
	OpCancel
	OpPrint
	OpLog
	OpBranch
	OpTail
	OpGo
)

// Op is something that happens after the commit, in program order.
type Op struct {
	Kind   OpKind
	Issuer *order.Handle
	Target *order.Handle
	Method *Method
	Args   order.Args
	Name   string // of a timer; text of a print
	Delay  time.Duration
	Every  time.Duration // period of a timer, 0 for a one-shot one
	Object Receiver      // gets a callback; else nil
	Call   Callback
	Branch *Branch // its ops belong here
	Timer  *Timer  // that has fired an OpEmit or an OpCallback, if one has
	Keep   bool    // of an OpTail: Target is the event's own, which is kept

	// What the commit notes.
	Made    *Timer    // by an OpTimer
	Encoded [2]uint32 // where the arguments are in the batch; systems with a store only
	Seq     uint64    // of a sub-event; systems with a store only
}

// Receiver refers to an object of a client, which gets callbacks. It is an exec.ClientRef; only package exec knows the client.
type Receiver interface {
	// IsNull reports whether there is no object.
	IsNull() bool
	// Stored returns the number by which it is stored, and by which other stores know it.
	Stored() uint64
	// Elsewhere reports whether its client is one of another store.
	Elsewhere() bool
}

// Callback is a method of client objects. It is an *exec.ClientMethod.
type Callback interface {
	// Path names the method to other stores.
	Path() string
}

// Timer is one that an event has set.
type Timer = outbox.Timer[Timed]

// Timed is what a timer calls: a method of an actor, or of a client object.
type Timed struct {
	Target *order.Handle
	Method *Method
	Object Receiver // of a callback, which has no target; else nil
	Call   Callback
	Args   order.Args
	From   *trace.Source  // traced systems only
	Origin *span.Origin   // while spans are recorded
	Pos    store.Position // of the event that has set it
	Again  func()         // of a timer that belongs to no actor: it calls this, and nothing else
}

// NewTimer returns the timer that an OpTimer sets, of an event that has committed at a time.
func (o *Op) NewTimer(committed time.Time) *Timer {
	return &Timer{Issuer: o.Issuer, Name: o.Name, Every: o.Every, Due: sched.After(committed, o.Delay),
		Call: Timed{Target: o.Target, Method: o.Method, Object: o.Object, Call: o.Call, Args: o.Args}}
}

func (cx *Activation) emit(o Op) {
	o.Issuer = cx.this()
	cx.Ops = append(cx.Ops, o)
}

// emitNamed emits an op that changes the timers of the current actor by name. The event must hold the
// actor for writing; an attempt whose entry does not cover that is withdrawn.
func (cx *Activation) emitNamed(o Op) {
	if o.Name != "" {
		cx.hold(cx.this(), order.Write)
	}
	cx.emit(o)
}

// Emit issues a sub-event of the current actor. It is admitted after this event has
// committed, in order among those of this actor to the same target.
//
//go:noinline
func (cx *Cx) Emit(target order.Ref, m *Method, args order.Args) {
	if order.HandleOf(target) == nil {
		fault(MsgNull)
	}
	Of(cx).emit(Op{Kind: OpEmit, Target: order.HandleOf(target), Method: m, Args: args})
}

// EmitAfter issues an event on target that becomes due d after the commit. A name, if not empty, replaces this actor's
// timer of that name. The parameters stand in the order in which a program evaluates them.
func (cx *Cx) EmitAfter(target order.Ref, m *Method, args order.Args, d time.Duration, name string) {
	if order.HandleOf(target) == nil {
		fault(MsgNull)
	}
	Of(cx).emitNamed(Op{Kind: OpTimer, Target: order.HandleOf(target), Method: m, Args: args, Delay: d, Name: name})
}

// EmitEvery issues an event on target every d, until cancelled; it replaces this
// actor's timer of that name. Ticks that were missed coalesce into one.
//
//go:noinline
func (cx *Cx) EmitEvery(target order.Ref, m *Method, args order.Args, d time.Duration, name string) {
	cx.EmitAfterEvery(target, m, args, d, d, name)
}

// EmitAfterEvery is EmitEvery with a first tick that comes after another time.
func (cx *Cx) EmitAfterEvery(target order.Ref, m *Method, args order.Args, first, d time.Duration, name string) {
	if order.HandleOf(target) == nil {
		fault(MsgNull)
	}
	cx.checkPeriod(d)
	Of(cx).emitNamed(Op{Kind: OpTimer, Target: order.HandleOf(target), Method: m, Args: args, Delay: first, Name: name, Every: d})
}

func (cx *Cx) checkPeriod(d time.Duration) {
	if d <= 0 {
		fault("timer period must be positive")
	}
}

// TimerName returns a name that was computed. A timer that has an empty one could not be replaced or cancelled, as
// timers without a name are stored with it.
func (cx *Cx) TimerName(name string) string {
	if name == "" {
		fault("the name of a timer is empty")
	}
	return name
}

// Cancel removes the current actor's timer of that name, if there is one.
//
//go:noinline
func (cx *Cx) Cancel(name string) {
	assert.That(name != "", "activation: an event cancels a timer without a name")
	Of(cx).emitNamed(Op{Kind: OpCancel, Name: name})
}

// Callback calls a method of a client object after the commit, in order with the
// callbacks of this actor to that client. It is dropped if the client has gone.
//
//go:noinline
func (cx *Cx) Callback(target Receiver, m Callback, args order.Args) {
	if target.IsNull() {
		fault(MsgNull)
	}
	Of(cx).emit(Op{Kind: OpCallback, Object: target, Call: m, Args: args})
}

// CallbackAfter is Callback, d after the commit. A name, if not empty, replaces this
// actor's timer of that name.
func (cx *Cx) CallbackAfter(target Receiver, m Callback, args order.Args, d time.Duration, name string) {
	if target.IsNull() {
		fault(MsgNull)
	}
	Of(cx).emitNamed(Op{Kind: OpTimer, Object: target, Call: m, Args: args, Delay: d, Name: name})
}

// CallbackAfterEvery is EmitAfterEvery for a callback.
func (cx *Cx) CallbackAfterEvery(target Receiver, m Callback, args order.Args, first, d time.Duration, name string) {
	if target.IsNull() {
		fault(MsgNull)
	}
	cx.checkPeriod(d)
	Of(cx).emitNamed(Op{Kind: OpTimer, Object: target, Call: m, Args: args, Delay: first, Name: name, Every: d})
}

// Print writes a line to standard output when the event commits.
//
//go:noinline
func (cx *Cx) Print(s string) { Of(cx).emit(Op{Kind: OpPrint, Name: s}) }

// Log writes a line to the log when the event commits.
//
//go:noinline
func (cx *Cx) Log(s string) { Of(cx).emit(Op{Kind: OpLog, Name: s}) }

// Tail ends the event with a call that follows it as the next step of its chain: it is admitted after the
// event has committed, and after what the current actor has issued to target before. The
// current method returns next, and the event's caller gets the result of the last step.
//
//go:noinline
func (cx *Cx) Tail(target order.Ref, m *Method, args order.Args) {
	if order.HandleOf(target) == nil {
		fault(MsgNull)
	}
	Of(cx).emit(Op{Kind: OpTail, Target: order.HandleOf(target), Method: m, Args: args})
}

// TailThis is Tail for a call of the current actor, which no other event touches before
// that step has run.
func (cx *Cx) TailThis(target order.Ref, m *Method, args order.Args) {
	assert.That(order.HandleOf(target) == Of(cx).Run.Target || Of(cx).Run.IsPart(), "activation: a tail call of another actor keeps it")
	Of(cx).emit(Op{Kind: OpTail, Target: order.HandleOf(target), Method: m, Args: args, Keep: true})
}

// Go issues a call of the Go function that m stands for. It is tried after this event has committed.
//
//go:noinline
func (cx *Cx) Go(m *Method, args order.Args) {
	Of(cx).emit(Op{Kind: OpGo, Target: Of(cx).this(), Method: m, Args: args})
}

// Fire issues what t calls, which has fired.
func (cx *Activation) Fire(t *Timer) {
	switch c := &t.Call; {
	case c.Object != nil:
		cx.emit(Op{Kind: OpCallback, Object: c.Object, Call: c.Call, Args: c.Args, Timer: t})
	default:
		cx.emit(Op{Kind: OpEmit, Target: c.Target, Method: c.Method, Args: c.Args, Timer: t})
	}
}

// GoesOn reports whether the code has ended with a tail call: the event is followed by another step of its chain.
func (cx *Activation) GoesOn() bool { return len(cx.Ops) > 0 && cx.Ops[len(cx.Ops)-1].Kind == OpTail }

// Tells reports whether ops print, or call clients.
func Tells(ops []Op) bool {
	return slices.ContainsFunc(ops, func(o Op) bool {
		return o.Kind == OpPrint || o.Kind == OpLog || o.Kind == OpCallback || o.Kind == OpBranch && Tells(o.Branch.Ops())
	})
}
