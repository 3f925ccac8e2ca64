package state

import (
	"context"
	"errors"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// View is a view of the store of a system.
type View struct {
	store.Snapshot
	// Position: the view has everything up to this position of the journal, and all that it has is durable.
	Position store.Position

	of *State
}

// View returns the store as it is at a moment of the call: what all events have left that have ended before, and nothing of
// those that have not. The system does not close before the view is closed. The error is event.ErrClosed, that of ctx, or
// that of the store.
func (s *State) View(ctx context.Context) (*View, error) {
	if !s.Visit() {
		return nil, event.ErrClosed
	}
	v := &View{of: s}
	v.Snapshot, v.Position = s.Store.View()
	if err := s.Store.Settle(ctx); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

// Loaded reports whether the state of an actor is in memory now.
func (v *View) Loaded(id event.ActorID) bool { return v.of.IsLoaded(id) }

// Close ends the use of the view.
func (v *View) Close() error {
	defer v.of.Leave()
	return v.Snapshot.Close()
}
