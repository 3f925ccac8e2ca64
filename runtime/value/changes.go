package value

import (
	"slices"
	"weak"
)

// This file has the interfaces through which fields that are containers are written to a store, and
// read. They hide the types of the elements, so that what stores them is compiled once, and not with
// every program. An any is a key, or a pointer to an element.

// StoredMap is a map in a field that is stored.
type StoredMap interface {
	// Size, Each and Find are those of Map.
	Size() int64
	Each(visit func(k, v any) bool)
	Find(k any) (v any, ok bool)
	// Changes returns the keys of the entries that may differ from what was stored as at, in the
	// order in which they were written first. undos are all records of the event for the field. If
	// whole is set, anything may differ.
	Changes(at *Version, undos []Undo) (keys []any, whole bool)
	// Wrote reports whether one of the records is for a write to the map.
	Wrote(undos []Undo) bool
	// Store makes at the version of the map, whose content of size entries has just been stored so. If
	// the map is not in memory anyway, src reads it from now on, unless that is nil.
	Store(at *Version, size int, src MapSource)
	// Advance makes at the version of the map, whose changes an event has just stored. wrote says that
	// it has written the map itself, see Wrote, and not only assigned it.
	Advance(at *Version, wrote bool)
	// Load makes the map one of size entries that src reads; if whole is set, it reads all of them now.
	Load(at *Version, size int, src MapSource, whole bool)
	// Free brings the map into memory, where it knows nothing of any rows.
	Free()
}

// StoredVector is a vector in a field that is stored. What is not said here is as in StoredMap.
type StoredVector interface {
	Size() int64
	At(i int64) any
	// Changes returns the elements that may differ from what was stored as at: those of set, in ascending
	// order, and all those from from on.
	Changes(at *Version, undos []Undo) (set []int, from int, whole bool)
	Wrote(undos []Undo) bool
	Store(at *Version, size int, src VectorSource)
	Advance(at *Version, wrote bool)
	Load(at *Version, size int, src VectorSource, whole bool)
	Free()
}

// stray is the home of what is in no field.
var stray any = "stray"

// home tells the container at p from all others.
func home[C any](p *C) any { return weak.Make(p) }

// differs returns the home of a body that the log writes for the container whose home is own, and which is a copy of one with by.
func differs(by, own any) any {
	if by == nil || by == own {
		return own
	}
	return stray // it was written by another one, whose records are not those of this one
}

// lineage returns the version that the body differs from by what the undo records of the container whose home is own say, nil if
// that version is not known. What another container has written is in the records of that one.
func (f *farMap) lineage(own any) *Version {
	if f == nil || f.by != nil && f.by != own {
		return nil
	}
	return f.at
}

func (f *farVector) lineage(own any) *Version {
	if f == nil || f.by != nil && f.by != own {
		return nil
	}
	return f.at
}

// MapInField returns m for the code that stores it.
func MapInField[K comparable, V any](m *Map[K, V]) StoredMap { return (*storedMap[K, V])(m) }

type storedMap[K comparable, V any] Map[K, V]

// Size implements StoredMap.
func (m *storedMap[K, V]) Size() int64 { return Map[K, V](*m).Size() }

// Each implements StoredMap.
func (m *storedMap[K, V]) Each(visit func(k, v any) bool) {
	Each(Map[K, V](*m), func(k K, v V) bool { return visit(k, &v) })
}

// Find implements StoredMap.
func (m *storedMap[K, V]) Find(k any) (any, bool) {
	v, ok := Map[K, V](*m).Find(k.(K))
	return &v, ok
}

// Changes implements StoredMap.
func (m *storedMap[K, V]) Changes(at *Version, undos []Undo) (keys []any, whole bool) {
	if at == nil || m.body == nil || m.body.far == nil {
		return nil, true
	}
	own := home((*Map[K, V])(m))
	if m.body.far.lineage(own) != at {
		return nil, true
	}
	var seen map[any]bool
	if len(undos) > 1 {
		seen = make(map[any]bool, len(undos))
	}
	for _, u := range undos {
		switch u := u.(type) {
		case *mapUndo[K, V]:
			// Containers inside of elements have no version.
			if u.body.far.lineage(own) != at || seen[u.k] {
				continue
			}
			if seen != nil {
				seen[u.k] = true
			}
			keys = append(keys, u.k)
		case *mapContent[K, V]:
			if u.far.lineage(own) == at {
				return nil, true
			}
		}
	}
	return keys, false
}

// Wrote implements StoredMap.
func (m *storedMap[K, V]) Wrote(undos []Undo) bool {
	return slices.ContainsFunc(undos, func(u Undo) bool {
		x, ok := u.(*mapUndo[K, V])
		return ok && x.body == m.body
	})
}

