package activation

import (
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/span"
)

// Enter begins a sync call of m on target. It acquires the actor's lock in the
// method's mode unless the event holds it. Null and a deleted actor are faults. ok is
// false if target is in another store: then CallRemote makes the call.
func Enter[T order.Object](cx *Cx, target order.Ref, m *Method) (self T, ok bool) {
	if o := enter(cx, target, m); o != nil {
		return o.(T), true
	}
	return self, false
}

// enter is what Enter does for all classes.
//
//go:noinline
func enter(cx *Cx, target order.Ref, m *Method) order.Object {
	h := order.HandleOf(target)
	if h != nil && h.Is(order.Elsewhere) {
		return nil
	}
	Of(cx).enter(h, m, false)
	return h.Object
}

func (cx *Activation) enter(h *order.Handle, m *Method, async bool) {
	if cx.spanned {
		cx.called(h, m, async)
	}
	cx.access(h, m.Self, m.Shape())
	cx.push(h, m)
}

// access returns when the event may touch h in mode, or unwinds: with a fault if h
// is null or deleted, with a withdrawal if the entry does not cover it. c is the class that h
// must have, nil if the caller does not know.
func (cx *Activation) access(h *order.Handle, mode order.Mode, c *order.Shape) {
	if h == nil {
		fault(MsgNull)
	}
	if h.Is(order.Deleted | order.Away) {
		cx.find(h, c)
	}
	if !h.Is(order.Created | order.Fresh) {
		mode = order.Write // to run its constructor
	}
	if len(cx.branches) > 0 || cx.spanned {
		cx.hold(h, mode)
	} else {
		cx.Run.Hold(h, mode) // what hold would come to, without a call between
	}
	cx.Run.Respect(h)
	if h.LastPos > cx.MaxPos {
		cx.MaxPos = h.LastPos // before any fault: a fault depends on the last write, too
	}
	st := h.State.Load()
	if h.Layout != 0 && !h.Has(order.MarkUsed) {
		h.Mark(order.MarkUsed, true)
	}
	// What an earlier start has prepared deletes actors that this one has not read, and leaves no row of them.
	if st&(order.Unloaded|order.Deleted) == order.Unloaded {
		cx.load(h)
	}
	if cx.Run.Traced != nil {
		cx.Run.NoteRead(h)
	}
	// What another event has deleted counts once it has committed, so only now.
	if st&(order.Deleted|order.Dying) != 0 {
		fault(h.Deleted(nil))
	}
	if h.Object == nil {
		cx.construct(h)
	}
}

// find attaches h, or faults if it was deleted.
func (cx *Activation) find(h *order.Handle, c *order.Shape) {
	cx.attach(h)
	if h.Is(order.Deleted) {
		cx.MaxPos = max(cx.MaxPos, h.LastPos) // final, as the deletion is
		cx.Run.NoteRead(h)
		cx.Run.ReadWithoutLock()
		fault(h.Deleted(c))
	}
}

// hold returns when the event holds h in mode, be h deleted or not, or unwinds with a
// withdrawal.
func (cx *Activation) hold(h *order.Handle, mode order.Mode) {
	if len(cx.branches) > 0 {
		cx.waitFor(order.AccessOf(h, mode))
	}
	if cx.spanned {
		cx.holdRecorded(h, mode)
		return
	}
	cx.Run.Hold(h, mode)
}

// attach attaches h, unless it is, and unwinds the event if the store fails.
func (cx *Activation) attach(h *order.Handle) {
	if h.Is(order.Away &^ order.Elsewhere) {
		if err := cx.Run.Host.Attach(h); err != nil {
			panic(err)
		}
	}
}

// load reads the state of h, unless it is in memory, and unwinds the event if the store fails.
func (cx *Activation) load(h *order.Handle) {
	if err := cx.Run.sys.State.Load(h); err != nil {
		panic(err)
	}
}

// construct runs the constructor of a named actor in its first event, which holds it
// for writing.
func (cx *Activation) construct(h *order.Handle) {
	c := ClassOf(h.Shape)
	if c.New == nil || c.Construct == nil {
		fault("class " + c.Name + " has no parameterless constructor: its actors cannot be named")
	}
	if cx.constructsBeside() {
		panic(order.Withdrawal{InTurn: true})
	}
	obj := c.New()
	order.Bind(obj, h)
	h.Object = obj
	cx.Run.Constructs(h)
	if cx.spanned {
		cx.called(h, c.Construct, false)
	}
	cx.push(h, c.Construct)
	c.Construct.Run(&cx.Cx, obj, c.Construct.NewArgs())
	cx.Leave()
}

// called records that the branch calls m on h.
func (cx *Activation) called(h *order.Handle, m *Method, async bool) {
	if h != nil {
		cx.spans.Enter(len(cx.frames)+1, async, m.String(), h.Known(m.Shape()), cx.Run.sys.nanos())
	}
}

// left records that the innermost call ends.
//
//go:noinline
func (cx *Cx) left() {
	if b := Of(cx).spans; b.At(len(cx.frames)) {
		b.Leave(Of(cx).Run.sys.nanos())
	}
}

// holdRecorded is hold for an event that is recorded.
func (cx *Activation) holdRecorded(h *order.Handle, mode order.Mode) {
	from := cx.Run.sys.nanos()
	if cx.Run.Hold(h, mode) {
		cx.spans.Waited(span.ForLocks, from, cx.Run.sys.nanos())
	}
}

// New creates an actor of class c in the partition of the current one, and makes it
// current: its constructor body runs next, on the result, and Constructed ends it.
func New[T order.Object](cx *Cx, c *Class) T {
	return create(cx, c).(T)
}

//go:noinline
func create(cx *Cx, c *Class) order.Object { return Of(cx).newActor(&c.Shape).Object }

// Constructed ends the construction that New began.
func Constructed(cx *Cx) { cx.Leave() }

func (cx *Activation) newActor(c *order.Shape) *order.Handle {
	r := cx.Run
	p := r.Birth
	switch {
	case cx.spread:
		p = cx.birth
	case len(cx.frames) > 0:
		p = cx.this().ID.Birth
	}
	block := &r.serials
	// Branches, and threads of parts, run beside the root, and what an actor creates behind them must not come before what it has created in them. And
	// blocks stay with pooled objects, which the collector takes at any time.
	if cx != &r.Root || r.forked || r.sys.Scheduler != nil {
		block = nil
	}
	h := r.Host.NewHandle(c, r.sys.IDs.Next(block, p), order.Fresh)
	h.Object = c.New()
	order.Bind(h.Object, h)
	r.creates(h)
	cx.push(h, nil)
	return h
}

// Delete deletes target when the event commits: calls from then on are faults,
// sub-events to it dead letters.
func Delete(cx *Cx, target order.Ref) {
	h := order.HandleOf(target)
	if h != nil && h.Is(order.Elsewhere) {
		Of(cx).callRemote(h, &MethodDelete, nil)
		return
	}
	Of(cx).access(h, order.Write, nil)
	if h.Is(order.Dying) { // by the constructor that has just run
		fault(h.Deleted(nil))
	}
	Of(cx).Run.Delete(h)
}

// MethodDelete deletes its target. It belongs to no class.
var MethodDelete = Method{Name: "delete", Signature: "()", Effects: order.Effects{Self: order.Write}}

func init() {
	MethodDelete.Run = func(cx *Cx, _ any, _ order.Args) { Delete(cx, order.RefOf(Of(cx).this())) }
}
