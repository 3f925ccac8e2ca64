package grpcdoor

import (
	"context"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/keepalive"

	"github.com/aeon-lang/aeon/runtime/door/gate"
)

// Bounds of what clients may have served, and how slowly.
const (
	headMax  = 32 << 10         // bytes of metadata
	callsMax = 256              // calls of one connection
	idleTime = 2 * time.Minute  // after which a connection without calls is closed
	aliveMax = 30 * time.Second // of a connection that does not answer
	pingMin  = 5 * time.Second  // between two times that a client asks whether its connection carries anything; package grpc has 5 minutes
	argsTime = 40 * time.Second // that arguments may take to arrive
	argsMax  = 64               // calls whose arguments are being read
	argsEach = 16               // those of one caller, or of one connection where callers are not known
	argsMin  = time.Second      // that they may take to arrive while other calls wait to be read
	workers  = 16               // goroutines that wait for a call; each further one that is under way has a fresh one
)

// Serve returns what serves gRPC beside gate. It is for httpdoor.Config.GRPC.
func (s *Services) Serve(g *gate.Gate) *Server {
	of := &Server{Services: s, gate: g, receivers: newReceivers(),
		reading: readers{max: argsMax, each: argsEach, patience: argsMin, late: argsTime, of: make(map[gate.Source]int)}}
	of.grpc = grpc.NewServer(
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(encodingproto.Name)}),
		grpc.MaxRecvMsgSize(int(g.BodyMax)),
		grpc.MaxHeaderListSize(headMax),
		grpc.MaxConcurrentStreams(callsMax),
		grpc.NumStreamWorkers(workers),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idleTime, Time: idleTime, Timeout: aliveMax}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingMin, PermitWithoutStream: true}),
		grpc.UnknownServiceHandler(of.call),
	)
	of.registerReflection()
	of.registerHealth()
	return of
}

// Serve implements httpdoor.Peer.
func (s *Server) Serve(l net.Listener) error { return s.grpc.Serve(conns{l}) }

// Close implements httpdoor.Peer.
func (s *Server) Close(ctx context.Context) {
	stop := context.AfterFunc(ctx, s.grpc.Stop)
	defer stop()
	s.through.close(ctx)
	s.grpc.GracefulStop()
	s.receivers.end()
}
