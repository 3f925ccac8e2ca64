package exec

import (
	"unsafe"
	"weak"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Future is what generated code sees of a future (see Cx).
type Future struct{ _ [0]byte }

// future is the outcome of an event that was issued and not awaited yet.
type future struct {
	Future // Invariant: first, so that the future is found from what generated code has of it

	sys    *System
	done   chan struct{}
	cancel order.Cancellation
	place  *place
	err    error
	failed *failure // among the unclaimed, if the event has run and failed
}

// futureOf returns the future that generated code has handed back.
func futureOf(face *Future) *future { return (*future)(unsafe.Pointer(face)) }

// failure is the end of an event that has failed, as answers and dead letters tell it.
type failure struct {
	id     event.EventID
	target *order.Handle
	method *Method
	err    error
	pos    store.Position // what it depends on, if that may not be durable yet
}

// failed reports whether the event has failed for good, as far as is known: a chain that goes on later, or in another store, has not.
func (l *failure) failed() bool {
	_, unknown := l.err.(*event.UnknownError)
	return l.err != nil && l.err != event.ErrPostponed && !unknown
}

// Wait returns the outcome of the event when it has ended.
func (face *Future) Wait() error {
	f := futureOf(face)
	f.sys.scheduler.Wait(f.done)
	if f.failed != nil {
		f.sys.unclaimed.Take(f.failed)
	}
	return event.OwnError(f.err)
}

// fail notes the failure of an event that may still be awaited. Once that is impossible,
// as the program has dropped the future, the failure becomes a dead letter.
func (f *future) fail(l failure) {
	f.err, f.failed = l.err, &l
	f.sys.unclaimed.Put(f.failed)
	if f.sys.scheduler == nil { // else the collector would decide when the dead letter is written
		sched.WhenGone(f, f.sys, (*System).lost, weak.Make(f.failed)) // the system refers to it, and it to the system
	}
}

// lost turns the failure of an event whose future was dropped into a dead letter, unless it was awaited before.
func (s *System) lost(w weak.Pointer[failure]) {
	if l := w.Value(); l != nil && s.unclaimed.Take(l) {
		s.deadLetter(*l)
	}
}

// Cancel ends the event with the failure "cancelled", and undoes it, unless it has committed or aborted. Of a chain of
// tail calls it ends the step that has done neither; what the steps before it did stays. Cancel does not wait for the
// event: one that runs ends within some rounds of a loop, or at its end.
func (face *Future) Cancel() {
	f := futureOf(face)
	f.cancel.Cancel()
	if f.place != nil && f.place.Hurry() {
		f.sys.workers.Run(f.place.Job)
	}
	f.sys.scheduler.Yield()
}
