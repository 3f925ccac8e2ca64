package replica

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/store"
)

// NodeLog is the log of a node: that of all its groups, as rows of an engine of its own, whose journal is one. Write belongs to one
// goroutine; any may read.
//
//	GROUP 'c'        index and term behind which the log begins
//	GROUP 'e' INDEX  an entry
//	GROUP 'h'        term, vote, commit
//	GROUP 'n'        index and term of the state that was announced last
//	GROUP 'p'        index and term of the end of the longest log that was removed when the node left the group
//
// GROUP has 4 bytes and INDEX 8, big-endian.
type NodeLog struct {
	engine store.Engine
	last   map[Group]uint64 // of what Write has written
}

const (
	kindCut   = 'c'
	kindEntry = 'e'
	kindHard  = 'h'
	kindState = 'n'
	kindPast  = 'p'
)

func groupKey(g Group, kind byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 13), uint32(g)), kind)
}

func entryKey(g Group, index uint64) []byte {
	return binary.BigEndian.AppendUint64(groupKey(g, kindEntry), index)
}

// entriesEnd is behind all entries of a group.
func entriesEnd(g Group) []byte { return groupKey(g, kindEntry+1) }

// OpenLog reads what an engine has of each group. The engine stays open when the log is not used any more.
func OpenLog(e store.Engine) (*NodeLog, map[Group]LogState, error) {
	l := &NodeLog{engine: e, last: make(map[Group]uint64)}
	found := make(map[Group]LogState)
	for next := uint64(0); next <= 1<<32-1; {
		g, ok, err := l.groupFrom(Group(next))
		if err != nil || !ok {
			return l, found, err
		}
		s, err := l.read(g)
		if err != nil {
			return l, found, err
		}
		found[g], l.last[g] = s, s.Last.Index
		next = uint64(g) + 1
	}
	return l, found, nil
}

// groupFrom returns the first group from g on that has a row.
func (l *NodeLog) groupFrom(g Group) (_ Group, ok bool, err error) {
	it := l.engine.Scan(groupKey(g, 0), []byte{255, 255, 255, 255, 255})
	defer func() { err = closing(it, err) }()
	if !it.Next() {
		return 0, false, nil
	}
	if len(it.Key()) < 5 {
		return 0, false, &store.CorruptError{Key: it.Key(), Reason: "it is no row of a log"}
	}
	return Group(binary.BigEndian.Uint32(it.Key())), true, nil
}

func closing(it store.Iterator, err error) error {
	if closed := it.Close(); err == nil {
		err = closed
	}
	return err
}

// State returns what the log has of a group.
func (l *NodeLog) State(g Group) (LogState, error) { return l.read(g) }

// Leave removes what the log has of a group that the node has no part in any more, durably, but for the vote that it has given in its newest term, and
// where the log ended: if the node takes part again, a vote that is asked for by an old message must not be given twice, nor to a node that lacks what
// this one has acknowledged.
func (l *NodeLog) Leave(g Group) error {
	s, err := l.read(g)
	if err != nil {
		return err
	}
	b := l.engine.NewBatch()
	b.DeleteRange(groupKey(g, kindEntry), entriesEnd(g))
	b.Set(groupKey(g, kindHard), numbers(s.Term, s.Vote, 0))
	if s.Past.behind(s.Last) {
		b.Set(groupKey(g, kindPast), numbers(s.Last.Index, s.Last.Term))
	}
	b.Delete(groupKey(g, kindCut))
	b.Delete(groupKey(g, kindState))
	if err := l.engine.Apply(b); err != nil {
		return err
	}
	l.last[g] = 0
	return l.engine.Sync()
}

// read returns what the log has of a group, and checks that no entry is missing.
func (l *NodeLog) read(g Group) (s LogState, err error) {
	if err := l.numbers(groupKey(g, kindHard), &s.Term, &s.Vote, &s.Commit); err != nil {
		return s, err
	}
	if err := l.numbers(groupKey(g, kindCut), &s.Cut.Index, &s.Cut.Term); err != nil {
		return s, err
	}
	if err := l.numbers(groupKey(g, kindState), &s.Coming.Index, &s.Coming.Term); err != nil {
		return s, err
	}
	if err := l.numbers(groupKey(g, kindPast), &s.Past.Index, &s.Past.Term); err != nil {
		return s, err
	}
	s.Last = s.Cut
	it := l.engine.Scan(groupKey(g, kindEntry), entriesEnd(g))
	defer func() { err = closing(it, err) }()
	for it.Next() {
		e, err := readEntry(it)
		if err != nil {
			return s, err
		}
		if e.GetIndex() != s.Last.Index+1 || e.GetTerm() < s.Last.Term || e.GetTerm() > s.Term {
			return s, &store.CorruptError{Key: it.Key(), Reason: fmt.Sprintf("entry %d of term %d follows entry %d of term %d, and the group is in term %d",
				e.GetIndex(), e.GetTerm(), s.Last.Index, s.Last.Term, s.Term)}
		}
		s.Last = Position{e.GetIndex(), e.GetTerm()}
		s.Other = s.Other || s.Last.Index == s.Coming.Index && s.Last != s.Coming
	}
	return s, nil
}

