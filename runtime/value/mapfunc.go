package value

import (
	"maps"
	"strings"
)

// GetEntry returns the value of k, or null.
func GetEntry[K comparable, V any](m Map[K, V], k K) Opt[V] {
	v, ok := m.entries()[k]
	return Opt[V]{v: v, ok: ok}
}

// UpdateEntry applies f to the value of k in place, or faults when there is none. It is how
// a path such as m[k].x is written.
func UpdateEntry[K comparable, V any](m *Map[K, V], k K, f func(*V)) {
	m.At(k)
	b := m.own() // before the value is read: it marks what the value refers to
	v := b.entries[k]
	f(&v)
	b.entries[k] = v
}

// RemoveKey takes the entry of k out, if there is one, and returns its value.
func RemoveKey[K comparable, V any](m *Map[K, V], k K) (old V, had bool) {
	if old, had = m.entries()[k]; !had {
		return old, false
	}
	b := m.own()
	delete(b.entries, k)
	b.keys.Store(nil)
	return old, true
}

// ValuesOf returns the values in ascending order of their keys.
func ValuesOf[K comparable, V any](m Map[K, V]) Vector[V] {
	keys := m.Keys().Items()
	list := make([]V, 0, len(keys))
	for _, k := range keys {
		list = append(list, m.body.entries[k])
	}
	markAll(list)
	return VectorOf(list...)
}

// EqualMaps reports whether m and n have the same keys with equal values.
func EqualMaps[K comparable, V any](m, n Map[K, V], eq func(a, b V) bool) bool {
	return m.body == n.body || maps.EqualFunc(m.entries(), n.entries(), eq)
}

// MapText returns the text of m, such as {a: 1, b: 2}.
func MapText[K comparable, V any](m Map[K, V], key func(K) string, val func(V) string) string {
	var sb strings.Builder
	sb.WriteByte('{')
	for i, k := range m.Keys().Items() {
		if i > 0 {
			sb.WriteString(", ")
		}
		sb.WriteString(key(k))
		sb.WriteString(": ")
		sb.WriteString(val(m.body.entries[k]))
	}
	sb.WriteByte('}')
	return sb.String()
}
