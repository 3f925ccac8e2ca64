package activation

import (
	"unsafe"

	"github.com/aeon-lang/aeon/internal/short"
	"github.com/aeon-lang/aeon/runtime/across"
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
	spread  bool // new actors may go to other stores
}

// Activation is the context of one branch of one event. Only the goroutine that runs the
// branch may use it.
type Activation struct {
	Cx // Invariant: first, so that the activation is found from what generated code has of it

	Run    *Run           // whose branch it is
	Ops    []Op           // issued, in program order
	MaxPos store.Position // largest LastPos seen

	// branches are the async calls of this branch that run elsewhere and were not
	// joined yet, in program order.
	branches []*Branch
	random   uint64            // state of the random numbers, 0 if not seeded
	depth    int               // of the call that the branch begins with
	made     uint64            // new actors that may have gone to other stores
	birth    event.PartitionID // of the next one
	spans    *span.Branch      // nil unless spanned
	away     *away             // nil: the activation has nothing of that yet
}

// away is what an activation has in an event over several stores, kept by the pooled object. It is apart so that other events do not pay for its size.
type away struct {
	thread across.Thread // that has gone to others; nil: it has not
	place  []uint64      // in program order: where its issuer has issued the branch, and its issuer's
	inner  bool          // it is a branch of a branch: others that run beside it know the footprint of that alone
	serves int           // so many calls of parts
	beside bool          // of a part: other calls of the event may run beside it
	issued uint64        // so many branches and calls to other stores, since the event has branches
}

// out returns what the activation has in other stores.
func (cx *Activation) out() *away {
	if cx.away == nil {
		cx.away = &away{}
	}
	return cx.away
}

// Of returns the activation that generated code has handed back.
func Of(cx *Cx) *Activation { return (*Activation)(unsafe.Pointer(cx)) }

// frame is one call in progress.
type frame struct {
	r order.Ref
	m *Method // nil for a call within the same actor
}

func (cx *Activation) reset() {
	short.Clear(cx.frames)
	cx.frames = cx.frames[:0]
	cx.log.Reset()
	if len(cx.Ops) > 0 {
		clear(cx.Ops)
		cx.Ops = cx.Ops[:0]
	}
	cx.branches, cx.MaxPos, cx.random, cx.depth, cx.made = nil, 0, 0, 0, 0
	if cx.away != nil {
		*cx.away = away{}
	}
}

// Next returns where in program order the next branch or call to another store stands, nil if the event has no branches. It implements across.Caller.
func (cx *Activation) Next() []uint64 {
	if !cx.Run.forked {
		return nil
	}
	o := cx.out()
	o.issued++
	return append(o.place[:len(o.place):len(o.place)], o.issued)
}

// UndoLog returns what the branch has written, for the functions of package undo.
func (cx *Cx) UndoLog() *undo.Log { return &cx.log }

// Namer implements Namer.
//
//go:noinline
func (cx *Cx) Namer() any { return Of(cx).Run.sys }

// Record has the branch recorded in b from now on; nil ends that.
func (cx *Activation) Record(b *span.Branch) { cx.spans, cx.spanned = b, b != nil }

// this returns the handle of the actor whose code runs.
func (cx *Activation) this() *order.Handle { return order.HandleOf(cx.frames[len(cx.frames)-1].r) }

func (cx *Activation) push(h *order.Handle, m *Method) {
	if len(cx.frames)+cx.depth >= cx.Run.sys.DepthMax {
		cx.tooDeep()
	}
	cx.frames = append(cx.frames, frame{order.RefOf(h), m})
}

func (cx *Activation) tooDeep() { panic(event.TooDeep(int64(cx.Run.sys.DepthMax))) }

// Step begins a call of another method on the same actor; Leave ends it.
func (cx *Cx) Step() { Of(cx).push(Of(cx).this(), nil) }

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
func (cx *Activation) fill(fuel int64) { cx.fuel, cx.tank = 0, fuel }

// refuel takes the unit that Spend asks for, and those until the next look, from the tank.
func (cx *Cx) refuel() {
	r := Of(cx).Run
	if cx.tank == 0 {
		panic(event.TooLong(r.sys.FuelMax))
	}
	if r.Cancelled() {
		panic(abortSignal{msg: order.ErrCancelled.Error()}) // by which the event knows that it was cancelled
	}
	if r.Wide() != nil && r.Stopped() {
		panic(order.Withdrawal{})
	}
	n := min(cx.tank, lookEvery)
	cx.tank -= n
	cx.fuel = n - 1
}

// EventID returns the id of the event.
//
//go:noinline
func (cx *Cx) EventID() event.EventID { return Of(cx).Run.ID }

// Now returns the time of the event in nanoseconds since 1970; it is fixed when the
// event first asks for it.
func (cx *Cx) Now() int64 {
	r := Of(cx).Run
	r.LockShared()
	now, first := r.now, r.now == 0
	if first {
		now = r.sys.Clock.Now().UnixNano()
		r.now = now
	}
	r.UnlockShared()
	if first && r.Wide() != nil {
		r.ReadWithoutLock() // events that come before this one have earlier times
	}
	return now
}

// Random returns a number in [0, 1). The generator (splitmix64) is seeded by the
// event's id, and an async call has one of its own, seeded by its issuer's: every
// attempt draws the same, whichever goroutine runs the branch.
//
//go:noinline
func (cx *Cx) Random() float64 { return float64(Of(cx).draw()>>11) / (1 << 53) }

func (cx *Activation) draw() uint64 {
	if cx.random == 0 {
		cx.random = (cx.Run.ID.Seed() ^ cx.Run.sys.Seed) | 1
	}
	cx.random += 0x9e3779b97f4a7c15
	return event.Mix(cx.random)
}
