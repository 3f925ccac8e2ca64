package raftnode

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

var (
	verbose = flag.Bool("raft.log", false, "print what the nodes log")
	kills   = flag.Int("raft.kills", 3, "how often the leader is killed")
)

// The placement's leader is killed again and again: each time another one leads soon, takes commands, has all that were taken, and the
// node that was killed comes back with what it had synced.
func TestLeadersAreReplaced(t *testing.T) {
	c := three(t)
	var took []time.Duration
	for i := range *kills {
		text := fmt.Sprint("before ", i)
		dead := c.leader()
		c.register(dead, text)
		began := time.Now()
		dead.kill()
		other := c.up()[i%2]
		c.register(other, fmt.Sprint("after ", i))
		took = append(took, time.Since(began))
		if other.State().Number(placement.Class, text) == 0 {
			t.Fatalf("command %q is lost", text)
		}
		dead.open(nil)
		c.until(dead, "the node that was killed has what the others have", func(s *placement.State) bool {
			return s.Number(placement.Class, fmt.Sprint("after ", i)) != 0
		})
		c.untilVoters(3)
	}
	slices.Sort(took)
	p50, most := took[len(took)/2], took[len(took)-1]
	t.Logf("%d leaders were killed; until a command was taken by the next: p50 %v, p99 %v", len(took), p50.Round(time.Millisecond), most.Round(time.Millisecond))
	if p50 > 2*time.Second*slow {
		t.Error("the next leader comes too late")
	}
	same(t, c)
}

// same checks that all nodes that run have the same state.
func same(t *testing.T, c *cluster) {
	t.Helper()
	c.settleDown()
	first := c.up()[0].State().Encode()
	for _, s := range c.up()[1:] {
		if string(s.State().Encode()) != string(first) {
			t.Errorf("node %d has another state", s.id.Node)
		}
	}
}

// settleDown waits until all nodes have the current state.
func (c *cluster) settleDown() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), within)
	defer cancel()
	for _, s := range c.up() {
		if _, err := s.Current(ctx); err != nil {
			c.t.Fatal(err)
		}
	}
}

