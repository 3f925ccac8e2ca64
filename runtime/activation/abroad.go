package activation

import (
	"fmt"
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Wide is what a run has whose attempt touches several stores.
type Wide struct {
	Try    *across.Try   // at the home of the event
	Part   *across.Part  // elsewhere
	Strict bool          // see across.Call
	Kept   event.ActorID // for which the next attempt has to wait
	Goes   bool          // a tail call follows the event, from another store
	mu     sync.Mutex    // guards Kept while branches run
}

// IsPart reports whether code runs here for an event of another store.
func (r *Run) IsPart() bool {
	w := r.Wide()
	return w != nil && w.Part != nil
}

// IndexBase returns where the numbers of the sub-events begin that the event issues here.
func (r *Run) IndexBase() int {
	if r.IsPart() {
		return (int(r.sys.Across.ID()) + 1) * event.PartIndex
	}
	return 0
}

// ServePart makes a call of a thread of the event of another store, outside of all other calls; those of other threads may run beside it.
func (r *Run) ServePart(t across.Thread, c *across.Call) (reply *across.Reply) {
	both := &struct { // one piece of memory
		cx   Activation
		away away
	}{Activation{Cx: Cx{spread: r.sys.Spread}, Run: r, depth: c.Run.Depth}, away{thread: t, beside: c.Order != nil}}
	cx := &both.cx
	cx.log.Edges, cx.away = cx, &both.away
	do := cx.body
	if r.Root.spanned {
		cx.Record(r.Root.spans.Beside())
		do = cx.bodyRecorded
	}
	if c.Strict {
		r.Wide().Strict = true // it has one thread
	}
	defer func() { // also on runtime.Goexit: what the call has changed is taken back with the part
		r.branches.Lock()
		defer r.branches.Unlock()
		root := &r.Root
		root.log.Absorb(&cx.log)
		root.MaxPos = max(root.MaxPos, cx.MaxPos)
		root.insert(cx, c.Order)
		if reply != nil {
			reply.Goes, reply.Wrote = root.GoesOn(), r.HasWritten()
		}
	}()
	return cx.reply(c, do)
}

// insert adds what a call has issued to what others have, where it stands in program order.
func (cx *Activation) insert(by *Activation, order []uint64) {
	switch {
	case len(by.Ops) == 0:
		return
	case order == nil:
		cx.Ops = append(cx.Ops, by.Ops...)
		return
	}
	i := len(cx.Ops)
	for i > 0 && cx.Ops[i-1].Kind == OpBranch && slices.Compare(cx.Ops[i-1].Branch.cx.out().place, order) > 0 {
		i--
	}
	by.out().place = order
	cx.Ops = slices.Insert(cx.Ops, i, Op{Kind: OpBranch, Branch: &Branch{cx: by}})
}

// HasWritten reports whether a part has changed anything, as far as its calls have ended.
func (r *Run) HasWritten() bool {
	r.LockShared()
	defer r.UnlockShared()
	return len(r.Root.log.Entries()) > 0 || len(r.Root.Ops) > 0 || r.ChangesOwnership() || len(r.Fresh) > 0
}

// bodyRecorded is body for a call of another store that is recorded.
func (cx *Activation) bodyRecorded(h *order.Handle, m *Method, args order.Args) Outcome {
	cx.called(h, m, false)
	return cx.body(h, m, args)
}

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

// keptBy has the next attempt wait for the chain that keeps an actor; several branches may have met one.
func (w *Wide) keptBy(id event.ActorID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Kept = id
}

// AwaitOthers waits, between two attempts, for what the one that by has ended has met in other stores. That may take hours.
func (r *Run) AwaitOthers(by order.Withdrawal) {
	w := r.Wide()
	kept := w != nil && !w.Kept.IsNull()
	if !kept && by.Lacks == nil {
		return
	}
	r.End()
	defer r.Begin()
	if kept {
		r.sys.Across.AwaitKept(&r.Attempt, w.Kept)
		w.Kept = event.ActorID{}
	}
	if by.Lacks != nil {
		r.sys.Across.AwaitLacking(&r.Attempt, by.Lacks)
	}
}

// announce has events wait that ask for an actor which the run has created.
func (r *Run) announce(h *order.Handle) {
	r.sys.State.Announce(h)
	r.Announce(h)
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

// Serve implements across.Caller: another store calls while this activation waits.
func (cx *Activation) Serve(c *across.Call) *across.Reply {
	s, w := cx.Run.sys, cx.Run.Wide()
	if w.Part == nil {
		cx.leaves()
	}
	if to := s.Across.StoreOf(c.Target); !s.Across.IsHere(c.Target) {
		if !w.Try.Reach(to) {
			m := s.Method(c.Method)
			if m == nil {
				m = &Method{} // of another version of the program
			}
			cx.missing(c.Target, m)
		}
		return nil
	}
	depth := cx.depth
	cx.depth = c.Run.Depth - len(cx.frames)
	cx.out().serves++
	defer func() {
		cx.depth = depth
		cx.away.serves--
	}()
	return cx.reply(c, cx.within)
}

// within makes a call in an activation that waits for the answer to another one. A call path ends here: see package callpath.
func (cx *Activation) within(h *order.Handle, m *Method, args order.Args) (out Outcome) {
	frames, done := len(cx.frames), false
	defer func() {
		if done {
			return
		}
		p := recover()
		if w, ok := p.(order.Withdrawal); p == nil || ok && !cx.Run.IsPart() {
			if p == nil {
				return // runtime.Goexit
			}
			panic(w) // the home need not tell
		}
		out, _ = cx.caught(p)
		cx.frames = cx.frames[:frames]
	}()
	if h == nil {
		h = cx.newActor(&m.Class.Shape)
		out.made = h
	} else {
		cx.enter(h, m, false)
	}
	m.Run(&cx.Cx, h.Object, args)
	cx.Leave()
	done = true
	return out
}

// reply makes a call for another store.
func (cx *Activation) reply(c *across.Call, do func(*order.Handle, *Method, order.Args) Outcome) *across.Reply {
	run, m := cx.Run, cx.Run.sys.Method(c.Method)
	switch {
	case m == nil && run.IsPart():
		return &across.Reply{Withdrawn: true, Lacks: c.Method, Run: c.Run}
	case m == nil:
		panic(run.Wide().Try.Lacks(c.Method, true))
	}
	cx.move(c.Run)
	var args order.Args
	if m.NewArgs != nil {
		args = m.NewArgs()
		if err := codec.ReadArgs(c.Args, run.sys.References, args); err != nil {
			assert.Unreachable("activation: the arguments of %v cannot be read: %v", m, err)
		}
	}
	r := &across.Reply{}
	var h *order.Handle // nil: a new actor
	if c.Target.IsWholePartition() {
		cx.birth = c.Target.Birth
	} else {
		h = run.sys.State.Handle(c.Target)
	}
	if m == &methodReach {
		do = func(*order.Handle, *Method, order.Args) Outcome { return cx.found(args.(*reachArgs)) }
	}
	if cx.spanned && c.Span != nil {
		from, serve := cx.spans.Serve(c.Span), do
		do = func(h *order.Handle, m *Method, args order.Args) Outcome {
			out := serve(h, m, args)
			cx.spans.Served(from, cx.Run.sys.nanos(), out.Kind == Aborted)
			return out
		}
	}
	out := do(h, m, args)
	if err := value.Try(func() {
		if run.IsPart() {
			r.Lines = cx.takeLines()
		}
		if out.Kind == Ended && args != nil {
			r.Result = codec.ResultOf(args)
		}
	}); err != nil && out.Kind == Ended {
		out, _ = cx.caught(err)
	}
	switch out.Kind {
	case Ended:
		if h == nil {
			r.Made = out.made.ID
		}
	case Withdrawn:
		r.Withdrawn, r.InTurn, r.Claim = true, out.Withdrawal.InTurn, out.Withdrawal.Claim()
		r.Claim.Mode = max(r.Claim.Mode, order.Read)
		if k := out.Withdrawal.Kept; k != nil {
			r.Kept = k.Actor()
		}
		if l := out.Withdrawal.Lacks; l != nil {
			r.Lacks = l.Name
		}
		if claim, refused := run.Refused(); refused && run.IsPart() {
			r.Refused, r.Claim = true, claim
		}
		r.Refused = r.Refused || run.Moved()
	default:
		r.Failed = out.Err
	}
	if run.IsPart() {
		r.Grown, r.Granted = run.TakeGrown(), run.TakeGranted() > 0
	}
	if n := r.Size(); n > across.CallMax {
		r.Failed = &event.AbortError{Msg: tooLarge("answer", m, n), Event: run.ID, Fault: true, Path: callpath.Here()}
		r.Result, r.Lines = nil, nil
	}
	r.Run = cx.moving() // behind what is told of locks
	return r
}

// fits is a fault if a call is too large to go to another store.
func fits(c *across.Call, m *Method) {
	if n := c.Size(); n > across.CallMax {
		fault(tooLarge("call", m, n))
	}
}

// tooLarge is the fault of a call of another store, or of its answer, that has too many bytes.
func tooLarge(what string, m *Method, n int) string {
	return fmt.Sprintf("the %s of %v has %d bytes, and %d is the most between two stores; make several calls with less each", what, m, n, across.CallMax)
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
