package grpc

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/transport"
)

// Transport is that of a node. Any goroutine may call its methods.
type Transport struct {
	cfg         Config
	began       time.Time
	incarnation uint64        // of this start; of no other one
	opened      atomic.Uint64 // sessions, of all links
	closing     atomic.Bool
	server      *grpc.Server
	conns       *conns
	ctx         context.Context // over when the transport is closed
	stop        context.CancelCauseFunc
	loops       sync.WaitGroup // that keep sessions, and the one that accepts
	closed      sync.Once

	// peers is held by Peers and Close, and before each mutex below.
	peers struct {
		sync.Mutex
		nodes map[event.NodeID]bool
	}
	// links has what there is of each node that is a peer, was one, or has come. A map is not changed: each message is sent by one.
	links struct {
		sync.Mutex // to replace the map
		of         atomic.Pointer[map[event.NodeID]*link]
	}
	random struct {
		sync.Mutex
		*rand.Rand
	}
}

var _ transport.Transport = (*Transport)(nil)

// New begins the transport of a node. Close ends it.
func New(cfg Config) *Transport {
	cfg = cfg.withDefaults()
	t := &Transport{cfg: cfg, began: time.Now(), incarnation: rand.Uint64()}
	t.ctx, t.stop = context.WithCancelCause(context.Background())
	t.links.of.Store(&map[event.NodeID]*link{})
	t.random.Rand = cfg.Rand
	t.conns = &conns{Listener: cfg.Listener}
	t.conns.mu.all = make(map[*conn]bool)
	t.server = newServer(t)
	t.loops.Go(func() {
		if err := t.server.Serve(t.conns); err != nil && !t.closing.Load() && !errors.Is(err, net.ErrClosed) {
			cfg.Logger.Error("this node accepts no connections any more", "error", err)
		}
	})
	return t
}

// now returns the nanoseconds since the transport was begun, and one.
func (t *Transport) now() int64 { return int64(time.Since(t.began)) + 1 }

// spread returns a time from half of d up to d.
func (t *Transport) spread(d time.Duration) time.Duration {
	t.random.Lock()
	defer t.random.Unlock()
	return d/2 + time.Duration(t.random.Int64N(int64(d/2)+1))
}

// Peers implements transport.Transport.
func (t *Transport) Peers(nodes []event.NodeID) {
	t.peers.Lock()
	defer t.peers.Unlock()
	if t.closing.Load() {
		return
	}
	was := t.peers.nodes
	t.peers.nodes = make(map[event.NodeID]bool)
	for _, n := range nodes {
		if n != t.cfg.Node && !t.peers.nodes[n] {
			t.peers.nodes[n] = true
			t.link(n).wanted(true)
		}
	}
	for n := range was {
		if !t.peers.nodes[n] {
			t.link(n).wanted(false)
		}
	}
}

// present returns the session with a node, nil if there is none.
func (t *Transport) present(n event.NodeID) *session {
	if l := t.known()[n]; l != nil {
		return l.present.Load()
	}
	return nil
}

// Send implements transport.Transport.
func (t *Transport) Send(to event.NodeID, m []byte) bool { return t.send(to, lossy, m) }

// SendReliable implements transport.Transport.
func (t *Transport) SendReliable(to event.NodeID, m []byte) bool { return t.send(to, lossless, m) }

func (t *Transport) send(to event.NodeID, c class, m []byte) bool {
	transport.CheckMessage(m)
	s := t.present(to)
	return s != nil && s.send(c, m)
}

// Heard implements transport.Transport.
func (t *Transport) Heard(n event.NodeID) transport.Health {
	l := t.known()[n]
	if l == nil {
		return transport.Health{}
	}
	h := transport.Health{Up: l.present.Load() != nil, Progress: l.progress.Load(), RoundTrip: time.Duration(l.trip.Load())}
	if why := l.refusal.Load(); why != nil {
		h.Refused = *why
	}
	if at := l.heard.Load(); at != 0 {
		h.At = t.began.Add(time.Duration(at - 1))
	}
	return h
}

// Break implements transport.Transport.
func (t *Transport) Break(n event.NodeID) {
	if s := t.present(n); s != nil {
		s.end(errAsked)
	}
}

// Close implements transport.Transport.
func (t *Transport) Close() error {
	t.closed.Do(func() {
		t.peers.Lock()
		t.closing.Store(true)
		t.peers.Unlock()
		t.stop(errClosed)
		for _, l := range t.all() {
			l.mu.Lock()
			s := l.mu.newest
			l.mu.Unlock()
			if s != nil {
				s.end(errClosed)
			}
		}
		t.conns.sever()
		t.server.Stop()
		t.loops.Wait()
	})
	return nil
}
