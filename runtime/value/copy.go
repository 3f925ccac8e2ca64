package value

// The functions of this file copy what a value is made of, so that the copy shares no memory with it. They serve values
// that pass between the program and Go code that calls it; the program itself copies by Share. The parameters elem, val
// and of copy the parts; nil means that an assignment copies them.

// CopyVector returns a copy of v.
func CopyVector[T any](v Vector[T], elem func(T) T) Vector[T] {
	elems := append([]T(nil), v.Items()...)
	if elem != nil {
		for i, e := range elems {
			elems[i] = elem(e)
		}
	}
	return VectorOf(elems...)
}

// CopyMap returns a copy of m.
func CopyMap[K comparable, V any](m Map[K, V], val func(V) V) Map[K, V] {
	if m.Size() == 0 {
		return Map[K, V]{}
	}
	entries := make(map[K]V, m.Size())
	add := func(k K, v V) bool {
		if val != nil {
			v = val(v)
		}
		entries[k] = v
		return true
	}
	if b := nearMap(m.body); b.far.reads() {
		farEach(b, true, add)
	} else {
		for k, v := range b.entries { // the order does not matter, and Each would sort the keys
			add(k, v)
		}
	}
	return Map[K, V]{body: &mapBody[K, V]{entries: entries}}
}

// CopySet returns a copy of s.
func CopySet[K comparable](s Set[K]) Set[K] { return Set[K]{m: CopyMap(s.m, nil)} }

// CopyBytes returns a copy of b.
func CopyBytes(b Bytes) Bytes { return Bytes{v: CopyVector(b.v, nil)} }

// CopyOpt returns a copy of o.
func CopyOpt[T any](o Opt[T], of func(T) T) Opt[T] {
	if o.ok {
		o.v = of(o.v)
	}
	return o
}

// CopyBox returns a copy of b.
func CopyBox[T any](b Box[T], of func(T) T) Box[T] {
	if b.p == nil {
		return b
	}
	v := *b.p
	if of != nil {
		v = of(v)
	}
	return BoxOf(v)
}
