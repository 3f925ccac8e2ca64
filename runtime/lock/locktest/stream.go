package locktest

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

const streamStates = 4_000 // per configuration

// ExploreStreams explores configurations on two and three hosts, with crashes in a half of them. Their sessions deliver
// in the order of sending, as the transport of a cluster does. So each enqueue comes in its turn, and no queue has to
// put one aside. Any order, which the core allows for, is what [Explore] goes through.
func ExploreStreams(t *testing.T) {
	t.Helper()
	graphs := scene.Graphs()
	seeds := uint64(3 * len(graphs))
	if raceDetector || testing.Short() {
		seeds = uint64(len(graphs))
	}
	var sum tally
	s := &search{limit: streamStates, noSleep: true, allOrders: true, streams: true}
	for seed := range seeds {
		o := scene.Options{Hosts: 2 + int(seed/2%2), Crash: seed%2 == 0, Moves: seed%3 == 0}
		if _, f := s.run(scene.Seeded(graphs, 30_000+seed, o), seed, &sum); f != nil {
			t.Fatalf("%v%s", f.c, f.replay())
		}
	}
	t.Logf("%d configurations, %d exhausted, %d states, %d random schedules", sum.configs.Load(), sum.exhausted.Load(), sum.states.Load(), sum.schedules.Load())
}

// checkTurns checks that streams bring each enqueue in its turn.
func (w *world) checkTurns() {
	for x := range w.queues {
		if _, early, _ := w.queues[x].Count(); early > 0 {
			w.fail("%d enqueues have come to %v before their turn, by streams", early, scene.Node(x))
		}
	}
}
