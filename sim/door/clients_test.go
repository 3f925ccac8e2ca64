package door

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// client is a client that receives callbacks.
type client struct {
	ID         string
	Events     string
	References map[string]string
}

// begin begins a client.
func (s *served) begin(classes string, head ...string) (c client) {
	s.t.Helper()
	a := s.post("/v1/clients", `{"classes":[`+classes+`]}`, head...)
	if err := json.Unmarshal([]byte(a.body), &c); err != nil || a.status != 201 || a.head.Get("Location") != "/v1/clients/"+c.ID {
		s.t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return c
}

// stream is a stream of callbacks.
type stream struct {
	t     testing.TB
	lines *bufio.Reader
	last  string // the id of the last event
	io.Closer
}

// follow opens a stream of callbacks behind one.
func (s *served) follow(c client, last string, head ...string) *stream {
	s.t.Helper()
	if last != "" {
		head = append(head, "Last-Event-ID", last)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute) // an event that does not come fails the test
	s.t.Cleanup(cancel)
	st, a := s.connect(ctx, s.URL+c.Events, head...)
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/event-stream" {
		text, _ := io.ReadAll(a.Body)
		s.t.Fatalf("%d %s", a.StatusCode, text)
	}
	st.last = last
	return st
}

func (s *served) connect(ctx context.Context, url string, head ...string) (*stream, *http.Response) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(head); i += 2 {
		r.Header.Set(head[i], head[i+1])
	}
	a, err := s.client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { a.Body.Close() })
	return &stream{s.t, bufio.NewReader(a.Body), "", a.Body}, a
}

// next returns the kind and the data of the next event.
func (st *stream) next() (kind, data string, err error) {
	id := st.last
	for {
		line, err := st.lines.ReadString('\n')
		if err != nil {
			return "", "", err
		}
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		text = strings.TrimPrefix(text, " ")
		switch name {
		case "id":
			id = text
		case "event":
			kind = text
		case "data":
			data = text
		case "":
			if data != "" {
				st.last = id
				return kind, data, nil
			}
		}
	}
}

// want reads an event.
func (st *stream) want(kind, data string) {
	st.t.Helper()
	gotKind, got, err := st.next()
	if err != nil || gotKind != kind || got != data {
		st.t.Fatalf("%q %s (%v)\nexpected: %q %s", gotKind, got, err, kind, data)
	}
}

func said(n int, text, about string) string {
	return fmt.Sprintf(`{"class":"Ear","method":"said","arguments":{"number":%d,"text":%q,"about":%s}}`, n, text, about)
}

func (s *served) do(path, body string, head ...string) string {
	s.t.Helper()
	a := s.post(path, body, head...)
	if a.status >= 300 {
		s.t.Fatalf("%s %s: %d %s", path, body, a.status, a.body)
	}
	return a.body
}

