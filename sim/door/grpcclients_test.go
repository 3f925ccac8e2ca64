package door

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/audit"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// begin begins a client with an object of each of these classes, by gRPC.
func (r *remote) begin(classes string) (c client) {
	r.t.Helper()
	text, err := r.call("shop.Clients/begin", `{"classes":[`+classes+`]}`)
	if err == nil {
		err = json.Unmarshal([]byte(text), &c)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// heard is a stream of callbacks by gRPC.
type heard struct {
	r    *remote
	from grpc.ClientStream
	last uint64 // the number of the last callback
}

// receive opens a stream of the callbacks behind one. It is open when receive returns without an error.
func (r *remote) receive(ctx context.Context, id string, after uint64) (*heard, error) {
	in, _ := r.messages("shop.Clients/receive")
	fields := in.Descriptor().Fields()
	in.Set(fields.ByName("id"), protoreflect.ValueOf(id))
	in.Set(fields.ByName("after"), protoreflect.ValueOf(after))
	from, err := r.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/shop.Clients/receive")
	if err != nil {
		return nil, err
	}
	if err := from.SendMsg(in); err != nil {
		return nil, err
	}
	if err := from.CloseSend(); err != nil {
		return nil, err
	}
	h := &heard{r, from, after}
	if head, err := from.Header(); err != nil || head == nil { // it has failed
		_, err := h.next()
		return nil, err
	}
	return h, nil
}

// follow is receive without an error; a callback that does not come fails the test.
func (r *remote) follow(id string, after uint64) *heard {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.context(), time.Minute)
	r.t.Cleanup(cancel)
	h, err := r.receive(ctx, id, after)
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

// next returns the next callback.
func (h *heard) next() (*dynamicpb.Message, error) {
	_, m := h.r.messages("shop.Clients/receive")
	if err := h.from.RecvMsg(m); err != nil {
		return nil, err
	}
	number := m.Get(m.Descriptor().Fields().ByName("number")).Uint()
	if number != h.last+1 {
		h.r.t.Errorf("callback %d comes behind %d", number, h.last)
	}
	h.last = number
	return m, nil
}

// want expects a callback, as the JSON that protobuf has of it.
func (h *heard) want(want string) {
	h.r.t.Helper()
	m, err := h.next()
	if err != nil {
		h.r.t.Fatalf("%v, expected %s", err, want)
	}
	text, err := protojson.Marshal(m)
	if got := strings.NewReplacer(", ", ",", ": ", ":").Replace(string(text)); err != nil || got != want {
		h.r.t.Errorf("%s (%v), expected %s", got, err, want)
	}
}

// wantEnd expects the end of the stream.
func (h *heard) wantEnd(want string) {
	h.r.t.Helper()
	if m, err := h.next(); err == nil {
		h.r.t.Errorf("%v comes, expected %s", m, want)
	} else if got := told(h.r.t, err); !strings.HasPrefix(got, want) {
		h.r.t.Errorf("%s, expected %s", got, want)
	}
}

// number returns the number that the saying of a callback has, as its first argument.
func saying(m *dynamicpb.Message) int64 {
	for _, name := range []protoreflect.Name{"Ear", "said"} {
		m = m.Get(m.Descriptor().Fields().ByName(name)).Message().Interface().(*dynamicpb.Message)
	}
	return m.Get(m.Descriptor().Fields().ByName("number")).Int()
}

// A client by gRPC gives its objects to methods and receives their callbacks, in order and with their types.
func TestCallbacksByGRPC(t *testing.T) {
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{})
	c := r.begin(`"Ear","Eye"`)
	do := func(path, request string) {
		t.Helper()
		if _, err := r.call("shop.Shop/"+path, request); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	do("put", `{"key":"main","item":`+protoPen+`}`)
	do("listen", `{"key":"main","ear":"`+c.References["Ear"]+`"}`)
	do("say", `{"key":"main","text":"pen","times":2}`)
	h := r.follow(c.ID, 0)
	h.want(`{"number":"1","Ear":{"said":{"number":"1","text":"pen","about":` + protoPen + `}}}`)
	h.want(`{"number":"2","Ear":{"said":{"number":"2","text":"pen","about":` + protoPen + `}}}`)
	do("greet", `{"key":"main","ear":"`+c.References["Ear"]+`","by":"`+c.References["Ear"]+`"}`)
	h.want(`{"number":"3","Ear":{"greeted":{"by":"` + c.References["Ear"] + `","shop":"Shop/main"}}}`)
	do("greet", `{"key":"main","ear":"`+c.References["Ear"]+`"}`)
	h.want(`{"number":"4","Ear":{"greeted":{"shop":"Shop/main"}}}`)
	const all = `{"Whole":"-5","Real":0.5,"Raw":"AP8=","At":"2026-01-02T03:04:05Z","Took":"1.500s","Kind":"SIZE_LARGE","Items":[` + protoPen + `],"Marks":["3"],"ByName":{"a":` + protoPen + `},"Shop":"Shop/x"}`
	do("look", `{"key":"main","e":"`+c.References["Eye"]+`","first":`+all+`}`)
	h.want(`{"number":"5","Eye":{"saw":{"e":` + all + `}}}`)
	// What the client has not resumed behind comes again; another stream ends the one before; HTTP has the same client.
	again := r.follow(c.ID, 3)
	h.wantEnd("Aborted taken-over no : another stream of the client was opened")
	again.want(`{"number":"4","Ear":{"greeted":{"shop":"Shop/main"}}}`)
	s.untilFigure("aeon_remote_callbacks_delivered_total", 5)
	byHTTP := s.follow(client{Events: "/v1/clients/" + c.ID + "/events"}, "4")
	if id, data, err := byHTTP.next(); err != nil || !strings.HasPrefix(data, `{"class":"Eye","method":"saw",`) {
		t.Errorf("%s %s %v", id, data, err)
	}
	again.want(`{"number":"5","Eye":{"saw":{"e":` + all + `}}}`) // it was sent before
	again.wantEnd("Aborted taken-over")
	for _, wrong := range []struct {
		id    string
		after uint64
		want  string
	}{
		{c.ID, 3, "OutOfRange forgotten no : the callbacks behind number 3 are asked for, and those up to number 4 are not kept any more"},
		{c.ID, 9, "InvalidArgument arguments no : the client has had 5 callbacks, and none has the number 9"},
		{"", 0, "NotFound not-found no : there is no such client"},
		{c.ID + "x", 0, "NotFound not-found no : there is no such client"},
	} {
		if _, err := r.receive(r.context(), wrong.id, wrong.after); told(t, err) != wrong.want && !strings.HasPrefix(told(t, err), wrong.want) {
			t.Errorf("%s, expected %s", told(t, err), wrong.want)
		}
	}
	for classes, want := range map[string]string{
		``:            "InvalidArgument arguments no : classes: there is none; name those that methods of actors take",
		`"Er"`:        `NotFound not-found no : the program has no client class "shop.Er"`,
		`"Ear","Ear"`: "InvalidArgument arguments no : classes[1]: the element is in the set already",
	} {
		if _, err := r.call("shop.Clients/begin", `{"classes":[`+classes+`]}`); !strings.HasPrefix(told(t, err), want) {
			t.Errorf("%s, expected %s", told(t, err), want)
		}
	}
	open := r.follow(c.ID, 5)
	if got, err := r.call("shop.Clients/end", `{"id":"`+c.ID+`"}`); err != nil || got != "{}" {
		t.Errorf("%s %v", got, err)
	}
	open.wantEnd("NotFound ended no : the client was ended")
	if _, err := r.call("shop.Clients/end", `{"id":"`+c.ID+`"}`); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
	if n := s.figure("aeon_remote_clients"); n != 0 {
		t.Errorf("there are %d clients", n)
	}
	s.untilFigure("aeon_http_streams", 0)
}

// A string that is no UTF-8 cannot be a callback of protobuf: the stream says so, and goes on behind it.
func TestCallbacksThatProtobufCannotHave(t *testing.T) {
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{})
	c := r.begin(`"Ear"`)
	s.do("/v1/Shop/main/listen", `{"ear":"`+c.References["Ear"]+`"}`)
	s.do("/v1/Shop/main/say", `{"text":"\udc80","times":1}`)
	s.do("/v1/Shop/main/say", `{"text":"a","times":1}`)
	r.follow(c.ID, 0).wantEnd("FailedPrecondition result no : callback 1, Ear.said, cannot be written: a string of protobuf is UTF-8")
	r.follow(c.ID, 1).want(`{"number":"2","Ear":{"said":{"number":"2","text":"a"}}}`)
}

// A client by gRPC belongs to its caller, which sees and begins those that its rights reach; what is refused is accounted for.
func TestTokensOfCallbacksByGRPC(t *testing.T) {
	path := writeFile(t, "audit", "", 0o600)
	log, err := audit.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, &shop.AeonPackage)
	tokens, text := map[string]string{}, ""
	for _, c := range [][]string{{"ann", "Shop.*"}, {"bob", "Shop.listen", "Shop.say"}, {"eve", "Shop.find"}, {"ops", "*"}} {
		tokens[c[0]] = access.New()
		line, err := access.Line(c[0], tokens[c[0]], c[1:])
		if err != nil {
			t.Fatal(err)
		}
		text += line + "\n"
	}
	if s.tokens, err = access.Read(writeFile(t, "tokens", text, 0o600), s.door.Program, discard); err != nil {
		t.Fatal(err)
	}
	ann := s.dial(httpdoor.Config{Config: gate.Config{Tokens: s.tokens, Audit: log}})
	ann.token = tokens["ann"]
	of := func(name string) *remote { return &remote{t: t, conn: ann.conn, token: tokens[name]} }
	for name, want := range map[string]string{"ann": "Ear=2 Eye=3", "bob": "Ear=2", "eve": "", "ops": "Ear=2 Eye=3"} {
		r := of(name)
		if _, err := r.learn(); err != nil {
			t.Fatal(err)
		}
		got := ""
		if d, err := r.files.FindDescriptorByName("shop.Callback"); err == nil {
			oneof := d.(protoreflect.MessageDescriptor).Oneofs().Get(0).Fields()
			for i := range oneof.Len() {
				got += fmt.Sprintf(" %s=%d", oneof.Get(i).Name(), oneof.Get(i).Number())
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s sees%s, expected %s", name, got, want)
		}
	}
	c := ann.begin(`"Ear"`)
	in := of("bob")
	if _, err := in.learn(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bob", "ops"} {
		r := of(name)
		if _, err := r.receive(r.context(), c.ID, 0); !strings.HasPrefix(told(t, err), "NotFound not-found no : there is no such client") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.call("shop.Clients/end", `{"id":"`+c.ID+`"}`); status.Code(err) != codes.NotFound {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.call("shop.Shop/listen", `{"key":"main","ear":"`+c.References["Ear"]+`"}`); !strings.HasPrefix(told(t, err), "InvalidArgument no-client no : ear: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	before := len(lines(t, path))
	if _, err := in.call("shop.Clients/begin", `{"classes":["Eye"]}`); told(t, err) != "PermissionDenied forbidden no : the rights of bob do not reach a method that takes a client of class shop.Eye" {
		t.Error(err)
	}
	ann.token = ""
	if _, err := ann.receive(ann.context(), c.ID, 0); status.Code(err) != codes.Unauthenticated {
		t.Error(err)
	}
	text = ""
	for _, e := range lines(t, path)[before:] {
		text += fmt.Sprint(e.Token, " ", e.Class, " ", e.Method, " ", e.Outcome, "; ")
	}
	if want := "bob shop.Eye  forbidden;  shop.Clients receive unauthenticated; "; text != want {
		t.Errorf("the audit has %q, expected %q", text, want)
	}
}

// A client by gRPC whose streams break at any moment sees each callback once, and all in their order.
func TestStreamsByGRPCResume(t *testing.T) {
	t.Parallel()
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		rnd := rand.New(rand.NewPCG(uint64(round), 2))
		s := open(t, &shop.AeonPackage)
		r := s.dial(httpdoor.Config{})
		c := r.begin(`"Ear"`)
		s.do("/v1/Shop/main/listen", `{"ear":"`+c.References["Ear"]+`"}`)
		const sayings, times = 60, 5
		var end sync.WaitGroup
		end.Go(func() {
			for i := range sayings {
				s.do("/v1/Shop/main/say", fmt.Sprintf(`{"text":"text %d","times":%d}`, i, times))
			}
		})
		last, streams := uint64(0), 0
		for ; last < sayings*times; streams++ {
			ctx, cancel := context.WithCancel(r.context())
			h, err := r.receive(ctx, c.ID, last)
			if err != nil {
				t.Fatal(err)
			}
			for left := rnd.IntN(60); left > 0 && h.last < sayings*times; left-- {
				m, err := h.next()
				if err != nil {
					t.Fatal(err)
				}
				if n := saying(m); n != int64(h.last) {
					t.Fatalf("round %d, callback %d is saying %d", round, h.last, n)
				}
			}
			cancel()
			last = h.last
		}
		end.Wait()
		t.Logf("%d callbacks over %d streams", last, streams)
	}
}
