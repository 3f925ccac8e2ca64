// Package port is the one port of a node at which other nodes reach it. TLS 1.3 with certificates of both sides tells which node is at the other
// end, and the protocol that is agreed on with the handshake (ALPN) what the connection is for.
package port

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// The protocols.
const (
	Transport = "aeon-transport" // messages, calls and states
	Placement = "aeon-placement" // raft of the placement
	HTTP      = "aeon-http"      // requests of clients that are forwarded
	Join      = "aeon-join"      // a node that has no certificate yet
)

// Conn is a connection with a node.
type Conn struct {
	*tls.Conn
	peer event.NodeID
}

// Peer returns the node at the other end; 0 for a connection of Join.
func (c *Conn) Peer() event.NodeID { return c.peer }

// Verify says why a node with this key is not to be talked to; nil: it is a member.
type Verify func(n event.NodeID, key placement.Fingerprint) error

const (
	handshakeMax     = 5 * time.Second
	handshakesAtOnce = 256 // a client that says nothing holds one of them until handshakeMax
)

// Port is a port that listens. Any goroutine may call it.
type Port struct {
	identity *identity.Identity
	verify   Verify
	log      *slog.Logger
	from     net.Listener

	mu        sync.Mutex
	listeners map[string]*listener
	group     sync.WaitGroup
	slots     chan struct{}
	closed    chan struct{}
}

// Listen listens at an address.
func Listen(address string, id *identity.Identity, verify Verify, log *slog.Logger) (*Port, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	p := &Port{identity: id, verify: verify, log: log, from: l, listeners: make(map[string]*listener), slots: make(chan struct{}, handshakesAtOnce), closed: make(chan struct{})}
	for _, name := range []string{Transport, Placement, HTTP, Join} {
		p.listeners[name] = &listener{of: p, conns: make(chan net.Conn), closed: make(chan struct{})}
	}
	p.group.Go(p.accept)
	return p, nil
}

// Addr returns the address at which the port listens.
func (p *Port) Addr() net.Addr { return p.from.Addr() }

// Listener returns the connections of a protocol, which are *Conn.
func (p *Port) Listener(protocol string) net.Listener { return p.listeners[protocol] }

func (p *Port) accept() {
	for {
		c, err := p.from.Accept()
		if err != nil {
			select {
			case <-p.closed:
				return
			case <-time.After(10 * time.Millisecond): // out of descriptors, say
				continue
			}
		}
		select {
		case p.slots <- struct{}{}:
		case <-p.closed:
			_ = c.Close()
			return
		}
		p.group.Go(func() {
			defer func() { <-p.slots }()
			if err := p.take(c); err != nil {
				_ = c.Close()
				p.log.Debug("a connection of another node is refused", "from", c.RemoteAddr().String(), "error", err)
			}
		})
	}
}

// take does the handshake of a connection, and gives it to its listener.
func (p *Port) take(c net.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeMax)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	config := &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{p.identity.Certificate()}, ClientCAs: p.identity.Authorities(),
		ClientAuth: tls.VerifyClientCertIfGiven, NextProtos: []string{Transport, Placement, HTTP, Join},
	}
	t := tls.Server(c, config)
	if err := t.HandshakeContext(ctx); err != nil {
		return err
	}
	s := t.ConnectionState()
	l := p.listeners[s.NegotiatedProtocol]
	if l == nil {
		return errors.New("the client has named no protocol")
	}
	conn := &Conn{Conn: t}
	if s.NegotiatedProtocol != Join {
		var err error
		if conn.peer, err = p.peer(s.PeerCertificates); err != nil {
			return err
		}
	}
	select {
	case l.conns <- conn:
		return nil
	case <-l.closed:
		return net.ErrClosed
	case <-p.closed:
		return net.ErrClosed
	case <-ctx.Done():
		return errors.New("nothing takes the connection")
	}
}

// peer returns the node of a certificate that was verified, if it is a member.
func (p *Port) peer(certs []*x509.Certificate) (event.NodeID, error) {
	if len(certs) == 0 {
		return 0, errors.New("the other end has shown no certificate")
	}
	n, err := p.identity.NodeOf(certs[0])
	if err != nil {
		return 0, err
	}
	return n, p.verify(n, identity.Fingerprint(certs[0]))
}

// Dial connects to a node. The node at the other end is that one, and a member.
func (p *Port) Dial(ctx context.Context, address, protocol string, n event.NodeID) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeMax)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	t := tls.Client(c, &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{p.identity.Certificate()}, NextProtos: []string{protocol},
		InsecureSkipVerify: true, // certificates name nodes and no hosts: verifyNode does what is skipped
		VerifyConnection:   func(s tls.ConnectionState) error { return p.verifyNode(s, n) },
	})
	if err := t.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("node %d at %s: %w", n, address, err)
	}
	return &Conn{t, n}, nil
}

// verifyNode verifies the certificate of the other end, which is to be node n.
func (p *Port) verifyNode(s tls.ConnectionState, n event.NodeID) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the other end has shown no certificate")
	}
	if _, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: p.identity.Authorities(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err != nil {
		return err
	}
	is, err := p.peer(s.PeerCertificates)
	if err == nil && is != n {
		err = fmt.Errorf("node %d is there", is)
	}
	return err
}

// DialToJoin connects to a member of the cluster that a token names, without a certificate.
func DialToJoin(ctx context.Context, address string, token identity.Token) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeMax)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	t := tls.Client(c, &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{Join},
		InsecureSkipVerify: true, // the token says what the authority is, see below
		VerifyConnection: func(s tls.ConnectionState) error {
			for _, ca := range s.PeerCertificates[1:] {
				if token.Of(ca) && s.PeerCertificates[0].CheckSignatureFrom(ca) == nil {
					return nil
				}
			}
			return errors.New("it is a node of another cluster than the one of the token")
		},
	})
	if err := t.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return t, nil
}

// Close stops listening. Connections stay.
func (p *Port) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.closed:
		return nil
	default:
	}
	close(p.closed)
	err := p.from.Close()
	p.group.Wait()
	return err
}

// listener implements net.Listener for one protocol.
type listener struct {
	of     *Port
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
	case <-l.of.closed:
	}
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return l.of.from.Addr() }
