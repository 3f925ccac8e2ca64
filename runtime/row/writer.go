package row

import (
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Writer puts rows into one batch. Its buffers are used again for each row:
//
//	w.Key = row.AppendEdgeKey(w.Key[:0], owner, child)
//	w.Begin()
//	w.Row = row.AppendEdge(w.Row, units)
//	w.Set()
type Writer struct {
	Store *store.Store
	Key   []byte // of the row that is written
	Row   []byte // the row, from Begin to Set

	batch store.Batch // nil until something is written
}

// Batch returns the batch. The first call takes one from the store.
func (w *Writer) Batch() store.Batch {
	if w.batch == nil {
		w.batch = w.Store.NewBatch()
	}
	return w.batch
}

// Into has b be the batch. What was written before must have been taken.
func (w *Writer) Into(b store.Batch) {
	// Invariant: a batch is taken or discarded before the next.
	assert.That(w.batch == nil, "row: a batch is left, and another begins")
	w.batch = b
}

// Empty reports whether nothing was written.
func (w *Writer) Empty() bool { return w.batch == nil }

// Take returns the batch, nil if nothing was written. The writer begins another one.
func (w *Writer) Take() store.Batch {
	b := w.batch
	w.batch = nil
	return b
}

// Discard gives back what was written.
func (w *Writer) Discard() {
	if b := w.Take(); b != nil {
		b.Discard()
	}
}

// Begin begins a row; its payload is to be appended to w.Row.
func (w *Writer) Begin() { w.Row = store.BeginRow(w.Row[:0]) }

// Set ends the row and puts it under w.Key.
func (w *Writer) Set() {
	w.Row = store.EndRow(w.Row, 0, w.Key)
	w.Batch().Set(w.Key, w.Row)
}

// Delete deletes the row under w.Key.
func (w *Writer) Delete() { w.Batch().Delete(w.Key) }

// DeleteBelow deletes the rows whose keys begin with w.Key.
func (w *Writer) DeleteBelow() { w.Batch().DeleteRange(w.Key, store.After(w.Key)) }
