package door

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/door/audit"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/grpcdoor"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// dial lets s listen for HTTP and gRPC at one address, and returns a client of the latter.
func (s *served) dial(cfg httpdoor.Config, opts ...grpc.DialOption) *remote {
	s.t.Helper()
	services, err := grpcdoor.Of(s.door)
	if err != nil {
		s.t.Fatal(err)
	}
	cfg.Program, cfg.Door, cfg.GRPC, cfg.Log = s.of.Name, s.door, func(g *gate.Gate) httpdoor.Peer { return services.Serve(g) }, discard
	server, err := httpdoor.Listen("127.0.0.1:0", cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Server = serverAt("http://" + server.Address())
	if len(opts) == 0 {
		opts = []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	}
	conn, err := grpc.NewClient(server.Address(), opts...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Close(ctx); err != nil {
			s.t.Error(err)
		}
	})
	return &remote{t: s.t, conn: conn, server: server}
}

// serverAt is a server that is not httptest's.
func serverAt(url string) *httptest.Server { return &httptest.Server{URL: url} }

// remote is a client that knows of the program what reflection tells.
type remote struct {
	t      testing.TB
	conn   *grpc.ClientConn
	server *httpdoor.Server // nil: it is that of another remote, or in another process
	token  string
	files  *protoregistry.Files
}

func (r *remote) context(pairs ...string) context.Context {
	if r.token != "" {
		pairs = append(pairs, "authorization", "Bearer "+r.token)
	}
	return metadata.AppendToOutgoingContext(context.Background(), pairs...)
}

// learn asks for all services and their messages, and returns the names of the services.
func (r *remote) learn() (names []string, err error) {
	stream, err := reflectionv1.NewServerReflectionClient(r.conn).ServerReflectionInfo(r.context())
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.CloseSend() }()
	ask := func(q *reflectionv1.ServerReflectionRequest) (*reflectionv1.ServerReflectionResponse, error) {
		if err := stream.Send(q); err != nil {
			_, err = stream.Recv()
			return nil, err
		}
		return stream.Recv()
	}
	list, err := ask(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
	if err != nil {
		return nil, err
	}
	r.files = new(protoregistry.Files)
	for _, s := range list.GetListServicesResponse().GetService() {
		names = append(names, s.Name)
		a, err := ask(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: s.Name}})
		if err != nil {
			return nil, err
		}
		files := a.GetFileDescriptorResponse().GetFileDescriptorProto()
		for i := range files { // those that a file imports follow it
			if err := r.add(files[len(files)-1-i]); err != nil {
				return nil, fmt.Errorf("%s: %w", s.Name, err)
			}
		}
	}
	return names, nil
}

func (r *remote) add(file []byte) error {
	var of descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal(file, &of); err != nil {
		return err
	}
	if _, err := r.files.FindFileByPath(of.GetName()); err == nil {
		return nil
	}
	made, err := protodesc.NewFile(&of, r.files)
	if err != nil {
		return err
	}
	return r.files.RegisterFile(made)
}

// call calls SERVICE/METHOD, with the JSON that protobuf has of the request, and returns that of the answer.
func (r *remote) call(path, request string, pairs ...string) (string, error) {
	in, out := r.messages(path)
	if err := protojson.Unmarshal([]byte(request), in); err != nil {
		r.t.Fatalf("%s: %v", request, err)
	}
	if err := r.conn.Invoke(r.context(pairs...), "/"+path, in, out); err != nil {
		return "", err
	}
	text, err := protojson.Marshal(out)
	return strings.NewReplacer(", ", ",", ": ", ":").Replace(string(text)), err
}

// messages returns a request and an answer of a method.
func (r *remote) messages(path string) (in, out *dynamicpb.Message) {
	r.t.Helper()
	if r.files == nil {
		if _, err := r.learn(); err != nil {
			r.t.Fatal(err)
		}
	}
	d, err := r.files.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(path, "/", ".")))
	if err != nil {
		r.t.Fatal(err)
	}
	m := d.(protoreflect.MethodDescriptor)
	return dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
}

// told writes a failure as CODE code happened file: message, with what else it says.
func told(t testing.TB, err error) string {
	t.Helper()
	s := status.Convert(err)
	text := s.Code().String()
	for _, d := range s.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			file, _, _ := strings.Cut(d.Metadata["at"], ":")
			text += " " + d.Reason + " " + d.Metadata["happened"] + " " + file
			if d.Domain != "aeon" {
				t.Errorf("the domain is %q", d.Domain)
			}
		case *errdetails.DebugInfo:
			text += fmt.Sprintf(" %v", len(d.StackEntries) > 0)
		case *errdetails.RetryInfo:
			text += " again"
		default:
			t.Errorf("a detail is %v", d)
		}
	}
	return text + ": " + s.Message()
}

