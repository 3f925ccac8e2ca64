package door

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/spantree"
	"github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

const (
	traceText  = "0af7651916cd43dd8448eb211c80319c"
	parentText = "b7ad6b7169203331"
	parent     = "00-" + traceText + "-" + parentText + "-01"
)

// recordedShop opens the program with a tracer that writes to lines, of a share of the traces.
func recordedShop(t *testing.T, lines io.Writer, share float64) (*served, *span.Tracer) {
	t.Helper()
	tracer := span.Open(span.Config{Program: "shop", Store: "s", Sample: share, Sink: &span.Lines{To: lines}, Log: discard})
	t.Cleanup(tracer.Close)
	return openWith(t, &shop.AeonPackage, door.RemoteLimits{}, runtime.RealClock{}, func(c *runtime.Config) { c.Spans = tracer }), tracer
}

// withoutWaits returns the spans without those of waiting for the store, which come if it is slow.
func withoutWaits(list []*spantree.Span) []*spantree.Span {
	return slices.DeleteFunc(list, func(s *spantree.Span) bool { return s.GetName() == string(span.ForDurability) })
}

// The caller of a door is the parent of its call, by HTTP and by gRPC, if it has said so as W3C Trace Context has it; else the call begins a trace. What
// fails has its place.
func TestCallersAreParentsOfSpans(t *testing.T) {
	var lines bytes.Buffer
	s, tracer := recordedShop(t, &lines, 1)
	r := s.dial(httpdoor.Config{})
	s.post("/v1/Shop/main/count", "{}", "traceparent", parent, "tracestate", "a=1")
	s.ask("GET", "/v1/Shop/main/total", "", "traceparent", parent[:54])
	s.ask("GET", "/v1/Shop/main/divide?a=1&b=0", "", "traceparent", parent[:53]+"00") // its caller does not record it
	s.ask("GET", "/v1/Shop/other/divide?a=1&b=0", "", "traceparent", parent)
	s.post("/v1/Shop/main/no", "{}", "traceparent", parent)
	s.post("/v1/Shop/main/later", `{"n": 1}`)
	if _, err := r.call("shop.Shop/count", `{"key":"main"}`, "traceparent", parent); err != nil {
		t.Error(err)
	}
	if _, err := r.call("shop.Shop/total", `{"key":"main"}`, "traceparent", "00-"+strings.Repeat("0", 32)+parent[35:]); err != nil {
		t.Error(err)
	}
	s.sys.Close()
	tracer.Close()
	list := withoutWaits(spantree.Read(t, lines.Bytes()))
	of := parentText + " of " + traceText + "\n"
	want := "Shop.count Shop/main <- Shop.later\n" + of + "  server GET /v1/Shop/{key}/divide\n    Shop.divide Shop/other failed: division by zero\n      Shop.Shop Shop/other\n" +
		of + "  server POST /v1/Shop/{key}/count\n    Shop.count Shop/main\n      Shop.Shop Shop/main\n" +
		of + "  server POST /v1/{class}/{key}/{method}\n" +
		of + "  server shop.Shop/count\n    Shop.count Shop/main\n" +
		"server GET /v1/Shop/{key}/total\n  Shop.total Shop/main\n" +
		"server POST /v1/Shop/{key}/later\n  Shop.later Shop/main\n" +
		"server shop.Shop/total\n  Shop.total Shop/main\n"
	if got := spantree.Trees(list); got != want {
		t.Errorf("the spans are\n%s\nwant\n%s", got, want)
	}
	for _, x := range list {
		at, code, state := x.Attribute("aeon.at"), x.Attribute("http.response.status_code")+x.Attribute("rpc.grpc.status_code"), x.GetTraceState()
		switch name := x.GetName(); {
		case strings.HasPrefix(name, "Shop.") && at != "" != strings.HasPrefix(name, "Shop.divide"), at != "" && !strings.HasPrefix(at, "shop_aeon.go:"):
			t.Errorf("%s is at %q", name, at)
		case strings.HasPrefix(name, "GET") && code != map[bool]string{true: "422", false: "200"}[strings.HasSuffix(name, "divide")], strings.HasSuffix(name, "{method}") && code != "404",
			strings.HasPrefix(name, "shop.") && code != "0":
			t.Errorf("%s has answered %q", name, code)
		case name == "POST /v1/Shop/{key}/count" && state != "a=1":
			t.Errorf("%s has the state %q", name, state)
		}
	}
}

