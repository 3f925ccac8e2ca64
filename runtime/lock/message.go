package lock

import "github.com/aeon-lang/aeon/internal/assert"

// Host numbers a host: the owner of some nodes, with the homes of some events.
type Host uint32

// Peer sends what a host tells the other hosts.
//
// Between two hosts there is a session. It ends when one of the two restarts, which loses its queues; the other learns of
// that and begins the next session after it has told its own queues (Queue.Lost). A session delivers each
// message once, or ends; the core asks for no order within it. Of a session that has ended nothing is delivered.
type Peer[E, N comparable] interface {
	// Send puts m under way to host to, in the present session, which it notes in m. It neither waits nor fails, so that it
	// may be called under a latch: what is lost is lost with the session. The caller keeps m and its slices.
	Send(to Host, m *Message[E, N])
}

// Session names a session by how often either side has started, as the sender knows it. A
// message is of the present session if the addressee knows the same of both.
type Session struct{ Sender, Addressee uint64 }

// MessageKind says what one host tells another.
type MessageKind uint8

// The messages. Comments name the fields that are set besides Kind, Session and ID. The kinds are numbered
// for ever: they are on the wire.
const (
	// MsgEnter: a home enters at node To (RULE-1). Fields: To, Claims.
	MsgEnter MessageKind = iota + 1
	// MsgEnqueue: T-parent From enqueues on T-child To (RULE-2). Fields: From, To, Number, Lazy, Claims.
	MsgEnqueue
	// MsgAcquire: a home asks the lazy hold at To for the actor Node (RULE-6). Fields: To, Node, Claims.
	MsgAcquire
	// MsgRelease: what From has enqueued on To goes, or, if From is the zero N, what the home has entered
	// there (RULE-7). Fields: From, To, Withdrawn.
	MsgRelease
	// MsgAdmitted: node From has granted a hold or was passed, and has enqueued on Children (RULE-3, RULE-5).
	// Fields: From, Mode, Lazy, Children.
	MsgAdmitted
	// MsgBounced: node From no longer covers the footprint; Node is the sequencer (RULE-1). Fields: From, Node.
	MsgBounced
	// MsgRefused: the attempt must be withdrawn, as node From does not cover the actor Node, wanted in Mode. Fields: From,
	// Node, Mode, Reason.
	MsgRefused
	// MsgSevered: the host of Node has crashed, between which and node From the attempt has an enqueue. With
	// Orphan the home releases it at From (CRASH). Fields: From, Node, Orphan.
	MsgSevered
	msgKinds
)

var messageNames = [msgKinds]string{"?", "enter", "enqueue", "ask", "release", "admitted", "bounced", "refused", "severed"}

// String returns the name of the message in transcripts.
func (k MessageKind) String() string { return messageNames[k] }

// ToHome reports whether messages of this kind are addressed to the home of their attempt; others are to node To.
func (k MessageKind) ToHome() bool { return k >= MsgAdmitted }

// Message is what the core of one host tells that of another, as plain data. [Wire] writes it.
type Message[E, N comparable] struct {
	Kind      MessageKind
	Mode      Mode
	Reason    Reason
	Lazy      bool // of MsgEnqueue: asked for by a lazy hold
	Withdrawn bool
	Orphan    bool
	Session   Session // set by Peer.Send
	ID        ID[E]
	From, To  N // the nodes between which it goes; the zero N in place of a home
	Node      N // the node that it tells of
	Number    uint64
	Children  []N
	// Claims is what the sender knows of the footprint, which the View of the addressee needs.
	Claims []Claim[N]
}

// MessageOf returns the message that tells another host of the effect report[0], without Claims. An Admitted is followed by its Count
// Enqueue effects, as for Home.Deliver; the memory of children is used for them.
func MessageOf[E, N comparable](report []Effect[E, N], children []N) Message[E, N] {
	f := &report[0]
	m := Message[E, N]{ID: f.ID, From: f.At}
	switch f.Kind {
	case Enqueue:
		m.Kind, m.To, m.Number, m.Lazy = MsgEnqueue, f.To, f.Number, f.Lazy
	case Release:
		m.Kind, m.To, m.Withdrawn = MsgRelease, f.To, f.Withdrawn
	case Admitted:
		m.Kind, m.Mode, m.Lazy = MsgAdmitted, f.Mode, f.Lazy
		for i := range f.Count {
			children = append(children, report[1+i].To)
		}
		m.Children = children
	case Bounced:
		m.Kind, m.Node = MsgBounced, f.To
	case Refused:
		m.Kind, m.Node, m.Mode, m.Reason = MsgRefused, f.To, f.Mode, f.Reason
	case Severed:
		m.Kind, m.Node, m.Orphan = MsgSevered, f.To, f.Ref.Valid()
	default:
		assert.Unreachable("lock: no message tells of %v", f.Kind)
	}
	return m
}

// Receive does what m asks of this node, under its latch.
func (q *Queue[E, N]) Receive(v View[E, N], m *Message[E, N], out []Effect[E, N]) []Effect[E, N] {
	// Invariant: a message is delivered to the node that it names.
	assert.That(m.To == q.self, "lock: a message is delivered to another node")
	switch m.Kind {
	case MsgEnter:
		_, out = q.Enter(v, m.ID, out)
	case MsgEnqueue:
		// Invariant: what comes from another host is numbered (RULE-2).
		assert.That(m.Number != 0, "lock: an enqueue of another host without number")
		_, out = q.Enqueue(v, Sent[N]{From: m.From, Number: m.Number, Acquired: m.Lazy}, m.ID, out)
	case MsgAcquire:
		out = q.Acquire(v, Ref{}, m.ID, m.Node, out)
	case MsgRelease:
		out = q.ReleaseID(v, m.From, m.ID, m.Withdrawn, out)
	default:
		assert.Unreachable("lock: %v is not for a node", m.Kind)
	}
	return out
}

// Receive notes a MsgAdmitted of another host, as Deliver does a report of this one. One of an attempt that is
// over is dropped, and false is returned.
func (h *Home[E, N]) Receive(m *Message[E, N]) bool {
	assert.That(m.Kind == MsgAdmitted, "lock: %v received as a visit", m.Kind)
	if m.ID != h.id {
		return false
	}
	for _, c := range m.Children {
		h.visit(c)
	}
	h.granted(m.From, m.Mode, m.Lazy, Ref{})
	return true
}
