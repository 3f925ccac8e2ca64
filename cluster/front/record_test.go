package front

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/spantree"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/span"
)

// A call that is forwarded is a span, and what the other node records of it is below that. What is served here, and what calls nothing, is none.
func TestForwardedCallsAreRecorded(t *testing.T) {
	var exported bytes.Buffer
	spans := span.Open(span.Config{Program: "p", Sink: &span.Lines{To: &exported}, Log: slog.New(slog.DiscardHandler)}) // what callers ask for
	var headers []string
	there := &places{}
	there.move(Place{Node: 2, Term: 1, Here: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers = append(headers, r.Header.Get("Traceparent"))
		w.WriteHeader(http.StatusAccepted)
	})})
	server := httptest.NewServer(newFront(there, time.Second, nil).Forwarded())
	defer server.Close()
	p := &places{}
	p.move(Place{Node: 2, Term: 1})
	dials := 0
	f := New(Config{Store: only, Locate: p.locate, Here: p.here, Ready: func() error { return nil }, Wait: time.Second, Log: slog.New(slog.DiscardHandler), Spans: spans,
		Dial: func(ctx context.Context, _ event.NodeID) (net.Conn, error) {
			if dials++; dials == 1 { // the second time it finds another leader
				go p.move(Place{Node: 3, Term: 2})
				return nil, &net.OpError{Op: "dial", Err: fmt.Errorf("it is not there")}
			}
			return new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(server.URL, "http://"))
		}})
	defer f.Close()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	get := func(path, parent string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		if parent != "" {
			r.Header.Set("Traceparent", parent)
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		if w.Code != http.StatusAccepted && w.Code != http.StatusOK {
			t.Fatalf("%s: %d, %s", path, w.Code, w.Body.String())
		}
	}
	asked, unasked := "00-"+trace+"-00f067aa0ba902b7-01", "00-"+trace+"-00f067aa0ba902b7-00"
	get("/v1/A/b/c", asked)
	get("/v1/A/b/c", unasked)
	get("/v1/A/b/c", "")
	get("/v1/clients/x/events", asked)
	get("/metrics", asked)
	var calls atomic.Int32
	p.move(Place{Node: 1, Term: 3, Here: system("here", &calls)})
	get("/v1/A/b/c", asked)
	spans.Close()
	list := spantree.Read(t, exported.Bytes())
	if len(list) != 1 {
		t.Fatalf("%d spans were exported: %s", len(list), exported.String())
	}
	s := list[0]
	if s.Trace != trace || s.Parent != "00f067aa0ba902b7" || s.GetName() != "forward GET /v1/{class}/{key}/{method}" ||
		s.Attribute("aeon.node") != "node3" || s.Attribute("aeon.sent") != "2" || s.Attribute("http.response.status_code") != "202" {
		t.Errorf("the span is %s", exported.String())
	}
	if want := "00-" + trace + "-" + s.ID + "-01"; headers[0] != want {
		t.Errorf("the node was told %s, want %s", headers[0], want)
	}
	if span.Parse(headers[1:2], nil).Sampled || !strings.HasPrefix(headers[1], "00-"+trace) || headers[2] == "" || span.Parse(headers[2:3], nil).Sampled {
		t.Errorf("of calls that are not recorded the node was told %s", headers[1:3])
	}
	if headers[3] != asked || headers[4] != asked {
		t.Errorf("what calls nothing has got %s", headers[3:])
	}
}
