package replica

import (
	"errors"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

// leaving is the nodes that were removed from a group, and have to stay for a while. Raft has a change of members hold when a node knows that it is
// committed, and up to where entries are committed is written with what comes later. So after a crash the members that remain may know of the change as
// of an entry like any other, need votes of nodes that were removed, and find them gone: two of three that are left, or one of two. An entry that is
// proposed behind the change, and is committed by the members that remain, brings a majority of them the news: it is in the same record.
type leaving struct {
	nodes []uint64
	asked bool   // an entry was proposed, and its index is not known yet
	index uint64 // of the entry; 0: it was not proposed, or that is not known
}

// left notes the nodes that a change, which holds from now on, has removed.
func (g *group) left(change raftpb.ConfChangeI) {
	for _, single := range change.AsV2().GetChanges() {
		n := single.GetNodeId()
		switch single.GetType() {
		case raftpb.ConfChangeRemoveNode:
			if !slices.Contains(g.leaving.nodes, n) {
				g.leaving.nodes = append(g.leaving.nodes, n)
			}
			g.leaving.asked, g.leaving.index = false, 0 // the entry has to come behind this change
		case raftpb.ConfChangeAddNode, raftpb.ConfChangeAddLearnerNode:
			g.leaving.nodes = slices.DeleteFunc(g.leaving.nodes, func(o uint64) bool { return o == n })
		}
	}
}

// confirmLeft proposes the entry, unless that was done.
func (c *Core) confirmLeft(g *group) error {
	l := &g.leaving
	if l.asked || l.index != 0 {
		return nil
	}
	l.asked = true
	err := g.raft.Propose(nil)
	c.work(g)
	if errors.Is(err, raft.ErrProposalDropped) {
		l.asked = false
		return ErrNotLeading
	}
	return err
}

// proposed looks for the entry among those that are to be written.
func (l *leaving) proposed(entries []*raftpb.Entry) {
	if !l.asked {
		return
	}
	for _, e := range entries {
		if e.GetType() == raftpb.EntryNormal && len(e.GetData()) == 0 {
			l.asked, l.index = false, e.GetIndex()
		}
	}
}

// committed notes that an entry is committed.
func (l *leaving) committed(index uint64) {
	if l.index != 0 && index >= l.index {
		*l = leaving{}
	}
}
