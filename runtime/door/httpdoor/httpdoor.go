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
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/span"
)

// Config says what is served, and bounds it. The zero value of a bound is its default.
type Config struct {
	gate.Config

	Program string      // its name
	Control bool        // also serve ActorsPath and ActorPath, which read any actor: for a socket in the data directory
	TLS     *tls.Config // nil: connections are not encrypted; without tokens it takes requests by names of this machine alone
	Pages   fs.FS       // files for browsers, which can seek and need no token; nil: it serves none

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
	pages   chan struct{} // has one for each file that is being sent
	peer    Peer          // nil: there is none
	address string
}

// Listen serves a program at an address. It listens when Listen returns.
func Listen(address string, cfg Config) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return serve(l, cfg), nil
}

// serve serves what a listener accepts.
func serve(l net.Listener, cfg Config) *Server {
	s := New(cfg)
	s.address = l.Addr().String()
	go func() { // ends with Close
		err := s.serve(l)
		switch {
		case errors.Is(err, http.ErrServerClosed):
		case s.cfg.Control: // the program does its work without
			s.Log.Warn("aeond can no longer ask this process", "error", err.Error())
		default:
			s.Fail(fmt.Errorf("listening on %s has ended: %w", s.address, err))
		}
	}()
	return s
}

func (s *Server) serve(l net.Listener) error {
	switch {
	case s.cfg.TLS != nil:
		return s.http.ServeTLS(l, "", "")
	case s.peer != nil:
		return s.serveBoth(l)
	}
	return s.http.Serve(l)
}

// Address is where the server listens: host:port, or the path of a socket.
func (s *Server) Address() string { return s.address }

// Handler serves requests that another server has taken.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// New returns a server that does not listen yet.
func New(cfg Config) *Server {
	gate.UnlessSet(&cfg.PagesMax, pagesMax)
	gate.UnlessSet(&cfg.BeatMax, beatMax)
	if cfg.Control && (cfg.Tokens != nil || cfg.TLS != nil) {
		panic("httpdoor: Control is for a socket in the data directory, which needs neither tokens nor TLS")
	}
	g := gate.New(cfg.Config)
	cfg.Config = g.Config // with its defaults
	s := &Server{Gate: g, cfg: cfg, pages: make(chan struct{}, cfg.PagesMax)}
	if cfg.GRPC != nil {
		s.peer = cfg.GRPC(g)
	}
	s.http = http.Server{
		Handler:           s.handler(),
		TLSConfig:         cfg.TLS,
		ReadHeaderTimeout: headTime,
		ReadTimeout:       headTime + bodyTime,
		WriteTimeout:      headTime + bodyTime + s.TimeMax + bodyTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headMax,
		ErrorLog:          slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
	}
	return s
}

// Close stops listening, ends the streams, and waits until all calls under way have been answered, or ctx ends.
func (s *Server) Close(ctx context.Context) error {
	s.End()
	closed := make(chan struct{})
	go func() { // ends with this call
		defer close(closed)
		if s.peer != nil {
			s.peer.Close(ctx)
		}
	}()
	defer func() { <-closed }()
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close() // the error that counts is the first
	}
	return err
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/{class}/{key}/{method}", s.known(s.call))
	mux.HandleFunc("GET /v1/{class}/{key}/{method}", s.known(s.call))
	mux.HandleFunc("POST "+ClientsPath, s.known(s.beginClient))
	mux.HandleFunc("DELETE "+ClientsPath+"/{id}", s.known(s.endClient))
	mux.HandleFunc("GET "+ClientsPath+"/{id}/events", s.known(s.events))
	mux.HandleFunc("GET /healthz", ok)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", s.known(s.metrics))
	mux.HandleFunc("GET /openapi.json", s.known(s.openapi))
	if s.cfg.Control {
		mux.HandleFunc("GET "+ActorsPath, s.actors)
		mux.HandleFunc("GET "+ActorPath, s.actor)
		mux.HandleFunc("GET "+WaitsPath, s.waits)
		mux.HandleFunc("GET "+EventsPath, s.watched)
		mux.HandleFunc("GET "+ProfilePath, s.profile)
		mux.HandleFunc("GET "+DeadPath, s.dead)
		mux.HandleFunc("GET "+TimersPath, s.timers)
		mux.HandleFunc("DELETE "+DeadPath, s.forget)
	}
	elsewhere := s.known(s.elsewhere)
	if s.cfg.Pages != nil {
		mux.HandleFunc("/v1/", elsewhere)
		elsewhere = s.page
	}
	mux.HandleFunc("/", elsewhere)
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.fail(w, door.Refuse(codeOrigin, "a page of another origin has sent the request"))
	}))
	served := sameOrigin.Handler(s.beside(mux))
	if s.Tokens == nil {
		served = s.knownHost(served)
	}
	return served
}

