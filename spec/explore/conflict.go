package explore

import (
	"encoding/binary"

	"github.com/aeon-lang/aeon/spec"
)

// access is what a step has touched, as sets of the numbers of resources.
type access struct {
	reads, writes []uint64
	all           bool
}

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

// conflict reports whether two steps cannot be exchanged.
func (s *search) conflict(x, y int) bool {
	a, b := &s.known[x], &s.known[y]
	if planted.ignoreReads {
		return meet(a.writes, b.writes)
	}
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
