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
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
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

type addresseeKey struct{}

// addressee is where a request is forwarded to.
type addressee struct {
	node  event.NodeID
	store event.StoreID
}

func addresseeOf(ctx context.Context) addressee {
	to, _ := ctx.Value(addresseeKey{}).(addressee)
	return to
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

// serve serves a request of a caller, at another place again if it fails at one.
func (f *Front) serve(w http.ResponseWriter, r *http.Request, by *access.Caller) {
	kept := keeping{of: f, from: gate.SourceOf(by, r.RemoteAddr)}
	defer kept.end()
	keep, wait, deadline := kept.http, waitOf(r), time.Time{}
	if f.isGRPC(r) {
		keep, deadline = kept.grpc, deadlineOf(r)
		if wait = f.cfg.Wait; !deadline.IsZero() {
			wait = early(time.Until(deadline))
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), min(wait, f.cfg.Wait))
	defer cancel()
	body, again, err := keep(r)
	if err != nil {
		f.fail(w, r, err)
		return
	}
	rest := r.Body
	// The outcome of a request with a key is kept in one store, and is looked for there: a guess at another one has the request done twice.
	if f.cfg.Known != nil {
		if err := f.cfg.Known(ctx); err != nil {
			f.fail(w, r, nowhere(err.Error()))
			return
		}
	}
	of := f.storeOf(r, body)
	unknown := false // what was sent may have happened
	var at Place
	var forwarded forwarding
	defer forwarded.end()
	for {
		next, err := f.cfg.Locate(ctx, of, at)
		if err != nil {
			f.fail(w, r, forwarded.refused(outcome(unknown)))
			return
		}
		if at = next; at.Here == nil {
			r = forwarded.begin(f.cfg.Spans, r, at.Node)
		}
		t := &attempt{ResponseWriter: w, again: again, unknown: unknown, away: at.Here == nil, grpc: f.isGRPC(r), header: w.Header().Clone()}
		setDeadline(r, deadline)
		intact := load(r, body, rest)
		f.send(t, r, at, of)
		if t.grpc {
			t.complete()
		}
		if !t.over {
			forwarded.answered(t.status)
			return
		}
		unknown = unknown || t.sent
		if !intact() || unknown && !again { // without its body a call has other arguments
			f.fail(w, r, forwarded.refused(outcome(unknown)))
			return
		}
		f.cfg.Log.Debug("a request is sent again", "path", r.URL.Path, "node", at.Node, "error", t.err)
	}
}

// storeOf returns which store has the system that serves a request, of which body has been read.
func (f *Front) storeOf(r *http.Request, body []byte) event.StoreID {
	if f.isGRPC(r) {
		return f.cfg.GRPC.Store(r.URL.Path, messageIn(body))
	}
	return f.cfg.Store(r)
}

// send sends a request to a place of the system of a store.
func (f *Front) send(t *attempt, r *http.Request, at Place, of event.StoreID) {
	if at.Here != nil {
		at.Here.ServeHTTP(t, r)
		return
	}
	// A node that is paused, or cut off, does not answer. When another one has taken over, its answer is not waited for.
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), addresseeKey{}, addressee{at.Node, of}))
	defer cancel()
	// The transport may send a request again itself, and fail to connect then: what counts is whether it ever had a connection.
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { t.carried.Store(true) }})
	if at.Over != nil {
		ended := make(chan struct{})
		defer close(ended)
		go func() { // ends with this call
			select {
			case <-at.Over:
				cancel()
			case <-ended:
			}
		}()
	}
	defer t.end()
	f.proxy.ServeHTTP(t, r.WithContext(ctx))
}

// waitOf returns how long a request may wait for a system by its header Prefer (RFC 7240): wait=SECONDS. Its client gives up then, and would not know
// whether a node has performed it.
func waitOf(r *http.Request) time.Duration {
	for _, p := range strings.Split(r.Header.Get("Prefer"), ",") {
		if text, is := strings.CutPrefix(strings.TrimSpace(p), "wait="); is {
			if n, err := strconv.ParseUint(text, 10, 16); err == nil {
				return time.Duration(n) * time.Second
			}
		}
	}
	return math.MaxInt64
}

// fail answers a request with a failure, by its protocol.
func (f *Front) fail(w http.ResponseWriter, r *http.Request, err error) {
	if f.isGRPC(r) {
		f.cfg.GRPC.Fail(w, err)
		return
	}
	httpdoor.Fail(w, err)
}

// nowhere is the failure of a request that no system has performed.
func nowhere(why string) error {
	return &door.Refusal{Failure: door.Failure{Code: door.Closing, Happened: door.No, Later: true, Msg: why}}
}

var (
	errNowhere = nowhere("no node runs the actors now: too few nodes are there, or a leader is being elected")
	// errUnknown is the failure of a request whose system has ended under it.
	errUnknown = &door.Refusal{Failure: door.Failure{Code: door.NoOutcome, Happened: door.Unknown, Later: true,
		Msg: "the node that performed the request has gone: the request has happened, or not; with an Idempotency-Key it can be sent again, and happens once"}}
)

