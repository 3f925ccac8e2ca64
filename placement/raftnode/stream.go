package raftnode

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/runtime/event"
)

// serverID returns a node's name in raft. It is its address there, too: where a node is, the placement says when it is dialled.
func serverID(n event.NodeID) string { return strconv.FormatUint(uint64(n), 10) }

// nodeOf returns the node that a name in raft is of, 0 if it is none.
func nodeOf(name string) event.NodeID {
	n, _ := strconv.ParseUint(name, 10, 64)
	return event.NodeID(n)
}

// nodeAddr is a node as a net.Addr.
type nodeAddr event.NodeID

// Network implements net.Addr.
func (nodeAddr) Network() string { return "aeon" }

// String implements net.Addr.
func (a nodeAddr) String() string { return serverID(event.NodeID(a)) }

// stream carries raft between nodes, as a raft.StreamLayer. It closes all connections at its end: raft's goroutines wait for them.
type stream struct {
	net.Listener
	self event.NodeID
	dial func(context.Context, event.NodeID, port.Protocol) (net.Conn, error)

	mu struct {
		sync.Mutex
		closed bool
		conns  map[net.Conn]struct{}
	}
}

// Addr implements net.Listener.
func (s *stream) Addr() net.Addr { return nodeAddr(s.self) }

// Accept implements net.Listener.
func (s *stream) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return s.keep(c)
}

// Dial implements raft.StreamLayer.
func (s *stream) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	c, err := s.dial(ctx, nodeOf(string(address)), port.Placement)
	if err != nil {
		return nil, err
	}
	return s.keep(c)
}

// kept is a connection that the stream closes at its end.
type kept struct {
	net.Conn
	s *stream
}

// Close implements net.Conn.
func (k kept) Close() error {
	k.s.mu.Lock()
	delete(k.s.mu.conns, k.Conn)
	k.s.mu.Unlock()
	return k.Conn.Close()
}

func (s *stream) keep(c net.Conn) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	s.mu.conns[c] = struct{}{}
	return kept{c, s}, nil
}

// Close implements net.Listener.
func (s *stream) Close() error {
	s.mu.Lock()
	s.mu.closed = true
	conns := s.mu.conns
	s.mu.conns = nil
	s.mu.Unlock()
	err := s.Listener.Close()
	for c := range conns {
		_ = c.Close()
	}
	return err
}
