package grpcdoor

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"

	"github.com/aeon-lang/aeon/client/grpcclient"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
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

// A client may ask a silent connection whether it is there: that does not end its streams.
func TestClientsMayPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		empty, err := door.ProgramOf(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, l := (&Services{door: &door.Door{Program: empty}}).Serve(gate.New(gate.Config{})), make(piped)
		go func() { _ = s.Serve(l) }() // ends with l
		defer s.Close(t.Context())
		defer close(l)
		dial := func(context.Context, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			l <- theirs
			return ours, nil
		}
		conn, err := grpcclient.Dial([]string{"passthrough:///node"}, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		stream, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		end := time.AfterFunc(5*time.Minute, func() { _ = stream.CloseSend() })
		defer end.Stop()
		began := time.Now()
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("the stream ends after %v: %v", time.Since(began), err)
		}
	})
}