// With a share of 0 only what callers record is recorded.
func TestCallersDecideWhatIsRecorded(t *testing.T) {
	var lines bytes.Buffer
	s, tracer := recordedShop(t, &lines, 0)
	s.listen(httpdoor.Config{})
	s.post("/v1/Shop/main/count", "{}")
	s.post("/v1/Shop/main/count", "{}", "traceparent", parent)
	s.sys.Close()
	tracer.Close()
	want := parentText + " of " + traceText + "\n  server POST /v1/Shop/{key}/count\n    Shop.count Shop/main\n"
	if got := spantree.Trees(withoutWaits(spantree.Read(t, lines.Bytes()))); got != want {
		t.Errorf("the spans are\n%s\nwant\n%s", got, want)
	}
}

// A call with a key that comes again is a span without an event.
func TestRepetitionsAreSpansWithoutEvents(t *testing.T) {
	var lines bytes.Buffer
	s, tracer := recordedShop(t, &lines, 1)
	s.listen(httpdoor.Config{})
	for range 2 {
		s.post("/v1/Shop/main/count", "{}", "Idempotency-Key", "k")
	}
	s.sys.Close()
	tracer.Close()
	got := spantree.Trees(withoutWaits(spantree.Read(t, lines.Bytes())))
	if strings.Count(got, "server POST") != 2 || strings.Count(got, "Shop.count") != 1 {
		t.Errorf("the spans are\n%s", got)
	}
}

// A collector that hangs, or is not there, delays neither calls nor the end of the program by more than its time; what is lost is counted.
func TestProgramsDoNotWaitForCollectors(t *testing.T) {
	t.Parallel()
	exe := build(t)
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client goes
		<-r.Context().Done()
	}))
	defer hanging.Close()
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	defer failing.Close()
	absent := httptest.NewServer(nil)
	absent.Close()
	for _, url := range []string{hanging.URL, failing.URL, absent.URL} {
		p := start(t, exe, t.TempDir(), "--spans", url)
		for range 50 {
			began := time.Now()
			if got := post(t, p.url+"/v1/Shop/main/count"); !strings.HasPrefix(got, "200") {
				t.Fatalf("a call is answered %s", got)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("a call has taken %v", took)
			}
		}
		began := time.Now()
		p.end(t)
		if took := time.Since(began); took > span.CloseMax+8*time.Second {
			t.Errorf("the program has ended after %v", took)
		}
	}
}

// post sends a request without arguments, and returns the status and the body of its answer.
func post(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Post(url, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status + " " + string(body)
}

// end interrupts the program, which ends in order.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-p.said
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the program has ended with %v", err)
	}
}

// A program exports to a collector and to a file, over two runs, in which the ids of what was issued in the first are known; its figures count what it has exported.
func TestProgramsExport(t *testing.T) {
	t.Parallel()
	exe := build(t)
	var mu sync.Mutex
	var requests bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("a request to %s of %s", r.URL, r.Header.Get("Content-Type"))
		}
		_, _ = requests.ReadFrom(r.Body) // what is missing is seen
		requests.WriteByte('\n')
		_, _ = io.WriteString(w, "{}")
	}))
	defer collector.Close()
	file := filepath.Join(t.TempDir(), "spans.jsonl")
	for _, place := range []string{collector.URL, file} {
		dir := t.TempDir()
		for range 2 {
			p := start(t, exe, dir, "--spans", place)
			if got := post(t, p.url+"/v1/Shop/main/count"); !strings.HasPrefix(got, "200") {
				t.Fatalf("a call is answered %s", got)
			}
			answer, err := http.Get(p.url + "/metrics")
			if err != nil {
				t.Fatal(err)
			}
			figures, err := io.ReadAll(answer.Body)
			if err := errors.Join(err, answer.Body.Close()); err != nil || !strings.Contains(string(figures), "\naeon_spans_exported_total ") || !strings.Contains(string(figures), "\naeon_spans_dropped_total 0\n") {
				t.Errorf("the figures are %s, %v", figures, err)
			}
			p.end(t)
		}
		mu.Lock()
		got := bytes.Clone(requests.Bytes())
		mu.Unlock()
		if place == file {
			var err error
			if got, err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
		list := spantree.Read(t, got)
		want := "server POST /v1/Shop/{key}/count\n  Shop.count Shop/main\n" + "server POST /v1/Shop/{key}/count\n  Shop.count Shop/main\n    Shop.Shop Shop/main\n"
		list = withoutWaits(list)
		if text := spantree.Trees(list); text != want || list[0].Service != "shop" {
			t.Errorf("%s: the spans of %s are\n%s\nwant\n%s", place, list[0].Service, text, want)
		}
	}
}
