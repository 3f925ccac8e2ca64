package commit

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
)

// Table is a map of attempts. An event over several stores looks them up at each step, so it hashes nothing but their numbers, which a home counts up. The
// zero value is empty.
type Table[T any] struct {
	// slots are of open addressing, with linear probing: an attempt is at its place, or behind it with no empty slot between. Their number is a power of 2.
	slots []slot[T]
	shift int // a place is the upper bits of a hash
	count int
}

type slot[T any] struct {
	name  Name
	value *T // nil: the slot is empty
}

const slotsMin = 16

// Len returns how many attempts there are.
func (t *Table[T]) Len() int { return t.count }

// Get returns what the table has of an attempt, nil if that is nothing.
func (t *Table[T]) Get(name Name) *T {
	if t.count == 0 {
		return nil
	}
	return t.slots[t.find(name)].value
}

// Put adds an attempt, or takes the place of what there was of it. The value is not nil.
func (t *Table[T]) Put(name Name, value *T) {
	if value == nil { // it would be an empty slot
		assert.Unreachable("commit: %v is put without a value", name)
	}
	if 2*t.count >= len(t.slots) {
		t.resize(max(slotsMin, 2*len(t.slots)))
	}
	s := &t.slots[t.find(name)]
	if s.value == nil {
		t.count++
	}
	*s = slot[T]{name, value}
}

// Delete deletes an attempt, if it is there.
func (t *Table[T]) Delete(name Name) {
	if t.count == 0 {
		return
	}
	i := t.find(name)
	if t.slots[i].value == nil {
		return
	}
	t.count--
	if 16*t.count < len(t.slots) && len(t.slots) > slotsMin {
		t.slots[i] = slot[T]{}
		t.resize(len(t.slots) / 4)
		return
	}
	// What is behind moves up, unless it would come before its place.
	mask := len(t.slots) - 1
	for j := (i + 1) & mask; t.slots[j].value != nil; j = (j + 1) & mask {
		if place := t.place(t.slots[j].name); (j-place)&mask >= (j-i)&mask {
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = slot[T]{}
}

// clear empties the table, and keeps its memory.
func (t *Table[T]) clear() {
	clear(t.slots)
	t.count = 0
}

// Names returns the attempts, in order.
func (t *Table[T]) Names() []Name {
	list := make([]Name, 0, t.count)
	for i := range t.slots {
		if t.slots[i].value != nil {
			list = append(list, t.slots[i].name)
		}
	}
	slices.SortFunc(list, Name.Compare)
	return list
}

// All visits what there is, in no order that means anything.
func (t *Table[T]) All(visit func(Name, *T) bool) {
	for i := range t.slots {
		if s := &t.slots[i]; s.value != nil && !visit(s.name, s.value) {
			return
		}
	}
}

// place returns where an attempt belongs.
func (t *Table[T]) place(name Name) int { return int(name.Number * 0x9e3779b97f4a7c15 >> t.shift) }

// find returns the slot of an attempt, or the empty one where it would be put.
func (t *Table[T]) find(name Name) int {
	i := t.place(name)
	for t.slots[i].value != nil && t.slots[i].name != name {
		i = (i + 1) & (len(t.slots) - 1)
	}
	return i
}

func (t *Table[T]) resize(n int) {
	old := t.slots
	t.slots, t.shift = make([]slot[T], n), 64
	for ; n > 1; n /= 2 {
		t.shift--
	}
	for i := range old {
		if old[i].value != nil {
			t.slots[t.find(old[i].name)] = old[i]
		}
	}
}
