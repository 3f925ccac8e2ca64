package table

import (
	"maps"
	"slices"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/image"
)

// A table whose rows take little is one row of the store. Beyond, each of its rows has a row of its
// own, under the field and the bytes of its key. Each entry of an index has one, too, under the field,
// the number of the index and the bytes of the entry; it holds the key. Both are in the batch of the
// event that has changed them. The row of the field has the number of rows and the names of the
// indexes' columns.

// Rows in memory that are stored as well are kept up to nearMax, and up to eagerMax they are all
// read at once.
const (
	nearMax  = 1024
	eagerMax = 64
)

// save is Save.
func (b *Body) save(w *image.Writer) {
	switch c := &b.changed; {
	case w.Digest():
		b.saveInline(w, 0)
	case !c.tracked:
		if !b.saveInline(w, image.InlineBytesMax) {
			b.saveAll(w)
		}
	case !c.whole && len(c.keys) == 0:
	case b.saveInline(w, image.InlineBytesMin):
		b.readAll() // they are few
		b.deleteAll(w)
		w.OnFinish(func() { b.changed = changes{} })
	case c.whole:
		b.deleteAll(w)
		b.saveAll(w)
	default:
		b.saveChanges(w)
	}
}

// saveInline writes the table as one row, if that takes at most limit bytes.
func (b *Body) saveInline(w *image.Writer, limit int) bool {
	if b.count > limit && !w.Digest() {
		return false
	}
	return w.Inline(b.count, limit, func(e *codec.Encoder, goesOn func() bool) {
		b.scan(AllRows, func(r *row) bool {
			b.shape.put(e, r.val)
			return goesOn()
		})
	})
}

func (b *Body) deleteAll(w *image.Writer) {
	w.DeleteElements(rowSpace)
	w.DeleteElements(allIndexes)
}

// saveAll writes every row, all of which are in memory, and every entry.
func (b *Body) saveAll(w *image.Writer) {
	for at := b.rows.seek(""); ; {
		item, ok := at.next()
		if !ok {
			break
		}
		b.saveRow(w, item.key, item.v, nil)
	}
	b.saveHead(w)
	w.OnFinish(b.committed)
}

// saveRow writes a row and those of its entries that are not stored.
func (b *Body) saveRow(w *image.Writer, key string, r *row, stored []string) {
	w.SetElement(rowSpace, key, func(e *codec.Encoder) { b.shape.put(e, r.val) })
	for i, entry := range r.entries {
		if stored == nil || stored[i] != entry {
			w.SetElement(indexSpace(i), entry, func(e *codec.Encoder) { e.String(key) })
		}
	}
}

// saveHead writes the row of the field.
func (b *Body) saveHead(w *image.Writer) {
	w.ByElement(b.count, func(e *codec.Encoder) {
		e.Uint(uint64(len(b.shape.names())))
		for _, name := range b.shape.names() {
			e.String(name)
		}
	})
}

// saveChanges writes the rows that may have changed.
func (b *Body) saveChanges(w *image.Writer) {
	for _, key := range slices.Sorted(maps.Keys(b.changed.keys)) {
		stored := b.changed.keys[key]
		r, ok := b.near(key)
		if !ok {
			w.DeleteElement(rowSpace, key)
		}
		for i, entry := range stored {
			if !ok || r.entries[i] != entry {
				w.DeleteElement(indexSpace(i), entry)
			}
		}
		if ok {
			b.saveRow(w, key, r, stored)
		}
	}
	b.saveHead(w)
	w.OnFinish(b.committed)
}

// committed: what is in memory is stored from now on.
func (b *Body) committed() {
	b.changed = changes{tracked: true}
	if b.far != nil && b.rows.size > nearMax {
		b.rows = tree[*row]{}
		clear(b.indexes)
	}
}

// readAll brings all stored rows into memory, whatever they take.
func (b *Body) readAll() {
	if b.far != nil {
		b.replace(*b.gather(b.far.elements, func() bool { return true }))
	}
}

// load is Load.
func (b *Body) load(r *image.Reader, field int) {
	d := r.Row(field)
	if d == nil {
		return
	}
	if r.Inline() {
		for _, row := range codec.GetVector(d, b.shape.get).Items() {
			key := b.keyOf(row.val)
			if b.find(key) != nil && d.Err() == nil {
				d.Fail("second row of a key")
			}
			b.put(key, row)
		}
		return
	}
	count := r.Count()
	var names []string
	for n := d.Uint(); n > 0 && d.Err() == nil; n-- {
		names = append(names, d.String())
	}
	moved := r.Moved()
	if r.Err() != nil {
		return
	}
	b.count, b.far = count, &far{r.Elements(), b.shape.get}
	other := !slices.Equal(names, b.shape.names())
	if (moved || other || count <= eagerMax) && !r.Guard(b.readAll) {
		return
	}
	b.changed = changes{tracked: !moved, whole: other}
}
