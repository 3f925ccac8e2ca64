package grpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long tests wait for what must happen.
const patience = 30 * time.Second

// wire is a connection of a test: the side that has dialled says first which node it is.
type wire struct {
	net.Conn
	once  sync.Once
	peer  event.NodeID // of a side that has dialled, or after Peer
	hangs *hang
}

func (w *wire) Peer() event.NodeID {
	w.once.Do(func() {
		var id [8]byte
		if w.peer == 0 {
			if _, err := io.ReadFull(w.Conn, id[:]); err == nil {
				w.peer = event.NodeID(binary.BigEndian.Uint64(id[:]))
			}
		}
	})
	return w.peer
}

// Read waits while the machine at this end hangs, with what it has read.
func (w *wire) Read(b []byte) (int, error) {
	w.hangs.wait()
	n, err := w.Conn.Read(b)
	w.hangs.wait()
	return n, err
}

func (w *wire) Write(b []byte) (int, error) {
	w.hangs.wait()
	return w.Conn.Write(b)
}

// hang has the connections of a node stand still while it is closed.
type hang struct{ sync.RWMutex }

func (h *hang) wait() {
	h.RLock()
	defer h.RUnlock()
}

// cluster is the nodes of a test.
type cluster struct {
	t     testing.TB
	mu    sync.Mutex
	addrs map[event.NodeID]string
	hangs map[event.NodeID]*hang
	log   bytes.Buffer
}

func newCluster(t testing.TB) *cluster {
	return &cluster{t: t, addrs: map[event.NodeID]string{}, hangs: map[event.NodeID]*hang{}}
}

// Write has a line of the log.
func (c *cluster) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Write(b)
}

func (c *cluster) logged() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.String()
}

func (c *cluster) hang(n event.NodeID) *hang {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hangs[n] == nil {
		c.hangs[n] = &hang{}
	}
	return c.hangs[n]
}

// listener accepts for a node.
type listener struct {
	net.Listener
	hangs *hang
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &wire{Conn: c, hangs: l.hangs}, nil
}

// config returns that of a node, at the address that it had before, if it had one.
func (c *cluster) config(n event.NodeID, h transport.Handler) Config {
	c.mu.Lock()
	addr := c.addrs[n]
	c.mu.Unlock()
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	c.addrs[n] = l.Addr().String()
	c.mu.Unlock()
	return Config{
		Node: n, Handler: h, Listener: listener{l, c.hang(n)}, Silence: patience, // unless a test is about it
		Logger: slog.New(slog.NewTextHandler(c, nil)),
		Dial: func(ctx context.Context, to event.NodeID) (net.Conn, error) {
			c.mu.Lock()
			addr := c.addrs[to]
			c.mu.Unlock()
			if addr == "" {
				return nil, fmt.Errorf("node %d has no address", to)
			}
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
			if err != nil {
				return nil, err
			}
			if _, err := conn.Write(binary.BigEndian.AppendUint64(nil, uint64(n))); err != nil {
				return nil, errors.Join(err, conn.Close())
			}
			return &wire{Conn: conn, peer: to, hangs: c.hang(n)}, nil
		},
	}
}

// start begins the transport of a node, whose peers are the others up to count.
func (c *cluster) start(cfg Config, count int) *Transport {
	t := New(cfg)
	var peers []event.NodeID
	for n := range count {
		peers = append(peers, event.NodeID(n+1))
	}
	t.Peers(peers)
	c.t.Cleanup(func() { _ = t.Close() })
	return t
}

// listens is a handler that notes what it is told.
type listens struct {
	call func(ctx context.Context, from event.NodeID, request []byte) ([]byte, error)
	bulk func(from event.NodeID, header []byte, r io.Reader) error
	on   func(from event.NodeID, m []byte) // in place of noting messages
	up   func(n event.NodeID)

	mu   sync.Mutex
	told []string
	news chan struct{} // closed and made anew with each thing that is told
}

func newListens() *listens { return &listens{news: make(chan struct{})} }

func (l *listens) tell(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, what)
	close(l.news)
	l.news = make(chan struct{})
}

func (l *listens) Up(n event.NodeID) {
	if l.up != nil {
		l.up(n)
	}
	l.tell(fmt.Sprintf("up %d", n))
}
func (l *listens) Down(n event.NodeID) { l.tell(fmt.Sprintf("down %d", n)) }
func (l *listens) Message(from event.NodeID, m []byte) {
	if l.on != nil {
		l.on(from, m)
		return
	}
	l.tell(string(m))
}

func (l *listens) Call(ctx context.Context, from event.NodeID, request []byte) ([]byte, error) {
	return l.call(ctx, from, request)
}

func (l *listens) Bulk(from event.NodeID, header []byte, r io.Reader) error {
	return l.bulk(from, header, r)
}

// all returns what was told.
func (l *listens) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.told)
}

// wait waits until what was told is as cond says.
func (l *listens) wait(t testing.TB, cond func(told []string) bool) {
	t.Helper()
	late := time.After(patience)
	for {
		l.mu.Lock()
		ok, news := cond(l.told), l.news
		l.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-news:
		case <-late:
			t.Fatalf("told: %q", l.all())
		}
	}
}

// has waits until something was told so many times.
func (l *listens) has(t testing.TB, what string, times int) {
	t.Helper()
	l.wait(t, func(told []string) bool {
		n := 0
		for _, s := range told {
			if s == what {
				n++
			}
		}
		return n >= times
	})
}

// poll waits until cond holds.
func poll(t testing.TB, what string, cond func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	late := time.After(patience)
	for !cond() {
		select {
		case <-ticker.C:
		case <-late:
			t.Fatalf("not in time: %s", what)
		}
	}
}

// two returns nodes 1 and 2 with a session.
func two(t testing.TB, change func(*Config)) (c *cluster, l [2]*listens, tr [2]*Transport) {
	c = newCluster(t)
	for i := range l {
		l[i] = newListens()
		cfg := c.config(event.NodeID(i+1), l[i])
		if change != nil {
			change(&cfg)
		}
		tr[i] = c.start(cfg, 2)
	}
	l[0].has(t, "up 2", 1)
	l[1].has(t, "up 1", 1)
	return c, l, tr
}
