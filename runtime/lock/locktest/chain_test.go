package locktest

import (
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// Without [KEEP] other events get between; without the rule of the checker chains wait for each other
// (AE0224).
func TestExploreFindsBrokenChains(t *testing.T) {
	for what, fault := range map[string]*bool{"has touched": &viewFaults.touchKept, "deadlock": &viewFaults.circularChains} {
		t.Run(what, func(t *testing.T) {
			*fault = true
			defer func() { *fault = false }()
			graphs := scene.Graphs()
			var sum tally
			s := &search{limit: chainStates, noSleep: true, allOrders: true}
			for seed := range uint64(2000) {
				if _, f := s.run(chained(graphs[seed%uint64(len(graphs))], seed, 1), seed, &sum); f != nil {
					if t.Logf("%s: %s", f.c.Name, f.what); !strings.Contains(f.what, what) {
						t.Errorf("found something else:\n%v%s", f.c, f.replay())
					}
					return
				}
			}
			t.Errorf("not found in %d states", sum.states.Load())
		})
	}
}
