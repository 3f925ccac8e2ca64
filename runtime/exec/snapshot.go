package exec

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Archive makes snapshots of what the system has, while events go on.
func (s *System) Archive() (*archive.Live, error) {
	if s.durable == nil {
		return nil, ErrNoStore
	}
	return &s.durable.archive, nil
}

// overrides returns what the classes of the program change in a view of the store.
func (s *System) overrides(view store.Reader) *archive.Overrides {
	return newOverrides(view, &s.durable.Layouts, &s.cfg)
}

// overriding runs the snapshot blocks of classes on copies of actors.
type overriding struct {
	ev     *Event // lends its log; it is never admitted
	writes state.Writer
}

// newOverrides returns nil if no class has a snapshot block. Besides the classes it uses the limits and the log of cfg.
func newOverrides(view store.Reader, l *state.Layouts, cfg *Config) *archive.Overrides {
	if !slices.ContainsFunc(cfg.Classes, func(c *Class) bool { return c.Snapshot != nil }) {
		return nil
	}
	limits := &System{cfg: *cfg, log: cfg.Log}
	ev := limits.newEvent()
	ev.Use(&activation.System{Host: &limits.host, Log: cfg.Log, DepthMax: cfg.DepthMax, FuelMax: cfg.FuelMax, Seed: cfg.Seed})
	o := &overriding{ev: ev}
	return &archive.Overrides{View: view, Layouts: l, Has: func(c *order.Shape) bool { return activation.ClassOf(c).Snapshot != nil },
		New: func(c *order.Shape) order.Object { return activation.ClassOf(c).New() }, References: copiedReferences, Run: o.run}
}

// StoppedOverrides returns what the classes of a program change in the rows of a store that no system
// uses. A program that would have to change the schema is refused, as its rows would not fit.
func StoppedOverrides(view store.Reader, classes []*Class, log *slog.Logger) (*archive.Overrides, error) {
	cfg := Config{Classes: classes, Log: log}
	cfg.defaults()
	l := &state.Layouts{}
	if err := l.Open(view, activation.Shapes(classes), activation.StoredClasses(classes), nil); err != nil {
		return nil, err
	}
	if l.Schema.Changed() {
		return nil, fmt.Errorf("another version of the program has written the data last: take the snapshot with that one, or start this one on the data first")
	}
	return newOverrides(view, l, &cfg), nil
}

// run runs the block of a class on a copy of an actor, and returns the rows of what it has written.
func (o *overriding) run(self *order.Handle, copied order.Object, stored image.Stored, layout *store.Layout) (edits *row.Edits, err error) {
	w := &o.writes
	defer w.Discard()
	err = o.ev.RunBlock(self, copied, func() {
		o.ev.WritesTo(w)
		edits = row.NewEdits()
		w.EncodeCopy(stored, self.ID, layout, edits)
	})
	return edits, err
}

// copiedRefs are what a copy refers to: the same reference for the same number of a client object. Of an actor and of a
// client object only the id is known. More of them cannot be seen outside of an event.
type copiedRefs struct {
	resolve func(event.ActorID) order.Ref
	clients map[uint64]*ClientObject
}

func copiedReferences(resolve func(event.ActorID) order.Ref) any {
	return &copiedRefs{resolve, map[uint64]*ClientObject{}}
}

// Resolve returns the reference to an actor.
func (c *copiedRefs) Resolve(id event.ActorID) order.Ref { return c.resolve(id) }

// ResolveClient returns the reference to a client object.
func (c *copiedRefs) ResolveClient(number uint64) ClientRef {
	if number == 0 {
		return ClientRef{}
	}
	o := c.clients[number]
	if o == nil {
		o = &ClientObject{client: goneClient, number: number}
		c.clients[number] = o
	}
	return ClientRef{o: o}
}
