package placement

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
)

// StoreID names a store.
type StoreID = event.StoreID

// Fingerprint is the SHA-256 of the public key of a node's certificate.
type Fingerprint [sha256.Size]byte

// MarshalText implements encoding.TextMarshaler.
func (f Fingerprint) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, f[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *Fingerprint) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(f) {
		return fmt.Errorf("%q is no SHA-256", text)
	}
	_, err := hex.Decode(f[:], text)
	return err
}

// Membership is where a node is in its life. The numbers are in snapshots.
type Membership uint8

// The memberships.
const (
	Active  Membership = iota + 1 // it keeps stores
	Leaving                       // its stores are being given to others
	Removed                       // it has no part in the cluster any more
)

var membershipNames = [...]string{"?", "active", "leaving", "removed"}

// String returns the name as people read it.
func (m Membership) String() string { return membershipNames[m] }

// Member is a node of the cluster.
type Member struct {
	Name       string // as people call it; unique among those that are not removed
	Address    string // where other nodes reach it
	Key        Fingerprint
	Membership Membership
}

// Store says which nodes are to keep a store.
type Store struct {
	// Replicas are the nodes that are to keep it, in ascending order. Its raft group is made so: it follows this list.
	Replicas []event.NodeID
	// Version counts the changes of Replicas.
	Version uint64
}

// Place says which store has a partition.
type Place struct {
	Store StoreID
	Epoch uint64 // counts the stores that have had it; what carries a lower one is stale
}

// State is what the cluster has agreed on. It belongs to one goroutine; readers use Clone.
//
// Invariant: of a state that was formed, what check says.
type State struct {
	Cluster    string // its id; "" before it is formed
	Program    string
	Version    uint64       // counts the commands that have changed the state
	Replicas   int          // how many replicas a store is to have, as soon as there are so many nodes
	LastNode   event.NodeID // ids up to it were given
	Members    map[event.NodeID]Member
	Stores     []Store                   // by id
	Partitions []Place                   // by number
	Tokens     map[Fingerprint]time.Time // hashes of tokens by which a node may join once, and when they expire
	Numbers    [kinds][]string           // texts by their numbers, which begin with 1
	Policy     string
	PolicyAt   uint64 // the version of the state at which the policy was set; 0: never

	numbers [kinds]map[string]uint32
}

// Clone returns a copy.
func (s *State) Clone() *State {
	c := *s
	c.Members, c.Tokens = maps.Clone(s.Members), maps.Clone(s.Tokens)
	c.Stores, c.Partitions = slices.Clone(s.Stores), slices.Clone(s.Partitions)
	for i := range c.Stores {
		c.Stores[i].Replicas = slices.Clone(c.Stores[i].Replicas)
	}
	for k := range c.Numbers {
		c.Numbers[k], c.numbers[k] = slices.Clone(s.Numbers[k]), maps.Clone(s.numbers[k])
	}
	return &c
}

// Kind says what a number is of.
type Kind uint8

// The kinds of numbers. They are in snapshots.
const (
	Class Kind = iota
	Layout
	Signature
	kinds
)

// Number returns the number of a text, 0 if it has none yet.
func (s *State) Number(k Kind, text string) uint32 { return s.numbers[k][text] }

// Keeps reports whether a node is to keep a store.
func (s *State) Keeps(n event.NodeID, id StoreID) bool {
	return slices.Contains(s.Stores[id].Replicas, n)
}

// Of returns the stores that a node is to keep.
func (s *State) Of(n event.NodeID) (list []StoreID) {
	for id := range s.Stores {
		if s.Keeps(n, StoreID(id)) {
			list = append(list, StoreID(id))
		}
	}
	return list
}

// with returns the members of a membership, in ascending order.
func (s *State) with(m Membership) (list []event.NodeID) {
	for id, of := range s.Members {
		if of.Membership == m {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// check returns what does not hold of a state that was formed, nil if all does.
func (s *State) check() error {
	names := make(map[string]event.NodeID)
	for id, m := range s.Members {
		switch {
		case id == 0 || id > s.LastNode:
			return fmt.Errorf("node %d is a member, and ids were given up to %d", id, s.LastNode)
		case m.Membership < Active || m.Membership > Removed:
			return fmt.Errorf("node %d has the membership %d", id, m.Membership)
		case m.Membership == Removed:
			continue
		case names[m.Name] != 0:
			return fmt.Errorf("nodes %d and %d are both called %s", names[m.Name], id, m.Name)
		}
		names[m.Name] = id
	}
	for id, st := range s.Stores {
		if len(st.Replicas) == 0 {
			return fmt.Errorf("store %d has no replica", id)
		}
		for i, n := range st.Replicas {
			if i > 0 && st.Replicas[i-1] >= n {
				return fmt.Errorf("the replicas of store %d are %v", id, st.Replicas)
			}
			if m := s.Members[n].Membership; m != Active && m != Leaving {
				return fmt.Errorf("node %d keeps store %d, and is %v", n, id, m)
			}
		}
	}
	for p, at := range s.Partitions {
		if int(at.Store) >= len(s.Stores) || at.Epoch == 0 {
			return fmt.Errorf("partition %d is in store %d, epoch %d, and there are %d stores", p, at.Store, at.Epoch, len(s.Stores))
		}
	}
	for k := range s.Numbers {
		if len(s.Numbers[k]) != len(s.numbers[k]) {
			return fmt.Errorf("%d numbers are of %d texts", len(s.Numbers[k]), len(s.numbers[k]))
		}
	}
	return nil
}

// numberTexts makes the maps of Numbers.
func (s *State) numberTexts() {
	for k := range s.Numbers {
		s.numbers[k] = make(map[string]uint32)
		for i, text := range s.Numbers[k] {
			s.numbers[k][text] = uint32(i + 1)
		}
	}
}

// FirstStore returns which of so many stores has a partition when a cluster begins.
func FirstStore(stores int) func(event.PartitionID) StoreID {
	return func(p event.PartitionID) StoreID { return StoreID(int(p) % stores) }
}
