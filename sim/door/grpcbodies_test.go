package door

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/grpcdoor"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// framed is a message as gRPC has it, which may announce more than it has.
func framed(message []byte, announced int) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(announced)), message...)
}

// sentBody is the body of a request that does not end until it is closed.
type sentBody struct {
	from   io.Reader
	read   atomic.Int64
	all    func() // called when all was read
	closed chan struct{}
	close  func()
}

func newBody(from io.Reader, all func()) *sentBody {
	closed := make(chan struct{})
	return &sentBody{from: from, all: sync.OnceFunc(all), closed: closed, close: sync.OnceFunc(func() { close(closed) })}
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.read.Add(int64(n)); err != io.EOF {
		return n, err
	}
	b.all()
	<-b.closed
	return n, io.ErrClosedPipe
}

func (b *sentBody) Close() error {
	b.close()
	return nil
}

// asGRPC has h serve a request by gRPC, as net/http would. It returns the status of the answer.
func asGRPC(ctx context.Context, h http.Handler, path string, body io.ReadCloser) string {
	w := httptest.NewRecorder()
	serveGRPC(ctx, w, h, path, body)
	return w.Header().Get("Grpc-Status")
}

func serveGRPC(ctx context.Context, w http.ResponseWriter, h http.Handler, path string, body io.ReadCloser) {
	r := httptest.NewRequestWithContext(ctx, "POST", "https://localhost/"+path, nil)
	r.Proto, r.ProtoMajor, r.ProtoMinor, r.Body = "HTTP/2.0", 2, 0, body
	r.Header.Set("Content-Type", "application/grpc")
	h.ServeHTTP(w, r)
}

// What follows the message of a call is not kept, however long the call is.
func TestNothingIsKeptBehindAMessage(t *testing.T) {
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{})
	c := r.begin(`"Ear"`)
	in, _ := r.messages("shop.Clients/receive")
	if err := protojson.Unmarshal([]byte(`{"id":"`+c.ID+`"}`), in); err != nil {
		t.Fatal(err)
	}
	first, err := proto.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	const more = 64 << 20
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan struct{})
	body := newBody(io.MultiReader(bytes.NewReader(framed(first, len(first))), io.LimitReader(zeros{}, more)), func() { close(read) })
	var end sync.WaitGroup
	defer end.Wait()
	defer cancel()
	before := heap()
	h := s.handler()
	ended := make(chan string, 1)
	end.Go(func() { ended <- asGRPC(ctx, h, "shop.Clients/receive", body) })
	select {
	case <-read:
	case code := <-ended:
		t.Fatalf("the stream has ended with %s", code)
	}
	if grown := heap() - before; grown > more/2 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
}

// zeros are empty messages.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// gRPC's own services, two of which need no token, take no more than names.
func TestOwnServicesOfGRPCTakeLittle(t *testing.T) {
	t.Parallel()
	s := open(t, &shop.AeonPackage)
	h := s.handler()
	for _, path := range []string{"grpc.health.v1.Health/Check", "grpc.health.v1.Health/Watch", "grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"} {
		const size = 1 << 20
		body := newBody(bytes.NewReader(framed(make([]byte, size-1), size)), func() {})
		ctx, cancel := context.WithCancel(t.Context())
		body.all = cancel
		if code := asGRPC(ctx, h, path, body); body.read.Load() > 1<<10 {
			t.Errorf("%s: %d bytes were read, and it is answered %s", path, body.read.Load(), code)
		}
		cancel()
	}
}

// Nothing is read of a call that waits for a place among those whose arguments are being read.
func TestCallsThatWaitAreNotRead(t *testing.T) {
	t.Parallel()
	s := open(t, &shop.AeonPackage)
	h := s.handler()
	const each, size = 16, 100 << 10
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var read, end sync.WaitGroup
	send := func(ctx context.Context, all func()) *sentBody {
		b := newBody(bytes.NewReader(framed(make([]byte, size-1), size)), all)
		end.Go(func() { asGRPC(ctx, h, "shop.Shop/find", b) })
		return b
	}
	read.Add(each)
	for range each {
		send(ctx, read.Done)
	}
	read.Wait()
	short, over := context.WithTimeout(ctx, 200*time.Millisecond)
	defer over()
	waiting := send(short, func() {})
	<-waiting.closed
	if n := waiting.read.Load(); n > 0 {
		t.Errorf("%d bytes were read", n)
	}
	cancel()
	end.Wait()
}

// keptOpen is a body that a front keeps open for another sending, and the writer of the answer, whose deadline ends the reading.
type keptOpen struct {
	*httptest.ResponseRecorder
	*sentBody
}

func (keptOpen) Close() error { return nil }

func (k keptOpen) SetReadDeadline(time.Time) error { return k.sentBody.Close() }

// A call ends with its answer though its client goes on sending, and a front keeps the body open.
func TestCallsEndBeforeTheirBodies(t *testing.T) {
	t.Parallel()
	s := open(t, &shop.AeonPackage)
	k := keptOpen{httptest.NewRecorder(), newBody(bytes.NewReader(framed([]byte("\x0a\x04main"), 6)), func() {})}
	h, ended := s.handler(), make(chan struct{})
	go func() { // ends with the body
		defer close(ended)
		serveGRPC(t.Context(), k, h, "shop.Shop/count", k)
	}()
	select {
	case <-ended:
		if code := k.Header().Get("Grpc-Status"); code != "0" {
			t.Errorf("it is answered %s", code)
		}
	case <-time.After(20 * time.Second):
		t.Error("it waits for what its client sends")
		k.close()
	}
}

// A program that ends answers the calls by gRPC that have come through net/http, and refuses others.
func TestCallsByGRPCEndBeforeTheServer(t *testing.T) {
	t.Parallel()
	s := open(t, &shop.AeonPackage)
	services, err := grpcdoor.Of(s.door)
	if err != nil {
		t.Fatal(err)
	}
	server := httpdoor.New(httpdoor.Config{Config: gate.Config{Door: s.door, Log: discard}, Program: "shop", GRPC: func(g *gate.Gate) httpdoor.Peer { return services.Serve(g) }})
	message := framed([]byte("\x0a\x04main"), 6)
	const method = "shop.Shop/count"
	in, out := io.Pipe()
	var end sync.WaitGroup
	var code string
	end.Go(func() { code = asGRPC(t.Context(), server.Handler(), method, in) })
	if _, err := out.Write(message[:5]); err != nil { // then the call is under way
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	end.Go(func() {
		if err := server.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	for { // until it is closing
		if code := asGRPC(t.Context(), server.Handler(), method, newBody(bytes.NewReader(message), func() {})); code != "0" {
			if code != "14" {
				t.Errorf("a further call is answered %q", code)
			}
			break
		}
	}
	_, _ = out.Write(message[5:]) // it fails if the call was cut off
	_ = out.Close()               // of a pipe, which cannot fail
	end.Wait()
	if code != "0" {
		t.Errorf("the call is answered %q", code)
	}
}
