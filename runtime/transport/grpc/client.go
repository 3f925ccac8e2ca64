package grpc

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/transport"
)

// client is a connection to another node, which gRPC makes when it is used first.
type client struct {
	*grpc.ClientConn
	mu struct {
		sync.Mutex
		conns  []net.Conn // gRPC has closed all but the last one
		closed bool
	}
}

const (
	windowBytes = 1 << 20 // how much a receiver lets be under way
	// lengthen is what a request, a reply or a header has before it.
	lengthen = 64
)

// newClient returns a connection of its own.
func newClient(cfg *Config, n event.NodeID) (*client, error) {
	c := &client{}
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		conn, err := cfg.Dial(ctx, n)
		if err != nil {
			return nil, err
		}
		return c.keep(conn)
	}
	cc, err := grpc.NewClient("passthrough:///node",
		grpc.WithContextDialer(dial), grpc.WithTransportCredentials(identity{self: cfg.Node, expect: n}),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{}), grpc.MaxCallRecvMsgSize(transport.CallMax+lengthen)),
		grpc.WithStaticStreamWindowSize(windowBytes), grpc.WithStaticConnWindowSize(windowBytes),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: redialMin, Multiplier: 2, Jitter: 0.2, MaxDelay: redialMax},
			MinConnectTimeout: cfg.DialMax,
		}),
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithDisableHealthCheck(), grpc.WithIdleTimeout(0))
	if err != nil {
		return nil, err
	}
	c.ClientConn = cc
	return c, nil
}

// keep notes a connection, so that close can close it.
func (c *client) keep(conn net.Conn) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.closed {
		_ = conn.Close() // nothing was written to it
		return nil, net.ErrClosed
	}
	c.mu.conns = append(c.mu.conns[:0], conn)
	return conn, nil
}

// sever breaks the connection, and there is no other one. Any goroutine may call it, again, too.
func (c *client) sever() {
	c.mu.Lock()
	conns := c.mu.conns
	c.mu.closed, c.mu.conns = true, nil
	c.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close() // it may be closed already
	}
}

// close ends what is under way in the connection, and returns when nothing of it is left.
func (c *client) close() {
	c.sever()     // first: gRPC waits for seconds to say good-bye to a node that takes nothing
	_ = c.Close() // it says that it was closed
}