// outcome returns the failure of a request that no system has answered.
func outcome(unknown bool) error {
	if unknown {
		return errUnknown
	}
	return errNowhere
}

// attempt is the writer of one sending of a request. An answer that says that the system has ended is held back, so that the request can be
// sent to the next one.
type attempt struct {
	http.ResponseWriter
	unknown bool // a sending before may have done it
	again   bool // the request may be sent again though it may have happened
	away    bool // it is sent to another node
	grpc    bool
	header  http.Header // of the answer before the attempt
	begun   bool        // the answer is on its way
	lasts   bool        // the answer is a stream from another node, see outlast
	status  int         // of the answer
	over    bool        // the attempt has failed, and nothing was answered
	sent    bool        // the request may have happened
	carried atomic.Bool // a connection to another node has carried it
	rest    http.Header // takes what is set after the attempt has failed
	err     error
}

// Header implements http.ResponseWriter.
func (t *attempt) Header() http.Header {
	if t.over {
		return t.rest
	}
	return t.ResponseWriter.Header()
}

// Flush implements http.Flusher, which gRPC asks for.
func (t *attempt) Flush() { _ = t.FlushError() } // the client has gone if this fails

// Unwrap lets http.ResponseController reach the connection.
func (t *attempt) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// FlushError lets http.ResponseController send what is written, unless the attempt has failed.
func (t *attempt) FlushError() error {
	if t.WriteHeader(http.StatusOK); t.over || t.isWhole() {
		return nil
	}
	defer t.outlast()()
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// WriteHeader implements http.ResponseWriter.
func (t *attempt) WriteHeader(status int) {
	if t.begun || t.over {
		return
	}
	h := t.Header()
	switch code := h.Get(httpdoor.CodeHeader); code {
	case door.Full, door.TimedOut: // this sending has not done it
		if t.unknown {
			t.fail(errors.New("the system has no room, or no time"), false)
			return
		}
	case door.Closing, door.NoOutcome:
		if (t.unaccepted() || h.Get(httpdoor.AwayHeader) != "") && !t.unknown { // the answer says what is to be done
			break
		}
		sent := h.Get(httpdoor.HappenedHeader) != string(door.No)
		if t.again || !sent {
			t.fail(errors.New("the system has ended"), sent)
			return
		}
	}
	if status >= 200 {
		t.begun, t.status, t.lasts = true, status, t.away && t.mayLast()
	}
	t.ResponseWriter.WriteHeader(status)
}

// unaccepted reports whether another node has refused the request as it asks clients for no tokens. It would refuse the next one, too.
func (t *attempt) unaccepted() bool {
	h := t.Header()
	defer h.Del(asksHeader)
	return t.away && h.Get(asksHeader) != ""
}

// Write implements http.ResponseWriter.
func (t *attempt) Write(b []byte) (int, error) {
	if t.WriteHeader(http.StatusOK); t.over {
		return len(b), nil
	}
	defer t.outlast()()
	return t.ResponseWriter.Write(b)
}

// failed takes an error of the connection to another node.
func (t *attempt) failed(err error) {
	if t.begun {
		panic(http.ErrAbortHandler) // the answer is cut off: the client notices
	}
	t.fail(err, t.carried.Load())
}

// fail ends the attempt without an answer.
func (t *attempt) fail(err error, sent bool) {
	h := t.Header()
	t.over, t.sent, t.rest, t.err = true, sent, make(http.Header), err
	clear(h)
	for k, v := range t.header {
		h[k] = v
	}
}

// transports carry requests to the fronts of other nodes: those by gRPC over HTTP/2, and others over HTTP/1.1, which has them cost less.
type transports struct{ http, grpc *http.Transport }

// All calls by gRPC to a node share a connection. One that has lost packets, as while the network was cut, is silent for minutes after that, as TCP sends them
// again ever more rarely: each call would wait behind them. So a connection that is silent is asked whether it is there, and another one is made. A node that
// does not answer so long is silent to its sessions, too.
const (
	pingAfter = time.Second
	pingMax   = 2 * time.Second
)

// newTransports returns transports that connect by dial.
func newTransports(dial func(context.Context, event.NodeID) (net.Conn, error)) *transports {
	of := func() *http.Transport {
		return &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return dial(ctx, addresseeOf(ctx).node)
			},
			MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute,
		}
	}
	t := &transports{of(), of()}
	t.grpc.Protocols = new(http.Protocols)
	t.grpc.Protocols.SetUnencryptedHTTP2(true) // the connections of the port are encrypted
	t.grpc.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingMax}
	return t
}

// RoundTrip implements http.RoundTripper.
func (t *transports) RoundTrip(r *http.Request) (*http.Response, error) {
	if isGRPC(r) {
		return t.grpc.RoundTrip(r)
	}
	return t.http.RoundTrip(r)
}

func (t *transports) close() {
	t.http.CloseIdleConnections()
	t.grpc.CloseIdleConnections()
}

func hostOf(n event.NodeID) string { return "node" + strconv.FormatUint(uint64(n), 10) }
