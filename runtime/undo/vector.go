package undo

import (
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/value"
)

// ownVector gives v a body of its own, unless it has one.
func ownVector[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T]) {
	if !value.SoleVector(*v) {
		header(l, self, field, v)
		value.OwnVector(v, l.id())
	}
}

// noteElem notes element i before it is written.
func noteElem[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T], i int64) {
	if value.FreeElem(v, l.id(), i) {
		return
	}
	for n := len(l.entries) - 1; n >= 0 && n >= len(l.entries)-lookBack; n-- {
		noted, moved := value.NotedElem(v, l.entries[n].Record(), i)
		if noted {
			return
		}
		if moved {
			break
		}
	}
	l.record(self, field, value.NoteSet(v, l.id(), i))
}

// VectorSet is v[i] = e.
func VectorSet[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T], i int64, e T) {
	*VectorElem(l, self, field, v, i) = e
}

// VectorElem returns the address of element i for writing, or faults. It is valid until
// v is next written. What is written there needs no record, apart from the containers
// that it refers to.
func VectorElem[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T], i int64) *T {
	value.CheckIndex(*v, i)
	ownVector(l, self, field, v)
	noteElem(l, self, field, v, i)
	return value.RefAt(v, i)
}

// VectorPush is v.push(e).
func VectorPush[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T], e T) {
	ownVector(l, self, field, v)
	l.record(self, field, value.NotePush(v, l.id()))
	value.Push(v, e)
}

// VectorPop is v.pop(). The log may hold the element, too, so it counts as shared.
func VectorPop[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T]) T {
	if v.Size() > 0 {
		ownVector(l, self, field, v)
		l.record(self, field, value.NotePop(v, l.id()))
	}
	old := value.Pop(v)
	value.MarkShared(&old)
	return old
}

// VectorInsert is v.insert(i, e).
func VectorInsert[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T], i int64, e T) {
	if i != v.Size() {
		value.CheckIndex(*v, i)
	}
	ownVector(l, self, field, v)
	l.record(self, field, value.NoteInsert(v, l.id(), i))
	value.InsertAt(v, i, e)
}

// VectorRemove is v.remove(i); it returns the element. The log may hold it, too, so it
// counts as shared.
func VectorRemove[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T], i int64) T {
	value.CheckIndex(*v, i)
	ownVector(l, self, field, v)
	l.record(self, field, value.NoteRemove(v, l.id(), i))
	old := value.RemoveAt(v, i)
	value.MarkShared(&old)
	return old
}

// VectorClear is v.clear().
func VectorClear[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T]) {
	if v.Size() == 0 {
		return
	}
	if !value.SoleVector(*v) {
		header(l, self, field, v)
		value.Clear(v)
		return
	}
	l.record(self, field, value.EmptyVector(v, l.id()))
}

// VectorSort is v.sort(); the order of elements changes no ownership.
func VectorSort[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T]) {
	if noteOrder(l, self, field, v) {
		value.Sort(v)
	}
}

// VectorSortBy is v.sort(field, …).
func VectorSortBy[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T], order func(a, b *T) int) {
	if noteOrder(l, self, field, v) {
		value.SortBy(v, order)
	}
}

// noteOrder prepares v to be sorted, and reports whether it has something to sort.
func noteOrder[T any](l *Log, self *order.Self, field uint16, v *value.Vector[T]) bool {
	if v.Size() < 2 {
		return false
	}
	ownVector(l, self, field, v)
	l.record(self, field, value.NoteContent(v, l.id()))
	return true
}
