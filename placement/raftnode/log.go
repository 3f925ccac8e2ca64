package raftnode

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// log is the log of the placement on this node, and what raft keeps beside it, as rows of an engine of its own. It implements
// raft.LogStore and raft.StableStore. Any goroutine may use it.
//
//	'c'        the last command that was applied when the last entries were written: up to it, entries are committed
//	'e' INDEX  an entry; INDEX has 8 bytes, big-endian
//	'n'        cluster and node, JSON
//	's' NAME   term and vote, under raft's names
//
// What fails is final: the engine may have lost what it was given, so the process has to end.
type log struct {
	engine   store.Engine
	deadline deadline
	applied  func() uint64 // the last command that was applied

	mu struct {
		sync.Mutex
		first, last uint64 // of the entries; 0: there is none
	}
}

var (
	commitKey = []byte{'c'}
	ownerKey  = []byte{'n'}
)

const (
	entryKind  = 'e'
	stableKind = 's'
)

func entryKey(index uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{entryKind}, index)
}

func stableKey(name []byte) []byte { return append([]byte{stableKind}, name...) }

// owner says whose log it is.
type owner struct {
	Cluster string       `json:"cluster"`
	Node    event.NodeID `json:"node"`
}

// openLog opens the log of a node. That of a node that never had one begins with first, if that is not nil, in one step with the note of whose
// it is: so a crash leaves no log that has half begun.
func openLog(engine store.Engine, id *identity.Identity, d deadline, applied func() uint64, first func() ([]*raft.Log, error)) (*log, error) {
	l := &log{engine: engine, deadline: d, applied: applied}
	begun, err := Begun(engine, id)
	if err == nil && !begun {
		err = l.begin(id, first)
	}
	if err != nil {
		return nil, err
	}
	return l, l.measure()
}

// Begun reports whether an engine has the log of a node. If so the identity notes it: a start that ended right behind the first batch has not.
func Begun(engine store.Engine, id *identity.Identity) (bool, error) {
	b, found, err := engine.Get(ownerKey, nil)
	if err != nil || !found {
		return false, err
	}
	var of owner
	if err := json.Unmarshal(b, &of); err != nil {
		return false, &store.CorruptError{Key: ownerKey, Reason: err.Error()}
	}
	if of.Cluster != id.Cluster || of.Node != id.Node {
		return false, fmt.Errorf("the log of the placement is that of node %d of cluster %s, and this is node %d of cluster %s", of.Node, of.Cluster, id.Node, id.Cluster)
	}
	return true, id.Begun()
}

// firstTerm is that of the entries with which a log begins.
const firstTerm = 1

// begin makes an empty log that of a node.
func (l *log) begin(id *identity.Identity, first func() ([]*raft.Log, error)) error {
	it := l.engine.Scan(nil, []byte{255})
	rows := it.Next()
	if err := it.Close(); err != nil {
		return err
	}
	if rows {
		return &store.CorruptError{Key: ownerKey, Reason: "it is missing, and other rows are there"}
	}
	fresh, _, err := id.Fresh()
	if err != nil {
		return err
	}
	if !fresh {
		return fmt.Errorf("the log of the placement is empty, and node %d had one: it was lost, with the votes that the node gave; remove the node from its cluster, and join as a new one with an empty directory", id.Node)
	}
	text, err := json.Marshal(owner{id.Cluster, id.Node})
	if err != nil {
		return err
	}
	batch := l.engine.NewBatch()
	batch.Set(ownerKey, text)
	if first != nil {
		entries, err := first()
		if err != nil {
			return err
		}
		for _, e := range entries {
			batch.Set(entryKey(e.Index), encodeEntry(e))
		}
		// The only voter has them, so they are committed. Without that a start behind a crash knows no stores until raft has elected a leader.
		batch.Set(commitKey, binary.AppendUvarint(nil, entries[len(entries)-1].Index))
		batch.Set(stableKey([]byte("CurrentTerm")), binary.BigEndian.AppendUint64(nil, firstTerm)) // as BootstrapCluster does
	}
	if err := l.write("begun", batch); err != nil {
		return err
	}
	return id.Begun()
}

