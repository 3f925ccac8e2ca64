package exec

import (
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/value"
)

// The functions of this file write to a container that is a field of an actor, or lies
// inside one. They note how to take the write back and, in the Owned variants, move the
// ownership edges. A fault leaves the container as it was.

// Inside is added to the number of a field where what is written lies inside an element,
// an entry or a value that the log restores as a whole: VectorElem, MapUpdate and Log of
// a value see to that. Then the container itself needs no record, only what it refers to.
const Inside uint16 = 1 << 15

// logHeader notes the container at p before it gets another body.
func logHeader[T any](cx *Cx, self *order.Self, field uint16, p *T) {
	if field&Inside == 0 {
		Log(cx, self, field, p)
	}
}

func ownVector[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T]) {
	if !value.SoleVector(*v) {
		logHeader(cx, self, field, v)
		value.OwnVector(v, cx.logNumber())
	}
}

// noteElem notes element i before it is written.
func noteElem[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], i int64) {
	if value.FreeElem(v, cx.logNumber(), i) {
		return
	}
	for n := len(cx.log) - 1; n >= 0 && n >= len(cx.log)-lookBack; n-- {
		noted, moved := value.NotedElem(v, cx.log[n].undoer(), i)
		if noted {
			return
		}
		if moved {
			break
		}
	}
	cx.logUndo(self, field, value.NoteSet(v, cx.logNumber(), i))
}

func ownMap[K comparable, V any](cx *Cx, self *order.Self, field uint16, m *value.Map[K, V]) {
	if !value.SoleMap(*m) {
		logHeader(cx, self, field, m)
		value.OwnMap(m, cx.logNumber())
	}
}

// noteEntry notes the entry of k before it is written or removed.
func noteEntry[K comparable, V any](cx *Cx, self *order.Self, field uint16, m *value.Map[K, V], k K) {
	if value.FreeEntry(m, cx.logNumber()) {
		return
	}
	for n := len(cx.log) - 1; n >= 0 && n >= len(cx.log)-lookBack; n-- {
		if value.NotedEntry(m, cx.log[n].undoer(), k) {
			return
		}
	}
	cx.logUndo(self, field, value.NoteEntry(m, cx.logNumber(), k))
}

// MapSet is m[k] = v.
func MapSet[K comparable, V any](cx *Cx, self *order.Self, field uint16, m *value.Map[K, V], k K, v V) {
	ownMap(cx, self, field, m)
	noteEntry(cx, self, field, m, k)
	value.PutEntry(m, k, v)
}

// MapRemove is m.remove(k); it reports whether there was an entry.
func MapRemove[K comparable, V any](cx *Cx, self *order.Self, field uint16, m *value.Map[K, V], k K) bool {
	if !m.Has(k) {
		return false
	}
	ownMap(cx, self, field, m)
	noteEntry(cx, self, field, m, k)
	value.RemoveKey(m, k)
	return true
}

// MapUpdate applies f to the value of k in place, or faults when there is none. What f
// writes in it needs no record, apart from the containers that it refers to.
func MapUpdate[K comparable, V any](cx *Cx, self *order.Self, field uint16, m *value.Map[K, V], k K, f func(*V)) {
	m.At(k)
	ownMap(cx, self, field, m)
	noteEntry(cx, self, field, m, k)
	value.UpdateEntry(m, k, f)
}

// MapSetOwned is MapSet where keys or values hold plain actor references.
func MapSetOwned[K comparable, V any](cx *Cx, self *order.Self, field uint16, m *value.Map[K, V], k K, v V) {
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
func MapRemoveOwned[K comparable, V any](cx *Cx, self *order.Self, field uint16, m *value.Map[K, V], k K) bool {
	old, had := m.Find(k)
	if had {
		cx.moveEdges(self, any(k), nil)
		cx.moveEdges(self, any(old), nil)
	}
	return MapRemove(cx, self, field, m, k)
}

// MapClear is m.clear().
func MapClear[K comparable, V any](cx *Cx, self *order.Self, field uint16, m *value.Map[K, V]) {
	if m.Size() == 0 {
		return
	}
	if !value.SoleMap(*m) {
		logHeader(cx, self, field, m)
		value.Clear(m)
		return
	}
	cx.logUndo(self, field, value.EmptyMap(m, cx.logNumber()))
}

// MapClearOwned is MapClear where keys or values hold plain actor references.
func MapClearOwned[K comparable, V any](cx *Cx, self *order.Self, field uint16, m *value.Map[K, V]) {
	cx.moveEdges(self, any(*m), nil)
	MapClear(cx, self, field, m)
}

// SetAdd is s.add(k); it reports whether k was not there before.
func SetAdd[K comparable](cx *Cx, self *order.Self, field uint16, s *value.Set[K], k K) bool {
	if s.Has(k) {
		return false
	}
	MapSet(cx, self, field, s.Entries(), k, struct{}{})
	return true
}

// SetRemove is s.remove(k); it reports whether k was there.
func SetRemove[K comparable](cx *Cx, self *order.Self, field uint16, s *value.Set[K], k K) bool {
	return MapRemove(cx, self, field, s.Entries(), k)
}

// SetAddOwned is SetAdd where the elements hold plain actor references.
func SetAddOwned[K comparable](cx *Cx, self *order.Self, field uint16, s *value.Set[K], k K) bool {
	if !s.Has(k) {
		cx.moveEdges(self, nil, any(k))
	}
	return SetAdd(cx, self, field, s, k)
}

// SetRemoveOwned is SetRemove where the elements hold plain actor references.
func SetRemoveOwned[K comparable](cx *Cx, self *order.Self, field uint16, s *value.Set[K], k K) bool {
	if s.Has(k) {
		cx.moveEdges(self, any(k), nil)
	}
	return SetRemove(cx, self, field, s, k)
}

// SetClear is s.clear().
func SetClear[K comparable](cx *Cx, self *order.Self, field uint16, s *value.Set[K]) {
	MapClear(cx, self, field, s.Entries())
}

// SetClearOwned is SetClear where the elements hold plain actor references.
func SetClearOwned[K comparable](cx *Cx, self *order.Self, field uint16, s *value.Set[K]) {
	cx.moveEdges(self, any(*s), nil)
	SetClear(cx, self, field, s)
}

// VectorSet is v[i] = e.
func VectorSet[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], i int64, e T) {
	*VectorElem(cx, self, field, v, i) = e
}

