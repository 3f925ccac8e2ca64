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

// entries is what Entries and Members say, whatever the types. An any is a key in put, and a pointer to
// a key or value elsewhere.
type entries interface {
	put(e *codec.Encoder, k any)
	putValue(e *codec.Encoder, v any)
	// newKey and newValue return pointers to where get and getValue put what they read.
	newKey() any
	newValue() any
	get(d *codec.Decoder, k any)
	getValue(d *codec.Decoder, v any)
	key(k any) any // what a pointer leads to
}

func (how *Entries[K, V]) put(e *codec.Encoder, k any)      { how.PutKey(e, k.(K)) }
func (how *Entries[K, V]) putValue(e *codec.Encoder, v any) { how.Put(e, *v.(*V)) }
func (how *Entries[K, V]) newKey() any                      { return new(K) }
func (how *Entries[K, V]) newValue() any                    { return new(V) }
func (how *Entries[K, V]) get(d *codec.Decoder, k any)      { *k.(*K) = how.GetKey(d) }
func (how *Entries[K, V]) getValue(d *codec.Decoder, v any) { *v.(*V) = how.Get(d) }
func (how *Entries[K, V]) key(k any) any                    { return *k.(*K) }

func (how *Members[K]) put(e *codec.Encoder, k any)  { how.PutKey(e, k.(K)) }
func (how *Members[K]) putValue(*codec.Encoder, any) {}
func (how *Members[K]) newKey() any                  { return new(K) }
func (how *Members[K]) newValue() any                { return new(struct{}) }
func (how *Members[K]) get(d *codec.Decoder, k any)  { *k.(*K) = how.GetKey(d) }
func (how *Members[K]) getValue(*codec.Decoder, any) {}
func (how *Members[K]) key(k any) any                { return *k.(*K) }

// mapRows is what an actor knows of a map that is stored by element.
type mapRows struct {
	at    *value.Version // what the rows are
	count int
	src   value.MapSource // a *mapSource; nil if they were never read
}

// SaveMap writes a field that is a map. It is what SaveField calls.
func SaveMap[K comparable, V any](w *Writer, m *value.Map[K, V], how *Entries[K, V]) {
	saveMap(w, value.MapInField(m), how, func(limit int) bool {
		return saveMapInline(w, *m, limit, func(e *codec.Encoder, k K, v V) {
			how.PutKey(e, k)
			how.Put(e, v)
		})
	})
}

// SaveSet writes a field that is a set.
func SaveSet[K comparable](w *Writer, s *value.Set[K], how *Members[K]) {
	m := s.Entries()
	saveMap(w, value.MapInField(m), how, func(limit int) bool {
		return saveMapInline(w, *m, limit, func(e *codec.Encoder, k K, _ struct{}) { how.PutKey(e, k) })
	})
}

// saveMapInline writes the map as one row if it takes at most limit bytes.
func saveMapInline[K comparable, V any](w *Writer, m value.Map[K, V], limit int, put func(*codec.Encoder, K, V)) bool {
	if int(m.Size()) > limit && !w.digest {
		return false
	}
	e := w.begin(inline, int(m.Size()))
	fits := true
	value.Each(m, func(k K, v V) bool {
		put(e, k, v)
		fits = w.fits(limit)
		return fits
	})
	if fits {
		w.end()
	}
	return fits
}

// saveMap writes a map; inline writes it as one row if it takes at most limit bytes.
func saveMap(w *Writer, m value.StoredMap, how entries, inline func(limit int) bool) {
	rows, stored := w.rows().(*mapRows)
	if !stored {
		if !inline(InlineBytesMax) {
			saveMapElements(w, m, how, &mapRows{at: value.NewVersion(false)})
		} else if !w.digest {
			m.Free()
		}
		return
	}
	changes, whole := m.Changes(rows.at, w.changes)
	switch {
	case !whole && len(changes) == 0:
		return
	case inline(InlineBytesMin):
		old := rows.replaced()
		w.batch.DeleteRange(w.elements())
		forget := w.forget()
		w.onFinish(func() {
			m.Free() // while it can still be read
			rows.at.Replace(old, false)
			forget()
		})
	case whole:
		old := rows.replaced()
		w.batch.DeleteRange(w.elements())
		next := &mapRows{src: rows.src}
		w.onFinish(func() { next.at = rows.at.Replace(old, rows.src != nil) })
		saveMapElements(w, m, how, next)
	default:
		saveMapChanges(w, m, how, rows, changes)
	}
}

