// Package grpc carries what nodes say over gRPC. Between two nodes there is one stream of messages in each direction, with one goroutine that
// sends whatever is queued as one frame, and one connection for calls and bulk, so that these do not hold messages up. Heartbeats go over the
// stream, as gRPC's own come every ten seconds at most; they say whether the disk of the sender makes progress.
package grpc

import (
	"context"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/transport"
)

// Config says how a node is connected. The zero value of a bound is its default.
type Config struct {
	Node     event.NodeID
	Listener net.Listener // its connections are Conns
	Dial     func(ctx context.Context, n event.NodeID) (net.Conn, error)
	Handler  transport.Handler
	Progress func() bool // whether the disk of this node makes progress
	Log      *slog.Logger

	Heartbeat time.Duration // 100 ms
	Silence   time.Duration // after which a session ends; 1 s
	QueueMax  int           // bytes that wait for a node; 64 MiB
}

const (
	heartbeatDefault = 100 * time.Millisecond
	silenceDefault   = time.Second
	queueDefault     = 64 << 20
	windowBytes      = 4 << 20
)

// Transport implements transport.Transport.
type Transport struct {
	cfg    Config
	server *grpc.Server
	tasks  sync.WaitGroup
	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	mu    sync.Mutex
	peers map[event.NodeID]*sender
	heard map[event.NodeID]transport.Health
}

var _ transport.Transport = (*Transport)(nil)

// New connects a node.
func New(cfg Config) *Transport {
	if cfg.Heartbeat == 0 {
		cfg.Heartbeat = heartbeatDefault
	}
	if cfg.Silence == 0 {
		cfg.Silence = silenceDefault
	}
	if cfg.QueueMax == 0 {
		cfg.QueueMax = queueDefault
	}
	t := &Transport{cfg: cfg, peers: make(map[event.NodeID]*sender), heard: make(map[event.NodeID]transport.Health)}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.server = grpc.NewServer(grpc.Creds(trusting{}), grpc.ForceServerCodec(codec{}), grpc.MaxRecvMsgSize(messageMax+frameMax), grpc.MaxSendMsgSize(messageMax+frameMax),
		grpc.InitialWindowSize(windowBytes), grpc.InitialConnWindowSize(2*windowBytes))
	t.server.RegisterService(&service, t)
	t.tasks.Go(func() { _ = t.server.Serve(cfg.Listener) }) // it ends with Close
	return t
}

// The service. Its messages are bytes.
var service = grpc.ServiceDesc{
	ServiceName: "aeon.Transport",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Call", Handler: func(srv any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var request []byte
		if err := dec(&request); err != nil {
			return nil, err
		}
		return srv.(*Transport).answer(ctx, request)
	}}},
	Streams: []grpc.StreamDesc{
		{StreamName: "Messages", ClientStreams: true, Handler: func(srv any, s grpc.ServerStream) error { return srv.(*Transport).messages(s) }},
		{StreamName: "Bulk", ClientStreams: true, Handler: func(srv any, s grpc.ServerStream) error { return srv.(*Transport).takeBulk(s) }},
	},
}

func from(ctx context.Context) (event.NodeID, error) {
	p, ok := peer.FromContext(ctx)
	if ok {
		if info, ok := p.AuthInfo.(peerInfo); ok {
			return info.node, nil
		}
	}
	return 0, status.Error(codes.Unauthenticated, "the other end is not known")
}

// messages takes the frames of a session.
func (t *Transport) messages(s grpc.ServerStream) error {
	n, err := from(s.Context())
	if err != nil {
		return err
	}
	for {
		var frame []byte
		if err := s.RecvMsg(&frame); err != nil {
			return nil // the session is over
		}
		flags, err := messagesOf(frame, func(m []byte) { t.cfg.Handler.Message(n, m) })
		if err != nil {
			return status.Error(codes.InvalidArgument, err.Error())
		}
		t.mu.Lock()
		t.heard[n] = transport.Health{Last: time.Now(), Progress: flags&flagProgress != 0}
		t.mu.Unlock()
	}
}

