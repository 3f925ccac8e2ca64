package value

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// An operation that not every program uses with every type of container is a function,
// and no method: Go compiles all methods of a type for each of its elements' types.

// LookupElem returns element i of v, or the zero value when there is none.
func LookupElem[T any](v Vector[T], i int64) (e T) {
	if uint64(i) < uint64(v.Size()) {
		e = v.At(i)
	}
	return e
}

// ownVector returns v's body, which no other container refers to.
func ownVector[T any](v *Vector[T]) *vectorBody[T] {
	switch {
	case v.body == nil:
		v.body = &vectorBody[T]{}
	case v.body.mark.shared.Load():
		old := v.body
		v.body = &vectorBody[T]{elems: old.elems}
		if old.far != nil {
			v.body.far = cloneFar[T](old.far)
			v.body.far.near.set(old.far.near.get())
			takeNearVector(v.body)
		}
		v.body.elems = append([]T(nil), v.body.elems...)
		markAll(v.body.elems)
	default:
		takeNearVector(v.body)
	}
	return v.body
}

// RefAt returns the address of element i for writing through a path, or faults. It is
// valid until the vector is next written or shared.
func RefAt[T any](v *Vector[T], i int64) *T {
	CheckIndex(*v, i)
	b := ownVector(v)
	if b.far.reads() {
		return farPlace[T](b.far, int(i))
	}
	return &b.elems[i]
}

// SetAt replaces element i, or faults.
func SetAt[T any](v *Vector[T], i int64, e T) { *RefAt(v, i) = e }

// Push appends e. Its inverse is Pop.
func Push[T any](v *Vector[T], e T) {
	b := ownVector(v)
	if b.far.reads() {
		written := e // and e need not be on the heap
		b.far.push(&written)
		return
	}
	b.elems = append(b.elems, e)
}

// Pop removes and returns the last element, or faults. Its inverse is Push.
func Pop[T any](v *Vector[T]) (last T) {
	n := v.Size()
	if n == 0 {
		Fail(MsgEmpty)
	}
	last = v.At(n - 1)
	cut(ownVector(v), int(n-1))
	return last
}

// cut drops the elements from n on in a body that is sole.
func cut[T any](b *vectorBody[T], n int) {
	if b.far.reads() {
		b.far.cut(n)
		return
	}
	clear(b.elems[n:]) // do not keep them alive
	b.elems = b.elems[:n]
}

// InsertAt puts e at position i, before the element that stood there; i may be the
// size. It faults when i is beyond. Its inverse is RemoveAt.
func InsertAt[T any](v *Vector[T], i int64, e T) {
	n := v.Size()
	if uint64(i) > uint64(n) {
		failIndex(i, int(n))
	}
	if i == n {
		Push(v, e)
		return
	}
	b := ownVector(v)
	bring(b)
	insert(b, int(i), e)
}

// insert and remove are slices.Insert and slices.Delete for one element of a body that is sole
// and in memory; those take some kilobytes for every type of elements.
func insert[T any](b *vectorBody[T], i int, e T) {
	b.elems = append(b.elems, e)
	copy(b.elems[i+1:], b.elems[i:])
	b.elems[i] = e
}

func remove[T any](b *vectorBody[T], i int) {
	copy(b.elems[i:], b.elems[i+1:])
	cut(b, len(b.elems)-1)
}

// RemoveAt takes element i out and returns it, or faults. Its inverse is InsertAt.
func RemoveAt[T any](v *Vector[T], i int64) (old T) {
	CheckIndex(*v, i)
	if i == v.Size()-1 {
		return Pop(v)
	}
	b := ownVector(v)
	bring(b)
	old = b.elems[i]
	remove(b, int(i))
	return old
}

// Sort orders the elements ascending. The sort is stable.
func Sort[T any](v *Vector[T]) {
	if v.Size() > 1 {
		b := ownVector(v)
		bring(b)
		sortElems(b.elems)
	}
}

// SortBy orders the elements ascending by order. The sort is stable.
func SortBy[T any](v *Vector[T], order func(a, b *T) int) {
	if v.Size() < 2 {
		return
	}
	b := ownVector(v)
	bring(b)
	sorted := make([]T, len(b.elems))
	for to, from := range places(len(sorted), func(i, j int) int { return order(&b.elems[i], &b.elems[j]) }) {
		sorted[to] = b.elems[from]
	}
	copy(b.elems, sorted)
}

// places returns the numbers below n in a stable order.
func places(n int, order func(i, j int) int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	slices.SortFunc(list, func(i, j int) int { return cmp.Or(order(i, j), i-j) })
	return list
}

// ReversedOf returns a copy of v with its elements from the last to the first.
func ReversedOf[T any](v Vector[T]) Vector[T] {
	elems := append([]T(nil), v.Items()...)
	markAll(elems)
	for i, j := 0, len(elems)-1; i < j; i, j = i+1, j-1 {
		elems[i], elems[j] = elems[j], elems[i]
	}
	return VectorOf(elems...)
}

// LimitOf returns a copy of the first n elements of v, or of all if there are fewer, or faults if n is negative.
func LimitOf[T any](v Vector[T], n int64) Vector[T] {
	CheckLimit(n)
	return SliceOf(v, 0, min(n, v.Size()))
}

// CheckLimit faults if there cannot be n first elements.
func CheckLimit(n int64) {
	if n < 0 {
		Fail("limit " + strconv.FormatInt(n, 10))
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
	if n := nearVector(v.body); n.far.reads() {
		part := fetch[T](n.far, int(a), int(b))
		markAll(part) // some are in memory, and may be written there
		return VectorOf(part...)
	}
	s := v.Items()
	part := append([]T(nil), s[a:b]...)
	markAll(part)
	return VectorOf(part...)
}

// EqualVectors reports whether v and w have equal elements in the same order. Each element equals itself.
func EqualVectors[T any](v, w Vector[T], eq func(a, b T) bool) bool {
	return v.body == w.body || EqualElems(v, w, eq)
}

// EqualElems is EqualVectors for elements with floats, of which NaN does not equal itself.
func EqualElems[T any](v, w Vector[T], eq func(a, b T) bool) bool {
	return slices.EqualFunc(v.Items(), w.Items(), eq)
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
