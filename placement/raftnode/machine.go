package raftnode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/placement"
)

// machine is the state of the placement on this node, as raft's FSM. Raft changes it; any goroutine reads it. It may be ahead of
// what raft has had it apply: see Node.restore.
type machine struct {
	fatal func(error)

	mu struct {
		sync.Mutex
		state   *placement.State
		shared  *placement.State // a copy of state that readers have, nil if it is older
		index   uint64           // of the last command that the state has
		changed chan struct{}    // is closed when the state changes
		moved   chan struct{}    // is closed when index does
	}
}

func newMachine(fatal func(error)) *machine {
	m := &machine{fatal: fatal}
	m.mu.state, m.mu.changed, m.mu.moved = &placement.State{}, make(chan struct{}), make(chan struct{})
	return m
}

// outcome is what raft hands from Apply to the proposer.
type outcome struct {
	result placement.Result
	err    error // a *placement.Refusal
	index  uint64
}

// decodeCommand reads a command. One with a part that this version does not know cannot be applied as other nodes do.
func decodeCommand(b []byte) (*placement.Command, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	c := &placement.Command{}
	if err := d.Decode(c); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("it has something behind it")
	}
	return c, nil
}

// Apply implements raft.FSM.
func (m *machine) Apply(entry *raft.Log) any {
	c, err := decodeCommand(entry.Data)
	if err != nil {
		err = fmt.Errorf("command %d of the placement cannot be read; a newer version has proposed it, which all nodes must have first: %w", entry.Index, err)
		m.fatal(err)
		return outcome{err: err, index: entry.Index}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if entry.Index <= m.mu.index {
		return outcome{index: entry.Index} // it has it already; no proposer waits for it, as it is of an earlier run
	}
	version := m.mu.state.Version
	result, err := m.mu.state.Apply(c)
	m.mu.index = entry.Index
	m.tell(m.mu.state.Version != version)
	return outcome{result, err, entry.Index}
}

// snapshot is a state that is being written.
type snapshot struct {
	index uint64
	state *placement.State
}

// snapshotHead is the first line of a snapshot; the state follows.
type snapshotHead struct {
	Index uint64 `json:"index"`
}

// Snapshot implements raft.FSM.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	s, index := m.read()
	return snapshot{index, s}, nil
}

// Persist implements raft.FSMSnapshot.
func (s snapshot) Persist(sink raft.SnapshotSink) error {
	head, err := json.Marshal(snapshotHead{s.index})
	if err == nil {
		_, err = sink.Write(append(head, '\n'))
	}
	if err == nil {
		_, err = sink.Write(s.state.Encode())
	}
	if err != nil {
		_ = sink.Cancel()
		return err
	}
	return sink.Close()
}

// Release implements raft.FSMSnapshot.
func (s snapshot) Release() {}

// Restore implements raft.FSM.
func (m *machine) Restore(r io.ReadCloser) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	line, rest, ok := bytes.Cut(b, []byte("\n"))
	var head snapshotHead
	if err := json.Unmarshal(line, &head); err != nil || !ok {
		return fmt.Errorf("it is no snapshot of a placement: %w", err)
	}
	s, err := placement.Decode(rest)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if head.Index >= m.mu.index {
		m.mu.state, m.mu.index = s, head.Index
		m.tell(true)
	}
	return nil
}

// tell wakes what waits for an index, or for another state.
func (m *machine) tell(changed bool) {
	close(m.mu.moved)
	m.mu.moved = make(chan struct{})
	if changed {
		m.mu.shared = nil
		close(m.mu.changed)
		m.mu.changed = make(chan struct{})
	}
}

// read returns a state that does not change, and the index of the last command that it has.
func (m *machine) read() (*placement.State, uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.shared == nil {
		m.mu.shared = m.mu.state.Clone()
	}
	return m.mu.shared, m.mu.index
}

// reached returns the index of the last command that the state has, and what is closed when it has another one.
func (m *machine) reached() (index uint64, moved <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.index, m.mu.moved
}

// applied returns the index of the last command that the state has.
func (m *machine) applied() uint64 {
	index, _ := m.reached()
	return index
}

// wait returns when the state has a command.
func (m *machine) wait(ctx context.Context, index uint64) error {
	for {
		reached, moved := m.reached()
		if reached >= index {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watch returns what is closed when the state changes.
func (m *machine) watch() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.changed
}
