package replica

import "go.etcd.io/raft/v3/raftpb"

// forgot reports whether the node has had more of the log than it has now: it left the group with it, and takes part again. What it has acknowledged
// may be committed by that, and a node that was cut off meanwhile may still count on a vote of this one and lack it. So until the log is as long
// again this node stands for no election, and votes only for a node that has as much as this one had.
func (g *group) forgot() bool {
	if g.past != (Position{}) && !g.log.last.behind(g.past) {
		g.past = Position{}
	}
	return g.past != (Position{})
}

// mayTake reports whether a node that forgot may take a message, which is changed if it speaks of what the node had.
func (g *group) mayTake(m *raftpb.Message) bool {
	switch m.GetType() {
	case raftpb.MsgVote, raftpb.MsgPreVote:
		return !Position{m.GetIndex(), m.GetLogTerm()}.behind(g.past)
	case raftpb.MsgTimeoutNow:
		return false
	case raftpb.MsgHeartbeat: // one that was long under way may be from before the node has left
		m.Commit = new(min(m.GetCommit(), g.log.last.Index))
	}
	return true
}
