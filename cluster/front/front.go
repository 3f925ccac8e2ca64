// Package front serves HTTP, and gRPC within it, for a cluster on each of its nodes. A request goes to the system that runs the actors, wherever that is; if it moves
// meanwhile, the request goes there, as far as that cannot have it done twice.
//
//	the system is here          its handler serves the request
//	it is on another node       the request is forwarded to the front of that node, which does not forward it again
//	it is nowhere               the request waits, until its deadline; then it is answered as unavailable
//
// The front that takes a request of a client finds its caller, where tokens are asked for: what has none takes no room, and reaches no other node. The system
// finds it again, as that knows its rights. A node that asks for no tokens would let all through that another one has forwarded, whatever the rights of its
// caller: it refuses what comes from a node that asks for them.
//
// A request that was under way when its system ended may have happened. It is sent again if that makes no difference: it reads alone, or has a key.
package front

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"time"

	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/span"
)

// Place is where requests are served.
type Place struct {
	Here http.Handler // the system of this node; nil: it is on another
	Node event.NodeID
	Term uint64          // in which the node leads
	Over <-chan struct{} // closed when requests are served there no more; nil: never
}

// Config says how a front works.
type Config struct {
	// Known waits until it is known which stores there are, or ctx ends: only then Store can tell them apart, here and in GRPC. The error says why it is not
	// known. nil: it is known.
	Known func(ctx context.Context) error
	// Store returns which store has the system that serves a request. The front that takes a request asks for it, and tells the one that it forwards it to.
	Store func(*http.Request) event.StoreID
	// Locate waits until it is known where the system of a store is, or ctx ends. A request has just failed at the place after, if that is none but the
	// zero one: so Locate returns another one, or the same after a short time, in which it has not changed.
	Locate func(ctx context.Context, of event.StoreID, after Place) (Place, error)
	// Here returns the handler of the system of a store, if that is on this node; nil: it is on another, or nowhere.
	Here func(of event.StoreID) http.Handler
	// Dial connects to the front of another node.
	Dial func(ctx context.Context, n event.NodeID) (net.Conn, error)
	// Node is that of the front.
	Node event.NodeID
	// Gate finds the callers of requests, counts those that it refuses, and writes their lines of the audit. It has no door. nil: tokens are not asked for.
	Gate *gate.Gate
	// Ready reports why requests cannot be served now; nil: they can.
	Ready func() error
	// GRPC is what a front needs to take requests by gRPC; nil: it takes none.
	GRPC *GRPC
	// Pages serves files for browsers; nil: there are none. Each node serves its own, whichever leads.
	Pages http.Handler
	// Wait is how long a request may wait for a system; 0: 10 s.
	Wait time.Duration
	// Spans records the calls that are forwarded; nil: nothing does.
	Spans *span.Tracer
	// Clock is that of the node: a request that is forwarded tells its time. nil: it tells none.
	Clock *sched.Hybrid
	Log   *slog.Logger
}

const (
	waitDefault = 10 * time.Second
	keyHeader   = "Idempotency-Key"
	// storeHeader has the store whose system is to serve a request that is forwarded.
	storeHeader = "Aeon-Store"
	// timeHeader has the time of the node that forwards a request, in nanoseconds since 1970.
	timeHeader = "Aeon-Time"
	// remoteHeader has the address that a request has come from to the node that forwards it.
	remoteHeader = "Aeon-Remote"
	// asksHeader has the node that forwards a request if it asks clients for tokens. In an answer it has the one that has refused this, as it asks for none.
	asksHeader = "Aeon-Asks"
)

// Front serves the requests of one node. Any goroutine may call it.
type Front struct {
	cfg   Config
	known http.Handler // finds the callers of requests by HTTP, and serves these
	proxy *httputil.ReverseProxy
	kept  gate.Room
}

