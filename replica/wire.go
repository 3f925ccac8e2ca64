package replica

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
)

// HasState reports whether the message goes together with a state: it is of the kind MsgSnap.
func (m *Message) HasState() bool { return m.Raft.GetType() == raftpb.MsgSnap }

// State returns up to which entry the state is that goes with the message.
func (m *Message) State() uint64 { return m.Raft.GetSnapshot().GetMetadata().GetIndex() }

// Encode returns the message as bytes: the group, as a uvarint, and what raft says.
func (m *Message) Encode() []byte {
	return marshal(binary.AppendUvarint(nil, uint64(m.Group)), m.Raft)
}

// DecodeMessage returns a message that Encode has made. It keeps b.
func DecodeMessage(b []byte) (m Message, err error) {
	g, n := binary.Uvarint(b)
	if n <= 0 || g > uint64(^Group(0)) {
		return m, fmt.Errorf("a message of %d bytes names no group", len(b))
	}
	m = Message{Group: Group(g), Raft: &raftpb.Message{}}
	if err := proto.Unmarshal(b[n:], m.Raft); err != nil {
		return m, fmt.Errorf("a message of group %d: %w", g, err)
	}
	return m, nil
}

// Voters are the members of a group that begins.
func Voters(list ...event.NodeID) *raftpb.ConfState {
	s := &raftpb.ConfState{}
	for _, n := range list {
		s.Voters = append(s.Voters, uint64(n))
	}
	return s
}

// EncodeMembers returns members as bytes, as the state keeps them.
func EncodeMembers(s *raftpb.ConfState) []byte { return marshal(nil, s) }

// DecodeMembers returns members that EncodeMembers has made; without bytes there are none.
func DecodeMembers(b []byte) (*raftpb.ConfState, error) {
	s := &raftpb.ConfState{}
	if err := proto.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("the members of a group: %w", err)
	}
	return s, nil
}

func marshal(b []byte, m proto.Message) []byte {
	b, err := proto.MarshalOptions{}.MarshalAppend(b, m)
	assert.That(err == nil, "replica: %T cannot be encoded: %v", m, err)
	return b
}

// Data returns what entry i has for the state: data that was proposed, or the members from then on, as EncodeMembers has them. Each may be nil.
func (a *Apply) Data(i int) (data, members []byte) {
	e := a.Entries[i]
	if e.GetType() == raftpb.EntryNormal {
		return e.GetData(), nil
	}
	for _, m := range a.Members {
		if m.Index == e.GetIndex() {
			return nil, EncodeMembers(m.State)
		}
	}
	return nil, nil
}
