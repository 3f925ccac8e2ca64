package gossip

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/memberlist"

	"github.com/aeon-lang/aeon/runtime/event"
)

// Peer is another node that is heard of.
type Peer struct {
	Node        event.NodeID
	Incarnation uint64 // grows with each start of the node
	Address     string // as the node says
	Load        []byte // as the node says; see Config.Load
}

// peers are the nodes that memberlist knows, and what it asks about them. Memberlist changes it; any goroutine reads it.
type peers struct {
	self   string
	member func(event.NodeID) error
	meta   func(limit int) []byte

	mu struct {
		sync.Mutex
		all     map[string]Peer // by name
		changed chan struct{}   // is closed when all is
	}
}

var (
	_ memberlist.EventDelegate = (*peers)(nil)
	_ memberlist.AliveDelegate = (*peers)(nil)
	_ memberlist.Delegate      = (*peers)(nil)
)

// NotifyAlive implements memberlist.AliveDelegate: what is no member is not taken for one.
func (p *peers) NotifyAlive(of *memberlist.Node) error {
	n, _, ok := parseName(of.Name)
	if !ok {
		return fmt.Errorf("%q is no name of a node", of.Name)
	}
	return p.member(n)
}

// NotifyJoin implements memberlist.EventDelegate.
func (p *peers) NotifyJoin(of *memberlist.Node) {
	n, incarnation, ok := parseName(of.Name)
	if !ok || of.Name == p.self {
		return
	}
	address, load, ok := decodeMeta(of.Meta)
	if !ok {
		address = of.Address()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.all[of.Name] = Peer{n, incarnation, address, load}
	p.tell()
}

// NotifyUpdate implements memberlist.EventDelegate.
func (p *peers) NotifyUpdate(of *memberlist.Node) { p.NotifyJoin(of) }

// NotifyLeave implements memberlist.EventDelegate.
func (p *peers) NotifyLeave(of *memberlist.Node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.mu.all, of.Name)
	p.tell()
}

func (p *peers) tell() {
	close(p.mu.changed)
	p.mu.changed = make(chan struct{})
}

// NodeMeta implements memberlist.Delegate.
func (p *peers) NodeMeta(limit int) []byte { return p.meta(limit) }

// The rest of memberlist.Delegate is for messages of users, and there are none.

// NotifyMsg implements memberlist.Delegate.
func (p *peers) NotifyMsg([]byte) {}

// GetBroadcasts implements memberlist.Delegate.
func (p *peers) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState implements memberlist.Delegate.
func (p *peers) LocalState(bool) []byte { return nil }

// MergeRemoteState implements memberlist.Delegate.
func (p *peers) MergeRemoteState([]byte, bool) {}

// list returns each node in its last incarnation, in ascending order.
func (p *peers) list() []Peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := make(map[event.NodeID]Peer)
	for _, peer := range p.mu.all {
		if peer.Incarnation > last[peer.Node].Incarnation && p.member(peer.Node) == nil {
			last[peer.Node] = peer
		}
	}
	return slices.SortedFunc(maps.Values(last), func(a, b Peer) int { return cmp.Compare(a.Node, b.Node) })
}

func (p *peers) watch() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.changed
}
