package exec

import "github.com/aeon-lang/aeon/runtime/value"

// The functions of this file write one element of a container that is a field of an
// actor. They note how to take the write back, element by element, and, in the Owned
// variants, move the ownership edges. A fault leaves the container as it was.

type mapUndo[K comparable, V any] struct {
	m   *value.Map[K, V]
	k   K
	old V
	had bool
}

func (u *mapUndo[K, V]) undo() {
	if u.had {
		u.m.Set(u.k, u.old)
	} else {
		u.m.Remove(u.k)
	}
}

// MapSet is m[k] = v.
func MapSet[K comparable, V any](cx *Cx, self *Self, field uint16, m *value.Map[K, V], k K, v V) {
	old, had := m.Set(k, v)
	cx.logUndo(self, field, &mapUndo[K, V]{m, k, old, had})
}

// MapRemove is m.remove(k); it reports whether there was an entry.
func MapRemove[K comparable, V any](cx *Cx, self *Self, field uint16, m *value.Map[K, V], k K) bool {
	old, had := m.Remove(k)
	if had {
		cx.logUndo(self, field, &mapUndo[K, V]{m, k, old, had})
	}
	return had
}

// MapSetOwned is MapSet where keys or values hold plain actor references.
func MapSetOwned[K comparable, V any](cx *Cx, self *Self, field uint16, m *value.Map[K, V], k K, v V) {
	old, had := m.Find(k)
	if had {
		cx.moveEdges(self, any(old), any(v))
	} else {
		cx.moveEdges(self, nil, any(k))
		cx.moveEdges(self, nil, any(v))
	}
	MapSet(cx, self, field, m, k, v)
}

// MapRemoveOwned is MapRemove where keys or values hold plain actor references.
func MapRemoveOwned[K comparable, V any](cx *Cx, self *Self, field uint16, m *value.Map[K, V], k K) bool {
	old, had := m.Find(k)
	if had {
		cx.moveEdges(self, any(k), nil)
		cx.moveEdges(self, any(old), nil)
	}
	return MapRemove(cx, self, field, m, k)
}

// MapClear is m.clear().
func MapClear[K comparable, V any](cx *Cx, self *Self, field uint16, m *value.Map[K, V]) {
	Log(cx, self, field, m)
	m.Clear()
}

// MapClearOwned is MapClear where keys or values hold plain actor references.
func MapClearOwned[K comparable, V any](cx *Cx, self *Self, field uint16, m *value.Map[K, V]) {
	cx.moveEdges(self, any(*m), nil)
	MapClear(cx, self, field, m)
}

type setUndo[K comparable] struct {
	s     *value.Set[K]
	k     K
	added bool
}

func (u *setUndo[K]) undo() {
	if u.added {
		u.s.Remove(u.k)
	} else {
		u.s.Insert(u.k)
	}
}

// SetAdd is s.add(k); it reports whether k was not there before.
func SetAdd[K comparable](cx *Cx, self *Self, field uint16, s *value.Set[K], k K) bool {
	added := s.Insert(k)
	if added {
		cx.logUndo(self, field, &setUndo[K]{s, k, true})
	}
	return added
}

// SetRemove is s.remove(k); it reports whether k was there.
func SetRemove[K comparable](cx *Cx, self *Self, field uint16, s *value.Set[K], k K) bool {
	had := s.Remove(k)
	if had {
		cx.logUndo(self, field, &setUndo[K]{s, k, false})
	}
	return had
}

// SetAddOwned is SetAdd where the elements hold plain actor references.
func SetAddOwned[K comparable](cx *Cx, self *Self, field uint16, s *value.Set[K], k K) bool {
	if !s.Has(k) {
		cx.moveEdges(self, nil, any(k))
	}
	return SetAdd(cx, self, field, s, k)
}

// SetRemoveOwned is SetRemove where the elements hold plain actor references.
func SetRemoveOwned[K comparable](cx *Cx, self *Self, field uint16, s *value.Set[K], k K) bool {
	if s.Has(k) {
		cx.moveEdges(self, any(k), nil)
	}
	return SetRemove(cx, self, field, s, k)
}

