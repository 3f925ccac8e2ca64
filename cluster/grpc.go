package cluster

import (
	"net/http"

	"github.com/aeon-lang/aeon/cluster/front"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// GRPC is what a node needs to take calls by gRPC. Programs are linked with it on request.
type GRPC struct {
	// Serve makes what serves the calls of a door.
	Serve func(*door.Door) (func(*gate.Gate) httpdoor.Peer, error)
	// Fail answers a request by gRPC with a failure.
	Fail func(http.ResponseWriter, error)
}

// healthCheck is a method that gRPC has itself, and that reads alone.
const healthCheck = "/grpc.health.v1.Health/Check"

// front returns what the front of a node needs; nil if g is.
func (g *GRPC) front(p *aeonrt.Package) *front.GRPC {
	if g == nil {
		return nil
	}
	reads := map[string]bool{healthCheck: true}
	for _, c := range aeonrt.AllClasses(p) {
		for _, m := range c.Methods {
			reads["/"+c.Path()+"/"+m.Name] = m.ReadOnly
		}
	}
	return &front.GRPC{Fail: g.Fail, Reads: func(path string) bool { return reads[path] }}
}

// Bounds of connections by HTTP/2, as a program has them that is no node.
const (
	callsMax = 256 // under way
	headMax  = 32 << 10
)

// configure lets a server take connections by HTTP/2, with TLS and without.
func (g *GRPC) configure(s *http.Server) {
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: callsMax}
	s.MaxHeaderBytes = headMax
}
