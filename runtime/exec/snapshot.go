package exec

import (
	"context"
	"errors"
	"sync"

	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/store"
)

// snapshots numbers the snapshots of a system; one is taken at a time.
type snapshots struct{ sync.Mutex }

// Snapshot makes a snapshot of everything that the node has, as of a moment of the call,
// while events go on.
func (s *System) Snapshot(ctx context.Context, to snapshot.Target) (*snapshot.Saved, error) {
	return s.takeSnapshot(ctx, to, snapshot.Manifest{Kind: snapshot.Node}, func(view store.Reader, _ *snapshot.Manifest) (snapshot.Rows, error) {
		return func(emit func(key, row []byte) error) error { return NodeRows(view, emit) }, nil
	})
}

// SnapshotActor makes a snapshot of an actor and everything that it reaches, as of a moment of
// the call, while events go on. The error is a *NoActorError if the actor is not there.
func (s *System) SnapshotActor(ctx context.Context, to snapshot.Target, actor Ref) (*snapshot.Saved, error) {
	m := snapshot.Manifest{Kind: snapshot.Actor, Actor: actor.h.String(), Root: actor.h.id.String()}
	return s.takeSnapshot(ctx, to, m, func(view store.Reader, m *snapshot.Manifest) (snapshot.Rows, error) {
		c, err := CutAt(view, actor.h.id)
		if err != nil {
			return nil, err
		}
		m.Actors = c.Actors()
		return c.Rows, nil
	})
}

// takeSnapshot saves the rows that pick finds in a view of the store.
func (s *System) takeSnapshot(ctx context.Context, to snapshot.Target, m snapshot.Manifest,
	pick func(store.Reader, *snapshot.Manifest) (snapshot.Rows, error),
) (saved *snapshot.Saved, err error) {
	if s.durable == nil {
		return nil, ErrNoStore
	}
	st := s.durable.store
	s.durable.snapshots.Lock()
	defer s.durable.snapshots.Unlock()
	view := st.Snapshot()
	defer func() { err = errors.Join(err, view.Close()) }()
	m.Store, m.Program, m.Number, m.Taken = st.Identity().Store, st.Identity().Program, st.SnapshotNumber()+1, s.clock.Now()
	// What the view shows lies before this batch in the journal: a snapshot must not have what
	// a crash may still undo.
	b := st.NewBatch()
	st.SetSnapshotNumber(b, m.Number)
	if err := st.Wait(ctx, st.Append(b)); err != nil {
		return nil, err
	}
	rows, err := pick(view, &m)
	if err != nil {
		return nil, err
	}
	return snapshot.Save(ctx, to, m, rows)
}
