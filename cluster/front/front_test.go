package front

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// places is where the system runs, as a test says.
type places struct {
	mu      sync.Mutex
	at      Place
	over    chan struct{}
	changed chan struct{}
}

func (p *places) move(at Place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over != nil {
		close(p.over)
		close(p.changed)
	}
	p.over, p.changed = make(chan struct{}), make(chan struct{})
	at.Over = p.over
	p.at = at
}

func (p *places) locate(ctx context.Context, _ event.StoreID, after Place) (Place, error) {
	for {
		p.mu.Lock()
		at, changed := p.at, p.changed
		p.mu.Unlock()
		if at.Node != 0 && (at.Node != after.Node || at.Term != after.Term) {
			return at, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return at, ctx.Err()
		}
	}
}

func (p *places) here(event.StoreID) http.Handler {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at.Here
}

// only is the store of all requests.
func only(*http.Request) event.StoreID { return 0 }

// system answers with its name, or as it is told.
func system(name string, calls *atomic.Int32) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		b, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s:%s", name, b)
	})
}

// fails answers a request by gRPC with a failure, as one by HTTP with a status of gRPC.
func fails(w http.ResponseWriter, err error) (code uint32) {
	const unavailable = 14
	w.Header().Set(statusHeader, "14")
	httpdoor.Fail(w, err)
	return unavailable
}

// ended answers as a system does whose store has failed.
func ended(err error, calls *atomic.Int32) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		httpdoor.Fail(w, err)
	})
}

func post(t *testing.T, f *Front, key string) (int, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/A/b/c", strings.NewReader("args"))
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func newFront(p *places, wait time.Duration, dial func(context.Context, event.NodeID) (net.Conn, error)) *Front {
	return New(Config{Store: only, Locate: p.locate, Here: p.here, Dial: dial, Ready: func() error { return nil }, Wait: wait, Log: slog.New(slog.DiscardHandler)})
}

func TestARequestGoesToTheNextSystem(t *testing.T) {
	var first, second atomic.Int32
	for _, c := range []struct {
		what   string
		err    error
		key    string
		status int
		text   string
	}{
		{"it has not happened", event.ErrClosed, "", http.StatusOK, "next:args"},
		{"it may have happened, and has a key", &event.UnknownError{}, "k", http.StatusOK, "next:args"},
		{"it may have happened", &event.UnknownError{}, "", http.StatusServiceUnavailable, `"happened":"unknown"`},
		{"the same request is under way", event.ErrUnderWay, "k", http.StatusServiceUnavailable, `"happened":"unknown"`},
		{"a chain has begun", event.ErrPostponed, "", http.StatusServiceUnavailable, `"happened":"begun"`},
		{"a chain has begun, and has a key", event.ErrPostponed, "k", http.StatusOK, "next:args"},
	} {
		p := &places{}
		p.move(Place{Node: 1, Term: 1, Here: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ended(c.err, &first).ServeHTTP(w, r)
			p.move(Place{Node: 1, Term: 2, Here: system("next", &second)})
		})})
		if status, text := post(t, newFront(p, time.Second, nil), c.key); status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d, %s", c.what, status, text)
		}
	}
	if first.Load() != 6 || second.Load() != 3 {
		t.Errorf("%d and %d calls", first.Load(), second.Load())
	}
}

// What one system may have done is not undone by another one that has no room for it.
func TestARequestThatMayHaveHappenedStaysSo(t *testing.T) {
	var calls atomic.Int32
	p := &places{}
	p.move(Place{Node: 1, Term: 1, Here: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ended(&event.UnknownError{}, &calls).ServeHTTP(w, r)
		p.move(Place{Node: 1, Term: 2, Here: ended(door.Refuse(door.Full, "too many"), &calls)})
	})})
	if status, text := post(t, newFront(p, 50*time.Millisecond, nil), "k"); status != http.StatusServiceUnavailable || !strings.Contains(text, `"happened":"unknown"`) || calls.Load() != 2 {
		t.Errorf("%d, %s, %d calls", status, text, calls.Load())
	}
	if status, text := post(t, newFront(p, 50*time.Millisecond, nil), "k"); status != http.StatusServiceUnavailable || !strings.Contains(text, `"code":"full"`) {
		t.Errorf("%d, %s", status, text)
	}
}

