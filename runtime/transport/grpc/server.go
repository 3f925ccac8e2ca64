package grpc

import (
	"errors"
	"maps"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/transport"
)

// The service. Each of its methods is a stream.
const (
	service       = "aeon.Transport"
	sessionMethod = "/" + service + "/Session"
	callMethod    = "/" + service + "/Call"
	bulkMethod    = "/" + service + "/Bulk"
)

var (
	sessionDesc = grpc.StreamDesc{StreamName: "Session", ClientStreams: true, ServerStreams: true}
	// A call is a stream, too: gRPC tells of those whether a request was surely not sent.
	callDesc = grpc.StreamDesc{StreamName: "Call", ClientStreams: true, ServerStreams: true}
	bulkDesc = grpc.StreamDesc{StreamName: "Bulk", ClientStreams: true, ServerStreams: true}
)

// idleMax is after which time gRPC asks whether a connection without sessions is still there.
const idleMax = 30 * time.Second

// newServer returns the server of a node.
func newServer(t *Transport) *grpc.Server {
	s := grpc.NewServer(grpc.Creds(identity{self: t.cfg.Node}), grpc.ForceServerCodecV2(raw{}), grpc.WaitForHandlers(true),
		grpc.MaxRecvMsgSize(transport.CallMax+lengthen), grpc.ConnectionTimeout(t.cfg.DialMax),
		grpc.StaticStreamWindowSize(windowBytes), grpc.StaticConnWindowSize(windowBytes),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: idleMax, Timeout: idleMax}))
	desc := grpc.ServiceDesc{ServiceName: service, HandlerType: (*any)(nil)}
	add := func(d grpc.StreamDesc, serve func(*Transport, grpc.ServerStream, known) error) {
		d.Handler = func(_ any, st grpc.ServerStream) error {
			from, err := knownOf(st.Context())
			if err == nil {
				err = serve(t, st, from)
			}
			if _, is := status.FromError(err); !is {
				err = status.Error(codes.FailedPrecondition, err.Error())
			}
			return err
		}
		desc.Streams = append(desc.Streams, d)
	}
	add(sessionDesc, (*Transport).serveSession)
	add(callDesc, (*Transport).serveCall)
	add(bulkDesc, (*Transport).serveBulk)
	s.RegisterService(&desc, t)
	return s
}

// serveSession has a session that another node has opened.
func (t *Transport) serveSession(st grpc.ServerStream, from known) error {
	if from.node > t.cfg.Node {
		return errors.New("the lower node opens sessions")
	}
	sever := func() { _ = from.conn.Close() } // it may be closed already
	late := time.AfterFunc(t.cfg.Silence, sever)
	defer late.Stop()
	var p packet
	if err := st.RecvMsg(&p); err != nil || !late.Stop() {
		return err
	}
	id, theirs, err := readHello(p.in)
	if err != nil {
		t.cfg.Logger.Warn("a session was refused", "node", from.node, "error", err)
		return err
	}
	l := t.link(from.node)
	err = t.cfg.Clock.Compare(theirs)
	if l.refuse(err); err != nil {
		_ = st.SendMsg(bytesOf(hello(id, t.cfg.Clock.Now()))) // by which the other node finds out, too
		return err
	}
	s := newSession(st.Context(), l, id, sever)
	defer s.stop(nil)
	if err := l.admit(s); err != nil {
		return err
	}
	defer func() { <-l.turn }()
	s.run(st, true)
	return nil
}

// conns is a listener that knows its connections: gRPC waits for those that have not said anything.
type conns struct {
	net.Listener
	mu struct {
		sync.Mutex
		all    map[*conn]bool
		closed bool
	}
}

type conn struct {
	Conn
	of *conns
}

// Accept implements net.Listener.
func (l *conns) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	with, ok := accepted.(Conn)
	// Invariant: a listener of Config has connections that know their peers.
	assert.That(ok, "transport: the listener accepts a %T", accepted)
	c := &conn{with, l}
	l.mu.Lock()
	closed := l.mu.closed
	if !closed {
		l.mu.all[c] = true
	}
	l.mu.Unlock()
	if closed {
		_ = c.Close() // nothing has come
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.mu.all, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// sever closes all connections, and those that are still to be accepted.
func (l *conns) sever() {
	l.mu.Lock()
	l.mu.closed = true
	all := make([]*conn, 0, len(l.mu.all))
	for c := range l.mu.all {
		all = append(all, c)
	}
	l.mu.Unlock()
	for _, c := range all {
		_ = c.Close() // it may be closed already
	}
}

// link returns that of a node.
func (t *Transport) link(n event.NodeID) *link {
	if l := t.known()[n]; l != nil {
		return l
	}
	t.links.Lock()
	defer t.links.Unlock()
	l := t.known()[n]
	if l == nil {
		l = newLink(t, n)
		all := maps.Clone(t.known())
		all[n] = l
		t.links.of.Store(&all)
	}
	return l
}

// known returns the links that there are, which the caller does not change.
func (t *Transport) known() map[event.NodeID]*link { return *t.links.of.Load() }