// measure finds the first entry and the last.
func (l *log) measure() error {
	from, to := entryKey(0), []byte{entryKind + 1}
	end := func(next func(store.Iterator) bool, into *uint64) error {
		it := l.engine.Scan(from, to)
		if next(it) {
			*into = binary.BigEndian.Uint64(it.Key()[1:])
		}
		return it.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := end(store.Iterator.Next, &l.mu.first); err != nil {
		return err
	}
	return end(store.Iterator.Prev, &l.mu.last)
}

// write makes a batch durable.
func (l *log) write(what string, b store.Batch) error {
	defer l.deadline.during(what)()
	err := l.engine.Apply(b)
	if err == nil {
		err = l.engine.Sync()
	}
	if err != nil {
		err = fmt.Errorf("the log of the placement cannot be %s: %w", what, err)
		l.deadline.fatal(err)
	}
	return err
}

// get reads a row.
func (l *log) get(key []byte) ([]byte, bool, error) {
	defer l.deadline.during("read")()
	b, found, err := l.engine.Get(key, nil)
	if err != nil {
		l.deadline.fatal(fmt.Errorf("the log of the placement cannot be read: %w", err))
	}
	return b, found, err
}

// FirstIndex implements raft.LogStore.
func (l *log) FirstIndex() (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.first, nil
}

// LastIndex implements raft.LogStore.
func (l *log) LastIndex() (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.last, nil
}

// IsMonotonic implements raft.MonotonicLogStore: entries have no gap between them.
func (l *log) IsMonotonic() bool { return true }

// GetLog implements raft.LogStore.
func (l *log) GetLog(index uint64, to *raft.Log) error {
	b, found, err := l.get(entryKey(index))
	if err != nil {
		return err
	}
	if !found {
		return raft.ErrLogNotFound
	}
	*to, err = decodeEntry(entryKey(index), b, index)
	return err
}

// StoreLog implements raft.LogStore.
func (l *log) StoreLog(entry *raft.Log) error { return l.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore.
func (l *log) StoreLogs(entries []*raft.Log) error {
	l.mu.Lock()
	first, last := l.mu.first, l.mu.last
	l.mu.Unlock()
	batch := l.engine.NewBatch()
	for _, e := range entries {
		if last != 0 && e.Index != last+1 {
			batch.Discard()
			return fmt.Errorf("entry %d cannot follow entry %d", e.Index, last)
		}
		if first == 0 {
			first = e.Index
		}
		last = e.Index
		batch.Set(entryKey(e.Index), encodeEntry(e))
	}
	batch.Set(commitKey, binary.AppendUvarint(nil, l.applied()))
	if err := l.write("written", batch); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.first, l.mu.last = first, last
	return nil
}

// DeleteRange implements raft.LogStore. Raft deletes entries at the beginning, at the end, or all.
func (l *log) DeleteRange(from, to uint64) error {
	batch := l.engine.NewBatch()
	batch.DeleteRange(entryKey(from), entryKey(to+1))
	if err := l.write("cut", batch); err != nil {
		return err
	}
	return l.remeasure()
}

func (l *log) remeasure() error {
	defer l.deadline.during("read")()
	l.mu.Lock()
	l.mu.first, l.mu.last = 0, 0
	l.mu.Unlock()
	return l.measure()
}

// noteApplied writes what was applied, if no entries do.
func (l *log) noteApplied() error {
	batch := l.engine.NewBatch()
	batch.Set(commitKey, binary.AppendUvarint(nil, l.applied()))
	return l.write("written", batch)
}

// committed returns up to where entries are committed, as far as is known.
func (l *log) committed() (uint64, error) {
	b, found, err := l.get(commitKey)
	if err != nil || !found {
		return 0, err
	}
	commit, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, &store.CorruptError{Key: commitKey, Reason: "it is no number"}
	}
	return commit, nil
}

// Set implements raft.StableStore.
func (l *log) Set(key, value []byte) error {
	batch := l.engine.NewBatch()
	batch.Set(stableKey(key), value)
	return l.write("written", batch)
}

// Get implements raft.StableStore.
func (l *log) Get(key []byte) ([]byte, error) {
	b, _, err := l.get(stableKey(key))
	return b, err
}

// SetUint64 implements raft.StableStore.
func (l *log) SetUint64(key []byte, value uint64) error {
	return l.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

// GetUint64 implements raft.StableStore.
func (l *log) GetUint64(key []byte) (uint64, error) {
	b, err := l.Get(key)
	if err != nil || len(b) == 0 {
		return 0, err
	}
	if len(b) != 8 {
		return 0, &store.CorruptError{Key: stableKey(key), Reason: "it is no number"}
	}
	return binary.BigEndian.Uint64(b), nil
}
