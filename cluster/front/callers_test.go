package front

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/audit"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
)

// callers returns a gate that knows callers by tokens, these tokens, and the file of its audit.
func callers(t *testing.T, names ...string) (g *gate.Gate, tokens []string, audited string) {
	t.Helper()
	var text string
	for _, name := range names {
		token := access.New()
		line, err := access.Line(name, token, []string{"*"})
		if err != nil {
			t.Fatal(err)
		}
		tokens, text = append(tokens, token), text+line+"\n"
	}
	path, audited := filepath.Join(t.TempDir(), "tokens"), filepath.Join(t.TempDir(), "audit")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := access.Read(path, new(door.Program), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(audited)
	if err != nil {
		t.Fatal(err)
	}
	return gate.New(gate.Config{Log: slog.New(slog.DiscardHandler), Tokens: read, Audit: log}), tokens, audited
}

// pair returns a front that runs nothing, as node 1, and forwards to another one, as node 2, which runs a system. They find callers by these gates.
func pair(t *testing.T, gate1, gate2 *gate.Gate, system http.Handler) *Front {
	t.Helper()
	g := &GRPC{Fail: fails, Reads: func(path string) bool { return strings.HasPrefix(path, healthService) }, Store: func(string, []byte) event.StoreID { return 0 }}
	here, there := &places{}, &places{}
	here.move(Place{Node: 2, Term: 1})
	there.move(Place{Node: 2, Term: 1, Here: system})
	log := slog.New(slog.DiscardHandler)
	second := New(Config{Node: 2, Gate: gate2, GRPC: g, Locate: there.locate, Here: there.here, Log: log})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: second.Forwarded(), Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = server.Serve(l) }()
	first := New(Config{Node: 1, Gate: gate1, GRPC: g, Store: only, Locate: here.locate, Here: here.here, Wait: 5 * time.Second, Log: log,
		Dial: func(ctx context.Context, _ event.NodeID) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		}})
	t.Cleanup(func() {
		first.Close()
		_ = server.Close()
	})
	return first
}

// request returns one with a token; "": it has none.
func request(t *testing.T, path, token string, major int) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader("args"))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if r.ProtoMajor = major; major == 2 {
		r.Header.Set("Content-Type", "application/grpc")
	}
	return r
}

// A node that asks for tokens refuses a request without one itself, whatever the node asks for that runs the actors, and accounts for that.
func TestANodeFindsItsCallers(t *testing.T) {
	var calls atomic.Int32
	g, tokens, audited := callers(t, "ann")
	f := pair(t, g, g, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set(http.TrailerPrefix+statusHeader, "0")
		_, _ = fmt.Fprint(w, len(r.Header[asksHeader]))
	}))
	for _, c := range []struct {
		path, token string
		major       int
		code        string // "": it is performed
		challenge   string
		line        string // of the audit
	}{
		{"/v1/A/b/c", "", 1, door.Unauthenticated, `Bearer realm="aeon"`, `"class":"A","key":"b","method":"c","outcome":"unauthenticated"`},
		{"/v1/A/b/c", "aeon_other", 1, door.Unauthenticated, `Bearer realm="aeon", error="invalid_token"`, `"class":"A","key":"b","method":"c","outcome":"unauthenticated"`},
		{"/v1/A/b/c", tokens[0], 1, "", "", ""},
		{"/v1/clients", "", 1, door.Unauthenticated, `Bearer realm="aeon"`, `"remote":"192.0.2.1:1234","outcome":"unauthenticated"`},
		{"/p.A/c", "", 2, door.Unauthenticated, "", `"class":"p.A","method":"c","outcome":"unauthenticated"`},
		{"/p.A/c", tokens[0], 2, "", "", ""},
		{healthService + "Check", "", 2, "", "", ""},
		{ownServices + "reflection.v1.ServerReflection/ServerReflectionInfo", "", 2, door.Unauthenticated, "", `"outcome":"unauthenticated"`},
	} {
		before := calls.Load()
		if err := os.Truncate(audited, 0); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, request(t, c.path, c.token, c.major))
		line, err := os.ReadFile(audited)
		if err != nil {
			t.Fatal(err)
		}
		code, challenge, called := w.Header().Get(httpdoor.CodeHeader), w.Header().Get("WWW-Authenticate"), calls.Load() > before
		if code != c.code || challenge != c.challenge || called != (c.code == "") || c.code == "" && (w.Body.String() != "0" || len(line) > 0) || !strings.Contains(string(line), c.line) {
			t.Errorf("%s with %q: %q, %q; performed: %v; %s; the audit has %q", c.path, c.token, code, challenge, called, w.Body, line)
		}
	}
}