func TestARequestWaitsForASystem(t *testing.T) {
	p := &places{changed: make(chan struct{}), over: make(chan struct{})}
	f := newFront(p, 50*time.Millisecond, nil)
	if status, text := post(t, f, "k"); status != http.StatusServiceUnavailable || !strings.Contains(text, `"happened":"no"`) {
		t.Errorf("%d, %s", status, text)
	}
	f = newFront(p, 10*time.Second, nil)
	var calls atomic.Int32
	go p.move(Place{Node: 1, Term: 1, Here: system("it", &calls)})
	if status, text := post(t, f, ""); status != http.StatusOK || text != "it:args" {
		t.Errorf("%d, %s", status, text)
	}
}

// What a request is for is looked for when it is known which stores there are; as long as it is not, the request has not happened.
func TestARequestWaitsForTheStores(t *testing.T) {
	for _, major := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			var stores atomic.Uint32
			known, asked := make(chan struct{}), make(chan event.StoreID, 1)
			last := func() event.StoreID { return event.StoreID(max(stores.Load(), 1) - 1) }
			f := New(Config{Wait: time.Second, Log: slog.New(slog.DiscardHandler),
				Store: func(*http.Request) event.StoreID { return last() },
				GRPC:  &GRPC{Fail: fails, Reads: func(string) bool { return false }, Store: func(string, []byte) event.StoreID { return last() }},
				Known: func(ctx context.Context) error {
					select {
					case <-known:
						return nil
					case <-ctx.Done():
						return errors.New("no stores are known")
					}
				},
				Locate: func(_ context.Context, of event.StoreID, _ Place) (Place, error) {
					asked <- of
					return Place{Node: 1, Term: 1, Here: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set(http.TrailerPrefix+statusHeader, "0")
						w.WriteHeader(http.StatusOK)
					})}, nil
				},
			})
			w := httptest.NewRecorder()
			f.ServeHTTP(w, request(t, "/v1/A/b/c", "", major))
			if text := w.Body.String(); len(asked) > 0 || !strings.Contains(text, "no stores are known") || w.Header().Get(httpdoor.HappenedHeader) != string(door.No) {
				t.Fatalf("HTTP/%d: %d systems were looked for: %s", major, len(asked), text)
			}
			time.AfterFunc(500*time.Millisecond, func() {
				stores.Store(4)
				close(known)
			})
			w = httptest.NewRecorder()
			f.ServeHTTP(w, request(t, "/v1/A/b/c", "", major))
			if of := <-asked; of != 3 || w.Code != http.StatusOK {
				t.Errorf("HTTP/%d: the request goes to store %d, expected 3: %d %s", major, of, w.Code, w.Body)
			}
		})
	}
}

// A request that another node does not answer is sent again when a third one has taken over.
func TestAPausedNode(t *testing.T) {
	var calls atomic.Int32
	p := &places{}
	silent := make(chan net.Conn, 1)
	f := newFront(p, 10*time.Second, func(context.Context, event.NodeID) (net.Conn, error) {
		here, there := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, there) }() // it reads, and never answers
		silent <- there
		return here, nil
	})
	p.move(Place{Node: 2, Term: 1})
	go func() {
		<-silent
		p.move(Place{Node: 1, Term: 2, Here: system("it", &calls)})
	}()
	if status, text := post(t, f, "k"); status != http.StatusOK || text != "it:args" || calls.Load() != 1 {
		t.Errorf("%d, %s, %d calls", status, text, calls.Load())
	}
}

// What is forwarded is served here, or not at all.
func TestForwarded(t *testing.T) {
	var calls atomic.Int32
	there := &places{}
	there.move(Place{Node: 2, Term: 1, Here: system("there", &calls)})
	other := newFront(there, time.Second, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: other.Forwarded()}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	p := &places{}
	p.move(Place{Node: 2, Term: 1})
	f := newFront(p, time.Second, func(ctx context.Context, _ event.NodeID) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", l.Addr().String())
	})
	defer f.Close()
	if status, text := post(t, f, ""); status != http.StatusOK || text != "there:args" {
		t.Errorf("%d, %s", status, text)
	}
	there.move(Place{Node: 3, Term: 2})
	if status, text := post(t, f, ""); status != http.StatusServiceUnavailable || !strings.Contains(text, `"happened":"no"`) {
		t.Errorf("%d, %s", status, text)
	}
}

// A system that has waited for another store is not asked again: the client is told which store is away, and what to do.
func TestAStoreThatIsAway(t *testing.T) {
	var calls atomic.Int32
	p := &places{}
	p.move(Place{Node: 1, Term: 1, Here: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		fails(w, &event.AwayError{Store: 2})
	})})
	f := newFront(p, time.Second, nil)
	f.cfg.GRPC = &GRPC{Fail: fails, Reads: func(string) bool { return false }, Store: func(string, []byte) event.StoreID { return 0 }}
	for _, major := range []int{1, 2} {
		calls.Store(0)
		w := httptest.NewRecorder()
		f.ServeHTTP(w, request(t, "/v1/A/b/c", "", major))
		if text := w.Body.String(); !strings.Contains(text, "store 2 is away") || !strings.Contains(text, "aeond status") || w.Header().Get(httpdoor.HappenedHeader) != string(door.No) || calls.Load() != 1 {
			t.Errorf("HTTP/%d: %s, after %d calls", major, text, calls.Load())
		}
	}
}