// SetClear is s.clear().
func SetClear[K comparable](cx *Cx, self *Self, field uint16, s *value.Set[K]) {
	Log(cx, self, field, s)
	s.Clear()
}

// SetClearOwned is SetClear where the elements hold plain actor references.
func SetClearOwned[K comparable](cx *Cx, self *Self, field uint16, s *value.Set[K]) {
	cx.moveEdges(self, any(*s), nil)
	SetClear(cx, self, field, s)
}

type vectorOp uint8

const (
	vectorSet vectorOp = iota
	vectorPush
	vectorPop
	vectorInsert
	vectorRemove
)

type vectorUndo[T any] struct {
	v   *value.Vector[T]
	op  vectorOp
	i   int64
	old T
}

func (u *vectorUndo[T]) undo() {
	switch u.op {
	case vectorSet:
		u.v.Set(u.i, u.old)
	case vectorPush:
		u.v.Pop()
	case vectorPop:
		u.v.Push(u.old)
	case vectorInsert:
		u.v.Remove(u.i)
	case vectorRemove:
		u.v.Insert(u.i, u.old)
	}
}

// VectorSet is v[i] = e.
func VectorSet[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T], i int64, e T) {
	old := v.Set(i, e)
	cx.logUndo(self, field, &vectorUndo[T]{v: v, op: vectorSet, i: i, old: old})
}

// VectorPush is v.push(e).
func VectorPush[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T], e T) {
	v.Push(e)
	cx.logUndo(self, field, &vectorUndo[T]{v: v, op: vectorPush})
}

// VectorPop is v.pop().
func VectorPop[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T]) T {
	old := v.Pop()
	cx.logUndo(self, field, &vectorUndo[T]{v: v, op: vectorPop, old: old})
	return old
}

// VectorInsert is v.insert(i, e).
func VectorInsert[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T], i int64, e T) {
	v.Insert(i, e)
	cx.logUndo(self, field, &vectorUndo[T]{v: v, op: vectorInsert, i: i})
}

// VectorRemove is v.remove(i); it returns the element.
func VectorRemove[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T], i int64) T {
	old := v.Remove(i)
	cx.logUndo(self, field, &vectorUndo[T]{v: v, op: vectorRemove, i: i, old: old})
	return old
}

// VectorClear is v.clear().
func VectorClear[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T]) {
	Log(cx, self, field, v)
	v.Clear()
}

// VectorSort is v.sort(); the order of elements changes no ownership.
func VectorSort[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T]) {
	Log(cx, self, field, v)
	v.Sort()
}

// VectorSetOwned is VectorSet where the elements hold plain actor references.
func VectorSetOwned[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T], i int64, e T) {
	cx.moveEdges(self, any(v.At(i)), any(e))
	VectorSet(cx, self, field, v, i, e)
}

// VectorPushOwned is VectorPush where the elements hold plain actor references.
func VectorPushOwned[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T], e T) {
	cx.moveEdges(self, nil, any(e))
	VectorPush(cx, self, field, v, e)
}

// VectorPopOwned is VectorPop where the elements hold plain actor references.
func VectorPopOwned[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T]) T {
	old := VectorPop(cx, self, field, v)
	cx.moveEdges(self, any(old), nil)
	return old
}

// VectorInsertOwned is VectorInsert where the elements hold plain actor references.
func VectorInsertOwned[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T], i int64, e T) {
	VectorInsert(cx, self, field, v, i, e)
	cx.moveEdges(self, nil, any(e))
}

// VectorRemoveOwned is VectorRemove where the elements hold plain actor references.
func VectorRemoveOwned[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T], i int64) T {
	old := VectorRemove(cx, self, field, v, i)
	cx.moveEdges(self, any(old), nil)
	return old
}

// VectorClearOwned is VectorClear where the elements hold plain actor references.
func VectorClearOwned[T any](cx *Cx, self *Self, field uint16, v *value.Vector[T]) {
	cx.moveEdges(self, any(*v), nil)
	VectorClear(cx, self, field, v)
}
