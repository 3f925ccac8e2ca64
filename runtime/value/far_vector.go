package value

import (
	"maps"
	"sync/atomic"
)

// farVector is what the body of a vector knows of its rows. Without a source the elements
// of the body are all there are; with one the body has no elements, and those that were
// written are in over.
type farVector[T any] struct {
	at    *Version[int, T]
	stray bool // as in farMap
	src   VectorSource[T]
	over  map[int]*T
	size  int // with a source
	read  atomic.Pointer[vectorBlock[T]]
	asked atomic.Int64 // the element behind the one that was read last
}

// vectorBlock is a part of a vector as it was read: loops ask for one element after the other.
type vectorBlock[T any] struct {
	from  int
	elems []Opt[T] // without what was written since
}

// blockElems is how many elements are read together.
const blockElems = 64

// FarVector returns a vector of size elements that src reads, at the version of what it shows now.
func FarVector[T any](size int, src VectorSource[T], at *Version[int, T]) Vector[T] {
	return Vector[T]{body: &vectorBody[T]{far: &farVector[T]{at: at, src: src, size: size}}}
}

// IsFar reports whether elements of the vector may have to be read from a source.
func (v Vector[T]) IsFar() bool { return v.body != nil && v.body.isFar() }

func (b *vectorBody[T]) isFar() bool { return b.far != nil && b.far.src != nil }

func (f *farVector[T]) clone() *farVector[T] {
	f.at.watched.Store(true)
	c := &farVector[T]{at: f.at, stray: f.stray, src: f.src, size: f.size}
	if len(f.over) > 0 {
		c.over = make(map[int]*T, len(f.over))
		for i, p := range f.over {
			e := *p
			c.over[i] = &e
			MarkShared(&e)
		}
	}
	return c
}

// keep is a copy of f for a record: f itself goes on.
func (f *farVector[T]) keep() *farVector[T] {
	if f == nil {
		return nil
	}
	return &farVector[T]{at: f.at, stray: f.stray, src: f.src, size: f.size, over: maps.Clone(f.over)}
}

func (b *vectorBody[T]) size() int {
	if b.isFar() {
		return b.far.size
	}
	return len(b.elems)
}

// elem returns element i, which there is.
func (b *vectorBody[T]) elem(i int) T {
	if !b.isFar() {
		return b.elems[i]
	}
	f := b.far
	if p := f.over[i]; p != nil {
		return *p
	}
	if k := f.read.Load(); k != nil && i >= k.from && i < k.from+len(k.elems) {
		return f.must(k.elems[i-k.from], i)
	}
	if f.asked.Swap(int64(i)+1) != int64(i) {
		return f.fetch(i, i+1)[0]
	}
	k := &vectorBlock[T]{i, f.stored(i, min(i+blockElems, f.size))}
	f.read.Store(k) // readers may race to publish: all blocks are right
	return f.must(k.elems[0], i)
}

// stored reads the elements from i to j as they were at the version; those that were not
// there are null.
func (f *farVector[T]) stored(i, j int) []Opt[T] {
	list := f.src.Elems(i, j) // before the versions are asked
	for n := range list {
		if o, replaced := f.at.find(i + n); replaced {
			list[n] = o
		}
	}
	return list
}

// must returns what was read of element i, which there is.
func (f *farVector[T]) must(o Opt[T], i int) T {
	if !o.ok {
		f.src.Damaged("element " + StrInt(int64(i)) + " of " + StrInt(int64(f.size)) + " is missing")
	}
	return o.v
}

// fetch reads the elements from i to j.
func (f *farVector[T]) fetch(i, j int) []T {
	list := make([]T, j-i)
	for n, o := range f.stored(i, j) {
		if p := f.over[i+n]; p != nil {
			o = Some(*p)
		}
		list[n] = f.must(o, i+n)
	}
	return list
}

// fetchMax is how many elements are asked for at once when all are needed.
const fetchMax = 4096

// all returns the elements of a body with a source.
func (b *vectorBody[T]) all() []T {
	f := b.far
	list := make([]T, 0, f.size)
	for i := 0; i < f.size; i += fetchMax {
		list = append(list, f.fetch(i, min(i+fetchMax, f.size))...)
	}
	return list
}

// bring reads everything into a body that is sole: what follows moves elements.
func (b *vectorBody[T]) bring() {
	if b.isFar() {
		b.elems = b.all()
		b.far = &farVector[T]{at: b.far.at, stray: b.far.stray}
	}
}

// place returns the address of element i, which there is, in a body that is sole.
func (b *vectorBody[T]) place(i int) *T {
	if !b.isFar() {
		return &b.elems[i]
	}
	f := b.far
	p := f.over[i]
	if p == nil {
		p = &f.fetch(i, i+1)[0] // not from the block, which others may see
		f.write(i, p)
	}
	return p
}

func (f *farVector[T]) write(i int, p *T) {
	if f.over == nil {
		f.over = map[int]*T{}
	}
	f.over[i] = p
}

// push appends e to a body that is sole.
func (b *vectorBody[T]) push(e T) {
	if f := b.far; b.isFar() {
		f.write(f.size, &e)
		f.size++
		return
	}
	b.elems = append(b.elems, e)
}

// pop removes the last element of a body that is sole.
func (b *vectorBody[T]) pop() (last T) {
	n := b.size() - 1
	last = b.elem(n)
	b.cut(n)
	return last
}

// cut drops the elements from n on.
func (b *vectorBody[T]) cut(n int) {
	if f := b.far; b.isFar() {
		for ; f.size > n; f.size-- {
			delete(f.over, f.size-1)
		}
		return
	}
	clear(b.elems[n:])
	b.elems = b.elems[:n]
}
