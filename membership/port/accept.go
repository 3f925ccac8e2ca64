package port

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
)

// acceptPause is how long the port waits after the system had no connection for it, as when the process has too many files open.
const acceptPause = 50 * time.Millisecond

// accept accepts connections until the port is closed. A connection that is slow or silent holds up none of the others.
func (p *Port) accept() {
	cfg := p.accepting()
	for {
		c, err := p.tcp.Accept()
		switch {
		case err == nil:
			if p.begin(c) {
				p.wg.Go(func() { p.handshake(c, cfg) })
			}
		case errors.Is(err, net.ErrClosed):
			return
		default:
			p.cfg.Logger.Warn("a connection cannot be accepted", "error", err)
			pause := time.NewTimer(acceptPause)
			select {
			case <-pause.C:
			case <-p.ending.Done():
				pause.Stop()
				return
			}
		}
	}
}

// begin notes a handshake, and ends the oldest one if there are too many.
func (p *Port) begin(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.closed {
		_ = c.Close()
		return false
	}
	if len(p.mu.pending) >= p.cfg.HandshakesMax {
		oldest := p.mu.pending[0]
		p.mu.pending = slices.Delete(p.mu.pending, 0, 1)
		_ = oldest.Close()
	}
	p.mu.pending = append(p.mu.pending, c)
	return true
}

// ended forgets a handshake.
func (p *Port) ended(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := slices.Index(p.mu.pending, c); at >= 0 {
		p.mu.pending = slices.Delete(p.mu.pending, at, at+1)
	}
}

// handshake finds out which node a connection is of, and hands it to the listener of its protocol.
func (p *Port) handshake(raw net.Conn, cfg *tls.Config) {
	defer p.ended(raw)
	_ = raw.SetDeadline(time.Now().Add(p.cfg.HandshakeMax))
	ctx, cancel := context.WithTimeout(p.ending, p.cfg.HandshakeMax)
	defer cancel()
	c := &Conn{Conn: tls.Server(raw, cfg), port: p}
	if err := c.HandshakeContext(ctx); err != nil {
		p.cfg.Logger.Info("a connection is refused", "from", raw.RemoteAddr(), "reason", err)
		_ = raw.Close()
		return
	}
	s := c.ConnectionState()
	c.proto = Protocol(s.NegotiatedProtocol)
	if len(s.PeerCertificates) > 0 {
		c.peer, c.key, _ = p.cfg.Identity.Check(s.PeerCertificates[0]) // ofCluster has looked at the error
	}
	if err := p.admit(c); err != nil {
		level := slog.LevelInfo
		if _, starts := errors.AsType[*notNow](err); starts {
			level = slog.LevelDebug // one of the two is starting, or ending, and the other comes again
		}
		p.cfg.Logger.Log(context.Background(), level, "a connection is refused", "from", raw.RemoteAddr(), "node", c.peer, "protocol", c.proto, "reason", err)
		_ = answer(c.Conn, err)
		_ = c.Close()
		return
	}
	err := answer(c.Conn, nil)
	if err == nil {
		err = raw.SetDeadline(time.Time{})
	}
	if err != nil || !p.deliver(c) {
		_ = c.Close()
	}
}

// notNow says that a node does not take a protocol, as it is starting or ending.
type notNow struct {
	node  event.NodeID
	proto Protocol
}

// Error implements error.
func (e *notNow) Error() string { return fmt.Sprintf("node %d does not take %s now", e.node, e.proto) }

// admit returns why a connection is not taken. It is registered first, so that Recheck finds it if a node is removed meanwhile.
func (p *Port) admit(c *Conn) error {
	if err := p.add(c); err != nil {
		return err
	}
	p.mu.Lock()
	listens := p.mu.listeners[c.proto] != nil
	p.mu.Unlock()
	if !listens {
		return &notNow{p.cfg.Identity.Node, c.proto}
	}
	if c.peer == 0 {
		return nil
	}
	return p.cfg.Verify(c.peer, c.key)
}

// deliver hands a connection to the listener of its protocol, unless that is closed, or has too many that it did not accept.
func (p *Port) deliver(c *Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.mu.listeners[c.proto]
	if l == nil {
		return false
	}
	select {
	case l.conns <- c:
		return true
	default:
		p.cfg.Logger.Warn("connections are not accepted", "protocol", c.proto, "waiting", len(l.conns))
		return false
	}
}
