package exec

import (
	"errors"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

const (
	msgNull   = activation.MsgNull
	msgGoexit = activation.MsgGoexit
)

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
	ev.NoteRead(ev.Target)
	return &event.AbortError{Msg: ev.Target.Deleted(ev.method.Shape()), Event: ev.ID, Fault: true}
}

func (ev *Event) errCancelled() error {
	return &event.AbortError{Msg: order.ErrCancelled.Error(), Event: ev.ID, Cause: order.ErrCancelled}
}

// abort ends an event whose code has failed. What the failure tells of other stores must be durable there, too: they vote.
func (ev *Event) abort(err error) error {
	ev.Undo()
	if ev.Wide() != nil && ev.vote(false, across.Nothing) == nil {
		return errWithdrawn
	}
	ev.undone(err)
	ev.Release(true)
	if ev.Wide() != nil {
		ev.leaveWide(false)
	}
	return err
}

// endCancelled ends an event that was cancelled and has not committed.
func (ev *Event) endCancelled() error {
	err := ev.errCancelled()
	ev.takeBack(err)
	return ev.failed(err)
}

// abandon ends an event whose goroutine is going away.
func (ev *Event) abandon(err *event.AbortError) {
	ev.takeBack(err)
	_ = ev.failed(err)
	ev.sys.leave()
}
