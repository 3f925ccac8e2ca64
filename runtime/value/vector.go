package value

// Vector is the value vector<T>. The zero Vector is empty. Copy it with Share.
type Vector[T any] struct{ body *vectorBody[T] }

// Invariant: once shared is set, elems is never written again, but by the undo of the
// event that has set it, which leaves nobody behind who has seen it.
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

// ownVector returns v's body, which nobody else sees.
func ownVector[T any](v *Vector[T]) *vectorBody[T] {
	switch {
	case v.body == nil:
		v.body = &vectorBody[T]{}
	case v.body.mark.shared.Load():
		old := v.body
		v.body = &vectorBody[T]{elems: append([]T(nil), old.elems...)}
		if old.far != nil {
			v.body.far = cloneFar[T](old.far)
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
	if v.body.far.reads() {
		return fetch[T](v.body.far, 0, v.body.far.size)
	}
	return v.body.elems
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
		return farElem[T](v.body.far, int(i))
	}
	return v.body.elems[i]
}

// Ref returns the address of element i for writing through a path, or faults. It is
// valid until the vector is next written or shared.
func (v *Vector[T]) Ref(i int64) *T {
	CheckIndex(*v, i)
	b := ownVector(v)
	if b.far.reads() {
		return farPlace[T](b.far, int(i))
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
	b := ownVector(v)
	if b.far.reads() {
		written := e // and e need not be on the heap
		b.far.push(&written)
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

// elemOf returns element i, which there is.
func elemOf[T any](b *vectorBody[T], i int) T {
	if b.far.reads() {
		return farElem[T](b.far, i)
	}
	return b.elems[i]
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
