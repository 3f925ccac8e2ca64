package httpdoor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Peer serves gRPC at the address of a Server. With TLS it gets requests, as an HTTP/2 connection may carry those of both.
// Without TLS it gets connections: there only clients of gRPC speak HTTP/2, and a server of its own is twice as fast as
// net/http, which hands over each frame of an answer from one goroutine to another.
type Peer interface {
	http.Handler
	// Serve serves connections until Close, or an error of the listener. It closes the listener.
	Serve(net.Listener) error
	// Close ends serving. It waits for calls under way until ctx ends.
	Close(ctx context.Context)
}

// beside hands requests of gRPC to the peer, if there is one.
func (s *Server) beside(next http.Handler) http.Handler {
	if s.peer == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			s.peer.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serveBoth serves what a listener without TLS accepts.
func (s *Server) serveBoth(l net.Listener) error {
	open, end := context.WithCancel(context.Background())
	split := splitter{from: l, open: open, close: func() {
		end()
		_ = l.Close() // it may be closed already
	}}
	defer split.close()
	split.other, split.http2 = part{&split, make(chan net.Conn)}, part{&split, make(chan net.Conn)}
	var accepting, ofPeer, ofHTTP error
	var group sync.WaitGroup
	group.Go(func() { accepting = split.run() })
	group.Go(func() { ofPeer = s.peer.Serve(&split.http2) })
	group.Go(func() { ofHTTP = s.http.Serve(&split.other) })
	group.Wait() // as each of them closes the listener when it ends
	if s.closing() {
		return http.ErrServerClosed
	}
	for _, err := range []error{accepting, ofPeer, ofHTTP} {
		if !errors.Is(err, net.ErrClosed) { // the others have noticed that it is closed
			return err
		}
	}
	return accepting
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

// splitter takes the connections of a listener apart: those that begin as HTTP/2 does, and others.
type splitter struct {
	from         net.Listener
	http2, other part
	open         context.Context // ends when the listener is closed
	close        func()
}

// part is a listener that gets connections of one kind.
type part struct {
	of    *splitter
	conns chan net.Conn
}

// preface is how HTTP/2 begins, and nothing else does.
const preface = "PRI "

// run accepts connections until the listener is closed. It returns when none is being looked at any more.
func (p *splitter) run() error {
	var group sync.WaitGroup
	defer group.Wait()
	for {
		c, err := p.from.Accept()
		if err != nil {
			p.close()
			return err
		}
		group.Go(func() { p.look(c) })
	}
}

// look reads the beginning of a connection, and hands the connection on with it.
func (p *splitter) look(c net.Conn) {
	begin := make([]byte, len(preface))
	if err := c.SetReadDeadline(time.Now().Add(headTime)); err != nil {
		_ = c.Close()
		return
	}
	stop := context.AfterFunc(p.open, func() { _ = c.Close() }) // ends the read
	defer stop()
	n := 0
	for n < len(begin) && string(begin[:n]) == preface[:n] {
		more, err := c.Read(begin[n:])
		if n += more; err != nil {
			_ = c.Close()
			return
		}
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil || !stop() { // nothing closes it from here on but its server
		_ = c.Close()
		return
	}
	to := p.other.conns
	if string(begin[:n]) == preface {
		to = p.http2.conns
	}
	select {
	case to <- &lookedAt{c, io.MultiReader(bytes.NewReader(begin[:n]), c)}:
	case <-p.open.Done():
		_ = c.Close()
	}
}

// Accept implements net.Listener.
func (p *part) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.of.open.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It closes the whole.
func (p *part) Close() error {
	p.of.close()
	return nil
}

// Addr implements net.Listener.
func (p *part) Addr() net.Addr { return p.of.from.Addr() }

// lookedAt is a connection of which the beginning has been read.
type lookedAt struct {
	net.Conn
	from io.Reader
}

// Read reads the beginning again, and then what follows.
func (c *lookedAt) Read(b []byte) (int, error) { return c.from.Read(b) }
