package value

import (
	"maps"
	"sync/atomic"
	"unsafe"
)

// farVector is what the body of a vector knows of its rows; nil is nothing. Without a source the
// elements of the body are all there are; with one the body has no elements, and those that were
// written are in over.
type farVector struct {
	at    *Version
	by    any // as in farMap
	src   VectorSource
	over  map[int]any
	size  int // with a source
	read  atomic.Pointer[vectorBlock]
	asked atomic.Int64 // the element behind the one that was read last
	near  lazyBody     // as in farMap
}

// vectorBlock is a part of a vector as it was read: loops ask for one element after the other.
type vectorBlock struct {
	from  int
	elems []Opt[any] // without what was written since
}

// blockElems is how many elements are read together.
const blockElems = 64

// FarVector returns a vector of size elements that src reads, at the version of what it shows now.
func FarVector[T any](size int, src VectorSource, at *Version) Vector[T] {
	return Vector[T]{body: &vectorBody[T]{far: &farVector{at: at, src: src, size: size}}}
}

// IsFarVector reports whether elements of v may have to be read from a source.
func IsFarVector[T any](v Vector[T]) bool { return v.body != nil && v.body.far.reads() }

// reads reports whether there is a source.
func (f *farVector) reads() bool { return f != nil && f.src != nil }

// keep is a copy of f for a record: f itself goes on.
func (f *farVector) keep() *farVector {
	if f == nil {
		return nil
	}
	return &farVector{at: f.at, by: f.by, src: f.src, size: f.size, over: maps.Clone(f.over)}
}

// count returns the number of elements where n are in the body.
func (f *farVector) count(n int) int {
	if f.reads() {
		return f.size
	}
	return n
}

// elem returns element i, which there is and which is not in over.
func (f *farVector) elem(i int) any {
	if k := f.read.Load(); k != nil && i >= k.from && i < k.from+len(k.elems) {
		return f.must(k.elems[i-k.from], i)
	}
	j := i + 1
	next := f.asked.Swap(int64(j)) == int64(i)
	if next {
		j = min(i+blockElems, f.size)
	}
	k := &vectorBlock{i, f.stored(i, j)}
	if next {
		f.read.Store(k) // readers may race to publish: all blocks are right
	}
	return f.must(k.elems[0], i)
}

// stored reads the elements from i to j as they were at the version; those that were not
// there are null.
func (f *farVector) stored(i, j int) []Opt[any] {
	list := f.src.Elems(i, j) // before the versions are asked
	for n := range list {
		if o, replaced := f.at.find(i + n); replaced {
			list[n] = o
		}
	}
	return list
}

// must returns what was read of element i, which there is.
func (f *farVector) must(o Opt[any], i int) any {
	if !o.ok {
		f.src.Damaged("element " + StrInt(int64(i)) + " of " + StrInt(int64(f.size)) + " is missing")
	}
	return o.v
}

// fetchMax is how many elements are asked for at once when many are needed.
const fetchMax = 4096

// each calls visit for the elements from i to j, until it returns false.
func (f *farVector) each(i, j int, visit func(p any) bool) {
	for ; i < j; i += fetchMax {
		for n, o := range f.stored(i, min(i+fetchMax, j)) {
			p := f.over[i+n]
			if p == nil {
				p = f.must(o, i+n)
			}
			if !visit(p) {
				return
			}
		}
	}
}

func (f *farVector) write(i int, p any) {
	if f.over == nil {
		f.over = map[int]any{}
	}
	f.over[i] = p
}

// push appends the element at the address p.
func (f *farVector) push(p any) {
	f.write(f.size, p)
	f.size++
}

// cut drops the elements from n on.
func (f *farVector) cut(n int) {
	for ; f.size > n; f.size-- {
		delete(f.over, f.size-1)
	}
}

// farElem returns element i, which there is, of a body that has a source.
func farElem[T any](b *vectorBody[T], i int) T {
	if n := nearVector(b); n != b {
		return n.elems[i]
	}
	if p := b.far.over[i]; p != nil {
		return *p.(*T)
	}
	return *b.far.elem(i).(*T)
}

// fetch reads the elements from i to j.
func fetch[T any](f *farVector, i, j int) []T {
	list := make([]T, 0, j-i)
	f.each(i, j, func(p any) bool {
		list = append(list, *p.(*T))
		return true
	})
	return list
}

// elemMemory is what an element takes in memory besides its content.
const elemMemory = 16

// nearVector is nearMap for a vector.
func nearVector[T any](b *vectorBody[T]) *vectorBody[T] {
	if !b.far.reads() {
		return b
	}
	if n := b.far.near.get(); n != nil {
		return (*vectorBody[T])(n)
	}
	src, l := b.far.src.Load(b.far.size, elemMemory)
	if l == nil {
		return b
	}
	defer l.End()
	n, whole := &vectorBody[T]{elems: make([]T, 0, b.far.size)}, true
	from := &farVector{at: b.far.at, src: src, size: b.far.size, over: b.far.over}
	from.each(0, from.size, func(p any) bool {
		e := *p.(*T)
		MarkShared(&e)
		n.elems = append(n.elems, e)
		whole = l.Fits()
		return whole
	})
	if !whole {
		return b
	}
	b.far.near.set(unsafe.Pointer(n))
	return n
}

// takeNearVector is takeNear for a vector.
func takeNearVector[T any](b *vectorBody[T]) {
	if !b.far.reads() {
		return
	}
	if n := (*vectorBody[T])(b.far.near.get()); n != nil {
		b.elems, b.far = n.elems, &farVector{at: b.far.at, by: b.far.by}
	}
}

// cloneFar returns a copy of f, with its own elements.
func cloneFar[T any](f *farVector) *farVector {
	f.at.watched.Store(true)
	c := f.keep()
	c.by = stray
	for i, p := range c.over {
		e := *p.(*T)
		MarkShared(&e)
		c.over[i] = &e
	}
	return c
}

// bring reads everything into a body that is sole: what follows moves elements.
func bring[T any](b *vectorBody[T]) {
	if b.far.reads() {
		b.elems = fetch[T](b.far, 0, b.far.size)
		b.far = &farVector{at: b.far.at, by: b.far.by}
	}
}

// farPlace returns the address of element i, which there is, in a body that is sole.
func farPlace[T any](f *farVector, i int) *T {
	if p := f.over[i]; p != nil {
		return p.(*T)
	}
	e := fetch[T](f, i, i+1)[0] // not from the block, which other readers may see
	f.write(i, &e)
	return &e
}
