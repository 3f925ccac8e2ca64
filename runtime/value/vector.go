package value

import (
	"slices"
	"strings"
	"sync/atomic"
)

// Vector is the value vector<T>. The zero Vector is empty. Copy it with Share.
type Vector[T any] struct{ body *vectorBody[T] }

// Invariant: once shared is set, elems is never written again, but by the undo of the
// event that has set it, which leaves nobody behind who has seen it.
type vectorBody[T any] struct {
	shared atomic.Bool
	notes  uint32 // undo records of the body in log
	log    uint64 // the undo log that has seen the last logged write
	// base: elements from here on are no concern of log, which will cut or replace
	// them; -1 if all are.
	base  int
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
	if b := v.body; b != nil && !b.shared.Load() {
		b.shared.Store(true)
	}
}

// own returns v's body, which nobody else sees.
func (v *Vector[T]) own() *vectorBody[T] {
	switch {
	case v.body == nil:
		v.body = &vectorBody[T]{}
	case v.body.shared.Load():
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

// Lookup returns element i, or the zero value when there is none.
func (v Vector[T]) Lookup(i int64) (e T) {
	if s := v.Items(); uint64(i) < uint64(len(s)) {
		e = s[i]
	}
	return e
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

// Insert puts e at position i, before the element that stood there; i may be the
// size. It faults when i is beyond. Its inverse is Remove.
func (v *Vector[T]) Insert(i int64, e T) {
	if n := len(v.Items()); uint64(i) > uint64(n) {
		failIndex(i, n)
	}
	b := v.own()
	b.elems = slices.Insert(b.elems, int(i), e)
}

// Remove takes element i out and returns it, or faults. Its inverse is Insert.
func (v *Vector[T]) Remove(i int64) (old T) {
	if n := len(v.Items()); uint64(i) >= uint64(n) {
		failIndex(i, n)
	}
	b := v.own()
	old = b.elems[i]
	b.elems = slices.Delete(b.elems, int(i), int(i)+1)
	return old
}

// Clear empties the vector and returns what it was.
func (v *Vector[T]) Clear() (old Vector[T]) {
	old, v.body = *v, nil
	return old
}

// Sort orders the elements ascending and returns the vector as it was, shared. The sort
// is stable.
func (v *Vector[T]) Sort() (old Vector[T]) {
	old = v.Share()
	if v.Size() > 1 {
		slices.SortStableFunc(v.own().elems, orderOf[T]())
	}
	return old
}

// Contains reports whether an element equals e.
func (v Vector[T]) Contains(e T, eq func(a, b T) bool) bool {
	for _, x := range v.Items() {
		if eq(x, e) {
			return true
		}
	}
	return false
}

// Slice returns a copy of the elements a to b, b excluded, or faults.
func (v Vector[T]) Slice(a, b int64) Vector[T] {
	s := v.Items()
	if a < 0 || b < a || b > int64(len(s)) {
		failSlice(a, b, len(s))
	}
	part := slices.Clone(s[a:b])
	markAll(part)
	return VectorOf(part...)
}

// Equal reports whether both vectors have equal elements in the same order.
func (v Vector[T]) Equal(w Vector[T], eq func(a, b T) bool) bool {
	return v.body == w.body || slices.EqualFunc(v.Items(), w.Items(), eq)
}

// Str returns the text of the vector, such as [1, 2].
func (v Vector[T]) Str(str func(T) string) string {
	var sb strings.Builder
	sb.WriteByte('[')
	for i, e := range v.Items() {
		if i > 0 {
			sb.WriteString(", ")
		}
		sb.WriteString(str(e))
	}
	sb.WriteByte(']')
	return sb.String()
}

// EachElem calls f for every element.
func (v Vector[T]) EachElem(f func(any)) {
	for _, e := range v.Items() {
		f(e)
	}
}