// knownHost refuses requests that come by a name which is not that of this machine: a page of a web site whose name leads
// here could call a server that listens on loopback alone, as the browser takes the two for one origin. Where tokens are
// asked for, such a page has none.
func (s *Server) knownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r.Host) {
			s.fail(w, door.Refuse(codeHost, "the host %q is not this machine by a name of its own; say localhost, or 127.0.0.1", r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLocal reports whether a host, perhaps with a port, is localhost or an address on loopback.
func isLocal(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && a.IsLoopback()
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }

// elsewhere answers requests to no place that there is.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request, _ *access.Caller) {
	if parts := strings.Split(r.URL.Path, "/"); len(parts) == 5 && parts[1] == "v1" {
		w.Header().Set("Allow", "POST, GET")
		s.fail(w, door.Refuse(codeMethod, "%s is not served; call methods by POST, and those that are ro by GET, too", r.Method))
		return
	}
	s.fail(w, nothingAt(r))
}

// nothingAt is the failure of a request to no place that there is.
func nothingAt(r *http.Request) error {
	return door.Refuse(door.NotThere, "there is nothing at %s; methods of actors are at /v1/CLASS/KEY/METHOD", r.URL.Path)
}

// The values of headers that answers share.
var (
	noStore  = []string{"no-store"}
	jsonType = []string{"application/json"}
)

// call serves one call.
func (s *Server) call(w http.ResponseWriter, r *http.Request, by *access.Caller) {
	defer s.Counts.Begin()()
	q := requestOf(r, by)
	recorded := s.Door.Serve(r.Method+" /v1/{class}/{key}/{method}", span.Parse(r.Header["Traceparent"], r.Header["Tracestate"]))
	defer recorded.End()
	q.Read = func(c *door.Call, class *door.Class) error {
		c.Span = recorded
		recorded.Name(r.Method + " /v1/" + q.Class + "/{key}/" + q.Method)
		r.Body = &heldBody{r.Body, s, q}
		return s.read(c, class, w, r, by)
	}
	answer, err := s.Answer(r.Context(), q)
	record(recorded, r, answer, err)
	if err != nil {
		s.fail(w, err)
		return
	}
	head := w.Header()
	head["Cache-Control"] = noStore
	if answer.Seen > 0 {
		head.Set(PositionHeader, strconv.FormatUint(uint64(answer.Seen), 10))
	}
	if answer.Result == nil {
		s.Counts.HTTP(http.StatusNoContent)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.Counts.HTTP(http.StatusOK)
	head["Content-Type"] = jsonType
	head.Set("Content-Length", strconv.Itoa(len(answer.Result)+1))
	_, _ = w.Write(append(answer.Result, '\n')) // the client has gone if this fails
}

// record records how a call was answered. It has failed for its span if its server is why, and not its caller.
func record(c *span.Call, r *http.Request, answer door.Answer, err error) {
	if c == nil {
		return
	}
	c.Text("http.request.method", r.Method)
	status := http.StatusOK
	switch {
	case err != nil:
		f := door.Explain(err)
		status = statuses[f.Code]
		c.Text("aeon.code", f.Code)
		if status >= http.StatusInternalServerError {
			c.Fail(f.Msg)
		}
	case answer.Result == nil:
		status = http.StatusNoContent
	}
	c.Number("http.response.status_code", int64(status))
}

// heldBody is a body of which as much is held as has arrived: what is announced takes no room from other calls.
type heldBody struct {
	io.ReadCloser
	by *Server
	of *gate.Request
}

// Read implements io.Reader. Its error may be a refusal.
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if full := b.by.Hold(b.of, int64(n)); full != nil {
		return n, full
	}
	return n, err
}

// read reads the target and the arguments of a call.
func (s *Server) read(c *door.Call, class *door.Class, w http.ResponseWriter, r *http.Request, by *access.Caller) (err error) {
	switch {
	case r.Method == http.MethodPost:
		c.Args, err = s.body(w, r, c.Method.Params, by)
	case !c.Method.ReadOnly:
		w.Header().Set("Allow", "POST")
		err = door.Refuse(codeMethod, "%v is not ro: call it by POST", c.Method)
	default:
		c.Args, err = c.Method.Params.ReadTexts(r.URL.Query(), s.Door.Names(by.Name))
	}
	if err == nil {
		c.Target, err = s.Door.Actor(class, r.PathValue("key"))
	}
	return err
}

// body reads the arguments of a POST.
func (s *Server) body(w http.ResponseWriter, r *http.Request, params *jsoncodec.Params, by *access.Caller) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.BodyMax))
	if large, is := errors.AsType[*http.MaxBytesError](err); is {
		return nil, door.Refuse(door.TooLarge, "the body has more than %d bytes", large.Limit)
	}
	if refused, is := errors.AsType[*door.Refusal](err); is {
		return nil, refused
	}
	if err != nil {
		return nil, door.Refuse(door.BadArgs, "the body cannot be read: %v", err)
	}
	if kind := r.Header.Get("Content-Type"); kind != jsonType[0] && (kind != "" || len(body) > 0) {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != jsonType[0] {
			return nil, door.Refuse(codeMedia, "the body is %q; arguments are application/json", kind)
		}
	}
	return params.Read(body, s.Door.Names(by.Name))
}

