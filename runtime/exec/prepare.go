package exec

import (
	"encoding/binary"
	"github.com/aeon-lang/aeon/runtime/order"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
)

// preparation builds the batch of one event. It stays with the pooled event, so that the
// space it needs is found again.
type preparation struct {
	d     *durable
	batch store.Batch // nil until something is written
	key   []byte
	row   []byte
	end   []byte // of a range

	fields  image.Writer
	actors  []dirtyActor
	index   map[*order.Self]int // of actors, when they are many
	encoder codec.Encoder
	args    []byte   // of what the event issues, one behind the other
	result  []byte   // of the request that ends with the event
	timers  []*timer // that the event has set, in order

	orphans []orphan
}

// dirtyActor is what an event has written of one actor.
type dirtyActor struct {
	self   *order.Self
	fields []dirtyField
}

type dirtyField struct {
	field   uint16
	whole   bool
	changes []value.Undo
}

// orphan is an actor that was owned by one that the event deletes.
type orphan struct{ owner, child *order.Handle }

// open returns the batch.
func (w *preparation) open() store.Batch {
	if w.batch == nil {
		w.batch = w.d.store.NewBatch()
	}
	return w.batch
}

// set ends the row that was begun, and puts it under the key.
func (w *preparation) set() {
	w.row = store.EndRow(w.row, 0, w.key)
	w.open().Set(w.key, w.row)
}

func (w *preparation) begin() { w.row = store.BeginRow(w.row[:0]) }

// drop gives back what has been prepared.
func (w *preparation) drop() {
	w.fields.Drop()
	if w.batch != nil {
		w.batch.Discard()
	}
	w.reset()
}

// reset forgets the batch, which has been appended or discarded.
func (w *preparation) reset() {
	w.batch, w.index = nil, nil
	for i := range w.actors {
		a := &w.actors[i]
		a.self = nil
		for j := range a.fields {
			clear(a.fields[j].changes)
			a.fields[j].changes = a.fields[j].changes[:0]
		}
		a.fields = a.fields[:0]
	}
	w.actors = w.actors[:0]
	w.args, w.result = w.args[:0], w.result[:0]
	clear(w.timers)
	w.timers = w.timers[:0]
	clear(w.orphans)
	w.orphans = w.orphans[:0]
}

// actor returns what has been written of an actor.
func (w *preparation) actor(self *order.Self) *dirtyActor {
	if w.index != nil {
		if i, ok := w.index[self]; ok {
			return &w.actors[i]
		}
	} else {
		for i := len(w.actors) - 1; i >= 0; i-- {
			if w.actors[i].self == self {
				return &w.actors[i]
			}
		}
	}
	n := len(w.actors)
	if n < cap(w.actors) {
		w.actors = w.actors[:n+1]
	} else {
		w.actors = append(w.actors, dirtyActor{})
	}
	w.actors[n].self = self
	switch {
	case w.index != nil:
		w.index[self] = n
	case n == handleSetScanMax:
		w.index = make(map[*order.Self]int, 4*n)
		for i := range w.actors {
			w.index[w.actors[i].self] = i
		}
	}
	return &w.actors[n]
}

func (a *dirtyActor) field(f uint16) *dirtyField {
	for i := range a.fields {
		if a.fields[i].field == f {
			return &a.fields[i]
		}
	}
	n := len(a.fields)
	if n < cap(a.fields) {
		a.fields = a.fields[:n+1]
	} else {
		a.fields = append(a.fields, dirtyField{})
	}
	a.fields[n].field, a.fields[n].whole = f, false
	return &a.fields[n]
}

// prepare encodes what may be refused: the fields that the event has changed, the
// arguments of what it issues, and the result that its request gets. It comes before anything is changed for good, so that the
// event can still be undone: a value may nest too deeply to be stored.
func (ev *Event) prepare() (err error) {
	w := ev.preparation()
	defer func() {
		if err != nil {
			w.drop()
		}
	}()
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(value.Fault)
			if !ok {
				panic(p)
			}
			err = &AbortError{Msg: f.Msg, Event: ev.ID, Fault: true}
		}
	}()
	ev.gatherWrites(w)
	for i := range w.actors {
		w.actor1(&w.actors[i])
	}
	if len(ev.root.ops) > 0 {
		w.encodeArgs(ev.root.ops)
	}
	if ev.requested() != nil && !goesOn(ev.root.ops) {
		w.encodeResult(ev.Args)
	}
	return nil
}

func (ev *Event) preparation() *preparation {
	if ev.prep == nil {
		ev.prep = &preparation{}
	}
	ev.prep.d = ev.sys.durable
	return ev.prep
}

