package peers

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/aeon-lang/aeon/bench/load"
)

// The parts of peers that are another process.
const (
	GRPCPart           = "grpc"
	ProtoPart          = "protoactor-go"
	EncryptedProtoPart = "protoactor-go, encrypted"
)

// bytesStream is a stream in both directions whose messages are bytes.
var bytesStream = grpc.StreamDesc{StreamName: "echo", ClientStreams: true, ServerStreams: true}

// ServeGRPC is the server.Part that answers each unary call and each message of a stream with what it has sent.
func ServeGRPC(string) (address string, close func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	unary := func(_ any, _ context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var in []byte
		err := read(&in)
		return in, err
	}
	stream := bytesStream
	stream.Handler = func(_ any, s grpc.ServerStream) error {
		for {
			var in []byte
			if err := s.RecvMsg(&in); err != nil {
				return nil // the client has gone
			}
			if err := s.SendMsg(in); err != nil {
				return err
			}
		}
	}
	server := grpc.NewServer(grpc.ForceServerCodec(bytesCodec{}))
	server.RegisterService(&grpc.ServiceDesc{ServiceName: "bare", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "call", Handler: unary}}, Streams: []grpc.StreamDesc{stream}}, nil)
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(l) }) // ends with Stop
	return l.Addr().String(), func() error {
		server.Stop()
		served.Wait()
		return nil
	}, nil
}

func dialGRPC(address string) (*grpc.ClientConn, error) {
	return grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{})))
}

// GRPCStreams measures round trips of messages of a size, each client by a stream of its own, all on one connection that is not encrypted.
func GRPCStreams(address string, size int) (load.System, error) {
	conn, err := dialGRPC(address)
	if err != nil {
		return load.System{}, err
	}
	return load.System{
		NewClient: func(int, int) load.Client {
			s, err := conn.NewStream(context.Background(), &bytesStream, "/bare/echo")
			out, in := make([]byte, size), []byte(nil)
			return func(*rand.Rand) error {
				if err != nil {
					return err
				}
				if err := s.SendMsg(out); err != nil {
					return err
				}
				return s.RecvMsg(&in)
			}
		},
		Close: func() { conn.Close() },
	}, nil
}

// GRPCUnary measures unary calls with messages of a size, of all clients on one connection that is not encrypted.
func GRPCUnary(address string, size int) (load.System, error) {
	conn, err := dialGRPC(address)
	if err != nil {
		return load.System{}, err
	}
	return load.System{
		NewClient: func(int, int) load.Client {
			out, in := make([]byte, size), []byte(nil)
			return func(*rand.Rand) error { return conn.Invoke(context.Background(), "/bare/call", out, &in) }
		},
		Close: func() { conn.Close() },
	}, nil
}

// startRemoting has a system of actors reach others, and be reached, by connections that are encrypted, as those between nodes of a cluster, or are not.
func startRemoting(encrypted bool) (*actor.ActorSystem, *remote.Remote, error) {
	var options []remote.ConfigOption
	if encrypted {
		own, err := selfSigned()
		if err != nil {
			return nil, nil, err
		}
		options = []remote.ConfigOption{
			remote.WithServerOptions(grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS13}))),
			// Verifying costs nothing once there is a connection.
			remote.WithDialOptions(grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}))),
		}
	}
	sys := newProtoSystem()
	r := remote.NewRemote(sys, remote.Configure("127.0.0.1", 0, options...))
	r.Start()
	return sys, r, nil
}

// selfSigned returns a certificate of this process.
func selfSigned() (tls.Certificate, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	cert, err := x509.CreateCertificate(nil, template, template, public, private)
	return tls.Certificate{Certificate: [][]byte{cert}, PrivateKey: private}, err
}

// remoteActors is how many there are in another process.
const remoteActors = 1000

// ServeProto is the server.Part with a thousand actors that add up the numbers that they are told, and answer with the sum.
func ServeProto(string) (address string, close func() error, err error) { return serveProto(false) }

// ServeEncryptedProto is ServeProto by connections that are encrypted.
func ServeEncryptedProto(string) (address string, close func() error, err error) {
	return serveProto(true)
}

func serveProto(encrypted bool) (address string, close func() error, err error) {
	sys, r, err := startRemoting(encrypted)
	if err != nil {
		return "", nil, err
	}
	for i := range remoteActors {
		var sum int64
		if _, err := sys.Root.SpawnNamed(actor.PropsFromFunc(func(c actor.Context) {
			if m, ok := c.Message().(*wrapperspb.Int64Value); ok {
				sum += m.Value
				c.Respond(wrapperspb.Int64(sum))
			}
		}), protoName(i)); err != nil {
			return "", nil, err
		}
	}
	return sys.Address(), func() error {
		r.Shutdown(false)
		return nil
	}, nil
}

func protoName(i int) string { return fmt.Sprintf("counter%d", i) }

var errSum = errors.New("an actor has answered something else")

// ProtoRemoteAsk is protoactor-go's request and response to actors of another process, uniform over those that it has.
func ProtoRemoteAsk(address string, encrypted bool) (load.System, error) {
	sys, r, err := startRemoting(encrypted)
	if err != nil {
		return load.System{}, err
	}
	pids := make([]*actor.PID, remoteActors)
	for i := range pids {
		pids[i] = actor.NewPID(address, protoName(i))
	}
	return load.System{
		NewClient: func(int, int) load.Client {
			msg := wrapperspb.Int64(1)
			return func(r *rand.Rand) error {
				got, err := sys.Root.RequestFuture(pids[r.IntN(remoteActors)], msg, askTimeout).Result()
				if sum, ok := got.(*wrapperspb.Int64Value); err == nil && (!ok || sum.Value < 1) {
					err = errSum
				}
				return err
			}
		},
		Close: func() {
			r.Shutdown(false)
			sys.Shutdown()
		},
	}, nil
}
