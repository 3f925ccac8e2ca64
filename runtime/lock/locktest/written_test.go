package locktest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// TestWrittenConfigs explores in full the configurations that are written down here, each of which once showed something, or
// shows a bug when one is planted.
func TestWrittenConfigs(t *testing.T) {
	for _, c := range []*scene.Config{twoBanks(), newEdge(), twoRoots(), farMove()} {
		s := &search{limit: 1_000_000}
		all, f := s.explore(c)
		if f != nil {
			t.Errorf("%v%s", f.c, f.replay())
		}
		if !all {
			t.Errorf("%s: not exhausted in %d states", c.Name, s.states)
		}
		t.Logf("%s: %d states", c.Name, s.states)
	}
}

// twoBanks is the example of protocol.md: two banks share their accounts, so that the
// sequencer lies above both. e1 sets the field through which e0 will pay, and waits for
// the reader e2 when e0 passes.
func twoBanks() *scene.Config {
	c := &scene.Config{Name: "two banks", Hosts: 1, Actors: 0xf << scene.NodeActor}
	for x := scene.NodeActor; x < scene.NodeFresh; x++ {
		c.Parents[x] = scene.NodeTop
	}
	c.Edges[4], c.Edges[5] = scene.Bit(6)|scene.Bit(7), scene.Bit(6)|scene.Bit(7)
	c.Slots[4] = 6
	var pay, set, other scene.Program
	pay.Target, pay.Writes = 4, scene.Bit(6)|scene.Bit(7)
	pay.Ops[4] = []scene.Op{{Kind: scene.OpSlot}}
	set.Target, set.Writes = 4, scene.Bit(4)
	set.Ops[4] = []scene.Op{{Kind: scene.OpSet, To: 7}}
	other.Target = 4
	other.Ops[4] = []scene.Op{{Kind: scene.OpCall, To: 7}, {Kind: scene.OpCallArg, To: 5}}
	c.Events = []scene.Program{pay, set, other}
	return c
}

// newEdge has e0 add the edge 5 -> 6; e1, which enters at 4 with the old view of it,
// expands to 5 alone and then wants 6; e2 goes by 4 to both.
func newEdge() *scene.Config {
	c := &scene.Config{Name: "new edge", Hosts: 2, Actors: 7 << scene.NodeActor}
	c.Parents[4], c.Parents[5], c.Parents[6] = scene.NodeTop, 4, 4
	c.Edges[4] = scene.Bit(5) | scene.Bit(6)
	c.Host[5], c.Host[6] = 1, 1
	var add, down, both scene.Program
	add.Target, add.Writes = 5, scene.Bit(5)
	add.Ops[5] = []scene.Op{{Kind: scene.OpAdd, To: 6}}
	down.Target, down.Writes = 4, scene.Bit(5)|scene.Bit(6)
	down.Ops[4] = []scene.Op{{Kind: scene.OpCall, To: 5}}
	down.Ops[5] = []scene.Op{{Kind: scene.OpCall, To: 6}}
	both.Target, both.Writes = 5, scene.Bit(5)|scene.Bit(6)
	both.Ops[5] = []scene.Op{{Kind: scene.OpCallArg, To: 6}}
	c.Events = []scene.Program{add, down, both}
	return c
}

// twoRoots has e0 enter at two roots, of which e1 moves the one below the other: e0 has
// two entries there then, the first of which is refused.
func twoRoots() *scene.Config {
	c := &scene.Config{Name: "two roots", Hosts: 1, Actors: 3 << scene.NodeActor, Fanout: true}
	c.Parents[4], c.Parents[5] = scene.NodeTop, scene.NodeTop
	var both, move scene.Program
	both.Target, both.Writes = 4, scene.Bit(4)|scene.Bit(5)
	both.Ops[4] = []scene.Op{{Kind: scene.OpCallArg, To: 5}}
	move.Move, move.Below = 5, 4
	c.Events = []scene.Program{both, move}
	return c
}

// farMove has e1 move 5 below 7, to which an enqueue of e0 is under way from another host. If the move does not hold 7, the enqueue
// finds 5 below 7, and goes down there a second time.
func farMove() *scene.Config {
	c := &scene.Config{Name: "a move between hosts", Hosts: 2, Actors: 0xf << scene.NodeActor}
	c.Parents[4], c.Parents[5], c.Parents[6], c.Parents[7] = scene.NodeTop, 4, 5, 4
	c.Edges[6], c.Slots[6] = scene.Bit(7), 7
	c.Host[7] = 1
	var call, move scene.Program
	call.Target = 6
	call.Ops[6] = []scene.Op{{Kind: scene.OpCall, To: 7}}
	move.Move, move.Below = 5, 7
	c.Events = []scene.Program{call, move}
	return c
}

