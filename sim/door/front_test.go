package door

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/aeon-lang/aeon/cluster/front"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/grpcdoor"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// nodes are the fronts of two nodes, 1 and 2, of which the test says where the system is.
type nodes struct {
	mu      sync.Mutex
	at      front.Place  // with Here, which is that of node at.Node
	next    http.Handler // takes over at node 1 when a request has failed; nil: no system does
	over    chan struct{}
	changed chan struct{}
}

func (n *nodes) move(node event.NodeID, here http.Handler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over != nil {
		close(n.over)
		close(n.changed)
	}
	n.over, n.changed = make(chan struct{}), make(chan struct{})
	n.at = front.Place{Node: node, Term: n.at.Term + 1, Here: here, Over: n.over}
}

// locate is front.Config.Locate of a node.
func (n *nodes) locate(of event.NodeID) func(context.Context, event.StoreID, front.Place) (front.Place, error) {
	return func(ctx context.Context, _ event.StoreID, after front.Place) (front.Place, error) {
		for {
			n.mu.Lock()
			at, changed, next := n.at, n.changed, n.next
			n.mu.Unlock()
			if at.Term == after.Term && next != nil {
				n.move(1, next)
				continue
			}
			if at.Node != of {
				at.Here = nil
			}
			if at.Node != 0 && at.Term != after.Term {
				return at, nil
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return at, ctx.Err()
			}
		}
	}
}

// serve serves h as a node does, and returns the address.
func serveAsNode(t *testing.T, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = s.Serve(l) }() // ends with the test
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

// remotes returns clients of the two nodes by gRPC.
func (n *nodes) remotes(t *testing.T, wait time.Duration) (list [3]*remote) {
	t.Helper()
	var forwarded [3]string
	for i := 1; i < len(list); i++ {
		node := event.NodeID(i)
		f := front.New(front.Config{
			Locate: n.locate(node), Wait: wait, Log: discard, Ready: func() error { return nil },
			Here: func(event.StoreID) http.Handler {
				n.mu.Lock()
				defer n.mu.Unlock()
				if n.at.Node != node {
					return nil
				}
				return n.at.Here
			},
			Dial: func(ctx context.Context, to event.NodeID) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, "tcp", forwarded[to])
			},
			GRPC: &front.GRPC{Fail: grpcdoor.Fail, Reads: func(path string) bool { return path == "/shop.Shop/total" },
				Store: func(string, []byte) event.StoreID { return 0 }},
		})
		t.Cleanup(f.Close)
		forwarded[i] = serveAsNode(t, f.Forwarded())
		conn, err := grpc.NewClient(serveAsNode(t, f), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		list[i] = &remote{t: t, conn: conn}
	}
	return list
}

// handler returns what serves the program by HTTP and gRPC without a listener.
func (s *served) handler() http.Handler {
	s.t.Helper()
	services, err := grpcdoor.Of(s.door)
	if err != nil {
		s.t.Fatal(err)
	}
	server := httpdoor.New(httpdoor.Config{
		Config: gate.Config{Door: s.door, Log: discard}, Program: s.of.Name, GRPC: func(g *gate.Gate) httpdoor.Peer { return services.Serve(g) },
	})
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = server.Close(ctx) // it has no listener that could fail
	})
	return server.Handler()
}

