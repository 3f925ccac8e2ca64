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

// vectorRows is what an actor knows of a vector that is stored by element.
type vectorRows[T any] struct {
	at    *value.Version[int, T]
	count int
	src   value.VectorSource[T]
}

// SaveVector writes a field that is a vector. It is what SaveField calls.
func SaveVector[T any](w *Writer, v *value.Vector[T], how *Elems[T]) {
	rows, stored := w.rows().(*vectorRows[T])
	if !stored {
		if saveVectorInline(w, *v, how, InlineBytesMax) {
			if !w.digest {
				value.FreeVector(v)
			}
			return
		}
		saveVectorElements(w, v, how, &vectorRows[T]{at: value.NewVersion[int, T](false)})
		return
	}
	set, from, whole := value.VectorChanges(*v, rows.at, w.changes)
	switch {
	case !whole && len(set) == 0 && from == rows.count && int(v.Size()) == rows.count:
		return
	case saveVectorInline(w, *v, how, InlineBytesMin):
		old := rows.replaced(nil, 0)
		w.batch.DeleteRange(w.elements())
		forget := w.forget()
		w.onFinish(func() {
			value.FreeVector(v) // while it can still be read
			rows.at.Replace(old, false)
			forget()
		})
	case whole:
		old := rows.replaced(nil, 0)
		w.batch.DeleteRange(w.elements())
		next := &vectorRows[T]{src: rows.src}
		w.onFinish(func() { next.at = rows.at.Replace(old, rows.src != nil) })
		saveVectorElements(w, v, how, next)
	default:
		saveVectorChanges(w, v, how, rows, set, from)
	}
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

func (w *Writer) saveElem(i int, put func(*codec.Encoder)) {
	w.saveEntry(func(e *codec.Encoder) { putIndex(e, i) }, put)
}

// saveVectorElements writes every element as a row.
func saveVectorElements[T any](w *Writer, v *value.Vector[T], how *Elems[T], rows *vectorRows[T]) {
	for i := range int(v.Size()) {
		w.saveElem(i, func(e *codec.Encoder) { how.Put(e, v.At(int64(i))) })
	}
	rows.count = int(v.Size())
	w.begin(byElement, rows.count)
	w.end()
	large, field := w.large, w.field
	w.onFinish(func() {
		var far value.Vector[T]
		if rows.src != nil {
			far = value.FarVector(rows.count, rows.src, rows.at)
		}
		value.StoreVector(v, rows.at, far)
		large.set(field, rows)
	})
}

// pointDeletes is how many rows are deleted one by one before a range is deleted instead.
const pointDeletes = 16

// saveVectorChanges writes the elements of set and those from from on.
func saveVectorChanges[T any](w *Writer, v *value.Vector[T], how *Elems[T], rows *vectorRows[T], set []int, from int) {
	old := rows.replaced(set, from)
	count := int(v.Size())
	for _, i := range set {
		w.saveElem(i, func(e *codec.Encoder) { how.Put(e, v.At(int64(i))) })
	}
	for i := from; i < count; i++ {
		w.saveElem(i, func(e *codec.Encoder) { how.Put(e, v.At(int64(i))) })
	}
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
	wrote := value.WroteVector(*v, w.changes)
	w.onFinish(func() {
		rows.at, rows.count = rows.at.Advance(old), count
		value.AdvanceVector(v, rows.at, wrote)
	})
}

// replaced returns what is stored of the elements of set and from from on, if somebody may
// still ask for it.
func (r *vectorRows[T]) replaced(set []int, from int) map[int]value.Opt[T] {
	if !r.at.Observed() {
		return nil
	}
	old := map[int]value.Opt[T]{}
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
	d := r.Row(field)
	if d == nil {
		return
	}
	if r.inline() {
		*v = codec.GetVector(d, how.Get)
		return
	}
	count := r.count()
	if r.Err() != nil {
		return
	}
	src := &vectorSource[T]{fieldRows: r.fieldRows(), how: *how}
	at := resumed[int, T](r, count > eagerElems)
	far := value.FarVector(count, src, at)
	if count <= eagerElems {
		var all value.Vector[T]
		if !r.guard(func() { all = value.VectorOf(far.Items()...) }) {
			return
		}
		value.StoreVector(&all, at, value.Vector[T]{})
		far = all
	}
	*v = far
	r.large.set(field, &vectorRows[T]{at: at, count: count, src: src})
}
