package exec

import (
	"errors"
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

const (
	msgNull   = "call through a null reference"
	msgGoexit = "runtime.Goexit called in an event"
)

// outcome is how a branch has ended.
type outcome struct {
	kind      outcomeKind
	err       *event.AbortError
	withdrawn order.Withdrawal
}

type outcomeKind uint8

const (
	ended outcomeKind = iota
	aborted
	withdrawn
	follows // a branch of this branch has failed; the join knows how
)

// addPath appends the place that a failed branch was issued from.
func (o *outcome) addPath(pcs []uintptr) {
	if o.err != nil {
		o.err.Path = append(o.err.Path, callpath.Of(pcs)...)
	}
}

// refused returns the failure of an event whose attempt could not enter.
func (ev *Event) refused(err error) error {
	switch full := (*order.FullError)(nil); {
	case err == order.ErrGone:
		return ev.deadTarget()
	case err == order.ErrCancelled:
		return ev.errCancelled()
	case errors.As(err, &full):
		return event.TooManyWaiting(int64(full.Max), full.At.Label())
	}
	return err
}

// deadTarget is the failure of an event on an actor that was deleted.
func (ev *Event) deadTarget() error {
	ev.maxPos = max(ev.maxPos, ev.Target.LastPos)
	ev.traceRead(ev.Target)
	return &event.AbortError{Msg: ev.Target.Deleted(shapeOf(ev.method.Class)), Event: ev.ID, Fault: true}
}

func (ev *Event) errCancelled() error {
	return &event.AbortError{Msg: order.ErrCancelled.Error(), Event: ev.ID, Cause: order.ErrCancelled}
}

// endCancelled ends an event that was cancelled and has not committed.
func (ev *Event) endCancelled() error {
	err := ev.errCancelled()
	ev.takeBack(err)
	return ev.failed(err)
}

// run runs the attempt's method in the calling goroutine, all branches included.
func (ev *Event) run() (out outcome) {
	cx := &ev.root
	// Invariant: an attempt begins with an empty log. Its undo takes back what the attempt did, and no more.
	assert.That(len(cx.log.Entries()) == 0, "exec: an attempt begins with writes of another")
	cx.fill(ev.sys.cfg.FuelMax)
	if ev.Makes == nil {
		return cx.body(ev.Target, ev.method, ev.Args)
	}
	return cx.body(nil, ev.method, ev.Args)
}

// body is the boundary of a branch: the only place that recovers. What unwinds it, be it
// an abort, a fault, a panic in Go code or runtime.Goexit, becomes its outcome. A nil
// target is the actor that a client's new creates.
func (cx *activation) body(target *order.Handle, m *Method, args order.Args) (out outcome) {
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
		if gone && cx == &cx.ev.root {
			if out.err == nil { // a branch was withdrawn, and no goroutine is left that would run the next attempt
				out = own
			}
			cx.ev.abandon(out.err)
		}
	}()
	if target == nil {
		target = cx.newActor(cx.ev.Makes)
		cx.ev.Target = target
	} else {
		cx.access(target, m.Self, shapeOf(m.Class))
		cx.push(target, m)
	}
	m.Run(&cx.Cx, target.Object, args)
	// Invariant: calls nest. A method that has returned has left all that it has entered.
	assert.That(len(cx.frames) == 1, "exec: calls are left open at the end of a branch")
	done = true
	return out
}

// caught turns what unwound a branch into its outcome; nil is runtime.Goexit, and
// then the goroutine is going away.
func (cx *activation) caught(p any) (out outcome, gone bool) {
	e := &event.AbortError{Event: cx.ev.ID}
	switch p := p.(type) {
	case nil:
		e.Msg, e.Fault, gone = msgGoexit, true, true
	case order.Withdrawal:
		return outcome{kind: withdrawn, withdrawn: p}, false
	case branchFailed:
		return outcome{kind: follows}, false
	case abortSignal:
		e.Msg, e.Fault = p.msg, p.fault
	case value.Fault:
		e.Msg, e.Fault = p.Msg, true
	case *event.LimitError:
		e.Msg, e.Fault, e.Cause = p.Error(), true, p
	case assert.Failure:
		cx.ev.sys.log.Error("bug", "event", cx.ev.ID.String(), "error", p.Error(), "stack", string(debug.Stack()))
		e.Msg, e.Fault, e.Cause = p.Error(), true, p
	case error:
		e.Msg, e.Fault, e.Cause = p.Error(), true, p
	default:
		e.Msg, e.Fault = fmt.Sprint(p), true
	}
	e.Path = callpath.Here()
	return outcome{kind: aborted, err: e}, gone
}

// abandon ends an event whose goroutine is going away.
func (ev *Event) abandon(err *event.AbortError) {
	ev.undo()
	ev.undone(err)
	ev.Release(true)
	_ = ev.failed(err)
	ev.sys.leave()
}