// A node that asks for no tokens performs nothing for one that does: it knows no rights. The answer comes at once and names both.
func TestNodesOfWhichOneAsksForTokens(t *testing.T) {
	for _, major := range []int{1, 2} {
		var calls atomic.Int32
		g, tokens, _ := callers(t, "ann")
		system := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			w.Header().Set(http.TrailerPrefix+statusHeader, "0")
			_, _ = fmt.Fprint(w, len(r.Header[asksHeader]))
		})
		f := pair(t, g, nil, system)
		w := httptest.NewRecorder()
		began := time.Now()
		f.ServeHTTP(w, request(t, "/v1/A/b/c", tokens[0], major))
		const want = "node 1 asks clients for tokens, and node 2, which runs the actors, asks for none"
		if code, happened := w.Header().Get(httpdoor.CodeHeader), w.Header().Get(httpdoor.HappenedHeader); code != door.Closing || happened != string(door.No) || !strings.Contains(w.Body.String(), want) ||
			calls.Load() != 0 || len(w.Header()[asksHeader]) > 0 || time.Since(began) > 4*time.Second {
			t.Errorf("%v: %s; %d calls, after %v", w.Header(), w.Body, calls.Load(), time.Since(began))
		}

		elsewhere := New(Config{Here: func(event.StoreID) http.Handler { return nil }, Log: slog.New(slog.DiscardHandler)}) // the request goes on
		r := request(t, "/v1/A/b/c", tokens[0], 1)
		r.Header.Set(asksHeader, "1")
		w = httptest.NewRecorder()
		if elsewhere.Forwarded().ServeHTTP(w, r); w.Header().Get(httpdoor.CodeHeader) != door.Closing || len(w.Header()[asksHeader]) > 0 {
			t.Errorf("where the actors do not run: %v: %s", w.Header(), w.Body)
		}

		f = pair(t, nil, g, system) // its system finds the caller
		r = request(t, "/v1/A/b/c", "", major)
		r.Header.Set(asksHeader, "7") // as a client may
		w = httptest.NewRecorder()
		if f.ServeHTTP(w, r); calls.Load() != 1 || w.Body.String() != "0" {
			t.Errorf("%d calls: %s", calls.Load(), w.Body)
		}
	}
}

// stalled is a body that lacks its end. It arrives when the test is over.
type stalled struct {
	left    int
	waits   func() // called when nothing more comes
	over    <-chan struct{}
	waiting bool
}

// Read implements io.Reader.
func (s *stalled) Read(p []byte) (int, error) {
	if s.left == 0 {
		if !s.waiting {
			s.waiting = true
			s.waits()
		}
		<-s.over
		return 0, io.ErrUnexpectedEOF
	}
	n := min(len(p), s.left)
	s.left -= n
	return n, nil
}

// Arguments that do not arrive take no room from others: none if their caller is not known, and a part of it if it is, or if no caller is.
func TestArgumentsThatDoNotArrive(t *testing.T) {
	over := make(chan struct{})
	var group sync.WaitGroup
	defer func() {
		close(over)
		group.Wait()
	}()
	send := func(f *Front, path, token, remote string, body io.Reader, length int) *httptest.ResponseRecorder {
		r := request(t, path, token, 1)
		if path != "/v1/A/b/c" {
			r = request(t, path, token, 2)
		}
		if body != nil {
			r.Body, r.ContentLength = io.NopCloser(body), int64(length)
		}
		r.RemoteAddr = remote
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w
	}
	const requests = 80 // which would take the room of all
	// stall sends requests whose arguments do not arrive, one by one, and returns how many of them are waited for.
	stall := func(f *Front, path, token, remote string) (waiting int) {
		for range requests {
			waits := make(chan bool, 2)
			group.Go(func() {
				send(f, path, token, remote, &stalled{left: resendMax - 1, waits: func() { waits <- true }, over: over}, resendMax)
				waits <- false
			})
			if <-waits {
				waiting++
			}
		}
		return waiting
	}
	var calls atomic.Int32
	performs := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			calls.Add(1)
		}
		w.Header().Set(http.TrailerPrefix+statusHeader, "0")
	})
	g, tokens, _ := callers(t, "ann", "bob")
	f, open := pair(t, g, g, performs), pair(t, nil, nil, performs)
	const call, check, each = "/v1/A/b/c", healthService + "Check", keptMax / 4 / (resendMax - 1)
	for _, c := range []struct {
		what                string
		front               *Front
		path, token, remote string
		want                int // how many are waited for
		other               string
		from                string
	}{
		{"without a token", f, call, "", "192.0.2.1:1", 0, tokens[0], "192.0.2.1:1"},
		{"of a caller", f, call, tokens[0], "192.0.2.1:1", each, tokens[1], "192.0.2.1:1"},
		{"about the health", f, check, "", "192.0.2.1:1", requests, tokens[1], "192.0.2.1:1"},
		{"of a connection", open, call, "", "192.0.2.1:1", each, "", "192.0.2.1:2"},
	} {
		if got := stall(c.front, c.path, c.token, c.remote); got != c.want {
			t.Errorf("%s: %d requests are waited for, expected %d", c.what, got, c.want)
		}
		before := calls.Load()
		w := send(c.front, call, c.other, c.from, strings.NewReader(strings.Repeat("x", resendMax)), resendMax)
		if w.Code != http.StatusOK || calls.Load() != before+1 {
			t.Errorf("%s: beside them a request is answered %d %s", c.what, w.Code, w.Body)
		}
	}
}

// What performs a request that was forwarded, and so the audit, has the address of the client, and not that of the node between, whatever the client says.
func TestForwardedRequestsComeFromTheirClients(t *testing.T) {
	for _, major := range []int{1, 2} {
		f := pair(t, nil, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(http.TrailerPrefix+statusHeader, "0")
			_, _ = fmt.Fprint(w, r.RemoteAddr, r.Header[remoteHeader])
		}))
		r := request(t, "/v1/A/b/c", "", major)
		r.Header.Set(remoteHeader, "198.51.100.7:443")
		w := httptest.NewRecorder()
		if f.ServeHTTP(w, r); w.Body.String() != "192.0.2.1:1234[]" {
			t.Errorf("a request by HTTP/%d comes from %s", major, w.Body)
		}
	}
}
