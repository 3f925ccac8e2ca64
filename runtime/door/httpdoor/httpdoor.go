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
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/audit"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
)

// Config says what is served, and bounds it. The zero value of a bound is its default.
type Config struct {
	Program string // its name
	Door    *door.Door
	Log     *slog.Logger
	Counts  *Counts // shared by the servers of a program; nil: a server counts for itself
	Control bool    // also serve ActorsPath and ActorPath, which read any actor: for a socket in the data directory

	// Fail is told what has ended the listening, or why the program must end: the audit cannot be written. Any goroutine may
	// call it, and more than once. nil: it is only logged.
	Fail func(error)

	TLS    *tls.Config    // nil: connections are not encrypted
	Tokens *access.Tokens // nil: it asks for none, and takes requests by names of this machine alone
	Audit  *audit.Log     // nil: it keeps none
	Pages  fs.FS          // files for browsers, which can seek and need no token; nil: it serves none

	// GRPC makes what serves gRPC beside; nil: requests of it are not understood.
	GRPC func(*Server) Peer

	BodyMax   int64         // bytes of the arguments of a call; 1 MiB
	BodiesMax int64         // bytes of the arguments of all calls that are being read or under way; 64 MiB
	TimeMax   time.Duration // that a call may take; 30 s
	CallsMax  int           // calls under way; 1024
	BeatMax   time.Duration // between two signs of life in a stream; 15 s
	SendMax   time.Duration // that a part of a stream may take to be sent; 30 s
	PagesMax  int           // files that are being sent to browsers; 256
}

const (
	bodyMax   = 1 << 20
	bodiesMax = 64 << 20
	timeMax   = 30 * time.Second
	callsMax  = 1024
	pagesMax  = 256
	beatMax   = 15 * time.Second
	// headMax and headTime bound what a client may send before the arguments, and how slowly.
	headMax  = 32 << 10
	headTime = 10 * time.Second
	bodyTime = 30 * time.Second // of the arguments, and of an answer
	idleTime = 2 * time.Minute
)

// Server serves the methods of one program.
type Server struct {
	cfg     Config
	calls   chan struct{} // has one for each call under way
	bodies  atomic.Int64  // bytes that the arguments of calls take, or may take
	http    http.Server
	pages   chan struct{} // has one for each file that is being sent
	peer    Peer          // nil: there is none
	ending  chan struct{} // closed when the streams are to end
	end     func()        // closes it
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
			s.cfg.Log.Warn("aeond can no longer ask this process", "error", err.Error())
		default:
			s.cfg.Fail(fmt.Errorf("listening on %s has ended: %w", s.address, err))
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

// unlessSet gives a limit its usual value unless the configuration has one.
func unlessSet[T int | int64 | time.Duration](limit *T, usual T) {
	if *limit <= 0 {
		*limit = usual
	}
}

// New returns a server that does not listen yet.
func New(cfg Config) *Server {
	unlessSet(&cfg.BodyMax, bodyMax)
	unlessSet(&cfg.BodiesMax, bodiesMax)
	unlessSet(&cfg.TimeMax, timeMax)
	unlessSet(&cfg.CallsMax, callsMax)
	unlessSet(&cfg.PagesMax, pagesMax)
	unlessSet(&cfg.BeatMax, beatMax)
	unlessSet(&cfg.SendMax, bodyTime)
	if cfg.Counts == nil {
		cfg.Counts = &Counts{}
	}
	if cfg.Fail == nil {
		cfg.Fail = func(err error) { cfg.Log.Error("the door has failed", "error", err.Error()) }
	}
	if cfg.Control && (cfg.Tokens != nil || cfg.TLS != nil) {
		panic("httpdoor: Control is for a socket in the data directory, which needs neither tokens nor TLS")
	}
	s := &Server{cfg: cfg, calls: make(chan struct{}, cfg.CallsMax), pages: make(chan struct{}, cfg.PagesMax), ending: make(chan struct{})}
	s.end = sync.OnceFunc(func() { close(s.ending) })
	if cfg.GRPC != nil {
		s.peer = cfg.GRPC(s)
	}
	s.http = http.Server{
		Handler:           s.handler(),
		TLSConfig:         cfg.TLS,
		ReadHeaderTimeout: headTime,
		ReadTimeout:       headTime + bodyTime,
		WriteTimeout:      headTime + bodyTime + cfg.TimeMax + bodyTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headMax,
		ErrorLog:          slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
	}
	return s
}

// Close stops listening, ends the streams, and waits until all calls under way have been answered, or ctx ends.
func (s *Server) Close(ctx context.Context) error {
	s.end()
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
	}
	elsewhere := s.known(s.elsewhere)
	if s.cfg.Pages != nil {
		mux.HandleFunc("/v1/", elsewhere)
		elsewhere = s.page
	}
	mux.HandleFunc("/", elsewhere)
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.problem(w, http.StatusForbidden, &door.Failure{Code: "cross-origin", Msg: "a page of another origin has sent the request", Happened: door.No})
	}))
	served := sameOrigin.Handler(s.beside(mux))
	if s.cfg.Tokens == nil {
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
			s.problem(w, http.StatusMisdirectedRequest, &door.Failure{Code: "host", Happened: door.No,
				Msg: fmt.Sprintf("the host %q is not this machine by a name of its own; say localhost, or 127.0.0.1", r.Host)})
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
	f := &door.Failure{Code: door.NotThere, Happened: door.No, Msg: fmt.Sprintf("there is nothing at %s; methods of actors are at /v1/CLASS/KEY/METHOD", r.URL.Path)}
	if parts := strings.Split(r.URL.Path, "/"); len(parts) == 5 && parts[1] == "v1" {
		f.Code, f.Msg = "method", fmt.Sprintf("%s is not served; call methods by POST, and those that are ro by GET, too", r.Method)
		w.Header().Set("Allow", "POST, GET")
		s.problem(w, http.StatusMethodNotAllowed, f)
		return
	}
	s.problem(w, http.StatusNotFound, f)
}