// A node that does not run the actors takes calls by gRPC as the one that does: messages, metadata, deadlines and details of failures are kept.
func TestGRPCThroughFronts(t *testing.T) {
	t.Parallel()
	s := open(t, &shop.AeonPackage)
	n := &nodes{}
	n.move(1, s.handler())
	for i, r := range n.remotes(t, time.Second) {
		if r == nil {
			continue
		}
		if _, err := r.learn(); err != nil { // a stream that goes both ways
			t.Fatal(err)
		}
		for _, c := range []struct{ path, request, want string }{
			{"shop.Shop/put", `{"key":"main","item":` + protoPen + `}`, "{}"},
			{"shop.Shop/find", `{"key":"main","name":"pen"}`, `{"result":` + protoPen + `}`},
			{"shop.Shop/find", `{"key":"main","name":"cup"}`, "{}"},
			{"shop.Shop/put", `{"key":"main","item":{"Name":"air","Size":"SIZE_SMALL"}}`, "FailedPrecondition aborted no shop_aeon.go true: an item costs more than 0"},
			{"shop.Shop/put", `{"key":"main"}`, "InvalidArgument arguments no : item: it is missing; its type is Item"},
			{"shop.Cart/sum", `{"key":":1:7"}`, "NotFound not-found no : there is no actor Cart:1:7"},
			{"shop.Shop/find", `{"key":"main","name":"` + strings.Repeat("x", 1<<20) + `"}`, "ResourceExhausted"},
		} {
			got, err := r.call(c.path, c.request)
			if err != nil {
				got = told(t, err)
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("node %d: %s: %.200s, expected %s", i, c.path, got, c.want)
			}
		}
		if _, err := r.call("shop.Shop/count", `{"key":"once"}`, "idempotency-key", "k"); err != nil {
			t.Error(err)
		}
		if got, err := r.call("shop.Shop/count", `{"key":"once"}`, "idempotency-key", "k"); err != nil || got != `{"result":"1"}` {
			t.Errorf("node %d: a call that comes again is answered %s (%v)", i, got, err)
		}

		in, out := r.messages("shop.Shop/find")
		if err := protojson.Unmarshal([]byte(`{"key":"main","name":"pen"}`), in); err != nil {
			t.Fatal(err)
		}
		var head metadata.MD
		if err := r.conn.Invoke(r.context(), "/shop.Shop/find", in, out, grpc.Header(&head)); err != nil || len(head["aeon-position"]) != 1 {
			t.Errorf("node %d: the headers are %v (%v)", i, head, err)
		}

		in, out = r.messages("shop.Shop/spin")
		if err := protojson.Unmarshal([]byte(`{"key":"main","rounds":"1000000000000"}`), in); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(r.context(), 100*time.Millisecond)
		if err := r.conn.Invoke(ctx, "/shop.Shop/spin", in, out); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("node %d: a call beyond its deadline ends with %v", i, err)
		}
		cancel()
		if got, err := r.call("grpc.health.v1.Health/Check", "{}"); err != nil || got != `{"status":"SERVING"}` {
			t.Errorf("node %d: its health is %s (%v)", i, got, err)
		}

		c := r.begin(`"Ear"`)
		name := "ears" + string(rune('0'+i))
		if _, err := r.call("shop.Shop/listen", `{"key":"`+name+`","ear":"`+c.References["Ear"]+`"}`); err != nil {
			t.Fatal(err)
		}
		h := r.follow(c.ID, 0) // returns when its headers have come, without a callback
		if _, err := r.call("shop.Shop/say", `{"key":"`+name+`","text":"a","times":1}`); err != nil {
			t.Fatal(err)
		}
		h.want(`{"number":"1","Ear":{"said":{"number":"1","text":"a"}}}`)
	}
}

// A call by gRPC whose system ends under it goes to the next one, if that cannot have it done twice; else what is answered is true.
func TestGRPCFailsOver(t *testing.T) {
	t.Parallel()
	s := open(t, &shop.AeonPackage)
	next := s.handler()
	n := &nodes{}
	list := n.remotes(t, time.Second)
	n.move(1, next)
	n.next = next
	for _, r := range list[1:] {
		if _, err := r.learn(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what, path string
		err        error
		key        string
		want       string
	}{
		{"it has not happened", "shop.Shop/count", event.ErrClosed, "", `{"result":`},
		{"it may have happened, and has a key", "shop.Shop/count", &event.UnknownError{}, "k", `{"result":`},
		{"it may have happened, and reads", "shop.Shop/total", &event.UnknownError{}, "", `{}`},
		{"it may have happened", "shop.Shop/count", &event.UnknownError{}, "", "Unavailable unknown unknown"},
		{"a chain has begun", "shop.Shop/count", event.ErrPostponed, "", "Unavailable unavailable begun"},
		{"a chain has begun, and has a key", "shop.Shop/count", event.ErrPostponed, "chain", `{"result":`},
	} {
		for at := 1; at <= 2; at++ {
			var calls atomic.Int32
			n.move(1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				if r.Header.Get("Grpc-Timeout") == "" {
					t.Errorf("%s: the deadline is gone", c.what)
				}
				grpcdoor.Fail(w, c.err)
			}))
			in, out := list[at].messages(c.path)
			if err := protojson.Unmarshal([]byte(`{"key":"main"}`), in); err != nil {
				t.Fatal(err)
			}
			var pairs []string
			if c.key != "" {
				pairs = []string{"idempotency-key", c.key}
			}
			ctx, cancel := context.WithTimeout(list[at].context(pairs...), 10*time.Second)
			err := list[at].conn.Invoke(ctx, "/"+c.path, in, out)
			cancel()
			text, _ := protojson.Marshal(out) // an answer of the program
			got := strings.NewReplacer(", ", ",", ": ", ":").Replace(string(text))
			if err != nil {
				got = told(t, err)
			}
			if !strings.HasPrefix(got, c.want) || calls.Load() != 1 {
				t.Errorf("node %d: %s: %s after %d calls, expected %s", at, c.what, got, calls.Load(), c.want)
			}
		}
	}
	n.next = nil
	n.move(0, nil)
	for _, r := range list[1:] {
		if _, err := r.call("shop.Shop/count", `{"key":"main"}`); err == nil || !strings.HasPrefix(told(t, err), "Unavailable unavailable no") {
			t.Errorf("without a system a call ends with %v", err)
		}
	}
}
