// Package seen has the states that a search has visited.
package seen

import "slices"

// Set holds the hashes of the states seen, each with the moves that slept when it
// was seen. Memory is kept from one search to the next, but only as much is cleared as was used.
type Set struct {
	table []entry
	count int
	slept []uint64 // lists, each behind its length; list 0 is empty
}

type entry struct {
	hash  uint64 // not 0
	slept uint32
}

const first = 1 << 10

// Reset makes s empty.
func (s *Set) Reset() {
	if s.table == nil {
		s.table = make([]entry, first)
	}
	s.table, s.count = s.table[:first], 0
	clear(s.table)
	s.slept = append(s.slept[:0], 0)
}

// Add adds state h, in which the moves of sleep, by name, do sleep, and reports whether it is new. If
// it is not, wake are the moves that have always slept there, but do not sleep now.
func (s *Set) Add(h uint64, sleep, wake []uint64) (fresh bool, _ []uint64) {
	h |= 1
	if s.count*2 >= len(s.table) {
		s.grow()
	}
	p := s.find(h)
	if p.hash == 0 {
		*p = entry{hash: h}
		if len(sleep) > 0 {
			p.slept = uint32(len(s.slept))
			s.slept = append(s.slept, uint64(len(sleep)))
			s.slept = append(s.slept, sleep...)
		}
		s.count++
		return true, wake
	}
	n := s.slept[p.slept]
	list := s.slept[p.slept+1:][:n]
	kept := list[:0]
	for _, id := range list {
		if slices.Contains(sleep, id) {
			kept = append(kept, id)
		} else {
			wake = append(wake, id)
		}
	}
	if n > 0 {
		s.slept[p.slept] = uint64(len(kept))
	}
	return false, wake
}

func (s *Set) grow() {
	old := append([]entry(nil), s.table...)
	if n := 2 * len(old); n <= cap(s.table) {
		s.table = s.table[:n]
		clear(s.table)
	} else {
		s.table = make([]entry, n)
	}
	for _, o := range old {
		if o.hash != 0 {
			*s.find(o.hash) = o
		}
	}
}

func (s *Set) find(h uint64) *entry {
	i := h >> 1
	for {
		p := &s.table[i&uint64(len(s.table)-1)]
		if p.hash == 0 || p.hash == h {
			return p
		}
		i++
	}
}
