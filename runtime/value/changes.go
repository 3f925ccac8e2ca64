package value

import "slices"

// The functions of this file are for whoever writes the containers of fields to a store.

// lineage returns the version that the body differs from by what the undo records say, nil if
// nobody knows what it differs from.
func (f *farMap[K, V]) lineage() *Version[K, V] {
	if f == nil || f.stray {
		return nil
	}
	return f.at
}

func (f *farVector[T]) lineage() *Version[int, T] {
	if f == nil || f.stray {
		return nil
	}
	return f.at
}

// MapChanges returns the keys of the entries of m that may differ from what was stored as
// at, in the order in which they were written first. undos are all records of the event for the field.
// If whole is set, anything may differ.
func MapChanges[K comparable, V any](m Map[K, V], at *Version[K, V], undos []Undo) (keys []K, whole bool) {
	if at == nil || m.body == nil || m.body.far.lineage() != at {
		return nil, true
	}
	var seen map[K]bool
	if len(undos) > 1 {
		seen = make(map[K]bool, len(undos))
	}
	for _, u := range undos {
		switch u := u.(type) {
		case *mapUndo[K, V]:
			// Containers inside of elements have no version.
			if u.body.far.lineage() != at || seen[u.k] {
				continue
			}
			if seen != nil {
				seen[u.k] = true
			}
			keys = append(keys, u.k)
		case *mapContent[K, V]:
			if u.far.lineage() == at {
				return nil, true
			}
		}
	}
	return keys, false
}

// StoreMap makes at the version of m, whose content has just been stored so. far is a map
// that reads it from the store, to take the place of m if that is not in memory anyway.
func StoreMap[K comparable, V any](m *Map[K, V], at *Version[K, V], far Map[K, V]) {
	b := m.body
	switch {
	case b == nil:
	case b.isFar() && far.body != nil:
		m.body = far.body
	case b.isFar():
		bringMap(m)
		m.body.far = &farMap[K, V]{at: at}
	case b.mark.shared.Load():
		m.own()
		m.body.far = &farMap[K, V]{at: at}
	default:
		b.far = &farMap[K, V]{at: at}
	}
}

// AdvanceMap makes at the version of m, whose changes an event has just stored. wrote says that
// it has written m itself, see WroteMap, and not only assigned it.
func AdvanceMap[K comparable, V any](m *Map[K, V], at *Version[K, V], wrote bool) {
	b := m.body
	if b.mark.shared.Load() {
		if wrote {
			at.watched.Store(true) // copies of it are still the event's own
		} else {
			b = m.own()
			b.far.stray = false
		}
	}
	b.far.at = at
	if b.isFar() && len(b.entries)+len(b.far.gone) > keptMax {
		b.entries, b.far.gone = map[K]V{}, nil
	}
}

// WroteMap reports whether one of the records is for a write to m.
func WroteMap[K comparable, V any](m Map[K, V], undos []Undo) bool {
	return slices.ContainsFunc(undos, func(u Undo) bool {
		x, ok := u.(*mapUndo[K, V])
		return ok && x.body == m.body
	})
}

// FreeMap makes m a map that is in memory and knows nothing of any rows.
func FreeMap[K comparable, V any](m *Map[K, V]) {
	switch b := m.body; {
	case b == nil || b.far == nil:
	case b.isFar():
		bringMap(m)
	case b.mark.shared.Load():
		m.own()
		m.body.far = nil
	default:
		b.far = nil
	}
}

// bringMap reads all of m into a body of its own.
func bringMap[K comparable, V any](m *Map[K, V]) {
	entries := make(map[K]V, m.body.far.size)
	m.body.farEach(true, func(k K, v V) bool {
		MarkShared(&v) // what was written may belong to another body, too
		entries[k] = v
		return true
	})
	m.body = &mapBody[K, V]{entries: entries}
}

// VectorChanges returns the elements of v that may differ from what was stored as at: those
// of set, in ascending order, and all those from from on. undos are all records of the event
// for the field. If whole is set, anything may differ.
func VectorChanges[T any](v Vector[T], at *Version[int, T], undos []Undo) (set []int, from int, whole bool) {
	if at == nil || v.body == nil || v.body.far.lineage() != at {
		return nil, 0, true
	}
	from = v.body.size()
	for _, u := range undos {
		switch u := u.(type) {
		case *vectorUndo[T]:
			switch {
			case u.body.far.lineage() != at:
			case u.op == vectorSet:
				set = append(set, u.i)
			default:
				from = min(from, u.i)
			}
		case *vectorContent[T]:
			if u.far.lineage() == at {
				return nil, 0, true
			}
		}
	}
	slices.Sort(set)
	set = slices.Compact(set)
	n, _ := slices.BinarySearch(set, from)
	return set[:n], from, false
}

// StoreVector is StoreMap for a vector.
func StoreVector[T any](v *Vector[T], at *Version[int, T], far Vector[T]) {
	b := v.body
	switch {
	case b == nil:
	case b.isFar() && far.body != nil:
		v.body = far.body
	case b.isFar():
		v.body = &vectorBody[T]{elems: b.all(), far: &farVector[T]{at: at}}
	case b.mark.shared.Load():
		v.own()
		v.body.far = &farVector[T]{at: at}
	default:
		b.far = &farVector[T]{at: at}
	}
}

// AdvanceVector is AdvanceMap for a vector.
func AdvanceVector[T any](v *Vector[T], at *Version[int, T], wrote bool) {
	b := v.body
	if b.mark.shared.Load() {
		if wrote {
			at.watched.Store(true)
		} else {
			b = v.own()
			b.far.stray = false
		}
	}
	b.far.at = at
	if b.isFar() {
		b.far.read.Store(nil)
		if len(b.far.over) > keptMax {
			b.far.over = nil
		}
	}
}

// WroteVector is WroteMap for a vector.
func WroteVector[T any](v Vector[T], undos []Undo) bool {
	return slices.ContainsFunc(undos, func(u Undo) bool {
		x, ok := u.(*vectorUndo[T])
		return ok && x.body == v.body
	})
}

// FreeVector is FreeMap for a vector.
func FreeVector[T any](v *Vector[T]) {
	switch b := v.body; {
	case b == nil || b.far == nil:
	case b.isFar():
		v.body = &vectorBody[T]{elems: b.all()}
	case b.mark.shared.Load():
		v.own()
		v.body.far = nil
	default:
		b.far = nil
	}
}
