package activation

import (
	"fmt"
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/value"
)

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

// tooLarge is the fault of a call of another store, or of its answer, that has too many bytes.
func tooLarge(what string, m *Method, n int) string {
	return fmt.Sprintf("the %s of %v has %d bytes, and %d is the most between two stores; make several calls with less each", what, m, n, across.CallMax)
}
