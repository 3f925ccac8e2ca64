package replica

import (
	"slices"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/aeon-lang/aeon/runtime/event"
)

// A node that was removed from a group, and refuses its vote, says up to where it knows entries to be committed (hint), and the one that has asked takes
// that over if it has the same entry there (takeHint). Else a group can be without a leader for ever: the leader has died before the members that remain
// knew of the removal; by the members that they know of they need the vote of the removed node, which has more of the log and refuses it, and stands for no
// election itself. With the hint they know of the removal, and need its vote no more.
//
// What is said is true at any time, and two logs with the same entry at an index are the same up to there.

// hint adds to a message that refuses a vote.
func (c *Core) hint(g *group, m *raftpb.Message) {
	if !refusesVote(m) || g.log.votes(c.cfg.Node) {
		return
	}
	p := g.at(g.applying)
	m.Commit, m.LogTerm = new(p.Index), new(p.Term)
}

// votes reports whether a node votes by the newest members that hold.
func (l *groupLog) votes(n event.NodeID) bool {
	s := l.members
	if len(l.coming) > 0 {
		s = l.coming[len(l.coming)-1].State
	}
	return slices.Contains(s.GetVoters(), uint64(n)) || slices.Contains(s.GetVotersOutgoing(), uint64(n))
}

func refusesVote(m *raftpb.Message) bool {
	return m.GetReject() && (m.GetType() == raftpb.MsgPreVoteResp || m.GetType() == raftpb.MsgVoteResp)
}

// takeHint takes from a message that refuses a vote what is committed. Package raft takes that from a leader alone: here from none, as there is none, as an
// empty message with entries. It looks in its whole log for the entry then, also in what is not written yet, and changes nothing if it has another one.
func (c *Core) takeHint(g *group, m *raftpb.Message) {
	if !refusesVote(m) || m.GetCommit() <= g.commit {
		return
	}
	s := g.raft.BasicStatus()
	if s.Lead != 0 {
		return
	}
	_ = g.raft.Step(&raftpb.Message{Type: raftpb.MsgApp.Enum(), To: new(s.ID), Term: new(s.GetTerm()), Index: m.Commit, LogTerm: m.LogTerm, Commit: m.Commit})
}
