// Package front serves HTTP for a cluster on each of its nodes. A request goes to the system that runs the actors, wherever that is; if it moves
// meanwhile, the request goes there, as far as that cannot have it done twice.
//
//	the system is here          its handler serves the request
//	it is on another node       the request is forwarded to the front of that node, which does not forward it again
//	it is nowhere               the request waits, until its deadline; then it is answered as unavailable
//
// A request that was under way when its system ended may have happened. It is sent again if that makes no difference: by GET, or with a key.
package front

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
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
	// Locate waits until it is known where requests are served, or ctx ends. A request has just failed at the place after, if that is none but the zero
	// one: so Locate returns another one, or the same after a short time, in which it has not changed.
	Locate func(ctx context.Context, after Place) (Place, error)
	// Here returns the handler of the system of this node; nil: it is on another, or nowhere.
	Here func() http.Handler
	// Dial connects to the front of another node.
	Dial func(ctx context.Context, n event.NodeID) (net.Conn, error)
	// Ready reports why requests cannot be served now; nil: they can.
	Ready func() error
	// Wait is how long a request may wait for a system; 0: 10 s.
	Wait time.Duration
	// Spans records the calls that are forwarded; nil: nothing does.
	Spans *span.Tracer
	Log   *slog.Logger
}

const (
	waitDefault = 10 * time.Second
	// resendMax is how many bytes of arguments are kept so that a request can be sent again.
	resendMax = 1 << 20
	keyHeader = "Idempotency-Key"
)

// Front serves the requests of one node. Any goroutine may call it.
type Front struct {
	cfg   Config
	proxy *httputil.ReverseProxy
}

// New returns a front.
func New(cfg Config) *Front {
	if cfg.Wait == 0 {
		cfg.Wait = waitDefault
	}
	f := &Front{cfg: cfg}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			n, _ := ctx.Value(nodeKey{}).(event.NodeID)
			return cfg.Dial(ctx, n)
		},
		MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute,
	}
	f.proxy = &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
		Rewrite: func(r *httputil.ProxyRequest) {
			n, _ := r.In.Context().Value(nodeKey{}).(event.NodeID)
			r.Out.URL.Scheme, r.Out.URL.Host = "http", hostOf(n)
			r.Out.Host = r.In.Host
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if t, ok := w.(*attempt); ok {
				t.failed(err)
			}
		},
	}
	return f
}

type nodeKey struct{}

// Close closes the connections to other nodes that are idle.
func (f *Front) Close() { f.proxy.Transport.(*http.Transport).CloseIdleConnections() }

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
	f.serve(w, r)
}

// Forwarded serves requests of the fronts of other nodes: here, or not at all.
func (f *Front) Forwarded() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := f.cfg.Here(); h != nil {
			h.ServeHTTP(w, r)
			return
		}
		httpdoor.Fail(w, errNowhere) // the other node knows of the leader as soon as this one does, and sends the request again
	})
}

// serve serves a request, at another place again if it fails at one.
func (f *Front) serve(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), f.cfg.Wait)
	defer cancel()
	body, again := keep(r)
	unknown := false // what was sent may have happened
	var at Place
	var forwarded forwarding
	defer forwarded.end()
	for {
		next, err := f.cfg.Locate(ctx, at)
		if err != nil {
			httpdoor.Fail(w, forwarded.refused(outcome(unknown)))
			return
		}
		if at = next; at.Here == nil {
			r = forwarded.begin(f.cfg.Spans, r, at.Node)
		}
		t := &attempt{ResponseWriter: w, again: again, header: w.Header().Clone()}
		f.send(t, r, body, at)
		if !t.over {
			forwarded.answered(t.status)
			return
		}
		unknown = unknown || t.sent
		if unknown && !again {
			httpdoor.Fail(w, forwarded.refused(outcome(unknown)))
			return
		}
		f.cfg.Log.Debug("a request is sent again", "path", r.URL.Path, "node", at.Node, "error", t.err)
	}
}

// send sends a request to a place.
func (f *Front) send(t *attempt, r *http.Request, body []byte, at Place) {
	if body != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if at.Here != nil {
		at.Here.ServeHTTP(t, r)
		return
	}
	// A node that is paused, or cut off, does not answer. When another one has taken over, its answer is not waited for.
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), nodeKey{}, at.Node))
	defer cancel()
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
	f.proxy.ServeHTTP(t, r.WithContext(ctx))
}

// keep reads the arguments of a request that may be sent again; again reports whether it may. Others are left as they are.
func keep(r *http.Request) (body []byte, again bool) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil, true
	}
	if r.Body == nil || r.ContentLength < 0 || r.ContentLength > resendMax {
		return nil, false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, resendMax))
	if err != nil {
		// The handler finds what is wrong with it.
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
		return nil, false
	}
	return body, r.Header.Get(keyHeader) != ""
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

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
	again  bool        // the request may be sent again though it may have happened
	header http.Header // of the answer before the attempt
	begun  bool        // the answer is on its way
	status int         // of the answer
	over   bool        // the attempt has failed, and nothing was answered
	sent   bool        // the request may have happened
	err    error
}

// Unwrap lets http.ResponseController reach the connection.
func (t *attempt) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// FlushError lets http.ResponseController send what is written, unless the attempt has failed.
func (t *attempt) FlushError() error {
	if t.over {
		return nil
	}
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// WriteHeader implements http.ResponseWriter.
func (t *attempt) WriteHeader(status int) {
	if t.begun || t.over {
		return
	}
	h := t.Header()
	if code := h.Get(httpdoor.CodeHeader); code == door.Closing || code == door.NoOutcome {
		sent := h.Get(httpdoor.HappenedHeader) != string(door.No)
		if t.again || !sent {
			t.fail(errors.New("the system has ended"), sent)
			return
		}
	}
	if status >= 200 {
		t.begun, t.status = true, status
	}
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *attempt) Write(b []byte) (int, error) {
	if t.over {
		return len(b), nil
	}
	if !t.begun {
		t.begun, t.status = true, http.StatusOK
	}
	return t.ResponseWriter.Write(b)
}

// failed takes an error of the connection to another node.
func (t *attempt) failed(err error) {
	if t.begun {
		panic(http.ErrAbortHandler) // the answer is cut off: the client notices
	}
	var dialing *net.OpError
	t.fail(err, !(errors.As(err, &dialing) && dialing.Op == "dial"))
}

// fail ends the attempt without an answer.
func (t *attempt) fail(err error, sent bool) {
	t.over, t.sent, t.err = true, sent, err
	h := t.Header()
	clear(h)
	for k, v := range t.header {
		h[k] = v
	}
}

func hostOf(n event.NodeID) string { return "node" + strconv.FormatUint(uint64(n), 10) }
