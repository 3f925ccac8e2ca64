package value

import "strings"

// Set is the value set<K>. The zero Set is empty. Copy it with Share.
type Set[K comparable] struct{ m Map[K, struct{}] }

// SetOf returns a set of the given elements.
func SetOf[K comparable](elems ...K) (s Set[K]) {
	for _, e := range elems {
		AddMember(&s, e)
	}
	return s
}

// AddMember puts k into s and reports whether it was not there before. Its inverse,
// where it returned true, is RemoveMember.
func AddMember[K comparable](s *Set[K], k K) bool {
	if s.m.Has(k) {
		return false
	}
	SetEntry(&s.m, k, struct{}{})
	return true
}

// RemoveMember takes k out of s and reports whether it was there. Its inverse, where
// it returned true, is AddMember.
func RemoveMember[K comparable](s *Set[K], k K) bool {
	_, had := RemoveKey(&s.m, k)
	return had
}

// Share returns a copy of s in O(1).
func (s Set[K]) Share() Set[K] {
	s.m.MarkShared()
	return s
}

// MarkShared implements Sharer.
func (s Set[K]) MarkShared() { s.m.MarkShared() }

// Entries returns the set as a map, through which it may be written.
func (s *Set[K]) Entries() *Map[K, struct{}] { return &s.m }

// Size returns the number of elements.
func (s Set[K]) Size() int64 { return s.m.Size() }

// Has reports whether k is in the set.
func (s Set[K]) Has(k K) bool { return s.m.Has(k) }

// Keys returns the elements in ascending order.
func (s Set[K]) Keys() Vector[K] { return s.m.Keys() }

// Equal reports whether both sets have the same elements.
func (s Set[K]) Equal(t Set[K]) bool {
	return EqualMaps(s.m, t.m, Eq[struct{}])
}

// Str returns the text of the set, such as {1, 2}.
func (s Set[K]) Str(key func(K) string) string {
	var sb strings.Builder
	sb.WriteByte('{')
	for i, k := range s.Keys().Items() {
		if i > 0 {
			sb.WriteString(", ")
		}
		sb.WriteString(key(k))
	}
	sb.WriteByte('}')
	return sb.String()
}

// EachElem calls f for every element, in ascending order.
func (s Set[K]) EachElem(f func(any)) { s.Keys().EachElem(f) }
