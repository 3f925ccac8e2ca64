package replica

import (
	"math/rand/v2"
	"slices"
	"testing"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// Node 4 was removed by entry 3, and knows it. The leader, node 3, has died before the others knew: by the members that they know of they need the vote of
// node 4, which has more of the log than they have. One of them leads nevertheless, and what node 4 alone has is not committed.
func TestARemovedVoterTellsOfItsRemoval(t *testing.T) {
	remove, err := proto.Marshal(&raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{{Type: raftpb.ConfChangeRemoveNode.Enum(), NodeId: new(uint64(4))}}})
	if err != nil {
		t.Fatal(err)
	}
	change := &raftpb.Entry{Index: new(uint64(3)), Term: new(uint64(2)), Type: raftpb.EntryConfChangeV2.Enum(), Data: remove}
	logs, cores := make(map[event.NodeID]*NodeLog), make(map[event.NodeID]*Core)
	for id, has := range map[event.NodeID]struct{ last, commit uint64 }{1: {4, 2}, 2: {3, 2}, 4: {6, 3}} {
		log, _, err := OpenLog(memengine.New())
		if err != nil {
			t.Fatal(err)
		}
		r := Record{Group: 1, Term: 2, Commit: has.commit, State: &raftpb.SnapshotMetadata{Index: new(uint64(1)), Term: new(uint64(1))}}
		for i := uint64(2); i <= has.last; i++ {
			e := entryOf(i, 2, "x")
			if i == 3 {
				e = change
			}
			r.Entries = append(r.Entries, e)
		}
		if err := log.Write(&Append{Records: []Record{r}}); err != nil {
			t.Fatal(err)
		}
		s, err := log.State(1)
		if err != nil {
			t.Fatal(err)
		}
		c := New(Config{Node: id, Log: log, Rand: rand.New(rand.NewPCG(1, uint64(id))), Heartbeat: 2, Election: 10, Stall: 100, UncommittedMax: 300})
		if err := c.Add(1, Start{Applied: 1, Members: Voters(1, 2, 3, 4), Log: s}); err != nil {
			t.Fatal(err)
		}
		logs[id], cores[id] = log, c
	}
	perform := func(id event.NodeID) (sent []Message) {
		c := cores[id]
		for e := c.Effects(); e.Append != nil || len(e.Send) > 0 || len(e.Apply) > 0; e = c.Effects() {
			sent = append(sent, e.Send...)
			for i := range e.Apply {
				for _, entry := range e.Apply[i].Entries {
					if entry.GetIndex() > 4 && entry.GetTerm() == 2 {
						t.Errorf("node %d takes entry %d, which node 4 alone has", id, entry.GetIndex())
					}
				}
				c.Applied(&e.Apply[i])
			}
			if e.Append != nil {
				if err := logs[id].Write(e.Append); err != nil {
					t.Fatal(err)
				}
				c.Appended(e.Append)
			}
		}
		return sent
	}
	for range 200 {
		var under []Message
		for _, id := range []event.NodeID{1, 2, 4} {
			cores[id].Tick()
			under = append(under, perform(id)...)
		}
		for len(under) > 0 {
			m := under[0]
			under = under[1:]
			if c := cores[m.To()]; c != nil {
				c.Step(m)
				under = append(under, perform(m.To())...)
			}
		}
	}
	leader := cores[1].Leader(1).Leader
	if leader != 1 && leader != 2 {
		t.Fatalf("node %d leads", leader)
	}
	list, _ := cores[leader].Progress(1)
	if slices.ContainsFunc(list, func(p Progress) bool { return p.Node == 4 && p.Votes }) {
		t.Errorf("node 4 votes: %+v", list)
	}
}

// follower returns the core of node 1 of three in a term, and its log: entries 2 to 4 of term 2, of which none is known to be committed.
func follower(t *testing.T, term uint64) (*Core, *NodeLog) {
	t.Helper()
	log, _, err := OpenLog(memengine.New())
	if err != nil {
		t.Fatal(err)
	}
	r := Record{Group: 1, Term: term, Commit: 1, State: &raftpb.SnapshotMetadata{Index: new(uint64(1)), Term: new(uint64(1))}}
	for i := uint64(2); i <= 4; i++ {
		r.Entries = append(r.Entries, entryOf(i, 2, "former"))
	}
	if err := log.Write(&Append{Records: []Record{r}}); err != nil {
		t.Fatal(err)
	}
	s, err := log.State(1)
	if err != nil {
		t.Fatal(err)
	}
	c := New(Config{Node: 1, Log: log, Rand: rand.New(rand.NewPCG(1, 1)), Heartbeat: 2, Election: 10, Stall: 100, UncommittedMax: 300})
	if err := c.Add(1, Start{Applied: 1, Members: Voters(1, 2, 3), Log: s}); err != nil {
		t.Fatal(err)
	}
	return c, log
}

