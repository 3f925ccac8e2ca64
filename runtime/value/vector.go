package value

import (
	"slices"
)

// Vector is the value vector<T>. The zero Vector is empty. Copy it with Share.
type Vector[T any] struct{ body *vectorBody[T] }

// Invariant: once shared is set, elems is never written again, but by the undo of the
// event that has set it, which leaves nobody behind who has seen it.
type vectorBody[T any] struct {
	mark  mark
	elems []T
	far   *farVector[T] // of a vector that is stored by element
}

// VectorOf returns a vector of the given elements, which it takes over.
func VectorOf[T any](elems ...T) Vector[T] {
	if len(elems) == 0 {
		return Vector[T]{}
	}
	return Vector[T]{body: &vectorBody[T]{elems: elems}}
}

// Share returns a copy of v in O(1).
func (v Vector[T]) Share() Vector[T] {
	v.MarkShared()
	return v
}

// MarkShared implements Sharer.
func (v Vector[T]) MarkShared() {
	// Load first: a store would move the cache line between readers for nothing.
	if b := v.body; b != nil && !b.mark.shared.Load() {
		if b.isFar() {
			b.far.at.watched.Store(true)
		}
		b.mark.shared.Store(true)
	}
}

// own returns v's body, which nobody else sees.
func (v *Vector[T]) own() *vectorBody[T] {
	switch {
	case v.body == nil:
		v.body = &vectorBody[T]{}
	case v.body.mark.shared.Load():
		old := v.body
		v.body = &vectorBody[T]{elems: slices.Clone(old.elems)}
		if old.far != nil {
			v.body.far = old.far.clone()
			v.body.far.stray = true
		}
		markAll(v.body.elems)
	}
	return v.body
}

// Items returns the elements for reading. The slice stays as it is for as long as
// the vector is shared or not written.
func (v Vector[T]) Items() []T {
	if v.body == nil {
		return nil
	}
	if v.body.far != nil && v.body.far.src != nil {
		return v.body.all()
	}
	return v.body.elems
}

// Size returns the number of elements.
func (v Vector[T]) Size() int64 {
	if v.body == nil {
		return 0
	}
	return int64(v.body.size())
}

// At returns element i, or faults.
func (v Vector[T]) At(i int64) T {
	if v.body == nil || uint64(i) >= uint64(len(v.body.elems)) {
		return v.farAt(i)
	}
	return v.body.elems[i]
}

// farAt is At for an element that is not in the body.
func (v Vector[T]) farAt(i int64) T {
	if n := v.Size(); uint64(i) >= uint64(n) {
		failIndex(i, int(n))
	}
	return v.body.elem(int(i))
}

// Ref returns the address of element i for writing through a path, or faults. It is
// valid until the vector is next written or shared.
func (v *Vector[T]) Ref(i int64) *T {
	if n := v.Size(); uint64(i) >= uint64(n) {
		failIndex(i, int(n))
	}
	b := v.own()
	if b.far != nil {
		return b.place(int(i))
	}
	return &b.elems[i]
}

// Set replaces element i and returns the old one, or faults.
func (v *Vector[T]) Set(i int64, e T) (old T) {
	p := v.Ref(i)
	old, *p = *p, e
	return old
}

// Push appends e. Its inverse is Pop.
func (v *Vector[T]) Push(e T) {
	b := v.own()
	if b.far != nil {
		b.push(e)
		return
	}
	b.elems = append(b.elems, e)
}

// Pop removes and returns the last element, or faults. Its inverse is Push.
func (v *Vector[T]) Pop() (last T) {
	n := v.Size()
	if n == 0 {
		Fail(MsgEmpty)
	}
	b := v.own()
	if b.far != nil {
		return b.pop()
	}
	var zero T
	last, b.elems[n-1] = b.elems[n-1], zero // do not keep the element alive
	b.elems = b.elems[:n-1]
	return last
}

// Clear empties the vector and returns what it was.
func (v *Vector[T]) Clear() (old Vector[T]) {
	old, v.body = *v, nil
	return old
}

// EachElem calls f for every element.
func (v Vector[T]) EachElem(f func(any)) {
	for _, e := range v.Items() {
		f(e)
	}
}
