package grpcclient

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
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

func (n *network) dial(context.Context, string) (net.Conn, error) {
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

// cut has the connections that there are carry nothing any more. Others can be made.
func (n *network) cut() {
	synctest.Wait()
	for _, open := range n.open {
		open.Store(false)
	}
}

// A connection that carries nothing any more holds neither calls nor streams: calls soon go by another one, and a stream ends, so that it can be resumed.
// The options of a connection say otherwise if they are to.
func TestASilentConnectionIsLeft(t *testing.T) {
	for _, c := range []struct {
		what     string
		opts     []grpc.DialOption
		from, to time.Duration
	}{
		{"as it is", nil, 5 * time.Second, 20 * time.Second},
		{"with an option", []grpc.DialOption{grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: time.Minute, Timeout: 5 * time.Second})}, time.Minute, 80 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := &network{conns: make(chan net.Conn)}
			s := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
				if err := stream.RecvMsg(new(wrapperspb.StringValue)); err != nil {
					return err
				}
				err := good(stream)
				if method, _ := grpc.MethodFromServerStream(stream); method == "/p.C/receive" {
					<-stream.Context().Done()
				}
				return err
			}))
			go func() { _ = s.Serve(n) }() // ends with n
			defer s.Stop()
			defer close(n.conns)
			conn, err := Dial([]string{"passthrough:///node"}, append(c.opts, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(n.dial))...)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for i := range 2 {
				began := time.Now()
				got, err := call(t.Context(), conn, 2*time.Minute)
				if took := time.Since(began); err != nil || got != "out" || i > 0 && (took < c.from || took > c.to) {
					t.Fatalf("%s: call %d, after %v, by %d connections: %v", c.what, i, took, len(n.open), err)
				}
				n.cut()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if _, err := call(ctx, conn, 2*time.Minute); err != nil { // by a connection that carries
				t.Fatal(err)
			}
			stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/p.C/receive")
			if err == nil {
				err = stream.SendMsg(wrapperspb.String("in"))
			}
			out := new(wrapperspb.StringValue)
			if err == nil {
				err = stream.RecvMsg(out)
			}
			if err != nil {
				t.Fatal(err)
			}
			n.cut()
			began := time.Now()
			if err, took := stream.RecvMsg(out), time.Since(began); status.Code(err) != codes.Unavailable || time.Since(began) > c.to {
				t.Errorf("%s: the stream ends after %v: %v", c.what, took, err)
			}
		})
	}
}
