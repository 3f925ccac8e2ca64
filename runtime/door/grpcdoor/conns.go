package grpcdoor

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/aeon-lang/aeon/runtime/door"
)

// conns is a listener whose connections can be found by the addresses that calls have of their clients.
type conns struct{ net.Listener }

// Accept implements net.Listener.
func (l conns) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	from := c.RemoteAddr()
	return &conn{c, address{from, from.String(), c}}, nil
}

type conn struct {
	net.Conn
	from address
}

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return &c.from }

// address is that of a client, with its connection.
type address struct {
	net.Addr
	text string // made once: each call asks for it
	of   net.Conn
}

// String implements net.Addr.
func (a *address) String() string { return a.text }

// request is a call that has come through net/http.
type request struct {
	body *body
	mu   sync.Mutex
	to   *http.ResponseController
	over bool // net/http has taken back what to writes to
}

type requestKey struct{}

// ServeHTTP implements httpdoor.Peer.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	counted := !isOwn(r.URL.Path) // what gRPC's own services tell can be asked for again
	if !s.through.begin(counted) {
		s.gate.Counts.Code(Fail(w, &door.Refusal{Failure: door.Failure{Code: door.Closing, Happened: door.No, Later: true, Msg: "the program is ending"}}))
		return
	}
	if counted {
		defer s.through.end()
	}
	to := http.NewResponseController(w)
	of := &request{to: to, body: s.bodyOf(r, to)}
	defer of.end()
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, of))
	r.Body = of.body
	s.grpc.ServeHTTP(w, r)
}

func (r *request) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

// limit sets the times of the request, which are those of net/http otherwise. What it answers has no connection that could fail.
func (r *request) limit(read, write time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	_ = r.to.SetReadDeadline(read)   // an error says that there are no such times
	_ = r.to.SetWriteDeadline(write) // and this one does
}

// lasting lifts the limits of net/http for the time of a request from a stream, which may last.
func lasting(ctx context.Context) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.limit(time.Time{}, time.Time{})
	}
}

// sever ends a stream whose client takes nothing. Behind net/http it is the stream alone; grpc-go has no such way, so there
// the connection is closed.
func sever(ctx context.Context) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		past := time.Unix(1, 0)
		r.limit(past, past)
		return
	}
	if from, ok := peer.FromContext(ctx); ok {
		if a, ok := from.Addr.(*address); ok {
			_ = a.of.Close() // it may be closed already
		}
	}
}

// send sends a part of a stream within a time of its own.
func (s *Server) send(stream grpc.ServerStream, m any) error {
	late := time.AfterFunc(s.gate.SendMax, func() { sever(stream.Context()) })
	defer late.Stop()
	return stream.SendMsg(m)
}
