package lock

import "github.com/aeon-lang/aeon/runtime/codec"

// Wire writes and reads messages. It is made of how the ids of events and nodes are written, of which each takes at least one
// byte, the zero N included.
//
// A message stands behind whatever its encoder holds already, mostly the version of the format alone:
//
//	kind       integer, of MessageKind
//	session    2 integers: starts of the sender, of the addressee
//	event      as PutEvent writes it
//	attempt    integer, from 1, below 2³²
//
// and then, as the kind demands:
//
//	enter      to, claims
//	enqueue    from, to, number: integer from 1, lazy: bool, claims
//	ask        to, node, claims
//	release    from, to, withdrawn: bool
//	admitted   from, mode, lazy: bool, children
//	bounced    from, node
//	refused    from, node, mode, reason: integer
//	severed    from, node, orphan: bool
//
// Integers are unsigned varints in their shortest form, and a bool is a byte, 0 or 1. From, to and node are as PutNode writes
// them. A mode is 0 (none), 1 (read) or 2 (write). Children are their number and then each of them; claims are
// their number and then the node and the mode of each, which is not 0. So two messages that differ have different
// bytes, and what is read is what was written: anything else is refused.
type Wire[E, N comparable] struct {
	PutEvent func(*codec.Encoder, E)
	GetEvent func(*codec.Decoder) E
	PutNode  func(*codec.Encoder, N)
	GetNode  func(*codec.Decoder) N
}

// Put appends m.
func (w *Wire[E, N]) Put(e *codec.Encoder, m *Message[E, N]) {
	e.Uint(uint64(m.Kind))
	e.Uint(m.Session.Sender)
	e.Uint(m.Session.Addressee)
	w.PutEvent(e, m.ID.Event)
	e.Uint(uint64(m.ID.Attempt))
	switch m.Kind {
	case MsgEnter:
		w.PutNode(e, m.To)
		w.putClaims(e, m.Claims)
	case MsgEnqueue:
		w.PutNode(e, m.From)
		w.PutNode(e, m.To)
		e.Uint(m.Number)
		e.Bool(m.Lazy)
		w.putClaims(e, m.Claims)
	case MsgAcquire:
		w.PutNode(e, m.To)
		w.PutNode(e, m.Node)
		w.putClaims(e, m.Claims)
	case MsgRelease:
		w.PutNode(e, m.From)
		w.PutNode(e, m.To)
		e.Bool(m.Withdrawn)
	case MsgAdmitted:
		w.PutNode(e, m.From)
		e.Uint(uint64(m.Mode))
		e.Bool(m.Lazy)
		e.Uint(uint64(len(m.Children)))
		for _, c := range m.Children {
			w.PutNode(e, c)
		}
	case MsgBounced:
		w.PutNode(e, m.From)
		w.PutNode(e, m.Node)
	case MsgRefused:
		w.PutNode(e, m.From)
		w.PutNode(e, m.Node)
		e.Uint(uint64(m.Mode))
		e.Uint(uint64(m.Reason))
	case MsgSevered:
		w.PutNode(e, m.From)
		w.PutNode(e, m.Node)
		e.Bool(m.Orphan)
	}
}

func (w *Wire[E, N]) putClaims(e *codec.Encoder, claims []Claim[N]) {
	e.Uint(uint64(len(claims)))
	for _, c := range claims {
		w.PutNode(e, c.Node)
		e.Uint(uint64(c.Mode))
	}
}

// Get reads a message; d has the error if there is none, and m is of no use then. The input may be
// hostile: what is allocated is a small multiple of its length.
func (w *Wire[E, N]) Get(d *codec.Decoder) (m Message[E, N]) {
	m.Kind = MessageKind(d.Enum(uint64(msgKinds)))
	m.Session = Session{Sender: d.Uint(), Addressee: d.Uint()}
	m.ID.Event = w.GetEvent(d)
	m.ID.Attempt = codec.GetUint[uint32](d)
	required(d, m.ID.Attempt != 0, "attempt")
	switch m.Kind {
	case MsgEnter:
		m.To = w.GetNode(d)
		m.Claims = w.claims(d)
	case MsgEnqueue:
		m.From, m.To = w.GetNode(d), w.GetNode(d)
		m.Number = d.Uint()
		required(d, m.Number != 0, "number")
		m.Lazy = d.Bool()
		m.Claims = w.claims(d)
	case MsgAcquire:
		m.To, m.Node = w.GetNode(d), w.GetNode(d)
		m.Claims = w.claims(d)
	case MsgRelease:
		m.From, m.To = w.GetNode(d), w.GetNode(d)
		m.Withdrawn = d.Bool()
	case MsgAdmitted:
		m.From = w.GetNode(d)
		m.Mode = mode(d)
		m.Lazy = d.Bool()
		for n := d.Uint(); n > 0 && d.Err() == nil; n-- {
			m.Children = append(m.Children, w.GetNode(d))
		}
	case MsgBounced:
		m.From, m.Node = w.GetNode(d), w.GetNode(d)
	case MsgRefused:
		m.From, m.Node = w.GetNode(d), w.GetNode(d)
		m.Mode = mode(d)
		m.Reason = Reason(d.Enum(uint64(len(reasonNames))))
		required(d, m.Reason != 0, "reason")
	case MsgSevered:
		m.From, m.Node = w.GetNode(d), w.GetNode(d)
		m.Orphan = d.Bool()
	default:
		required(d, false, "kind")
	}
	return m
}

func (w *Wire[E, N]) claims(d *codec.Decoder) (claims []Claim[N]) {
	for n := d.Uint(); n > 0 && d.Err() == nil; n-- {
		c := Claim[N]{Node: w.GetNode(d), Mode: mode(d)}
		required(d, c.Mode != None, "mode of a claim")
		claims = append(claims, c)
	}
	return claims
}

func mode(d *codec.Decoder) Mode { return Mode(d.Enum(uint64(Write) + 1)) }

func required(d *codec.Decoder, ok bool, what string) {
	if !ok {
		d.Fail("message of the locks without its %s", what)
	}
}
