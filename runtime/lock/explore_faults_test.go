package lock

import (
	"strings"
	"testing"
)

// planted is a bug of the driver that the explorer must find, with the configurations in which it is looked
// for; those of the core are planted by spec/plants. Seeds are fixed: a bug that is no longer found means that the explorer, the
// generator or the core has lost something.
type planted struct {
	name    string
	set     func(on bool)
	options genOptions
	only    func() *config // instead of seeds
	expect  string         // what the finding must say, one of these separated by |
}

func plantedBugs() []planted {
	still, crash := genOptions{still: true}, genOptions{hosts: 3, crash: true}
	return []planted{
		{"skip a lock", func(on bool) { viewFaults.skipLock = on }, still, nil, "without a hold"},
		{"release early", func(on bool) { viewFaults.releaseEarly = on }, still, nil, "without a hold|strictly|deadlock"},
		{"narrowing through a field at a pass", func(on bool) { viewFaults.narrowAtPass = on }, still, twoBanks, "withdrawn"},
		{"narrowing and uncovered access", func(on bool) {
			viewFaults.narrowAtPass, viewFaults.noOutside = on, on
		}, still, twoBanks, "without a hold"},
		{"created actors never locked", func(on bool) { viewFaults.freshForEver = on }, genOptions{create: true}, nil, "without a hold"},
		{"two entries taken for one", func(on bool) { viewFaults.homeEntries = on }, still, twoRoots, "left|deadlock|stale"},
		{"crash: epochs not compared at the vote", func(on bool) { viewFaults.noEpochs = on }, crash, nil, "without its writes|strictly"},
		{"crash: messages of old sessions delivered", func(on bool) { viewFaults.keepMessages = on }, crash, nil, "left|deadlock|FIFO|delivered twice"},
	}
}

// twoBanks is the example of protocol.md: two banks share their accounts, so that the
// sequencer lies above both; e1 sets the field through which e0 will pay, and waits for
// the reader e2 when e0 passes.
func twoBanks() *config {
	c := &config{name: "two banks", hosts: 1, actors: 0xf << nodeActor}
	for x := nodeActor; x < nodeFresh; x++ {
		c.parents[x] = nodeTop
	}
	c.edges[4], c.edges[5] = bit(6)|bit(7), bit(6)|bit(7)
	c.slots[4] = 6
	var pay, set, other program
	pay.target, pay.writes = 4, bit(6)|bit(7)
	pay.ops[4] = []op{{kind: opSlot}}
	set.target, set.writes = 4, bit(4)
	set.ops[4] = []op{{kind: opSet, to: 7}}
	other.target = 4
	other.ops[4] = []op{{kind: opCall, to: 7}, {kind: opCallArg, to: 5}}
	c.events = []program{pay, set, other}
	return c
}

// newEdge has e0 add the edge 5 -> 6; e1, which enters at 4 with the old view of it,
// expands to 5 alone and then wants 6; e2 goes by 4 to both.
func newEdge() *config {
	c := &config{name: "new edge", hosts: 2, actors: 7 << nodeActor}
	c.parents[4], c.parents[5], c.parents[6] = nodeTop, 4, 4
	c.edges[4] = bit(5) | bit(6)
	c.host[5], c.host[6] = 1, 1
	var add, down, both program
	add.target, add.writes = 5, bit(5)
	add.ops[5] = []op{{kind: opAdd, to: 6}}
	down.target, down.writes = 4, bit(5)|bit(6)
	down.ops[4] = []op{{kind: opCall, to: 5}}
	down.ops[5] = []op{{kind: opCall, to: 6}}
	both.target, both.writes = 5, bit(5)|bit(6)
	both.ops[5] = []op{{kind: opCallArg, to: 6}}
	c.events = []program{add, down, both}
	return c
}

// twoRoots has e0 enter at two roots, of which e1 moves the one below the other: e0 has
// two entries there then, the first of which is refused.
func twoRoots() *config {
	c := &config{name: "two roots", hosts: 1, actors: 3 << nodeActor, fanout: true}
	c.parents[4], c.parents[5] = nodeTop, nodeTop
	var both, move program
	both.target, both.writes = 4, bit(4)|bit(5)
	both.ops[4] = []op{{kind: opCallArg, to: 5}}
	move.move, move.below = 5, 4
	c.events = []program{both, move}
	return c
}

// TestPlantedBugs plants each bug and requires that the explorer finds it.
func TestPlantedBugs(t *testing.T) {
	graphs := allGraphs()
	for _, b := range plantedBugs() {
		t.Run(strings.ReplaceAll(b.name, " ", "-"), func(t *testing.T) {
			b.set(true)
			defer b.set(false)
			var sum tally
			s := &search{limit: 3000}
			for seed := uint64(1); seed <= 100; seed++ {
				c := seeded(graphs, seed, b.options)
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
				t.Logf("%s, %d states: %s", c.name, sum.states.Load(), f.what)
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

// TestWrittenConfigs explores in full, without a bug, what the tests above plant bugs in.
func TestWrittenConfigs(t *testing.T) {
	for _, c := range []*config{twoBanks(), newEdge(), twoRoots()} {
		s := &search{limit: 1_000_000}
		all, f := s.explore(c)
		if f != nil {
			t.Errorf("%v%s", f.c, f.replay())
		}
		if !all {
			t.Errorf("%s: not exhausted in %d states", c.name, s.states)
		}
		t.Logf("%s: %d states", c.name, s.states)
	}
}