// A follower has a command that it has proposed long before raft by itself would tell it that the command is committed.
func TestFollowersLearnAtOnceWhatIsCommitted(t *testing.T) {
	t.Parallel()
	c := three(t)
	leader := c.leader()
	var took []time.Duration
	for _, s := range c.up() {
		for i := range 8 {
			began := time.Now()
			c.register(s, fmt.Sprint("class ", s.id.Node, " ", i))
			if s != leader {
				took = append(took, time.Since(began))
			}
		}
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median >= commitTimeout {
		t.Errorf("of %d commands by followers half took %v or longer; raft by itself tells after %v to %v what is committed", len(took), median, commitTimeout, 2*commitTimeout)
	}
}

// A cluster that is closed and opened has its state; a follower has it before there is a leader.
func TestRestart(t *testing.T) {
	t.Parallel()
	c := three(t)
	for i := range 40 {
		c.register(c.up()[i%3], fmt.Sprint("class ", i))
	}
	c.settleDown()
	before := c.leader().State()
	for _, s := range c.up() {
		s.close()
	}
	alone := c.nodes[2]
	alone.open(nil)
	if got := alone.State(); len(got.Members) != 3 || got.Number(placement.Class, "class 38") == 0 {
		t.Errorf("a node alone knows %d members and %d numbers", len(got.Members), len(got.Numbers[placement.Class]))
	}
	c.nodes[1].open(nil)
	c.nodes[3].open(nil)
	c.settleDown()
	for _, s := range c.up() {
		if string(s.State().Encode()) != string(before.Encode()) {
			t.Errorf("node %d has another state than before", s.id.Node)
		}
	}
	if n := c.register(c.nodes[3], "one more"); n != 41 {
		t.Error("the next number is", n)
	}
}

// With the third node all stores get three replicas, by the plan; the cluster votes with one node, then with three; a node that is lost is
// removed, and its stores stay with the others.
func TestThePlanIsPerformed(t *testing.T) {
	t.Parallel()
	c := form(t)
	c.settle()
	c.join()
	c.settleDown()
	replicas := func(n int) func(*placement.State) bool {
		return func(s *placement.State) bool {
			for _, st := range s.Stores {
				if len(st.Replicas) != n {
					return false
				}
			}
			return true
		}
	}
	one := c.leader()
	c.until(one, "with two nodes, stores have one replica", replicas(1))
	c.untilVoters(1)
	third := c.join()
	for _, s := range c.up() {
		c.until(s, "with three nodes, stores have three replicas", replicas(3))
	}
	c.untilVoters(3)
	c.join()
	c.join()
	c.untilVoters(5)
	third.kill()
	c.hear(3, false)
	c.propose(c.up()[0], placement.Command{Remove: &placement.Remove{Node: 3, Lost: true}})
	c.untilVoters(3)
	c.until(c.leader(), "the others have the stores", replicas(3))
	for _, st := range c.leader().State().Stores {
		if slices.Contains(st.Replicas, event.NodeID(3)) {
			t.Error("a node that was removed keeps a store")
		}
	}
	leader := c.leader()
	c.propose(leader, placement.Command{Leave: &placement.Leave{Node: leader.id.Node}})
	for _, s := range c.up() {
		if s != leader {
			c.until(s, "a leader that leaves is removed when others have its stores", func(p *placement.State) bool {
				return p.Members[leader.id.Node].Membership == placement.Removed
			})
		}
	}
}

// One of three nodes has died, and of the two that are left one leaves: they stay a majority, and the one that leaves is removed when the operator has
// said that the other one is lost.
func TestANodeLeavesWhileAnotherOneIsDead(t *testing.T) {
	t.Parallel()
	c := three(t)
	c.settle()
	leader := c.leader()
	c.until(leader, "stores have three replicas", func(s *placement.State) bool {
		return !slices.ContainsFunc(s.Stores, func(st placement.Store) bool { return len(st.Replicas) != 3 })
	})
	others := slices.DeleteFunc(c.up(), func(s *server) bool { return s == leader })
	leaves, dead := others[0], others[1]
	dead.kill()
	c.hear(dead.id.Node, false)
	c.propose(leader, placement.Command{Leave: &placement.Leave{Node: leaves.id.Node}})
	c.untilVoters(1)
	c.register(leaves, "it has a part still")
	c.propose(leader, placement.Command{Remove: &placement.Remove{Node: dead.id.Node, Lost: true}})
	c.until(leader, "the node that leaves is removed", func(s *placement.State) bool {
		return s.Members[leaves.id.Node].Membership == placement.Removed
	})
	c.register(leader, "and the last one goes on")
}

// Two of five voters have died, and two leave that keep no store. They vote until the operator has said that one of the dead is lost.
func TestNodesThatLeaveVoteWhileTheyAreNeeded(t *testing.T) {
	t.Parallel()
	c := three(t)
	c.join()
	c.join()
	c.untilVoters(5)
	for leads := c.leader(); leads.id.Node != 1; leads = c.leader() {
		if err := leads.raft.LeadershipTransferToServer("1", "1").Error(); err != nil {
			t.Log(err)
		}
	}
	for n := event.NodeID(4); n <= 5; n++ {
		c.nodes[n].kill()
		c.hear(n, false)
	}
	for n := event.NodeID(2); n <= 3; n++ {
		c.propose(c.leader(), placement.Command{Leave: &placement.Leave{Node: n}})
	}
	c.settle()
	c.propose(c.leader(), placement.Command{Remove: &placement.Remove{Node: 4, Lost: true}})
	c.until(c.nodes[1], "those that leave are removed", func(s *placement.State) bool {
		return s.Members[2].Membership == placement.Removed && s.Members[3].Membership == placement.Removed
	})
	c.register(c.nodes[1], "the last one goes on")
}

// A voter that is silent is replaced by a node that is not.
func TestSilentVotersAreReplaced(t *testing.T) {
	t.Parallel()
	c := three(t)
	c.join()
	c.untilVoters(3)
	dead := c.nodes[1]
	dead.kill()
	c.hear(1, false)
	c.poll("another node votes", func() bool {
		v := c.leader().Voters()
		return len(v) == 3 && !slices.Contains(v, event.NodeID(1))
	})
	c.hear(1, true)
	dead.open(nil)
	c.register(dead, "x")
	c.untilVoters(3)
}

// Commands that are refused are told as such, at each node, and what has no leader as that.
func TestRefusalsAndUnknowns(t *testing.T) {
	t.Parallel()
	c := three(t)
	for _, s := range c.up() {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		_, err := s.Propose(ctx, placement.Command{Remove: &placement.Remove{Node: 77}})
		if refusal := (*placement.Refusal)(nil); !errors.As(err, &refusal) || refusal.Reason != "there is no node 77" {
			t.Errorf("node %d: %v", s.id.Node, err)
		}
		_, err = s.Propose(ctx, placement.Command{})
		if refusal := (*placement.Refusal)(nil); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "newer version") {
			t.Errorf("node %d: %v", s.id.Node, err)
		}
		cancel()
	}
	leader := c.leader()
	for _, s := range c.up() {
		if s != leader {
			s.kill()
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := leader.Propose(ctx, placement.Command{Policy: &placement.Policy{Text: "a"}})
	if unknown := (*UnknownError)(nil); !errors.As(err, &unknown) && !errors.Is(err, ErrNoLeader) {
		t.Error("without a majority:", err)
	}
	c.poll("a leader without a majority leads no more", func() bool { _, ok := leader.Leader(); return !ok })
	short, cancel2 := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel2()
	if _, err := leader.Propose(short, placement.Command{Policy: &placement.Policy{Text: "b"}}); !errors.Is(err, ErrNoLeader) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error("without a leader:", err)
	}
	if s, err := leader.Current(short); !errors.Is(err, ErrNoLeader) {
		t.Error("without a leader a state is current:", s, err)
	}
}

// Two nodes with one token: exactly one of them joins.
func TestOneTokenIsOneNode(t *testing.T) {
	t.Parallel()
	c := three(t)
	token := c.token(c.nodes[2])
	type answer struct {
		node event.NodeID
		err  error
	}
	answers := make(chan answer)
	for i, s := range c.up() {
		go func() {
			r, err := s.Propose(t.Context(), placement.Command{Join: &placement.Join{Token: token, Program: "bank", Name: fmt.Sprint("x", i), Address: "a", Key: placement.Fingerprint{byte(i + 1)}}})
			answers <- answer{r.Node, err}
		}()
	}
	joined := 0
	for range c.up() {
		a := <-answers
		if refusal := (*placement.Refusal)(nil); a.err == nil {
			joined++
		} else if !errors.As(a.err, &refusal) {
			t.Error(a.err)
		}
	}
	if joined != 1 {
		t.Errorf("%d nodes have joined with one token", joined)
	}
}

// A state that is current has all that was taken before, at whichever node it is asked.
func TestCurrentStates(t *testing.T) {
	t.Parallel()
	c := three(t)
	for i := range 30 {
		by, at := c.up()[i%3], c.up()[(i+1)%3]
		text := fmt.Sprint("class ", i)
		n := c.register(by, text)
		if by.State().Number(placement.Class, text) != n {
			t.Fatal("a command that was taken is not in the state of the node that has proposed it")
		}
		s, err := at.Current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.Number(placement.Class, text) != n {
			t.Fatalf("node %d does not know what node %d was answered", at.id.Node, by.id.Node)
		}
	}
}

// A state is current also where the node that is asked has what is committed, and has not applied it.
func TestCurrentStatesAwaitWhatIsCommitted(t *testing.T) {
	t.Parallel()
	c := three(t)
	for i := range 12 {
		leader := c.leader()
		at := c.up()[i%3]
		if at == leader {
			continue
		}
		text := fmt.Sprint("class ", i)
		type answer struct {
			state *placement.State
			err   error
		}
		current := make(chan answer, 1)
		n := func() uint32 {
			at.machine.mu.Lock()
			defer at.machine.mu.Unlock()
			at.raft.Snapshot() // what applies commands there waits for the machine, and then goes on with them
			n := c.register(leader, text)
			go func() {
				s, err := at.Current(t.Context())
				current <- answer{s, err}
			}()
			<-time.After(10 * time.Millisecond) // for the answer of the leader
			return n
		}()
		if a := <-current; a.err != nil || a.state.Number(placement.Class, text) != n {
			t.Fatalf("node %d does not know what node %d was answered (%v)", at.id.Node, leader.id.Node, a.err)
		}
	}
}

// A log that is long is replaced by snapshots, from which nodes that were down, and new ones, go on.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	c := three(t)
	down := c.nodes[3]
	down.close()
	for i := range 1000 {
		c.register(c.nodes[1], fmt.Sprint("class ", i))
	}
	for _, s := range c.up() {
		if err := s.raft.Snapshot().Error(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 1200 {
		c.register(c.nodes[1], fmt.Sprint("more ", i))
	}
	for _, s := range c.up() {
		if err := s.raft.Snapshot().Error(); err != nil {
			t.Fatal(err)
		}
		if first, _ := s.log.FirstIndex(); first < 500 {
			t.Errorf("the log of node %d begins with entry %d", s.id.Node, first)
		}
	}
	down.open(nil)
	c.join()
	same(t, c)
	for _, s := range c.up() {
		s.kill()
	}
	for _, n := range []event.NodeID{2, 3, 1, 4} {
		c.nodes[n].open(nil)
		if got := c.nodes[n].State().Number(placement.Class, "more 1000"); got == 0 {
			t.Errorf("node %d has lost what it had", n)
		}
	}
	same(t, c)
}
