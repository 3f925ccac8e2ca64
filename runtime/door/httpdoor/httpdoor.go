// Package httpdoor serves the methods of a program's actors by HTTP:
//
//	POST /v1/{Class}/{key}/{method}         arguments as a JSON object by parameter name, the answer is the result
//	GET  /v1/{Class}/{key}/{method}?a=…     the same for methods that are ro, arguments in the query
//	POST /v1/clients                        begins a client that receives callbacks
//	GET  /v1/clients/{id}/events            its callbacks, as a stream of server-sent events
//	DELETE /v1/clients/{id}                 ends it
//	GET  /openapi.json                      all of that, described as OpenAPI 3.1
//	GET  /healthz                           whether the process lives
//	GET  /readyz                            whether it performs calls
//	GET  /metrics                           what it counts, for Prometheus
//	GET  /…                                 files for browsers, if there are any (pages.go)
//
// Over a socket in the data directory (socket.go) it serves the state of actors, too (control.go).
//
// A request with the header Idempotency-Key is performed once, however often it is sent, through crashes of either side. If
// tokens are asked for, each request but those to /healthz, /readyz and files has one in its header Authorization, and its rights bound what can be called
// and seen. Failures are problems as RFC 9457 has them, with the members code, happened, at and path, which package door explains.
package httpdoor

import (
	"crypto/tls"
	"io/fs"
	"net/http"
	"time"

	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/metrics"
)

// Config says what is served, and bounds it. The zero value of a bound is its default.
type Config struct {
	gate.Config

	Program string      // its name
	Control bool        // also serve ActorsPath and ActorPath, which read any actor: for a socket in the data directory
	TLS     *tls.Config // nil: connections are not encrypted; without tokens it takes requests by names of this machine alone
	Pages   fs.FS       // files for browsers, which can seek and need no token; nil: it serves none

	// Metrics writes the figures of the whole process; nil: those of this server and its program are served.
	Metrics func(*metrics.Writer)
	// GRPC makes what serves gRPC beside; nil: requests of it are not understood.
	GRPC func(*gate.Gate) Peer

	BeatMax  time.Duration // between two signs of life in a stream; 15 s
	PagesMax int           // files that are being sent to browsers; 256
}

const (
	pagesMax = 256
	beatMax  = 15 * time.Second
	// headMax and headTime bound what a client may send before the arguments, and how slowly.
	headMax  = 32 << 10
	headTime = 10 * time.Second
	bodyTime = 30 * time.Second // of the arguments, and of an answer
	idleTime = 2 * time.Minute
)

// Server serves the methods of one program.
type Server struct {
	*gate.Gate
	cfg     Config
	http    http.Server
	unused  Unused
	pages   *pages // nil: there are none
	peer    Peer   // nil: there is none
	address string
}
