package locktest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// This file explores chains of tail calls: [KEEP] and [KEPT]. The core knows nothing of them. A step is an event; the
// next step is another event, which starts when the first has committed. Between the two the driver keeps the target
// for the next step, and withdraws every other event that gets there. No other event may touch the target in between,
// and all must end.

// park withdraws e if a chain keeps y from it. It enters again when the chain has left y.
func (w *world) park(e scene.Event, y scene.Node) bool {
	if w.kept[y] == 0 || w.kept[y] == uint8(e)+1 || viewFaults.touchKept {
		return false
	}
	w.parked[e] = y
	w.withdraw(e, 0, lock.None, 0, "kept")
	return true
}

// handOver keeps the target of e, which commits, for the next step, or frees what was kept for e.
func (w *world) handOver(e scene.Event) {
	for x := range w.kept {
		if k := w.kept[x]; k != 0 && k != uint8(e)+1 && (w.readers[x]|w.writers[x])>>e&1 != 0 {
			w.fail("e%d has touched %v, which is kept for e%d", e, x, k-1)
		}
	}
	if x := w.c.Events[e].Target; w.c.Next[e] != 0 || w.kept[x] == uint8(e)+1 {
		w.kept[x] = w.c.Next[e]
	}
	for i := range w.c.Events {
		if g := scene.Event(i); w.parked[g] != 0 && w.kept[w.parked[g]] == 0 {
			w.parked[g] = 0
			w.run(g).status = 1
			w.enter(g)
		}
	}
}

// chained draws a configuration with one chain of two or three steps, or two chains, over g. Ownership is at rest. The
// steps after the first want only what their targets reach, as the checker demands: so chains do not wait for each
// other.
func chained(g scene.Graph, seed uint64, hosts int) *scene.Config {
	r := rand.New(rand.NewPCG(seed, 0x7a11))
	c := scene.Generate(g, r, scene.Options{Hosts: hosts, Still: true, Events: 2})
	c.Name = fmt.Sprintf("chain %d", seed)
	follow := func(e scene.Event) {
		f := scene.Event(len(c.Events))
		p := c.DrawEvent(r, f, scene.Options{Still: true})
		p.Target, p.After = c.Events[e].Target, 1<<e
		for x := range p.Ops {
			if !viewFaults.circularChains {
				p.Ops[x] = withoutArgs(p.Ops[x])
			}
		}
		c.Events[e].Writes |= scene.Bit(p.Target)
		p.Writes |= scene.Bit(p.Target)
		c.Next[e] = uint8(f) + 1
		c.Events = append(c.Events, p)
	}
	follow(0)
	switch r.IntN(3) {
	case 0:
		follow(1)
	case 1:
		follow(2)
	}
	return c
}

func withoutArgs(l []scene.Op) (kept []scene.Op) {
	for _, o := range l {
		if o.Kind != scene.OpCallArg {
			kept = append(kept, o)
		}
	}
	return kept
}

const chainStates = 20_000 // per configuration

// ExploreChains explores configurations with chains of tail calls on one to three hosts.
func ExploreChains(t *testing.T) {
	t.Helper()
	graphs := scene.Graphs()
	for hosts, sets := range map[int]int{1: 40, 2: 8, 3: 2} {
		if raceDetector || testing.Short() {
			sets = 1
		}
		var sum tally
		s := &search{limit: chainStates, noSleep: true, allOrders: true}
		for seed := range uint64(sets * len(graphs)) {
			if _, f := s.run(chained(graphs[seed%uint64(len(graphs))], seed, hosts), seed, &sum); f != nil {
				t.Fatalf("%v%s", f.c, f.replay())
			}
		}
		t.Logf("%d hosts: %d configurations, %d exhausted, %d states, %d withdrawn", hosts, sum.configs.Load(), sum.exhausted.Load(), sum.states.Load(), s.withdrawn)
		if s.withdrawn == 0 {
			t.Error("no event has met what a chain keeps")
		}
	}
}
