package value

import (
	"slices"
	"strings"
)

// What not every program does with every type of container is a function and no method:
// Go compiles all methods of a type for each of its elements' types.

// LookupElem returns element i of v, or the zero value when there is none.
func LookupElem[T any](v Vector[T], i int64) (e T) {
	if uint64(i) < uint64(v.Size()) {
		e = v.body.elem(int(i))
	}
	return e
}

// InsertAt puts e at position i, before the element that stood there; i may be the
// size. It faults when i is beyond. Its inverse is RemoveAt.
func InsertAt[T any](v *Vector[T], i int64, e T) {
	n := v.Size()
	if uint64(i) > uint64(n) {
		failIndex(i, int(n))
	}
	b := v.own()
	if b.isFar() && i == n {
		b.push(e)
		return
	}
	b.bring()
	b.elems = slices.Insert(b.elems, int(i), e)
}

// RemoveAt takes element i out and returns it, or faults. Its inverse is InsertAt.
func RemoveAt[T any](v *Vector[T], i int64) (old T) {
	n := v.Size()
	if uint64(i) >= uint64(n) {
		failIndex(i, int(n))
	}
	b := v.own()
	if b.isFar() && i == n-1 {
		return b.pop()
	}
	b.bring()
	old = b.elems[i]
	b.elems = slices.Delete(b.elems, int(i), int(i)+1)
	return old
}

// Sort orders the elements ascending. The sort is stable.
func Sort[T any](v *Vector[T]) {
	if v.Size() > 1 {
		b := v.own()
		b.bring()
		slices.SortStableFunc(b.elems, orderOf[T]())
	}
}

// ContainsElem reports whether an element of v equals e.
func ContainsElem[T any](v Vector[T], e T, eq func(a, b T) bool) bool {
	for _, x := range v.Items() {
		if eq(x, e) {
			return true
		}
	}
	return false
}

// SliceOf returns a copy of the elements a to b, b excluded, or faults.
func SliceOf[T any](v Vector[T], a, b int64) Vector[T] {
	if n := v.Size(); a < 0 || b < a || b > n {
		failSlice(a, b, int(n))
	}
	if a == b {
		return Vector[T]{}
	}
	if v.IsFar() {
		return VectorOf(v.body.far.fetch(int(a), int(b))...)
	}
	s := v.Items()
	part := slices.Clone(s[a:b])
	markAll(part)
	return VectorOf(part...)
}

// EqualVectors reports whether v and w have equal elements in the same order.
func EqualVectors[T any](v, w Vector[T], eq func(a, b T) bool) bool {
	return v.body == w.body || slices.EqualFunc(v.Items(), w.Items(), eq)
}

// VectorText returns the text of v, such as [1, 2].
func VectorText[T any](v Vector[T], str func(T) string) string {
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