// saveMapElements writes every entry as a row.
func saveMapElements(w *Writer, m value.StoredMap, how entries, rows *mapRows) {
	m.Each(func(k, v any) bool {
		saveMapEntry(w, how, k, v)
		return true
	})
	rows.count = int(m.Size())
	w.begin(byElement, rows.count)
	w.end()
	large, field := w.large, w.field
	w.onFinish(func() {
		m.Store(rows.at, rows.count, rows.src)
		large.set(field, rows)
	})
}

func saveMapEntry(w *Writer, how entries, k, v any) {
	w.saveEntry(func(e *codec.Encoder) { how.put(e, k) }, func(e *codec.Encoder) { how.putValue(e, v) })
}

// saveMapChanges writes the entries that an event has changed.
func saveMapChanges(w *Writer, m value.StoredMap, how entries, rows *mapRows, keys []any) {
	var old map[any]value.Opt[any]
	if rows.at.Observed() { // otherwise no copy reads what is replaced
		old = make(map[any]value.Opt[any], len(keys))
	}
	for _, k := range keys {
		if old != nil {
			old[k] = value.SomeIf(rows.src.Find(k))
		}
		if v, ok := m.Find(k); ok {
			saveMapEntry(w, how, k, v)
		} else {
			w.deleteElement(func(e *codec.Encoder) { how.put(e, k) })
		}
	}
	count := int(m.Size())
	if count != rows.count {
		w.begin(byElement, count)
		w.end()
	}
	wrote := m.Wrote(w.changes)
	w.onFinish(func() {
		rows.at, rows.count = rows.at.Advance(old), count
		m.Advance(rows.at, wrote)
	})
}

// replaced returns all that is stored, if a copy may still ask for it.
func (r *mapRows) replaced() map[any]value.Opt[any] {
	if !r.at.Observed() {
		return nil
	}
	old := map[any]value.Opt[any]{}
	src := r.src.(*mapSource)
	scan := src.scan(true)
	defer scan.Close()
	for {
		k, v, ok := scan.Next()
		if !ok {
			return old
		}
		old[src.how.key(k)] = value.Some(v)
		scan.v = src.how.newValue()
	}
}

// LoadMap reads a field that is a map. It is what LoadFields calls.
func LoadMap[K comparable, V any](r *Reader, field int, m *value.Map[K, V], how *Entries[K, V]) {
	switch d := r.Row(field); {
	case d == nil:
	case r.inline():
		*m = codec.GetMap(d, how.GetKey, how.Get)
	default:
		loadMap(r, value.MapInField(m), how)
	}
}

// LoadSet reads a field that is a set.
func LoadSet[K comparable](r *Reader, field int, s *value.Set[K], how *Members[K]) {
	switch d := r.Row(field); {
	case d == nil:
	case r.inline():
		*s = codec.GetSet(d, how.GetKey)
	default:
		loadMap(r, value.MapInField(s.Entries()), how)
	}
}

// loadMap reads a map that is stored by element.
func loadMap(r *Reader, m value.StoredMap, how entries) {
	count := r.count()
	if r.Err() != nil {
		return
	}
	src := &mapSource{fieldRows: r.fieldRows(), how: how}
	whole := count <= eagerElems
	at := resumed(r, !whole)
	if r.guard(func() { m.Load(at, count, src, whole) }) {
		r.large.set(r.field, &mapRows{at: at, count: count, src: src})
	}
}
