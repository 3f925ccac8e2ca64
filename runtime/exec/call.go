package exec

import (
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Enter begins a sync call of m on target. It acquires the actor's lock in the
// method's mode unless the event holds it. Null and a deleted actor are faults. ok is
// false if target is on another host; on the one node there is now it never is.
func Enter[T order.Object](cx *Cx, target order.Ref, m *Method) (self T, ok bool) {
	return enter(cx, target, m).(T), true
}

// enter is what Enter does for all classes.
//
//go:noinline
func enter(cx *Cx, target order.Ref, m *Method) order.Object {
	h := order.HandleOf(target)
	of(cx).enter(h, m, false)
	return h.Object
}

func (cx *activation) enter(h *order.Handle, m *Method, async bool) {
	if cx.spanned {
		cx.called(h, m, async)
	}
	cx.access(h, m.Self, shapeOf(m.Class))
	cx.push(h, m)
}

// access returns when the event may touch h in mode, or unwinds: with a fault if h
// is null or deleted, with a withdrawal if the entry does not cover it. c is the class that h
// must have, nil if the caller does not know.
func (cx *activation) access(h *order.Handle, mode order.Mode, c *order.Shape) {
	if h == nil {
		fault(msgNull)
	}
	if h.Is(order.Deleted | order.Away) {
		cx.find(h, c)
	}
	if !h.Is(order.Created | order.Fresh) {
		mode = order.Write // to run its constructor
	}
	cx.hold(h, mode)
	cx.ev.Respect(h)
	if h.LastPos > cx.maxPos {
		cx.maxPos = h.LastPos // before any fault: a fault depends on the last write, too
	}
	st := h.State.Load()
	if h.Layout != 0 && !h.Has(order.MarkUsed) {
		h.Mark(order.MarkUsed, true)
	}
	if st&order.Unloaded != 0 {
		cx.load(h)
	}
	if cx.ev.traced != nil {
		cx.ev.traceRead(h)
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
func (cx *activation) find(h *order.Handle, c *order.Shape) {
	cx.attach(h)
	if h.Is(order.Deleted) {
		cx.maxPos = max(cx.maxPos, h.LastPos) // final, as the deletion is
		cx.ev.traceRead(h)
		fault(h.Deleted(c))
	}
}

// hold returns when the event holds h in mode, be h deleted or not, or unwinds with a
// withdrawal.
func (cx *activation) hold(h *order.Handle, mode order.Mode) {
	if len(cx.branches) > 0 {
		cx.waitFor(order.AccessOf(h, mode))
	}
	if cx.spanned {
		cx.holdRecorded(h, mode)
		return
	}
	cx.ev.Attempt.Hold(h, mode)
}

// attach attaches h, unless it is, and unwinds the event if the store fails.
func (cx *activation) attach(h *order.Handle) {
	if h.Is(order.Away) {
		if err := cx.ev.sys.host.Attach(h); err != nil {
			panic(err)
		}
	}
}

// load reads the state of h, unless it is in memory, and unwinds the event if the store fails.
func (cx *activation) load(h *order.Handle) {
	if err := cx.ev.sys.durable.Load(h); err != nil {
		panic(err)
	}
}

// CallRemote calls m on an actor of another host. There is one host, so reaching it
// is a bug of the caller: Enter has said that the actor is here.
func CallRemote(_ *Cx, target order.Ref, m *Method, _ order.Args) {
	assert.Unreachable("remote call of %v on %v in a system of one node", m, target)
}

// construct runs the constructor of a named actor in its first event, which holds it
// for writing.
func (cx *activation) construct(h *order.Handle) {
	ev, c := cx.ev, classOf(h.Shape)
	if c.New == nil || c.Construct == nil {
		fault("class " + c.Name + " has no parameterless constructor: its actors cannot be named")
	}
	obj := c.New()
	order.Bind(obj, h)
	h.Object = obj
	ev.Constructs(h)
	if cx.spanned {
		cx.called(h, c.Construct, false)
	}
	cx.push(h, c.Construct)
	c.Construct.Run(&cx.Cx, obj, c.Construct.NewArgs())
	cx.Leave()
}

// New creates an actor of class c in the partition of the current one, and makes it
// current: its constructor body runs next, on the result, and Constructed ends it.
func New[T order.Object](cx *Cx, c *Class) T {
	return create(cx, c).(T)
}

//go:noinline
func create(cx *Cx, c *Class) order.Object { return of(cx).newActor(&c.Shape).Object }

// Constructed ends the construction that New began.
func Constructed(cx *Cx) { cx.Leave() }

func (cx *activation) newActor(c *order.Shape) *order.Handle {
	ev := cx.ev
	p := ev.birth
	if len(cx.frames) > 0 {
		p = cx.this().ID.Birth
	}
	block := &ev.serials
	if ev.sys.scheduler != nil { // blocks stay with pooled objects, which the collector takes at any time
		block = nil
	}
	h := ev.sys.host.NewHandle(c, ev.sys.ids.Next(block, p), order.Fresh)
	h.Object = c.New()
	order.Bind(h.Object, h)
	ev.Creates(h)
	cx.push(h, nil)
	return h
}

// Delete deletes target when the event commits: calls from then on are faults,
// sub-events to it dead letters.
func Delete(cx *Cx, target order.Ref) {
	h := order.HandleOf(target)
	of(cx).access(h, order.Write, nil)
	if h.Is(order.Dying) { // by the constructor that has just run
		fault(h.Deleted(nil))
	}
	of(cx).ev.Delete(h)
}

// methodDelete deletes its target.
var methodDelete = Method{Name: "delete", Signature: "()", Effects: order.Effects{Self: order.Write}}

func init() {
	methodDelete.Run = func(cx *Cx, _ any, _ order.Args) { Delete(cx, order.RefOf(of(cx).this())) }
}
