package exec

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/watch"
)

// Stats are the counters of a system, summed over its clients.
type Stats = watch.Stats

// Stats returns the counters as they are now. Any goroutine.
func (s *System) Stats() Stats {
	t := Stats{
		DeadLetters:      s.failures.deadLetters.Load(),
		CallbackFailures: s.failures.callbackFailures.Load(),
		Moves:            s.host.Moves.Load(),
		AdmissionWaits:   s.host.Waits.Load(),
	}
	s.ledger.AddTo(&t)
	return t
}

// DeadLetter is the failure of an event that was not awaited.
type DeadLetter struct {
	Event  event.EventID
	Target order.Ref
	Method string
	Err    error
	At     time.Time
	Call   bool // the last failure of a call of a Go function: no event has failed
}

// CallbackFailure is the failure of a callback, of which no client learns either.
type CallbackFailure struct {
	Method string // Class.method
	Err    error
	Path   []callpath.Frame // innermost first
}

type failures struct {
	letters   outbox.Newest[DeadLetter]
	callbacks outbox.Newest[CallbackFailure]

	deadLetters, callbackFailures atomic.Uint64 // how many there were
}

// deadLetter notes a failure that is not awaited, once what it tells of is durable.
func (s *System) deadLetter(f failure) {
	if f.err == event.ErrClosed { // it has not failed: it was not run, and Undone tells of all of them
		s.undone.Add(1)
		return
	}
	s.failures.deadLetters.Add(1)
	if s.durable != nil && f.pos > 0 {
		s.output.Add(outgoing{failed: &f}, f.pos)
		s.output.Start()
		return
	}
	s.logDeadLetter(f)
}

func (s *System) logDeadLetter(f failure) {
	method := f.method.String()
	attrs := []any{"event", f.id.String(), "actor", f.target.String(), "method", method, "error", f.err.Error()}
	var abort *event.AbortError
	if errors.As(f.err, &abort) {
		attrs = append(attrs, callpath.Attributes(abort.Path)...)
	}
	s.log.Warn("dead letter", attrs...)
	s.failures.letters.Add(DeadLetter{Event: f.id, Target: order.RefOf(f.target), Method: method, Err: f.err, At: s.clock.Now(), Call: f.method.Go != nil})
}

// callbackFailed notes a failure of a callback; stack is of Go, if the failure is a bug of the system.
func (s *System) callbackFailed(f CallbackFailure, stack string) {
	s.failures.callbackFailures.Add(1)
	attrs := append([]any{"method", f.Method, "error", f.Err.Error()}, callpath.Attributes(f.Path)...)
	if stack != "" {
		attrs = append(attrs, "stack", stack)
	}
	s.log.Error("callback failed", attrs...)
	s.failures.callbacks.Add(f)
}

// CallbackFailures returns the newest failures of callbacks, oldest first.
func (s *System) CallbackFailures() []CallbackFailure { return s.failures.callbacks.List() }

// DeadLetters returns the newest dead letters, oldest first.
func (s *System) DeadLetters() []DeadLetter {
	list := s.failures.letters.List()
	for i := range list {
		list[i].Err = event.OwnError(list[i].Err)
	}
	return list
}

// WriteWaits writes the wait-for graph: a line for every event that waits for another
// at an actor. It may run at any time; what it shows is true node by node.
func (s *System) WriteWaits(w io.Writer) { s.host.WriteWaits(w) }

// WaitGraph is order.Host.WaitGraph.
func (s *System) WaitGraph(also []*order.Handle) []order.Wait { return s.host.WaitGraph(also) }

// Waiting returns how many events wait for a lock, or for a chain to leave an actor, now.
func (s *System) Waiting() int { return s.host.Waiting() }