// numbers reads the numbers of a row; 0 if there is no such row.
func (l *NodeLog) numbers(key []byte, to ...*uint64) error {
	b, found, err := l.engine.Get(key, nil)
	if err != nil || !found {
		return err
	}
	for _, n := range to {
		v, size := binary.Uvarint(b)
		if size <= 0 {
			return &store.CorruptError{Key: key, Reason: "a number is missing"}
		}
		*n, b = v, b[size:]
	}
	if len(b) > 0 {
		return &store.CorruptError{Key: key, Reason: "it has more than its numbers"}
	}
	return nil
}

func readEntry(it store.Iterator) (*raftpb.Entry, error) {
	e := new(raftpb.Entry)
	if err := proto.Unmarshal(it.Value(), e); err != nil {
		return nil, &store.CorruptError{Key: it.Key(), Reason: "it is no entry: " + err.Error()}
	}
	if len(it.Key()) != 13 || binary.BigEndian.Uint64(it.Key()[5:]) != e.GetIndex() {
		return nil, &store.CorruptError{Key: it.Key(), Reason: fmt.Sprintf("it has entry %d", e.GetIndex())}
	}
	return e, nil
}

// Entries implements LogReader.
func (l *NodeLog) Entries(g Group, from, to, bytesMax uint64) (list []*raftpb.Entry, err error) {
	it := l.engine.Scan(entryKey(g, from), entryKey(g, to))
	defer func() { err = closing(it, err) }()
	sum := uint64(0)
	for it.Next() {
		e, err := readEntry(it)
		if err != nil {
			return nil, err
		}
		if sum += uint64(proto.Size(e)); len(list) > 0 && sum > bytesMax {
			break
		}
		list = append(list, e)
	}
	if len(list) == 0 || list[0].GetIndex() != from {
		return nil, &store.CorruptError{Key: entryKey(g, from), Reason: "an entry is missing"}
	}
	return list, nil
}

// Announce notes, durably, that a state is about to replace that of a group and its log.
func (l *NodeLog) Announce(g Group, state Position) error {
	b := l.engine.NewBatch()
	b.Set(groupKey(g, kindState), numbers(state.Index, state.Term))
	if err := l.engine.Apply(b); err != nil {
		return err
	}
	return l.engine.Sync()
}

// Write writes an append; the caller syncs the engine if it says so.
func (l *NodeLog) Write(a *Append) error {
	b := l.engine.NewBatch()
	for i := range a.Records {
		l.put(b, &a.Records[i])
	}
	return l.engine.Apply(b)
}

func (l *NodeLog) put(b store.Batch, r *Record) {
	g := r.Group
	if s := r.State; s != nil {
		b.DeleteRange(groupKey(g, kindEntry), entriesEnd(g))
		b.Set(groupKey(g, kindCut), numbers(s.GetIndex(), s.GetTerm()))
		l.last[g] = s.GetIndex()
	}
	for i, e := range r.Entries {
		if i == 0 {
			if e.GetIndex() <= l.last[g] {
				b.DeleteRange(entryKey(g, e.GetIndex()), entriesEnd(g))
			}
			l.last[g] = e.GetIndex() - 1
		}
		assert.That(e.GetIndex() == l.last[g]+1, "replica: entry %d of group %d follows %d", e.GetIndex(), g, l.last[g])
		l.last[g]++
		v, err := proto.Marshal(e)
		assert.That(err == nil, "replica: entry %d of group %d cannot be written: %v", e.GetIndex(), g, err)
		b.Set(entryKey(g, e.GetIndex()), v)
	}
	b.Set(groupKey(g, kindHard), numbers(r.Term, r.Vote, r.Commit))
	if cut := r.Cut; cut.Index > 0 {
		b.DeleteRange(groupKey(g, kindEntry), entryKey(g, cut.Index+1))
		b.Set(groupKey(g, kindCut), numbers(cut.Index, cut.Term))
	}
}

func numbers(list ...uint64) (b []byte) {
	for _, n := range list {
		b = binary.AppendUvarint(b, n)
	}
	return b
}
