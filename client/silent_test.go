package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// network is a listener, and the network before it. Its connections are pipes, which time that is simulated knows.
type network struct {
	conns chan net.Conn
	open  []*atomic.Bool // of each connection that was made, whether it carries anything; else all that is sent is lost, and no end notices
}

// lossy is an end of a connection.
type lossy struct {
	net.Conn
	open *atomic.Bool
}

func (c lossy) Write(b []byte) (int, error) {
	if !c.open.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (n *network) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	open := new(atomic.Bool)
	open.Store(true)
	n.open = append(n.open, open)
	n.conns <- lossy{theirs, open}
	return lossy{ours, open}, nil
}

func (n *network) Accept() (net.Conn, error) {
	c, open := <-n.conns
	if !open {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (n *network) Close() error { return nil }

func (n *network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// A connection that carries nothing any more does not hold calls: soon they go by another one.
func TestASilentConnectionIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{conns: make(chan net.Conn)}
		s := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "7")
		})}
		s.Protocols.SetUnencryptedHTTP2(true)
		go func() { _ = s.Serve(n) }() // ends with n
		defer s.Close()
		defer close(n.conns)
		c, err := New(Config{URLs: []string{"http://node"}})
		if err != nil {
			t.Fatal(err)
		}
		of := c.http.Transport.(*http.Transport)
		of.DialContext, of.Proxy, of.Protocols = n.dial, nil, new(http.Protocols)
		of.Protocols.SetUnencryptedHTTP2(true) // as it is with TLS
		defer of.CloseIdleConnections()
		for i := range 2 {
			began, got := time.Now(), 0
			err := c.Call(t.Context(), "Bank/main", "count", nil, &got)
			if took := time.Since(began); err != nil || got != 7 || len(n.open) != i+1 || took > 15*time.Second {
				t.Fatalf("call %d: %d after %v, by %d connections: %v", i, got, took, len(n.open), err)
			}
			n.open[i].Store(false)
		}
	})
}

// An answer that is long, or comes over a slow connection, is read for as long as some of it arrives. When nothing does the request is sent again.
func TestASlowAnswerIsReadToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{conns: make(chan net.Conn)}
		var sent atomic.Int64
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			pause := time.Second
			if sent.Add(1) == 1 && r.URL.Path == "/v1/Bank/main/stops" {
				pause = time.Hour
			}
			for range 20 {
				_, _ = io.WriteString(w, "1")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-time.After(pause):
				case <-r.Context().Done():
					return
				}
			}
		})}
		go func() { _ = s.Serve(n) }() // ends with n
		defer s.Close()
		defer close(n.conns)
		of := &http.Transport{DialContext: n.dial}
		defer of.CloseIdleConnections()
		c, err := New(Config{URLs: []string{"http://127.0.0.1:1"}, HTTP: &http.Client{Transport: of}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		if err := c.Read(ctx, "Bank/main", "stops", nil, nil); !errors.Is(err, ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("there is no time to send it again: %v", err)
		}
		for i, method := range []string{"slow", "stops"} {
			var got json.RawMessage
			began := time.Now()
			sent.Store(0)
			if err := c.Read(t.Context(), "Bank/main", method, nil, &got); err != nil || len(got) != 20 || sent.Load() != int64(i+1) || time.Since(began) > 30*time.Second {
				t.Errorf("%s: after %v, sent %d times: %q (%v)", method, time.Since(began), sent.Load(), got, err)
			}
		}
	})
}
