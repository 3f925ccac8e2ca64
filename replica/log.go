package replica

import (
	"fmt"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/aeon-lang/aeon/internal/assert"
)

// LogReader reads what was written to the log of the node.
type LogReader interface {
	// Entries returns entries of a group from index from on, below to, in order: at least one, and more as long as they have at
	// most bytesMax bytes together. All of them are there.
	Entries(g Group, from, to, bytesMax uint64) ([]*raftpb.Entry, error)
}

// LogState is what the log of the node has of a group.
type LogState struct {
	Term, Vote, Commit uint64
	Cut                Position // the log begins behind it
	Last               Position // its last entry; Cut if it has none
	Coming             Position // of a state that was to replace the group's and its log; the zero Position: of none
	Other              bool     // it has another entry at the index of Coming
	// Past is where the longest log ended that the node had of the group, and removed when it left. The zero Position: it never left.
	Past Position
}

// replaced reports whether the state, which is durable up to applied, has replaced the one that the log is of: the process ended
// before it replaced the log, too. The log may be longer than the state, with entries of a former leader that are not committed. It is another one
// then at the state's end: an old state that has come so far by entries has the same entry there, as that is committed.
func (l *LogState) replaced(applied uint64) bool {
	return applied == l.Coming.Index && (applied > l.Last.Index || l.Other)
}

// Left reports whether the log has no more of the group than a vote: the node has no part in it, or has just begun.
func (l *LogState) Left() bool { return l.Cut.Index == 0 && l.Last.Index == 0 && l.Coming.Index == 0 }

// check refuses a log that does not fit a state which is durable up to applied.
func (l *LogState) check(applied uint64) error {
	switch {
	case l.replaced(applied):
	case applied < l.Cut.Index:
		return fmt.Errorf("the state is at %d, and the log begins behind %d: entries between them are lost", applied, l.Cut.Index)
	case applied > l.Last.Index:
		return fmt.Errorf("the state is at %d, and the log ends at %d: the log has lost what was committed", applied, l.Last.Index)
	case l.Last.Index < l.Cut.Index || l.Commit > l.Last.Index:
		return fmt.Errorf("the log begins behind %d, ends at %d, and is committed up to %d", l.Cut.Index, l.Last.Index, l.Commit)
	}
	return nil
}

// Start is where a group begins, as its state and its log have it.
type Start struct {
	Applied uint64            // up to where the state is
	Members *raftpb.ConfState // as of Applied
	Log     LogState
}

// groupLog is the log of one group, as far as it is written: raft.Storage.
type groupLog struct {
	group   Group
	reader  LogReader
	hard    *raftpb.HardState // at the start
	members *raftpb.ConfState // as of settled
	coming  []Members         // as of later entries, which hold already
	settled uint64            // up to where the state is, if it is opened again
	cut     Position
	last    Position // its last entry that is written, cut if it has none: more was not acknowledged. It may be gone from the disk while an append replaces it

	// recent are the newest entries.
	// Invariant: they are consecutive, and the last one is last; they may be none.
	recent    []*raftpb.Entry
	bytes     uint64 // of recent
	recentMax uint64
}

func newGroupLog(id Group, reader LogReader, s Start, recentMax uint64) *groupLog {
	l := &groupLog{group: id, reader: reader, members: s.Members, settled: s.Applied, cut: s.Log.Cut, last: s.Log.Last, recentMax: recentMax}
	l.hard = &raftpb.HardState{Term: new(s.Log.Term), Vote: new(s.Log.Vote), Commit: new(max(s.Log.Commit, s.Applied))}
	return l
}

// InitialState implements raft.Storage.
func (l *groupLog) InitialState() (*raftpb.HardState, *raftpb.ConfState, error) {
	return l.hard, proto.CloneOf(l.members), nil
}

// FirstIndex implements raft.Storage.
func (l *groupLog) FirstIndex() (uint64, error) { return l.cut.Index + 1, nil }

// LastIndex implements raft.Storage.
func (l *groupLog) LastIndex() (uint64, error) { return l.last.Index, nil }

// Term implements raft.Storage.
func (l *groupLog) Term(index uint64) (uint64, error) {
	switch {
	case index == l.cut.Index:
		return l.cut.Term, nil
	case index < l.cut.Index:
		return 0, raft.ErrCompacted
	case index > l.last.Index:
		return 0, raft.ErrUnavailable
	}
	list, err := l.Entries(index, index+1, 0)
	if err != nil {
		return 0, err
	}
	return list[0].GetTerm(), nil
}

