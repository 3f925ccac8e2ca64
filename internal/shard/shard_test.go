package shard_test

import (
	"testing"

	"github.com/aeon-lang/aeon/internal/shard"
)

// Numbers that follow each other, as ids do, meet all parts about equally often.
func TestNumbersAreSpread(t *testing.T) {
	const rounds = 100
	for _, start := range []uint64{0, 1 << 20, 1 << 63} {
		var s shard.Set[int]
		for i := range uint64(rounds * shard.Count) {
			*s.Of(start + i)++
		}
		for n := range s.All {
			if *n < rounds/2 || *n > 2*rounds {
				t.Errorf("from %d on: a part has %d numbers, and %d would be even", start, *n, rounds)
			}
		}
	}
}

func TestPartsAreWhatAllVisits(t *testing.T) {
	var s shard.Set[int]
	for i := range shard.Count {
		*s.At(i) = i
	}
	i := 0
	for n := range s.All {
		if *n != i {
			t.Errorf("part %d has %d", i, *n)
		}
		i++
	}
	if i != shard.Count {
		t.Errorf("%d parts", i)
	}
}