const protoPen = `{"Name":"pen","Cents":"120","Size":"SIZE_SMALL","Tags":["blue","fine"]}`

func TestCallsByGRPC(t *testing.T) {
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{})
	names, err := r.learn()
	if got := strings.Join(names, " "); err != nil || got != "grpc.health.v1.Health grpc.reflection.v1.ServerReflection shop.Cart shop.Clients shop.Shop" {
		t.Fatalf("the services are %s (%v)", got, err)
	}
	for _, c := range []struct{ path, request, want, says string }{
		{"shop.Shop/put", `{"key":"main","item":` + protoPen + `}`, "{}", ""},
		{"shop.Shop/find", `{"key":"main","name":"pen"}`, `{"result":` + protoPen + `}`, ""},
		{"shop.Shop/find", `{"key":"main","name":"cup"}`, "{}", ""},
		{"shop.Shop/cheap", `{"key":"main","cents":"120","size":"SIZE_SMALL"}`, `{"result":[` + protoPen + `]}`, ""},
		{"shop.Shop/cheap", `{"key":"main","cents":120,"size":"SIZE_LARGE"}`, "{}", ""},
		{"shop.Shop/total", `{"key":"a/b c"}`, "{}", ""},
		{"shop.Shop/count", `{"key":"main"}`, `{"result":"1"}`, ""},
		{"shop.Shop/later", `{"key":"main","n":"10"}`, `{"result":"12"}`, ""},

		{"shop.Shop/put", `{"key":"main","item":{"Name":"air","Size":"SIZE_SMALL"}}`, "", "FailedPrecondition aborted no shop_aeon.go true: an item costs more than 0"},
		{"shop.Shop/divide", `{"key":"main","a":"1"}`, "", "FailedPrecondition fault no shop_aeon.go true: division by zero"},
		{"shop.Shop/put", `{"key":"main"}`, "", "InvalidArgument arguments no : item: it is missing; its type is Item"},
		{"shop.Shop/put", `{"key":"main","item":{"Name":"air"}}`, "", "InvalidArgument arguments no : item.Size: it is missing; its type is Size"},
		{"shop.Shop/total", `{}`, "", "NotFound not-found no : an actor of class Shop needs a name that is not empty"},
		{"shop.Cart/sum", `{"key":"ann"}`, "", "NotFound not-found no : actors of class Cart have no names, as its constructor has parameters: say Cart/:ID, with the id that the program has given"},
		{"shop.Cart/sum", `{"key":":1:7"}`, "", "NotFound not-found no : there is no actor Cart:1:7"},
		{"shop.Shop/listen", `{"key":"main","ear":"Ear:7"}`, "", `InvalidArgument no-client no : ear: there is no client "Ear:7" of class Ear; begin a client, and give its reference`},
	} {
		got, err := r.call(c.path, c.request)
		if err != nil {
			if says := told(t, err); says != c.says {
				t.Errorf("%s %s: %s\nexpected: %s", c.path, c.request, says, c.says)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s %s: %s, expected %s %s", c.path, c.request, got, c.want, c.says)
		}
	}
	for path, want := range map[string]string{
		"/shop.Shop/cont":  `Unimplemented not-found no : class Shop has no method "cont"; did you mean "count"?`,
		"/shop.Shp/count":  `Unimplemented not-found no : the program has no actor class "shop.Shp"`,
		"/shop.Shop/count": "NotFound not-found no : an actor of class Shop needs a name that is not empty",
		"/":                `Unimplemented`,
	} {
		err := r.conn.Invoke(r.context(), path, dynamicpb.NewMessage(r.empty()), dynamicpb.NewMessage(r.empty()))
		if says := told(t, err); !strings.HasPrefix(says, want) {
			t.Errorf("%s: %s\nexpected: %s", path, says, want)
		}
	}
	begun := s.post("/v1/clients", `{"classes":["Ear"]}`)
	_, ear, _ := strings.Cut(begun.body, `{"Ear":`)
	if got, err := r.call("shop.Shop/listen", `{"key":"main","ear":`+strings.TrimRight(ear, "}")+`}`); err != nil || got != "{}" {
		t.Errorf("a client that has begun by HTTP, %s: %s (%v)", begun.body, got, err)
	}
	if got := s.ask("GET", "/v1/Shop/main/find?name=pen", ""); got.body != pen { // at the same address
		t.Errorf("by HTTP: %d %s", got.status, got.body)
	}
	if got := s.ask("GET", "/metrics", ""); !strings.Contains(got.body, `aeon_grpc_answers_total{code="9"} 2`) {
		t.Errorf("the figures are %s", got.body)
	}
}