// Entries implements raft.Storage.
func (l *groupLog) Entries(from, to, bytesMax uint64) ([]*raftpb.Entry, error) {
	switch {
	case from <= l.cut.Index:
		return nil, raft.ErrCompacted
	case to > l.last.Index+1:
		return nil, raft.ErrUnavailable
	}
	first := l.last.Index + 1 - uint64(len(l.recent)) // in memory
	if from >= first {
		return limited(l.recent[from-first:to-first], bytesMax), nil
	}
	list, err := l.reader.Entries(l.group, from, min(to, first), bytesMax)
	if err == nil {
		assert.That(len(list) > 0 && list[0].GetIndex() == from && list[len(list)-1].GetIndex() == from+uint64(len(list))-1,
			"replica: the log of group %d has given %d entries from %d on", l.group, len(list), from)
	}
	return list, err
}

// limited returns as many entries as have at most so many bytes, and at least one. Nothing is added to what list is a part of.
func limited(list []*raftpb.Entry, bytesMax uint64) []*raftpb.Entry {
	sum := uint64(0)
	for i, e := range list {
		if sum += uint64(proto.Size(e)); i > 0 && sum > bytesMax {
			return list[:i:i]
		}
	}
	return list[:len(list):len(list)]
}

// settle notes up to where the state is.
func (l *groupLog) settle(index uint64) {
	l.settled = index
	for len(l.coming) > 0 && l.coming[0].Index <= index {
		l.members, l.coming = l.coming[0].State, l.coming[1:]
	}
}

// Snapshot implements raft.Storage. While a change of members holds that the settled state does not have there is none to be sent: a node that was added
// by it would refuse a state in which it is no member. The driver settles the state soon.
func (l *groupLog) Snapshot() (*raftpb.Snapshot, error) {
	if len(l.coming) > 0 {
		return nil, raft.ErrSnapshotTemporarilyUnavailable
	}
	return l.describe()
}

// describe describes the state of this node as it is settled.
func (l *groupLog) describe() (*raftpb.Snapshot, error) {
	term, err := l.Term(l.settled)
	if err != nil {
		return nil, err
	}
	return &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{Index: new(l.settled), Term: new(term), ConfState: proto.CloneOf(l.members)}}, nil
}

// append notes entries that were written.
func (l *groupLog) append(list []*raftpb.Entry) {
	if len(list) == 0 {
		return
	}
	from := list[0].GetIndex()
	assert.That(from > l.cut.Index && from <= l.last.Index+1, "replica: the log of group %d is from %d to %d, and goes on at %d", l.group, l.cut.Index, l.last.Index, from)
	if first := l.last.Index + 1 - uint64(len(l.recent)); from > first {
		for _, e := range l.recent[from-first:] {
			l.bytes -= uint64(proto.Size(e))
		}
		l.recent = l.recent[: from-first : from-first] // raft may hold what it was given
	} else {
		l.recent, l.bytes = nil, 0
	}
	for _, e := range list {
		l.bytes += uint64(proto.Size(e))
	}
	l.recent = append(l.recent, list...)
	end := list[len(list)-1]
	l.last = Position{end.GetIndex(), end.GetTerm()}
	drop := 0
	for ; drop < len(l.recent) && l.bytes > l.recentMax; drop++ {
		l.bytes -= uint64(proto.Size(l.recent[drop]))
	}
	l.recent = l.recent[drop:]
}

// cutAt notes that the log begins behind p.
func (l *groupLog) cutAt(p Position) {
	assert.That(p.Index > l.cut.Index && p.Index <= l.last.Index, "replica: the log of group %d is from %d to %d, and is cut at %d", l.group, l.cut.Index, l.last.Index, p.Index)
	l.cut = p
	if first := l.last.Index + 1 - uint64(len(l.recent)); p.Index >= first {
		for _, e := range l.recent[:p.Index+1-first] {
			l.bytes -= uint64(proto.Size(e))
		}
		l.recent = l.recent[p.Index+1-first:]
	}
}

// restore notes that a state has replaced the log.
func (l *groupLog) restore(m *raftpb.SnapshotMetadata) {
	l.cut = Position{m.GetIndex(), m.GetTerm()}
	l.last, l.recent, l.bytes = l.cut, nil, 0
	if m.GetIndex() >= l.settled {
		l.settled, l.members, l.coming = m.GetIndex(), m.GetConfState(), nil
	}
}
