package port

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Protocol is what a connection is for.
type Protocol string

// The protocols.
const (
	Transport Protocol = "aeon-transport"
	Placement Protocol = "aeon-placement"
	Proposals Protocol = "aeon-proposals"
	Gossip    Protocol = "aeon-gossip"
	HTTP      Protocol = "aeon-http"    // requests of clients that are forwarded
	Control   Protocol = "aeon-control" // requests of operators that are forwarded
	Join      Protocol = "aeon-join"    // its connections have no Peer
)

// members are the protocols between members.
var members = []string{string(Transport), string(Placement), string(Proposals), string(Gossip), string(HTTP), string(Control)}

// Config is what a port needs to be known.
type Config struct {
	Address  string       // where to listen, as host:port
	TCP      net.Listener // what listens there already, and belongs to the port from then on; nil: nothing does
	Identity *identity.Identity
	// Verify says why a node with a valid certificate, whose key has this fingerprint, has no part in the cluster; nil if it has. Any goroutine
	// calls it, of the port's own and of those that dial.
	Verify func(event.NodeID, placement.Fingerprint) error
	// Refused is told why the member at an address has refused a connection of this node; nil: nothing is. The goroutine that dials calls it.
	Refused func(address, reason string)
	Logger  *slog.Logger // nil: nothing is logged
	// HandshakeMax is how long a connection may take until both sides know each other; 0: five seconds.
	HandshakeMax time.Duration
	// HandshakesMax is how many accepted connections may be there whose other side is not known yet; 0: 64. If there is one more, the oldest
	// is closed: a handshake takes milliseconds, so that one is silent.
	HandshakesMax int
}

// Port listens, and dials the ports of other nodes.
type Port struct {
	cfg    Config
	tcp    net.Listener
	ending context.Context
	end    context.CancelFunc
	wg     sync.WaitGroup // of the goroutines that accept

	mu struct {
		sync.Mutex
		closed    bool
		pending   []net.Conn // handshakes, the oldest first
		conns     map[*Conn]struct{}
		listeners map[Protocol]*listener
	}
}

// Listen opens a port.
func Listen(cfg Config) (*Port, error) {
	assert.That(cfg.Identity != nil && cfg.Verify != nil, "port: it has no identity, or verifies nothing")
	if cfg.HandshakeMax == 0 {
		cfg.HandshakeMax = 5 * time.Second
	}
	if cfg.HandshakesMax == 0 {
		cfg.HandshakesMax = 64
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.TCP == nil {
		tcp, err := net.Listen("tcp", cfg.Address)
		if err != nil {
			return nil, fmt.Errorf("the port for other nodes: %w", err)
		}
		cfg.TCP = tcp
	}
	p := &Port{cfg: cfg, tcp: cfg.TCP}
	p.ending, p.end = context.WithCancel(context.Background())
	p.mu.conns, p.mu.listeners = make(map[*Conn]struct{}), make(map[Protocol]*listener)
	p.wg.Go(p.accept)
	return p, nil
}

// Addr returns where the port listens. Any goroutine may call it.
func (p *Port) Addr() net.Addr { return p.tcp.Addr() }

// Identity returns the identity that the port proves.
func (p *Port) Identity() *identity.Identity { return p.cfg.Identity }

// Verify says what Config.Verify says. Any goroutine may call it.
func (p *Port) Verify(n event.NodeID, key placement.Fingerprint) error { return p.cfg.Verify(n, key) }

// Listener takes the connections of a protocol from now on; before, and after it is closed, they are refused. Its connections are
// *Conn. Any goroutine may call it; a protocol has one listener at a time.
func (p *Port) Listener(proto Protocol) net.Listener {
	l := &listener{port: p, proto: proto, conns: make(chan *Conn, backlog), closed: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	assert.That(p.mu.listeners[proto] == nil, "port: %s has two listeners", proto)
	if p.mu.closed {
		l.close()
	} else {
		p.mu.listeners[proto] = l
	}
	return l
}

// Recheck closes the connections of nodes that have no part in the cluster any more. Any goroutine may call it.
func (p *Port) Recheck() {
	p.mu.Lock()
	conns := slices.Collect(maps.Keys(p.mu.conns))
	p.mu.Unlock()
	for _, c := range conns {
		if c.peer == 0 {
			continue
		}
		if err := p.cfg.Verify(c.peer, c.key); err != nil {
			p.cfg.Logger.Warn("a connection is closed", "node", c.peer, "protocol", c.proto, "reason", err)
			c.cut()
		}
	}
}

// Close closes the port, its listeners and all connections.
func (p *Port) Close() error {
	p.mu.Lock()
	p.mu.closed = true
	listeners := slices.Collect(maps.Values(p.mu.listeners))
	p.mu.Unlock()
	p.end()
	err := p.tcp.Close()
	for _, l := range listeners {
		_ = l.Close()
	}
	// What is registered from now on closes itself.
	p.mu.Lock()
	conns, pending := slices.Collect(maps.Keys(p.mu.conns)), slices.Clone(p.mu.pending)
	p.mu.Unlock()
	for _, c := range pending {
		_ = c.Close()
	}
	for _, c := range conns {
		c.cut()
	}
	p.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// add registers a connection, so that Recheck and Close find it.
func (p *Port) add(c *Conn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.closed {
		return net.ErrClosed
	}
	p.mu.conns[c] = struct{}{}
	return nil
}

func (p *Port) remove(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.mu.conns, c)
}
