package archive

import (
	"context"
	"errors"
	"sync"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Live is a store that a system uses, and goes on using while snapshots are made.
type Live struct {
	Store     *store.Store
	Clock     sched.Clock
	Overrides func(view store.Reader) *Overrides // what the program changes in a view of the store

	one sync.Mutex // held while a snapshot is made
}

// Snapshot makes a snapshot of everything, as of a moment of the call.
func (l *Live) Snapshot(ctx context.Context, to snapshot.Target) (*snapshot.Saved, error) {
	return l.take(ctx, to, snapshot.Manifest{Kind: snapshot.Node}, func(view store.Reader, _ *snapshot.Manifest) (snapshot.Rows, error) {
		o := l.Overrides(view)
		return func(emit func(key, row []byte) error) error { return NodeRows(view, o, emit) }, nil
	})
}

// SnapshotOf makes a snapshot of the actor that root finds, and everything that it reaches, as of a moment of the call.
func (l *Live) SnapshotOf(ctx context.Context, to snapshot.Target, root func(store.Reader) (event.ActorID, error)) (*snapshot.Saved, error) {
	return l.take(ctx, to, snapshot.Manifest{Kind: snapshot.Actor}, func(view store.Reader, m *snapshot.Manifest) (snapshot.Rows, error) {
		id, err := root(view)
		if err != nil {
			return nil, err
		}
		c, err := CutAt(view, id)
		if err != nil {
			return nil, err
		}
		m.Root, m.Actors, c.Overrides = id.String(), c.Actors(), l.Overrides(view)
		label, err := c.Label(m.Program)
		m.Actor = bytejson.Text(label)
		return c.Rows, err
	})
}

// take saves the rows that pick finds in a view of the store.
func (l *Live) take(ctx context.Context, to snapshot.Target, m snapshot.Manifest,
	pick func(store.Reader, *snapshot.Manifest) (snapshot.Rows, error),
) (saved *snapshot.Saved, err error) {
	st := l.Store
	l.one.Lock()
	defer l.one.Unlock()
	view := st.Snapshot()
	defer func() { err = errors.Join(err, view.Close()) }()
	m.Store, m.Program, m.Number, m.Taken = st.Identity().Store, st.Identity().Program, st.SnapshotNumber()+1, l.Clock.Now()
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
