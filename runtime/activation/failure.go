package activation

import (
	"fmt"
	"runtime/debug"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/value"
)

// abortSignal is what Abort and Fault unwind with.
type abortSignal struct {
	msg   string
	fault bool
}

// Abort ends the event: everything it did is undone, and its caller gets msg.
func Abort(_ *Cx, msg string) { panic(abortSignal{msg: msg}) }

// Require aborts with msg unless cond holds.
func Require(cx *Cx, cond bool, msg string) {
	if !cond {
		Abort(cx, msg)
	}
}

// Fault ends the event because of a run-time fault.
func Fault(_ *Cx, msg string) { fault(msg) }

func fault(msg string) { panic(abortSignal{msg: msg, fault: true}) }

// Faults of events.
const (
	MsgNull   = "call through a null reference"
	MsgGoexit = event.MsgGoexit
)

// Outcome is how a branch has ended.
type Outcome struct {
	Kind       OutcomeKind
	Err        *event.AbortError // Aborted
	Withdrawal *order.Withdrawal // Withdrawn; else nil
	made       *order.Handle     // for another store
}

// OutcomeKind says how a branch has ended.
type OutcomeKind uint8

// The kinds of outcomes.
const (
	Ended OutcomeKind = iota
	Aborted
	Withdrawn
	follows // a branch of this branch has failed; the join knows how
)

// addPath appends the place that a failed branch was issued from.
func (o *Outcome) addPath(pcs []uintptr) {
	if o.Err != nil {
		o.Err.Path = append(o.Err.Path, callpath.Of(pcs)...)
	}
}

// body is the boundary of a branch: the only place that recovers. What unwinds it, be it
// an abort, a fault, a panic in Go code or runtime.Goexit, becomes its outcome. A nil
// target is the actor that a client's new creates.
func (cx *Activation) body(target *order.Handle, m *Method, args order.Args) (out Outcome) {
	done := false
	defer func() {
		if done && len(cx.branches) == 0 {
			return
		}
		gone := false
		if !done {
			out, gone = cx.caught(recover())
		}
		own := out
		if len(cx.branches) > 0 {
			out = cx.join(out)
		}
		if gone && cx == &cx.Run.Root {
			if out.Err == nil { // a branch was withdrawn, and no goroutine is left that would run the next attempt
				out = own
			}
			cx.Run.sys.Abandon(cx.Run, out.Err)
		}
	}()
	switch {
	case target == nil && cx.Run.Makes == nil: // for another store
		target = cx.newActor(&m.Class.Shape)
		out.made = target
	case target == nil:
		cx.birth = cx.Run.Birth
		if s := cx.Run.sys; cx.spread && !s.Across.IsHere(event.ActorID{Birth: cx.birth}) {
			cx.Run.Target = s.State.Handle(cx.call(event.WholePartition(cx.birth), m, args).Made)
			done = true
			return out
		}
		target = cx.newActor(cx.Run.Makes)
		cx.Run.Target = target
	case target.Is(order.Elsewhere):
		cx.callRemote(target, m, args)
		done = true
		return out
	default:
		cx.access(target, m.Self, m.Shape())
		cx.push(target, m)
	}
	m.Run(&cx.Cx, target.Object, args)
	// Invariant: calls nest. A method that has returned has left all that it has entered.
	assert.That(len(cx.frames) == 1, "activation: calls are left open at the end of a branch")
	done = true
	return out
}

// caught turns what unwound a branch into its outcome; nil is runtime.Goexit, and
// then the goroutine is going away.
func (cx *Activation) caught(p any) (out Outcome, gone bool) {
	e := &event.AbortError{Event: cx.Run.ID}
	switch p := p.(type) {
	case nil:
		e.Msg, e.Fault, gone = MsgGoexit, true, true
	case order.Withdrawal:
		return Outcome{Kind: Withdrawn, Withdrawal: &p}, false
	case branchFailed:
		return Outcome{Kind: follows}, false
	case failedElsewhere:
		*e = *p.err
		e.Path = append(e.Path[:len(e.Path):len(e.Path)], callpath.Here()...)
		return Outcome{Kind: Aborted, Err: e}, false
	case abortSignal:
		e.Msg, e.Fault = p.msg, p.fault
	case value.Fault:
		e.Msg, e.Fault = p.Msg, true
	case *event.LimitError:
		e.Msg, e.Fault, e.Cause = p.Error(), true, p
	case assert.Failure:
		cx.Run.sys.Log.Error("bug", "event", cx.Run.ID.String(), "error", p.Error(), "stack", string(debug.Stack()))
		e.Msg, e.Fault, e.Cause = p.Error(), true, p
	case error:
		e.Msg, e.Fault, e.Cause = p.Error(), true, p
	default:
		e.Msg, e.Fault = fmt.Sprint(p), true
	}
	e.Path = callpath.Here()
	return Outcome{Kind: Aborted, Err: e}, gone
}
