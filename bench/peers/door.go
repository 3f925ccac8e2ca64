package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/aeon-lang/aeon/bench/load"
)

// Caller is a client with a connection of its own, of the door or of the server beside it: so both pay the same for it.
type Caller struct {
	Call  func() error
	Close func() error
}

// HTTPCaller posts {"n":1} to url.
func HTTPCaller(url string) Caller {
	transport := &http.Transport{}
	client := &http.Client{Transport: transport}
	return Caller{
		Call: func() error {
			a, err := client.Post(url, "application/json", strings.NewReader(`{"n":1}`))
			if err != nil {
				return err
			}
			defer a.Body.Close()
			text, err := io.ReadAll(a.Body)
			if err == nil && a.StatusCode != http.StatusOK {
				err = fmt.Errorf("%s: %s", a.Status, text)
			}
			return err
		},
		Close: func() error {
			transport.CloseIdleConnections()
			return nil
		},
	}
}

// bytesCodec hands messages on as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(v any) ([]byte, error) { return v.([]byte), nil }

func (bytesCodec) Unmarshal(b []byte, v any) error {
	to := v.(*[]byte)
	*to = append((*to)[:0], b...)
	return nil
}

// GRPCCaller calls a unary method with the bytes of a message.
func GRPCCaller(address, path string, message []byte) (Caller, error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{})))
	if err != nil {
		return Caller{}, err
	}
	var out []byte
	return Caller{
		Call:  func() error { return conn.Invoke(context.Background(), path, message, &out) },
		Close: conn.Close,
	}, nil
}

// counter adds up what a bare server is asked to.
type counter struct {
	sync.Mutex
	n int64
}

func (c *counter) add(n int64) int64 {
	c.Lock()
	defer c.Unlock()
	c.n += n
	return c.n
}

// bare is a server without aeon; each client is made by newClient, and close ends the server.
func bare(newClient func() (Caller, error), close func()) load.System {
	var closing []func() error
	return load.System{
		NewClient: func(int, int) load.Client {
			c, err := newClient()
			if err != nil {
				return func(*rand.Rand) error { return err }
			}
			closing = append(closing, c.Close)
			return func(*rand.Rand) error { return c.Call() }
		},
		Close: func() {
			for _, f := range closing {
				_ = f() // what is measured has ended
			}
			close()
		},
	}
}

// BareHTTP is a handler of net/http that reads and writes the JSON of the door, with encoding/json.
func BareHTTP() (load.System, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return load.System{}, err
	}
	var sum counter
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var args struct{ N int64 }
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&args); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(sum.add(args.N)) // the client sees what has not arrived
	})}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(l) }) // ends with Close
	url := "http://" + l.Addr().String() + "/"
	return bare(func() (Caller, error) { return HTTPCaller(url), nil }, func() {
		_ = server.Close()
		served.Wait()
	}), nil
}

// BareGRPC is a service of grpc-go with generated messages, as large as those of the door.
func BareGRPC() (load.System, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return load.System{}, err
	}
	var sum counter
	add := func(_ any, _ context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var in wrapperspb.StringValue
		if err := read(&in); err != nil {
			return nil, err
		}
		return wrapperspb.Int64(sum.add(1)), nil
	}
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{ServiceName: "bare", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{MethodName: "add", Handler: add}}}, nil)
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(l) }) // ends with Stop
	address := l.Addr().String()
	return bare(func() (Caller, error) { return GRPCCaller(address, "/bare/add", []byte("\x0a\x06main12")) }, func() {
		server.Stop()
		served.Wait()
	}), nil
}
