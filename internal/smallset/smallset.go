// Package smallset has a set that needs no memory of its own while it is small, as most are.
package smallset

// Set is a set of T. The zero value is empty.
type Set[T comparable] struct {
	list []T
	more map[T]bool // of a larger one
}

// scanMax is the number of elements up to which one is looked for without an index.
const scanMax = 16

// Add reports whether x was not in the set.
func (s *Set[T]) Add(x T) bool {
	if s.more != nil {
		had := s.more[x]
		s.more[x] = true
		return !had
	}
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i] == x {
			return false
		}
	}
	if s.list = append(s.list, x); len(s.list) > scanMax {
		s.more = make(map[T]bool, 4*scanMax)
		for _, o := range s.list {
			s.more[o] = true
		}
	}
	return true
}

// Clear empties the set, and keeps memory of a small one.
func (s *Set[T]) Clear() {
	clear(s.list)
	*s = Set[T]{list: s.list[:0]}
}
