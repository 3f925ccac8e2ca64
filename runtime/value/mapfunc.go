package value

import (
	"maps"
	"strings"
)

// ownMap returns m's body, which no other container refers to.
func ownMap[K comparable, V any](m *Map[K, V]) *mapBody[K, V] {
	old := m.body
	switch {
	case old == nil:
		m.body = &mapBody[K, V]{entries: map[K]V{}}
	case old.mark.shared.Load():
		m.body = cloneMap(old)
		if _, ok := any((*V)(nil)).(Sharer); ok {
			for _, v := range m.body.entries {
				MarkShared(&v)
			}
		}
	default:
		takeNear(old)
	}
	return m.body
}

// cloneMap returns a copy of a body, with its own entries.
func cloneMap[K comparable, V any](old *mapBody[K, V]) *mapBody[K, V] {
	b := &mapBody[K, V]{entries: old.entries, far: old.far.clone()}
	b.keys.set(old.keys.get())
	if b.far.reads() {
		b.far.near.set(old.far.near.get())
		takeNear(b)
	}
	b.entries = maps.Clone(b.entries)
	return b
}

// Entry is a key with its value.
type Entry[K comparable, V any] struct {
	key K
	val V
}

// EntryOf returns the entry of k and v.
func EntryOf[K comparable, V any](k K, v V) Entry[K, V] { return Entry[K, V]{k, v} }

// MapOf returns a map with these entries; of two with one key the last one counts.
func MapOf[K comparable, V any](entries ...Entry[K, V]) (m Map[K, V]) {
	for _, e := range entries {
		SetEntry(&m, e.key, e.val)
	}
	return m
}

// SetEntry gives k the value v and returns the old one, if there was one.
func SetEntry[K comparable, V any](m *Map[K, V], k K, v V) (old V, had bool) {
	old, had = m.Find(k)
	b := ownMap(m)
	b.entries[k] = v
	if !had {
		b.keys.set(nil)
		if b.far.reads() {
			b.far.added(k)
		}
	}
	return old, had
}

// GetEntry returns the value of k, or null.
func GetEntry[K comparable, V any](m Map[K, V], k K) Opt[V] {
	v, ok := m.Find(k)
	return Opt[V]{v: v, ok: ok}
}

// UpdateEntry applies f to the value of k in place, or faults when there is none. It is how
// a path such as m[k].x is written.
func UpdateEntry[K comparable, V any](m *Map[K, V], k K, f func(*V)) {
	m.At(k)
	b := ownMap(m) // before the value is read: it marks what the value refers to
	v := m.Lookup(k)
	f(&v)
	takeNear(b) // what was read may have been brought into memory
	b.entries[k] = v
}

// RemoveKey takes the entry of k out, if there is one, and returns its value.
func RemoveKey[K comparable, V any](m *Map[K, V], k K) (old V, had bool) {
	if old, had = m.Find(k); !had {
		return old, false
	}
	b := ownMap(m)
	delete(b.entries, k)
	b.keys.set(nil)
	if b.far.reads() {
		b.far.removed(k)
	}
	return old, true
}

// ValuesOf returns the values in ascending order of their keys.
func ValuesOf[K comparable, V any](m Map[K, V]) Vector[V] {
	list := make([]V, 0, m.Size())
	Each(m, func(_ K, v V) bool {
		list = append(list, v)
		return true
	})
	markAll(list)
	return VectorOf(list...)
}

// EqualMaps reports whether m and n have the same keys with equal values. Each value equals itself.
func EqualMaps[K comparable, V any](m, n Map[K, V], eq func(a, b V) bool) bool {
	return m.body == n.body || EqualEntries(m, n, eq)
}

// EqualEntries is EqualMaps for values with floats, of which NaN does not equal itself.
func EqualEntries[K comparable, V any](m, n Map[K, V], eq func(a, b V) bool) bool {
	if size := m.Size(); size != n.Size() || size == 0 {
		return size == n.Size()
	}
	m.body, n.body = nearMap(m.body), nearMap(n.body)
	equal := true
	same := func(k K, v V) bool {
		w, ok := n.Find(k)
		equal = ok && eq(v, w)
		return equal
	}
	if !IsFarMap(m) {
		m, n = n, m
	}
	if IsFarMap(m) { // its entries are read in order, those of the other one by one
		farEach(m.body, true, same)
		return equal
	}
	for k, v := range m.body.entries {
		if !same(k, v) {
			break
		}
	}
	return equal
}

// MapText returns the text of m, such as {a: 1, b: 2}.
func MapText[K comparable, V any](m Map[K, V], key func(K) string, val func(V) string) string {
	var sb strings.Builder
	sb.WriteByte('{')
	Each(m, func(k K, v V) bool {
		if sb.Len() > 1 {
			sb.WriteString(", ")
		}
		sb.WriteString(key(k))
		sb.WriteString(": ")
		sb.WriteString(val(v))
		return true
	})
	sb.WriteByte('}')
	return sb.String()
}
