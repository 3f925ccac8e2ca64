package scene

import "testing"

// What a configuration over stores shrinks to is one, too: T stays within stores, and each event keeps what it has.
func TestSmallerKeepsStores(t *testing.T) {
	graphs := Graphs()
	moves := 0
	for seed := uint64(1); seed <= 500; seed++ {
		c := OverStores(graphs, seed)
		if !c.treesAreOfStores() {
			t.Fatalf("seed %d: T is not within stores\n%v", seed, c)
		}
		for e := range c.Events {
			if c.Events[e].Move != 0 {
				moves++
			}
			d := c.clone()
			d.dropEvent(e)
			for i := range d.Events {
				j := i
				if i >= e {
					j++
				}
				if d.Known[i] != c.Known[j] || d.Trees[i] != c.Trees[j] || d.Hinted[i] != c.Hinted[j] || d.ByTop[i] != c.ByTop[j] || d.Votes[i] != c.Votes[j] || d.Fast[i] != c.Fast[j] || d.Aborts[i] != c.Aborts[j] || d.Home[i] != c.Home[j] {
					t.Fatalf("seed %d: without e%d, e%d is another one", seed, e, j)
				}
			}
		}
		for _, d := range c.Smaller() {
			if !d.treesAreOfStores() {
				t.Fatalf("seed %d: T is not within stores\n%v", seed, d)
			}
		}
	}
	if moves == 0 {
		t.Error("no event moves anything")
	}
}