// call serves one call.
func (s *Server) call(w http.ResponseWriter, r *http.Request, by *access.Caller) {
	defer s.cfg.Counts.begun()()
	q := requestOf(r, by)
	q.Read = func(c *door.Call, class *door.Class) error {
		size := r.ContentLength
		if size < 0 || size > s.cfg.BodyMax { // not known, or too large: it is read up to the limit
			size = s.cfg.BodyMax
		}
		if err := s.Hold(q, size); err != nil {
			return err
		}
		return s.read(c, class, w, r, by)
	}
	answer, err := s.Answer(r.Context(), q)
	if err != nil {
		s.fail(w, err)
		return
	}
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	if answer.Seen > 0 {
		head.Set(PositionHeader, strconv.FormatUint(uint64(answer.Seen), 10))
	}
	if answer.Result == nil {
		s.cfg.Counts.answer(http.StatusNoContent)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.cfg.Counts.answer(http.StatusOK)
	head.Set("Content-Type", "application/json")
	head.Set("Content-Length", strconv.Itoa(len(answer.Result)+1))
	_, _ = w.Write(append(answer.Result, '\n')) // the client has gone if this fails
}

// full refuses what may come again later.
func full(format string, args ...any) error {
	return &refusal{http.StatusServiceUnavailable, door.Failure{Code: door.Full, Happened: door.No, Later: true, Msg: fmt.Sprintf(format, args...)}}
}

// refusal is an error that has a status of its own.
type refusal struct {
	status int
	door.Failure
}

// Error implements error.
func (e *refusal) Error() string { return e.Msg }

func refuse(status int, code, format string, args ...any) error {
	return &refusal{status, door.Failure{Code: code, Happened: door.No, Msg: fmt.Sprintf(format, args...)}}
}

// read reads the target and the arguments of a call.
func (s *Server) read(c *door.Call, class *door.Class, w http.ResponseWriter, r *http.Request, by *access.Caller) (err error) {
	switch {
	case r.Method == http.MethodPost:
		c.Args, err = s.body(w, r, c.Method.Params, by)
	case !c.Method.ReadOnly:
		w.Header().Set("Allow", "POST")
		err = refuse(http.StatusMethodNotAllowed, "method", "%v is not ro: call it by POST", c.Method)
	default:
		c.Args, err = c.Method.Params.ReadTexts(r.URL.Query(), s.cfg.Door.Names(by.Name))
	}
	if err == nil {
		c.Target, err = s.cfg.Door.Actor(class, r.PathValue("key"))
	}
	return err
}

// body reads the arguments of a POST.
func (s *Server) body(w http.ResponseWriter, r *http.Request, params *jsoncodec.Params, by *access.Caller) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.BodyMax))
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return nil, Refuse(CodeTooLarge, "the body has more than %d bytes", large.Limit)
	}
	if err != nil {
		return nil, Refuse(door.BadArgs, "the body cannot be read: %v", err)
	}
	if kind := r.Header.Get("Content-Type"); kind != "" || len(body) > 0 {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
			return nil, refuse(http.StatusUnsupportedMediaType, "media-type", "the body is %q; arguments are application/json", kind)
		}
	}
	return params.Read(body, s.cfg.Door.Names(by.Name))
}

// statuses are the statuses of failures, by code.
var statuses = map[string]int{
	door.Aborted: http.StatusUnprocessableEntity, door.Fault: http.StatusUnprocessableEntity, door.TooMuch: http.StatusUnprocessableEntity,
	door.KeyReused: http.StatusUnprocessableEntity, door.BadResult: http.StatusUnprocessableEntity,
	door.NotThere: http.StatusNotFound, door.BadArgs: http.StatusBadRequest, door.NoClient: http.StatusBadRequest, door.Forgotten: http.StatusGone,
	door.Full: http.StatusServiceUnavailable, door.TimedOut: http.StatusServiceUnavailable, door.NoOutcome: http.StatusServiceUnavailable,
	door.Closing: http.StatusServiceUnavailable, CodeTooLarge: http.StatusRequestEntityTooLarge,
}

// retryAfter is after how many seconds a client is to send again what may succeed later.
const retryAfter = "1"

// fail answers with a failure.
func (s *Server) fail(w http.ResponseWriter, err error) {
	status, f := explain(err)
	s.problem(w, status, f)
}

// explain returns what a failure is answered with.
func explain(err error) (status int, f *door.Failure) {
	if refused := new(refusal); errors.As(err, &refused) {
		return refused.status, &refused.Failure
	}
	f = door.Explain(err)
	return statuses[f.Code], f
}

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

// problem answers with a failure.
func (s *Server) problem(w http.ResponseWriter, status int, f *door.Failure) {
	head := w.Header()
	head.Set("Content-Type", "application/problem+json")
	head.Set("Cache-Control", "no-store")
	if f.Later {
		head.Set("Retry-After", retryAfter)
	}
	s.cfg.Counts.answer(status)
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(problem{http.StatusText(status), status, f.Msg, f.Code, f.Happened, f.At, f.Path}) // the client has gone if this fails
}
