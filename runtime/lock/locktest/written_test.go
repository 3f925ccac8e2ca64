package locktest

import (
	"math/rand/v2"
	"testing"
)

// TestWrittenConfigs explores in full the configurations that are written down here, each of which once showed something, or
// shows a bug when one is planted.
func TestWrittenConfigs(t *testing.T) {
	for _, c := range []*config{twoBanks(), newEdge(), twoRoots(), farMove()} {
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

// twoBanks is the example of protocol.md: two banks share their accounts, so that the
// sequencer lies above both. e1 sets the field through which e0 will pay, and waits for
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

// farMove has e1 move 5 below 7, to which an enqueue of e0 is under way from another host. If the move does not hold 7, the enqueue
// finds 5 below 7, and goes down there a second time.
func farMove() *config {
	c := &config{name: "a move between hosts", hosts: 2, actors: 0xf << nodeActor}
	c.parents[4], c.parents[5], c.parents[6], c.parents[7] = nodeTop, 4, 5, 4
	c.edges[6], c.slots[6] = bit(7), 7
	c.host[7] = 1
	var call, move program
	call.target = 6
	call.ops[6] = []op{{kind: opCall, to: 7}}
	move.move, move.below = 5, 7
	c.events = []program{call, move}
	return c
}

// overtaken has e0 read 5, whose store votes with the answer and crashes, and then 6. Meanwhile e1 takes 5 in the next start of that store, and writes both. The home of e0 may hear of the crash
// last of all: the vote must not count, whether e0 takes 6 when it comes there, or has waited for it, ordered, in a queue.
func overtaken(ordered bool) *config {
	c := &config{name: "a vote is overtaken", hosts: 3, actors: 7 << nodeActor}
	c.parents[4], c.parents[5], c.parents[6] = nodeTop, nodeTop, nodeTop
	c.host[4], c.host[5] = 2, 1
	var reader, writer program
	reader.target, writer.target, writer.writes = 4, 6, bit(5)|bit(6)
	reader.ops[4] = []op{{kind: opCallArg, to: 5}, {kind: opCallArg, to: 6}}
	writer.ops[6] = []op{{kind: opCallArg, to: 5}}
	c.events = []program{reader, writer}
	c.home[0], c.stores, c.early = 2, true, true
	c.known[0], c.known[1] = bit(4), bit(6)
	if ordered {
		c.known[0], c.byTop[0] = bit(4)|bit(5)|bit(6), true
	}
	c.votes[0], c.crashes = 1<<1, 1<<1
	return c
}

// schedules are those of a configuration that is too large to be explored. Seeds are fixed.
const schedules = 2000

func schedule(c *config) (int, *finding) {
	s, r := &search{}, rand.New(rand.NewPCG(1, 2))
	for i := range schedules {
		if f := s.random(c, r); f != nil {
			return i, f
		}
	}
	return schedules, nil
}

// A vote that goes with an answer counts only if the attempt has got no lock since, be it that it takes it or that a queue grants it.
func TestAVoteIsOvertaken(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		if _, f := schedule(overtaken(ordered)); f != nil {
			t.Errorf("%v%s", f.c, f.replay())
		}
		fault := &viewFaults.countVotes
		if ordered {
			fault = &viewFaults.countGrants
		}
		*fault = true
		if i, f := schedule(overtaken(ordered)); f == nil {
			t.Errorf("not found, ordered %v", ordered)
		} else {
			t.Logf("schedule %d: %s", i, f.what)
		}
		*fault = false
	}
}
