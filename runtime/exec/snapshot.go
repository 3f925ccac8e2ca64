package exec

import (
	"context"
	"errors"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Snapshot makes a snapshot of everything that the node has, as of a moment of the call,
// while events go on.
func (s *System) Snapshot(ctx context.Context, to snapshot.Target) (*snapshot.Saved, error) {
	return s.takeSnapshot(ctx, to, snapshot.Manifest{Kind: snapshot.Node}, func(view store.Reader, _ *snapshot.Manifest) (snapshot.Rows, error) {
		o := s.overrides(view)
		return func(emit func(key, row []byte) error) error { return archive.NodeRows(view, o, emit) }, nil
	})
}

// SnapshotActor makes a snapshot of an actor and everything that it reaches, as of a moment of
// the call, while events go on. The error is a *archive.NoActorError if the actor is not there.
func (s *System) SnapshotActor(ctx context.Context, to snapshot.Target, actor order.Ref) (*snapshot.Saved, error) {
	return s.takeSnapshotOf(ctx, to, func(store.Reader) (event.ActorID, error) { return order.HandleOf(actor).ID, nil })
}

// SnapshotNamed is SnapshotActor of the actor that has a name at that moment. The errors are those of
// archive.ActorName.Find, too.
func (s *System) SnapshotNamed(ctx context.Context, to snapshot.Target, actor archive.ActorName) (*snapshot.Saved, error) {
	return s.takeSnapshotOf(ctx, to, actor.Find)
}

// takeSnapshotOf saves the actor that root finds, and everything that it reaches.
func (s *System) takeSnapshotOf(ctx context.Context, to snapshot.Target, root func(store.Reader) (event.ActorID, error)) (*snapshot.Saved, error) {
	return s.takeSnapshot(ctx, to, snapshot.Manifest{Kind: snapshot.Actor}, func(view store.Reader, m *snapshot.Manifest) (snapshot.Rows, error) {
		id, err := root(view)
		if err != nil {
			return nil, err
		}
		c, err := archive.CutAt(view, id)
		if err != nil {
			return nil, err
		}
		m.Root, m.Actors, c.Overrides = id.String(), c.Actors(), s.overrides(view)
		label, err := c.Label(m.Program)
		m.Actor = bytejson.Text(label)
		return c.Rows, err
	})
}

// overrides returns what the classes of the program change in a view of the store.
func (s *System) overrides(view store.Reader) *archive.Overrides {
	return newOverrides(view, &s.durable.Layouts, &s.cfg)
}

// takeSnapshot saves the rows that pick finds in a view of the store.
func (s *System) takeSnapshot(ctx context.Context, to snapshot.Target, m snapshot.Manifest,
	pick func(store.Reader, *snapshot.Manifest) (snapshot.Rows, error),
) (saved *snapshot.Saved, err error) {
	if s.durable == nil {
		return nil, ErrNoStore
	}
	st := s.durable.Store
	s.durable.snapshots.Lock()
	defer s.durable.snapshots.Unlock()
	view := st.Snapshot()
	defer func() { err = errors.Join(err, view.Close()) }()
	m.Store, m.Program, m.Number, m.Taken = st.Identity().Store, st.Identity().Program, st.SnapshotNumber()+1, s.clock.Now()
	rows, err := pick(view, &m)
	if err != nil {
		return nil, err
	}
	// What the view shows lies before this batch in the journal: a snapshot must not have what
	// a crash may still undo.
	b := st.NewBatch()
	st.SetSnapshotNumber(b, m.Number)
	if err := st.Wait(ctx, st.Append(b)); err != nil {
		return nil, err
	}
	return snapshot.Save(ctx, to, m, rows)
}
