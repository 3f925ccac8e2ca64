package order

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/lock"
)

// Cancellation says that a client has cancelled an event ([CANCEL]). The event checks it wherever it
// waits for other events or for credit, when it has its locks, now and then in loops, and when it ends. An event that has not passed its end by
// then is undone, and so is the next step of its chain. The zero value is ready to use.
type Cancellation struct {
	// First says that of a chain only the first step is cancelled: once that has committed, the chain goes on to its end.
	First bool
	// Until cancels the event by its end, too. The event sees that wherever it checks by itself, and what wakes it from a
	// wait is Cancel alone, which is to be called then. nil: Cancel alone cancels. It is set before the event begins.
	Until context.Context

	said atomic.Bool
	why  error // why the event was waiting when it was cancelled, if that is known; set before the event ends
	mu   struct {
		sync.Mutex               // taken before the mutexes of events
		waits      *Attempt      // the event or the step of its chain, while waiting is above 0
		waiting    int           // so many of its branches may wait
		done       chan struct{} // nil until it is asked for
		then       func()        // see Then; nil: nothing
	}
}

// untilCancelled is a cancellation as the context of a wait for something else than an event. It is a pointer, and makes
// its channel only for such a wait, as these are rare.
type untilCancelled Cancellation

// Context returns a context that ends when the event is cancelled.
func (a *Attempt) Context() context.Context { return a.Cancellation.Context() }

// Context returns a context that ends with Cancel. c may be nil.
func (c *Cancellation) Context() context.Context {
	if c != nil {
		return (*untilCancelled)(c)
	}
	return context.Background()
}

// Then has f called when the event is cancelled, at once if it was. It is called once at most. c may be nil.
func (c *Cancellation) Then(f func()) {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.mu.then = f
	said := c.said.Load()
	c.mu.Unlock()
	if said {
		f()
	}
}

// Cancel says that the event is not to happen, and ends its waiting.
func (c *Cancellation) Cancel() {
	if then := c.cancel(); then != nil {
		then()
	}
}

// cancel is Cancel without what comes then, which it returns the first time.
func (c *Cancellation) cancel() (then func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if again := c.said.Swap(true); !again {
		then = c.mu.then
		if c.mu.done != nil {
			close(c.mu.done)
		}
	}
	if c.mu.waiting > 0 {
		a := c.mu.waits
		a.mu.Lock()
		defer a.mu.Unlock()
		a.giveUp()
	}
	return then
}

// Explain says why the event has waited until it was cancelled. c may be nil.
func (c *Cancellation) Explain(why error) {
	if c != nil {
		c.why = why
	}
}

// Why returns why an event that has ended as cancelled has waited, nil if that is not known.
func (c *Cancellation) Why() error { return c.why }

// Done implements context.Context.
func (c *untilCancelled) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.done == nil {
		c.mu.done = make(chan struct{})
		if c.said.Load() {
			close(c.mu.done)
		}
	}
	return c.mu.done
}

// Err implements context.Context.
func (c *untilCancelled) Err() error {
	if c.said.Load() {
		return context.Canceled
	}
	return nil
}

// Deadline implements context.Context.
func (c *untilCancelled) Deadline() (deadline time.Time, ok bool) { return deadline, false }

// Value implements context.Context.
func (c *untilCancelled) Value(any) any { return nil }

// waits notes that a, or a branch of it, begins to wait, until it calls waited. c may be nil.
func (c *Cancellation) waits(a *Attempt) {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.mu.waits = a
		c.mu.waiting++
	}
}

func (c *Cancellation) waited() {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.mu.waiting--
	}
}

// giveUp ends the waiting of an attempt that is to end, as if it had been refused. Caller holds mu.
func (a *Attempt) giveUp() {
	if a.stopped = true; a.refusal.Kind == 0 {
		a.refusal = effect{Kind: lock.Refused}
	}
	a.news.Broadcast()
}

// Cancelled reports whether the event is to end as cancelled.
func (a *Attempt) Cancelled() bool {
	return a.Cancellation != nil && a.Cancellation.given()
}

func (c *Cancellation) given() bool {
	return c.said.Load() || c.Until != nil && c.Until.Err() != nil
}
