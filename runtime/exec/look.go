package exec

import (
	"context"
	"errors"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/runtime/store"
)

// View is a view of the store of a system.
type View struct {
	store.Snapshot
	// Position: the view has everything up to this position of the journal, and all that it has is durable.
	Position store.Position

	d *durable
}

// View returns the store as it is at a moment of the call: what all events have left that have ended before, and nothing of
// those that have not. The system does not close before the view is closed. The error is ErrNoStore, ErrClosed, that of ctx, or
// that of the store.
func (s *System) View(ctx context.Context) (*View, error) {
	d := s.durable
	switch {
	case d == nil:
		return nil, ErrNoStore
	case !d.Visit():
		return nil, event.ErrClosed
	}
	v := &View{d: d}
	v.Snapshot, v.Position = d.Store.View()
	if err := d.Store.Settle(ctx); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

// Loaded reports whether the state of an actor is in memory now.
func (v *View) Loaded(id event.ActorID) bool { return v.d.IsLoaded(id) }

// Close ends the use of the view.
func (v *View) Close() error {
	defer v.d.Leave()
	return v.Snapshot.Close()
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

// WriteMetrics writes what the system counts. Any goroutine.
func (s *System) WriteMetrics(w *metrics.Writer) {
	t := s.Stats()
	w.Counter("aeon_events_committed_total", "Events that have committed.", t.Commits)
	w.Counter("aeon_events_undone_total", "Events that have failed and were undone.", t.Aborts)
	w.Gauge("aeon_events_waiting", "Events that wait for a lock now.", int64(s.Waiting()))
	w.Gauge("aeon_events_issued", "Events, callbacks and steps of chains that were issued and have not ended, timers excepted.", s.live.Count())
	w.Counter("aeon_attempts_withdrawn_total", "Attempts that were withdrawn after code of the program had run, and made again.", t.Withdrawals)
	w.Counter("aeon_attempts_rerouted_total", "Attempts that were withdrawn before code of the program had run, and made again.", t.Reroutes)
	w.Counter("aeon_admission_waits_total", "Pauses of clients before full queues.", t.AdmissionWaits)
	w.Counter("aeon_tree_moves_total", "Moves of actors in the sequencing tree.", t.Moves)
	w.Counter("aeon_dead_letters_total", "Events that have failed and were not awaited.", t.DeadLetters)
	w.Counter("aeon_callback_failures_total", "Callbacks that have failed.", t.CallbackFailures)
	if s.durable != nil {
		s.durable.WriteMetrics(w)
		kept, dropped := s.durable.dead.Count()
		w.Gauge("aeon_dead_letters", "Dead letters in the store.", int64(kept))
		w.Counter("aeon_dead_letters_dropped_total", "Dead letters that the store has dropped, as there were too many.", dropped)
	}
}
