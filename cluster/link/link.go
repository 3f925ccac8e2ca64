// Package link begins and ends sessions between the stores of a cluster, as their leaders come and go, and carries what they tell each other.
//
// A node tells all others which stores it leads. Of two stores whose leaders know of each other the one of the lower number begins a session. It ends
// when either leader goes, when another node leads the store in a later term, or when the session between the two nodes ends. All that two stores tell
// each other belongs to one session; the stores are told of its end before anything of the next one (package across).
package link

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
)

// Config says how a node reaches others. All fields are needed.
type Config struct {
	Node event.NodeID
	// Send is transport.Transport.SendReliable. What finds no session with the node is lost: the sessions of its stores end, too.
	Send func(to event.NodeID, m []byte)
}

// Links are those of one node. Any goroutine may use it.
type Links struct {
	cfg   Config
	mu    sync.Mutex
	nodes map[event.NodeID]map[event.StoreID]uint64 // those with which there is a session: which stores they lead, in which terms
	here  map[event.StoreID]*Local
}

// New returns the links of a node that leads nothing.
func New(cfg Config) *Links {
	return &Links{cfg: cfg, nodes: make(map[event.NodeID]map[event.StoreID]uint64), here: make(map[event.StoreID]*Local)}
}

// Local is a store that this node leads, in one term. It is the across.Network of its system.
type Local struct {
	links    *Links
	id       event.StoreID
	term     uint64
	sessions map[event.StoreID]*session // guarded by the mutex of the Links, as is ready
	ready    bool
	inbox    inbox
	chunk    []byte // has messages that wait to be sent, and room for more; Send is called by one goroutine at a time
}

// session is what one store knows of a session with another one.
type session struct {
	node   event.NodeID // that leads the other store
	term   uint64       // of it
	number uint64
	begun  bool   // else the other node has not answered yet
	rest   []byte // of a message that has come in part
}

// Open begins a term in which this node leads a store. Messages to the store itself wait until it is ready. The caller closes the Local.
func (l *Links) Open(id event.StoreID, term uint64) *Local {
	x := &Local{links: l, id: id, term: term, sessions: make(map[event.StoreID]*session)}
	x.inbox.open()
	return x
}

// Ready says that the store takes messages: other nodes are told of it.
func (x *Local) Ready(s Store) {
	l := x.links
	x.inbox.start(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	// Invariant: a node leads a store in one term at a time.
	assert.That(l.here[x.id] == nil, "link: store %d is led twice", x.id)
	x.ready = true
	for _, other := range l.here {
		if s := other.sessions[x.id]; s != nil && s.term > x.term {
			continue // another node leads x in a later term
		}
		number := newNumber()
		x.sessions[other.id] = &session{node: l.cfg.Node, term: other.term, number: number, begun: true}
		other.drop(x.id)
		other.sessions[x.id] = &session{node: l.cfg.Node, term: x.term, number: number, begun: true}
		x.inbox.put(func(s Store) { s.Up(other.id, number) })
		other.inbox.put(func(s Store) { s.Up(x.id, number) })
	}
	l.here[x.id] = x
	for n, leads := range l.nodes {
		l.cfg.Send(n, frame(leadsFrame, x.id, 0, x.term))
		for id, term := range leads {
			l.begin(x, n, id, term)
		}
	}
}

// Close ends all sessions of the store. The store itself is not told.
func (x *Local) Close() {
	l := x.links
	l.mu.Lock()
	if l.here[x.id] == x {
		delete(l.here, x.id)
		for n := range l.nodes {
			l.cfg.Send(n, frame(goneFrame, x.id, 0, x.term))
		}
		for _, other := range l.here {
			if s := other.sessions[x.id]; s != nil && s.node == l.cfg.Node {
				other.drop(x.id)
			}
		}
	}
	clear(x.sessions)
	l.mu.Unlock()
	x.inbox.close()
}

// drop ends a session, if there is one. Caller holds the mutex of the Links.
func (x *Local) drop(id event.StoreID) {
	s := x.sessions[id]
	if s == nil {
		return
	}
	delete(x.sessions, id)
	if s.begun {
		x.inbox.put(func(to Store) { to.Lost(id) })
	}
}

// begin asks another node for a session between its store and x, if that is for this node to do. Caller holds mu.
func (l *Links) begin(x *Local, n event.NodeID, id event.StoreID, term uint64) {
	if s := x.sessions[id]; s != nil && (s.term > term || s.term == term && s.node == n && s.begun) {
		return // of a newer leader, or it is there
	}
	if x.id > id {
		return
	}
	x.drop(id)
	s := &session{node: n, term: term, number: newNumber()}
	x.sessions[id] = s
	l.cfg.Send(n, binary.AppendUvarint(binary.AppendUvarint(frame(beginFrame, x.id, id, x.term), term), s.number))
}

// newNumber returns a number that no other session has.
func newNumber() uint64 { return rand.Uint64() | 1 }

// The frames. All have a kind, a store of the sender, one of the receiver, and the term of the first.
const (
	leadsFrame   = iota + 1 // the sender leads its store
	goneFrame               // it does not any more
	beginFrame              // a session is to begin; then the term of the receiver's store, and the number of the session
	begunFrame              // it has begun; then the number
	messageFrame            // the number, and a message, or the end of one
	partFrame               // the number, and a part of a message
)

func frame(kind byte, from, to event.StoreID, term uint64) []byte {
	return appendFrame(nil, kind, from, to, term)
}

func appendFrame(b []byte, kind byte, from, to event.StoreID, term uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(append(b, kind), uint64(from)), uint64(to)), term)
}