// New returns a front.
func New(cfg Config) *Front {
	if cfg.Wait == 0 {
		cfg.Wait = waitDefault
	}
	if cfg.Gate == nil {
		cfg.Gate = gate.New(gate.Config{Log: cfg.Log})
	}
	f := &Front{cfg: cfg}
	f.known = httpdoor.Known(cfg.Gate, f.serve)
	f.proxy = &httputil.ReverseProxy{
		Transport: newTransports(cfg.Dial), FlushInterval: -1, ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
		Rewrite: func(r *httputil.ProxyRequest) {
			to := addresseeOf(r.In.Context())
			if b, is := r.In.Body.(*passing); is {
				r.Out.Body = b // the proxy's own body cannot be closed
			}
			r.Out.URL.Scheme, r.Out.URL.Host = "http", hostOf(to.node)
			r.Out.URL.RawQuery = r.In.URL.RawQuery // else without the pairs that cannot be read
			r.Out.Host = r.In.Host
			r.Out.Header.Set(storeHeader, strconv.FormatUint(uint64(to.store), 10))
			r.Out.Header.Set(remoteHeader, r.In.RemoteAddr)
			if r.Out.Header.Del(asksHeader); f.asks() {
				r.Out.Header.Set(asksHeader, strconv.FormatUint(uint64(cfg.Node), 10))
			}
			if cfg.Clock != nil {
				r.Out.Header.Set(timeHeader, strconv.FormatInt(cfg.Clock.Now().UnixNano(), 10))
			}
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if t, ok := w.(*attempt); ok {
				t.failed(err)
			}
		},
	}
	return f
}

// Close closes the connections to other nodes that are idle.
func (f *Front) Close() { f.proxy.Transport.(*transports).close() }

// ServeHTTP implements http.Handler: for clients.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/healthz":
		_, _ = io.WriteString(w, "ok\n")
		return
	case "/readyz":
		if err := f.cfg.Ready(); err != nil {
			httpdoor.Fail(w, nowhere(err.Error()))
			return
		}
		_, _ = io.WriteString(w, "ok\n")
		return
	}
	if f.cfg.Pages != nil && !f.isGRPC(r) && httpdoor.IsPage(r) {
		f.cfg.Pages.ServeHTTP(w, r)
		return
	}
	if !f.isGRPC(r) {
		f.known.ServeHTTP(w, r)
		return
	}
	by, err := f.callerOf(r)
	if err != nil {
		f.cfg.Gate.Counts.Code(f.cfg.GRPC.Fail(w, err))
		return
	}
	f.serve(w, r, by)
}

// asks reports whether clients are asked for tokens.
func (f *Front) asks() bool { return f.cfg.Gate.Tokens != nil }

// Forwarded serves requests of the fronts of other nodes: here, or not at all. Only members connect here, so what their fronts say in headers is believed. To what
// serves a request it comes from the client.
func (f *Front) Forwarded() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := f.observe(r); err != nil {
			f.fail(w, r, nowhere(err.Error())) // the nodes have no session either, and the status of both says why
			return
		}
		if remote := r.Header.Get(remoteHeader); remote != "" { // a node of an earlier version does not tell it
			r.RemoteAddr = remote
		}
		r.Header.Del(remoteHeader)
		from := r.Header.Get(asksHeader)
		r.Header.Del(asksHeader)
		of, _ := strconv.ParseUint(r.Header.Get(storeHeader), 10, 32) // store 0 if the other node is of a version that knows no others
		r.Header.Del(storeHeader)
		switch h := f.cfg.Here(event.StoreID(of)); {
		case h == nil:
			f.fail(w, r, errNowhere) // the other node knows of the leader as soon as this one does, and sends the request again
		case from != "" && !f.asks():
			w.Header().Set(asksHeader, hostOf(f.cfg.Node))
			f.fail(w, r, nowhere(fmt.Sprintf("node %s asks clients for tokens, and node %d, which runs the actors, asks for none: start all nodes with --tokens, or none", from, f.cfg.Node)))
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// observe tells the clock of this node of the time of the one that has forwarded a request. The error says that its clock is too far ahead.
func (f *Front) observe(r *http.Request) error {
	text := r.Header.Get(timeHeader)
	r.Header.Del(timeHeader)
	if f.cfg.Clock == nil || text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil // it is of another node, and of another version: its heartbeats tell the time, too
	}
	return f.cfg.Clock.Observe(time.Unix(0, n))
}
