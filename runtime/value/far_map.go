package value

import "maps"

// farMap is what the body of a map knows of its rows. Without a source the entries of the
// body are all there are; with one they are those that were written.
type farMap[K comparable, V any] struct {
	at *Version[K, V]
	// stray: the body has been written without a log, so nobody knows what differs from at.
	stray bool
	src   MapSource[K, V]
	gone  map[K]struct{} // removed; none is in entries
	size  int            // with a source: number of entries
}

// FarMap returns a map of size entries that src reads, at the version of what it shows now.
func FarMap[K comparable, V any](size int, src MapSource[K, V], at *Version[K, V]) Map[K, V] {
	return Map[K, V]{body: &mapBody[K, V]{entries: map[K]V{}, far: &farMap[K, V]{at: at, src: src, size: size}}}
}

// IsFar reports whether entries of the map may have to be read from a source.
func (m Map[K, V]) IsFar() bool { return m.body != nil && m.body.isFar() }

func (b *mapBody[K, V]) isFar() bool { return b.far != nil && b.far.src != nil }

func (f *farMap[K, V]) clone() *farMap[K, V] {
	f.at.watched.Store(true)
	c := *f
	c.gone = maps.Clone(f.gone)
	return &c
}

// farFind is Find for a key that is not among the entries.
func (b *mapBody[K, V]) farFind(k K) (v V, ok bool) {
	if !b.isFar() {
		return v, false
	}
	if _, gone := b.far.gone[k]; gone {
		return v, false
	}
	v, ok = b.far.src.Find(k)
	if o, replaced := b.far.at.find(k); replaced {
		return o.Get()
	}
	return v, ok
}

func (b *mapBody[K, V]) find(k K) (v V, ok bool) {
	if v, ok = b.entries[k]; !ok && b.far != nil {
		v, ok = b.farFind(k)
	}
	return v, ok
}

func (b *mapBody[K, V]) size() int {
	if b.isFar() {
		return b.far.size
	}
	return len(b.entries)
}

// put gives k a value in a body that is sole; had says whether it has one.
func (b *mapBody[K, V]) put(k K, v V, had bool) {
	b.entries[k] = v
	if had {
		return
	}
	b.keys.Store(nil)
	if b.isFar() {
		delete(b.far.gone, k)
		b.far.size++
	}
}

// remove takes out the entry of k, which there is.
func (b *mapBody[K, V]) remove(k K) {
	delete(b.entries, k)
	b.keys.Store(nil)
	if b.isFar() {
		b.forget(k)
		b.far.size--
	}
}

// forget hides what the source has of k.
func (b *mapBody[K, V]) forget(k K) {
	if b.far.gone == nil {
		b.far.gone = map[K]struct{}{}
	}
	b.far.gone[k] = struct{}{}
}

// known reports whether the body need not ask its source for k.
func (b *mapBody[K, V]) known(k K) bool {
	if _, ok := b.entries[k]; ok || !b.isFar() {
		return true
	}
	_, gone := b.far.gone[k]
	return gone
}

// restore takes back what was written for k in a body with a source.
func (b *mapBody[K, V]) restore(u *mapUndo[K, V]) {
	f := b.far
	_, in := b.entries[u.k]
	delete(b.entries, u.k)
	delete(f.gone, u.k)
	if in {
		f.size--
	}
	if u.had {
		f.size++
	}
	switch {
	case !u.known: // the source has it
	case u.had:
		b.entries[u.k] = u.old
	default:
		b.forget(u.k)
	}
}

// farEach calls visit for all entries of a body with a source, in ascending order, until it
// returns false.
func (b *mapBody[K, V]) farEach(values bool, visit func(K, V) bool) {
	f := b.far
	scan := f.src.Scan(values) // before the versions are asked
	defer scan.Close()
	over, whole := f.at.replaced()
	for k, v := range b.entries {
		over[k] = Some(v)
	}
	for k := range f.gone {
		over[k] = Opt[V]{}
	}
	keys := make([]K, 0, len(over))
	for k := range over {
		keys = append(keys, k)
	}
	sorted(keys)
	order, n := orderOf[K](), 0
	yield := func(k K, v V) bool {
		n++
		return visit(k, v)
	}
	// before visits the keys of over that are less than k, or all, and drops k itself.
	before := func(k *K) bool {
		for len(keys) > 0 {
			o := over[keys[0]]
			if k != nil && order(keys[0], *k) > 0 {
				return true
			}
			if o.ok && !yield(keys[0], o.v) {
				return false
			}
			keys = keys[1:]
		}
		return true
	}
	for !whole {
		k, v, ok := scan.Next()
		if !ok {
			break
		}
		if !before(&k) {
			return
		}
		if _, hidden := over[k]; !hidden && !yield(k, v) {
			return
		}
	}
	if before(nil) && n != f.size {
		f.src.Damaged("it has " + StrInt(int64(n)) + " entries, and should have " + StrInt(int64(f.size)))
	}
}

// Each calls visit for every entry, in ascending order of the keys, until it returns false.
func Each[K comparable, V any](m Map[K, V], visit func(K, V) bool) {
	if m.IsFar() {
		m.body.farEach(true, visit)
		return
	}
	for _, k := range m.Keys().Items() {
		if !visit(k, m.body.entries[k]) {
			return
		}
	}
}

func (b *mapBody[K, V]) farKeys() Vector[K] {
	list := make([]K, 0, b.far.size)
	b.farEach(false, func(k K, _ V) bool {
		list = append(list, k)
		return true
	})
	return VectorOf(list...)
}
