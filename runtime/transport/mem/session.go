package mem

import (
	"context"
	"errors"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
)

// session is one between two nodes.
type session struct {
	ends   [2]end // that of the lower node first
	broken bool
	// cancels end the calls of handlers that go on in it. They are in order, so that a seed repeats what they do.
	cancels []*context.CancelFunc
}

// end is what one of the two nodes knows of a session.
type end struct {
	node   *node
	coming bool // Up is in the inbox, or was delivered
	up     bool // Up was delivered
}

// end returns that of x.
func (s *session) end(x *node) *end {
	if s.ends[0].node == x {
		return &s.ends[0]
	}
	return &s.ends[1]
}

// other returns the node at the other end.
func (s *session) other(x *node) *node {
	if s.ends[0].node == x {
		return s.ends[1].node
	}
	return s.ends[0].node
}

// connectAll begins the sessions of a node that may begin.
func (n *Network) connectAll(id event.NodeID) {
	for _, x := range n.sorted() {
		if x.id != id {
			n.connect(pairOf(x.id, id))
		}
	}
}

// able reports whether two nodes may have a session now, and have none.
func (n *Network) able(p pair) bool {
	low, high := n.nodes[p.low], n.nodes[p.high]
	return low != nil && high != nil && !low.closing && !high.closing && n.begun[p] == nil && low.peers[p.high] && !high.refused[p.low] &&
		n.cut[link{p.low, p.high}] == 0 && n.cut[link{p.high, p.low}] == 0
}

// connect has two nodes begin a session after some turns, if they may then.
func (n *Network) connect(p pair) {
	if !n.able(p) {
		return
	}
	n.task(func() {
		n.delay()
		n.mu.Lock()
		defer n.mu.Unlock()
		if !n.able(p) {
			return
		}
		s := &session{}
		s.ends[0].node, s.ends[1].node = n.nodes[p.low], n.nodes[p.high]
		n.begun[p] = s
		n.saw.Sessions++
		n.push(s, s.ends[1].node, item{kind: up, s: s})
	})
}

// breakAll ends the sessions of a node.
func (n *Network) breakAll(x *node) {
	for _, other := range n.sorted() {
		if s := n.begun[pairOf(x.id, other.id)]; s != nil {
			n.breakSession(s)
		}
	}
}

// breakSession ends a session at both ends. Of what has crossed already, a part may still be delivered.
func (n *Network) breakSession(s *session) {
	p := pair{s.ends[0].node.id, s.ends[1].node.id}
	// Invariant: a session breaks once.
	assert.That(n.begun[p] == s && !s.broken, "mem: a session of nodes %d and %d breaks twice", p.low, p.high)
	s.broken = true
	delete(n.begun, p)
	n.saw.Broken++
	for i := range s.ends {
		e := &s.ends[i]
		x, from := e.node, s.other(e.node)
		b := x.inboxes[from.id]
		switch {
		case x.dead:
			if b != nil {
				b.items = nil
			}
		case e.coming:
			keep := 0
			if !from.dead && n.cut[link{from.id, x.id}] == 0 {
				keep = n.cfg.Rand.IntN(len(b.items) + 1)
			}
			n.saw.Dropped += b.drop(func(o *session) bool { return o == s }, keep)
			n.push(s, x, item{kind: down, s: s})
			if n.cut[link{from.id, x.id}] == 0 {
				x.heard[from.id] = n.cfg.Clock.Now()
			}
		}
	}
	for _, cancel := range s.cancels {
		(*cancel)()
	}
	n.connect(p)
	n.news.Broadcast()
}

// inbox is what goes from one node to another and has not been delivered.
type inbox struct {
	of      *node
	from    event.NodeID
	items   []item
	running bool // a task delivers
}

// item is one call of a handler.
type item struct {
	kind kind
	s    *session
	m    []byte
}

type kind uint8

const (
	message kind = iota
	up
	down
)

// drop takes out the messages of some sessions, but for the first keep ones, and returns how many.
func (b *inbox) drop(of func(*session) bool, keep int) (dropped uint64) {
	kept := b.items[:0]
	for _, it := range b.items {
		if it.kind == message && of(it.s) {
			if keep--; keep < 0 {
				dropped++
				continue
			}
		}
		kept = append(kept, it)
	}
	clear(b.items[len(kept):])
	b.items = kept
	return dropped
}

// push adds to the inbox of a node.
func (n *Network) push(s *session, to *node, it item) {
	if it.kind == up {
		s.end(to).coming = true
	}
	from := s.other(to).id
	b := to.inboxes[from]
	if b == nil {
		b = &inbox{of: to, from: from}
		to.inboxes[from] = b
	}
	b.items = append(b.items, it)
	n.kick(b)
}

// kick has what is in an inbox delivered.
func (n *Network) kick(b *inbox) {
	if !b.running && len(b.items) > 0 {
		b.running = true
		n.task(func() { n.deliver(b) })
	}
}

// deliver empties an inbox. It is the only task that calls the handler for messages of that node.
func (n *Network) deliver(b *inbox) {
	for {
		n.delay()
		it, ok := n.next(b)
		if !ok {
			return
		}
		switch h := b.of.handler; it.kind {
		case up:
			h.Up(b.from)
		case down:
			h.Down(b.from)
		default:
			h.Message(b.from, it.m)
		}
	}
}

// next takes the first item out of an inbox. There is none if it is empty, or if the link is cut: then a later kick goes on.
func (n *Network) next(b *inbox) (it item, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	x := b.of
	if len(b.items) > 0 && !b.items[0].s.broken && n.cut[link{b.from, x.id}] != 0 {
		n.saw.Held++
		b.running = false
		n.news.Broadcast()
		return it, false
	}
	if len(b.items) == 0 || x.dead {
		b.items, b.running = nil, false
		n.news.Broadcast()
		return it, false
	}
	it = b.items[0]
	b.items[0] = item{}
	b.items = b.items[1:]
	if it.kind != down {
		x.heard[b.from] = n.cfg.Clock.Now()
	}
	switch it.kind {
	case up:
		it.s.end(x).up = true
		x.present[b.from] = it.s
		if low := it.s.ends[0].node; x != low && !it.s.broken {
			n.push(it.s, low, item{kind: up, s: it.s}) // before the handler sends
		}
	case down:
		delete(x.present, b.from)
	case message:
		n.saw.Delivered++
	}
	n.news.Broadcast()
	return it, true
}

// call is a call or a bulk under way.
type call struct {
	from, to *node
	s        *session
	bulk     bool
	ran      bool // the handler was called
	dropped  bool // it must not be called
	stopped  bool // the write of a bulk has failed
	done     bool // the caller has its answer
	reply    []byte
	err      error // what the handler has returned
}

// errBroken is why a call ended that has no other reason.
var errBroken = errors.New("the session has ended")
