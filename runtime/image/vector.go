package image

import (
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Elems says how the elements of a vector field are stored.
type Elems[T any] struct {
	Put func(*codec.Encoder, T)
	Get func(*codec.Decoder) T
}

// elements is what Elems says, whatever the type.
type elements interface {
	put(e *codec.Encoder, p any)
	// make returns a slice of n elements; get reads the one at i and returns a pointer to it.
	make(n int) any
	get(d *codec.Decoder, elems any, i int) (p any)
}

func (how *Elems[T]) put(e *codec.Encoder, p any) { how.Put(e, *p.(*T)) }
func (how *Elems[T]) make(n int) any              { return make([]T, n) }
func (how *Elems[T]) get(d *codec.Decoder, elems any, i int) any {
	p := &elems.([]T)[i]
	*p = how.Get(d)
	return p
}

// vectorRows is what an actor knows of a vector that is stored by element.
type vectorRows struct {
	at    *value.Version
	count int
	src   value.VectorSource
}

// SaveVector writes a field that is a vector. It is what SaveField calls.
func SaveVector[T any](w *Writer, v *value.Vector[T], how *Elems[T]) {
	saveVector(w, value.VectorInField(v), how, func(limit int) bool { return saveVectorInline(w, *v, how, limit) })
}

// saveVectorInline writes the vector as one row if it takes at most limit bytes.
func saveVectorInline[T any](w *Writer, v value.Vector[T], how *Elems[T], limit int) bool {
	if int(v.Size()) > limit && !w.digest {
		return false
	}
	e := w.begin(inline, int(v.Size()))
	for i := range v.Size() {
		how.Put(e, v.At(i))
		if !w.fits(limit) {
			return false
		}
	}
	w.end()
	return true
}

// saveVector writes a vector; inline writes it as one row if it takes at most limit bytes.
func saveVector(w *Writer, v value.StoredVector, how elements, inline func(limit int) bool) {
	rows, stored := w.rows().(*vectorRows)
	if !stored {
		if !inline(InlineBytesMax) {
			saveVectorElements(w, v, how, &vectorRows{at: value.NewVersion(false)})
		} else if !w.digest {
			v.Free()
		}
		return
	}
	set, from, whole := v.Changes(rows.at, w.changes)
	// What is as long as no row has been comes from a copy: an event that took back what it had appended has left the rows as they were, and their version.
	from = min(from, rows.count)
	switch {
	case !whole && len(set) == 0 && from == rows.count && int(v.Size()) == rows.count:
		return
	case inline(InlineBytesMin):
		old := rows.replaced(nil, 0)
		w.batch.DeleteRange(w.elements())
		forget := w.forget()
		w.onFinish(func() {
			v.Free() // while it can still be read
			rows.at.Replace(old, false)
			forget()
		})
	case whole:
		old := rows.replaced(nil, 0)
		w.batch.DeleteRange(w.elements())
		next := &vectorRows{src: rows.src}
		w.onFinish(func() { next.at = rows.at.Replace(old, rows.src != nil) })
		saveVectorElements(w, v, how, next)
	default:
		saveVectorChanges(w, v, how, rows, set, from)
	}
}

// saveElems writes the elements from i to j.
func saveElems(w *Writer, v value.StoredVector, how elements, i, j int) {
	for ; i < j; i++ {
		w.saveEntry(func(e *codec.Encoder) { putIndex(e, i) }, func(e *codec.Encoder) { how.put(e, v.At(int64(i))) })
	}
}

// saveVectorElements writes every element as a row.
func saveVectorElements(w *Writer, v value.StoredVector, how elements, rows *vectorRows) {
	rows.count = int(v.Size())
	saveElems(w, v, how, 0, rows.count)
	w.begin(byElement, rows.count)
	w.end()
	large, field := w.large, w.field
	w.onFinish(func() {
		v.Store(rows.at, rows.count, rows.src)
		large.set(field, rows)
	})
}

// pointDeletes is how many rows are deleted one by one before a range is deleted instead.
const pointDeletes = 16

// saveVectorChanges writes the elements of set and those from from on.
func saveVectorChanges(w *Writer, v value.StoredVector, how elements, rows *vectorRows, set []int, from int) {
	old := rows.replaced(set, from)
	count := int(v.Size())
	for _, i := range set {
		saveElems(w, v, how, i, i+1)
	}
	saveElems(w, v, how, from, count)
	if rows.count-count <= pointDeletes {
		for i := count; i < rows.count; i++ {
			w.deleteElement(func(e *codec.Encoder) { putIndex(e, i) })
		}
	} else {
		first, _ := w.elements()
		w.batch.DeleteRange(appendIndex(first, count), appendIndex(first, rows.count))
	}
	if count != rows.count {
		w.begin(byElement, count)
		w.end()
	}
	wrote := v.Wrote(w.changes)
	w.onFinish(func() {
		rows.at, rows.count = rows.at.Advance(old), count
		v.Advance(rows.at, wrote)
	})
}

// replaced returns what is stored of the elements of set and from from on, if a copy may
// still ask for it.
func (r *vectorRows) replaced(set []int, from int) map[any]value.Opt[any] {
	if !r.at.Observed() {
		return nil
	}
	old := map[any]value.Opt[any]{}
	for _, i := range set {
		old[i] = r.src.Elems(i, i+1)[0]
	}
	if from < r.count {
		for n, o := range r.src.Elems(from, r.count) {
			old[from+n] = o
		}
	}
	return old
}

// putIndex writes the number of an element so that keys sort by it.
func putIndex(e *codec.Encoder, i int) { codec.PutKeyUint(e, uint64(i)) }

// appendIndex returns the key of element i of the elements that begin with prefix.
func appendIndex(prefix []byte, i int) []byte {
	var e codec.Encoder
	e.Append(append([]byte(nil), prefix...))
	putIndex(&e, i)
	return e.Data()
}

// LoadVector reads a field that is a vector. It is what LoadFields calls.
func LoadVector[T any](r *Reader, field int, v *value.Vector[T], how *Elems[T]) {
	switch d := r.Row(field); {
	case d == nil:
	case r.inline():
		*v = codec.GetVector(d, how.Get)
	default:
		loadVector(r, value.VectorInField(v), how)
	}
}

// loadVector reads a vector that is stored by element.
func loadVector(r *Reader, v value.StoredVector, how elements) {
	count := r.count()
	if r.Err() != nil {
		return
	}
	src := &vectorSource{fieldRows: r.fieldRows(), how: how}
	whole := count <= eagerElems
	at := resumed(r, !whole)
	if r.guard(func() { v.Load(at, count, src, whole) }) {
		r.large.set(r.field, &vectorRows{at: at, count: count, src: src})
	}
}
