package smallset

import "testing"

// A set has what was added to it, whether it is small or large, and nothing after it was cleared.
func TestSet(t *testing.T) {
	var s Set[int]
	for round := range 2 {
		for n := range 3 * scanMax {
			if !s.Add(n) {
				t.Fatalf("round %d: %d was there before it was added", round, n)
			}
			for i := range n + 1 {
				if s.Add(i) {
					t.Fatalf("round %d: %d is not there among %d", round, i, n+1)
				}
			}
		}
		s.Clear()
	}
}