// A client gives a method its reference, and gets each callback as an event.
func TestCallbacks(t *testing.T) {
	s := serve(t, httpdoor.Config{})
	c := s.begin(`"Ear","shop.Eye"`)
	ear, eye := c.References["Ear"], c.References["shop.Eye"]
	st := s.follow(c, "")
	s.do("/v1/Shop/main/put", `{"item":`+pen+`}`)
	s.do("/v1/Shop/main/listen", `{"ear":"`+ear+`"}`)
	s.do("/v1/Shop/main/say", `{"text":"a\nb","times":2}`)
	s.do("/v1/Shop/main/say", `{"text":"pen","times":1}`)
	s.do("/v1/Shop/main/greet", `{"ear":"shop.`+ear+`","by":null}`)
	st.want("", `{"class":"Ear","method":"said","arguments":{"number":1,"text":"a\nb","about":null}}`)
	st.want("", `{"class":"Ear","method":"said","arguments":{"number":2,"text":"a\nb","about":null}}`)
	st.want("", said(3, "pen", pen))
	st.want("", `{"class":"Ear","method":"greeted","arguments":{"by":null,"shop":"Shop/main"}}`)
	if st.last != "4" {
		t.Errorf("the last id is %s", st.last)
	}
	if got := s.ask("GET", "/v1/Shop/main/listeners", ""); got.body != `["`+ear+`"]` {
		t.Errorf("the listeners are %s", got.body)
	}
	all := `{"Whole":-9223372036854775808,"Small":-128,"Large":18446744073709551615,"Real":1e-7,"Flag":true,"Text":"a\"é\u2028\\","Raw":"AP8=","At":"2026-01-02T03:04:05.000000006Z","Took":"1h2m3.000000004s",` +
		`"Kind":"LARGE","Items":[` + pen + `],"Marks":[-1,3],"ByName":{"":` + pen + `},"Seen":{"1m0s":false},"Best":` + pen + `,"Cart":null,"Shop":"Shop/a b"}`
	kept := s.do("/v1/Shop/main/keep", `{"e":`+all+`}`)
	s.do("/v1/Shop/main/look", `{"e":"`+eye+`","first":`+all+`}`)
	st.want("", `{"class":"Eye","method":"saw","arguments":{"e":`+kept+`}}`)

	// A second client is greeted by the first.
	other := s.begin(`"Ear"`)
	s.do("/v1/Shop/main/greet", `{"ear":"`+other.References["Ear"]+`","by":"`+ear+`"}`)
	s.follow(other, "").want("", `{"class":"Ear","method":"greeted","arguments":{"by":"`+ear+`","shop":"Shop/main"}}`)

	// What has arrived does not come again. Another stream ends the one that is open, and the end of the client both.
	again := s.follow(c, "3")
	again.want("", `{"class":"Ear","method":"greeted","arguments":{"by":null,"shop":"Shop/main"}}`)
	st.want("end", `{"code":"taken-over","detail":"another stream of the client was opened"}`)
	if _, _, err := st.next(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the end: %v", err)
	}
	again.want("", `{"class":"Eye","method":"saw","arguments":{"e":`+kept+`}}`)
	if got := s.ask("DELETE", "/v1/clients/"+c.ID, ""); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
	again.want("end", `{"code":"ended","detail":"the client was ended"}`)
	s.do("/v1/Shop/main/say", `{"text":"a","times":1}`) // reaches nothing
	for name, want := range map[string]int64{"aeon_remote_clients": 1, "aeon_remote_callbacks_delivered_total": 6, "aeon_remote_callbacks_dropped_total": 0} {
		if got := s.figure(name); got != want {
			t.Errorf("%s is %d, not %d", name, got, want)
		}
	}
}

// figure returns what the program counts under a name.
func (s *served) figure(name string, head ...string) (n int64) {
	s.t.Helper()
	for line := range strings.Lines(s.ask("GET", "/metrics", "", head...).body) {
		if _, err := fmt.Sscanf(line, name+" %d", &n); err == nil {
			return n
		}
	}
	s.t.Fatalf("%s is no figure", name)
	return 0
}

