package exec

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
)

var soak = flag.Duration("soak", time.Second, "how long TestSoak runs workloads of random shapes")

// soakWorkload draws the shape of a run, and bounds that are far too tight for it.
func soakWorkload(rng *rand.Rand) (workload, Config) {
	w := workload{
		seed:       rng.Uint64(),
		goroutines: 1 << rng.IntN(7),
		events:     2_000,
		nodes:      2 + rng.IntN(1<<rng.IntN(8)),
		changes:    rng.IntN(40),
		later:      rng.IntN(40),
	}
	w.edges = rng.IntN(4 * w.nodes)
	cfg := Config{BranchWorkers: 1 + rng.IntN(8), QueueDepthMax: 1 + rng.IntN(1<<rng.IntN(10)), Partitions: 1 + rng.IntN(8),
		fanOut: 1 + rng.IntN(1<<rng.IntN(7))}
	if rng.IntN(2) == 0 { // many small runs, each of which can be replayed
		cfg.Scheduled, cfg.Seed = true, rng.Uint64()
		w.events, w.goroutines = 500, 1+w.goroutines/4
	}
	return w, cfg
}

// TestSoakOnAStore lets runs of random shapes crash or be closed, and go on, while the evictor drops states and detaches
// actors as fast as it can.
func TestSoakOnAStore(t *testing.T) {
	end := time.Now().Add(*soak)
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 2))
	t.Logf("seed %d", seed)
	for runs := 1; ; runs++ {
		w, _ := soakWorkload(rng)
		w.nodes, w.events, w.tails = min(w.nodes, 40), 300, rng.IntN(20)
		w.goroutines = min(w.goroutines, 16)
		w.edges, w.tellers, w.closes = rng.IntN(3*w.nodes), rng.IntN(3), rng.IntN(100)
		c := newCrashes(w, 6, memDisk{replicatest.New()})
		if err := c.run(func(waits string) { panic(fmt.Sprintf("%+v: no progress\n%s", w, waits)) }); err != nil {
			t.Fatalf("%+v: %v", w, err)
		}
		if time.Now().After(end) {
			t.Logf("%d runs", runs)
			return
		}
	}
}

// TestSoak checks that runs of random shapes are strictly serialisable, and that nothing is
// left of them.
func TestSoak(t *testing.T) {
	end := time.Now().Add(*soak)
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	before := runtime.NumGoroutine()
	var total Stats
	for runs := 1; ; runs++ {
		w, cfg := soakWorkload(rng)
		st, err := w.run(cfg, func(waits string) { panic(fmt.Sprintf("%+v, %+v: no progress\n%s", w, cfg, waits)) })
		if err != nil {
			t.Fatalf("%+v, %+v: %v", w, cfg, err)
		}
		total.Commits += st.Commits
		total.Aborts += st.Aborts
		total.Withdrawals += st.Withdrawals
		total.Moves += st.Moves
		total.Reroutes += st.Reroutes
		if time.Now().After(end) {
			t.Logf("%d runs, %+v", runs, total)
			break
		}
	}
	late := time.Now().Add(10 * time.Second)
	until(func() bool { return runtime.NumGoroutine() <= before || time.Now().After(late) })
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines before, %d after", before, n)
	}
}
