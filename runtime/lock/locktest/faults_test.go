package locktest

import (
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// planted is a bug of the driver that the explorer must find, with the configurations in which it is looked
// for; those of the core are planted by spec/plants. Seeds are fixed: a bug that is no longer found means that the explorer, the
// generator or the core has lost something.
type planted struct {
	name    string
	set     func(on bool)
	options scene.Options
	only    func() *scene.Config // instead of seeds
	expect  string               // what the finding must say, one of these separated by |
}

func plantedBugs() []planted {
	still, crash := scene.Options{Still: true}, scene.Options{Hosts: 3, Crash: true}
	return []planted{
		{"skip a lock", func(on bool) { viewFaults.skipLock = on }, still, nil, "without a hold"},
		{"release early", func(on bool) { viewFaults.releaseEarly = on }, still, nil, "without a hold|strictly|deadlock"},
		{"narrowing through a field at a pass", func(on bool) { viewFaults.narrowAtPass = on }, still, twoBanks, "withdrawn"},
		{"narrowing and uncovered access", func(on bool) {
			viewFaults.narrowAtPass, viewFaults.noOutside = on, on
		}, still, twoBanks, "without a hold"},
		{"created actors never locked", func(on bool) { viewFaults.freshForEver = on }, scene.Options{Create: true}, nil, "without a hold"},
		{"two entries taken for one", func(on bool) { viewFaults.homeEntries = on }, still, twoRoots, "left|deadlock|stale"},
		{"a move between hosts does not hold the new parent", func(bool) {}, still, func() *scene.Config {
			c := farMove()
			c.Light = true
			return c
		}, "one enqueue"},
		{"crash: epochs not compared at the vote", func(on bool) { viewFaults.noEpochs = on }, crash, nil, "without its writes|strictly"},
		{"crash: messages of old sessions delivered", func(on bool) { viewFaults.keepMessages = on }, crash, nil, "left|deadlock|FIFO|delivered twice"},
	}
}

// TestPlantedBugs plants each bug and requires that the explorer finds it.
func TestPlantedBugs(t *testing.T) {
	graphs := scene.Graphs()
	for _, b := range plantedBugs() {
		t.Run(strings.ReplaceAll(b.name, " ", "-"), func(t *testing.T) {
			b.set(true)
			defer b.set(false)
			var sum tally
			s := &search{limit: 3000}
			for seed := uint64(1); seed <= 100; seed++ {
				c := scene.Seeded(graphs, seed, b.options)
				if b.only != nil {
					s.limit = 300_000
					c = b.only()
				}
				_, f := s.run(c, seed, &sum)
				if f == nil {
					if b.only != nil {
						break
					}
					continue
				}
				t.Logf("%s, %d states: %s", c.Name, sum.states.Load(), f.what)
				for _, w := range strings.Split(b.expect, "|") {
					if strings.Contains(f.what, w) {
						return
					}
				}
				t.Fatalf("found something else:\n%v%s", f.c, f.replay())
			}
			t.Fatalf("not found in %d states", sum.states.Load())
		})
	}
}

// Stores that take their parts in another way, attempts that take later what they may not, and stores that forget what they must not. Thirty event sets of each graph show all of them.
func TestPlantedBugsOverStores(t *testing.T) {
	graphs := scene.Graphs()
	for _, b := range []struct {
		what   string
		fault  *bool
		faulty bool // stores crash
		says   string
		first  uint64 // the seed that the search begins with: the first one that shows it
	}{
		{"waiting for later attempts", &viewFaults.followLater, false, "deadlock", 5},
		{"taking what others wait for further up", &viewFaults.beside, false, "deadlock", 35},
		{"taking without a place in the order", &viewFaults.noPlace, false, "deadlock", 388},
		{"a part in two steps", &viewFaults.twoSteps, false, "deadlock", 2},
		{"parts in any order", &viewFaults.anyOrder, false, "deadlock", 5},
		{"waiting without a place in the order", &viewFaults.unorderedWaits, false, "deadlock", 35},
		{"releasing what is prepared", &viewFaults.releasePrepared, false, "strictly|undo", 24},
		{"silence of a part that is refused", &viewFaults.unrefused, false, "deadlock", 122},
		{"attempts that outlive a session", &viewFaults.outlive, true, "", 1},
		{"half a pass", &viewFaults.halfPass, true, "deadlock", 44},
		{"silence about attempts that are over", &viewFaults.stale, true, "left|deadlock", 1},
		{"numbers that outlive a session", &viewFaults.keepNumbers, true, "deadlock", 1},
		{"forgetting what is in doubt", &viewFaults.forgetDoubt, true, "", 6},
		{"admitting before what is in doubt is held", &viewFaults.restoreLate, true, "", 8},
	} {
		t.Run(b.what, func(t *testing.T) {
			*b.fault = true
			defer func() { *b.fault = false }()
			var sum tally
			s, draw := &search{limit: Default.Stores}, scene.OverStores
			if b.faulty {
				s.limit, draw = Default.Faults, scene.FaultyStores
			}
			all := 2 * 30 * uint64(len(graphs)) // those of 30 event sets per graph
			for i := range all {
				seed := 1 + (b.first-1+i)%all
				_, f := s.run(draw(graphs, seed), seed, &sum)
				if f == nil {
					continue
				}
				t.Logf("%s, %d states, %d schedules: %s", f.c.Name, sum.states.Load(), sum.schedules.Load(), f.what)
				for _, w := range strings.Split(b.says, "|") {
					if strings.Contains(f.what, w) {
						return
					}
				}
				t.Fatalf("found something else:\n%v%s", f.c, f.replay())
			}
			t.Errorf("not found in %d states", sum.states.Load())
		})
	}
}
