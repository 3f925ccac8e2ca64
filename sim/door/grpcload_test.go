package door

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// rawMessage is the bytes of a message, which need not be one.
type rawMessage []byte

// rawCodec hands on messages as they are.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) ([]byte, error) { return *v.(*rawMessage), nil }

func (rawCodec) Unmarshal(b []byte, v any) error {
	*v.(*rawMessage) = bytes.Clone(b)
	return nil
}

// A program that is built with gRPC takes calls by it where it listens, and goes on with what they have done.
func TestProgramWithGRPC(t *testing.T) {
	t.Parallel()
	exe, dir := build(t), t.TempDir()
	for _, want := range []string{`{"result":"5"}`, `{"result":"10"}`} {
		p := start(t, exe, dir)
		conn, err := grpc.NewClient(strings.TrimPrefix(p.url, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		r := &remote{t: t, conn: conn}
		if got, err := r.call("shop.Shop/add", `{"key":"main","n":5}`); got != want {
			t.Errorf("%s (%v), expected %s", got, err, want)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		<-p.said
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("the program has ended with %v", err)
		}
	}
}

// Clients that announce calls and send no message hold no more than so many of them, and nothing up for the others: a
// connection has a part of the places, and those that have been waited for longest give way.
func TestSlowClientsByGRPC(t *testing.T) {
	t.Parallel()
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{})
	r.empty()
	connect := func() *grpc.ClientConn {
		conn, err := grpc.NewClient(strings.TrimPrefix(s.URL, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const each, all = 16, 64
	announce := func(on *grpc.ClientConn, calls int) {
		for range calls {
			_, err := on.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/shop.Shop/find")
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	in, result := r.messages("shop.Shop/total")
	in.Set(in.Descriptor().Fields().ByName("key"), protoreflect.ValueOf("main"))
	ask := func(on *grpc.ClientConn, most time.Duration) error {
		short, cancel := context.WithTimeout(t.Context(), most)
		defer cancel()
		return on.Invoke(short, "/shop.Shop/total", in, dynamicpb.NewMessage(result.Descriptor()))
	}
	until := func(want codes.Code, on *grpc.ClientConn) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; {
			err := ask(on, 2*time.Second) // long, as a slow machine is no limit
			if status.Code(err) == want {
				return
			}
			if time.Now().After(deadline) {
				t.Errorf("calls are answered %v, expected %v", err, want)
				return
			}
		}
	}
	greedy := connect()
	announce(greedy, all)
	until(codes.DeadlineExceeded, greedy) // its places are taken
	for range 10 {
		if err := ask(r.conn, 20*time.Second); err != nil { // those of others are not; a call is read for 40 s
			t.Errorf("of another connection: %v", err)
		}
	}
	if got := s.ask("GET", "/v1/Shop/main/total", ""); got.body != "0" {
		t.Errorf("by HTTP: %d %s", got.status, got.body)
	}
	others := make([]*grpc.ClientConn, all/each-1)
	for i := range others {
		others[i] = connect()
		announce(others[i], each)
	}
	var full sync.WaitGroup
	for _, on := range others { // else the next calls may be read before these are
		full.Go(func() { until(codes.DeadlineExceeded, on) })
	}
	full.Wait()
	for range 3 { // all places are taken: some give way
		if err := ask(r.conn, 20*time.Second); err != nil {
			t.Errorf("when all places are taken: %v", err)
		}
	}
	cancel()
	until(codes.OK, greedy)
}

// servicePath is the path of a method of class Shop, or of that of another service, which is in front of it with a slash.
func servicePath(method string) string {
	service, name, other := strings.Cut(method, "/")
	if !other {
		service, name = "Shop", method
	}
	return "shop." + url.PathEscape(service) + "/" + url.PathEscape(name)
}

// FuzzGRPC: whatever bytes a request has, the answer is a result or a failure that says so, and none is the server's own. A
// call that is refused leaves nothing.
func FuzzGRPC(f *testing.F) {
	s := open(f, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{Config: gate.Config{TimeMax: 5 * time.Millisecond, BodyMax: 4096}})
	for _, seed := range []struct{ method, request string }{ // a method of class Shop, or of another service behind its name and a slash
		{"Clients/begin", `{"classes":["Ear","Eye"]}`},
		{"Clients/receive", `{"id":"x","after":"1"}`},
		{"Clients/end", `{"id":"x"}`},
		{"Cart/sum", `{"key":":1:7"}`},
		{"put", `{"key":"main","item":` + protoPen + `}`},
		{"keep", `{"key":"a","e":{"Whole":"-1","At":"2026-01-02T03:04:05Z","Took":"1.5s","Kind":"SIZE_LARGE","Items":[` + protoPen + `],"Marks":["1","2"],"ByName":{"a":` + protoPen + `},"Seen":[{"key":"1s","value":true}],"Best":` + protoPen + `,"Shop":"Shop/a"}}`},
		{"cheap", `{"key":"main","cents":"5","size":"SIZE_SMALL"}`},
		{"spin", `{"key":"main","rounds":"9000000000"}`},
		{"listeners", `{"key":"main"}`},
	} {
		in, _ := r.messages(servicePath(seed.method))
		if err := protojson.Unmarshal([]byte(seed.request), in); err != nil {
			f.Fatal(err)
		}
		b, err := proto.Marshal(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed.method, b)
	}
	count := func() string {
		for {
			if a := do(s, "POST", "/v1/Shop/fuzz counter/add", "", []byte(`{"n":0}`), ""); a.Code != http.StatusServiceUnavailable { // it may be slow
				return a.Body.String()
			}
		}
	}
	s.Config = &http.Server{Handler: httpdoor.New(httpdoor.Config{Config: gate.Config{Door: s.door, Log: discard}, Program: "shop"}).Handler()}
	f.Fuzz(func(t *testing.T, method string, request []byte) {
		before := count()
		in, out := rawMessage(request), rawMessage{}
		err := r.conn.Invoke(r.context(), "/"+servicePath(method), &in, &out, grpc.ForceCodec(rawCodec{}))
		switch code := status.Code(err); code {
		case codes.OK, codes.ResourceExhausted:
		case codes.Internal, codes.Unknown:
			t.Fatalf("it is answered %v", err)
		default:
			if says := told(t, err); !strings.Contains(says, " no ") {
				t.Fatalf("it is answered %s", says)
			}
		}
		if after := count(); after != before && !strings.Contains(string(request), "fuzz counter") {
			t.Fatalf("another actor has changed: it was %s, and is %s", before, after)
		}
	})
}
