package httpdoor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/aeon-lang/aeon/runtime/door/gate"
)

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
		err := serveBoth(l, s.peer, &s.http)
		if s.closing() { // it tells which listener was closed first
			return http.ErrServerClosed
		}
		return err
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
	s := &Server{Gate: g, cfg: cfg}
	if cfg.Pages != nil {
		s.pages = &pages{cfg.Pages, make(chan struct{}, cfg.PagesMax), s.fail}
	}
	if cfg.GRPC != nil {
		s.peer = cfg.GRPC(g)
	}
	s.http = http.Server{
		Handler:   s.handler(),
		TLSConfig: cfg.TLS,
		ErrorLog:  slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
		ConnState: s.unused.Note,
	}
	Bound(&s.http, s.TimeMax)
	return s
}

// Bound bounds how long the head of a request to a server may be, and how long clients may take to send requests and to take answers. A call may take
// timeMax. Handlers of answers that last set deadlines of their own.
func Bound(s *http.Server, timeMax time.Duration) {
	s.ReadHeaderTimeout = headTime
	s.ReadTimeout = headTime + bodyTime
	s.WriteTimeout = headTime + bodyTime + timeMax + bodyTime
	s.IdleTimeout = idleTime
	s.MaxHeaderBytes = headMax
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
	return s.unused.Shutdown(ctx, &s.http)
}

// closing reports whether Close was called.
func (s *Server) closing() bool {
	select {
	case <-s.Ending():
		return true
	default:
		return false
	}
}
