package archive

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
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
	return l.take(ctx, to, snapshot.Manifest{Kind: snapshot.Node}, l.everything)
}

// everything picks all rows.
func (l *Live) everything(view store.Reader, _ *snapshot.Manifest) (snapshot.Rows, error) {
	o := l.Overrides(view)
	return func(emit func(key, row []byte) error) error { return NodeRows(view, o, emit) }, nil
}

// SnapshotActor makes a snapshot of an actor and everything that it reaches, as of a moment of the call. The error is a *NoActorError if the actor is not
// there.
func (l *Live) SnapshotActor(ctx context.Context, to snapshot.Target, actor order.Ref) (*snapshot.Saved, error) {
	return l.snapshotOf(ctx, to, func(store.Reader) (event.ActorID, error) { return order.HandleOf(actor).ID, nil })
}

// SnapshotNamed is SnapshotActor of the actor that has a name at that moment. The errors are those of ActorName.Find, too.
func (l *Live) SnapshotNamed(ctx context.Context, to snapshot.Target, actor ActorName) (*snapshot.Saved, error) {
	return l.snapshotOf(ctx, to, actor.Find)
}

// snapshotOf makes a snapshot of the actor that root finds.
func (l *Live) snapshotOf(ctx context.Context, to snapshot.Target, root func(store.Reader) (event.ActorID, error)) (*snapshot.Saved, error) {
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

// pick finds the rows of a snapshot in a view of the store, and notes in the manifest what it is of.
type pick = func(view store.Reader, m *snapshot.Manifest) (snapshot.Rows, error)

// take saves the rows that pick finds in a view of the store as it is now.
func (l *Live) take(ctx context.Context, to snapshot.Target, m snapshot.Manifest, pick pick) (saved *snapshot.Saved, err error) {
	l.one.Lock()
	defer l.one.Unlock()
	view := l.Store.Snapshot()
	defer func() { err = errors.Join(err, view.Close()) }()
	m.Taken = l.Clock.Now()
	return l.save(ctx, to, m, view, pick)
}

// save saves the rows that pick finds in a view of the store. Caller holds one.
func (l *Live) save(ctx context.Context, to snapshot.Target, m snapshot.Manifest, view store.Reader, pick pick) (*snapshot.Saved, error) {
	st := l.Store
	m.Store, m.Program = st.Identity().Store, st.Identity().Program
	rows, err := pick(view, &m)
	if err != nil {
		return nil, err
	}
	if m.Number, err = snapshot.NextNumber(ctx, to, m.Store, st.SnapshotNumber()); err != nil {
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

// Halted is a store that is halted for a snapshot of several stores, and then what it had: they are halted together, and saved one by one.
type Halted struct {
	of     *Live
	view   store.Snapshot
	resume func() bool
}

// Halt has nothing be appended to the store until Resume, or until limit has passed. The caller calls Close. The error is an *UnsettledError if no
// snapshot can be taken now.
func (l *Live) Halt(limit time.Duration) (*Halted, error) {
	h := &Halted{of: l}
	h.view, h.resume = l.Store.Halt(limit)
	if l.Overrides(h.view) != nil {
		if err := settled(h.view); err != nil {
			return nil, errors.Join(err, h.Close())
		}
	}
	return h, nil
}

// Resume has the store go on, and reports whether it was halted up to now.
func (h *Halted) Resume() bool { return h.resume() }

// Save makes the part that the store has of a snapshot of several, once it goes on. In a cluster it fails if the store had another leader meanwhile, which
// may have changed it while this one was halted.
func (h *Halted) Save(ctx context.Context, to snapshot.Target, set snapshot.Set, taken time.Time) (*snapshot.Saved, error) {
	h.of.one.Lock()
	defer h.of.one.Unlock()
	return h.of.save(ctx, to, snapshot.Manifest{Kind: snapshot.Store, Set: &set, Taken: taken}, h.view, h.of.everything)
}

// Close has the store go on, and gives the view back.
func (h *Halted) Close() error {
	h.resume()
	return h.view.Close()
}
