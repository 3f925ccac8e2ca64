package activation

import (
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// failedElsewhere unwinds a branch whose call in another store has ended the event.
type failedElsewhere struct{ err *event.AbortError }

// Elsewhere reports whether the actor that is created next goes to another store: then CreateRemote creates it.
func (cx *Cx) Elsewhere() bool { return cx.spread && cx.elsewhere() }

//go:noinline
func (cx *Cx) elsewhere() bool {
	a := Of(cx)
	s := a.Run.sys
	a.birth = s.AnyPartition(a.Run.ID, a.made)
	a.made++
	return !s.Across.IsHere(event.ActorID{Birth: a.birth})
}

// AnyPartition draws a partition for the n-th actor that an event creates.
func (s *System) AnyPartition(id event.EventID, n uint64) event.PartitionID {
	return event.PartitionID(event.Mix(id.Seed()^s.Seed^(n+1)*0x9e3779b97f4a7c15) % uint64(len(s.Host.Partitions)))
}

// CreateRemote creates an actor of class c in the store that Cx.Elsewhere has chosen; args are those of its constructor.
//
//go:noinline
func CreateRemote(cx *Cx, c *Class, args order.Args) order.Ref {
	a := Of(cx)
	return a.Run.sys.State.Resolve(a.call(event.WholePartition(a.birth), c.Ctor, args).Made)
}

// CallRemote calls m on an actor of another store, and decodes the result into args.
//
//go:noinline
func CallRemote(cx *Cx, target order.Ref, m *Method, args order.Args) {
	Of(cx).callRemote(order.HandleOf(target), m, args)
}

func (cx *Activation) callRemote(h *order.Handle, m *Method, args order.Args) {
	r := cx.call(h.ID, m, args)
	if args != nil {
		if err := codec.ReadResult(r.Result, cx.Run.sys.References, args); err != nil {
			assert.Unreachable("activation: the result of %v cannot be read: %v", m, err)
		}
	}
}

// call has another store run m on an actor, or as the constructor of a new one.
func (cx *Activation) call(target event.ActorID, m *Method, args order.Args) *across.Reply {
	s, w, to := cx.Run.sys, cx.Run.Wide(), cx.Run.sys.Across.StoreOf(target)
	if len(cx.frames)+cx.depth >= s.DepthMax {
		cx.tooDeep()
	}
	if len(cx.branches) > 0 {
		cx.waitFor(order.CallOf(s.State.Handle(target), m.Shape(), &m.Effects, args))
	}
	c := &across.Call{Target: target, Method: s.PathOf(m)}
	if args != nil {
		c.Args = codec.ArgsOf(args)
	}
	fits(c, m) // before the attempt has anything in that store
	if w == nil {
		w = cx.Run.goOut(to)
	}
	if w == nil || w.Part == nil && !w.Try.Reach(to) {
		cx.missing(target, m)
	}
	o := cx.out()
	if w.Part == nil && o.thread == nil {
		o.thread = w.Try.Thread()
	}
	if w.Part == nil && cx != &cx.Run.Root && (o.inner || len(cx.frames) > 0) {
		cx.leaves()
	}
	c.Strict = w.Strict
	if cx.spanned {
		c.Span = cx.spans.Elsewhere()
	}
	if w.Part != nil {
		c.Lines, c.Grown = cx.takeLines(), cx.Run.TakeGrown()
		fits(c, m)
	}
	c.Run = cx.moving() // behind what is told of locks
	r := o.thread.Call(to, c, cx)
	switch {
	case r == nil:
		panic(order.Withdrawal{})
	case r.Lacks != "":
		panic(w.Try.Lacks(r.Lacks, false))
	case !r.Kept.IsNull():
		w.keptBy(r.Kept)
		w.Try.Lost(order.Wanted{})
		panic(order.Withdrawal{})
	case r.Refused:
		w.Try.Lost(r.Claim)
		panic(order.Withdrawal{})
	case r.InTurn:
		panic(order.Withdrawal{InTurn: true})
	case r.Withdrawn:
		order.Missing(s.State.Handle(r.Claim.Actor), r.Claim.Mode, r.Claim.Tree)
	}
	cx.move(r.Run)
	if r.Goes { // of the event's own code
		w.Goes = true
	}
	if r.Failed != nil {
		panic(failedElsewhere{r.Failed})
	}
	return r
}

// missing unwinds the attempt, which has no part in the store of a target.
func (cx *Activation) missing(target event.ActorID, m *Method) {
	h := cx.Run.sys.State.Handle(target)
	if target.IsWholePartition() {
		order.Missing(h, order.NoAccess, false)
	}
	order.Missing(h, max(m.Self, order.Read), m.Below != order.None) // a method that reads nothing learns that there is the actor
}

// moving returns what moves with the thread of control to another activation; move takes it back.
func (cx *Activation) moving() across.Run {
	cx.Run.LockShared()
	r := across.Run{Depth: len(cx.frames) + cx.depth, Fuel: cx.fuel + cx.tank, Random: cx.random, Now: cx.Run.now}
	cx.Run.UnlockShared()
	if t := cx.Run.Traced; t != nil {
		r.Reached = cx.Run.sys.Tracer.Reached(t, &cx.Run.Attempt)
	}
	return r
}

func (cx *Activation) move(r across.Run) {
	cx.fill(r.Fuel)
	cx.random = r.Random
	cx.Run.LockShared()
	defer cx.Run.UnlockShared()
	if cx.Run.now == 0 {
		cx.Run.now = r.Now
	}
	if t := cx.Run.Traced; t != nil {
		cx.Run.sys.Tracer.Arrived(t, r.Reached)
	}
}

// fits is a fault if a call is too large to go to another store.
func fits(c *across.Call, m *Method) {
	if n := c.Size(); n > across.CallMax {
		fault(tooLarge("call", m, n))
	}
}

// takeLines takes from what the activation has issued that which its home issues.
func (cx *Activation) takeLines() (list []across.Line) {
	kept := cx.Ops[:0]
	for i := range cx.Ops {
		switch o := &cx.Ops[i]; o.Kind {
		case OpPrint, OpLog:
			list = append(list, across.Line{Log: o.Kind == OpLog, Text: o.Name, Issuer: o.Issuer.ID})
		case OpCallback:
			if o.Timer != nil {
				kept = append(kept, *o)
				continue
			}
			list = append(list, o.Line(0))
		default:
			kept = append(kept, *o)
		}
	}
	clear(cx.Ops[len(kept):])
	cx.Ops = kept
	return list
}

// Told implements across.Caller.
func (cx *Activation) Told(list []across.Line, grown []order.Wanted) {
	if len(grown) > 0 {
		cx.Run.Grown(grown, cx.Run.sys.State)
	}
	for _, l := range list {
		o := Op{Kind: OpPrint, Name: l.Text, Issuer: cx.Run.sys.State.Handle(l.Issuer)}
		switch {
		case l.Log:
			o.Kind = OpLog
		case l.Object != 0:
			o.Kind = OpCallback
			if o.Object, o.Call, o.Args = cx.Run.sys.ReadLine(&l); o.Call == nil {
				panic(cx.Run.Wide().Try.Lacks(l.Method, true))
			}
		}
		cx.Ops = append(cx.Ops, o)
	}
}