// empty describes a message without fields.
func (r *remote) empty() protoreflect.MessageDescriptor {
	_, out := r.messages("shop.Shop/put")
	return out.Descriptor()
}

// drawEverything draws a value of class Everything, as JSON.
func drawEverything(t *rapid.T, cart string) string {
	text := func(label string) string {
		return fmt.Sprintf("%q", rapid.StringMatching(`[a-zé ]{0,5}`).Draw(t, label))
	}
	size := rapid.SampledFrom([]string{`"SMALL"`, `"MEDIUM"`, `"LARGE"`})
	item := func(label string) string {
		note := "null"
		if rapid.Bool().Draw(t, label) {
			note = text("note")
		}
		return fmt.Sprintf(`{"Name":%s,"Cents":%d,"Size":%s,"Note":%s,"Tags":[%s]}`, text("name"), rapid.Int64().Draw(t, "cents"), size.Draw(t, "size"), note,
			strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{`"a"`, `""`}), 0, 3).Draw(t, "tags"), ","))
	}
	list := func(label string, of func(i int) string) string {
		var parts []string
		for i := range rapid.IntRange(0, 3).Draw(t, label) {
			parts = append(parts, of(i))
		}
		return strings.Join(parts, ",")
	}
	or := func(label, other string) string { return rapid.SampledFrom([]string{"null", other}).Draw(t, label) }
	at, took := time.Unix(0, rapid.Int64().Draw(t, "at")).UTC().Format(time.RFC3339Nano), time.Duration(rapid.Int64().Draw(t, "took"))
	return fmt.Sprintf(`{"Whole":%d,"Small":%d,"Large":%d,"Real":%v,"Flag":%v,"Text":%s,"Raw":%q,"At":%q,"Took":%q,"Kind":%s,"Items":[%s],"Marks":[%s],"ByName":{%s},"Seen":{%s},"Best":%s,"Cart":%s,"Shop":%s}`,
		rapid.Int64().Draw(t, "whole"), rapid.Int8().Draw(t, "small"), rapid.Uint64().Draw(t, "large"), rapid.SampledFrom([]string{"0", "-0", "1e-7", `"NaN"`, `"Infinity"`, "2.5"}).Draw(t, "real"),
		rapid.Bool().Draw(t, "flag"), text("text"), rapid.SampledFrom([]string{"", "AP8=", "AA=="}).Draw(t, "raw"), at, took.String(), size.Draw(t, "kind"),
		list("items", func(int) string { return item("item") }), list("marks", func(i int) string { return fmt.Sprint(i * 1000) }),
		list("names", func(i int) string { return fmt.Sprintf(`"%d":%s`, i, item("named")) }), list("seen", func(i int) string { return fmt.Sprintf(`"%ds":%v`, i, i == 1) }),
		or("best", item("best item")), or("cart", `"`+cart+`"`), or("shop", `"Shop/a b"`))
}

// A value of every type is the same by both doors.
func TestValuesAreTheSameByBothDoors(t *testing.T) {
	t.Parallel()
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{})
	opened, err := r.call("shop.Shop/open", `{"key":"main","owner":"ann"}`)
	if err != nil {
		t.Fatal(err)
	}
	cart := strings.Split(opened, `"`)[3]
	rapid.Check(t, func(rt *rapid.T) {
		all := drawEverything(rt, cart)
		kept := s.post("/v1/Shop/one/keep", `{"e":`+all+`}`)
		if kept.status != 200 {
			rt.Fatalf("%s: %d %s", all, kept.status, kept.body)
		}
		in, shown := r.messages("shop.Shop/show")
		in.Set(in.Descriptor().Fields().ByName("key"), protoreflect.ValueOf("one"))
		if err := r.conn.Invoke(r.context(), "/shop.Shop/show", in, shown); err != nil {
			rt.Fatalf("%s: %v", all, err)
		}
		again, out := r.messages("shop.Shop/keep")
		again.Set(again.Descriptor().Fields().ByName("key"), protoreflect.ValueOf("two"))
		value := shown.Get(shown.Descriptor().Fields().ByName("result"))
		again.Set(again.Descriptor().Fields().ByName("e"), value)
		if err := r.conn.Invoke(r.context(), "/shop.Shop/keep", again, out); err != nil {
			rt.Fatalf("%v: %v", again, err)
		}
		if got := out.Get(out.Descriptor().Fields().ByName("result")); !proto.Equal(got.Message().Interface(), value.Message().Interface()) {
			rt.Fatalf("%v\nis kept as\n%v", value, got)
		}
		if got := s.ask("GET", "/v1/Shop/two/show", ""); got.body != kept.body {
			rt.Fatalf("%s\nhas become\n%s", kept.body, got.body)
		}
	})
}

