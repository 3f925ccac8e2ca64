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

// Stores that take their parts in another way, attempts that take later what they may not, and stores that forget what they must not. The sets of CI show each.
func TestPlantedBugsOverStores(t *testing.T) {
	graphs := scene.Graphs()
	for _, b := range []struct {
		what   string
		fault  *bool
		faulty bool // stores crash
		says   string
	}{
		{"waiting for later attempts", &viewFaults.followLater, false, "deadlock"},
		{"taking what others wait for further up", &viewFaults.beside, false, "deadlock"},
		{"taking without a place in the order", &viewFaults.noPlace, false, "deadlock"},
		{"a part in two steps", &viewFaults.twoSteps, false, "deadlock"},
		{"parts in any order", &viewFaults.anyOrder, false, "deadlock"},
		{"waiting without a place in the order", &viewFaults.unorderedWaits, false, "deadlock"},
		{"releasing what is prepared", &viewFaults.releasePrepared, false, "strictly|undo"},
		{"silence of a part that is refused", &viewFaults.unrefused, false, "deadlock"},
		{"attempts that outlive a session", &viewFaults.outlive, true, ""},
		{"half a pass", &viewFaults.halfPass, true, "deadlock"},
		{"silence about attempts that are over", &viewFaults.stale, true, "left|deadlock"},
		{"numbers that outlive a session", &viewFaults.keepNumbers, true, "deadlock"},
		{"forgetting what is in doubt", &viewFaults.forgetDoubt, true, ""},
		{"admitting before what is in doubt is held", &viewFaults.restoreLate, true, ""},
	} {
		t.Run(b.what, func(t *testing.T) {
			*b.fault = true
			defer func() { *b.fault = false }()
			var sum tally
			s, draw := &search{limit: Default.Stores}, scene.OverStores
			if b.faulty {
				s.limit, draw = Default.Faults, scene.FaultyStores
			}
			for seed := uint64(1); seed <= 2*30*uint64(len(graphs)); seed++ {
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
