package port

import (
	"crypto/tls"
	"net"
	"sync"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Conn is a connection to another node, which has proved which one it is.
type Conn struct {
	*tls.Conn
	peer  event.NodeID
	key   placement.Fingerprint
	proto Protocol
	port  *Port
}

// Peer returns the node at the other side; 0 for Join.
func (c *Conn) Peer() event.NodeID { return c.peer }

// Close closes the connection. Any goroutine may call it, also while others read or write.
func (c *Conn) Close() error {
	c.port.remove(c)
	return c.Conn.Close()
}

// cut closes the connection without a word: the other side may not read, and a farewell would wait for it.
func (c *Conn) cut() {
	c.port.remove(c)
	_ = c.NetConn().Close()
}

// backlog is how many connections a listener keeps that were not accepted yet.
const backlog = 16

// listener is the net.Listener of a protocol.
type listener struct {
	port   *Port
	proto  Protocol
	conns  chan *Conn
	once   sync.Once
	closed chan struct{}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, net.ErrClosed
	default:
	}
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return l.port.Addr() }

// Close implements net.Listener. It closes the connections that were not accepted.
func (l *listener) Close() error {
	l.port.mu.Lock()
	if l.port.mu.listeners[l.proto] == l {
		delete(l.port.mu.listeners, l.proto)
	}
	l.close()
	l.port.mu.Unlock()
	for {
		select {
		case c := <-l.conns: // none is put there any more: see Port.deliver
			_ = c.Close()
		default:
			return nil
		}
	}
}

func (l *listener) close() { l.once.Do(func() { close(l.closed) }) }
