package placement

import (
	"fmt"
	"slices"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Command is a change of the state. Exactly one of its parts is set.
type Command struct {
	At        time.Time  `json:"at"` // by the clock of the node that has proposed it
	Form      *Form      `json:"form,omitempty"`
	Token     *Token     `json:"token,omitempty"`
	Join      *Join      `json:"join,omitempty"`
	Move      *Move      `json:"move,omitempty"`
	Leave     *Leave     `json:"leave,omitempty"`
	Remove    *Remove    `json:"remove,omitempty"`
	Replicate *Replicate `json:"replicate,omitempty"`
	Assign    *Assign    `json:"assign,omitempty"`
	Register  *Register  `json:"register,omitempty"`
	Policy    *Policy    `json:"policy,omitempty"`
}

// Form begins the cluster, with its first node.
type Form struct {
	Cluster, Program             string
	Stores, Partitions, Replicas int
	First                        Member
}

// Token lets a node join, once.
type Token struct {
	Hash    Fingerprint
	Expires time.Time
}

// Join makes a node a member. It uses up a token.
type Join struct {
	Token         Fingerprint
	Program       string
	Name, Address string // Name "": NameOf its id
	Key           Fingerprint
}

// Move says that a member is reached elsewhere.
type Move struct {
	Node    event.NodeID
	Address string
}

// Leave has a member give its stores away, so that it can be removed.
type Leave struct{ Node event.NodeID }

// Remove takes a member out. It keeps no store any more; a lost one is removed with Lost, which takes it out of the stores that
// other members keep.
type Remove struct {
	Node event.NodeID
	Lost bool
}

// Replicate says which nodes are to keep a store.
type Replicate struct {
	Store    StoreID
	Version  uint64 // of the list that is replaced
	Replicas []event.NodeID
}

// Assign gives a partition to a store.
type Assign struct {
	Partition event.PartitionID
	Epoch     uint64 // under which it was given before
	Store     StoreID
}

// Register gives numbers to texts that have none.
type Register struct {
	Kind  Kind
	Texts []string
}

// Policy replaces the rules of elasticity.
type Policy struct{ Text string }

// Result is what a command that was taken has made.
type Result struct {
	Node    event.NodeID // of Form and Join
	Numbers []uint32     // of Register, for each text
}

// Refusal says why a command was refused. Nothing has changed.
type Refusal struct{ Reason string }

// Error implements error.
func (r *Refusal) Error() string { return r.Reason }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// The bounds of a cluster.
const (
	StoresMax     = event.StoresMax // ids have the number of their store
	PartitionsMax = 1 << 16
	ReplicasMax   = 7
	nameMax       = 63
	textMax       = 1 << 20
)

// Apply performs a command. The error is a *Refusal.
func (s *State) Apply(c *Command) (r Result, err error) {
	if s.Cluster == "" && c.Form == nil {
		return r, refuse("the cluster has not been formed: start its first node without --join")
	}
	changed := true
	switch {
	case c.Form != nil:
		r.Node, err = s.form(c.Form)
	case c.Token != nil:
		err = s.token(c.Token, c.At)
	case c.Join != nil:
		r.Node, err = s.join(c.Join, c.At)
	case c.Move != nil:
		changed, err = s.move(c.Move)
	case c.Leave != nil:
		changed, err = s.leave(c.Leave)
	case c.Remove != nil:
		err = s.remove(c.Remove)
	case c.Replicate != nil:
		err = s.replicate(c.Replicate)
	case c.Assign != nil:
		err = s.assign(c.Assign)
	case c.Register != nil:
		r.Numbers, changed, err = s.register(c.Register)
	case c.Policy != nil:
		err = s.policy(c.Policy)
	default:
		err = refuse("the command is empty: it was made by a newer version, which all nodes must have first")
	}
	if err == nil && changed {
		s.Version++
		broken := s.check()
		assert.That(broken == nil, "placement: after command %d: %v", s.Version, broken)
	}
	return r, err
}

func (s *State) form(f *Form) (event.NodeID, error) {
	switch {
	case s.Cluster != "":
		return 0, refuse("the cluster %s has been formed already; join it with a token", s.Cluster)
	case f.Cluster == "" || f.Program == "":
		return 0, refuse("a cluster has an id and a program")
	case f.Stores < 1 || f.Stores > StoresMax:
		return 0, refuse("%d stores: a cluster has 1 to %d", f.Stores, StoresMax)
	case f.Partitions < f.Stores || f.Partitions > PartitionsMax:
		return 0, refuse("%d partitions: a cluster has at least one for each of its %d stores, and at most %d", f.Partitions, f.Stores, PartitionsMax)
	case f.Replicas < 1 || f.Replicas > ReplicasMax || f.Replicas%2 == 0:
		return 0, refuse("%d replicas: a store has 1, 3, 5 or 7, as an even number survives no more than one less", f.Replicas)
	}
	if err := checkMember(f.First.Name, f.First.Address); err != nil {
		return 0, err
	}
	*s = State{Cluster: f.Cluster, Program: f.Program, Replicas: f.Replicas, LastNode: 1,
		Members: map[event.NodeID]Member{1: {f.First.Name, f.First.Address, f.First.Key, Active}}, Tokens: make(map[Fingerprint]time.Time)}
	for range f.Stores {
		s.Stores = append(s.Stores, Store{Replicas: []event.NodeID{1}, Version: 1})
	}
	for p := range f.Partitions {
		s.Partitions = append(s.Partitions, Place{FirstStore(f.Stores)(event.PartitionID(p)), 1})
	}
	s.numberTexts()
	return 1, nil
}

// NameOf returns the name of a node that is given none.
func NameOf(id event.NodeID) string { return fmt.Sprintf("node%d", id) }

// CheckName refuses what is no name of a node.
func CheckName(name string) error {
	ok := len(name) > 0 && len(name) <= nameMax
	for _, r := range name {
		ok = ok && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-')
	}
	if !ok {
		return refuse("%q is no name of a node: it has 1 to %d lower-case letters, digits and -", name, nameMax)
	}
	return nil
}

func checkMember(name, address string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if address == "" {
		return refuse("node %s has no address", name)
	}
	return nil
}

func (s *State) token(t *Token, now time.Time) error {
	if !t.Expires.After(now) {
		return refuse("the token expires at %s, and it is %s", t.Expires.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	for hash, expires := range s.Tokens { // those that were not used do not stay
		if !expires.After(now) {
			delete(s.Tokens, hash)
		}
	}
	s.Tokens[t.Hash] = t.Expires
	return nil
}

func (s *State) join(j *Join, now time.Time) (event.NodeID, error) {
	if expires, known := s.Tokens[j.Token]; !known || !expires.After(now) {
		return 0, refuse("the token is unknown, used or expired: make a new one with `aeond join-token` on a member")
	}
	if j.Program != s.Program {
		return 0, refuse("the cluster runs the program %s, and this node has %s", s.Program, j.Program)
	}
	name := j.Name
	if name == "" {
		name = NameOf(s.LastNode + 1)
	}
	if err := checkMember(name, j.Address); err != nil {
		return 0, err
	}
	for id, m := range s.Members {
		switch {
		case m.Key == j.Key:
			return 0, refuse("node %d, %s, has the same certificate: each node makes its own, and a removed one does not come back", id, m.Name)
		case m.Membership != Removed && m.Name == name:
			return 0, refuse("%s is the name of node %d, at %s: choose another one, or replace that node", name, id, m.Address)
		}
	}
	delete(s.Tokens, j.Token)
	s.LastNode++
	s.Members[s.LastNode] = Member{name, j.Address, j.Key, Active}
	return s.LastNode, nil
}

// member returns a member that is not removed.
func (s *State) member(id event.NodeID) (Member, error) {
	m, known := s.Members[id]
	switch {
	case !known:
		return m, refuse("there is no node %d", id)
	case m.Membership == Removed:
		return m, refuse("node %d, %s, was removed", id, m.Name)
	}
	return m, nil
}

func (s *State) move(c *Move) (bool, error) {
	m, err := s.member(c.Node)
	if err != nil {
		return false, err
	}
	if c.Address == "" {
		return false, refuse("node %s has no address", m.Name)
	}
	changed := m.Address != c.Address
	m.Address = c.Address
	s.Members[c.Node] = m
	return changed, nil
}

func (s *State) leave(c *Leave) (bool, error) {
	m, err := s.member(c.Node)
	if err != nil || m.Membership == Leaving {
		return false, err
	}
	if len(s.with(Active)) == 1 {
		return false, refuse("%s is the last node of the cluster", m.Name)
	}
	m.Membership = Leaving
	s.Members[c.Node] = m
	return true, nil
}

func (s *State) remove(c *Remove) error {
	m, err := s.member(c.Node)
	if err != nil {
		return err
	}
	if m.Membership == Active && len(s.with(Active)) == 1 {
		return refuse("%s is the last node of the cluster", m.Name)
	}
	stores := s.Of(c.Node)
	if len(stores) > 0 && !c.Lost {
		return refuse("%s still keeps %d stores, the first is %d; it is removed when others have them", m.Name, len(stores), stores[0])
	}
	for _, id := range stores {
		if len(s.Stores[id].Replicas) == 1 {
			return refuse("%s alone keeps store %d, which would be lost with it: bring it back, or restore a snapshot into a new cluster", m.Name, id)
		}
	}
	for _, id := range stores {
		st := &s.Stores[id]
		st.Replicas = slices.DeleteFunc(slices.Clone(st.Replicas), func(n event.NodeID) bool { return n == c.Node })
		st.Version++
	}
	m.Membership = Removed
	s.Members[c.Node] = m
	return nil
}

func (s *State) replicate(c *Replicate) error {
	if int(c.Store) >= len(s.Stores) {
		return refuse("there is no store %d", c.Store)
	}
	st := &s.Stores[c.Store]
	switch {
	case c.Version != st.Version:
		return refuse("the replicas of store %d have changed meanwhile", c.Store)
	case len(c.Replicas) == 0 || len(c.Replicas) > ReplicasMax:
		return refuse("store %d would have %d replicas", c.Store, len(c.Replicas))
	case !slices.IsSorted(c.Replicas) || len(slices.Compact(slices.Clone(c.Replicas))) != len(c.Replicas):
		return refuse("the replicas of store %d would be %v, which is no ascending list", c.Store, c.Replicas)
	}
	kept := 0
	for _, n := range c.Replicas {
		m, err := s.member(n)
		if err != nil {
			return err
		}
		if slices.Contains(st.Replicas, n) {
			kept++
		} else if m.Membership != Active {
			return refuse("%s is %v, and takes no more stores", m.Name, m.Membership)
		}
	}
	if kept == 0 || len(st.Replicas) > 2 && kept*2 <= len(st.Replicas) {
		return refuse("store %d would keep %d of its %d replicas: replace less than half of them at a time", c.Store, kept, len(st.Replicas))
	}
	st.Replicas, st.Version = slices.Clone(c.Replicas), st.Version+1
	return nil
}

func (s *State) assign(c *Assign) error {
	switch {
	case int(c.Partition) >= len(s.Partitions):
		return refuse("there is no partition %d", c.Partition)
	case int(c.Store) >= len(s.Stores):
		return refuse("there is no store %d", c.Store)
	}
	p := &s.Partitions[c.Partition]
	switch {
	case c.Epoch != p.Epoch:
		return refuse("partition %d is in epoch %d, and was to be moved in epoch %d", c.Partition, p.Epoch, c.Epoch)
	case c.Store == p.Store:
		return refuse("store %d has partition %d already", c.Store, c.Partition)
	}
	p.Store, p.Epoch = c.Store, p.Epoch+1
	return nil
}

func (s *State) register(c *Register) (numbers []uint32, changed bool, err error) {
	if c.Kind >= kinds {
		return nil, false, refuse("%d is no kind of a number: the command was made by a newer version, which all nodes must have first", c.Kind)
	}
	for _, text := range c.Texts {
		if text == "" || len(text) > textMax {
			return nil, false, refuse("a text of %d bytes gets no number", len(text))
		}
	}
	for _, text := range c.Texts {
		n := s.numbers[c.Kind][text]
		if n == 0 {
			s.Numbers[c.Kind] = append(s.Numbers[c.Kind], text)
			n = uint32(len(s.Numbers[c.Kind]))
			s.numbers[c.Kind][text], changed = n, true
		}
		numbers = append(numbers, n)
	}
	return numbers, changed, nil
}

func (s *State) policy(c *Policy) error {
	if len(c.Text) > textMax {
		return refuse("the policy has %d bytes, and at most %d are kept", len(c.Text), textMax)
	}
	s.Policy, s.PolicyAt = c.Text, s.Version+1
	return nil
}
