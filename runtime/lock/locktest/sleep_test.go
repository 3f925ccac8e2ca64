package locktest

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// TestSleepingMovesAreNotMissed makes all moves, and then only those that do not sleep: both
// searches must meet the same states.
func TestSleepingMovesAreNotMissed(t *testing.T) {
	graphs := scene.Graphs()
	var all, some, states, compared int
	seeds := uint64(160)
	if raceDetector || testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		o := scene.Options{Moves: seed%3 == 0, Crash: seed%4 == 0, Create: seed%5 == 0}
		c := scene.Seeded(graphs, seed, o)
		switch seed % 6 {
		case 1:
			c = scene.OverStores(graphs, seed)
		case 4:
			c = scene.FaultyStores(graphs, seed)
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