func TestWrongClients(t *testing.T) {
	s := serve(t, httpdoor.Config{})
	c := s.begin(`"Ear","Eye"`)
	ear, eye := c.References["Ear"], c.References["Eye"]
	none := func(text string) string {
		return "no-client no : ear: there is no client " + fmt.Sprintf("%q", text) + " of class Ear; begin a client, and give its reference"
	}
	for _, o := range []struct {
		method, path, body string
		head               []string
		status             int
		want               string
	}{
		{"POST", "/v1/clients", `{"classes":["Er"]}`, nil, 404, `not-found no : the program has no client class "Er"; did you mean "Ear"?`},
		{"POST", "/v1/clients", `{"classes":["Shop"]}`, nil, 404, `not-found no : the program has no client class "Shop"`},
		{"POST", "/v1/clients", `{"classes":["Ear","Ear"]}`, nil, 400, `arguments no : classes[1]: the element is in the set already`},
		{"POST", "/v1/clients", `{"classes":[]}`, nil, 400, `arguments no : classes: there is none`},
		{"POST", "/v1/clients", ``, nil, 400, `arguments no : classes: it is missing`},
		{"POST", "/v1/clients", `{"classes":["Ear"]}`, []string{"Content-Type", "text/plain"}, 415, `media-type no : `},
		{"POST", "/v1/Shop/main/listen", `{"ear":"` + eye + `"}`, nil, 400, none(eye)},
		{"POST", "/v1/Shop/main/listen", `{"ear":"Ear` + eye[3:] + `"}`, nil, 400, none("Ear" + eye[3:])},
		{"POST", "/v1/Shop/main/listen", `{"ear":"` + ear + `7"}`, nil, 400, none(ear + "7")},
		{"POST", "/v1/Shop/main/listen", `{"ear":"Ear"}`, nil, 400, none("Ear")},
		{"POST", "/v1/Shop/main/listen", `{"ear":"Ear:0"}`, nil, 400, none("Ear:0")},
		{"POST", "/v1/Shop/main/listen", `{"ear":"` + c.ID + `"}`, nil, 400, none(c.ID)},
		{"POST", "/v1/Shop/main/listen", `{"ear":null}`, nil, 400, `arguments no : ear: null at byte 7`},
		{"POST", "/v1/Shop/main/listen", `{"ear":"Ear:1"}`, []string{"Idempotency-Key", "k"}, 400, strings.Replace(none("Ear:1"), " no ", " unknown ", 1)},
		{"GET", "/v1/clients/x/events", "", nil, 404, `not-found no : there is no such client: it has ended`},
		{"DELETE", "/v1/clients/x", "", nil, 404, `not-found no : there is no such client: it has ended`},
		{"GET", c.Events, "", []string{"Last-Event-ID", "x"}, 400, `arguments no : Last-Event-ID: "x" is no id of a callback`},
		{"GET", c.Events, "", []string{"Last-Event-ID", "1"}, 400, `arguments no : the client has had 0 callbacks, and none has the number 1`},
		{"GET", "/v1/clients", "", nil, 404, "not-found no : there is nothing at /v1/clients"},
	} {
		got := s.ask(o.method, o.path, o.body, o.head...)
		if text := problem(t, got); got.status != o.status || !strings.HasPrefix(text, o.want) {
			t.Errorf("%s %s %s: %d %s\nexpected: %d %s", o.method, o.path, o.body, got.status, text, o.status, o.want)
		}
	}
}

// callers returns the tokens of callers, each a name and its rights, and the header of each by its name.
func (s *served) callers(list ...[]string) (read *access.Tokens, heads map[string]string) {
	s.t.Helper()
	text := ""
	heads = make(map[string]string)
	for _, c := range list {
		token := access.New()
		line, err := access.Line(c[0], token, c[1:])
		if err != nil {
			s.t.Fatal(err)
		}
		heads[c[0]], text = "Bearer "+token, text+line+"\n"
	}
	read, err := access.Read(writeFile(s.t, "tokens", text, 0o600), s.door.Program, slog.New(slog.DiscardHandler))
	if err != nil {
		s.t.Fatal(err)
	}
	return read, heads
}

