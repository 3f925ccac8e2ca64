package value

import (
	"sync/atomic"
	"unsafe"
)

// Map is the value map<K, V>. The zero Map is empty. Copy it with Share.
type Map[K comparable, V any] struct{ body *mapBody[K, V] }

// Invariant: once shared is set, entries is never written again, but by the undo of the
// event that has set it. keys, when set, holds exactly the keys of entries, ascending, in
// a shared vector body.
type mapBody[K comparable, V any] struct {
	mark    mark
	entries map[K]V
	keys    lazyBody // of a vector
	far     *farMap  // of a map that is stored by element
}

// lazyBody is an atomic pointer to a body that readers make. It is no atomic.Pointer, because Go would
// compile the methods of that for every type of elements.
type lazyBody struct{ p unsafe.Pointer }

func (l *lazyBody) get() unsafe.Pointer     { return atomic.LoadPointer(&l.p) }
func (l *lazyBody) set(body unsafe.Pointer) { atomic.StorePointer(&l.p, body) }

// Share returns a copy of m in O(1).
func (m Map[K, V]) Share() Map[K, V] {
	m.MarkShared()
	return m
}

// MarkShared implements Sharer.
func (m Map[K, V]) MarkShared() {
	if b := m.body; b != nil && !b.mark.shared.Load() {
		if b.far.reads() {
			b.far.at.watched.Store(true)
		}
		b.mark.shared.Store(true)
	}
}

// Size returns the number of entries.
func (m Map[K, V]) Size() int64 {
	if m.body == nil {
		return 0
	}
	return int64(m.body.far.count(len(m.body.entries)))
}

// Has reports whether k has an entry.
func (m Map[K, V]) Has(k K) bool {
	_, ok := m.Find(k)
	return ok
}

// Find returns the value of k and whether there is one.
func (m Map[K, V]) Find(k K) (v V, ok bool) {
	b := m.body
	if b == nil {
		return v, false
	}
	if v, ok = b.entries[k]; !ok && b.far.reads() {
		return farFind(b, k)
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

// Keys returns the keys in ascending order.
func (m Map[K, V]) Keys() Vector[K] {
	if m.Size() == 0 {
		return Vector[K]{}
	}
	return Vector[K]{body: keysOf(m.body)}
}

// keysOf returns the body of a vector of the keys, which several containers may refer to.
func keysOf[K comparable, V any](b *mapBody[K, V]) *vectorBody[K] {
	if b = nearMap(b); b.far.reads() {
		keys := &vectorBody[K]{elems: make([]K, 0, b.far.size)}
		farEach(b, false, func(k K, _ V) bool {
			keys.elems = append(keys.elems, k)
			return true
		})
		return keys
	}
	keys := (*vectorBody[K])(b.keys.get())
	if keys == nil {
		keys = &vectorBody[K]{elems: make([]K, 0, len(b.entries))}
		for k := range b.entries {
			keys.elems = append(keys.elems, k)
		}
		sortElems(keys.elems)
		keys.mark.shared.Store(true)
		b.keys.set(unsafe.Pointer(keys)) // readers may race to publish; all publish the same keys
	}
	return keys
}

// Each calls visit for every entry, in ascending order of the keys, until it returns false.
func Each[K comparable, V any](m Map[K, V], visit func(K, V) bool) {
	if m.body == nil {
		return
	}
	switch b := nearMap(m.body); {
	case b.far.reads():
		farEach(b, true, visit)
	default:
		for _, k := range keysOf(b).elems {
			if !visit(k, b.entries[k]) {
				return
			}
		}
	}
}

// EachElem calls f for every key and every value, in ascending order of the keys.
func (m Map[K, V]) EachElem(f func(any)) {
	Each(m, func(k K, v V) bool {
		f(k)
		f(v)
		return true
	})
}
