package front

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
)

// piped is a listener whose connections are pipes, which time that is simulated knows.
type piped chan net.Conn

func (p piped) Accept() (net.Conn, error) {
	c, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p piped) Close() error { return nil }

func (p piped) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (p piped) dial(context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p <- theirs
	return ours, nil
}

// servePiped serves what connects by pipes, until the test ends.
func servePiped(t *testing.T, s *http.Server) piped {
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	l := make(piped)
	go func() { _ = s.Serve(l) }() // ends with l
	t.Cleanup(func() {
		close(l)
		_ = s.Close() // the test is over
	})
	return l
}

// bounded is a server for clients, with the bounds that a node has.
func bounded(h http.Handler) *http.Server {
	s := &http.Server{Handler: h}
	httpdoor.Bound(s, gate.TimeMaxDefault)
	return s
}

// forwardingTo returns a front that forwards all requests to a node that serves them by h.
func forwardingTo(t *testing.T, h http.Handler) *Front {
	there := &places{}
	there.move(Place{Node: 2, Term: 1, Here: h})
	l := servePiped(t, &http.Server{Handler: newFront(there, time.Second, nil).Forwarded()})
	at := &places{}
	at.move(Place{Node: 2, Term: 1})
	f := New(Config{Store: only, Locate: at.locate, Here: at.here, Dial: func(ctx context.Context, _ event.NodeID) (net.Conn, error) { return l.dial(ctx) }, Log: slog.New(slog.DiscardHandler),
		GRPC: &GRPC{Reads: func(string) bool { return true }, Store: func(string, []byte) event.StoreID { return 0 }}})
	t.Cleanup(f.Close)
	return f
}

// The bounds of a node's server for clients do not end a stream, by either protocol, also if it is silent for long and another node serves it.
func TestStreamsOutliveTheBoundsOfANode(t *testing.T) {
	for _, c := range []struct {
		what, kind string
		http2      bool
		silent     time.Duration
	}{
		{"events", "text/event-stream", false, 15 * time.Second},
		{"events by HTTP/2", "text/event-stream", true, 15 * time.Second},
		{"callbacks by gRPC", "application/grpc", true, time.Hour},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const parts = 20
				f := forwardingTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", c.kind)
					w.WriteHeader(http.StatusOK)
					if err := http.NewResponseController(w).Flush(); err != nil {
						t.Error(err)
					}
					for i := range parts {
						<-time.After(c.silent)
						_, _ = fmt.Fprintf(w, "%d\n", i)
						if err := http.NewResponseController(w).Flush(); err != nil {
							t.Error(err)
							return
						}
					}
					w.Header().Set(http.TrailerPrefix+statusHeader, "0")
				}))
				l := servePiped(t, bounded(f))
				client := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }, Protocols: new(http.Protocols)}
				client.Protocols.SetHTTP1(!c.http2)
				client.Protocols.SetUnencryptedHTTP2(c.http2)
				defer client.CloseIdleConnections()
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://node/shop.Clients/receive", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", c.kind)
				a, err := client.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Body.Close()
				began, n := time.Now(), 0
				for lines := bufio.NewScanner(a.Body); lines.Scan(); n++ {
				}
				if took := time.Since(began); n != parts || took < parts*c.silent {
					t.Errorf("%d of %d parts have come within %v", n, parts, took)
				}
			})
		})
	}
}

// A stream whose node has ended it ends for a client that keeps its own side open.
func TestAStreamEndsThoughItsClientDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := forwardingTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadFull(r.Body, make([]byte, 4)); err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "application/grpc")
			_, _ = io.WriteString(w, "told")
			w.Header().Set(http.TrailerPrefix+statusHeader, "0")
		}))
		f.cfg.GRPC.Reads = func(string) bool { return false }
		l := servePiped(t, bounded(f))
		client := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }, Protocols: new(http.Protocols)}
		client.Protocols.SetUnencryptedHTTP2(true)
		defer client.CloseIdleConnections()
		asks, ask := io.Pipe()
		defer ask.Close()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://node"+ownServices+"reflection.v1.ServerReflection/ServerReflectionInfo", asks)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/grpc")
		go func() { _, _ = io.WriteString(ask, "asks") }() // ends with the pipe
		begun := time.Now()
		a, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(a.Body)
		if took := time.Since(begun); err != nil || string(said) != "told" || a.Trailer.Get(statusHeader) != "0" || took > time.Second {
			t.Errorf("the client hears %q, %v, %v after %v", said, err, a.Trailer, took)
		}
	})
}