// The codes of what HTTP alone refuses.
const (
	codeMethod  = "method"       // the method of HTTP
	codeMedia   = "media-type"   // of the arguments
	codeOrigin  = "cross-origin" // a page of another origin has sent it
	codeHost    = "host"         // it was sent to another host
	codeDamaged = "damaged"      // rows of the store
)

// statuses are the statuses of failures, by code.
var statuses = map[string]int{
	door.Aborted: http.StatusUnprocessableEntity, door.Fault: http.StatusUnprocessableEntity, door.TooMuch: http.StatusUnprocessableEntity,
	door.KeyReused: http.StatusUnprocessableEntity, door.BadResult: http.StatusUnprocessableEntity,
	door.NotThere: http.StatusNotFound, door.BadArgs: http.StatusBadRequest, door.NoClient: http.StatusBadRequest, door.Forgotten: http.StatusGone,
	door.Full: http.StatusServiceUnavailable, door.TimedOut: http.StatusServiceUnavailable, door.NoOutcome: http.StatusServiceUnavailable,
	door.Closing: http.StatusServiceUnavailable, door.TooLarge: http.StatusRequestEntityTooLarge,
	door.Unauthenticated: http.StatusUnauthorized, door.Forbidden: http.StatusForbidden,
	codeMethod: http.StatusMethodNotAllowed, codeMedia: http.StatusUnsupportedMediaType, codeOrigin: http.StatusForbidden,
	codeHost: http.StatusMisdirectedRequest, codeDamaged: http.StatusInternalServerError,
}

// retryAfter is after how many seconds a client is to send again what may succeed later.
const retryAfter = "1"

// problem is the body of a failure (RFC 9457). Its type is about:blank, as code says what it is.
type problem struct {
	Title    string        `json:"title"`
	Status   int           `json:"status"`
	Detail   string        `json:"detail"`
	Code     string        `json:"code"`
	Happened door.Happened `json:"happened"`
	At       string        `json:"at,omitempty"`
	Path     []string      `json:"path,omitempty"`
}

// CodeHeader has the code of a failure, too: what forwards an answer need not read its body.
const CodeHeader = "Aeon-Code"

// fail answers with a failure.
func (s *Server) fail(w http.ResponseWriter, err error) {
	f := door.Explain(err)
	status, ok := statuses[f.Code]
	assert.That(ok, "httpdoor: the failure %q has no status", f.Code)
	head := w.Header()
	head.Set("Content-Type", "application/problem+json")
	head.Set("Cache-Control", "no-store")
	head.Set(CodeHeader, f.Code)
	if f.Later {
		head.Set("Retry-After", retryAfter)
	}
	s.Counts.HTTP(status)
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(problem{http.StatusText(status), status, f.Msg, f.Code, f.Happened, f.At, f.Path}) // the client has gone if this fails
}
