package image

import (
	"fmt"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Layout maps the fields of a program's class to stored ones.
type Layout = store.Layout

// Stored is implemented by the state of every actor class: generated code has the methods.
type Stored interface {
	// StoredRows returns what the actor knows of its rows.
	StoredRows() *Large
	// SaveField writes one field, by its index in the class.
	SaveField(w *Writer, field int)
	// LoadFields reads all fields. Errors stay in r.
	LoadFields(r *Reader)
}

// Writer turns fields of actors into rows of a batch. It may be used again; it belongs to
// one goroutine, which holds the actors for writing until the batch is in the log.
type Writer struct {
	batch   store.Batch
	id      event.ActorID
	layout  *Layout
	field   int
	changes []value.Undo
	whole   bool

	enc     codec.Encoder
	key     []byte // of the field
	element []byte
	row     []byte
	open    bool
	digest  bool // the rows are not stored
	large   *Large
	pending []func()
}

// Begin turns to the fields of the actor id, whose rows go into b.
func (w *Writer) Begin(b store.Batch, id event.ActorID, layout *Layout) {
	w.batch, w.id, w.layout = b, id, layout
}

// Field writes what an event has changed of a field, by its index in the class. changes are
// all undo records that the event has for the field, in the order of its log, also if whole
// is set. whole says that the field itself was assigned, or that the actor is new.
//
// A value that nests too deeply to be stored makes it panic with a value.Fault. Then the
// batch must not be applied, and Drop be called.
func (w *Writer) Field(obj Stored, field int, changes []value.Undo, whole bool) {
	w.field, w.changes, w.whole = field, changes, whole
	w.large = obj.StoredRows()
	w.key = store.AppendField(w.key[:0], w.id, w.layout.Fields[field].Number)
	obj.SaveField(w, field)
	if w.open {
		w.EndRow()
	}
	for _, f := range w.layout.Fields[field].Former {
		if f.Bare { // that was one row
			w.batch.Delete(store.AppendField(nil, w.id, f.Number))
		} else {
			w.batch.DeleteRange(fieldRange(w.id, f.Number))
		}
	}
	w.changes = nil
}

// Row begins the row of the field and returns where its value goes.
func (w *Writer) Row() *codec.Encoder {
	w.enc.Append(store.BeginRow(w.row[:0]))
	w.open = true
	return &w.enc
}

// begin begins the row of a field that is a container.
func (w *Writer) begin(form uint64, count int) *codec.Encoder {
	w.enc.Append(store.BeginRow(w.row[:0]))
	w.enc.Uint(form)
	w.enc.Uint(uint64(count))
	return &w.enc
}

// fits reports whether the payload of the row that was begun takes at most max bytes.
func (w *Writer) fits(max int) bool {
	w.row = w.enc.Data() // so that its memory is kept
	return len(w.row)-1 <= max || w.digest
}

// saveEntry puts the row of one element.
func (w *Writer) saveEntry(key, put func(*codec.Encoder)) {
	w.elementKey(key)
	w.enc.Append(store.BeginRow(w.row[:0]))
	put(&w.enc)
	w.row = store.EndRow(w.enc.Data(), 0, w.element)
	w.batch.Set(w.element, w.row)
}

func (w *Writer) deleteElement(key func(*codec.Encoder)) {
	w.elementKey(key)
	w.batch.Delete(w.element)
}

func (w *Writer) elementKey(key func(*codec.Encoder)) {
	w.enc.Append(append(append(w.element[:0], w.key...), elementSpace))
	key(&w.enc)
	w.element = w.enc.Data()
}

// elements returns the range of the rows of the field's elements.
func (w *Writer) elements() (from, to []byte) {
	from = append(append([]byte(nil), w.key...), elementSpace)
	return from, store.After(from)
}

// rows returns what the actor knows of the field's rows, nil if it is not stored by element.
func (w *Writer) rows() any {
	if w.digest {
		return nil
	}
	return w.large.of(w.field)
}

// forget makes the field one that is not stored by element.
func (w *Writer) forget() func() {
	large, field := w.large, w.field
	return func() { large.set(field, nil) }
}

func (w *Writer) onFinish(f func()) { w.pending = append(w.pending, f) }

// EndRow ends the row that Row began.
func (w *Writer) EndRow() {
	w.open = false
	w.end()
}

// end puts the row that begin began under the current key.
func (w *Writer) end() {
	w.row = store.EndRow(w.enc.Data(), 0, w.key)
	w.batch.Set(w.key, w.row)
}

// Finish must be called when everything is in the batch, right before the batch is applied:
// from then on the actors count as stored so.
func (w *Writer) Finish() {
	for _, f := range w.pending {
		f()
	}
	w.Drop()
}

// Drop forgets what has been written, if the batch will not be applied.
func (w *Writer) Drop() {
	clear(w.pending)
	w.pending, w.batch, w.open = w.pending[:0], nil, false
}

func fieldRange(id event.ActorID, number uint16) (from, to []byte) {
	from = store.AppendField(nil, id, number)
	return from, store.After(from)
}

// State returns the n fields of an actor as one sequence of bytes, which is equal for equal
// states.
func State(obj Stored, n int) []byte {
	s := &stateBatch{}
	layout := &Layout{Fields: make([]store.FieldLayout, n)}
	for i := range layout.Fields {
		layout.Fields[i].Number = uint16(i)
	}
	w := Writer{digest: true}
	w.Begin(s, event.ActorID{}, layout)
	for i := range n {
		w.Field(obj, i, nil, true)
	}
	w.Drop()
	return s.state
}

// stateBatch keeps the rows it is given, one behind the other.
type stateBatch struct{ state []byte }

func (s *stateBatch) Set(key, row []byte)         { s.state = append(s.state, row...) }
func (s *stateBatch) Delete([]byte)               {}
func (s *stateBatch) DeleteRange(from, to []byte) {}
func (s *stateBatch) Size() int                   { return len(s.state) }
func (s *stateBatch) Discard()                    {}

// damaged returns the error for a field whose rows are not what was written.
func damaged(key []byte, layout *Layout, field int, why string) error {
	name := layout.Class
	if field < len(layout.Fields) {
		name += "." + layout.Fields[field].Name
	}
	return &store.CorruptError{Key: key, Reason: fmt.Sprintf("field %s: %s", name, why)}
}
