// Package door tests the doors of a program as its clients use them.
package door

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/generated"
	"github.com/aeon-lang/aeon/internal/parallel"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/watch"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

func TestMain(m *testing.M) {
	parallel.Tests(8) // they wait for processes and for time
	os.Exit(m.Run())
}

// The program is generated again after each change of it, or of the compiler.
func TestShopIsWhatAeoncMakes(t *testing.T) {
	t.Parallel()
	if err := generated.Check(filepath.Join("..", ".."), "sim/door/shop"); err != nil {
		t.Error(err)
	}
}

// served is the program, and an HTTP server of its methods.
type served struct {
	t     testing.TB
	of    *runtime.Package
	sys   *runtime.System
	door  *door.Door
	on    replicatest.Engine
	store *store.Store
	fails bool // the test makes the store fail
	over  bool // system and store are closed
	*httptest.Server
	tokens *access.Tokens // nil: it asks for none
}

// discard is the log of servers.
var discard = slog.New(slog.DiscardHandler)

func serve(t testing.TB, cfg httpdoor.Config) *served {
	t.Helper()
	return serveProgram(t, &shop.AeonPackage, cfg)
}

func serveProgram(t testing.TB, p *runtime.Package, cfg httpdoor.Config) *served {
	t.Helper()
	s := open(t, p)
	s.listen(cfg)
	return s
}

// open opens a program, which does not listen yet.
func open(t testing.TB, p *runtime.Package) *served {
	t.Helper()
	return openWith(t, p, door.RemoteLimits{}, runtime.RealClock{})
}

func openWith(t testing.TB, p *runtime.Package, limits door.RemoteLimits, clock runtime.Clock, opts ...func(*runtime.Config)) *served {
	t.Helper()
	return openOn(t, p, replicatest.New(), limits, clock, opts...)
}

