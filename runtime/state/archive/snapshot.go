package archive

import (
	"context"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Stopped is a store that no system uses.
type Stopped struct {
	View      store.Reader
	Identity  store.Identity
	Overrides *Overrides // what the program changes in View
}

// Snapshot makes a snapshot of the store: of everything, or, if root is not null, of an actor and what it reaches.
// The error is a *NoActorError if the actor is not there.
func (s *Stopped) Snapshot(ctx context.Context, to snapshot.Target, root event.ActorID) (*snapshot.Saved, error) {
	m := snapshot.Manifest{Kind: snapshot.Node, Store: s.Identity.Store, Program: s.Identity.Program, Taken: sched.RealClock{}.Now()}
	if _, err := store.PartitionsOf(s.View); err != nil {
		return nil, err // the store is empty
	}
	last, err := store.SnapshotNumberOf(s.View)
	if err != nil {
		return nil, err
	}
	if m.Number, err = snapshot.NextNumber(ctx, to, m.Store, last); err != nil {
		return nil, err
	}
	rows := snapshot.Rows(func(emit func(key, row []byte) error) error { return NodeRows(s.View, s.Overrides, emit) })
	if !root.IsNull() {
		cut, err := CutAt(s.View, root)
		if err != nil {
			return nil, err
		}
		label, err := cut.Label(m.Program)
		if err != nil {
			return nil, err
		}
		m.Actor = bytejson.Text(label)
		m.Kind, m.Root, m.Actors = snapshot.Actor, cut.Root.String(), cut.Actors()
		cut.Overrides = s.Overrides
		rows = cut.Rows
	}
	return snapshot.Save(ctx, to, m, rows)
}