// Calls with a key run once, by either door.
func TestCallsByGRPCWithAKeyRunOnce(t *testing.T) {
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{Config: gate.Config{BodyMax: 1000, BodiesMax: 1500}}) // the arguments take what they have, not what they may have
	r.empty()
	var end sync.WaitGroup
	for i := range 40 {
		end.Go(func() {
			key := fmt.Sprint("key ", i%4)
			if i%8 < 4 {
				if got := s.post("/v1/Shop/main/later", fmt.Sprintf(`{"n":%d}`, i%4), "Idempotency-Key", key); got.status != 200 {
					t.Errorf("%s: %d %s", key, got.status, got.body)
				}
			} else if _, err := r.call("shop.Shop/later", fmt.Sprintf(`{"key":"main","n":%d}`, i%4), "idempotency-key", key); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		})
	}
	end.Wait()
	if got, err := r.call("shop.Shop/count", `{"key":"main"}`); got != `{"result":"11"}` { // 0+1+2+3, and one for each
		t.Errorf("count is %s (%v)", got, err)
	}
	_, err := r.call("shop.Shop/later", `{"key":"main","n":7}`, "idempotency-key", "key 1")
	if says := told(t, err); says != "FailedPrecondition key-reused no : the key was used for another request to this actor" {
		t.Error(says)
	}
	_, err = r.call("shop.Shop/count", `{"key":"main"}`, "idempotency-key", "")
	if says := told(t, err); says != "InvalidArgument "+emptyKey {
		t.Error(says)
	}
}

// Each call needs a token that is known, does and learns only what its rights reach, and has its line in the audit.
func TestTokensByGRPC(t *testing.T) {
	path := writeFile(t, "audit", "", 0o600)
	log, err := audit.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s, tokens := guarded(t, httpdoor.Config{})
	all := s.dial(httpdoor.Config{Config: gate.Config{Tokens: s.tokens, Audit: log}})
	all.token = tokens["ops"]
	all.empty()
	for _, c := range []struct{ token, path, request, want, line string }{
		{"ann", "shop.Shop/find", `{"key":"main"}`, "{}", ""},
		{"ann", "shop.Shop/add", `{"key":"main","n":5}`, `{"result":"5"}`, "ann shop.Shop main add done true"},
		{"ann", "shop.Shop/total", `{"key":"main"}`, "PermissionDenied forbidden no : the rights of ann do not reach shop.Shop.total", "ann shop.Shop  total forbidden true"},
		{"bob", "shop.Cart/sum", `{"key":":1:7"}`, "NotFound not-found no : there is no actor Cart:1:7", ""},
		{"bob", "shop.Cart/drop", `{"key":":1:7"}`, "NotFound not-found no : there is no actor Cart:1:7", "bob shop.Cart :1:7 drop not-found true"},
		{"", "shop.Shop/find", `{"key":"main"}`, "Unauthenticated unauthenticated no : the request has no token; send it as Authorization: Bearer TOKEN", " shop.Shop  find unauthenticated true"},
		{"wrong", "shop.Shop/find", `{"key":"main"}`, "Unauthenticated unauthenticated no : the token of the request is not known here", " shop.Shop  find unauthenticated true"},
	} {
		r := &remote{t: t, conn: all.conn, token: tokens[c.token], files: all.files}
		if c.token == "wrong" {
			r.token = "x"
		}
		before := len(lines(t, path))
		got, err := r.call(c.path, c.request, "idempotency-key", c.path)
		if err != nil {
			got = told(t, err)
		}
		if got != c.want {
			t.Errorf("%s %s: %s\nexpected: %s", c.token, c.path, got, c.want)
		}
		line := ""
		for _, e := range lines(t, path)[before:] {
			line += fmt.Sprint(e.Token, " ", e.Class, " ", e.Key, " ", e.Method, " ", e.Outcome, " ", e.Once)
			if !strings.HasPrefix(e.Remote, "127.0.0.1:") {
				t.Errorf("%+v", e)
			}
		}
		if line != c.line {
			t.Errorf("%s %s: the line is %q, expected %q", c.token, c.path, line, c.line)
		}
	}
	for name, want := range map[string]string{"ann": "shop.Shop: find add later", "bob": "shop.Cart: add sum drop, shop.Shop: add"} {
		r := &remote{t: t, conn: all.conn, token: tokens[name]}
		names, err := r.learn()
		var seen []string
		for _, n := range names {
			if !strings.HasPrefix(n, "shop.") {
				continue
			}
			d, _ := r.files.FindDescriptorByName(protoreflect.FullName(n))
			n += ":"
			for i := range d.(protoreflect.ServiceDescriptor).Methods().Len() {
				n += " " + string(d.(protoreflect.ServiceDescriptor).Methods().Get(i).Name())
			}
			seen = append(seen, n)
		}
		if got := strings.Join(seen, ", "); err != nil || got != want {
			t.Errorf("%s sees %s (%v)", name, got, err)
		}
	}
	if _, err := (&remote{t: t, conn: all.conn}).learn(); status.Code(err) != codes.Unauthenticated {
		t.Errorf("reflection without a token: %v", err)
	}
	if h, err := healthv1.NewHealthClient(all.conn).Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil || h.Status != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("health without a token: %v (%v)", h, err)
	}
}

