package image

import (
	"bytes"
	"errors"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
)

// A container whose rows are not all of one kind, as those of a table and its indexes, is stored
// and read by a package of its own through the methods of this file. The rows of each kind
// stand in a space, a prefix behind the key of the field, in the order of their keys.

// Digest reports whether all that is written is a sum of the state: then the container is
// written as one row.
func (w *Writer) Digest() bool { return w.digest }

// Inline writes a container of n elements as one row, which put appends, if it takes at most limit
// bytes; goesOn tells put whether it still does.
func (w *Writer) Inline(n, limit int, put func(e *codec.Encoder, goesOn func() bool)) bool {
	e := w.begin(inline, n)
	put(e, func() bool { return w.fits(limit) })
	if !w.fits(limit) {
		return false
	}
	w.end()
	return true
}

// ByElement writes the row of a container of n elements that have rows of their own; put appends
// what else is to be known of it.
func (w *Writer) ByElement(n int, put func(*codec.Encoder)) {
	put(w.begin(byElement, n))
	w.end()
}

// SetElement writes the row of one element.
func (w *Writer) SetElement(space, key string, put func(*codec.Encoder)) {
	w.element = w.elementAt(space, key)
	w.enc.Append(store.BeginRow(w.row[:0]))
	put(&w.enc)
	w.row = store.EndRow(w.enc.Data(), 0, w.element)
	w.batch.Set(w.element, w.row)
}

// DeleteElement deletes the row of one element.
func (w *Writer) DeleteElement(space, key string) { w.batch.Delete(w.elementAt(space, key)) }

// DeleteElements deletes all rows of a space.
func (w *Writer) DeleteElements(space string) {
	from := append(append([]byte(nil), w.key...), space...)
	w.batch.DeleteRange(from, store.After(from))
}

// OnFinish calls f when the batch is about to be applied.
func (w *Writer) OnFinish(f func()) { w.onFinish(f) }

// elementAt returns the key of an element, in memory that the next call uses again.
func (w *Writer) elementAt(space, key string) []byte {
	w.element = append(append(append(w.element[:0], w.key...), space...), key...)
	return w.element
}

// Inline reports whether the container whose row was read last is one row, the rest of which
// follows: the number of elements, and the elements.
func (r *Reader) Inline() bool { return r.inline() }

// Count reads the number of elements that have rows of their own.
func (r *Reader) Count() int { return r.count() }

// Moved reports whether the row that was read last stands where the field was stored when it had
// another type: the next Writer writes the field whole, to its own place.
func (r *Reader) Moved() bool {
	return !bytes.Equal(r.key, store.AppendField(nil, r.id, r.layout.Fields[r.field].Number))
}

// Elements returns what reads the elements of the container whose row was read last.
func (r *Reader) Elements() *Elements {
	r.far = true
	return &Elements{r.fieldRows()}
}

// Guard calls f, which reads elements, and reports whether it has succeeded.
func (r *Reader) Guard(f func()) bool { return r.guard(f) }

// Elements reads the rows of the elements of one field, as they were committed last. Any goroutine may
// use it. A row that cannot be read makes the store fail, and what asked for it panics.
type Elements struct{ rows fieldRows }

// Load returns what a load of all n elements reads them by, and the load, if it is time for one; nil if it is not. An
// element takes each bytes in memory besides its content.
func (e *Elements) Load(n, each int) (*Elements, *value.Loading) {
	rows, l := e.rows.loading(n, each)
	if l == nil {
		return nil, nil
	}
	return &Elements{*rows}, l
}

func (e *Elements) key(buf []byte, space, key string) []byte {
	prefix := e.rows.prefix
	return append(append(append(buf[:0], prefix[:len(prefix)-len(elementsSpace)]...), space...), key...)
}

// Get calls found with a decoder of the row of one element, and reports whether there is such a row.
func (e *Elements) Get(space, key string, found func(*codec.Decoder)) bool {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	s.key = e.key(s.key, space, key)
	row, ok, err := e.rows.from.Get(s.key, s.row[:0])
	if err != nil {
		e.rows.lost(err)
	}
	s.row = row
	if ok {
		e.rows.payload(&s.dec, s.key, row, found)
	}
	return ok
}

// Damaged makes the store fail because of the element with this key.
func (e *Elements) Damaged(space, key, why string) {
	e.rows.damaged(e.key(nil, space, key), errors.New(why))
}

// Scan returns what goes over the rows of a space whose keys k are from <= k < to; an empty to is
// the end. It goes back from the end if back is true. It must be closed.
func (e *Elements) Scan(space, from, to string, back bool) *ElementScan {
	first, last := e.key(nil, space, from), e.key(nil, space, to)
	if to == "" {
		last = store.After(last)
	}
	s := &ElementScan{rows: &e.rows, it: e.rows.from.Scan(first, last), behind: len(first) - len(from)}
	if s.move = store.Iterator.Next; back {
		s.move = store.Iterator.Prev
	}
	return s
}

// ElementScan goes over rows of elements in the order of their keys, or back.
type ElementScan struct {
	rows   *fieldRows
	it     store.Iterator
	move   func(store.Iterator) bool
	behind int // what of a key stands before that of the element
	dec    codec.Decoder
}

// Next moves to the next row and returns its key, and whether there is one. The end is that of the rows: a read that
// has failed panics here, before the caller counts them.
func (s *ElementScan) Next() (key string, ok bool) {
	if !s.move(s.it) {
		s.Close()
		return "", false
	}
	return string(s.it.Key()[s.behind:]), true
}

// Value calls found with a decoder of the row.
func (s *ElementScan) Value(found func(*codec.Decoder)) {
	s.rows.payload(&s.dec, s.it.Key(), s.it.Value(), found)
}

// Close ends the scan.
func (s *ElementScan) Close() {
	it := s.it
	s.it = ended{}
	if err := it.Close(); err != nil {
		s.rows.lost(err)
	}
}

const elementsSpace = string(rune(elementSpace))
