package value

// Vector is the value vector<T>. The zero Vector is empty. Copy it with Share.
type Vector[T any] struct{ body *vectorBody[T] }

// Invariant: once shared is set, elems is never written again, but by the undo of the
// event that has set it, after which no copy of the vector is left.
type vectorBody[T any] struct {
	mark  mark
	elems []T
	far   *farVector // of a vector that is stored by element
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
		if b.far.reads() {
			b.far.at.watched.Store(true)
		}
		b.mark.shared.Store(true)
	}
}

// Items returns the elements for reading. The slice stays as it is for as long as
// the vector is shared or not written.
func (v Vector[T]) Items() []T {
	if v.body == nil {
		return nil
	}
	b := nearVector(v.body)
	if b.far.reads() {
		return fetch[T](b.far, 0, b.far.size)
	}
	return b.elems
}

// Size returns the number of elements.
func (v Vector[T]) Size() int64 {
	if v.body == nil {
		return 0
	}
	return int64(v.body.far.count(len(v.body.elems)))
}

// At returns element i, or faults.
func (v Vector[T]) At(i int64) T {
	if v.body == nil || uint64(i) >= uint64(len(v.body.elems)) {
		CheckIndex(v, i)
		return farElem(v.body, int(i))
	}
	return v.body.elems[i]
}

// EachElem calls f for every element.
func (v Vector[T]) EachElem(f func(any)) {
	for _, e := range v.Items() {
		f(e)
	}
}