// A call that takes too long is undone, by the time of the server or its own; and calls and arguments have their limits.
func TestLimitsByGRPC(t *testing.T) {
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{Config: gate.Config{TimeMax: 50 * time.Millisecond, CallsMax: 1, BodyMax: 1000}})
	const spin = `{"key":"main","rounds":"3000000000"}`
	_, err := r.call("shop.Shop/spin", spin)
	if says := told(t, err); says != "DeadlineExceeded timeout no  again: the call has not ended in time, and was undone" {
		t.Error(says)
	}
	_, err = r.call("shop.Shop/find", `{"key":"main","name":"`+strings.Repeat("x", 1000)+`"}`)
	if says := told(t, err); says != "ResourceExhausted: grpc: received message larger than max (1009 vs. 1000)" {
		t.Error(says)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var end sync.WaitGroup
	in, out := r.messages("shop.Shop/spin")
	if err := protojson.Unmarshal([]byte(spin), in); err != nil {
		t.Fatal(err)
	}
	end.Go(func() {
		for ctx.Err() == nil {
			_ = r.conn.Invoke(ctx, "/shop.Shop/spin", in, out) // it is turned away itself if the calls below come between
		}
	})
	for deadline := time.Now().Add(10 * time.Second); ; {
		_, err := r.call("shop.Shop/total", `{"key":"other"}`)
		if says := told(t, err); err != nil && says == "Unavailable full no  again: 1 calls are under way, which is the limit" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no call was turned away: %v", err)
		}
	}
	cancel()
	end.Wait()
}

// With TLS gRPC and HTTP/2 come over the same connections.
func TestGRPCWithTLS(t *testing.T) {
	cert, key, trust := certificate(t)
	conf, err := httpdoor.Certificate(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{TLS: conf}, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: trust})))
	if got, err := r.call("shop.Shop/add", `{"key":"main","n":7}`); got != `{"result":"7"}` {
		t.Errorf("%s (%v)", got, err)
	}
	_, err = r.call("shop.Shop/divide", `{"key":"main","a":"1"}`)
	if says := told(t, err); says != "FailedPrecondition fault no shop_aeon.go true: division by zero" {
		t.Error(says)
	}
}

// Health tells when no more calls are performed, and those that watch it.
func TestHealthByGRPC(t *testing.T) {
	t.Parallel()
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{})
	client := healthv1.NewHealthClient(r.conn)
	soon, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	watch, err := client.Watch(soon, &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := watch.Recv(); err != nil || h.Status != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("%v (%v)", h, err)
	}
	if _, err := client.Check(t.Context(), &healthv1.HealthCheckRequest{Service: "shop.Shop"}); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
	s.sys.Close()
	if h, err := watch.Recv(); err != nil || h.Status != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("%v (%v)", h, err)
	}
	_, err = r.call("shop.Shop/count", `{"key":"main"}`)
	if says := told(t, err); !strings.HasPrefix(says, "Unavailable unavailable no  again: ") {
		t.Error(says)
	}
}