// The front that takes a request says which store it is for, by HTTP and by gRPC, and the one that it is forwarded to believes that front alone.
func TestForwardedRequestsTellTheStore(t *testing.T) {
	asked := make(chan event.StoreID, 1)
	there := New(Config{Log: slog.New(slog.DiscardHandler), Here: func(of event.StoreID) http.Handler {
		asked <- of
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			w.Header().Set(http.TrailerPrefix+statusHeader, "0")
			_, _ = fmt.Fprintf(w, "%s%s", b, r.Header.Get(storeHeader))
		})
	}})
	server := &http.Server{Handler: there.Forwarded(), Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	var at [8]places
	for i := range at {
		at[i].move(Place{Node: event.NodeID(i), Term: 1})
	}
	f := New(Config{
		Log: slog.New(slog.DiscardHandler), Wait: time.Second,
		Store: func(r *http.Request) event.StoreID { return event.StoreID(len(r.URL.Path)) },
		Locate: func(ctx context.Context, of event.StoreID, after Place) (Place, error) {
			return at[of].locate(ctx, of, after)
		},
		GRPC: &GRPC{Reads: func(string) bool { return true }, Store: func(path string, message []byte) event.StoreID { return event.StoreID(len(message)) }},
		Dial: func(ctx context.Context, _ event.NodeID) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		},
	})
	defer f.Close()
	const frame = "\x00\x00\x00\x00"
	for _, c := range []struct {
		path, body string
		major      int
		want       event.StoreID
	}{
		{"/v1", "args", 1, 3},
		{"/v1/A", "args", 1, 5},
		{"/p.C/m", frame + "\x02ab", 2, 2},
		{"/p.C/m", frame + "\x07abcdefg", 2, 7},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.path, strings.NewReader(c.body))
		r.Header.Set(storeHeader, "1")
		if r.ProtoMajor = c.major; c.major == 2 {
			r.Header.Set("Content-Type", "application/grpc")
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		select {
		case of := <-asked:
			if of != c.want || w.Body.String() != c.body {
				t.Errorf("%s %q: the request goes to store %d, expected %d, and is answered %q", c.path, c.body, of, c.want, w.Body.String())
			}
		default:
			t.Errorf("%s %q: %d %s", c.path, c.body, w.Code, w.Body.String())
		}
	}
}

// A request that is forwarded keeps its query as it was sent: without a pair that cannot be read it would call with other arguments, and not be refused.
func TestForwardedRequestsKeepTheirQuery(t *testing.T) {
	there := &places{}
	there.move(Place{Node: 2, Term: 1, Here: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.RawQuery) })})
	other := New(Config{Store: only, Locate: there.locate, Here: there.here, Log: slog.New(slog.DiscardHandler)})
	server := httptest.NewServer(other.Forwarded())
	defer server.Close()
	p := &places{}
	p.move(Place{Node: 2, Term: 1})
	f := newFront(p, time.Second, func(ctx context.Context, _ event.NodeID) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
	})
	defer f.Close()
	for _, query := range []string{"", "cents=100&size=LARGE", "cents=100&size=LARGE%", "a=1;b=2&c=3", "%zz", "x=%2B+y&&=", "b=2&a=1&b=3"} {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/Shop/main/cheap?"+query, nil))
		if got := w.Body.String(); w.Code != http.StatusOK || got != query {
			t.Errorf("%q: %d, and the query is %q", query, w.Code, got)
		}
	}
}