// lossy is a connection that loses what is sent once it is cut.
type lossy struct {
	net.Conn
	cut *atomic.Bool
}

func (c lossy) Write(b []byte) (int, error) {
	if c.cut.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// A connection to another node that carries nothing any more does not hold calls by gRPC: within a few seconds they go by another one.
func TestCallsLeaveASilentConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		there := &places{}
		there.move(Place{Node: 2, Term: 1, Here: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set(http.TrailerPrefix+statusHeader, "0")
			w.WriteHeader(http.StatusOK)
		})})
		l := servePiped(t, &http.Server{Handler: newFront(there, time.Second, nil).Forwarded()})
		var cuts []*atomic.Bool // of the connections, in order
		f := newFront(nil, 10*time.Second, func(ctx context.Context, _ event.NodeID) (net.Conn, error) {
			c, err := l.dial(ctx)
			cuts = append(cuts, new(atomic.Bool))
			return lossy{c, cuts[len(cuts)-1]}, err
		})
		defer f.Close()
		f.cfg.Locate = func(context.Context, event.StoreID, Place) (Place, error) { return Place{Node: 2, Term: 1}, nil }
		f.cfg.GRPC = &GRPC{Fail: fails, Reads: func(string) bool { return true }, Store: func(string, []byte) event.StoreID { return 0 }}
		for i := range 2 {
			began, w := time.Now(), httptest.NewRecorder()
			f.ServeHTTP(w, request(t, "/shop.Shop/count", "", 2))
			if took := time.Since(began); w.Code != http.StatusOK || int(calls.Load()) != i+1 || len(cuts) != i+1 || took > 5*time.Second {
				t.Fatalf("call %d: %d %s after %v, by %d connections; %d calls have come", i, w.Code, w.Body, took, len(cuts), calls.Load())
			}
			cuts[i].Store(true)
		}
	})
}

// A client that takes nothing of a stream from another node loses the connection. One that is slow to take another answer has the time of any answer.
func TestSlowReadersOfANode(t *testing.T) {
	for kind, want := range map[string]time.Duration{"text/event-stream": gate.SendMaxDefault, "application/json": 100 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			head := make(chan struct{})
			f := forwardingTo(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
				<-head
				_, _ = w.Write(make([]byte, 1<<20)) // fails when the front has gone
			}))
			over := make(chan time.Duration, 1)
			l := servePiped(t, bounded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				began := time.Now()
				defer func() { over <- time.Since(began) }()
				f.ServeHTTP(w, r)
			})))
			c, err := l.dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, "GET /v1/clients/c/events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if _, err := http.ReadResponse(bufio.NewReaderSize(c, 16), nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			close(head)
			if took := <-over; took != want {
				t.Errorf("%s: it takes %v until the client loses the connection, expected %v", kind, took, want)
			}
		})
	}
}

// A client that is slow to send its arguments does not hold its connection longer than a program alone lets it.
func TestSlowArgumentsAtANode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &places{}
		p.move(Place{Node: 1, Term: 1, Here: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				w.WriteHeader(http.StatusBadRequest)
			}
		})})
		l := servePiped(t, bounded(newFront(p, time.Second, nil)))
		c, err := l.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		began := time.Now()
		if _, err := io.WriteString(c, "POST /v1/A/b/c HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
		a, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); a.StatusCode != http.StatusBadRequest || took != 40*time.Second {
			t.Errorf("%d after %v", a.StatusCode, took)
		}
	})
}