// gatherWrites lists what the event has written, by actor and field.
func (ev *Event) gatherWrites(w *preparation) {
	for i := range ev.root.log {
		e := &ev.root.log[i]
		h := e.self.Handle()
		if h.Is(order.Dying) && ev.Deleting(h) {
			continue
		}
		f := w.actor(e.self).field(e.field &^ Inside)
		if u := e.undoer(); u != nil {
			f.changes = append(f.changes, u)
		} else {
			f.whole = true
		}
	}
	for _, list := range [...][]*order.Handle{ev.Fresh, ev.Born} {
		for _, h := range list {
			if ev.Deleting(h) {
				continue
			}
			a := w.actor(h.Object.ActorSelf())
			for i := range h.Shape.Fields {
				a.field(uint16(i)).whole = true
			}
		}
	}
}

// actor1 writes the fields of one actor.
func (w *preparation) actor1(a *dirtyActor) {
	h := a.self.Handle()
	obj := h.Object.(image.Stored)
	w.fields.Begin(w.open(), h.ID, w.d.layout(h.Shape))
	for i := range a.fields {
		f := &a.fields[i]
		w.fields.Field(obj, int(f.field), f.changes, f.whole)
	}
}

// encodeArgs encodes the arguments of sub-events and timers, and notes in each op where they
// are.
func (w *preparation) encodeArgs(ops []op) {
	for i := range ops {
		o := &ops[i]
		switch {
		case o.kind == opBranch:
			w.encodeArgs(o.branch.cx.ops)
		case o.kind == opEmit, o.kind == opTail, o.kind == opTimer && o.object == nil:
			o.encoded[0] = uint32(len(w.args))
			w.args = appendArgs(w.args, &w.encoder, o.args)
			o.encoded[1] = uint32(len(w.args))
		}
	}
}

// encodeResult encodes the result that is in args, if they have any.
func (w *preparation) encodeResult(args order.Args) {
	if a, ok := args.(resultCodec); ok {
		w.encoder.Reset()
		a.EncodeResult(&w.encoder)
		w.result = append(w.result, w.encoder.Data()...)
	}
}

// argsCodec is implemented by the arguments of generated methods.
type argsCodec interface {
	Encode(*codec.Encoder)
	Decode(*codec.Decoder)
}

// appendArgs appends the arguments of a method, nothing if there are none.
func appendArgs(b []byte, e *codec.Encoder, args order.Args) []byte {
	if args == nil {
		return b
	}
	a, ok := args.(argsCodec)
	if !ok {
		assert.Unreachable("arguments of type %T cannot be stored", args)
	}
	e.Reset()
	a.Encode(e)
	return append(b, e.Data()...)
}

// header writes the header of an actor that is in the graph.
func (w *preparation) header(h *order.Handle) {
	p := w.d.sys.host.Graph.Parent(&h.Node)
	parent, units := w.d.sys.host.HandleOf(p), 0
	if !parent.Is(order.Virtual) {
		units = w.d.sys.host.Graph.Units(p, &h.Node)
	}
	w.headerBelow(h, parent, units)
}

// headerBelow is header for an actor whose T-parent is known, and owns it so often.
func (w *preparation) headerBelow(h, parent *order.Handle, units int) {
	r := headerRow{layout: h.Layout, top: parent == w.d.sys.host.Top, parent: parent.ID, units: uint32(units)}
	if h.Named != nil {
		r.flags |= headerNamed
		r.name, r.incarnation = h.Named.Name, h.Named.Incarnation
	}
	if !h.Is(order.Created | order.Fresh) {
		r.flags |= headerUnborn
	}
	w.key = appendHeaderKey(w.key[:0], h.ID)
	w.begin()
	w.row = r.append(w.row)
	w.set()
}

// edge writes the row of an edge, or removes it if it has no units, where the owner is not
// the T-parent; else the edge stands in the header.
func (w *preparation) edge(owner, child *order.Handle) {
	s := w.d.sys
	units := s.host.Graph.Units(&owner.Node, &child.Node)
	if s.host.ParentOf(child) == owner {
		w.headerBelow(child, owner, units)
		return
	}
	w.edgeRow(owner, child, units)
}

func (w *preparation) edgeRow(owner, child *order.Handle, units int) {
	w.key = appendEdgeKey(w.key[:0], owner.ID, child.ID)
	if units == 0 {
		w.open().Delete(w.key)
		return
	}
	w.begin()
	w.row = binary.AppendUvarint(w.row, uint64(units))
	w.set()
}

// name writes the row of a name: the last actor that has it, or has had it.
func (w *preparation) name(h *order.Handle, dead bool) {
	home := event.NamedActor(h.Shape.Package+"."+h.Shape.Name, h.Named.Name, 0, len(w.d.sys.host.Partitions))
	w.key = appendNameKey(w.key[:0], home.Birth, h.Shape, h.Named.Name)
	w.begin()
	w.row = binary.AppendUvarint(w.row, uint64(h.Named.Incarnation))
	w.row = appendBool(w.row, dead)
	w.set()
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}
