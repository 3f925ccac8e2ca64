// Package grpc carries what nodes say to each other by gRPC, over connections that come from outside and are authenticated already.
//
// A session is one stream between two nodes, which the lower one opens. Its two halves are the two directions. At either end one goroutine
// sends: it packs all that waits into a frame, so many messages cost as much as one. Heartbeats go between the frames, and a node that is
// silent for too long has its session ended: gRPC itself looks no more often than each ten seconds. Calls have a connection of their own, and so has
// each bulk, so neither makes messages wait.
package grpc

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/transport"
)

// Config says how a node talks to the others.
type Config struct {
	Node    event.NodeID
	Handler transport.Handler
	// Listener accepts connections of other nodes, each of which is a Conn. It belongs to the transport, which closes it.
	Listener net.Listener
	// Dial makes a connection to another node, which is a Conn. Any goroutine calls it.
	Dial func(ctx context.Context, n event.NodeID) (net.Conn, error)
	// Progress says whether the disk of this node makes progress, which its heartbeats tell. It must not block. nil: it always does.
	Progress func() bool
	// Clock is that of the node: it follows those of the others. A node whose clock is too far off has no session; nil: a clock of its own.
	Clock *sched.Hybrid
	// Beat is about the time between two heartbeats; 0: beatDefault. It is up to a quarter shorter if one can go with a frame, and up to a quarter longer if none.
	Beat time.Duration
	// Silence is after which time without a sign of a node its session ends; 0: silenceDefault.
	Silence time.Duration
	// DialMax bounds the time in which a connection is made; 0: dialMaxDefault.
	DialMax time.Duration
	// QueueMax bounds the bytes of messages that wait for one node; 0: queueMaxDefault.
	QueueMax int
	// Rand spreads the times at which sessions are tried again. It belongs to the transport from then on; nil: one of its own.
	Rand   *rand.Rand
	Logger *slog.Logger // nil: it logs nothing
}

// Conn is what connections have beside net.Conn.
type Conn interface {
	net.Conn
	// Peer returns the node at the other end, as it was authenticated; 0: it was not. It may wait for the handshake.
	Peer() event.NodeID
}

const (
	beatDefault     = 100 * time.Millisecond
	silenceDefault  = 700 * time.Millisecond
	dialMaxDefault  = 2 * time.Second
	queueMaxDefault = 64 << 20

	redialMin = 50 * time.Millisecond
	redialMax = time.Second
)

// withDefaults returns the configuration with what was left out.
func (c Config) withDefaults() Config {
	assert.That(c.Node != 0 && c.Handler != nil && c.Listener != nil && c.Dial != nil, "transport: a node without an id, a handler, a listener or a way to dial")
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&c.Beat, beatDefault)
	set(&c.Silence, silenceDefault)
	set(&c.DialMax, dialMaxDefault)
	assert.That(c.Beat < c.Silence, "transport: a heartbeat each %v, and silence after %v", c.Beat, c.Silence)
	if c.QueueMax == 0 {
		c.QueueMax = queueMaxDefault
	}
	if c.Clock == nil {
		c.Clock = sched.NewHybrid(sched.RealClock{})
	}
	if c.Progress == nil {
		c.Progress = func() bool { return true }
	}
	if c.Rand == nil {
		c.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
