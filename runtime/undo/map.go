package undo

import (
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/value"
)

// ownMap gives m a body of its own, unless it has one.
func ownMap[K comparable, V any](l *Log, self *order.Self, field uint16, m *value.Map[K, V]) {
	if !value.SoleMap(*m) {
		header(l, self, field, m)
		value.OwnMap(m, l.id())
	}
}

// noteEntry notes the entry of k before it is written or removed.
func noteEntry[K comparable, V any](l *Log, self *order.Self, field uint16, m *value.Map[K, V], k K) {
	if value.FreeEntry(m, l.id()) {
		return
	}
	for n := len(l.entries) - 1; n >= 0 && n >= len(l.entries)-lookBack; n-- {
		if value.NotedEntry(m, l.entries[n].Record(), k) {
			return
		}
	}
	l.record(self, field, value.NoteEntry(m, l.id(), k))
}

// MapSet is m[k] = v.
func MapSet[K comparable, V any](l *Log, self *order.Self, field uint16, m *value.Map[K, V], k K, v V) {
	ownMap(l, self, field, m)
	noteEntry(l, self, field, m, k)
	value.PutEntry(m, k, v)
}

// MapRemove is m.remove(k); it reports whether there was an entry.
func MapRemove[K comparable, V any](l *Log, self *order.Self, field uint16, m *value.Map[K, V], k K) bool {
	if !m.Has(k) {
		return false
	}
	ownMap(l, self, field, m)
	noteEntry(l, self, field, m, k)
	value.RemoveKey(m, k)
	return true
}

// MapUpdate applies f to the value of k in place, or faults when there is none. What f
// writes in it needs no record, apart from the containers that it refers to.
func MapUpdate[K comparable, V any](l *Log, self *order.Self, field uint16, m *value.Map[K, V], k K, f func(*V)) {
	m.At(k)
	ownMap(l, self, field, m)
	noteEntry(l, self, field, m, k)
	value.UpdateEntry(m, k, f)
}

// MapClear is m.clear().
func MapClear[K comparable, V any](l *Log, self *order.Self, field uint16, m *value.Map[K, V]) {
	if m.Size() == 0 {
		return
	}
	if !value.SoleMap(*m) {
		header(l, self, field, m)
		value.Clear(m)
		return
	}
	l.record(self, field, value.EmptyMap(m, l.id()))
}

// SetAdd is s.add(k); it reports whether k was not there before.
func SetAdd[K comparable](l *Log, self *order.Self, field uint16, s *value.Set[K], k K) bool {
	if s.Has(k) {
		return false
	}
	MapSet(l, self, field, s.Entries(), k, struct{}{})
	return true
}

// SetRemove is s.remove(k); it reports whether k was there.
func SetRemove[K comparable](l *Log, self *order.Self, field uint16, s *value.Set[K], k K) bool {
	return MapRemove(l, self, field, s.Entries(), k)
}

// SetClear is s.clear().
func SetClear[K comparable](l *Log, self *order.Self, field uint16, s *value.Set[K]) {
	MapClear(l, self, field, s.Entries())
}