func openOn(t testing.TB, p *runtime.Package, on replicatest.Engine, limits door.RemoteLimits, clock runtime.Clock, opts ...func(*runtime.Config)) *served {
	t.Helper()
	s := &served{t: t, of: p, on: on}
	st, err := store.Open(on, store.Options{Program: p.Name, Log: discard, Fatal: func(err error) {
		if !s.fails {
			t.Error(err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.store = st
	cfg := runtime.Config{Store: st, Clock: clock, Classes: p.Classes, Log: discard, Stdout: io.Discard}
	for _, o := range opts {
		o(&cfg)
	}
	s.sys, err = runtime.Recover(cfg)
	if err != nil {
		t.Fatal(err)
	}
	program, err := door.ProgramOf(p.Classes, p.ClientClasses)
	if err != nil {
		t.Fatal(err)
	}
	s.door = door.Open(door.Config{System: s.sys, Program: program, Limits: limits})
	t.Cleanup(s.end)
	return s
}

// end closes system and store, if they are open.
func (s *served) end() {
	if s.over {
		return
	}
	s.over = true
	s.sys.Close()
	if err := s.store.Close(); err != nil && !s.fails {
		s.t.Error(err)
	}
}

func (s *served) listen(cfg httpdoor.Config) {
	cfg.Log, cfg.Program, cfg.Door = discard, s.of.Name, s.door
	s.Server = httptest.NewServer(httpdoor.New(cfg).Handler())
	s.t.Cleanup(s.Close)
}

// client returns a client of the server.
func (s *served) client() *http.Client {
	if by := s.Client(); by != nil {
		return by
	}
	return http.DefaultClient // the server is none of httptest
}

// answer is what a request was answered.
type answer struct {
	status int
	head   http.Header
	body   string
}

// ask sends a request; head are names and values of headers, which alternate.
func (s *served) ask(method, path, body string, head ...string) answer {
	s.t.Helper()
	r, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(head); i += 2 {
		if head[i] == "Host" {
			r.Host = head[i+1]
		}
		r.Header.Set(head[i], head[i+1])
	}
	a, err := s.client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{a.StatusCode, a.Header, strings.TrimSpace(string(text))}
}

func (s *served) post(path, body string, head ...string) answer {
	s.t.Helper()
	return s.ask("POST", path, body, head...)
}

const pen = `{"Name":"pen","Cents":120,"Size":"SMALL","Note":null,"Tags":["blue","fine"]}`

func TestCalls(t *testing.T) {
	t.Parallel()
	s := serve(t, httpdoor.Config{})
	for _, c := range []struct {
		method, path, body string
		head               []string
		status             int
		want               string // the answer; of a problem what its members begin with, as code happened file: detail
	}{
		{"POST", "/v1/Shop/main/put", `{"item":` + pen + `}`, nil, 204, ""},
		{"POST", "/v1/shop.Shop/main/put", `{"item":{"Name":"desk","Cents":30000,"Size":"LARGE","Tags":[]}}`, nil, 204, ""},
		{"GET", "/v1/Shop/main/find?name=pen", "", nil, 200, pen},
		{"POST", "/v1/Shop/main/find", `{"name":"pen"}`, nil, 200, pen},
		{"GET", "/v1/Shop/main/find?name=cup", "", nil, 200, "null"},
		{"GET", "/v1/Shop/other/find?name=pen", "", nil, 200, "null"},
		{"GET", "/v1/Shop/main/cheap?cents=40000&size=LARGE", "", nil, 200, `[{"Name":"desk","Cents":30000,"Size":"LARGE","Note":null,"Tags":[]}]`},
		{"GET", "/v1/Shop/main/cheap?cents=1", "", nil, 200, "[]"},
		{"GET", "/v1/Shop/main/total", "", nil, 200, "0"},
		{"GET", "/v1/Shop/a%2Fb%20c/total", "", nil, 200, "0"},
		{"GET", "/v1/Shop/%2E%2E/total", "", nil, 200, "0"},
		{"GET", "/v1/Shop/%2F/total", "", nil, 200, "0"},
		{"POST", "/v1/Shop/%2f/total", "", nil, 200, "0"},
		{"POST", "/v1/Shop/main/count", "", nil, 200, "1"},
		{"POST", "/v1/Shop/main/later", `{"n":10}`, nil, 200, "12"},

		{"POST", "/v1/Shop/main/put", `{"item":{"Name":"air","Cents":0,"Size":"SMALL","Tags":[]}}`, nil, 422, "aborted no shop_aeon.go: an item costs more than 0"},
		{"GET", "/v1/Shop/main/divide?a=1&b=0", "", nil, 422, "fault no shop_aeon.go: division by zero"},
		{"POST", "/v1/Shop/main/put", `{"item":{"Name":"air"}}`, nil, 400, "arguments no : item.Cents: it is missing; its type is int"},
		{"POST", "/v1/Shop/main/put", `{`, nil, 400, "arguments no : the text ends where"},
		{"POST", "/v1/Shop/main/put", ``, nil, 400, "arguments no : item: it is missing; its type is Item"},
		{"GET", "/v1/Shop/main/find", "", nil, 400, "arguments no : name: it is missing; its type is string"},
		{"GET", "/v1/Shop/main/find?name=a&name=b", "", nil, 400, "arguments no : name: it is there twice"},
		{"GET", "/v1/Shop/main/find?nam=a", "", nil, 400, `arguments no : the method has no parameter "nam"; did you mean "name"?`},
		{"GET", "/v1/Shop/main/cheap?cents=1&size=100%", "", nil, 400, `arguments no : the query has "size=100%", which cannot be read: invalid URL escape "%"; write %25`},
		{"GET", "/v1/Shop/main/cheap?cents=1&size=a;b", "", nil, 400, `arguments no : the query has "size=a;b", which cannot be read: invalid semicolon separator in query; write %25`},
		{"GET", "/v1/Shop/main/count", "", nil, 405, "method no : Shop.count is not ro: call it by POST"},
		{"DELETE", "/v1/Shop/main/count", "", nil, 405, "method no : DELETE is not served"},
		{"GET", "/v1/Shop/main/cont", "", nil, 404, `not-found no : class Shop has no method "cont"; did you mean "count"?`},
		{"GET", "/v1/Shop/main/audit?more=1", "", nil, 404, `not-found no : class Shop has no method "audit"`},
		{"GET", "/v1/Shp/main/count", "", nil, 404, `not-found no : the program has no actor class "Shp"; did you mean "Shop"?`},
		{"GET", "/v1/Cart/ann/sum", "", nil, 404, "not-found no : actors of class Cart have no names"},
		{"GET", "/v1/Cart/:1:7/sum", "", nil, 404, "not-found no : there is no actor Cart:1:7"},
		{"GET", "/v1/Cart/:x/sum", "", nil, 404, `not-found no : "x" is no id of an actor`},
		{"GET", "/v1/Shop/main", "", nil, 404, "not-found no : there is nothing at /v1/Shop/main; methods"},
		{"GET", "/", "", nil, 404, "not-found no : there is nothing at /; methods"},
		{"POST", "/v1/Shop/main/count", "{}", []string{"Content-Type", "text/plain"}, 415, "media-type no : the body is \"text/plain\"; arguments are application/json"},
		{"POST", "/v1/Shop/main/count", "", []string{"Origin", "https://example.org", "Sec-Fetch-Site", "cross-site"}, 403, "cross-origin no : a page of another origin has sent the request"},
		{"POST", "/v1/Shop/main/count", "", []string{"Host", "example.org:80"}, 421, `host no : the host "example.org:80" is not this machine`},
		{"POST", "/v1/Shop/main/count", "", []string{"Idempotency-Key", strings.Repeat("k", 256)}, 400, "arguments no : the key of the request has 256 bytes, and at most 255 fit"},
		{"POST", "/v1/Shop/main/put", `{"item":"` + strings.Repeat("x", 1<<20) + `"}`, nil, 413, "too-large no : the body has more than 1048576 bytes"},
	} {
		got := s.ask(c.method, c.path, c.body, c.head...)
		text := got.body
		if got.status >= 400 {
			text = problem(t, got)
		}
		if got.status != c.status || !strings.HasPrefix(text, c.want) || got.status < 400 && text != c.want {
			t.Errorf("%s %s %.100s: %d %s\nexpected: %d %s", c.method, c.path, c.body, got.status, text, c.status, c.want)
		}
	}
}

// problem returns code, happened, the file of at, and detail of a failure.
func problem(t testing.TB, a answer) string {
	t.Helper()
	var p struct{ Title, Detail, Code, Happened, At string }
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.head.Get("Content-Type") != "application/problem+json" || p.Title == "" {
		t.Errorf("%d %s is no problem: %v", a.status, a.body, err)
	}
	file, _, _ := strings.Cut(p.At, ":")
	return fmt.Sprintf("%s %s %s: %s", p.Code, p.Happened, file, p.Detail)
}

// Actors without names are called by the ids that the program has given; a deleted one is gone.
func TestActorsWithoutNames(t *testing.T) {
	s := serve(t, httpdoor.Config{})
	var ref string
	opened := s.post("/v1/Shop/main/open", `{"owner":"ann"}`)
	if err := json.Unmarshal([]byte(opened.body), &ref); err != nil || !strings.HasPrefix(ref, "Cart:") {
		t.Fatalf("open gave %d %s", opened.status, opened.body)
	}
	cart := "/v1/Cart/" + strings.TrimPrefix(ref, "Cart")
	if got := s.post(cart+"/add", `{"item":`+pen+`,"pieces":3}`); got.body != "360" {
		t.Errorf("add gave %d %s", got.status, got.body)
	}
	if got := s.ask("GET", "/v1/Shop/main/total", ""); got.body != "360" {
		t.Errorf("the total is %s", got.body)
	}
	if got := s.ask("GET", strings.Replace(cart, "Cart", "Shop", 1)+"/total", ""); got.status != 404 {
		t.Errorf("a cart as a shop: %d %s", got.status, got.body)
	}
	if got := s.post(cart+"/drop", ""); got.status != 204 {
		t.Errorf("drop gave %d %s", got.status, got.body)
	}
	if got := s.ask("GET", cart+"/sum", ""); got.status != 422 || !strings.Contains(got.body, "deleted") {
		t.Errorf("a deleted cart: %d %s", got.status, got.body)
	}
}

// A value of every type crosses the border and comes back as it was.
func TestValuesOfEveryType(t *testing.T) {
	s := serve(t, httpdoor.Config{})
	var cart string
	if err := json.Unmarshal([]byte(s.post("/v1/Shop/main/open", `{"owner":"ann"}`).body), &cart); err != nil {
		t.Fatal(err)
	}
	all := `{"Whole":-9223372036854775808,"Small":-128,"Large":18446744073709551615,"Real":1e-7,"Flag":true,"Text":"a\"é\u2028\\","Raw":"AP8=","At":"2026-01-02T03:04:05.000000006Z","Took":"1h2m3.000000004s",` +
		`"Kind":"LARGE","Items":[` + pen + `],"Marks":[-1,3],"ByName":{"":` + pen + `},"Seen":{"1m0s":false},"Best":` + pen + `,"Cart":"` + cart + `","Shop":"Shop/a b"}`
	for range 2 {
		kept := s.post("/v1/Shop/main/keep", `{"e":`+all+`}`)
		shown := s.ask("GET", "/v1/Shop/main/show", "")
		if kept.body != shown.body || !sameJSON(t, shown.body, all) {
			t.Fatalf("%d\n%s\nis kept, and is shown as\n%s\nfor\n%s", kept.status, kept.body, shown.body, all)
		}
		all = shown.body
	}
}

// What is behind the slash in the text of an actor is its name, also if it begins with a colon, as the ids of others do.
func TestNamesThatBeginWithAColon(t *testing.T) {
	s := serve(t, httpdoor.Config{})
	var opened string
	if err := json.Unmarshal([]byte(s.post("/v1/Shop/main/open", `{"owner":"ann"}`).body), &opened); err != nil {
		t.Fatal(err)
	}
	const all = `{"Whole":0,"Small":0,"Large":0,"Real":0,"Flag":false,"Text":"","Raw":"","At":"2026-01-02T03:04:05Z","Took":"0s","Kind":"LARGE","Items":[],"Marks":[],"ByName":{},"Seen":{},"Best":null,"Cart":null,"Shop":%q}`
	for _, name := range []string{":", ":x", ":0:0", ":1:7", "::", strings.TrimPrefix(opened, "Cart")} {
		want := fmt.Sprintf(all, "Shop/"+name)
		if kept := s.post("/v1/Shop/main/keep", `{"e":`+want+`}`); kept.status != http.StatusOK || !sameJSON(t, kept.body, want) {
			t.Errorf("%q: %d %s", name, kept.status, kept.body)
		}
	}
	if got := s.post("/v1/Shop/main/keep", `{"e":`+fmt.Sprintf(all, "Shop"+strings.TrimPrefix(opened, "Cart"))+`}`); got.status != http.StatusBadRequest {
		t.Errorf("a cart as a shop: %d %s", got.status, got.body)
	}
}

// sameJSON compares two texts without regard to the form of strings.
func sameJSON(t testing.TB, a, b string) bool {
	t.Helper()
	var list [2]any
	for i, text := range []string{a, b} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&list[i]); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	x, _ := json.Marshal(list[0])
	y, _ := json.Marshal(list[1])
	return bytes.Equal(x, y)
}

// Requests with a key run once, however often they are sent, at once or later.
func TestRequestsWithAKeyRunOnce(t *testing.T) {
	s := serve(t, httpdoor.Config{})
	var end sync.WaitGroup
	for i := range 40 {
		end.Go(func() {
			key := fmt.Sprint("key ", i%4)
			if got := s.post("/v1/Shop/main/later", fmt.Sprintf(`{"n":%d}`, i%4), "Idempotency-Key", key); got.status != 200 {
				t.Errorf("%s: %d %s", key, got.status, got.body)
			}
		})
	}
	end.Wait()
	if got := s.post("/v1/Shop/main/count", ""); got.body != "11" { // 0+1+2+3, and one for each
		t.Errorf("count is %s", got.body)
	}
	again := s.post("/v1/Shop/main/later", `{"n":7}`, "Idempotency-Key", "key 1")
	if text := problem(t, again); again.status != 422 || text != "key-reused no : the key was used for another request to this actor" {
		t.Errorf("%d %s", again.status, text)
	}
	empty := s.post("/v1/Shop/main/count", "", "Idempotency-Key", "")
	if text := problem(t, empty); empty.status != 400 || text != emptyKey {
		t.Errorf("%d %s", empty.status, text)
	}

	before := s.sys.Stats()
	follower := s.sys.Follow(watch.Filter{})
	defer follower.Close()
	s.post("/v1/Shop/main/later", `{"n":1}`, "Idempotency-Key", "key 1")
	after := s.sys.Stats()
	if after.Commits != before.Commits || after.Aborts != before.Aborts || after.Repeats != before.Repeats+1 {
		t.Errorf("a repetition counts as %+v, after %+v", after, before)
	}
	for _, want := range []string{watch.Issued, watch.Repeated} {
		if l := <-follower.Lines(); l.Kind != want || l.Failure != "" {
			t.Errorf("a repetition is told as %+v, expected %s", l, want)
		}
	}
}

// emptyKey refuses a request with a key that is empty: its caller believes that it is performed once.
const emptyKey = "arguments no : the idempotency key is empty, so it would not tell this request from others"

// A call that takes too long is undone, and says so; so is one whose client has gone.
func TestCallsThatTakeTooLong(t *testing.T) {
	s := serve(t, httpdoor.Config{Config: gate.Config{TimeMax: 50 * time.Millisecond}})
	began := time.Now()
	got := s.ask("GET", "/v1/Shop/main/spin?rounds=3000000000", "")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if text := problem(t, got); got.status != 503 || text != "timeout no : the call has not ended in time, and was undone" || got.head.Get("Retry-After") == "" {
		t.Errorf("%d %s", got.status, text)
	}
}

// Beyond the limit of calls under way, others are turned away at once.
func TestTooManyCalls(t *testing.T) {
	s := serve(t, httpdoor.Config{Config: gate.Config{CallsMax: 2}})
	ctx, cancel := context.WithCancel(t.Context())
	var end sync.WaitGroup
	for range 2 {
		end.Go(func() {
			for ctx.Err() == nil { // it is turned away itself if the requests below come between
				r, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/v1/Shop/main/spin?rounds=3000000000", nil)
				if err != nil {
					t.Error(err)
					return
				}
				if a, err := http.DefaultClient.Do(r); err == nil {
					a.Body.Close()
				}
			}
		})
	}
	turned := func() bool { return s.ask("GET", "/v1/Shop/other/total", "").status == 503 }
	deadline := time.Now().Add(10 * time.Second)
	for !turned() && time.Now().Before(deadline) {
	}
	got := s.ask("GET", "/v1/Shop/other/total", "")
	if text := problem(t, got); got.status != 503 || text != "full no : 2 calls are under way, which is the limit" || got.head.Get("Retry-After") == "" {
		t.Errorf("%d %s", got.status, text)
	}
	cancel()
	end.Wait()
	for turned() && time.Now().Before(deadline) {
	}
	if got := s.ask("GET", "/v1/Shop/other/total", ""); got.body != "0" {
		t.Errorf("afterwards: %d %s", got.status, got.body)
	}
}

// The description has each method, and what it refers to is there. Public validators and generators of clients have read it.
func TestDescription(t *testing.T) {
	s := serve(t, httpdoor.Config{})
	got := s.ask("GET", "/openapi.json", "")
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]struct{ Description string }
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal([]byte(got.body), &doc); err != nil || doc.OpenAPI != "3.1.0" {
		t.Fatalf("%q: %v", doc.OpenAPI, err)
	}
	if n := len(doc.Paths); n != 24 {
		t.Errorf("%d paths", n)
	}
	if text := doc.Paths["/v1/Shop/{key}/put"]["post"].Description; text != "put offers an item, and replaces one of its name." {
		t.Errorf("put is described as %q", text)
	}
	if _, get := doc.Paths["/v1/Shop/{key}/put"]["get"]; get {
		t.Error("put is no GET")
	}
	if _, get := doc.Paths["/v1/Shop/{key}/find"]["get"]; !get {
		t.Error("find is no GET")
	}
	for _, ref := range regexp.MustCompile(`#/components/schemas/(\w+)`).FindAllStringSubmatch(got.body, -1) {
		if doc.Components.Schemas[ref[1]] == nil {
			t.Errorf("schema %s is missing", ref[1])
		}
	}
	if len(doc.Components.Schemas) != 5 { // problem, callback, Item, Size, Everything
		t.Errorf("%d schemas", len(doc.Components.Schemas))
	}
}

// Clients that are slow to send their arguments hold neither the places of calls nor more memory than the bodies may take.
func TestSlowClients(t *testing.T) {
	s := serve(t, httpdoor.Config{Config: gate.Config{CallsMax: 1, BodyMax: 1000, BodiesMax: 3500}})
	address := strings.TrimPrefix(s.URL, "http://")
	head := "POST /v1/Shop/main/find HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	for _, sent := range []int{0, 850, 850, 850, 850} { // what is announced and not sent takes nothing
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, head+"Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(c).ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 100 ") { // it is being read
			t.Fatalf("%q, %v", line, err)
		}
		if _, err := io.WriteString(c, strings.Repeat(" ", sent)); err != nil {
			t.Fatal(err)
		}
	}
	s.untilFigure("aeon_http_body_bytes", 3400) // all has arrived; a call that came before could take what the last of it needs
	long := `{"name":"pen"` + strings.Repeat(" ", 450) + "}"
	if got := s.post("/v1/Shop/main/find", long); got.status != 503 || !strings.HasPrefix(problem(t, got), "full no : the arguments of other requests take 3500 bytes") {
		t.Fatalf("beyond the limit: %d %s", got.status, got.body)
	}
	if got := s.post("/v1/Shop/main/find", `{"name":"pen"}`); got.body != "null" {
		t.Errorf("a small request: %d %s", got.status, got.body)
	}
	if got := s.ask("GET", "/v1/Shop/main/total", ""); got.body != "0" {
		t.Errorf("a request without a body: %d %s", got.status, got.body)
	}
}
