package locktest

import "testing"

// TestSleepingMovesAreNotMissed makes all moves, and then only those that do not sleep: both
// searches must meet the same states.
func TestSleepingMovesAreNotMissed(t *testing.T) {
	graphs := allGraphs()
	var all, some, states, compared int
	seeds := uint64(400)
	if raceDetector || testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		o := genOptions{moves: seed%3 == 0, crash: seed%4 == 0, create: seed%5 == 0}
		c := seeded(graphs, seed, o)
		switch seed % 6 {
		case 1:
			c = overStores(graphs, seed)
		case 4:
			c = faultyStores(graphs, seed)
		}
		a, b := &search{limit: 3000, noSleep: true}, &search{limit: 3000}
		full, f := a.explore(c)
		if f != nil {
			t.Fatalf("%v%s", f.c, f.replay())
		}
		if !full {
			continue
		}
		if _, f := b.explore(c); f != nil || a.states != b.states {
			t.Fatalf("%d states, %d when moves sleep; %v\n%v", a.states, b.states, f, c)
		}
		compared++
		all, some, states = all+a.steps, some+b.steps, states+a.states
	}
	t.Logf("%d configurations, %d states, %d steps, %d when moves sleep", compared, states, all, some)
}
