package exec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"github.com/aeon-lang/aeon/runtime/order"
	"log/slog"
	"slices"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Overrides changes the rows of a view into what the classes of a program want snapshots to
// contain of their actors. Of an actor whose class has a snapshot block the state is read from the view,
// the block runs on that copy, and what it has written takes the place of the rows: all others stay
// as they are, to the byte. Actors of other classes are not read. A nil *Overrides changes nothing. It
// belongs to one goroutine.
type Overrides struct {
	view    store.Reader
	layouts *layouts
	ev      *Event // lends its log; it is never admitted
	writes  preparation
}

// newOverrides returns nil if no class has a snapshot block. Of cfg the limits and the log count.
func newOverrides(view store.Reader, l *layouts, cfg *Config) *Overrides {
	if !slices.ContainsFunc(cfg.Classes, func(c *Class) bool { return c.Snapshot != nil }) {
		return nil
	}
	limits := &System{cfg: *cfg, log: cfg.Log}
	ev := limits.newEvent().(*Event)
	ev.sys = limits
	return &Overrides{view: view, layouts: l, ev: ev}
}

// StoppedOverrides returns what the classes of a program change in the rows of a store that no system
// uses. A program that would have to change the schema is refused, as its rows would not fit.
func StoppedOverrides(view store.Reader, classes []*Class, log *slog.Logger) (*Overrides, error) {
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
	l := &layouts{}
	l.use(schema, classes)
	return newOverrides(view, l, &cfg), nil
}

// OverrideError says that a snapshot block has failed, and with it the snapshot.
type OverrideError struct {
	Class string // with its package
	Actor string // Class("name") or Class(id)
	Cause error  // an *AbortError, if it was the block's own doing
}

// Error implements error.
func (e *OverrideError) Error() string {
	at := ""
	if abort, ok := e.Cause.(*AbortError); ok && len(abort.Path) > 0 {
		at = fmt.Sprintf(", at %s:%d", abort.Pos().File, abort.Pos().Line)
	}
	return fmt.Sprintf("the snapshot block of %s has failed on %s%s: %v", e.Class, e.Actor, at, e.Cause)
}

// Unwrap returns the cause.
func (e *OverrideError) Unwrap() error { return e.Cause }

// node emits all rows of the view. Of each actor that is read the fields are emitted apart, which is where they
// stand in the order of the keys: behind the headers of the partition.
func (o *Overrides) node(emit func(key, row []byte) error) error {
	partitions, err := store.PartitionsOf(o.view)
	if err != nil {
		return err
	}
	plain := func(key, row, _ []byte) error { return emit(key, row) }
	var done []byte
	for p := range partitions {
		actors, err := o.changed(event.PartitionID(p))
		if err != nil {
			return err
		}
		for i := range actors {
			from, to := store.FieldsRange(actors[i].id)
			if err := eachRowOf(o.view, done, from, plain); err != nil {
				return err
			}
			if err := o.fields(actors[i].id, &actors[i].header, emit); err != nil {
				return err
			}
			done = to
		}
	}
	return eachRowOf(o.view, done, endOfKeys, plain)
}

// endOfKeys lies behind all keys.
var endOfKeys = []byte{0xff}

// changedActor is an actor that a snapshot block runs on.
type changedActor struct {
	id     event.ActorID
	header headerRow
}

// changed returns the actors of a partition that snapshot blocks run on, in the order of their ids.
func (o *Overrides) changed(p event.PartitionID) (list []changedActor, err error) {
	from, to := store.SectionRange(p, store.Headers)
	err = eachRowOf(o.view, from, to, func(key, _, payload []byte) error {
		if len(key) != sectionPrefix+8 {
			return &store.CorruptError{Key: bytes.Clone(key), Reason: "its key has another length"}
		}
		a := changedActor{id: event.ActorID{Birth: p, Serial: binary.BigEndian.Uint64(key[sectionPrefix:])}}
		if err := a.header.read(payload); err != nil {
			return &store.CorruptError{Key: bytes.Clone(key), Reason: err.Error()}
		}
		_, class, err := o.layoutOf(&a.header)
		if class != nil {
			list = append(list, a)
		}
		return err
	})
	return list, err
}

// layoutOf returns the layout and the class of an actor that a snapshot block runs on, else nil.
func (o *Overrides) layoutOf(h *headerRow) (*store.Layout, *Class, error) {
	if o == nil || h.flags&headerUnborn != 0 {
		return nil, nil, nil
	}
	layout, shape, err := o.layouts.byNumber(h.layout)
	if err != nil || classOf(shape).Snapshot == nil {
		return nil, nil, err
	}
	return layout, classOf(shape), nil
}

// fields emits the rows of an actor's fields as its class wants them.
func (o *Overrides) fields(id event.ActorID, h *headerRow, emit func(key, row []byte) error) error {
	layout, class, err := o.layoutOf(h)
	if err != nil {
		return err
	}
	edits := &rowEdits{rows: map[string][]byte{}}
	if err := o.run(id, layout, class, edits); err != nil {
		e := &OverrideError{Class: class.Path(), Actor: fmt.Sprintf("%s(%v)", class.Name, id), Cause: err}
		if h.flags&headerNamed != 0 {
			e.Actor = fmt.Sprintf("%s(%q)", class.Name, h.name)
		}
		return e
	}
	from, to := store.FieldsRange(id)
	return edits.over(o.view, from, to, emit)
}

// run runs the block of a class on a copy of an actor, and puts the rows of what it has written into b.
func (o *Overrides) run(id event.ActorID, layout *store.Layout, class *Class, b store.Batch) (err error) {
	refs := &copiedRefs{actors: map[event.ActorID]*order.Handle{}, clients: map[uint64]*ClientObject{}}
	self := refs.Resolve(id).Handle()
	self.Shape = &class.Shape
	obj := class.New()
	order.Bind(obj, self)
	stored, ok := obj.(image.Stored)
	if !ok {
		return fmt.Errorf("class %s cannot be stored", class.Name)
	}
	if err := image.NewReader(o.view, id, layout, refs).Read(stored); err != nil {
		return err
	}
	cx, w := &o.ev.root, &o.writes
	defer func() {
		cx.reset()
		w.fields.Drop()
		w.reset()
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
	cx.fuel = o.ev.sys.cfg.FuelMax
	cx.push(self, nil)
	class.Snapshot(cx, obj)
	o.ev.gatherWrites(w)
	for i := range w.actors { // one, unless nothing was written
		w.fields.Begin(b, id, o.layouts.of(&class.Shape))
		for _, f := range w.actors[i].fields {
			w.fields.Field(stored, int(f.field), f.changes, f.whole)
		}
	}
	ended = true
	return nil
}

// copiedRefs are the actors and client objects that a copy refers to: the same reference for the same id.
// Nothing is known of them but their ids, which is all that can be seen of them outside of an event.
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