// A node takes nothing for committed that it has otherwise, or does not have.
func TestAHintOfAnotherLogIsNotTaken(t *testing.T) {
	for hint, taken := range map[Position]bool{{3, 2}: true, {3, 3}: false, {3, 1}: false, {2, 2}: true, {5, 2}: false} {
		c, _ := follower(t, 3)
		c.Step(Message{1, &raftpb.Message{Type: raftpb.MsgPreVoteResp.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(uint64(3)), Reject: new(true),
			Commit: new(hint.Index), LogTerm: new(hint.Term)}})
		applied := uint64(1)
		for _, a := range c.Effects().Apply {
			applied = a.Last()
		}
		if want := hint.Index; taken && applied != want || !taken && applied != 1 {
			t.Errorf("told of %v, the node takes entries up to %d", hint, applied)
		}
	}
}

// A node whose log is being replaced from an entry on takes nothing for committed that was there before.
func TestAHintWhileTheLogIsReplaced(t *testing.T) {
	c, log := follower(t, 2)
	c.Step(Message{1, &raftpb.Message{Type: raftpb.MsgApp.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(uint64(3)), Index: new(uint64(2)), LogTerm: new(uint64(2)), Commit: new(uint64(1)),
		Entries: []*raftpb.Entry{entryOf(3, 3, "new")}}})
	e := c.Effects()
	if e.Append == nil {
		t.Fatal("nothing is to be written")
	}
	for range 40 { // the disk is slow, and nothing is heard of the leader
		c.Tick()
	}
	term := c.Leader(1).Term
	for _, p := range []Position{{4, 2}, {3, 2}, {4, 3}} {
		c.Step(Message{1, &raftpb.Message{Type: raftpb.MsgPreVoteResp.Enum(), From: new(uint64(3)), To: new(uint64(1)), Term: new(term), Reject: new(true), Commit: new(p.Index), LogTerm: new(p.Term)}})
		if a := c.Effects().Apply; len(a) > 0 {
			t.Errorf("told of %v, the node takes entries up to %d", p, a[len(a)-1].Last())
		}
	}
	if err := log.Write(e.Append); err != nil {
		t.Fatal(err)
	}
	c.Appended(e.Append)
	for _, a := range c.Effects().Apply {
		t.Errorf("the node takes entries up to %d", a.Last())
	}
}

// After a pause a leader counts on no member until that has answered anew: neither on what it has heard before, nor on what has waited meanwhile.
func TestAnswersFromBeforeAPauseDoNotCount(t *testing.T) {
	c := newCluster(1)
	c.steady = true
	c.run(5000)
	n := c.leader()
	if n == nil {
		t.Fatal("group 1 has no leader")
	}
	active := func() (count int) {
		list, _ := n.core.Progress(1)
		for _, p := range list {
			if p.Active && p.Node != n.id {
				count++
			}
		}
		return count
	}
	if active() != 2 {
		t.Fatal("no members answer")
	}
	for m := event.NodeID(1); m <= simNodes; m++ {
		c.cut[[2]event.NodeID{m, n.id}] = true
	}
	n.core.Paused()
	if active() > 0 {
		t.Error("a member counts that has answered before a pause")
	}
	for m := uint64(1); m <= simNodes; m++ {
		n.core.Step(Message{1, &raftpb.Message{Type: raftpb.MsgHeartbeatResp.Enum(), From: new(m), To: new(uint64(n.id)), Term: new(n.core.Leader(1).Term)}})
	}
	if active() > 0 {
		t.Error("a member counts of which something has waited for the end of a pause")
	}
	clear(c.cut)
	c.run(c.now + 10*tick)
	if active() != 2 || c.bad != "" {
		t.Errorf("members that answer again do not count; %s", c.bad)
	}
}
