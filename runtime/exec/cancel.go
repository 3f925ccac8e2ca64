package exec

import (
	"errors"
	"sync/atomic"
)

// cancellation is what a client has said of an event: it is not to happen ([CANCEL]). It is looked at
// when the event has its locks, and when it ends: an event that has not passed its end by then is
// undone, and so is the next step of its chain. The zero value is ready to use.
type cancellation struct{ said atomic.Bool }

var errCancelled = errors.New("cancelled")

// Cancel ends the event with the failure "cancelled", and undoes it, unless it has committed or aborted. Of a chain of
// tail calls it ends the step that has not; what was done before stays. It does not wait for the
// event, which may still have to wait its turn.
func (f *Future) Cancel() {
	f.cancel.said.Store(true)
	f.sys.yield()
}

// cancelled reports whether the event is to end as cancelled.
func (ev *Event) cancelled() bool {
	c := ev.cancel
	if c == nil && ev.chain != nil {
		c = ev.chain.cancel
	}
	return c != nil && c.said.Load()
}

// endCancelled ends an event that was cancelled and has not committed.
func (ev *Event) endCancelled() error {
	err := &AbortError{Msg: errCancelled.Error(), Event: ev.id, Cause: errCancelled}
	ev.takeBack(err)
	return ev.failed(err)
}
