package raftnode

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Members says which nodes have a part in the cluster, and where they are. The port, which is opened first, asks it; the Node, which needs
// the port, tells it what the placement says. Any goroutine may use it.
type Members struct {
	mu struct {
		sync.Mutex
		machine *machine // nil: there is none yet
		// told are members that the state does not know yet, by other members.
		told map[event.NodeID]placement.Member
		ask  func() // wants told to be made longer
	}
}

// NewMembers returns what a node knows of members that has no state yet: what the answer to its join has said, or nothing.
func NewMembers(told map[event.NodeID]placement.Member) *Members {
	m := &Members{}
	m.mu.told = make(map[event.NodeID]placement.Member)
	maps.Copy(m.mu.told, told)
	return m
}

// Verify says why a node whose certificate is valid has no part in the cluster; nil if it has. It is port.Config.Verify.
//
// Before there is any state, valid certificates are enough: what the node would check them by comes from a member. Once there is one,
// a node that it does not know has joined later, or has made its certificate by itself. The members that are known are asked about it,
// and it is refused until they have answered: it will come again.
func (m *Members) Verify(n event.NodeID, key placement.Fingerprint) error {
	of, known, formed := m.find(n)
	switch {
	case !formed && !known:
		return nil
	case !known:
		m.mu.Lock()
		ask := m.mu.ask
		m.mu.Unlock()
		if ask != nil {
			ask()
		}
		return fmt.Errorf("node %d is not known here; members are being asked", n)
	case of.Membership == placement.Removed:
		return removed(n, of)
	case of.Key != key:
		return fmt.Errorf("node %d, %s, has joined with another key", n, of.Name)
	}
	return nil
}

// Removed says that a node was removed; nil if it is a member, or not known. Any goroutine may call it.
func (m *Members) Removed(n event.NodeID) error {
	if of, _, _ := m.find(n); of.Membership == placement.Removed {
		return removed(n, of)
	}
	return nil
}

func removed(n event.NodeID, of placement.Member) error {
	return fmt.Errorf("node %d, %s, %s", n, of.Name, removedText)
}

// removedText is what a node is told that was removed.
const removedText = "was removed from the cluster"

// IsRemoval reports whether a member's reason to refuse a connection is that this node was removed. That is agreed on, so one member's word is
// enough.
func IsRemoval(reason string) bool { return strings.HasSuffix(reason, removedText) }

// Address returns where a member is reached; ok is false if it is not known.
func (m *Members) Address(n event.NodeID) (address string, ok bool) {
	of, known, _ := m.find(n)
	return of.Address, known && of.Membership != placement.Removed
}

func (m *Members) find(n event.NodeID) (of placement.Member, known, formed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.machine != nil {
		s, _ := m.mu.machine.read()
		formed = s.Cluster != ""
		of, known = s.Members[n]
	}
	if !known {
		of, known = m.mu.told[n]
	}
	return of, known, formed
}

// All returns the members that are known and were not removed. Any goroutine may call it.
func (m *Members) All() map[event.NodeID]placement.Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := maps.Clone(m.mu.told)
	if m.mu.machine != nil {
		s, _ := m.mu.machine.read()
		maps.Copy(all, s.Members)
	}
	maps.DeleteFunc(all, func(_ event.NodeID, of placement.Member) bool { return of.Membership == placement.Removed })
	return all
}

// tell adds what a member knows.
func (m *Members) tell(told map[event.NodeID]placement.Member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.Copy(m.mu.told, told)
}

// follow lets the state of a machine count from now on.
func (m *Members) follow(of *machine, ask func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.machine, m.mu.ask = of, ask
}
