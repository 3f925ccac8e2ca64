package locktest

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// Options says which configurations Explore draws, and how far it goes in each.
type Options struct {
	Sets    int    // event sets per ownership graph
	States  int    // states per configuration; 0, as of the next two: none of these configurations
	Further int    // states per configuration with crashes, or calls of what another event creates
	Stores  int    // states per configuration over several stores
	Faults  int    // and if these crash, and their sessions end
	Seed    uint64 // the first seed
	Moves   bool   // half of the events move nodes in T
	Only    uint64 // if set, the one seed that is run
}

// Default is what a plain go test explores: all states of each configuration without crashes, which are fewer
// than the bound, and a part of those of configurations with crashes.
var Default = Options{Sets: 2, States: 20_000_000, Further: 60_000, Stores: 3_000, Faults: 500, Seed: 1}

// exploreSchedules is how many random schedules a configuration gets that has more states
// than the limit; faultySchedules if stores of it crash.
const exploreSchedules, faultySchedules = 20, 60

// invariantsEach is how many configurations share one in which Explore checks the invariants of queues and homes after
// each step: it takes a tenth longer. All other searches check them always.
const invariantsEach = 5

// counts are what attempts had to do.
type counts struct {
	withdrawn int
	taken     int // actors, later
	followed  int // other attempts
	further   int // parts, later
	fast      int // holds on the fast path, at an entry
	decisions int // restored
	doubts    int
}

// add adds what has happened between two states.
func (c *counts) add(from, to *counts) {
	c.withdrawn += to.withdrawn - from.withdrawn
	c.taken += to.taken - from.taken
	c.followed += to.followed - from.followed
	c.further += to.further - from.further
	c.fast += to.fast - from.fast
	c.decisions += to.decisions - from.decisions
	c.doubts += to.doubts - from.doubts
}

type tally struct {
	configs, exhausted, states, schedules atomic.Int64

	mu sync.Mutex
	counts
}

// run explores one configuration, in full or up to the limit.
func (s *search) run(c *scene.Config, seed uint64, t *tally) (bool, *finding) {
	t.configs.Add(1)
	all, f := s.explore(c)
	if f == nil && all {
		t.exhausted.Add(1)
	}
	if f == nil && !all {
		r := rand.New(rand.NewPCG(seed, 0x5eed))
		n := exploreSchedules
		if c.Faulty() {
			n = faultySchedules
		}
		for range n {
			t.schedules.Add(1)
			if f = s.random(c, r); f != nil {
				break
			}
		}
	}
	t.states.Add(int64(s.states))
	return all, f
}

// Explore runs all ownership graphs up to four actors with seeded event sets on one
// to three hosts through all interleavings of the production core. Two or three events call actors, some
// repeatedly, change what they own, create actors, move nodes in T, or are withdrawn at any time.
// Every configuration of the default seeds must be exhausted.
//
// First come events over two or three stores, which know a part of their footprints, as far as their bound goes.
//
// Then the sets of the same seeds in which an event calls what another has created, or a host crashes,
// are explored as far as their bound goes. What is not exhausted gets random schedules.
//
// A configuration is drawn from its seed alone; a violation is shown with the shortest trace to it.
func Explore(t *testing.T, o Options) {
	t.Helper()
	graphs := scene.Graphs()
	if len(graphs) != 39 {
		t.Fatalf("%d graphs, want 39", len(graphs))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // the heap is small and its garbage steady
	first, end := o.Seed, o.Seed+uint64(o.setsPerGraph()*len(graphs))
	if o.Only != 0 {
		first, end = o.Only, o.Only+1
	}
	must := o.Seed == Default.Seed && o.Sets <= 100 && !o.Moves
	sets := family{name: "event sets", limit: o.States, must: must, draw: func(seed uint64) *scene.Config {
		return scene.Seeded(graphs, seed, scene.Options{Moves: o.Moves, Plain: true})
	}}
	further := family{name: "further sets, with crashes and calls of created actors", limit: o.Further, draw: func(seed uint64) *scene.Config {
		c := scene.Seeded(graphs, seed, scene.Options{Moves: o.Moves})
		if c.String() == sets.draw(seed).String() {
			return nil
		}
		return c
	}}
	faults := family{name: "events over stores that crash, and whose sessions end", limit: o.Faults, draw: func(seed uint64) *scene.Config { return scene.FaultyStores(graphs, seed) }}
	stores := family{name: "events over stores", limit: o.Stores, draw: func(seed uint64) *scene.Config { return scene.OverStores(graphs, seed) }}
	for _, f := range []*family{&stores, &faults, &sets, &further} {
		last := end
		if (f == &stores || f == &faults) && o.Only == 0 { // two for each set, as they are small
			last += end - first
		}
		if f.limit > 0 && !t.Failed() {
			f.explore(t, first, last)
		}
	}
}

// setsPerGraph returns how many event sets each graph gets.
func (o *Options) setsPerGraph() int {
	if raceDetector || testing.Short() {
		return max(1, o.Sets/100) // the core has no goroutines of its own
	}
	return o.Sets
}

// family is a kind of configurations, drawn from seeds.
type family struct {
	name  string
	limit int  // states per configuration
	must  bool // each must be exhausted
	draw  func(seed uint64) *scene.Config
}

// progressEach is how often a long exploration says how far it is, so that one that is ended counts up to there.
const progressEach = time.Minute

// explore explores the family's configurations of seeds first to end, on all processors.
func (f *family) explore(t *testing.T, first, end uint64) {
	start := time.Now()
	var sum tally
	var next atomic.Uint64
	next.Store(first)
	under := make([]atomic.Uint64, runtime.GOMAXPROCS(0)) // the seed that each worker explores
	var wg sync.WaitGroup
	for i := range under {
		under[i].Store(first)
		wg.Go(func() {
			s := &search{limit: f.limit}
			for !t.Failed() {
				seed := next.Add(1) - 1
				under[i].Store(seed)
				if seed >= end {
					break
				}
				c := f.draw(seed)
				if c == nil {
					continue
				}
				s.brief = seed%invariantsEach != 0
				all, bad := s.run(c, seed, &sum)
				if bad != nil {
					bad = s.shrink(bad)
					t.Errorf("run with -explore.only=%d; shrunk to:\n%v%s", seed, bad.c, bad.replay())
				} else if f.must && !all {
					t.Errorf("not exhausted in %d states; -explore.states allows more\n%v", f.limit, c)
				}
			}
			sum.mu.Lock()
			defer sum.mu.Unlock()
			sum.counts.add(&counts{}, &s.counts)
		})
	}
	ended := make(chan struct{})
	go func() {
		wg.Wait()
		close(ended)
	}()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(progressEach):
			below := end
			for i := range under {
				below = min(below, under[i].Load())
			}
			t.Logf("%s: all seeds from %d below %d explored, the last is %d; %d configurations, %d states, %v", f.name, first, below, end-1,
				sum.configs.Load(), sum.states.Load(), time.Since(start).Round(time.Second))
		}
	}
	t.Logf("%s: %d configurations (%d exhausted), %d states, %d random schedules, %d withdrawals, %v",
		f.name, sum.configs.Load(), sum.exhausted.Load(), sum.states.Load(), sum.schedules.Load(),
		sum.withdrawn, time.Since(start).Round(time.Millisecond))
	if sum.taken > 0 {
		t.Logf("%s: %d actors taken later, %d parts later, %d waits for attempts that are before, %d entries on the fast path, %d decisions and %d prepared parts restored",
			f.name, sum.taken, sum.further, sum.followed, sum.fast, sum.decisions, sum.doubts)
	}
}
