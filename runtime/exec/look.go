package exec

import (
	"context"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/runtime/state"
)

// View is a view of the store of a system.
type View = state.View

// View returns the store as it is at a moment of the call, as state.State.View does; ErrNoStore if there is none.
func (s *System) View(ctx context.Context) (*View, error) {
	if s.durable == nil {
		return nil, ErrNoStore
	}
	return s.durable.View(ctx)
}

// Ready returns why the system performs no calls: ErrClosed, or the error of its store; nil if it does.
func (s *System) Ready() error {
	if d := s.durable; d != nil && d.Store.Err() != nil {
		return d.Store.Err()
	}
	if s.closing.Load() {
		return event.ErrClosed
	}
	return nil
}

// Attached returns how many actors are in the ownership graph in memory. The system has a store. Any goroutine.
func (s *System) Attached() int { return s.durable.Attached() }

// WriteMetrics writes what the system counts. Any goroutine.
func (s *System) WriteMetrics(w *metrics.Writer) {
	t := s.Stats()
	t.WriteMetrics(w)
	s.calls.WriteMetrics(w)
	w.Gauge("aeon_events_waiting", "Events that wait for a lock now.", int64(s.Waiting()))
	w.Gauge("aeon_events_issued", "Events, callbacks and steps of chains that were issued and have not ended, timers excepted.", s.live.Count())
	s.cfg.Spans.WriteMetrics(w, "aeon_spans")
	if s.durable != nil {
		s.durable.WriteMetrics(w)
		s.durable.dead.WriteMetrics(w)
	}
}
