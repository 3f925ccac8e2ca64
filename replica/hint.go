package replica

import (
	"go.etcd.io/raft/v3/raftpb"
)

// A node that refuses its vote says up to where it knows entries to be committed (hint), and the one that has asked takes that over if it has the same
// entry there (takeHint). Else a group can be without a leader for ever: a node was removed, and knows it; the leader has died before the members that
// remain knew; by the members that they know of they need the vote of that node, which has more of the log and refuses it, and stands for no election
// itself. With the hint they know of its removal, and need it no more.
//
// What is said is true at any time, and two logs with the same entry at an index are the same up to there.

// hint adds to a message that refuses a vote.
func (g *group) hint(m *raftpb.Message) {
	if !refusesVote(m) {
		return
	}
	p := g.at(g.applying)
	m.Commit, m.LogTerm = new(p.Index), new(p.Term)
}

func refusesVote(m *raftpb.Message) bool {
	return m.GetReject() && (m.GetType() == raftpb.MsgPreVoteResp || m.GetType() == raftpb.MsgVoteResp)
}

// takeHint takes from a message that refuses a vote what is committed. Package raft takes that from a leader alone: here from none.
func (c *Core) takeHint(g *group, m *raftpb.Message) {
	if !refusesVote(m) {
		return
	}
	p := Position{m.GetCommit(), m.GetLogTerm()}
	if p.Index <= g.commit || p.Index <= g.log.cut.Index || p.Index > g.log.last.Index || g.at(p.Index) != p || g.leads(c) {
		return
	}
	s := g.raft.BasicStatus()
	_ = g.raft.Step(&raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), To: new(s.ID), Term: new(s.GetTerm()), Commit: new(p.Index)})
}
