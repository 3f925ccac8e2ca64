package value

import (
	"maps"
	"sync/atomic"
)

// Map is the value map<K, V>. The zero Map is empty. Copy it with Share.
type Map[K comparable, V any] struct{ body *mapBody[K, V] }

// Invariant: once shared is set, entries is never written again, but by the undo of the
// event that has set it; keys, when set, holds exactly the keys of entries, ascending, in
// a shared vector body.
type mapBody[K comparable, V any] struct {
	mark    mark
	entries map[K]V
	keys    atomic.Pointer[vectorBody[K]]
	far     *farMap[K, V] // of a map that is stored by element
}

// Share returns a copy of m in O(1).
func (m Map[K, V]) Share() Map[K, V] {
	m.MarkShared()
	return m
}

// MarkShared implements Sharer.
func (m Map[K, V]) MarkShared() {
	if b := m.body; b != nil && !b.mark.shared.Load() {
		if b.isFar() {
			b.far.at.watched.Store(true)
		}
		b.mark.shared.Store(true)
	}
}

// own returns m's body, which nobody else sees.
func (m *Map[K, V]) own() *mapBody[K, V] {
	old := m.body
	switch {
	case old == nil:
		m.body = &mapBody[K, V]{entries: map[K]V{}}
	case old.mark.shared.Load():
		m.body = &mapBody[K, V]{entries: maps.Clone(old.entries)}
		m.body.keys.Store(old.keys.Load())
		if old.far != nil {
			m.body.far = old.far.clone()
			m.body.far.stray = true
		}
		if _, ok := any((*V)(nil)).(Sharer); ok {
			for _, v := range m.body.entries {
				MarkShared(&v)
			}
		}
	}
	return m.body
}

func (m Map[K, V]) entries() map[K]V {
	if m.body == nil {
		return nil
	}
	return m.body.entries
}

// Size returns the number of entries.
func (m Map[K, V]) Size() int64 {
	if m.body == nil {
		return 0
	}
	return int64(m.body.size())
}

// Has reports whether k has an entry.
func (m Map[K, V]) Has(k K) bool {
	_, ok := m.entries()[k]
	if !ok && m.body != nil && m.body.far != nil {
		_, ok = m.body.farFind(k)
	}
	return ok
}

// Find returns the value of k and whether there is one.
func (m Map[K, V]) Find(k K) (V, bool) {
	v, ok := m.entries()[k]
	if !ok && m.body != nil && m.body.far != nil {
		return m.body.farFind(k)
	}
	return v, ok
}

// Lookup returns the value of k, or the zero value when there is none.
func (m Map[K, V]) Lookup(k K) V {
	v, _ := m.Find(k)
	return v
}

// At returns the value of k, or faults when there is none.
func (m Map[K, V]) At(k K) V {
	v, ok := m.Find(k)
	if !ok {
		failKey(KeyText(k))
	}
	return v
}

// Set gives k the value v and returns the old one, if there was one.
func (m *Map[K, V]) Set(k K, v V) (old V, had bool) {
	b := m.own()
	if b.isFar() {
		old, had = b.find(k)
		b.put(k, v, had)
		return old, had
	}
	n := len(b.entries)
	old = b.entries[k]
	b.entries[k] = v
	if len(b.entries) == n {
		return old, true
	}
	b.keys.Store(nil)
	return old, false
}

// Clear empties the map and returns what it was.
func (m *Map[K, V]) Clear() (old Map[K, V]) {
	old, m.body = *m, nil
	return old
}

// Keys returns the keys in ascending order.
func (m Map[K, V]) Keys() Vector[K] {
	if m.Size() == 0 {
		return Vector[K]{}
	}
	if m.body.isFar() {
		return m.body.farKeys()
	}
	if keys := m.body.keys.Load(); keys != nil {
		return Vector[K]{body: keys}
	}
	list := make([]K, 0, len(m.body.entries))
	for k := range m.body.entries {
		list = append(list, k)
	}
	keys := &vectorBody[K]{elems: sorted(list)}
	keys.mark.shared.Store(true)
	m.body.keys.Store(keys) // readers may race to publish; all publish the same keys
	return Vector[K]{body: keys}
}

// EachElem calls f for every key and every value, in ascending order of the keys.
func (m Map[K, V]) EachElem(f func(any)) {
	Each(m, func(k K, v V) bool {
		f(k)
		f(v)
		return true
	})
}