// overtaken has e0 read 5, whose store votes with the answer and crashes, and then 6. Meanwhile e1 takes 5 in the next start of that store, and writes both. The home of e0 may hear of the crash
// last of all: the vote must not count, whether e0 takes 6 when it comes there, or has waited for it, ordered, in a queue.
func overtaken(ordered bool) *scene.Config {
	c := &scene.Config{Name: "a vote is overtaken", Hosts: 3, Actors: 7 << scene.NodeActor}
	c.Parents[4], c.Parents[5], c.Parents[6] = scene.NodeTop, scene.NodeTop, scene.NodeTop
	c.Host[4], c.Host[5] = 2, 1
	var reader, writer scene.Program
	reader.Target, writer.Target, writer.Writes = 4, 6, scene.Bit(5)|scene.Bit(6)
	reader.Ops[4] = []scene.Op{{Kind: scene.OpCallArg, To: 5}, {Kind: scene.OpCallArg, To: 6}}
	writer.Ops[6] = []scene.Op{{Kind: scene.OpCallArg, To: 5}}
	c.Events = []scene.Program{reader, writer}
	c.Home[0], c.Stores, c.Early = 2, true, true
	c.Known[0], c.Known[1] = scene.Bit(4), scene.Bit(6)
	if ordered {
		c.Known[0], c.ByTop[0] = scene.Bit(4)|scene.Bit(5)|scene.Bit(6), true
	}
	c.Votes[0], c.Crashes = 1<<1, 1<<1
	return c
}

// schedules are those of a configuration that is too large to be explored. Seeds are fixed.
const schedules = 2000

func schedule(c *scene.Config, n int) (int, *finding) {
	s, r := &search{}, rand.New(rand.NewPCG(1, 2))
	for i := range n {
		if f := s.random(c, r); f != nil {
			return i, f
		}
	}
	return n, nil
}

// A vote that goes with an answer counts only if the attempt has got no lock since, be it that it takes it or that a queue grants it.
func TestAVoteIsOvertaken(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		if _, f := schedule(overtaken(ordered), schedules); f != nil {
			t.Errorf("%v%s", f.c, f.replay())
		}
		fault := &viewFaults.countVotes
		if ordered {
			fault = &viewFaults.countGrants
		}
		*fault = true
		if i, f := schedule(overtaken(ordered), schedules); f == nil {
			t.Errorf("not found, ordered %v", ordered)
		} else {
			t.Logf("schedule %d: %s", i, f.what)
		}
		*fault = false
	}
}

// held is overtaken where e0 also writes 7, which is beside 5: the vote counts whatever e0 takes later, as the next start of that store holds both.
func held(ordered bool) *scene.Config {
	c := overtaken(ordered)
	c.Name, c.Actors = "a vote is held", 0xf<<scene.NodeActor
	c.Parents[7], c.Host[7] = scene.NodeTop, 1
	e := &c.Events[0]
	e.Writes = scene.Bit(7)
	e.Ops[4] = slices.Insert(e.Ops[4], 1, scene.Op{Kind: scene.OpCallArg, To: 7})
	if ordered {
		c.Known[0] |= scene.Bit(7)
	}
	return c
}

// A vote with a row counts, as that has all that it is for, also what was only read.
func TestAVoteIsHeld(t *testing.T) {
	defer func() { viewFaults.forgetReads = false }()
	for _, ordered := range []bool{false, true} {
		viewFaults.forgetReads = false
		if _, f := schedule(held(ordered), schedules); f != nil {
			t.Errorf("%v%s", f.c, f.replay())
		}
		viewFaults.forgetReads = true
		i, f := schedule(held(ordered), 10*schedules)
		if f == nil {
			t.Errorf("not found, ordered %v", ordered)
			continue
		}
		t.Logf("schedule %d: %s", i, f.what)
	}
}

// moved has e1 move 7 in T, for which e0 waits in store 1, which has voted for e0 before with the answer of 5: the queue of 7 refuses e0.
func moved() *scene.Config {
	c := &scene.Config{Name: "a part is refused after its vote", Hosts: 2, Actors: 0xf << scene.NodeActor}
	for x := scene.NodeActor; x < scene.NodeFresh; x++ {
		c.Parents[x] = scene.NodeTop
	}
	c.Host[4], c.Host[5], c.Host[7] = 1, 1, 1
	var reader, mover scene.Program
	reader.Target, mover.Move, mover.Below = 6, 7, 4
	reader.Ops[6] = []scene.Op{{Kind: scene.OpCallArg, To: 5}, {Kind: scene.OpCallArg, To: 7}}
	c.Events = []scene.Program{reader, mover}
	c.Home[1], c.Stores, c.Early = 1, true, true
	c.Known[0], c.ByTop[0], c.Votes[0] = scene.Bit(5)|scene.Bit(6)|scene.Bit(7), true, 1<<1
	return c
}

// A vote that goes with an answer does not keep a store from dropping the part later: the next call takes it back. If the queue refuses the part before that call comes, its
// code finds so where it waits.
func TestAPartIsRefusedAfterItsVote(t *testing.T) {
	defer func() { viewFaults.lateCalls, viewFaults.unheard = false, false }()
	for _, late := range []bool{false, true} {
		if viewFaults.lateCalls = late; late {
			viewFaults.unheard = true
			i, f := schedule(moved(), schedules)
			if f == nil {
				t.Fatal("not found")
			}
			t.Logf("schedule %d: %s", i, f.what)
			viewFaults.unheard = false
		}
		if _, f := schedule(moved(), schedules); f != nil {
			t.Errorf("%v%s", f.c, f.replay())
		}
	}
}