// answer answers a call.
func (t *Transport) answer(ctx context.Context, request []byte) (any, error) {
	n, err := from(ctx)
	if err != nil {
		return nil, err
	}
	reply, err := t.cfg.Handler.Call(ctx, n, request)
	switch {
	case err != nil && ctx.Err() != nil: // it was cut off: it may have happened
		return nil, status.FromContextError(ctx.Err()).Err()
	case err != nil:
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	return &reply, nil
}

// takeBulk takes a stream, whose first message is the header.
func (t *Transport) takeBulk(s grpc.ServerStream) error {
	n, err := from(s.Context())
	if err != nil {
		return err
	}
	var header []byte
	if err := s.RecvMsg(&header); err != nil {
		return err
	}
	if err := t.cfg.Handler.Bulk(n, header, &chunks{s: s}); err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	var done []byte
	return s.SendMsg(&done)
}

// Send implements transport.Transport.
func (t *Transport) Send(to event.NodeID, m []byte) {
	if p := t.peer(to); p != nil {
		p.add(m)
	}
}

// Connect begins sessions with a node, so that it is heard though nothing is sent.
func (t *Transport) Connect(n event.NodeID) { t.peer(n) }

// Disconnect ends the sessions with a node, which is no member any more.
func (t *Transport) Disconnect(n event.NodeID) {
	t.mu.Lock()
	p := t.peers[n]
	delete(t.peers, n)
	delete(t.heard, n)
	t.mu.Unlock()
	if p != nil {
		p.end()
	}
}

// peer returns the sender to a node, nil after Close.
func (t *Transport) peer(n event.NodeID) *sender {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil {
		return nil
	}
	p := t.peers[n]
	if p == nil {
		p = &sender{t: t, node: n, wake: make(chan struct{}, 1), messages: t.connect(n), calls: t.connect(n)}
		p.ctx, p.cancel = context.WithCancel(t.ctx)
		t.peers[n] = p
		t.tasks.Go(p.run)
	}
	return p
}

// connect returns a connection to a node, which is made when it is used, and again when it breaks.
func (t *Transport) connect(n event.NodeID) *grpc.ClientConn {
	c, err := grpc.NewClient("passthrough:///node"+strconv.FormatUint(uint64(n), 10),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return t.cfg.Dial(ctx, n) }),
		grpc.WithTransportCredentials(trusting{}), grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{}), grpc.MaxCallRecvMsgSize(messageMax), grpc.MaxCallSendMsgSize(messageMax+frameMax)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}, MinConnectTimeout: time.Second}),
		grpc.WithInitialWindowSize(windowBytes), grpc.WithInitialConnWindowSize(2*windowBytes), grpc.WithDisableServiceConfig(), grpc.WithIdleTimeout(0))
	if err != nil {
		panic(err) // of options that do not fit together
	}
	return c
}

// Call implements transport.Transport.
func (t *Transport) Call(ctx context.Context, to event.NodeID, request []byte) (reply []byte, err error) {
	p := t.peer(to)
	if p == nil {
		return nil, transport.ErrClosed
	}
	err = p.calls.Invoke(ctx, "/aeon.Transport/Call", &request, &reply)
	return reply, refused(err)
}

// refused returns the error of the other node's handler, if err is one, else err.
func refused(err error) error {
	if s := status.Convert(err); err != nil && s.Code() == codes.FailedPrecondition {
		return &transport.Refusal{Reason: s.Message()}
	}
	return err
}

// Bulk implements transport.Transport.
func (t *Transport) Bulk(ctx context.Context, to event.NodeID, header []byte, write func(io.Writer) error) error {
	p := t.peer(to)
	if p == nil {
		return transport.ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := p.calls.NewStream(ctx, &service.Streams[1], "/aeon.Transport/Bulk")
	if err == nil {
		err = s.SendMsg(&header)
	}
	if err != nil {
		return refused(err)
	}
	w := &chunker{s: s}
	err = write(w)
	if err == nil {
		err = w.flush()
	}
	if err != nil && err != io.EOF { // EOF: the other end has ended the stream, and the answer says why
		return err
	}
	if err == nil {
		if err := s.CloseSend(); err != nil {
			return err
		}
	}
	var done []byte
	return refused(s.RecvMsg(&done))
}

// Heard implements transport.Transport.
func (t *Transport) Heard(n event.NodeID) transport.Health {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.heard[n]
}

// Close implements transport.Transport.
func (t *Transport) Close() error {
	t.mu.Lock()
	t.cancel()
	peers := t.peers
	t.peers = nil
	t.mu.Unlock()
	for _, p := range peers {
		p.end()
	}
	t.server.Stop()
	t.tasks.Wait()
	return nil
}
