package mem

import (
	"context"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/transport"
)

// node is one life of a node, and its transport.
type node struct {
	net      *Network
	id       event.NodeID
	handler  transport.Handler
	peers    map[event.NodeID]bool
	refused  map[event.NodeID]bool     // were peers
	present  map[event.NodeID]*session // of which Up was delivered, and Down was not
	inboxes  map[event.NodeID]*inbox   // by sender
	heard    map[event.NodeID]time.Time
	handling int  // calls and bulks
	progress bool // of the disk
	closing  bool
	dead     bool
}

// Peers implements transport.Transport.
func (x *node) Peers(nodes []event.NodeID) {
	n := x.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if x.dead || x.closing {
		return
	}
	was := x.peers
	x.peers = make(map[event.NodeID]bool)
	for _, id := range nodes {
		if id != x.id {
			x.peers[id] = true
			delete(x.refused, id)
		}
	}
	for id := range was {
		if !x.peers[id] {
			x.refused[id] = true
		}
	}
	for _, other := range n.sorted() {
		if s := n.begun[pairOf(x.id, other.id)]; s != nil && x.refused[other.id] {
			n.breakSession(s)
		}
	}
	n.connectAll(x.id)
}

// Send implements transport.Transport. It hands over to no other task.
func (x *node) Send(to event.NodeID, m []byte) bool { return x.send(to, m, x.net.cfg.Loss) }

// SendReliable implements transport.Transport. It hands over to no other task.
func (x *node) SendReliable(to event.NodeID, m []byte) bool { return x.send(to, m, 0) }

func (x *node) send(to event.NodeID, m []byte, loss float64) bool {
	transport.CheckMessage(m)
	n := x.net
	n.mu.Lock()
	defer n.mu.Unlock()
	s := x.present[to]
	switch {
	case x.dead || s == nil:
		return false
	case s.broken: // the node has not learned of it
		n.saw.Dropped++
		return true
	case n.chance(loss):
		n.saw.Lost++
		return false
	}
	n.push(s, s.other(x), item{kind: message, s: s, m: m})
	return true
}

// Heard implements transport.Transport.
func (x *node) Heard(id event.NodeID) transport.Health {
	n := x.net
	n.mu.Lock()
	defer n.mu.Unlock()
	s := x.present[id]
	h := transport.Health{Up: s != nil, At: x.heard[id]}
	if s != nil {
		h.Progress = s.other(x).progress
		if !s.broken && n.cut[link{id, x.id}] == 0 {
			h.At = n.cfg.Clock.Now()
		}
	}
	return h
}

// Break implements transport.Transport.
func (x *node) Break(id event.NodeID) {
	n := x.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if s := x.present[id]; s != nil && !s.broken && !x.dead {
		n.breakSession(s)
	}
}

// Close implements transport.Transport.
func (x *node) Close() error {
	n := x.net
	n.mu.Lock()
	if !x.dead && !x.closing {
		x.closing = true
		n.breakAll(x)
		n.news.Broadcast()
	}
	n.mu.Unlock()
	n.wait(context.Background(), func() bool { return x.dead || x.idle() })
	n.mu.Lock()
	defer n.mu.Unlock()
	if !x.dead {
		x.dead = true
		delete(n.nodes, x.id)
	}
	return nil
}

// idle reports whether the handler is called no more.
func (x *node) idle() bool {
	for _, b := range x.inboxes {
		if b.running {
			return false
		}
	}
	return x.handling == 0
}
