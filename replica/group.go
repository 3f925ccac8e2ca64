package replica

import "go.etcd.io/raft/v3/raftpb"

// Group names a raft group: the store whose journal it is.
type Group uint32

// Members are those of a group as of an entry.
type Members struct {
	Index uint64
	State *raftpb.ConfState
}

// Record is a change of the log of one group. Its parts are written in their order, and all records of an Append at once: after a
// crash all or nothing of it is there.
type Record struct {
	Group Group
	// State describes the one that replaces that of the group: one for which Core.Step has reported true. There may be several
	// under way. The driver announces it in the log of the node (NodeLog.Announce), replaces the state, and then writes the
	// record, by which the log is empty and begins behind it; each of these steps is durable before the next. nil: none.
	State *raftpb.SnapshotMetadata
	// Entries replace those in the log that have their indexes, or higher ones.
	Entries []*raftpb.Entry
	// Term and Vote are of the newest election; Commit is the index up to which entries are known to be committed.
	Term, Vote, Commit uint64
	// Cut is the entry behind which the log begins; the zero position: where it does.
	Cut Position
}

// StateAt returns the entry up to which State is; the zero position if there is none.
func (r *Record) StateAt() Position { return Position{r.State.GetIndex(), r.State.GetTerm()} }

// Position is an entry of a log.
type Position struct{ Index, Term uint64 }

// behind reports whether a log that ends with p lacks something that one which ends with o may have: what elections go by.
func (p Position) behind(o Position) bool {
	return p.Term < o.Term || p.Term == o.Term && p.Index < o.Index
}
