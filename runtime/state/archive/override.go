package archive

import (
	"errors"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Overrides changes the rows of a view as the snapshot blocks of a program's classes say. The state of an
// actor whose class has a snapshot block is read from the view. The block runs on that copy, and the rows
// that it has written replace those of the view. All other rows stay as they are, to the byte.
// Actors of other classes are not read. A nil *Overrides changes nothing. It belongs to one goroutine.
type Overrides struct {
	View    store.Reader
	Layouts *state.Layouts
	// Has reports whether a class has a snapshot block.
	Has func(*order.Shape) bool
	New func(*order.Shape) order.Object // makes an object of a class
	// References returns what the values of one copy need to be read: the aeonrt.Resolver of their references.
	References func(resolve func(event.ActorID) order.Ref) any
	// Run runs the block of a class on a copy of an actor. The result is the rows that the block has written, by a layout.
	Run func(self *order.Handle, copied order.Object, stored image.Stored, layout *store.Layout) (*row.Edits, error)
}

// run runs the block of a class on a copy of an actor, which has a layout in View.
func (o *Overrides) run(id event.ActorID, layout *store.Layout, class *order.Shape) (*row.Edits, error) {
	actors := map[event.ActorID]*order.Handle{} // the same reference for the same id
	resolve := func(id event.ActorID) order.Ref {
		if id.IsNull() {
			return order.Ref{}
		}
		h := actors[id]
		if h == nil {
			h = &order.Handle{ID: id}
			actors[id] = h
		}
		return order.RefOf(h)
	}
	self := order.HandleOf(resolve(id))
	self.Shape = class
	copied := o.New(class)
	order.Bind(copied, self)
	stored, ok := copied.(image.Stored)
	if !ok {
		return nil, fmt.Errorf("class %s cannot be stored", class.Name)
	}
	if err := image.NewReader(o.View, id, layout, o.References(resolve)).Read(stored); err != nil {
		return nil, err
	}
	return o.Run(self, copied, stored, o.Layouts.Of(class))
}

// OverrideError says that a snapshot block has failed, and with it the snapshot.
type OverrideError struct {
	Class string // with its package
	Actor string // Class("name") or Class(id)
	Cause error  // its AbortMessage, if it has one, is the message of the block
}

// Error implements error.
func (e *OverrideError) Error() string {
	at := ""
	var placed interface{ At() string }
	if errors.As(e.Cause, &placed) && placed.At() != "" {
		at = ", at " + placed.At()
	}
	return fmt.Sprintf("the snapshot block of %s has failed on %s%s: %v", e.Class, e.Actor, at, e.Cause)
}

// Unwrap returns the cause.
func (e *OverrideError) Unwrap() error { return e.Cause }

// node emits all rows of the view. The fields of each actor that is read are emitted by themselves, at their place in
// the order of the keys: behind the headers of the partition.
func (o *Overrides) node(emit func(key, row []byte) error) error {
	partitions, err := store.PartitionsOf(o.View)
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
			if err := row.Each(o.View, done, from, plain); err != nil {
				return err
			}
			if err := o.fields(actors[i].id, &actors[i].header, emit); err != nil {
				return err
			}
			done = to
		}
	}
	return row.Each(o.View, done, row.EndOfKeys, plain)
}

// changedActor is an actor that a snapshot block runs on.
type changedActor struct {
	id     event.ActorID
	header row.Header
}

// changed returns the actors of a partition that snapshot blocks run on, in the order of their ids.
func (o *Overrides) changed(p event.PartitionID) (list []changedActor, err error) {
	err = row.Section(o.View, p, store.Headers, store.ActorSize, func(key, rest, _, payload []byte) error {
		a := changedActor{id: store.ActorInKey(rest)}
		if err := a.header.Read(payload); err != nil {
			return row.Damage(key, err)
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
func (o *Overrides) layoutOf(h *row.Header) (*store.Layout, *order.Shape, error) {
	if o == nil || h.Unborn {
		return nil, nil, nil
	}
	layout, shape, err := o.Layouts.ByNumber(h.Layout)
	if err != nil || !o.Has(shape) {
		return nil, nil, err
	}
	return layout, shape, nil
}

// UnsettledError says that a snapshot of several stores cannot be taken now: the home of an event has decided that it commits, and other stores may not have
// carried that out. What they have prepared would then change actors behind their snapshot blocks, which have run on them without that.
type UnsettledError struct{ Event event.EventID }

// Error implements error.
func (e *UnsettledError) Error() string {
	return fmt.Sprintf("other stores may not have carried out what was decided on event %v, and classes have snapshot blocks: try again", e.Event)
}

// settled returns an *UnsettledError if a view has a decision. What is prepared elsewhere and not decided in its home's view does not happen in what is restored.
func settled(view store.Reader) error {
	partitions, err := store.PartitionsOf(view)
	for p := 0; p < partitions && err == nil; p++ {
		err = row.Section(view, event.PartitionID(p), store.InDoubt, row.InDoubtKeyMin, func(key, rest, _, _ []byte) error {
			k, err := row.ReadInDoubtKey(rest)
			if err == nil && k.Kind == row.KindDecided {
				return &UnsettledError{k.Event}
			}
			return row.Damage(key, err)
		})
	}
	return err
}

// fields emits the rows of an actor's fields as its class's snapshot block has changed them.
func (o *Overrides) fields(id event.ActorID, h *row.Header, emit func(key, row []byte) error) error {
	layout, class, err := o.layoutOf(h)
	if err != nil {
		return err
	}
	edits, err := o.run(id, layout, class)
	if err != nil {
		e := &OverrideError{Class: class.Path(), Actor: fmt.Sprintf("%s(%v)", class.Name, id), Cause: err}
		if h.Named {
			e.Actor = fmt.Sprintf("%s(%q)", class.Name, h.Name)
		}
		return e
	}
	from, to := store.FieldsRange(id)
	return edits.Over(o.View, from, to, emit)
}
