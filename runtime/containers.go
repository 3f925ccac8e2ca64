package runtime

import (
	"github.com/aeon-lang/aeon/runtime/undo"
)

// The functions of this file write to a container in a field of an actor, or inside of
// one; package undo documents them. They note undo and redo. The Owned variants are for elements
// that hold plain actor references, and move ownership edges.

// Inside is added to the number of a field if the container lies in an element, an entry or
// a value that undo restores as a whole.
const Inside = undo.Inside

// MapSet is m[k] = v.
func MapSet[K comparable, V any](cx *Cx, self *Self, field uint16, m *Map[K, V], k K, v V) {
	undo.MapSet(cx.UndoLog(), self, field, m, k, v)
}

// MapRemove is m.remove(k); it reports whether there was an entry.
func MapRemove[K comparable, V any](cx *Cx, self *Self, field uint16, m *Map[K, V], k K) bool {
	return undo.MapRemove(cx.UndoLog(), self, field, m, k)
}

// MapUpdate applies f to the value of k in place, or faults when there is none.
func MapUpdate[K comparable, V any](cx *Cx, self *Self, field uint16, m *Map[K, V], k K, f func(*V)) {
	undo.MapUpdate(cx.UndoLog(), self, field, m, k, f)
}

// MapSetOwned is MapSet where keys or values hold plain actor references.
func MapSetOwned[K comparable, V any](cx *Cx, self *Self, field uint16, m *Map[K, V], k K, v V) {
	undo.MapSetOwned(cx.UndoLog(), self, field, m, k, v)
}

// MapRemoveOwned is MapRemove where keys or values hold plain actor references.
func MapRemoveOwned[K comparable, V any](cx *Cx, self *Self, field uint16, m *Map[K, V], k K) bool {
	return undo.MapRemoveOwned(cx.UndoLog(), self, field, m, k)
}

// MapClear is m.clear().
func MapClear[K comparable, V any](cx *Cx, self *Self, field uint16, m *Map[K, V]) {
	undo.MapClear(cx.UndoLog(), self, field, m)
}

// MapClearOwned is MapClear where keys or values hold plain actor references.
func MapClearOwned[K comparable, V any](cx *Cx, self *Self, field uint16, m *Map[K, V]) {
	undo.MapClearOwned(cx.UndoLog(), self, field, m)
}

// SetAdd is s.add(k); it reports whether k was not there before.
func SetAdd[K comparable](cx *Cx, self *Self, field uint16, s *Set[K], k K) bool {
	return undo.SetAdd(cx.UndoLog(), self, field, s, k)
}

// SetRemove is s.remove(k); it reports whether k was there.
func SetRemove[K comparable](cx *Cx, self *Self, field uint16, s *Set[K], k K) bool {
	return undo.SetRemove(cx.UndoLog(), self, field, s, k)
}

// SetAddOwned is SetAdd where the elements hold plain actor references.
func SetAddOwned[K comparable](cx *Cx, self *Self, field uint16, s *Set[K], k K) bool {
	return undo.SetAddOwned(cx.UndoLog(), self, field, s, k)
}

// SetRemoveOwned is SetRemove where the elements hold plain actor references.
func SetRemoveOwned[K comparable](cx *Cx, self *Self, field uint16, s *Set[K], k K) bool {
	return undo.SetRemoveOwned(cx.UndoLog(), self, field, s, k)
}

// SetClear is s.clear().
func SetClear[K comparable](cx *Cx, self *Self, field uint16, s *Set[K]) {
	undo.SetClear(cx.UndoLog(), self, field, s)
}

// SetClearOwned is SetClear where the elements hold plain actor references.
func SetClearOwned[K comparable](cx *Cx, self *Self, field uint16, s *Set[K]) {
	undo.SetClearOwned(cx.UndoLog(), self, field, s)
}

// VectorSet is v[i] = e.
func VectorSet[T any](cx *Cx, self *Self, field uint16, v *Vector[T], i int64, e T) {
	undo.VectorSet(cx.UndoLog(), self, field, v, i, e)
}

// VectorElem returns the address of element i for writing, or faults.
func VectorElem[T any](cx *Cx, self *Self, field uint16, v *Vector[T], i int64) *T {
	return undo.VectorElem(cx.UndoLog(), self, field, v, i)
}

// VectorPush is v.push(e).
func VectorPush[T any](cx *Cx, self *Self, field uint16, v *Vector[T], e T) {
	undo.VectorPush(cx.UndoLog(), self, field, v, e)
}

// VectorPop is v.pop().
func VectorPop[T any](cx *Cx, self *Self, field uint16, v *Vector[T]) T {
	return undo.VectorPop(cx.UndoLog(), self, field, v)
}

// VectorInsert is v.insert(i, e).
func VectorInsert[T any](cx *Cx, self *Self, field uint16, v *Vector[T], i int64, e T) {
	undo.VectorInsert(cx.UndoLog(), self, field, v, i, e)
}

// VectorRemove is v.remove(i); it returns the element.
func VectorRemove[T any](cx *Cx, self *Self, field uint16, v *Vector[T], i int64) T {
	return undo.VectorRemove(cx.UndoLog(), self, field, v, i)
}

// VectorClear is v.clear().
func VectorClear[T any](cx *Cx, self *Self, field uint16, v *Vector[T]) {
	undo.VectorClear(cx.UndoLog(), self, field, v)
}

// VectorSort is v.sort(); the order of elements changes no ownership.
func VectorSort[T any](cx *Cx, self *Self, field uint16, v *Vector[T]) {
	undo.VectorSort(cx.UndoLog(), self, field, v)
}

// VectorSortBy is v.sort(field, …).
func VectorSortBy[T any](cx *Cx, self *Self, field uint16, v *Vector[T], order func(a, b *T) int) {
	undo.VectorSortBy(cx.UndoLog(), self, field, v, order)
}

// VectorSetOwned is VectorSet where the elements hold plain actor references.
func VectorSetOwned[T any](cx *Cx, self *Self, field uint16, v *Vector[T], i int64, e T) {
	undo.VectorSetOwned(cx.UndoLog(), self, field, v, i, e)
}

// VectorPushOwned is VectorPush where the elements hold plain actor references.
func VectorPushOwned[T any](cx *Cx, self *Self, field uint16, v *Vector[T], e T) {
	undo.VectorPushOwned(cx.UndoLog(), self, field, v, e)
}

// VectorPopOwned is VectorPop where the elements hold plain actor references.
func VectorPopOwned[T any](cx *Cx, self *Self, field uint16, v *Vector[T]) T {
	return undo.VectorPopOwned(cx.UndoLog(), self, field, v)
}

// VectorInsertOwned is VectorInsert where the elements hold plain actor references.
func VectorInsertOwned[T any](cx *Cx, self *Self, field uint16, v *Vector[T], i int64, e T) {
	undo.VectorInsertOwned(cx.UndoLog(), self, field, v, i, e)
}

// VectorRemoveOwned is VectorRemove where the elements hold plain actor references.
func VectorRemoveOwned[T any](cx *Cx, self *Self, field uint16, v *Vector[T], i int64) T {
	return undo.VectorRemoveOwned(cx.UndoLog(), self, field, v, i)
}

// VectorClearOwned is VectorClear where the elements hold plain actor references.
func VectorClearOwned[T any](cx *Cx, self *Self, field uint16, v *Vector[T]) {
	undo.VectorClearOwned(cx.UndoLog(), self, field, v)
}