// Store implements StoredMap.
func (m *storedMap[K, V]) Store(at *Version, size int, src MapSource) {
	switch b := m.body; {
	case b == nil:
	case b.far.reads() && src != nil:
		m.Load(at, size, src, false)
	default:
		m.near().far = &farMap{at: at}
	}
}

// near returns a body that no other container refers to and that is in memory.
func (m *storedMap[K, V]) near() *mapBody[K, V] {
	if b := m.body; b.far.reads() {
		m.body = &mapBody[K, V]{entries: gather(b, b.far.src, func() bool { return true })}
	}
	return ownMap((*Map[K, V])(m))
}

// Advance implements StoredMap.
func (m *storedMap[K, V]) Advance(at *Version, wrote bool) {
	b := m.body
	if b.mark.shared.Load() {
		if wrote {
			at.watched.Store(true) // copies of it are still the event's own
		} else {
			b = ownMap((*Map[K, V])(m))
			b.far.by = nil
		}
	}
	b.far.at = at
	// Copies of the event's own, in other fields, need what it has written: the rows do not have that yet.
	if b.far.reads() && len(b.entries)+len(b.far.gone) > keptMax && !b.mark.shared.Load() {
		b.entries, b.far.gone = map[K]V{}, nil
	}
}

// Load implements StoredMap.
func (m *storedMap[K, V]) Load(at *Version, size int, src MapSource, whole bool) {
	far := storedMap[K, V](FarMap[K, V](size, src, at))
	if whole {
		far.near().far = &farMap{at: at}
	}
	m.body = far.body
}

// Free implements StoredMap.
func (m *storedMap[K, V]) Free() {
	if m.body != nil && m.body.far != nil {
		m.near().far = nil
	}
}

// VectorInField returns v for the code that stores it.
func VectorInField[T any](v *Vector[T]) StoredVector { return (*storedVector[T])(v) }

type storedVector[T any] Vector[T]

// Size implements StoredVector.
func (v *storedVector[T]) Size() int64 { return Vector[T](*v).Size() }

// At implements StoredVector.
func (v *storedVector[T]) At(i int64) any {
	e := Vector[T](*v).At(i)
	return &e
}

// Changes implements StoredVector.
func (v *storedVector[T]) Changes(at *Version, undos []Undo) (set []int, from int, whole bool) {
	if at == nil || v.body == nil || v.body.far == nil {
		return nil, 0, true
	}
	own := home((*Vector[T])(v))
	if v.body.far.lineage(own) != at {
		return nil, 0, true
	}
	from = int(v.Size())
	for _, u := range undos {
		switch u := u.(type) {
		case *vectorUndo[T]:
			switch {
			case u.body.far.lineage(own) != at:
			case u.op == vectorSet:
				set = append(set, u.i)
			default:
				from = min(from, u.i)
			}
		case *vectorContent[T]:
			if u.far.lineage(own) == at {
				return nil, 0, true
			}
		}
	}
	slices.Sort(set)
	set = slices.Compact(set)
	n, _ := slices.BinarySearch(set, from)
	return set[:n], from, false
}

// Wrote implements StoredVector.
func (v *storedVector[T]) Wrote(undos []Undo) bool {
	return slices.ContainsFunc(undos, func(u Undo) bool {
		x, ok := u.(*vectorUndo[T])
		return ok && x.body == v.body
	})
}

// Store implements StoredVector.
func (v *storedVector[T]) Store(at *Version, size int, src VectorSource) {
	switch b := v.body; {
	case b == nil:
	case b.far.reads() && src != nil:
		v.Load(at, size, src, false)
	default:
		v.near().far = &farVector{at: at}
	}
}

// near returns a body that no other container refers to and that is in memory.
func (v *storedVector[T]) near() *vectorBody[T] {
	if v.body.far.reads() {
		elems := append([]T(nil), Vector[T](*v).Items()...) // readers of the body before may have these in memory
		markAll(elems)
		v.body = &vectorBody[T]{elems: elems}
	}
	return ownVector((*Vector[T])(v))
}

// Advance implements StoredVector.
func (v *storedVector[T]) Advance(at *Version, wrote bool) {
	b := v.body
	if b.mark.shared.Load() {
		if wrote {
			at.watched.Store(true)
		} else {
			b = ownVector((*Vector[T])(v))
			b.far.by = nil
		}
	}
	b.far.at = at
	if b.far.reads() {
		b.far.read.Store(nil)
		if len(b.far.over) > keptMax && !b.mark.shared.Load() { // as of a map
			b.far.over = nil
		}
	}
}

// Load implements StoredVector.
func (v *storedVector[T]) Load(at *Version, size int, src VectorSource, whole bool) {
	far := storedVector[T](FarVector[T](size, src, at))
	if whole {
		far.near().far = &farVector{at: at}
	}
	v.body = far.body
}

// Free implements StoredVector.
func (v *storedVector[T]) Free() {
	if v.body != nil && v.body.far != nil {
		v.near().far = nil
	}
}
