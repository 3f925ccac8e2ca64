package value

import (
	"maps"
	"slices"
	"unsafe"
)

// farMap is what the body of a map knows of its rows; nil is nothing. Without a source the
// entries of the body are all there are; with one they are those that were written.
type farMap struct {
	at *Version
	// by is the home of the container by whose writes the body differs from at, which are in a log. It is nil if that is
	// the field that at is of, and stray if they are in no log, so that what differs is not known.
	by    any
	src   MapSource
	order func(a, b any) int // of keys and pointers to keys, with a source
	gone  map[any]struct{}   // removed; none is in entries
	size  int                // with a source: number of entries
	// near is the body of a map with the same entries, all in memory, if readers have brought it there since the last
	// write.
	near lazyBody
}

// FarMap returns a map of size entries that src reads, at the version of what it shows now.
func FarMap[K comparable, V any](size int, src MapSource, at *Version) Map[K, V] {
	f := &farMap{at: at, src: src, size: size, order: orderOfAny[K]()}
	return Map[K, V]{body: &mapBody[K, V]{entries: map[K]V{}, far: f}}
}

// IsFarMap reports whether entries of m may have to be read from a source.
func IsFarMap[K comparable, V any](m Map[K, V]) bool { return m.body != nil && m.body.far.reads() }

// reads reports whether there is a source.
func (f *farMap) reads() bool { return f != nil && f.src != nil }

// clone is a copy of f for a body that differs from it in nothing yet.
func (f *farMap) clone() *farMap {
	if f == nil {
		return nil
	}
	f.at.watched.Store(true)
	c := f.keep()
	c.by = stray
	return c
}

// keep is a copy of f for a record: f itself goes on.
func (f *farMap) keep() *farMap {
	if f == nil {
		return nil
	}
	return &farMap{at: f.at, by: f.by, src: f.src, order: f.order, gone: maps.Clone(f.gone), size: f.size}
}

// entryMemory is what an entry takes in memory besides its content.
const entryMemory = 64

// nearMap returns a body with the entries of b for reading: b itself, or one that is in memory. See Tally.
func nearMap[K comparable, V any](b *mapBody[K, V]) *mapBody[K, V] {
	if !b.far.reads() {
		return b
	}
	if n := b.far.near.get(); n != nil {
		return (*mapBody[K, V])(n)
	}
	src, l := b.far.src.Load(b.far.size, entryMemory)
	if l == nil {
		return b
	}
	defer l.End()
	entries := gather(b, src, l.Fits)
	if entries == nil {
		return b
	}
	n := &mapBody[K, V]{entries: entries}
	b.far.near.set(unsafe.Pointer(n))
	return n
}

// gather returns all entries of a body that has a source, and reads those that are stored from src; nil if fits says that
// they are too large.
func gather[K comparable, V any](b *mapBody[K, V], src MapSource, fits func() bool) map[K]V {
	entries := make(map[K]V, b.far.size)
	whole := true
	from := &farMap{at: b.far.at, src: src, order: b.far.order, gone: b.far.gone, size: b.far.size}
	from.each(true, written(b), func(k, v any) bool {
		e := *v.(*V)
		MarkShared(&e) // what was written may belong to another body, too
		entries[keyIn[K](k)] = e
		whole = fits()
		return whole
	})
	if !whole {
		return nil
	}
	return entries
}

// takeNear makes b, which is sole, the body that readers have brought into memory, if there is one.
func takeNear[K comparable, V any](b *mapBody[K, V]) {
	if !b.far.reads() {
		return
	}
	if n := (*mapBody[K, V])(b.far.near.get()); n != nil {
		b.entries, b.far = n.entries, &farMap{at: b.far.at, by: b.far.by}
		b.keys.set(n.keys.get())
	}
}

