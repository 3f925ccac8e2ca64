package undo

// Writes to fields that own actors: each moves the edges of ownership, and is then a write as any other.

import (
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/table"
	"github.com/aeon-lang/aeon/runtime/value"
)

// FieldOwned is Field where p holds plain actor references, and v is what it is assigned.
func FieldOwned[T any](l *Log, self *order.Self, field uint16, p *T, v T) {
	l.Edges.MoveEdges(self, any(*p), any(v))
	if field&Inside == 0 {
		Field(l, self, field, p)
	}
}

// MapSetOwned is MapSet where keys or values hold plain actor references.
func MapSetOwned[K comparable, V any](l *Log, self *order.Self, field uint16, m *value.Map[K, V], k K, v V) {
	old, had := m.Find(k)
	if had {
		l.Edges.MoveEdges(self, any(old), any(v))
	} else {
		l.Edges.MoveEdges(self, nil, any(k))
		l.Edges.MoveEdges(self, nil, any(v))
	}
	MapSet(l, self, field, m, k, v)
}

// MapRemoveOwned is MapRemove where keys or values hold plain actor references.
func MapRemoveOwned[K comparable, V any](l *Log, self *order.Self, field uint16, m *value.Map[K, V], k K) bool {
	old, had := m.Find(k)
	if had {
		l.Edges.MoveEdges(self, any(k), nil)
		l.Edges.MoveEdges(self, any(old), nil)
	}
	return MapRemove(l, self, field, m, k)
}

// MapClearOwned is MapClear where keys or values hold plain actor references.
func MapClearOwned[K comparable, V any](l *Log, self *order.Self, field uint16, m *value.Map[K, V]) {
	l.Edges.MoveEdges(self, any(*m), nil)
	MapClear(l, self, field, m)
}

// SetAddOwned is SetAdd where the elements hold plain actor references.
func SetAddOwned[K comparable](l *Log, self *order.Self, field uint16, s *value.Set[K], k K) bool {
	if !s.Has(k) {
		l.Edges.MoveEdges(self, nil, any(k))
	}
	return SetAdd(l, self, field, s, k)
}

// SetRemoveOwned is SetRemove where the elements hold plain actor references.
func SetRemoveOwned[K comparable](l *Log, self *order.Self, field uint16, s *value.Set[K], k K) bool {
	if s.Has(k) {
		l.Edges.MoveEdges(self, any(k), nil)
	}
	return SetRemove(l, self, field, s, k)
}

// SetClearOwned is SetClear where the elements hold plain actor references.
func SetClearOwned[K comparable](l *Log, self *order.Self, field uint16, s *value.Set[K]) {
	l.Edges.MoveEdges(self, any(*s), nil)
	SetClear(l, self, field, s)
}

// VectorSetOwned is VectorSet where the elements hold plain actor references.
func VectorSetOwned[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T], i int64, e T) {
	l.Edges.MoveEdges(self, any(v.At(i)), any(e))
	VectorSet(l, self, field, v, i, e)
}

// VectorPushOwned is VectorPush where the elements hold plain actor references.
func VectorPushOwned[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T], e T) {
	l.Edges.MoveEdges(self, nil, any(e))
	VectorPush(l, self, field, v, e)
}

// VectorPopOwned is VectorPop where the elements hold plain actor references.
func VectorPopOwned[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T]) T {
	old := VectorPop(l, self, field, v)
	l.Edges.MoveEdges(self, any(old), nil)
	return old
}

// VectorInsertOwned is VectorInsert where the elements hold plain actor references.
func VectorInsertOwned[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T], i int64, e T) {
	VectorInsert(l, self, field, v, i, e)
	l.Edges.MoveEdges(self, nil, any(e))
}

// VectorRemoveOwned is VectorRemove where the elements hold plain actor references.
func VectorRemoveOwned[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T], i int64) T {
	old := VectorRemove(l, self, field, v, i)
	l.Edges.MoveEdges(self, any(old), nil)
	return old
}

// VectorClearOwned is VectorClear where the elements hold plain actor references.
func VectorClearOwned[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T]) {
	l.Edges.MoveEdges(self, any(*v), nil)
	VectorClear(l, self, field, v)
}

// TableInsertOwned is TableInsert where rows hold plain actor references.
func TableInsertOwned[K comparable, T any](l *Log, self *order.Self, field uint16, t *table.Table[K, T], v T) {
	table.NewKey(*t, &v)
	l.Edges.MoveEdges(self, nil, any(v))
	TableInsert(l, self, field, t, v)
}

// TablePutOwned is TablePut where rows hold plain actor references.
func TablePutOwned[K comparable, T any](l *Log, self *order.Self, field uint16, t *table.Table[K, T], v T) {
	if old, had := t.Find(table.RowKey(*t, &v)); had {
		l.Edges.MoveEdges(self, any(old), any(v))
	} else {
		l.Edges.MoveEdges(self, nil, any(v))
	}
	TablePut(l, self, field, t, v)
}

// TableRemoveOwned is TableRemove where rows hold plain actor references.
func TableRemoveOwned[K comparable, T any](l *Log, self *order.Self, field uint16, t *table.Table[K, T], k K) bool {
	if old, had := t.Find(k); had {
		l.Edges.MoveEdges(self, any(old), nil)
	}
	return TableRemove(l, self, field, t, k)
}

// TableClearOwned is TableClear where rows hold plain actor references.
func TableClearOwned[K comparable, T any](l *Log, self *order.Self, field uint16, t *table.Table[K, T]) {
	l.Edges.MoveEdges(self, any(*t), nil)
	TableClear(l, self, field, t)
}
