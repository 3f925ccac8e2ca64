package raftnode

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/placement"
)

// machine implements raft.FSM.
type machine struct {
	mu      sync.Mutex
	state   *placement.State // replaced by a copy when it changes: readers keep theirs
	changed chan struct{}    // closed when it is
}

func newMachine() *machine {
	return &machine{state: &placement.State{}, changed: make(chan struct{})}
}

// outcome is what became of a command.
type outcome struct {
	Result  placement.Result `json:"result"`
	Refusal string           `json:"refusal,omitempty"` // "": it was taken
}

func (m *machine) now() (*placement.State, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state, m.changed
}

func (m *machine) set(s *placement.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = s
	close(m.changed)
	m.changed = make(chan struct{})
}

// Apply implements raft.FSM.
func (m *machine) Apply(e *raft.Log) any {
	var c placement.Command
	if err := json.Unmarshal(e.Data, &c); err != nil {
		assert.Unreachable("raftnode: entry %d is no command: %v", e.Index, err)
	}
	now, _ := m.now()
	next := now.Clone()
	result, err := next.Apply(&c)
	if err != nil {
		return outcome{Refusal: err.Error()}
	}
	m.set(next)
	return outcome{Result: result}
}

// Snapshot implements raft.FSM.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	now, _ := m.now()
	return snapshot{now}, nil
}

// Restore implements raft.FSM.
func (m *machine) Restore(from io.ReadCloser) error {
	defer from.Close()
	b, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	s, err := placement.Decode(b)
	if err != nil {
		return fmt.Errorf("a snapshot of the placement: %w", err)
	}
	m.set(s)
	return nil
}

type snapshot struct{ of *placement.State }

// Persist implements raft.FSMSnapshot.
func (s snapshot) Persist(to raft.SnapshotSink) error {
	if _, err := to.Write(s.of.Encode()); err != nil {
		_ = to.Cancel() // the error that counts is the first
		return err
	}
	return to.Close()
}

// Release implements raft.FSMSnapshot.
func (snapshot) Release() {}
