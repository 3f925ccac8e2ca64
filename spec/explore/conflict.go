package explore

import (
	"encoding/binary"

	"github.com/aeon-lang/aeon/spec"
)

// intern returns the number of an access; equal ones have the same.
func (s *search) intern(acc spec.Access) int {
	var a access
	acc.Each(func(r spec.Resource, write bool) {
		n, ok := s.resources[r]
		if !ok {
			n = len(s.resources)
			s.resources[r] = n
		}
		a.all = a.all || r.All()
		if write {
			a.writes = set(a.writes, n)
		} else {
			a.reads = set(a.reads, n)
		}
	})
	var key []byte
	for _, list := range [][]uint64{a.reads, a.writes} {
		key = binary.AppendUvarint(key, uint64(len(list)))
		for _, word := range list {
			key = binary.LittleEndian.AppendUint64(key, word)
		}
	}
	n, ok := s.accesses[string(key)]
	if !ok {
		n = len(s.known)
		s.accesses[string(key)] = n
		s.known = append(s.known, a)
	}
	return n
}

func set(list []uint64, n int) []uint64 {
	for len(list) <= n/64 {
		list = append(list, 0)
	}
	list[n/64] |= 1 << (n % 64)
	return list
}

// enter returns the number of the entry for a step that has touched something.
func (s *search) enter(step spec.Step, access int) int {
	e := entry{step.Key, access, step.CauseSum()}
	n, ok := s.entries[e]
	if !ok {
		n = len(s.tried)
		s.entries[e] = n
		s.tried = append(s.tried, tried{step, access})
	}
	return n
}

// merge returns the union of two ascending lists, which may be one of them.
func merge(a, b []int) []int {
	missing := 0
	for i, j := 0, 0; j < len(b); {
		switch {
		case i == len(a) || a[i] > b[j]:
			missing++
			j++
		case a[i] == b[j]:
			i, j = i+1, j+1
		default:
			i++
		}
	}
	if missing == 0 {
		return a
	}
	out := make([]int, 0, len(a)+missing)
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] > b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// conflict reports whether two steps cannot be exchanged.
func (s *search) conflict(x, y int) bool {
	a, b := &s.known[x], &s.known[y]
	return a.all || b.all || meet(a.writes, b.writes) || meet(a.writes, b.reads) || meet(a.reads, b.writes)
}

func meet(a, b []uint64) bool {
	for i := range min(len(a), len(b)) {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}