// Up is transport.Handler.Up.
func (l *Links) Up(n event.NodeID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nodes[n] = make(map[event.StoreID]uint64)
	for _, x := range l.here {
		l.cfg.Send(n, frame(leadsFrame, x.id, 0, x.term))
	}
}

// Down is transport.Handler.Down.
func (l *Links) Down(n event.NodeID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.nodes, n)
	for _, x := range l.here {
		for id, s := range x.sessions {
			if s.node == n {
				x.drop(id)
			}
		}
	}
}

// Message takes a frame of another node. The error says that it cannot be read.
func (l *Links) Message(from event.NodeID, m []byte) error {
	if len(m) == 0 {
		return errFrame
	}
	in := row.Read(m[1:])
	a, b, term := event.StoreID(in.Uint()), event.StoreID(in.Uint()), in.Uint()
	if m[0] == messageFrame || m[0] == partFrame {
		number := in.Uint()
		return l.take(from, a, b, number, m[0] == partFrame, in.Rest())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch m[0] {
	case leadsFrame:
		if leads := l.nodes[from]; leads != nil {
			leads[a] = term
		}
		for _, x := range l.here {
			if x.id != a {
				l.begin(x, from, a, term)
			}
		}
	case goneFrame:
		if leads := l.nodes[from]; leads[a] == term {
			delete(leads, a)
		}
		for _, x := range l.here {
			if s := x.sessions[a]; s != nil && s.node == from && s.term == term {
				x.drop(a)
			}
		}
	case beginFrame:
		wanted, number := in.Uint(), in.Uint()
		x := l.here[b]
		if x == nil || x.term != wanted {
			break // the other node hears of the next leader
		}
		if s := x.sessions[a]; s != nil && s.term > term {
			break
		}
		x.drop(a)
		x.sessions[a] = &session{node: from, term: term, number: number, begun: true}
		l.cfg.Send(from, binary.AppendUvarint(frame(begunFrame, b, a, x.term), number))
		x.inbox.put(func(s Store) { s.Up(a, number) })
	case begunFrame:
		number := in.Uint()
		if x := l.here[b]; x != nil {
			if s := x.sessions[a]; s != nil && s.node == from && s.number == number && !s.begun {
				s.begun = true
				x.inbox.put(func(to Store) { to.Up(a, number) })
			}
		}
	default:
		return errFrame
	}
	return in.End()
}

// take takes a message, or a part of one.
func (l *Links) take(node event.NodeID, from, to event.StoreID, number uint64, part bool, text []byte) error {
	x, text := l.whole(node, from, to, number, part, text)
	if x == nil {
		return nil
	}
	a := arrival{from: from, session: number}
	if err := a.message.Read(text); err != nil {
		return err
	}
	x.inbox.add(&a) // if the session has ended meanwhile the store drops it by its number
	return nil
}

// whole returns the store that a message is for, and all of the message; nil: its session has ended, or more of it comes.
func (l *Links) whole(node event.NodeID, from, to event.StoreID, number uint64, part bool, text []byte) (*Local, []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.here[to]
	if x == nil {
		return nil, nil
	}
	s := x.sessions[from]
	if s == nil || s.node != node || s.number != number {
		return nil, nil
	}
	if part || len(s.rest) > 0 {
		s.rest = append(s.rest, text...)
		if part {
			return nil, nil
		}
		text, s.rest = s.rest, nil
	}
	return x, text
}

// partMax is how many bytes of a message are sent in one piece: as long messages between replicas wait for it.
const partMax = 1 << 20

// Messages are encoded into chunks of chunkLen, each of which has room for one more as long as chunkMin is left. A longer message has memory of its own.
const (
	chunkLen = 8 << 10
	chunkMin = 512
)

// Send implements across.Network.
func (x *Local) Send(to event.StoreID, number uint64, m *across.Message) {
	if to == x.id {
		x.inbox.receive(to, 0, m)
		return
	}
	l := x.links
	l.mu.Lock()
	s, here := x.sessions[to], l.here[to]
	l.mu.Unlock() // if the session ends from now on, what is sent is dropped by its number
	switch {
	case s == nil || s.number != number: // it has ended, though the store may not have been told so yet
	case s.node == l.cfg.Node:
		here.inbox.receive(x.id, number, m)
	default:
		x.sendTo(s.node, to, number, m)
	}
}

// sendTo sends a message to the leader of another store.
func (x *Local) sendTo(node event.NodeID, to event.StoreID, number uint64, m *across.Message) {
	l := x.links
	head := func(b []byte, kind byte) []byte {
		return binary.AppendUvarint(appendFrame(b, kind, x.id, to, x.term), number)
	}
	if cap(x.chunk)-len(x.chunk) < chunkMin {
		x.chunk = make([]byte, 0, chunkLen)
	}
	free := x.chunk[len(x.chunk):]
	f := head(free, messageFrame)
	start := len(f)
	f = m.Append(f)
	if text := f[start:]; len(text) > partMax {
		for ; len(text) > partMax; text = text[partMax:] {
			l.cfg.Send(node, append(head(nil, partFrame), text[:partMax]...))
		}
		l.cfg.Send(node, append(head(nil, messageFrame), text...))
		return
	}
	if len(f) <= cap(free) {
		x.chunk = x.chunk[:len(x.chunk)+len(f)]
	}
	l.cfg.Send(node, f[:len(f):len(f)])
}

// Sessions lists the stores with which a store that this node leads has a session, in order; nil if this node does not lead it.
func (l *Links) Sessions(id event.StoreID) (list []event.StoreID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.here[id]
	if x == nil {
		return nil
	}
	list = []event.StoreID{}
	for other, s := range x.sessions {
		if s.begun {
			list = append(list, other)
		}
	}
	slices.Sort(list)
	return list
}
