package image

import (
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Entries says how the entries of a map field are stored. PutKey writes keys so that they
// sort, as the codec's functions for keys do.
type Entries[K comparable, V any] struct {
	PutKey func(*codec.Encoder, K)
	GetKey func(*codec.Decoder) K
	Put    func(*codec.Encoder, V)
	Get    func(*codec.Decoder) V
}

// Members says how the elements of a set field are stored.
type Members[K comparable] struct {
	PutKey func(*codec.Encoder, K)
	GetKey func(*codec.Decoder) K
}

func (m *Members[K]) entries() Entries[K, struct{}] {
	return Entries[K, struct{}]{m.PutKey, m.GetKey,
		func(*codec.Encoder, struct{}) {}, func(*codec.Decoder) (none struct{}) { return none }}
}

// mapRows is what an actor knows of a map that is stored by element.
type mapRows[K comparable, V any] struct {
	at    *value.Version[K, V] // what the rows are
	count int
	src   value.MapSource[K, V] // nil if they were never read
}

// SaveMap writes a field that is a map. It is what SaveField calls.
func SaveMap[K comparable, V any](w *Writer, m *value.Map[K, V], how *Entries[K, V]) {
	rows, stored := w.rows().(*mapRows[K, V])
	if !stored {
		if saveMapInline(w, *m, how, InlineBytesMax) {
			if !w.digest {
				value.FreeMap(m)
			}
			return
		}
		saveMapElements(w, m, how, &mapRows[K, V]{at: value.NewVersion[K, V](false)})
		return
	}
	changes, whole := value.MapChanges(*m, rows.at, w.changes)
	switch {
	case !whole && len(changes) == 0:
		return
	case saveMapInline(w, *m, how, InlineBytesMin):
		old := rows.replaced()
		w.batch.DeleteRange(w.elements())
		forget := w.forget()
		w.onFinish(func() {
			value.FreeMap(m) // while it can still be read
			rows.at.Replace(old, false)
			forget()
		})
	case whole:
		old := rows.replaced()
		w.batch.DeleteRange(w.elements())
		next := &mapRows[K, V]{src: rows.src}
		w.onFinish(func() { next.at = rows.at.Replace(old, rows.src != nil) })
		saveMapElements(w, m, how, next)
	default:
		saveMapChanges(w, m, how, rows, changes)
	}
}

// saveMapInline writes the map as one row if it takes at most limit bytes.
func saveMapInline[K comparable, V any](w *Writer, m value.Map[K, V], how *Entries[K, V], limit int) bool {
	if int(m.Size()) > limit && !w.digest {
		return false
	}
	e := w.begin(inline, int(m.Size()))
	fits := true
	value.Each(m, func(k K, v V) bool {
		how.PutKey(e, k)
		how.Put(e, v)
		fits = w.fits(limit)
		return fits
	})
	if fits {
		w.end()
	}
	return fits
}

// saveMapElements writes every entry as a row.
func saveMapElements[K comparable, V any](w *Writer, m *value.Map[K, V], how *Entries[K, V], rows *mapRows[K, V]) {
	value.Each(*m, func(k K, v V) bool {
		w.saveEntry(func(e *codec.Encoder) { how.PutKey(e, k) }, func(e *codec.Encoder) { how.Put(e, v) })
		return true
	})
	rows.count = int(m.Size())
	w.begin(byElement, rows.count)
	w.end()
	large, field := w.large, w.field
	w.onFinish(func() {
		var far value.Map[K, V]
		if rows.src != nil {
			far = value.FarMap(rows.count, rows.src, rows.at)
		}
		value.StoreMap(m, rows.at, far)
		large.set(field, rows)
	})
}

// saveMapChanges writes the entries that an event has changed.
func saveMapChanges[K comparable, V any](w *Writer, m *value.Map[K, V], how *Entries[K, V], rows *mapRows[K, V], keys []K) {
	var old map[K]value.Opt[V]
	if rows.at.Observed() { // otherwise nobody reads what is replaced
		old = make(map[K]value.Opt[V], len(keys))
	}
	for _, k := range keys {
		if old != nil {
			old[k] = value.SomeIf(rows.src.Find(k))
		}
		if v, ok := m.Find(k); ok {
			w.saveEntry(func(e *codec.Encoder) { how.PutKey(e, k) }, func(e *codec.Encoder) { how.Put(e, v) })
		} else {
			w.deleteElement(func(e *codec.Encoder) { how.PutKey(e, k) })
		}
	}
	count := int(m.Size())
	if count != rows.count {
		w.begin(byElement, count)
		w.end()
	}
	wrote := value.WroteMap(*m, w.changes)
	w.onFinish(func() {
		rows.at, rows.count = rows.at.Advance(old), count
		value.AdvanceMap(m, rows.at, wrote)
	})
}

// replaced returns all that is stored, if somebody may still ask for it.
func (r *mapRows[K, V]) replaced() map[K]value.Opt[V] {
	if !r.at.Observed() {
		return nil
	}
	old := map[K]value.Opt[V]{}
	scan := r.src.Scan(true)
	defer scan.Close()
	for {
		k, v, ok := scan.Next()
		if !ok {
			return old
		}
		old[k] = value.Some(v)
	}
}

// LoadMap reads a field that is a map. It is what LoadFields calls.
func LoadMap[K comparable, V any](r *Reader, field int, m *value.Map[K, V], how *Entries[K, V]) {
	d := r.Row(field)
	if d == nil {
		return
	}
	if r.inline() {
		*m = codec.GetMap(d, how.GetKey, how.Get)
		return
	}
	count := r.count()
	if r.Err() != nil {
		return
	}
	src := &mapSource[K, V]{fieldRows: r.fieldRows(), how: *how}
	at := resumed[K, V](r, count > eagerElems)
	far := value.FarMap(count, src, at)
	if count <= eagerElems {
		var all value.Map[K, V]
		if !r.guard(func() {
			value.Each(far, func(k K, v V) bool {
				all.Set(k, v)
				return true
			})
		}) {
			return
		}
		value.StoreMap(&all, at, value.Map[K, V]{})
		far = all
	}
	*m = far
	r.large.set(field, &mapRows[K, V]{at: at, count: count, src: src})
}

// SaveSet writes a field that is a set.
func SaveSet[K comparable](w *Writer, s *value.Set[K], how *Members[K]) {
	entries := how.entries()
	SaveMap(w, s.Entries(), &entries)
}

// LoadSet reads a field that is a set.
func LoadSet[K comparable](r *Reader, field int, s *value.Set[K], how *Members[K]) {
	entries := how.entries()
	LoadMap(r, field, s.Entries(), &entries)
}
