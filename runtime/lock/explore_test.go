package lock

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	exploreSets  = flag.Int("explore.sets", 100, "event sets per ownership graph")
	exploreLimit = flag.Int("explore.states", 60_000, "states per configuration, before random schedules")
	exploreSeed  = flag.Uint64("explore.seed", 1, "first seed")
	exploreMoves = flag.Bool("explore.moves", false, "half of the events move nodes in T")
	exploreOnly  = flag.Uint64("explore.only", 0, "run this one seed, and show the trace if it fails")
)

// exploreSchedules is how many random schedules a configuration gets that has more states
// than the limit.
const exploreSchedules = 20

// seeded returns configuration number i over graph g.
func seeded(graphs []dag, seed uint64, o genOptions) *config {
	r := rand.New(rand.NewPCG(seed, 0xae0))
	c := generate(graphs[seed%uint64(len(graphs))], r, o)
	c.name = fmt.Sprintf("seed %d", seed)
	return c
}

func allGraphs() []dag {
	var l []dag
	for n := 2; n <= 4; n++ {
		l = append(l, dags(n)...)
	}
	return l
}

type tally struct {
	configs, exhausted, states, schedules, withdrawn atomic.Int64
}

// run explores one configuration, in full or up to the limit.
func (s *search) run(c *config, seed uint64, t *tally) *finding {
	t.configs.Add(1)
	all, f := s.explore(c)
	if f == nil && all {
		t.exhausted.Add(1)
	}
	if f == nil && !all {
		r := rand.New(rand.NewPCG(seed, 0x5eed))
		for range exploreSchedules {
			t.schedules.Add(1)
			if f = s.random(c, r); f != nil {
				break
			}
		}
	}
	t.states.Add(int64(s.states))
	return f
}

// A run longer than CI's, of other configurations:
//
//	go test ./runtime/lock -run TestExplore -v -timeout 1h -explore.seed 100000 -explore.sets 1000 -explore.states 100000
//
// A configuration is drawn from its seed alone: -explore.only runs one again, with the
// shortest trace to its violation.

// TestExplore runs all ownership graphs up to four actors with seeded event sets on one
// to three hosts through all interleavings of the production core.
func TestExplore(t *testing.T) {
	graphs := allGraphs()
	if len(graphs) != 39 {
		t.Fatalf("%d graphs, want 39", len(graphs))
	}
	sets := *exploreSets
	if raceDetector || testing.Short() {
		sets = max(1, sets/25)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // the heap is small and its garbage steady
	start := time.Now()
	var sum tally
	var next atomic.Uint64
	next.Store(*exploreSeed)
	end := *exploreSeed + uint64(sets*len(graphs))
	if *exploreOnly != 0 {
		next.Store(*exploreOnly)
		end = *exploreOnly + 1
	}
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			s := &search{limit: *exploreLimit}
			for !t.Failed() {
				seed := next.Add(1) - 1
				if seed >= end {
					break
				}
				if f := s.run(seeded(graphs, seed, genOptions{moves: *exploreMoves}), seed, &sum); f != nil {
					f = s.shrink(f)
					t.Errorf("run with -explore.only=%d; shrunk to:\n%v%s", seed, f.c, f.replay())
				}
			}
			sum.withdrawn.Add(int64(s.withdrawn))
		})
	}
	wg.Wait()
	t.Logf("%d graphs, %d configurations (%d exhausted), %d states, %d random schedules, %d withdrawals, %v",
		len(graphs), sum.configs.Load(), sum.exhausted.Load(), sum.states.Load(), sum.schedules.Load(),
		sum.withdrawn.Load(), time.Since(start).Round(time.Millisecond))
}
