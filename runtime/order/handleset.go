package order

// HandleSet is a set that is small mostly. The zero value is empty.
type HandleSet struct {
	list []*Handle
	more map[*Handle]bool // of a larger one
}

// setScanMax is the number of handles up to which one is looked for without an index.
const setScanMax = 16

// Add reports whether h was not in the set.
func (s *HandleSet) Add(h *Handle) bool {
	if s.more != nil {
		had := s.more[h]
		s.more[h] = true
		return !had
	}
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i] == h {
			return false
		}
	}
	if s.list = append(s.list, h); len(s.list) > setScanMax {
		s.more = make(map[*Handle]bool, 4*setScanMax)
		for _, o := range s.list {
			s.more[o] = true
		}
	}
	return true
}

// Clear empties the set, and keeps memory of a small one.
func (s *HandleSet) Clear() {
	clear(s.list)
	*s = HandleSet{list: s.list[:0]}
}