// find returns the value of a key that is not among the entries, and whether there is one.
func (f *farMap) find(k any) (v any, ok bool) {
	if !f.reads() || f.hides(k) {
		return nil, false
	}
	v, ok = f.src.Find(k)
	if o, replaced := f.at.find(k); replaced {
		return o.Get()
	}
	return v, ok
}

// count returns the number of entries where n are in the body.
func (f *farMap) count(n int) int {
	if f.reads() {
		return f.size
	}
	return n
}

// added notes that a key, which had no value, is among the entries.
func (f *farMap) added(k any) {
	delete(f.gone, k)
	f.size++
}

// removed notes that a key, which had a value, has none.
func (f *farMap) removed(k any) {
	f.hide(k)
	f.size--
}

// hide hides what the source has of k.
func (f *farMap) hide(k any) {
	if f.gone == nil {
		f.gone = map[any]struct{}{}
	}
	f.gone[k] = struct{}{}
}

func (f *farMap) hides(k any) bool {
	_, gone := f.gone[k]
	return gone
}

// restore takes back what was written for k. has says whether k has a value now, and had
// whether it had one before; known says that the body need not have asked the source for it.
func (f *farMap) restore(k any, has, had, known bool) {
	delete(f.gone, k)
	if has {
		f.size--
	}
	if had {
		f.size++
	}
	if known && !had {
		f.hide(k)
	}
}

// each calls visit for all entries in ascending order, until it returns false; written has those
// of the body. The keys that visit gets may be pointers to keys.
func (f *farMap) each(values bool, written map[any]any, visit func(k, v any) bool) {
	scan := f.src.Scan(values) // before the versions are asked
	defer scan.Close()
	over, whole := f.at.replaced()
	for k, v := range written {
		over[k] = Some(v)
	}
	for k := range f.gone {
		over[k] = Opt[any]{}
	}
	keys := slices.SortedFunc(maps.Keys(over), f.order)
	n := 0
	yield := func(k, v any) bool {
		n++
		return visit(k, v)
	}
	for !whole {
		k, v, ok := scan.Next()
		if !ok {
			break
		}
		place := -1 // of the last key of over up to k, beside k
		for len(keys) > 0 {
			if place = f.order(keys[0], k); place > 0 {
				break
			}
			if o := over[keys[0]]; o.ok && !yield(keys[0], o.v) {
				return
			}
			if keys = keys[1:]; place == 0 {
				break
			}
		}
		if place != 0 && !yield(k, v) {
			return
		}
	}
	for _, k := range keys {
		if o := over[k]; o.ok && !yield(k, o.v) {
			return
		}
	}
	if n != f.size {
		f.src.Damaged("it has " + StrInt(int64(n)) + " entries, and should have " + StrInt(int64(f.size)))
	}
}

// farFind is Find for a key that is not among the entries.
func farFind[K comparable, V any](b *mapBody[K, V], k K) (v V, ok bool) {
	if n := nearMap(b); n != b {
		v, ok = n.entries[k]
		return v, ok
	}
	x, ok := b.far.find(any(k))
	if ok {
		v = *x.(*V)
	}
	return v, ok
}

// farEach is Each for a body with a source; without values it may give zero values.
func farEach[K comparable, V any](b *mapBody[K, V], values bool, visit func(K, V) bool) {
	b.far.each(values, written(b), func(k, v any) bool { return visit(keyIn[K](k), *v.(*V)) })
}

// written returns the entries that are in the body.
func written[K comparable, V any](b *mapBody[K, V]) map[any]any {
	list := make(map[any]any, len(b.entries))
	for k, v := range b.entries {
		list[k] = &v
	}
	return list
}

// keyIn returns the key that k is or points to.
func keyIn[K any](k any) K {
	if p, ok := k.(*K); ok {
		return *p
	}
	return k.(K)
}

// orderOfAny is orderOf for keys and pointers to keys.
func orderOfAny[K any]() func(a, b any) int {
	order := orderOf[K]()
	return func(a, b any) int { return order(keyIn[K](a), keyIn[K](b)) }
}
