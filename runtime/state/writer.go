package state

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Writer writes the changes of actors by one event into a batch. Created and Changed note the changes. EncodeFields
// writes the fields; the event may still fail there. Ownership follows at the commit, and Appended when the batch has
// its place. A pooled event keeps its Writer, whose memory is used again.
type Writer struct {
	row.Writer
	state   *State
	fields  image.Writer
	actors  []dirtyActor
	index   map[*order.Self]int // of actors, when they are many
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

// orphan is an actor that was owned by an actor that the event deletes.
type orphan struct{ owner, child *order.Handle }

// scanMax is up to how many actors are searched without an index.
const scanMax = 16

// NewWriter returns a writer that has written nothing.
func NewWriter(s *State) *Writer {
	w := &Writer{}
	w.Of(s)
	return w
}

// Of makes w, which has written nothing, a writer for s.
func (w *Writer) Of(s *State) {
	// Invariant: a batch is that of one event.
	assert.That(w.Empty() && len(w.actors) == 0, "state: a writer changes its store in the middle of a batch")
	w.state, w.Store = s, s.Store
}

// Discard gives back what was written.
func (w *Writer) Discard() {
	w.fields.Drop()
	w.Writer.Discard()
	w.reset()
}

// Take returns the batch, nil if nothing was written. The writer begins another one.
func (w *Writer) Take() store.Batch {
	if !w.Empty() {
		w.fields.Finish()
	}
	w.reset()
	return w.Writer.Take()
}

// reset forgets what has been written.
func (w *Writer) reset() {
	w.index = nil
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
	clear(w.orphans)
	w.orphans = w.orphans[:0]
}

// actor returns what has been written of an actor.
func (w *Writer) actor(self *order.Self) *dirtyActor {
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
	case n == scanMax:
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

// Changed notes that a field of an actor has changed: u says what has changed in its container; nil is all of it.
func (w *Writer) Changed(self *order.Self, field uint16, u value.Undo) {
	f := w.actor(self).field(field)
	if u != nil {
		f.changes = append(f.changes, u)
	} else {
		f.whole = true
	}
}

// Created notes all fields of the actors that an attempt has made or constructed.
func (w *Writer) Created(a *order.Attempt) {
	for _, list := range [...][]*order.Handle{a.Fresh, a.Born} {
		for _, h := range list {
			if a.Deleting(h) {
				continue
			}
			d := w.actor(h.Object.ActorSelf())
			for i := range h.Shape.Fields {
				d.field(uint16(i)).whole = true
			}
		}
	}
}

// EncodeFields writes the fields that have changed. It panics with a value.Fault if a value nests too deeply.
func (w *Writer) EncodeFields() {
	for i := range w.actors {
		a := &w.actors[i]
		h := order.HandleOf(a.self.Ref())
		w.encode(a, h.Object.(image.Stored), h.ID, w.state.Layouts.Of(h.Shape), w.Batch())
	}
}

// EncodeCopy writes what has changed in obj, a copy of actor id that no handle leads to. The Writer has no State.
func (w *Writer) EncodeCopy(obj image.Stored, id event.ActorID, layout *store.Layout, b store.Batch) {
	for i := range w.actors { // there is one, or none if nothing was written
		w.encode(&w.actors[i], obj, id, layout, b)
	}
}

func (w *Writer) encode(a *dirtyActor, obj image.Stored, id event.ActorID, layout *store.Layout, b store.Batch) {
	w.fields.Begin(b, id, layout)
	for i := range a.fields {
		f := &a.fields[i]
		w.fields.Field(obj, int(f.field), f.changes, f.whole)
	}
}

// Header writes the header of an actor that is in the graph.
func (w *Writer) Header(h *order.Handle) {
	host := w.state.host
	p := host.Graph.Parent(&h.Node)
	parent, units := host.HandleOf(p), 0
	if !parent.Is(order.Virtual) {
		units = host.Graph.Units(p, &h.Node)
	}
	w.headerBelow(h, parent, units)
}

// headerBelow is Header for an actor whose T-parent is known, with the units of its edge from there.
func (w *Writer) headerBelow(h, parent *order.Handle, units int) {
	r := row.Header{Layout: h.Layout, Top: parent == w.state.host.Top, Parent: parent.ID, Units: uint32(units)}
	if h.Named != nil {
		r.Named, r.Name, r.Incarnation = true, h.Named.Name, h.Named.Incarnation
	}
	r.Unborn = !h.Is(order.Created | order.Fresh)
	w.Key = row.AppendHeaderKey(w.Key[:0], h.ID)
	w.Begin()
	w.Row = r.Append(w.Row)
	w.Set()
}

// edge writes the row of an edge, or removes the row if the edge has no units. An edge from the
// T-parent has no row: it is in the header.
func (w *Writer) edge(owner, child *order.Handle) {
	host := w.state.host
	units := host.Graph.Units(&owner.Node, &child.Node)
	if host.ParentOf(child) == owner {
		w.headerBelow(child, owner, units)
		return
	}
	w.edgeRow(owner, child, units)
}

func (w *Writer) edgeRow(owner, child *order.Handle, units int) {
	w.Key = row.AppendEdgeKey(w.Key[:0], owner.ID, child.ID)
	if units == 0 {
		w.Delete()
		return
	}
	w.Begin()
	w.Row = row.AppendEdge(w.Row, units)
	w.Set()
}

// name writes the row of a name: the actor that has the name, or had it last.
func (w *Writer) name(h *order.Handle, dead bool) {
	w.Key = row.AppendNameKey(w.Key[:0], h.Shape.Path(), h.Named.Name, len(w.state.host.Partitions))
	w.Begin()
	w.Row = row.Name{Incarnation: h.Named.Incarnation, Dead: dead}.Append(w.Row)
	w.Set()
}

// ListOrphans notes what the actors that an attempt deletes own, before its changes are applied.
func (w *Writer) ListOrphans(a *order.Attempt) {
	host := w.state.host
	for _, h := range a.Deletes {
		if h.Is(order.Fresh) {
			continue
		}
		for _, n := range host.Graph.Owned(nil, &h.Node) {
			w.orphans = append(w.orphans, orphan{h, host.HandleOf(n)})
		}
	}
}

// ReserveIDs makes sure that no later start gives the ids of the actors that an attempt has created.
func (s *State) ReserveIDs(a *order.Attempt) {
	serials := uint64(0)
	for _, h := range a.Fresh {
		serials = max(serials, event.CountOf(h.ID.Serial)) // references may stay even to an actor that is deleted at once
	}
	if serials > 0 {
		s.Store.ReserveIDs(serials)
	}
}

// Ownership writes the headers and edges that an attempt has made or changed. Its changes are applied.
func (w *Writer) Ownership(a *order.Attempt) {
	s := w.state
	for _, h := range a.Fresh {
		if !a.Deleting(h) {
			s.actors.keep(h)
			w.Header(h)
		}
	}
	s.ReserveIDs(a)
	for _, h := range a.Born {
		if !a.Deleting(h) {
			w.Header(h)
		}
	}
	for _, e := range a.Edges {
		switch {
		case a.Deleting(e.Owner), a.Deleting(e.Child), e.Child.Is(order.Deleted):
		case len(a.Fresh) > 0 && s.host.ParentOf(e.Child) == e.Owner && slices.Contains(a.Fresh, e.Child): // the edge is in its header
		default:
			w.edge(e.Owner, e.Child)
		}
	}
	for _, e := range a.Abroad {
		if !a.Deleting(e.Owner) {
			w.edgeRow(e.Owner, e.Child, s.host.AddAbroad(e.Owner.ID, e.Child.ID, e.Units))
		}
	}
	for _, h := range a.Deletes {
		for _, child := range s.host.OwnedAbroad(h.ID) {
			w.edgeRow(h, s.Handle(child), s.host.AddAbroad(h.ID, child, -s.host.UnitsAbroad(h.ID, child)))
		}
		if !slices.Contains(a.Fresh, h) { // else it is not stored
			w.deletion(h)
		}
	}
	for _, o := range w.orphans {
		if s.host.ParentOf(o.child) != o.owner && !a.Deleting(o.child) {
			w.edgeRow(o.owner, o.child, 0)
		}
	}
}

// deletion removes the rows of an actor that the event deletes. Actors that hung below it, and
// were owned by it alone, may be in the store alone: their headers go on naming it (attach.go).
// The row of a name stays for ever, so that the next actor of that name has another id.
func (w *Writer) deletion(h *order.Handle) {
	w.Key = row.AppendHeaderKey(w.Key[:0], h.ID)
	w.Delete()
	w.Key = row.AppendFieldsKey(w.Key[:0], h.ID)
	w.DeleteBelow()
	if obj, ok := h.Object.(image.Stored); ok {
		w.fields.Forget(obj)
	}
	w.Key = row.AppendEdgesKey(w.Key[:0], h.ID)
	w.DeleteBelow()
	if h.Named != nil {
		w.name(h, true)
	}
}

// Appended notes that the batch of an attempt has its place in the journal. The attempt still holds its locks.
func (s *State) Appended(a *order.Attempt, pos store.Position) {
	if len(a.Fresh)+len(a.Born)+len(a.Deletes) > 0 {
		s.appended(a, pos)
	}
}

func (s *State) appended(a *order.Attempt, pos store.Position) {
	for _, list := range [...][]*order.Handle{a.Fresh, a.Born, a.Deletes} {
		for _, h := range list {
			h.Stored(pos)
		}
	}
	for _, h := range a.Deletes {
		s.actors.loosen(h)
	}
	for _, list := range [...][]*order.Handle{a.Fresh, a.Born} {
		for _, h := range list {
			if !a.Deleting(h) && h.Object != nil {
				s.resident.add(h) // not before: until now only the event used its state
			}
		}
	}
}
