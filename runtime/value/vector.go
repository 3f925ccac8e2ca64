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
		b.mark.shared.Store(true)
	}
}

// own returns v's body, which nobody else sees.
func (v *Vector[T]) own() *vectorBody[T] {
	switch {
	case v.body == nil:
		v.body = &vectorBody[T]{}
	case v.body.mark.shared.Load():
		v.body = &vectorBody[T]{elems: slices.Clone(v.body.elems)}
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
	return v.body.elems
}

// Size returns the number of elements.
func (v Vector[T]) Size() int64 { return int64(len(v.Items())) }

// At returns element i, or faults.
func (v Vector[T]) At(i int64) T {
	e := v.Items()
	if uint64(i) >= uint64(len(e)) {
		failIndex(i, len(e))
	}
	return e[i]
}

// Ref returns the address of element i for writing through a path, or faults. It is
// valid until the vector is next written or shared.
func (v *Vector[T]) Ref(i int64) *T {
	if n := len(v.Items()); uint64(i) >= uint64(n) {
		failIndex(i, n)
	}
	return &v.own().elems[i]
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
	b.elems = append(b.elems, e)
}

// Pop removes and returns the last element, or faults. Its inverse is Push.
func (v *Vector[T]) Pop() (last T) {
	n := len(v.Items())
	if n == 0 {
		Fail(MsgEmpty)
	}
	b := v.own()
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
