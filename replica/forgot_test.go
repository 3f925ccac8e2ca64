package replica

import (
	"math/rand/v2"
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// A node that has left a group with a log, and takes part in it again, votes for a node that has as much as it had, and for no other. It stands for no
// election, also when it is asked to, and a message from before it has left does no harm. That ends when its log is as long again.
func TestANodeThatTakesPartAgain(t *testing.T) {
	log, _, err := OpenLog(memengine.New())
	if err != nil {
		t.Fatal(err)
	}
	begun := Position{1, 1}
	r := Record{Group: 1, Term: 4, Commit: 1, State: &raftpb.SnapshotMetadata{Index: new(begun.Index), Term: new(begun.Term)}}
	for i := uint64(2); i <= 9; i++ {
		r.Entries = append(r.Entries, &raftpb.Entry{Index: new(i), Term: new(uint64(4)), Data: []byte("x")})
	}
	if err := log.Write(&Append{Records: []Record{r}}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is no log
		if err := log.Leave(1); err != nil {
			t.Fatal(err)
		}
	}
	s, err := log.State(1)
	if want := (LogState{Term: 4, Past: Position{9, 4}}); err != nil || s != want {
		t.Fatalf("the log of a group that was left has %+v (%v), expected %+v", s, err, want)
	}
	c := New(Config{Node: 1, Log: log, Rand: rand.New(rand.NewPCG(1, 1)), Heartbeat: 2, Election: 10, Stall: 1000, UncommittedMax: 300})
	if err := c.Add(1, Start{Members: Voters(), Log: s}); err != nil {
		t.Fatal(err)
	}
	// sent performs what is to be done, and returns the kinds of messages that are sent.
	sent := func() (kinds []raftpb.MessageType) {
		for {
			e := c.Effects()
			for _, m := range e.Send {
				kinds = append(kinds, m.Raft.GetType())
			}
			for i := range e.Apply {
				c.Applied(&e.Apply[i])
			}
			if e.Append == nil {
				return kinds
			}
			if err := log.Write(e.Append); err != nil {
				t.Fatal(err)
			}
			c.Appended(e.Append)
		}
	}
	step := func(kind raftpb.MessageType, from, term uint64, at Position) []raftpb.MessageType {
		c.Step(Message{1, &raftpb.Message{Type: kind.Enum(), From: new(from), To: new(uint64(1)), Term: new(term), LogTerm: new(at.Term), Index: new(at.Index), Commit: new(uint64(9))}})
		return sent()
	}
	elections := func() (kinds []raftpb.MessageType) {
		for range 40 {
			c.Tick()
			kinds = append(kinds, sent()...)
		}
		return kinds
	}
	for _, short := range []Position{{8, 4}, {20, 3}, {}} {
		for _, kind := range []raftpb.MessageType{raftpb.MsgPreVote, raftpb.MsgVote} {
			if got := step(kind, 2, 5, short); len(got) > 0 || c.Leader(1).Term > 4 {
				t.Errorf("asked by %v of a node whose log ends at %v, it answers %v", kind, short, got)
			}
		}
	}
	if got := step(raftpb.MsgHeartbeat, 2, 4, Position{}); len(got) != 1 || got[0] != raftpb.MsgHeartbeatResp {
		t.Errorf("a heartbeat from before it has left is answered by %v", got)
	}
	if got := elections(); len(got) > 0 {
		t.Errorf("without a log it stands for election: %v", got)
	}
	if got := step(raftpb.MsgVote, 3, 6, Position{9, 4}); len(got) != 1 || got[0] != raftpb.MsgVoteResp {
		t.Errorf("asked by a node whose log is as long as its own was, it answers %v", got)
	}
	state := &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{Index: new(uint64(7)), Term: new(uint64(4)), ConfState: Voters(1, 2, 3)}}
	put := func() {
		c.Step(Message{1, &raftpb.Message{Type: raftpb.MsgSnap.Enum(), From: new(uint64(3)), To: new(uint64(1)), Term: new(uint64(6)), Snapshot: state}})
	}
	put()
	sent()
	c.Step(Message{1, &raftpb.Message{Type: raftpb.MsgApp.Enum(), From: new(uint64(3)), To: new(uint64(1)), Term: new(uint64(6)), LogTerm: new(uint64(4)), Index: new(uint64(7)), Commit: new(uint64(7)),
		Entries: []*raftpb.Entry{{Index: new(uint64(8)), Term: new(uint64(4)), Data: []byte("x")}}}})
	sent()
	if got := append(step(raftpb.MsgTimeoutNow, 3, 6, Position{}), elections()...); len(got) > 0 {
		t.Errorf("with less than it had it stands for election: %v", got)
	}
	// A node that has just started has read nothing of its log. A message comes when the log is replaced on the disk, and that is not durable.
	if s, err = log.State(1); err != nil || s.Last != (Position{8, 4}) || s.Past != (Position{9, 4}) {
		t.Fatalf("the log has %+v (%v)", s, err)
	}
	c = New(c.cfg)
	if err := c.Add(1, Start{Applied: 7, Members: Voters(1, 2, 3), Log: s}); err != nil {
		t.Fatal(err)
	}
	state.Metadata.Index, state.Metadata.Term = new(uint64(9)), new(uint64(6))
	put()
	a := c.Effects().Append
	if err := log.Write(a); err != nil {
		t.Fatal(err)
	}
	step(raftpb.MsgHeartbeat, 3, 6, Position{})
	c.Appended(a)
	sent()
	if got := elections(); len(got) == 0 {
		t.Error("with as much as it had it stands for no election")
	}
}
