package exec

import (
	"time"
	"unsafe"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// Cx is what generated code sees of an activation. Go compiles the generic code behind a type once more in each package that
// sees the type, and behind an activation are its event and the whole system; so here is only what is used without a call.
// No function that looks behind a Cx, a Client or a Future is inlined into generated code: short ones say so (go:noinline).
type Cx struct {
	fuel   int64   // until the next look
	tank   int64   // what is left beyond it
	frames []frame // the actors called, innermost last
	log    undo.Log

	spanned bool // the calls are recorded
}

// activation is the context of one branch of one event. Only the goroutine that runs the
// branch may use it.
type activation struct {
	Cx // Invariant: first, so that the activation is found from what generated code has of it

	ev  *Event
	ops []op
	// branches are the async calls of this branch that run elsewhere and were not
	// joined yet, in program order.
	branches []*branch
	maxPos   store.Position // largest lastPos seen
	random   uint64         // state of the random numbers, 0 if not seeded
	spans    *span.Branch   // nil unless spanned
}

// of returns the activation that generated code has handed back.
func of(cx *Cx) *activation { return (*activation)(unsafe.Pointer(cx)) }

// frame is one call in progress.
type frame struct {
	r order.Ref
	m *Method // nil for a call within the same actor
}

func (cx *activation) reset() {
	clear(cx.frames)
	cx.frames = cx.frames[:0]
	cx.log.Reset()
	if len(cx.ops) > 0 {
		clear(cx.ops)
		cx.ops = cx.ops[:0]
	}
	cx.branches, cx.maxPos, cx.random = nil, 0, 0
}

// UndoLog returns what the branch has written, for the functions of package undo.
func (cx *Cx) UndoLog() *undo.Log { return &cx.log }

func (cx *Cx) namer() any { return of(cx).ev.sys }

// this returns the handle of the actor whose code runs.
func (cx *activation) this() *order.Handle { return order.HandleOf(cx.frames[len(cx.frames)-1].r) }

func (cx *activation) push(h *order.Handle, m *Method) {
	if len(cx.frames) >= cx.ev.sys.cfg.DepthMax {
		cx.tooDeep()
	}
	cx.frames = append(cx.frames, frame{order.RefOf(h), m})
}

func (cx *activation) tooDeep() { panic(event.TooDeep(int64(cx.ev.sys.cfg.DepthMax))) }

// Step begins a call of another method on the same actor; Leave ends it.
func (cx *Cx) Step() { of(cx).push(of(cx).this(), nil) }

// Leave ends what Enter, Step or New began.
func (cx *Cx) Leave() {
	if cx.spanned {
		cx.left()
	}
	cx.frames = cx.frames[:len(cx.frames)-1]
}

// Spend takes one unit of fuel; loops call it at their back-edges. An event that has
// spent Config.FuelMax aborts, since an endless loop would hold its locks for ever.
func (cx *Cx) Spend() {
	if cx.fuel--; cx.fuel < 0 {
		cx.refuel()
	}
}

// lookEvery is after how many rounds of loops an event looks whether it was cancelled.
const lookEvery = 1 << 10

// fill gives the branch all the fuel that it may spend.
func (cx *activation) fill(fuel int64) { cx.fuel, cx.tank = 0, fuel }

// refuel takes the unit that Spend asks for, and those until the next look, from the tank.
func (cx *Cx) refuel() {
	ev := of(cx).ev
	if cx.tank == 0 {
		panic(event.TooLong(ev.sys.cfg.FuelMax))
	}
	if ev.Cancelled() {
		panic(abortSignal{msg: order.ErrCancelled.Error()}) // which perform knows by the cancellation
	}
	n := min(cx.tank, lookEvery)
	cx.tank -= n
	cx.fuel = n - 1
}

// EventID returns the id of the event.
//
//go:noinline
func (cx *Cx) EventID() event.EventID { return of(cx).ev.ID }

// Now returns the time of the event in nanoseconds since 1970; it is fixed when the
// event first asks for it.
func (cx *Cx) Now() int64 {
	ev := of(cx).ev
	ev.LockShared()
	defer ev.UnlockShared()
	if ev.now == 0 {
		ev.now = ev.sys.clock.Now().UnixNano()
	}
	return ev.now
}

// Random returns a number in [0, 1). The generator (splitmix64) is seeded by the
// event's id, and an async call has one of its own, seeded by its issuer's: every
// attempt draws the same, whichever goroutine runs the branch.
//
//go:noinline
func (cx *Cx) Random() float64 { return float64(of(cx).draw()>>11) / (1 << 53) }

func (cx *activation) draw() uint64 {
	if cx.random == 0 {
		cx.random = (cx.ev.ID.Seed() ^ cx.ev.sys.cfg.Seed) | 1
	}
	cx.random += 0x9e3779b97f4a7c15
	return event.Mix(cx.random)
}

// opKind says what an op does once its event has committed.
type opKind uint8

const (
	opEmit opKind = iota
	opCallback
	opTimer
	opCancel
	opPrint
	opLog
	opBranch
	opTail
	opGo
)

// op is something that happens after the commit, in program order.
type op struct {
	kind   opKind
	issuer *order.Handle
	target *order.Handle
	method *Method
	args   order.Args
	name   string // of a timer; text of a print
	delay  time.Duration
	every  time.Duration // period of a timer, 0 for a one-shot one
	object *ClientObject
	call   *ClientMethod
	branch *branch // its ops belong here
	timer  *timer  // that has fired an opEmit, if one has
	keep   bool    // of an opTail: target is the event's own, which is kept
	made   *timer  // by an opTimer

	// Systems with a store only.
	encoded [2]uint32 // where the arguments are in preparation.args
	seq     uint64    // of a sub-event
}

func (cx *activation) emit(o op) {
	o.issuer = cx.this()
	cx.ops = append(cx.ops, o)
}

// emitNamed emits an op that changes the timers of the current actor by name. The event must hold the
// actor for writing; an attempt whose entry does not cover that is withdrawn.
func (cx *activation) emitNamed(o op) {
	if o.name != "" {
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
		fault(msgNull)
	}
	of(cx).emit(op{kind: opEmit, target: order.HandleOf(target), method: m, args: args})
}

// EmitAfter issues an event on target that becomes due d after the commit. A name, if
// not empty, replaces this actor's timer of that name.
func (cx *Cx) EmitAfter(d time.Duration, name string, target order.Ref, m *Method, args order.Args) {
	if order.HandleOf(target) == nil {
		fault(msgNull)
	}
	of(cx).emitNamed(op{kind: opTimer, target: order.HandleOf(target), method: m, args: args, delay: d, name: name})
}

// EmitEvery issues an event on target every d, until cancelled; it replaces this
// actor's timer of that name. Ticks that were missed coalesce into one.
//
//go:noinline
func (cx *Cx) EmitEvery(d time.Duration, name string, target order.Ref, m *Method, args order.Args) {
	cx.EmitAfterEvery(d, d, name, target, m, args)
}

// EmitAfterEvery is EmitEvery with a first tick that comes after another time.
func (cx *Cx) EmitAfterEvery(first, d time.Duration, name string, target order.Ref, m *Method, args order.Args) {
	if order.HandleOf(target) == nil {
		fault(msgNull)
	}
	cx.checkPeriod(d)
	of(cx).emitNamed(op{kind: opTimer, target: order.HandleOf(target), method: m, args: args, delay: first, name: name, every: d})
}

func (cx *Cx) checkPeriod(d time.Duration) {
	if d <= 0 {
		fault("timer period must be positive")
	}
}

// Cancel removes the current actor's timer of that name, if there is one.
//
//go:noinline
func (cx *Cx) Cancel(name string) { of(cx).emitNamed(op{kind: opCancel, name: name}) }

// Callback calls a method of a client object after the commit, in order with the
// callbacks of this actor to that client. It is dropped if the client has gone.
//
//go:noinline
func (cx *Cx) Callback(target ClientRef, m *ClientMethod, args order.Args) {
	if target.o == nil {
		fault(msgNull)
	}
	of(cx).emit(op{kind: opCallback, object: target.o, call: m, args: args})
}

// CallbackAfter is Callback, d after the commit. A name, if not empty, replaces this
// actor's timer of that name.
func (cx *Cx) CallbackAfter(d time.Duration, name string, target ClientRef, m *ClientMethod, args order.Args) {
	if target.o == nil {
		fault(msgNull)
	}
	of(cx).emitNamed(op{kind: opTimer, object: target.o, call: m, args: args, delay: d, name: name})
}

// CallbackAfterEvery is EmitAfterEvery for a callback.
func (cx *Cx) CallbackAfterEvery(first, d time.Duration, name string, target ClientRef, m *ClientMethod, args order.Args) {
	if target.o == nil {
		fault(msgNull)
	}
	cx.checkPeriod(d)
	of(cx).emitNamed(op{kind: opTimer, object: target.o, call: m, args: args, delay: first, name: name, every: d})
}

// Print writes a line to standard output when the event commits.
//
//go:noinline
func (cx *Cx) Print(s string) { of(cx).emit(op{kind: opPrint, name: s}) }

// Log writes a line to the log when the event commits.
//
//go:noinline
func (cx *Cx) Log(s string) { of(cx).emit(op{kind: opLog, name: s}) }
