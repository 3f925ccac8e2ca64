package door

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/aeon-lang/aeon/internal/gobuild"
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
	exe, dir := buildWith(t, gobuild.Options{Kind: gobuild.Program, Name: "shop", Store: true, GRPC: true}), t.TempDir()
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
		if err, code := p.cmd.Wait(), new(exec.ExitError); !errors.As(err, &code) || code.ExitCode() != 130 {
			t.Errorf("the program has ended with %v", err)
		}
	}
}

// Clients that announce a call and send no message hold no more than so many of them.
func TestSlowClientsByGRPC(t *testing.T) {
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{})
	r.empty()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const slow = 64
	for range slow {
		if _, err := r.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/shop.Shop/find"); err != nil {
			t.Fatal(err)
		}
	}
	in, out := r.messages("shop.Shop/total")
	ask := func(key string) error {
		short, cancel := context.WithTimeout(t.Context(), 2*time.Second) // long, as a slow machine is no limit
		defer cancel()
		in.Set(in.Descriptor().Fields().ByName("key"), protoreflect.ValueOf(key))
		return r.conn.Invoke(short, "/shop.Shop/total", in, out)
	}
	until := func(want codes.Code) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; {
			err := ask("main")
			if status.Code(err) == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("calls are answered %v, expected %v", err, want)
			}
		}
	}
	until(codes.DeadlineExceeded)
	if got := s.ask("GET", "/v1/Shop/main/total", ""); got.body != "0" {
		t.Errorf("by HTTP: %d %s", got.status, got.body)
	}
	cancel()
	until(codes.OK)
}

// FuzzGRPC: whatever bytes a request has, the answer is a result or a failure that says so, and none is the server's own. A
// call that is refused leaves nothing.
func FuzzGRPC(f *testing.F) {
	s := open(f, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{Config: gate.Config{TimeMax: 5 * time.Millisecond, BodyMax: 4096}})
	for _, seed := range []struct{ method, request string }{
		{"put", `{"key":"main","item":` + protoPen + `}`},
		{"keep", `{"key":"a","e":{"Whole":"-1","At":"2026-01-02T03:04:05Z","Took":"1.5s","Kind":"SIZE_LARGE","Items":[` + protoPen + `],"Marks":["1","2"],"ByName":{"a":` + protoPen + `},"Seen":[{"key":"1s","value":true}],"Best":` + protoPen + `,"Shop":"Shop/a"}}`},
		{"cheap", `{"key":"main","cents":"5","size":"SIZE_SMALL"}`},
		{"spin", `{"key":"main","rounds":"9000000000"}`},
		{"listeners", `{"key":"main"}`},
	} {
		in, _ := r.messages("shop.Shop/" + seed.method)
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
		err := r.conn.Invoke(r.context(), "/shop.Shop/"+url.PathEscape(method), &in, &out, grpc.ForceCodec(rawCodec{}))
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
