package door

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/audit"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/node"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// tokenFile writes a file of tokens: ann may call some methods, bob all of a class, and ops everything.
func tokenFile(t testing.TB) (path string, tokens map[string]string) {
	t.Helper()
	tokens = make(map[string]string)
	text := "# the callers of the shop\n\n"
	for _, c := range [][]string{{"ann", "Shop.find", "shop.Shop.add", "Shop.later"}, {"bob", "Cart.*", "Shop.add"}, {"ops", "*"}} {
		tokens[c[0]] = access.New()
		line, err := access.Line(c[0], tokens[c[0]], c[1:])
		if err != nil {
			t.Fatal(err)
		}
		text += line + " # as agreed\r\n"
	}
	return writeFile(t, "tokens", text, 0o640), tokens
}

func writeFile(t testing.TB, name, text string, mode os.FileMode) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	return path
}

// guarded is the program, which asks for tokens.
func guarded(t testing.TB, cfg httpdoor.Config) (s *served, tokens map[string]string) {
	t.Helper()
	s = open(t, &shop.AeonPackage)
	path, tokens := tokenFile(t)
	var err error
	if cfg.Tokens, err = access.Read(path, s.door.Program, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	s.tokens = cfg.Tokens
	s.listen(cfg)
	return s, tokens
}

// Each request needs a token that is known, and does and learns only what its rights reach.
func TestTokens(t *testing.T) {
	s, tokens := guarded(t, httpdoor.Config{})
	const none, unknown = `Bearer realm="aeon"`, `Bearer realm="aeon", error="invalid_token"`
	for _, c := range []struct {
		token, method, path string
		status              int
		want                string // the answer, or of a problem what its members begin with
	}{
		{"ann", "GET", "/v1/Shop/main/find?name=pen", 200, "null"},
		{"ann", "POST", "/v1/Shop/main/later", 400, "arguments no : n: it is missing"},
		{"ann", "GET", "/v1/Shop/main/total", 403, "forbidden no : the rights of ann do not reach Shop.total"},
		{"ann", "POST", "/v1/Shop/main/total", 403, "forbidden no : the rights of ann do not reach Shop.total"},
		{"ann", "POST", "/v1/shop.Shop/main/put", 403, "forbidden no : the rights of ann do not reach shop.Shop.put"},
		{"ann", "POST", "/v1/Cart/:1:7/add", 403, "forbidden no : the rights of ann do not reach Cart.add"},
		{"ann", "POST", "/v1/Shop/main/finds", 403, "forbidden no : the rights of ann do not reach Shop.finds"},
		{"ann", "POST", "/v1/Shp/main/find", 403, "forbidden no : the rights of ann do not reach Shp.find"},
		{"bob", "GET", "/v1/Cart/:1:7/sum", 404, "not-found no : there is no actor Cart:1:7"},
		{"bob", "GET", "/v1/Cart/:1:7/sums", 404, `not-found no : class Cart has no method "sums"; did you mean "sum"?`},
		{"bob", "GET", "/v1/Shop/main/find?name=pen", 403, "forbidden no : the rights of bob do not reach Shop.find"},
		{"ops", "GET", "/v1/Shop/main/total", 200, "0"},
		{"ops", "GET", "/v1/Shp/main/total", 404, `not-found no : the program has no actor class "Shp"; did you mean "Shop"?`},
		{"ops", "GET", "/v1", 404, "not-found no : there is nothing at /v1"},
		{"ops", "GET", "/metrics", 200, "# HELP aeon_"},
		{"ann", "GET", "/metrics", 403, "forbidden no : the rights of ann do not reach the figures of the program, which take *"},
		{"ops", "GET", "/control/actors", 404, "not-found no : there is nothing at /control/actors"},
		{"", "GET", "/healthz", 200, "ok"},
		{"", "GET", "/readyz", 200, "ok"},
	} {
		var head []string
		if c.token != "" {
			head = []string{"Authorization", "bearer " + tokens[c.token]}
		}
		got := s.ask(c.method, c.path, "", append(head, "Host", "shop.example.org")...)
		text := got.body
		if got.status >= 400 {
			text = problem(t, got)
		}
		if got.status != c.status || !strings.HasPrefix(text, c.want) || got.head.Get("WWW-Authenticate") != "" {
			t.Errorf("%s %s %s: %d %s\nexpected: %d %s", c.token, c.method, c.path, got.status, text, c.status, c.want)
		}
	}
	for _, path := range []string{"/v1/Shop/main/find?name=pen", "/v1/Shop/main/no", "/v1/No/main/no", "/openapi.json", "/metrics", "/", "/v1"} {
		for given, challenge := range map[string]string{
			"": none, "Basic " + tokens["ops"]: none, tokens["ops"]: none, "Bearer": none,
			"Bearer ops": unknown, "Bearer " + tokens["ops"] + "x": unknown, "Bearer " + tokens["ann"] + " " + tokens["ops"]: unknown,
		} {
			var head []string
			if given != "" {
				head = []string{"Authorization", given}
			}
			got := s.ask("GET", path, "", head...)
			if text := problem(t, got); got.status != 401 || !strings.HasPrefix(text, "unauthenticated no : ") || got.head.Get("WWW-Authenticate") != challenge {
				t.Errorf("%s with %q: %d %s, %q", path, given, got.status, text, got.head.Get("WWW-Authenticate"))
			}
		}
	}
}

// The description has what a token may call, and says that it asks for one.
func TestDescriptionForAToken(t *testing.T) {
	s, tokens := guarded(t, httpdoor.Config{})
	for name, want := range map[string]struct{ paths, tags, schemas int }{"ann": {3, 1, 3}, "bob": {4, 2, 3}, "ops": {24, 2, 5}} {
		got := s.ask("GET", "/openapi.json", "", "Authorization", "Bearer "+tokens[name])
		var doc struct {
			Paths      map[string]json.RawMessage
			Tags       []struct{ Name string }
			Security   []map[string][]string
			Components struct {
				Schemas         map[string]json.RawMessage
				SecuritySchemes map[string]struct{ Type, Scheme string }
			}
		}
		if err := json.Unmarshal([]byte(got.body), &doc); err != nil {
			t.Fatal(err)
		}
		if len(doc.Paths) != want.paths || len(doc.Tags) != want.tags || len(doc.Components.Schemas) != want.schemas {
			t.Errorf("%s: %d paths, %d tags, %d schemas, expected %v", name, len(doc.Paths), len(doc.Tags), len(doc.Components.Schemas), want)
		}
		scheme := doc.Components.SecuritySchemes["token"]
		if _, asked := doc.Security[0]["token"]; !asked || scheme.Type != "http" || scheme.Scheme != "bearer" {
			t.Errorf("%s: security %v, scheme %v", name, doc.Security, scheme)
		}
	}
}

// A key belongs to its caller: another one who chooses it too calls on its own account, and learns nothing.
func TestKeysBelongToTheirCallers(t *testing.T) {
	s, tokens := guarded(t, httpdoor.Config{})
	add := func(name, key, body string) string {
		return s.post("/v1/Shop/main/add", body, "Authorization", "Bearer "+tokens[name], "Idempotency-Key", key).body
	}
	long := strings.Repeat("k", 255)
	for _, key := range []string{"a key", long} {
		before := add("ops", "", `{"n":0}`)
		first := add("ann", key, `{"n":1}`)
		if other := add("bob", key, `{"n":1}`); first == before || other == first {
			t.Errorf("%.10s: before it was %s, ann got %s, and bob got %s", key, before, first, other)
		}
		if again := add("ann", key, `{"n":1}`); again != first {
			t.Errorf("%.10s: ann got %s, and then %s", key, first, again)
		}
		if got := add("bob", key, `{"n":2}`); !strings.Contains(got, "key-reused") {
			t.Errorf("%.10s: another request of bob: %s", key, got)
		}
	}
	if got := add("ann", long+"k", `{"n":1}`); !strings.Contains(got, "has 256 bytes, and at most 255 fit") {
		t.Errorf("a key too long: %s", got)
	}
	// No carrier but a test can have a byte 0 in a header.
	open := serve(t, httpdoor.Config{})
	if got := do(open, "POST", "/v1/Shop/main/add", "", []byte(`{"n":1}`), "ann\x00a key"); got.Code != 400 || !strings.Contains(got.Body.String(), "has a byte 0") {
		t.Errorf("a key that looks like one of a caller: %d %s", got.Code, got.Body)
	}
}

// Each mistake in the file is told with its line and the remedy, and no token is.
func TestFilesOfTokensThatAreRefused(t *testing.T) {
	s := open(t, &shop.AeonPackage)
	token := access.New()
	line, err := access.Line("ann", token, nil)
	if err != nil {
		t.Fatal(err)
	}
	line = strings.TrimSpace(line)
	other := "sha256:" + strings.Repeat("0A", 32)
	for text, want := range map[string]string{
		"":                               "tokens: the file of tokens has none",
		"# ann\n":                        "tokens: the file of tokens has none",
		"\n" + line:                      "tokens:2: ann may call nothing; write what it may call",
		line + " Shop.fin":               `tokens:1: right 1 of ann: class Shop has no method "fin"; did you mean "find"?`,
		line + " * Shp.*":                `tokens:1: right 2 of ann: the program has no actor class "Shp"; did you mean "Shop"?`,
		line + " pen.Shop.find":          `tokens:1: right 1 of ann: the program has no actor class "pen.Shop"`,
		line + " Shop":                   "tokens:1: right 1 of ann: it is none of CLASS.METHOD, CLASS.* and *",
		line + " Shop.":                  "it is none of",
		line + " *.find":                 "it is none of",
		line + " Shop.find,Shop.add":     "it is none of",
		line + " *\n" + line + " *":      "tokens:2: line 1 is of ann already",
		line + " *\nbob" + line[3:]:      "tokens:2: ann and bob have one token",
		line + " *\nann " + other + " *": "tokens:2: line 1 is of ann already; write all its hashes and rights on one line",
		"ann *":                          "tokens:1: there is no hash of a token; a line is NAME sha256:HASH RIGHTS",
		token:                            "tokens:1: a token stands there",
		"ann " + token + " *":            "tokens:1: a token stands there",
		line + " " + token:               "tokens:1: a token stands there",
		"ann sha256:12 *":                "tokens:1: the hash is not sha256: and 64 hexadecimal digits",
		"ann sha256:" + token + " *":     "tokens:1: the hash is not",
		"ann " + other + "00 *":          "tokens:1: the hash is not",
		"a/b " + other + " *":            "tokens:1: a name has letters",
		strings.Repeat("a", 65) + " " + other + " *": "tokens:1: the name has 65 bytes; it has 1 to 64",
	} {
		_, err := access.Read(writeFile(t, "tokens", text, 0o600), s.door.Program, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), token) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	two := "ann sha256:x *\n\n" + "bob *\n"
	if _, err := access.Read(writeFile(t, "tokens", two, 0o600), s.door.Program, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), ":1: ") || !strings.Contains(err.Error(), ":3: ") {
		t.Errorf("two mistakes: %v", err)
	}
	var log bytes.Buffer
	if _, err := access.Read(writeFile(t, "tokens", line+" *", 0o602), s.door.Program, slog.New(slog.NewTextHandler(&log, nil))); err == nil || !strings.Contains(err.Error(), "every user of this machine can write to the file of tokens") {
		t.Errorf("a file that all may write: %v", err)
	}
	if _, err := access.Read(writeFile(t, "tokens", line+" *", 0o644), s.door.Program, slog.New(slog.NewTextHandler(&log, nil))); err != nil || !strings.Contains(log.String(), "can read the file of tokens") {
		t.Errorf("a file that all may read: %v, %s", err, &log)
	}
	// While a caller changes to another token it has two.
	next := access.New()
	second, err := access.Line("ann", next, []string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := access.Read(writeFile(t, "tokens", line+second[3:], 0o600), s.door.Program, slog.New(slog.DiscardHandler))
	if err != nil || tokens.Find(token) == nil || tokens.Find(token) != tokens.Find(next) || tokens.Find(token+next) != nil {
		t.Errorf("two tokens of one caller: %v", err)
	}
}

// The files that a door needs are read before there is a system, and so before a store is made.
func TestFilesOfADoorAreReadFirst(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		of   settings.Listen
		want string
	}{
		{settings.Listen{Tokens: none}, "open " + none},
		{settings.Listen{Tokens: writeFile(t, "tokens", "ann *", 0o600)}, "tokens:1: there is no hash of a token"},
		{settings.Listen{Cert: none, CertKey: none}, "the certificate " + none},
		{settings.Listen{Static: none}, none},
	} {
		c.of.Address = "127.0.0.1:0"
		p := &shop.AeonPackage
		if _, err := node.PartsWith(nil).Door(aeonrt.DoorConfig{Program: p.Name, Listen: c.of, Classes: aeonrt.AllClasses(p), ClientClasses: aeonrt.AllClientClasses(p), Log: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.of, err, c.want)
		}
	}
}