// A request that is forwarded brings the time of the node that forwards it. One from a node whose clock is far ahead is not served.
func TestForwardedRequestsTellTheTime(t *testing.T) {
	var here, ahead fixed
	here.at = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	ahead.at = here.at.Add(3 * time.Second)
	var calls atomic.Int32
	there := &places{}
	there.move(Place{Node: 2, Term: 1, Here: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		_, _ = fmt.Fprint(w, len(r.Header[timeHeader]))
	})})
	clock := sched.NewHybrid(&here)
	other := New(Config{Store: only, Locate: there.locate, Here: there.here, Clock: clock, Log: slog.New(slog.DiscardHandler)})
	server := httptest.NewServer(other.Forwarded())
	defer server.Close()
	p := &places{}
	p.move(Place{Node: 2, Term: 1})
	f := New(Config{Store: only, Locate: p.locate, Here: p.here, Wait: time.Second, Clock: sched.NewHybrid(&ahead), Log: slog.New(slog.DiscardHandler), Dial: func(ctx context.Context, _ event.NodeID) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", server.Listener.Addr().String())
	}})
	defer f.Close()
	if status, text := post(t, f, ""); status != http.StatusOK || text != "0" || !clock.Now().Equal(ahead.at) {
		t.Errorf("%d, %q times in the request, and the clock has %v", status, text, clock.Now())
	}
	ahead.at = here.at.Add(time.Minute)
	if status, text := post(t, f, ""); status != http.StatusServiceUnavailable || calls.Load() != 1 || clock.Now().After(here.at.Add(3*time.Second)) {
		t.Errorf("%d %s; %d calls, and the clock has %v", status, text, calls.Load(), clock.Now())
	}
}

// fixed is a clock that stands.
type fixed struct{ at time.Time }

func (f *fixed) Now() time.Time { return f.at }

// What is left of a request's time is what the next system gives it.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for text, want := range map[string]string{
			"": "", "2S": "1750000u", "2000m": "1750000u", "200m": "0u", "1H": "3599750m", "99999999H": "99999999H", "30000H": "107999999S", "5": "5", "xS": "xS", "-1S": "-1S", "1d": "1d",
		} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/p.C/m", nil)
			if text != "" {
				r.Header.Set(timeoutHeader, text)
			}
			deadline := deadlineOf(r)
			time.Sleep(250 * time.Millisecond)
			if setDeadline(r, deadline); r.Header.Get(timeoutHeader) != want {
				t.Errorf("%q becomes %q, expected %q", text, r.Header.Get(timeoutHeader), want)
			}
		}
	})
}

// A call that waits for a system is answered while its client still listens, however little time it has left.
func TestCallsAreAnsweredEarly(t *testing.T) {
	const ms = time.Millisecond
	for left, want := range map[time.Duration]time.Duration{3000 * ms: 2750 * ms, 500 * ms: 250 * ms, 251 * ms: ms, 250 * ms: 0, 90 * ms: 0, -5 * ms: 0} {
		if got := early(left); got != want {
			t.Errorf("with %v left a call waits for %v, expected %v", left, got, want)
		}
	}
}

// A request that was carried by a connection may have happened, also if the transport has sent it again by itself, and had no connection then.
func TestACarriedRequestIsUnknown(t *testing.T) {
	p := &places{}
	dials := 0
	f := newFront(p, 100*time.Millisecond, func(context.Context, event.NodeID) (net.Conn, error) {
		if dials++; dials > 1 {
			return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
		}
		here, there := net.Pipe()
		go func() { // answers one request, and takes another one
			defer there.Close()
			from := bufio.NewReader(there)
			for i := range 2 {
				r, err := http.ReadRequest(from)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if i == 0 {
					_, _ = io.WriteString(there, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nit")
				}
			}
		}()
		return here, nil
	})
	p.move(Place{Node: 2, Term: 1})
	ask := func() (int, string) { // without a body, so that the transport may send it again
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/A/b/c", http.NoBody)
		r.Header.Set("Idempotency-Key", "k")
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	if status, text := ask(); status != http.StatusOK || text != "it" {
		t.Fatalf("%d, %s", status, text)
	}
	if status, text := ask(); status != http.StatusServiceUnavailable || !strings.Contains(text, `"happened":"unknown"`) || dials < 2 {
		t.Errorf("%d, %s, %d dials", status, text, dials)
	}
}

// The headers of an answer by gRPC that has its status there are sent when the answer ends, though a proxy flushes them before. Those of other answers are sent then.
func TestTheStatusOfACallComesWithTheEnd(t *testing.T) {
	for status, early := range map[string]bool{"14": false, "": true} {
		p := &places{}
		p.move(Place{Node: 1, Term: 1, Here: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if status != "" {
				w.Header().Set(statusHeader, status)
			} else {
				defer w.Header().Set(http.TrailerPrefix+statusHeader, "0")
			}
			w.WriteHeader(http.StatusOK)
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
		})})
		f := newFront(p, time.Second, nil)
		f.cfg.GRPC = &GRPC{Reads: func(string) bool { return true }, Store: func(string, []byte) event.StoreID { return 0 }}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/shop.Shop/count", http.NoBody)
		r.ProtoMajor = 2
		r.Header.Set("Content-Type", "application/grpc")
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.Flushed != early {
			t.Errorf("status %q: its headers come before the end: %v", status, w.Flushed)
		}
	}
}