// VectorElem returns the address of element i for writing, or faults. It is valid until
// v is next written. What is written there needs no record, apart from the containers
// that it refers to.
func VectorElem[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], i int64) *T {
	value.CheckIndex(*v, i)
	ownVector(cx, self, field, v)
	noteElem(cx, self, field, v, i)
	return value.RefAt(v, i)
}

// VectorPush is v.push(e).
func VectorPush[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], e T) {
	ownVector(cx, self, field, v)
	cx.logUndo(self, field, value.NotePush(v, cx.logNumber()))
	value.Push(v, e)
}

// VectorPop is v.pop(). The log may hold the element, too, so it counts as shared.
func VectorPop[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T]) T {
	if v.Size() > 0 {
		ownVector(cx, self, field, v)
		cx.logUndo(self, field, value.NotePop(v, cx.logNumber()))
	}
	old := value.Pop(v)
	value.MarkShared(&old)
	return old
}

// VectorInsert is v.insert(i, e).
func VectorInsert[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], i int64, e T) {
	if i != v.Size() {
		value.CheckIndex(*v, i)
	}
	ownVector(cx, self, field, v)
	cx.logUndo(self, field, value.NoteInsert(v, cx.logNumber(), i))
	value.InsertAt(v, i, e)
}

// VectorRemove is v.remove(i); it returns the element. The log may hold it, too, so it
// counts as shared.
func VectorRemove[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], i int64) T {
	value.CheckIndex(*v, i)
	ownVector(cx, self, field, v)
	cx.logUndo(self, field, value.NoteRemove(v, cx.logNumber(), i))
	old := value.RemoveAt(v, i)
	value.MarkShared(&old)
	return old
}

// VectorClear is v.clear().
func VectorClear[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T]) {
	if v.Size() == 0 {
		return
	}
	if !value.SoleVector(*v) {
		logHeader(cx, self, field, v)
		value.Clear(v)
		return
	}
	cx.logUndo(self, field, value.EmptyVector(v, cx.logNumber()))
}

// VectorSort is v.sort(); the order of elements changes no ownership.
func VectorSort[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T]) {
	if v.Size() < 2 {
		return
	}
	ownVector(cx, self, field, v)
	cx.logUndo(self, field, value.NoteContent(v, cx.logNumber()))
	value.Sort(v)
}

// VectorSetOwned is VectorSet where the elements hold plain actor references.
func VectorSetOwned[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], i int64, e T) {
	cx.moveEdges(self, any(v.At(i)), any(e))
	VectorSet(cx, self, field, v, i, e)
}

// VectorPushOwned is VectorPush where the elements hold plain actor references.
func VectorPushOwned[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], e T) {
	cx.moveEdges(self, nil, any(e))
	VectorPush(cx, self, field, v, e)
}

// VectorPopOwned is VectorPop where the elements hold plain actor references.
func VectorPopOwned[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T]) T {
	old := VectorPop(cx, self, field, v)
	cx.moveEdges(self, any(old), nil)
	return old
}

// VectorInsertOwned is VectorInsert where the elements hold plain actor references.
func VectorInsertOwned[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], i int64, e T) {
	VectorInsert(cx, self, field, v, i, e)
	cx.moveEdges(self, nil, any(e))
}

// VectorRemoveOwned is VectorRemove where the elements hold plain actor references.
func VectorRemoveOwned[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], i int64) T {
	old := VectorRemove(cx, self, field, v, i)
	cx.moveEdges(self, any(old), nil)
	return old
}

// VectorClearOwned is VectorClear where the elements hold plain actor references.
func VectorClearOwned[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T]) {
	cx.moveEdges(self, any(*v), nil)
	VectorClear(cx, self, field, v)
}
