package raftnode

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/runtime/store"
)

// log implements raft.LogStore and raft.StableStore on an engine. The rows are
//
//	l INDEX  an entry (gob)      s KEY  a value
//
// INDEX has 8 bytes, big-endian. Each write is durable when it returns. One that takes longer than the deadline ends the process by hung: raft
// leads on while its disk hangs (hashicorp/raft issues 503 and 614), and nothing would change any more.
type log struct {
	engine   store.Engine
	deadline time.Duration
	hung     func(error)
}

func entryKey(index uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'l'}, index) }

func stableKey(key []byte) []byte { return append([]byte{'s'}, key...) }

// FirstIndex implements raft.LogStore.
func (l *log) FirstIndex() (uint64, error) { return l.end(store.Iterator.Next) }

// LastIndex implements raft.LogStore.
func (l *log) LastIndex() (uint64, error) { return l.end(store.Iterator.Prev) }

func (l *log) end(step func(store.Iterator) bool) (index uint64, err error) {
	it := l.engine.Scan([]byte{'l'}, []byte{'l' + 1})
	if step(it) && len(it.Key()) == 9 {
		index = binary.BigEndian.Uint64(it.Key()[1:])
	}
	return index, it.Close()
}

// GetLog implements raft.LogStore.
func (l *log) GetLog(index uint64, to *raft.Log) error {
	b, found, err := l.engine.Get(entryKey(index), nil)
	if err != nil {
		return err
	}
	if !found {
		return raft.ErrLogNotFound
	}
	return gob.NewDecoder(bytes.NewReader(b)).Decode(to)
}

// StoreLog implements raft.LogStore.
func (l *log) StoreLog(e *raft.Log) error { return l.StoreLogs([]*raft.Log{e}) }

// StoreLogs implements raft.LogStore.
func (l *log) StoreLogs(list []*raft.Log) error {
	b := l.engine.NewBatch()
	for _, e := range list {
		var row bytes.Buffer
		if err := gob.NewEncoder(&row).Encode(e); err != nil {
			return err
		}
		b.Set(entryKey(e.Index), row.Bytes())
	}
	return l.write(b)
}

// DeleteRange implements raft.LogStore.
func (l *log) DeleteRange(first, last uint64) error {
	b := l.engine.NewBatch()
	b.DeleteRange(entryKey(first), entryKey(last+1))
	return l.write(b)
}

// Set implements raft.StableStore.
func (l *log) Set(key, value []byte) error {
	b := l.engine.NewBatch()
	b.Set(stableKey(key), value)
	return l.write(b)
}

// Get implements raft.StableStore.
func (l *log) Get(key []byte) ([]byte, error) {
	v, _, err := l.engine.Get(stableKey(key), nil)
	return v, err
}

// SetUint64 implements raft.StableStore.
func (l *log) SetUint64(key []byte, n uint64) error {
	return l.Set(key, binary.BigEndian.AppendUint64(nil, n))
}

// GetUint64 implements raft.StableStore.
func (l *log) GetUint64(key []byte) (uint64, error) {
	v, err := l.Get(key)
	if err != nil || len(v) == 0 {
		return 0, err
	}
	if len(v) != 8 {
		return 0, &store.CorruptError{Key: stableKey(key), Reason: "it is no number"}
	}
	return binary.BigEndian.Uint64(v), nil
}

// write applies and syncs a batch within the deadline.
func (l *log) write(b store.Batch) error {
	alarm := time.AfterFunc(l.deadline, func() {
		l.hung(fmt.Errorf("the disk has not ended a sync of the placement's log in %v", l.deadline))
	})
	defer alarm.Stop()
	if err := l.engine.Apply(b); err != nil {
		return err
	}
	return l.engine.Sync()
}
