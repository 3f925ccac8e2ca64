package front

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
)

// A request is sent again with the body that it had, or not at all: one that is not kept may be sent again while nothing has read it.
func TestARequestIsSentAgainWithItsBody(t *testing.T) {
	large := strings.Repeat("x", resendMax+1)
	for _, c := range []struct {
		what, body string
		length     int64 // -1: it is not announced
		grpc       bool
		read       int64 // bytes, by the first system
		next       bool  // the second one gets it
	}{
		{"announced", "args", 4, false, 4, true},
		{"not announced", "args", -1, false, 4, true},
		{"without any", "", 0, false, 1, true},
		{"large", large, resendMax + 1, false, 0, true},
		{"large, and read", large, resendMax + 1, false, 1, false},
		{"large, not announced", large, -1, false, 0, true},
		{"large, not announced, and read", large, -1, false, 1, false},
		{"a stream by gRPC", "args", -1, true, 0, true},
		{"a stream by gRPC that was read", "args", -1, true, 4, false},
	} {
		p, calls := &places{}, atomic.Int32{}
		p.move(Place{Node: 1, Term: 1, Here: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.CopyN(io.Discard, r.Body, c.read); err != nil && err != io.EOF {
				t.Error(err)
			}
			httpdoor.Fail(w, event.ErrClosed)
			p.move(Place{Node: 1, Term: 2, Here: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				b, err := io.ReadAll(r.Body)
				w.Header().Set(http.TrailerPrefix+statusHeader, "0")
				_, _ = fmt.Fprintf(w, "%d bytes, %v", len(b), err)
			})})
		})})
		f := newFront(p, time.Second, nil)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/A/b/c", strings.NewReader(c.body))
		if r.ContentLength = c.length; c.length == 0 {
			r.Body = http.NoBody
		}
		if c.grpc {
			f.cfg.GRPC = &GRPC{Fail: fails, Reads: func(string) bool { return false }, Store: func(string, []byte) event.StoreID { return 0 }}
			r.URL.Path, r.ProtoMajor = ownServices+"reflection.v1.ServerReflection/ServerReflectionInfo", 2
			r.Header.Set("Content-Type", "application/grpc")
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		got, want, times := w.Body.String(), fmt.Sprintf("%d bytes, <nil>", len(c.body)), int32(1)
		if !c.next {
			got, want, times = w.Header().Get(httpdoor.CodeHeader)+" "+w.Header().Get(httpdoor.HappenedHeader), door.Closing+" no", 0
		}
		if got != want || calls.Load() != times {
			t.Errorf("%s: %d %q, and %d calls of the next system", c.what, w.Code, got, calls.Load())
		}
	}
}

// A connection that reads the body of a request after its sending has ended takes nothing from the next one.
func TestASendingThatHasEndedReadsNothing(t *testing.T) {
	r := &http.Request{}
	rest := io.NopCloser(strings.NewReader("args"))
	first := load(r, nil, rest)
	late := r.Body
	if !first() {
		t.Error("a body that nothing has read is not intact")
	}
	second := load(r, nil, rest)
	if n, err := late.Read(make([]byte, 1)); n != 0 || err != errEnded {
		t.Errorf("%d bytes, %v", n, err)
	}
	if b, err := io.ReadAll(r.Body); string(b) != "args" || err != nil || second() {
		t.Errorf("%q, %v", b, err)
	}
}

// The arguments that a front keeps have a limit for all requests together, by both protocols. They take room as they arrive, and until their request has ended.
func TestArgumentsOfAllRequestsAreBounded(t *testing.T) {
	p, calls := &places{}, atomic.Int32{}
	var during func() // the call
	p.move(Place{Node: 1, Term: 1, Here: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if during != nil {
			during()
		}
		w.Header().Set(http.TrailerPrefix+statusHeader, "0")
		_, _ = io.WriteString(w, "it")
	})})
	f := newFront(p, time.Second, nil)
	f.cfg.GRPC = &GRPC{Fail: fails, Reads: func(string) bool { return false }, Store: func(string, []byte) event.StoreID { return 0 }}
	send := func(path string, length int64, body io.Reader) string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, body)
		r.ContentLength = length
		if path == "/p.C/m" {
			r.ProtoMajor = 2
			r.Header.Set("Content-Type", "application/grpc")
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w.Header().Get(httpdoor.CodeHeader) + w.Header().Get(httpdoor.HappenedHeader)
	}
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, expected %q", what, got, want)
		}
	}
	const full = door.Full + "no"
	_ = f.kept.Take(gate.SourceOf(nil, "others"), keptMax-8, keptMax, keptMax)
	for _, path := range []string{"/v1/A/b/c", "/p.C/m"} {
		want("too many bytes", send(path, 9, strings.NewReader("123456789")), full)
		want("too many bytes that are not announced", send(path, -1, strings.NewReader("123456789")), full)
		during = func() {
			during = nil
			want("one more byte while a call is under way", send(path, 1, strings.NewReader("1")), full)
		}
		want("as many as there is room for", send(path, 8, strings.NewReader("12345678")), "")
		want("again, after it has ended", send(path, 8, strings.NewReader("12345678")), "")
		announced := &asking{func() { want("beside one that is only announced", send(path, 8, strings.NewReader("12345678")), "") }}
		want("one that is announced", send(path, 1000, announced), "")
	}
	if n, sources := f.kept.Taken(); n != keptMax-8 || sources != 1 || calls.Load() != 8 {
		t.Errorf("requests that have ended take %d bytes of %d sources, after %d calls", n-keptMax+8, sources-1, calls.Load())
	}
}

// asking is an empty body that does something when it is read.
type asking struct{ do func() }

func (a *asking) Read([]byte) (int, error) {
	a.do()
	return 0, io.EOF
}
