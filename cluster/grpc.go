package cluster

import (
	"net"
	"net/http"

	"github.com/aeon-lang/aeon/cluster/front"
	"github.com/aeon-lang/aeon/membership/port"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// GRPC is what a node needs to take calls by gRPC. Programs are linked with it on request.
type GRPC struct {
	// Serve makes what serves the calls of a door.
	Serve func(*door.Door) (func(*gate.Gate) httpdoor.Peer, error)
	// Fail answers a request by gRPC with a failure, and returns the code of the answer.
	Fail func(http.ResponseWriter, error) (code uint32)
}

// healthCheck is a method that gRPC has itself, and that reads alone.
const healthCheck = "/grpc.health.v1.Health/Check"

// front returns what the front of a node needs; nil if g is.
func (g *GRPC) front(n *node) *front.GRPC {
	if g == nil {
		return nil
	}
	reads := map[string]bool{healthCheck: true}
	for _, c := range aeonrt.AllClasses(n.c.Package) {
		for _, m := range c.Methods {
			reads["/"+c.Path()+"/"+m.Name] = m.ReadOnly
		}
	}
	return &front.GRPC{Fail: g.Fail, Reads: func(path string) bool { return reads[path] }, Store: n.routeGRPC}
}

// fromNodes is a listener of the port for a server of HTTP, which takes HTTP/2 without negotiation only on connections that show no TLS.
type fromNodes struct{ net.Listener }

// Accept implements net.Listener.
func (l fromNodes) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return unseen{c.(*port.Conn)}, nil
}

// unseen is a connection whose state of TLS net/http does not see.
type unseen struct{ *port.Conn }

// ConnectionState is not that of tls.Conn, which it hides.
func (unseen) ConnectionState() {}

// callsMax is how many calls of a connection by HTTP/2 are under way, as a program has it that is no node.
const callsMax = 256

// configure lets a server take connections by HTTP/2, with TLS and without.
func (g *GRPC) configure(s *http.Server) {
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: callsMax}
}