// lines returns the lines of an audit.
func lines(t *testing.T, path string) (list []audit.Entry) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e audit.Entry
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, e)
	}
	return list
}

// When a request that may change something, or that is refused for want of a right, is answered its line is there.
func TestAuditHasEachCall(t *testing.T) {
	path := writeFile(t, "audit", `{"time":"2026-01-02T03:04:05Z","rem`, 0o600) // the disk was full
	log, err := audit.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(string(text), "rem\n") {
		t.Fatalf("%q, %v", text, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	s, tokens := guarded(t, httpdoor.Config{Config: gate.Config{Audit: log}})
	n := 0
	for _, c := range []struct {
		token, method, path, body, key string
		want                           string // token class key method outcome once; "": no line
	}{
		{"ann", "POST", "/v1/Shop/main/add", `{"n":7654321}`, "k", "ann Shop main add done true"},
		{"ann", "POST", "/v1/Shop/main/add", `{"n":7654321}`, "k", "ann Shop main add done true"},
		{"ann", "POST", "/v1/Shop/main/add", `{"n":"x"}`, "", "ann Shop main add arguments false"},
		{"ops", "POST", "/v1/Shop/a%2F%FF/put", `{"item":{"Name":"air","Cents":0,"Size":"SMALL","Tags":[]}}`, "", "ops Shop a/\xff put aborted false"},
		{"ops", "POST", "/v1/Shop/%2F/put", `{"item":{"Name":"air","Cents":0,"Size":"SMALL","Tags":[]}}`, "", "ops Shop / put aborted false"},
		{"ann", "GET", "/v1/Shop/main/add", "", "", "ann Shop main add method false"},
		{"ann", "GET", "/v1/Shop/main/find?name=7654321", "", "", ""},
		{"ann", "GET", "/v1/Shop/main/find?name=7654321&name=", "", "", ""},
		{"ann", "GET", "/v1/Shop/main/total", "", "", "ann Shop main total forbidden false"},
		{"ann", "POST", "/v1/Shop/main/finds", "", "", "ann Shop main finds forbidden false"},
		{"ops", "POST", "/v1/Shop/main/finds", "", "", ""},
		{"no", "GET", "/v1/Shop/main/find?name=7654321", "", "", " Shop main find unauthenticated false"},
		{"no", "GET", "/openapi.json", "", "", "    unauthenticated false"},
	} {
		var head []string
		if c.token != "no" {
			head = append(head, "Authorization", "Bearer "+tokens[c.token])
		}
		if c.key != "" {
			head = append(head, "Idempotency-Key", c.key)
		}
		s.ask(c.method, c.path, c.body, head...)
		list := lines(t, path)
		got := ""
		if len(list) > n {
			e := list[n]
			once := "false"
			if e.Once {
				once = "true"
			}
			got = strings.Join([]string{e.Token, string(e.Class), string(e.Key), string(e.Method), e.Outcome, once}, " ")
			if !strings.HasPrefix(e.Remote, "127.0.0.1:") || time.Since(e.Time) > time.Minute || e.Took <= 0 {
				t.Errorf("%s: %+v", c.path, e)
			}
		}
		if n = len(list); got != c.want {
			t.Errorf("%s %s %s: %q, expected %q", c.token, c.method, c.path, got, c.want)
		}
	}
	if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, []byte("7654321")) {
		t.Errorf("it has arguments: %v\n%s", err, text)
	}
}

// A request whose line cannot be written is not answered as if it had one, the next ones are refused, and the listening is
// to end.
func TestAuditThatCannotBeWritten(t *testing.T) {
	log, err := audit.Open("/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, &shop.AeonPackage)
	failed := make(chan error, 2)
	s.listen(httpdoor.Config{Config: gate.Config{Audit: log, Fail: func(err error) { failed <- err }}})
	for _, want := range []string{"unknown unknown : the audit cannot be written", "unavailable no : the audit cannot be written"} {
		if got := s.post("/v1/Shop/main/add", `{"n":1}`); got.status != 503 || !strings.HasPrefix(problem(t, got), want) {
			t.Errorf("%d %s, expected %s", got.status, got.body, want)
		}
	}
	if err := <-failed; !strings.Contains(err.Error(), "the file of --audit cannot be written") {
		t.Error(err)
	}
	s.listen(httpdoor.Config{})
	if got := s.post("/v1/Shop/main/add", `{"n":0}`); got.body != "1" {
		t.Errorf("the first one alone has happened, and the count is %s", got.body)
	}
}