// A client belongs to the caller that has begun it: to all others it is one that is not there.
func TestClientsBelongToTheirCallers(t *testing.T) {
	s := open(t, &shop.AeonPackage)
	read, tokens := s.callers([]string{"ann", "Shop.*"}, []string{"bob", "Shop.listen", "Shop.say"}, []string{"eve", "Shop.find", "Cart.*"}, []string{"ops", "*"})
	s.listen(httpdoor.Config{Config: gate.Config{Tokens: read}})
	c := s.begin(`"Ear"`, "Authorization", tokens["ann"])
	ear := c.References["Ear"]
	same := func(method, path, other, body, otherBody, name string, status int) {
		t.Helper()
		one, two := s.ask(method, path, body, "Authorization", tokens[name]), s.ask(method, other, otherBody, "Authorization", tokens[name])
		if one.status != status || two.status != status || strings.ReplaceAll(one.body, ear, "Ear:77") != two.body {
			t.Errorf("%s as %s: %d %s\nand of one that is not there: %d %s", path, name, one.status, one.body, two.status, two.body)
		}
	}
	for _, name := range []string{"bob", "eve", "ops"} {
		same("DELETE", "/v1/clients/"+c.ID, "/v1/clients/x", "", "", name, 404) // first: a stream that opens would not end
		same("GET", c.Events, "/v1/clients/x/events", "", "", name, 404)
	}
	for _, name := range []string{"bob", "ops"} {
		same("POST", "/v1/Shop/main/listen", "/v1/Shop/main/listen", `{"ear":"`+ear+`"}`, `{"ear":"Ear:77"}`, name, 400)
	}
	for class, want := range map[string]string{
		"bob Eye": "forbidden no : the rights of bob do not reach a method that takes a client of class Eye", "bob Er": "forbidden no : the rights of bob do not",
		"eve Ear": "forbidden no : the rights of eve do not reach", "ops Er": `not-found no : the program has no client class "Er"`,
	} {
		name, class, _ := strings.Cut(class, " ")
		if got := problem(t, s.post("/v1/clients", `{"classes":["`+class+`"]}`, "Authorization", tokens[name])); !strings.HasPrefix(got, want) {
			t.Errorf("%s of %s: %s", class, name, got)
		}
	}
	if got := s.ask("GET", c.Events, ""); got.status != 401 {
		t.Errorf("without a token: %d %s", got.status, got.body)
	}
	s.do("/v1/Shop/main/listen", `{"ear":"`+ear+`"}`, "Authorization", tokens["ann"])
	s.do("/v1/Shop/main/say", `{"text":"a","times":1}`, "Authorization", tokens["bob"])
	s.follow(c, "", "Authorization", tokens["ann"]).want("", said(1, "a", "null"))
	for name, want := range map[string]string{"ann": "Ear Eye", "bob": "Ear", "eve": ""} {
		doc := s.ask("GET", "/openapi.json", "", "Authorization", tokens[name]).body
		for _, class := range []string{"Ear", "Eye"} {
			if there := strings.Contains(doc, `"const": "`+class+`"`); there != strings.Contains(want, class) {
				t.Errorf("the description for %s has %s: %v", name, class, there)
			}
		}
	}
}

// A client whose connection breaks at any moment sees each callback once, and all in their order.
func TestStreamsResume(t *testing.T) {
	t.Parallel()
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		rnd := rand.New(rand.NewPCG(uint64(round), 1))
		s := serve(t, httpdoor.Config{})
		c := s.begin(`"Ear"`)
		s.do("/v1/Shop/main/listen", `{"ear":"`+c.References["Ear"]+`"}`)
		const sayings, times = 60, 5
		var end sync.WaitGroup
		end.Go(func() {
			for i := range sayings {
				s.do("/v1/Shop/main/say", fmt.Sprintf(`{"text":"text %d","times":%d}`, i, times))
			}
		})
		last, seen, streams := "", 0, 0
		for ; seen < sayings*times; streams++ {
			ctx, cancel := context.WithCancel(t.Context())
			var head []string
			if last != "" {
				head = []string{"Last-Event-ID", last}
			}
			st, a := s.connect(ctx, s.URL+c.Events, head...)
			if a.StatusCode != 200 {
				t.Fatalf("%d behind %s", a.StatusCode, last)
			}
			st.lines = bufio.NewReaderSize(&cut{a.Body, rnd.IntN(6000), rnd.IntN(2) == 0, cancel}, 16)
			st.last = last
			for seen < sayings*times {
				_, data, err := st.next()
				if err != nil {
					break
				}
				seen++
				if want := said(seen, fmt.Sprintf("text %d", (seen-1)/times), "null"); data != want {
					t.Fatalf("round %d, callback %d is %s, expected %s", round, seen, data, want)
				}
			}
			last = st.last
			cancel()
		}
		end.Wait()
		t.Logf("%d callbacks over %d streams", seen, streams)
	}
}

// cut is a connection that breaks after so many bytes, at once or when the server has gone on.
type cut struct {
	io.Reader
	left   int
	early  bool
	cancel func()
}

