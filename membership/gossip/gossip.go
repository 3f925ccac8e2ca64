package gossip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Config is what the gossip of a node needs to be known.
type Config struct {
	Port    *port.Port
	UDP     *net.UDPConn // what Bind has returned for the address of the port; it belongs to the gossip that has started
	Address string       // where other nodes reach this one, as host:port
	// Seeds returns addresses of other nodes: those that the placement has, and those that an operator has named. The gossip tries those at
	// which it hears nothing, for ever. One goroutine calls it.
	Seeds func() []string
	// Member says why a node is no member; nil if it is, or may be. Any goroutine calls it, and it calls nothing of the gossip.
	Member func(event.NodeID) error
	// Load returns what the others are told of this node's load, at most LoadMax bytes; nil: nothing. Any goroutine calls it.
	Load   func() []byte
	Clock  func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: nothing is logged
	// Every is how often a node is probed, and how often Load and Seeds are called; 0: a second. A node that is silent is no peer any more after five to ten times that.
	Every time.Duration
}

// LoadMax is how many bytes a load has at most. One that has more is not told.
const LoadMax = 256

// The join loop begins with a pause of Every, and pauses up to this many times as long.
const pauseFactorMax = 16

// Gossip takes part in the gossip of a cluster. Any goroutine may call its methods.
type Gossip struct {
	cfg       Config
	peers     *peers
	list      *memberlist.Memberlist
	transport *transport
	told      atomic.Pointer[[]byte] // the load that the others are told
	ctx       context.Context        // ends when the gossip is closed
	end       context.CancelFunc
	wg        sync.WaitGroup
}

// Start begins to take part.
func Start(cfg Config) (*Gossip, error) {
	assert.That(cfg.Port != nil && cfg.UDP != nil && cfg.Seeds != nil && cfg.Member != nil, "gossip: the configuration is not complete")
	cfg.fill()
	id := cfg.Port.Identity()
	key, err := id.Secret("gossip")
	if err != nil {
		return nil, fmt.Errorf("the key of the gossip: %w", err)
	}
	g := &Gossip{cfg: cfg}
	g.ctx, g.end = context.WithCancel(context.Background())
	g.tell(cfg.Load())
	g.peers = &peers{self: name(id.Node, uint64(cfg.Clock().UnixNano())), member: cfg.Member, meta: g.meta}
	g.peers.mu.all, g.peers.mu.changed = make(map[string]Peer), make(chan struct{})
	g.transport = newTransport(cfg.Port, cfg.UDP, cfg.Address)
	if g.list, err = memberlist.Create(g.config(id.Cluster, key)); err != nil {
		g.end()
		return nil, errors.Join(fmt.Errorf("the gossip: %w", err), g.transport.Shutdown())
	}
	g.wg.Go(g.join)
	g.wg.Go(g.tellLoad)
	return g, nil
}

func (c *Config) fill() {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Load == nil {
		c.Load = func() []byte { return nil }
	}
	if c.Every == 0 {
		c.Every = time.Second
	}
}

func (g *Gossip) config(cluster string, key []byte) *memberlist.Config {
	c := memberlist.DefaultLANConfig()
	c.Name, c.Transport, c.Label, c.SecretKey = g.peers.self, g.transport, cluster, key
	c.Delegate, c.Events, c.Alive = g.peers, g.peers, g.peers
	c.ProbeInterval, c.ProbeTimeout, c.GossipInterval = g.cfg.Every, g.cfg.Every/2, g.cfg.Every/5
	c.PushPullInterval = 15 * g.cfg.Every
	c.TCPTimeout = 2 * time.Second
	c.EnableCompression = false // what is sent is smaller than a packet
	c.Logger = log.New(logWriter{g.cfg.Logger}, "", 0)
	return c
}

// Peers returns the other nodes that are heard of, in ascending order.
func (g *Gossip) Peers() []Peer { return g.peers.list() }

// Watch returns a channel that is closed when Peers changes: Peers has to be called after Watch.
func (g *Gossip) Watch() <-chan struct{} { return g.peers.watch() }

// Heard reports whether a node is heard of: the plan and the placement's voters ask so. A node hears itself.
func (g *Gossip) Heard(n event.NodeID) bool {
	return n == g.cfg.Port.Identity().Node || slices.ContainsFunc(g.Peers(), func(p Peer) bool { return p.Node == n })
}

// Addresses returns where a node says that it is reached; none if it is not heard of.
func (g *Gossip) Addresses(n event.NodeID) (list []string) {
	for _, p := range g.Peers() {
		if p.Node == n {
			list = append(list, p.Address)
		}
	}
	return list
}

// Close ends the gossip, and tells the others that the node goes.
func (g *Gossip) Close() error {
	g.end()
	_ = g.list.Leave(g.cfg.Every) // if that fails, others find it out
	return g.stop()
}

func (g *Gossip) stop() error {
	g.end()
	g.transport.end() // a dial that is under way ends
	g.wg.Wait()
	return g.list.Shutdown()
}

// meta is what the others are told of this node.
func (g *Gossip) meta(limit int) []byte {
	b := encodeMeta(g.cfg.Address, *g.told.Load())
	if len(b) > limit {
		b = encodeMeta(g.cfg.Address, nil)
	}
	return b
}

// tell notes the load that the others are told from now on, and reports whether it is another one.
func (g *Gossip) tell(load []byte) bool {
	if len(load) > LoadMax {
		load = nil
	}
	if old := g.told.Load(); old != nil && bytes.Equal(*old, load) {
		return false
	}
	load = bytes.Clone(load)
	g.told.Store(&load)
	return true
}

// tellLoad tells the others the load when it has changed.
func (g *Gossip) tellLoad() {
	every := time.NewTicker(g.cfg.Every)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			if g.tell(g.cfg.Load()) {
				_ = g.list.UpdateNode(g.cfg.Every) // the error is that it was not sent in this time; it is sent then
			}
		case <-g.ctx.Done():
			return
		}
	}
}

// join tries the addresses at which no node is heard, for ever. It tries soon again when nodes come or go, and else ever more seldom.
func (g *Gossip) join() {
	pause := g.cfg.Every
	for {
		changed := g.peers.watch()
		heard := []string{g.cfg.Address}
		for _, p := range g.Peers() {
			heard = append(heard, p.Address)
		}
		missing := slices.DeleteFunc(slices.Clone(g.cfg.Seeds()), func(a string) bool { return a == "" || slices.Contains(heard, a) })
		if len(missing) > 0 {
			if n, err := g.list.Join(missing); err != nil {
				g.cfg.Logger.Debug("nodes are not reached by gossip", "addresses", missing, "reached", n, "error", err)
			}
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
			pause = min(2*pause, pauseFactorMax*g.cfg.Every)
		case <-changed:
			pause = g.cfg.Every
			wait.Reset(pause)
			select { // nodes that come or go together are one change
			case <-wait.C:
			case <-g.ctx.Done():
			}
		case <-g.ctx.Done():
		}
		wait.Stop()
		if g.ctx.Err() != nil {
			return
		}
	}
}
