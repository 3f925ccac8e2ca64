package exec

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
)

// overriding runs the snapshot blocks of classes on copies of actors.
type overriding struct {
	view    store.Reader
	layouts *state.Layouts
	ev      *Event // lends its log; it is never admitted
	writes  state.Writer
}

// newOverrides returns nil if no class has a snapshot block. Besides the classes it uses the limits and the log of cfg.
func newOverrides(view store.Reader, l *state.Layouts, cfg *Config) *archive.Overrides {
	if !slices.ContainsFunc(cfg.Classes, func(c *Class) bool { return c.Snapshot != nil }) {
		return nil
	}
	limits := &System{cfg: *cfg, log: cfg.Log}
	ev := limits.newEvent().(*Event)
	ev.sys = limits
	o := &overriding{view: view, layouts: l, ev: ev}
	return &archive.Overrides{View: view, Layouts: l, Has: func(c *order.Shape) bool { return classOf(c).Snapshot != nil }, Run: o.run}
}

// StoppedOverrides returns what the classes of a program change in the rows of a store that no system
// uses. A program that would have to change the schema is refused, as its rows would not fit.
func StoppedOverrides(view store.Reader, classes []*Class, log *slog.Logger) (*archive.Overrides, error) {
	cfg := Config{Classes: classes, Log: log}
	cfg.defaults()
	schema, err := store.ReadSchema(view)
	if err != nil {
		return nil, err
	}
	if err := schema.Adopt(storedClasses(classes)); err != nil {
		return nil, err
	}
	if schema.Changed() {
		return nil, fmt.Errorf("another version of the program has written the data last: take the snapshot with that one, or start this one on the data first")
	}
	l := &state.Layouts{}
	l.Use(schema, shapes(classes))
	return newOverrides(view, l, &cfg), nil
}

// run runs the block of a class on a copy of an actor, and returns the rows of what it has written.
func (o *overriding) run(id event.ActorID, layout *store.Layout, shape *order.Shape) (edits *row.Edits, err error) {
	class := classOf(shape)
	refs := &copiedRefs{actors: map[event.ActorID]*order.Handle{}, clients: map[uint64]*ClientObject{}}
	self := order.HandleOf(refs.Resolve(id))
	self.Shape = shape
	obj := class.New()
	order.Bind(obj, self)
	stored, ok := obj.(image.Stored)
	if !ok {
		return nil, fmt.Errorf("class %s cannot be stored", class.Name)
	}
	if err := image.NewReader(o.view, id, layout, refs).Read(stored); err != nil {
		return nil, err
	}
	cx, w := &o.ev.root, &o.writes
	defer func() {
		cx.reset()
		w.Discard()
	}()
	ended := false
	defer func() {
		if ended {
			return
		}
		p := recover()
		if u, ok := p.(*value.Unreadable); ok {
			err = u.Err
			return
		}
		out, _ := cx.caught(p)
		err = out.err
	}()
	cx.fill(o.ev.sys.cfg.FuelMax)
	cx.push(self, nil)
	class.Snapshot(&cx.Cx, obj)
	o.ev.gatherWrites(w)
	edits = row.NewEdits()
	w.EncodeCopy(stored, id, o.layouts.Of(shape), edits)
	ended = true
	return edits, nil
}

// copiedRefs are the actors and client objects that a copy refers to: the same reference for the same id.
// Only their ids are known. More of them cannot be seen outside of an event.
type copiedRefs struct {
	actors  map[event.ActorID]*order.Handle
	clients map[uint64]*ClientObject
}

// Resolve returns the reference to an actor.
func (c *copiedRefs) Resolve(id event.ActorID) order.Ref {
	if id.IsNull() {
		return order.Ref{}
	}
	h := c.actors[id]
	if h == nil {
		h = &order.Handle{ID: id}
		c.actors[id] = h
	}
	return order.RefOf(h)
}

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