func (c *cut) Read(b []byte) (int, error) {
	if c.left == 0 {
		c.cancel()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.Reader.Read(b[:min(len(b), c.left)])
	if c.left -= n; c.left == 0 && c.early {
		c.cancel()
	}
	return n, err
}

// What a client does not take in time ends the client, and what it has been sent gives way; neither is silent.
func TestBoundsOfClients(t *testing.T) {
	clock := runtime.NewSimClock(time.Unix(1e9, 0))
	s := openWith(t, &shop.AeonPackage, door.RemoteLimits{Max: 3, KeptMax: 4, BytesMax: 1000, AllMax: 1500, ExpiryMin: time.Minute}, clock)
	s.listen(httpdoor.Config{})
	listening := func(shop string) client {
		c := s.begin(`"Ear"`)
		s.do("/v1/Shop/"+shop+"/listen", `{"ear":"`+c.References["Ear"]+`"}`)
		return c
	}
	say := func(shop, text string, times int) {
		t.Helper()
		s.do("/v1/Shop/"+shop+"/say", fmt.Sprintf(`{"text":%q,"times":%d}`, text, times))
		s.sys.Client().Settle()
	}
	gone := func(c client) {
		t.Helper()
		if got := s.ask("DELETE", "/v1/clients/"+c.ID, ""); got.status != 404 {
			t.Errorf("a client that has ended: %d %s", got.status, got.body)
		}
	}
	// By number: four wait, the fifth ends the client.
	c := listening("a")
	say("a", "x", 4)
	st := s.follow(c, "")
	for i := range 4 {
		st.want("", said(i+1, "x", "null"))
	}
	say("a", "x", 2) // in place of what was sent
	st.want("", said(5, "x", "null"))
	st.want("", said(6, "x", "null"))
	if got := s.ask("GET", c.Events, "", "Last-Event-ID", "1"); got.status != 410 || !strings.HasPrefix(problem(t, got), "forgotten no : the callbacks behind number 1 are asked for, and those up to number 2 are not kept any more") {
		t.Errorf("%d %s", got.status, got.body)
	}
	st = s.follow(c, "2")
	for i := range 4 {
		st.want("", said(i+3, "x", "null"))
	}
	st.Close()
	s.untilFigure("aeon_http_streams", 0)
	say("a", "x", 4)
	say("a", "x", 1)
	gone(c)
	// By bytes.
	c = listening("b")
	st = s.follow(c, "")
	say("b", strings.Repeat("x", 900), 1)
	if _, _, err := st.next(); err != nil {
		t.Fatal(err)
	}
	say("b", strings.Repeat("x", 950), 1)
	st.want("end", `{"code":"overflow","detail":"more than 4 callbacks, or 1000 bytes, wait for the stream, which is the limit"}`)
	gone(c)
	// By bytes of all: what one has been sent gives way to another, what waits does not.
	one, two := listening("c"), listening("d")
	st = s.follow(one, "")
	say("c", strings.Repeat("x", 800), 1)
	if _, _, err := st.next(); err != nil {
		t.Fatal(err)
	}
	say("d", strings.Repeat("x", 800), 1)
	if n := s.figure("aeon_remote_callback_bytes"); n < 800 || n > 900 {
		t.Errorf("callbacks take %d bytes", n)
	}
	say("c", strings.Repeat("x", 800), 1)
	if kind, data, err := st.next(); kind != "end" || !strings.Contains(data, "the callbacks of all clients take 1500 bytes") {
		t.Errorf("%q %.200s %v", kind, data, err)
	}
	gone(one)
	// The number of clients, and their expiry: not while a stream is open.
	three, four := listening("e"), listening("f")
	if got := s.post("/v1/clients", `{"classes":["Ear"]}`); got.status != 503 || problem(t, got) != "full no : there are 3 clients, which is the limit" || got.head.Get("Retry-After") == "" {
		t.Errorf("%d %s", got.status, got.body)
	}
	open := s.follow(three, "")
	clock.Set(clock.Now().Add(59 * time.Second))
	st = s.follow(four, "")
	st.Close()
	s.untilFigure("aeon_http_streams", 1)
	clock.Set(clock.Now().Add(10 * time.Second))
	say("e", "x", 1)
	open.want("", said(1, "x", "null"))
	gone(two)
	if n := s.figure("aeon_remote_clients"); n != 2 {
		t.Errorf("there are %d clients", n)
	}
	clock.Set(clock.Now().Add(time.Minute))
	say("f", "x", 1) // the callback finds it expired
	gone(four)
	if bytes, dropped := s.figure("aeon_remote_callback_bytes"), s.figure("aeon_remote_callbacks_dropped_total"); bytes == 0 || dropped != 5+1+1+1+1 {
		t.Errorf("callbacks take %d bytes, and %d were dropped", bytes, dropped)
	}
}

// A caller takes a quarter of the clients, and of the bytes of callbacks, so that none ends the clients of others, or keeps them from beginning.
func TestACallerLeavesRoomToOthers(t *testing.T) {
	s := openWith(t, &shop.AeonPackage, door.RemoteLimits{Max: 16, BytesMax: 1000, AllMax: 4000}, runtime.NewSimClock(time.Unix(1e9, 0)))
	read, tokens := s.callers([]string{"ann", "*"}, []string{"bob", "*"})
	s.listen(httpdoor.Config{Config: gate.Config{Tokens: read}})
	as := func(name string) []string { return []string{"Authorization", tokens[name]} }
	listening := func(shop, name string) client {
		c := s.begin(`"Ear"`, as(name)...)
		s.do("/v1/Shop/"+shop+"/listen", `{"ear":"`+c.References["Ear"]+`"}`, as(name)...)
		return c
	}
	say := func(shop, name string) {
		t.Helper()
		s.do("/v1/Shop/"+shop+"/say", fmt.Sprintf(`{"text":%q,"times":1}`, strings.Repeat("x", 800)), as(name)...)
		s.sys.Client().Settle()
	}
	keepsUp := listening("b", "bob")
	st := s.follow(keepsUp, "", as("bob")...)
	var list []client
	for range 4 {
		list = append(list, listening("a", "ann"))
	}
	const refusal = "full no : the caller has 4 clients, which is the limit"
	if got := s.post("/v1/clients", `{"classes":["Ear"]}`, as("ann")...); got.status != 503 || problem(t, got) != refusal || got.head.Get("Retry-After") == "" {
		t.Errorf("a fifth client of ann: %d %s", got.status, got.body)
	}
	if c := s.begin(`"Ear"`, as("bob")...); c.ID == "" {
		t.Error("bob has begun no other client")
	}
	// The first callback fills the part of ann, and each client that gets another one ends.
	say("a", "ann")
	if n := s.figure("aeon_remote_callback_bytes", as("ann")...); n < 800 || n > 1000 {
		t.Errorf("the callbacks of ann take %d bytes", n)
	}
	if n := s.figure("aeon_remote_clients", as("ann")...); n != 3 {
		t.Errorf("there are %d clients", n)
	}
	for range 4 {
		say("b", "bob")
		if kind, data, err := st.next(); kind != "" || err != nil {
			t.Fatalf("the client of bob: %q %.200s %v", kind, data, err)
		}
	}
	// What ends gives its part back.
	for _, c := range list {
		s.ask("DELETE", "/v1/clients/"+c.ID, "", as("ann")...)
	}
	for range 4 {
		listening("c", "ann")
	}
	s.do("/v1/Shop/c/say", `{"text":"x","times":2}`, as("ann")...)
	s.sys.Client().Settle()
	if n := s.figure("aeon_remote_clients", as("ann")...); n != 6 {
		t.Errorf("afterwards there are %d clients", n)
	}
}

// untilFigure waits until a figure has a value.
func (s *served) untilFigure(name string, want int64) {
	s.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for s.figure(name) != want {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s is %d, not %d", name, s.figure(name), want)
		}
	}
}
