package door

import (
	"context"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// BenchmarkGRPC measures the door beside a bare server of grpc-go with generated messages of the same size, over 64
// connections: the goal is 0.8 of its rate.
func BenchmarkGRPC(b *testing.B) {
	s := open(b, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{})
	in, out := r.messages("shop.Shop/add")
	fields := in.Descriptor().Fields()
	in.Set(fields.ByName("key"), protoreflect.ValueOf("main"))
	in.Set(fields.ByName("n"), protoreflect.ValueOf(int64(1)))
	for _, of := range []struct {
		name, address, path string
		in, out             proto.Message
	}{
		{"bare", bareGRPC(b), "/bare/add", wrapperspb.String("main12"), &wrapperspb.Int64Value{}},
		{"door", r.conn.Target(), "/shop.Shop/add", in, out},
	} {
		b.Run(of.name, func(b *testing.B) { loadGRPC(b, of.address, of.path, of.in, of.out) })
	}
}

// bareGRPC starts a server that counts, and returns its address.
func bareGRPC(b *testing.B) string {
	var mu sync.Mutex
	calls := int64(0)
	add := func(_ any, _ context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var in wrapperspb.StringValue
		if err := dec(&in); err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		calls++
		return wrapperspb.Int64(calls), nil
	}
	bare := grpc.NewServer()
	bare.RegisterService(&grpc.ServiceDesc{ServiceName: "bare", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{MethodName: "add", Handler: add}}}, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = bare.Serve(l) }() // ends with Stop
	b.Cleanup(bare.Stop)
	return l.Addr().String()
}

func loadGRPC(b *testing.B, address, path string, in, out proto.Message) {
	const connections = 64
	var group sync.WaitGroup
	work := make(chan struct{}, connections)
	for range connections {
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		conn.Connect()
		out := proto.Clone(out)
		group.Go(func() {
			for range work {
				if err := conn.Invoke(context.Background(), path, in, out); err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.ResetTimer()
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	group.Wait()
	b.StopTimer()
}
