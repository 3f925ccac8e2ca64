package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/internal/freeport"
)

// A request goes to one node after the other until it is answered. What is said at the end is true, whatever the nodes did.
func TestTry(t *testing.T) {
	lost, full := errors.New("lost"), &Error{Code: Unavailable, Happened: No}
	refused := &Error{Code: "unauthenticated", Happened: No}
	aborted := &Error{Code: "aborted", Happened: No, outcome: true}
	type step struct {
		outcome Outcome
		err     error
	}
	for _, c := range []struct {
		what  string
		again bool
		steps []step // the last one for ever
		want  error  // errors.Is; nil: none
		happ  Happened
		asked []int // the first nodes
	}{
		{"the first answers", true, []step{{Answered, nil}}, nil, "", []int{0}},
		{"the second answers", true, []step{{NotDone, lost}, {Answered, nil}}, nil, "", []int{0, 1}},
		{"after one that may have done it", true, []step{{MaybeDone, lost}, {Answered, nil}}, nil, "", []int{0, 1}},
		{"not again", false, []step{{MaybeDone, lost}, {Answered, nil}}, ErrUnknown, Unknown, []int{0}},
		{"not again, and not done", false, []step{{NotDone, lost}, {Answered, nil}}, nil, "", []int{0, 1}},
		{"none is there", true, []step{{NotDone, full}}, ErrUnavailable, No, []int{0, 1, 2, 0, 1, 2, 0}},
		{"one may have done it, and none is there", true, []step{{NotDone, lost}, {MaybeDone, lost}, {NotDone, full}}, ErrUnknown, Unknown, []int{0, 1, 2, 0}},
		{"the certificate of one is not trusted", true, []step{{Untrusted, lost}, {NotDone, lost}, {Untrusted, lost}, {Untrusted, lost}, {Answered, nil}}, nil, "", []int{0, 1, 2, 0, 1}},
		{"a refusal", true, []step{{NotDone, lost}, {Answered, refused}}, refused, No, []int{0, 1}},
		{"a refusal behind what may have been done", true, []step{{MaybeDone, lost}, {Answered, refused}}, nil, Unknown, []int{0, 1}},
		{"a refusal of what stands between, behind what may have been done", true, []step{{MaybeDone, lost}, {Answered, full}}, ErrUnknown, Unknown, []int{0, 1}},
		{"undone at the end of the time of the sending", true, []step{{Undone, lost}, {Answered, nil}}, nil, "", []int{0, 1}},
		{"undone each time", true, []step{{Undone, full}}, ErrUnavailable, No, []int{0, 1, 2, 0}},
		{"undone behind what may have been done", true, []step{{MaybeDone, lost}, {Undone, lost}}, ErrUnknown, Unknown, []int{0, 1, 2, 0}},
		{"the outcome behind what may have been done", true, []step{{MaybeDone, lost}, {Answered, aborted}}, aborted, No, []int{0, 1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := &Nodes{Count: 3}
			var asked []int
			began := time.Now()
			err := n.Try(t.Context(), c.again, func(_ context.Context, node int) (Outcome, error) {
				s := c.steps[min(len(asked), len(c.steps)-1)]
				asked = append(asked, node)
				return s.outcome, s.err
			})
			of, is := errors.AsType[*Error](err)
			switch {
			case c.want != nil && !errors.Is(err, c.want), c.want == nil && c.happ == "" && err != nil, is && of.Happened != c.happ:
				t.Errorf("%s: %v", c.what, err)
			case errors.Is(err, ErrUnavailable) && errors.Is(err, ErrUnknown):
				t.Errorf("%s: both", c.what)
			case !slices.Equal(asked[:min(len(asked), len(c.asked))], c.asked):
				t.Errorf("%s: the nodes %v were asked", c.what, asked)
			case errors.Is(err, ErrUnavailable) && (time.Since(began) < TimeMax-2*pauseMax || time.Since(began) > TimeMax || len(asked) > 500):
				t.Errorf("%s: given up after %v and %d tries", c.what, time.Since(began), len(asked))
			case err == nil && n.First() != asked[len(asked)-1]:
				t.Errorf("%s: node %d is asked first then", c.what, n.First())
			}
		})
	}
}

// A node that does not answer is left for another one, and a request that takes longer has its time in the end.
func TestSlowNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &Nodes{Count: 2}
		began := time.Now()
		err := n.Try(t.Context(), true, func(ctx context.Context, _ int) (Outcome, error) {
			select {
			case <-ctx.Done():
				return MaybeDone, ctx.Err()
			case <-time.After(25 * time.Second):
				return Answered, nil
			}
		})
		if took := time.Since(began); err != nil || took > time.Minute+time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
	synctest.Test(t, func(t *testing.T) { // a node that undoes the request, and says so before the time of the sending is over
		undone := errors.New("undone")
		for _, limit := range []time.Duration{TimeMax, 20 * time.Second} {
			n := &Nodes{Count: 2}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			began := time.Now()
			err := n.Try(ctx, true, func(ctx context.Context, _ int) (Outcome, error) {
				deadline, _ := ctx.Deadline()
				if left := time.Until(deadline); left < 25*time.Second {
					time.Sleep(left - time.Millisecond)
					return Undone, undone
				}
				time.Sleep(25 * time.Second)
				return Answered, nil
			})
			cancel()
			if took := time.Since(began); limit == TimeMax && (err != nil || took < 40*time.Second) || limit < TimeMax && (err != undone || took < 19*time.Second) {
				t.Errorf("within %v, after %v: %v", limit, took, err)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		n := &Nodes{Count: 2}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err := n.Try(ctx, true, func(ctx context.Context, _ int) (Outcome, error) {
			<-ctx.Done()
			return MaybeDone, ctx.Err()
		})
		if took := time.Since(began); !errors.Is(err, ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// Requests are those of docs/http.md.
func TestRequests(t *testing.T) {
	var keys []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		switch r.URL.Path {
		case "/v1/Bank/main/refuse":
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"code":"aborted","detail":"not enough","happened":"no","at":"bank.aeon:6","path":["a","b"]}`)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(fmt.Sprint(r.Method, " ", r.URL.RequestURI(), " ", r.Header.Get("Authorization"), " ", r.Header.Get("Content-Type"), " ", string(body)))
		}
	}))
	defer s.Close()
	c, err := New(Config{URLs: []string{"http://" + freeport.Address(t), s.URL + "/"}, Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	var got string
	if err := c.Call(t.Context(), "Bank/a/b", "open", map[string]any{"owner": "ann"}, &got); err != nil || got != `POST /v1/Bank/a%2Fb/open Bearer secret application/json {"owner":"ann"}` {
		t.Errorf("%s (%v)", got, err)
	}
	if err := c.Call(t.Context(), "Account:12:7", "close", nil, &got, Key("k")); err != nil || got != `POST /v1/Account/:12:7/close Bearer secret  ` {
		t.Errorf("%s (%v)", got, err)
	}
	args := map[string]any{"owner": "a&b", "n": 7, "tags": []string{"x"}, "none": nil}
	if err := c.Read(t.Context(), "Bank/main", "balance", args, &got); err != nil || got != `GET /v1/Bank/main/balance?n=7&owner=a%26b&tags=%5B%22x%22%5D Bearer secret  ` {
		t.Errorf("%s (%v)", got, err)
	}
	var raw json.RawMessage
	if err := c.Read(t.Context(), "Bank/main", "total", nil, &raw); err != nil || string(raw) != "\"GET /v1/Bank/main/total Bearer secret  \"\n" {
		t.Errorf("%s (%v)", raw, err)
	}
	if len(keys) != 4 || len(keys[0]) < 20 || keys[1] != "k" || keys[2] != "" {
		t.Errorf("the keys are %q", keys)
	}
	err = c.Call(t.Context(), "Bank/main", "refuse", nil, nil)
	if of, is := errors.AsType[*Error](err); !is || of.Code != "aborted" || of.Happened != No || of.At != "bank.aeon:6" || len(of.Path) != 2 || err.Error() != "not enough" {
		t.Errorf("%v", err)
	}
	var number int
	if err := c.Call(t.Context(), "Bank/main", "open", nil, &number); err == nil {
		t.Error("a text is read as a number")
	}
	for _, actor := range []string{"", "Bank", "Bank/", "Bank:", "/main"} {
		if err := c.Call(t.Context(), actor, "open", nil, nil); err == nil {
			t.Errorf("%q is an actor", actor)
		}
	}
	for _, urls := range [][]string{nil, {"127.0.0.1:8080"}, {"ftp://a"}, {"http://"}} {
		if _, err := New(Config{URLs: urls}); err == nil {
			t.Errorf("%q are taken", urls)
		}
	}
}

// Arguments of any size are read with: long ones go as the body, also by HTTP/2, where a head that is too long ends the connection. No error has them.
func TestLongReads(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode([]any{r.Method, r.Header.Get("Idempotency-Key"), r.Header.Get("Content-Type"), len(body), len(r.URL.RawQuery)})
	}))
	s.Config.MaxHeaderBytes, s.EnableHTTP2 = 16<<10, true
	s.StartTLS()
	defer s.Close()
	c, err := New(Config{URLs: []string{s.URL}, HTTP: s.Client()})
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]string{100: "[GET   0 107]", 64 << 10: "[POST  application/json 65549 0]"} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		var got []any
		if err := c.Read(ctx, "Bank/main", "balance", map[string]any{"number": strings.Repeat("1", size)}, &got); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%d bytes: %v, and should be %s (%v)", size, got, want, err)
		}
		cancel()
	}
	if c, err = New(Config{URLs: []string{"http://" + freeport.Address(t)}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := c.Read(ctx, "Bank/main", "balance", map[string]any{"owner": "secret"}, nil); !errors.Is(err, ErrUnavailable) || strings.Contains(err.Error(), "secret") {
		t.Errorf("no node is there: %v", err)
	}
}

// A call goes to the actor that it names, also by a name that a path takes for a step.
func TestNamesInPaths(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/{class}/{key}/{method}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode([]string{r.Method, r.PathValue("class"), r.PathValue("key"), r.PathValue("method")})
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	c, err := New(Config{URLs: []string{s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{".", "..", "...", ".a", "../..", "//", "a//b", "%2E%2E", "?", "#", " ", "é", "\xff"} {
		var got []string
		if err := c.Call(t.Context(), "shop.Bank/"+key, "open", nil, &got); err != nil || !slices.Equal(got, []string{"POST", "shop.Bank", strings.ToValidUTF8(key, "\ufffd"), "open"}) {
			t.Errorf("%q is called: %q (%v)", key, got, err)
		}
		if err := c.Read(t.Context(), "shop.Bank/"+key, "total", nil, &got); err != nil || !slices.Equal(got, []string{"GET", "shop.Bank", strings.ToValidUTF8(key, "\ufffd"), "total"}) {
			t.Errorf("%q is read: %q (%v)", key, got, err)
		}
	}
}

// What can never succeed is told at once: keys and tokens that no header carries, and certificates of all nodes that are not trusted.
func TestWhatCannotBeSent(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	synctest.Test(t, func(t *testing.T) { // whose clock stands still, but for pauses
		n, began, untrusted := &Nodes{Count: 2}, time.Now(), errors.New("not trusted")
		outcomes := []Outcome{NotDone, Untrusted, NotDone, Untrusted, Untrusted, Answered}
		err := n.Try(t.Context(), true, func(context.Context, int) (o Outcome, err error) {
			o, outcomes = outcomes[0], outcomes[1:]
			return o, untrusted
		})
		if !errors.Is(err, ErrUnavailable) || !errors.Is(err, untrusted) || len(outcomes) != 1 || time.Since(began) > pauseMax {
			t.Errorf("after %v, %d tries are left: %v", time.Since(began), len(outcomes), err)
		}
	})
	c, err := New(Config{URLs: []string{s.URL, s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err = c.Call(ctx, "Bank/main", "open", nil, nil)
	if _, is := errors.AsType[*tls.CertificateVerificationError](err); !is || !errors.Is(err, ErrUnavailable) || ctx.Err() != nil {
		t.Errorf("no certificate is trusted: %v", err)
	}
	for _, text := range []string{"a\n", "a\x00b", "\x7f"} {
		if _, err := New(Config{URLs: []string{s.URL}, Token: text}); err == nil || !strings.Contains(err.Error(), "the token has a control character") {
			t.Errorf("the token %q: %v", text, err)
		}
		if err := c.Call(ctx, "Bank/main", "open", nil, nil, Key(text)); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the key %q has a control character", text)) {
			t.Errorf("the key %q: %v", text, err)
		}
	}
}

// A client that no node answers says whether its call may have happened.
func TestNoAnswer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	c, err := New(Config{URLs: []string{"http://" + freeport.Address(t), "http://" + freeport.Address(t)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Call(ctx, "Bank/main", "open", nil, nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("no node is there: %v", err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer s.Close()
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if c, err = New(Config{URLs: []string{"http://" + freeport.Address(t), s.URL}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(ctx, "Bank/main", "open", nil, nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("a node has taken the call, and gone: %v", err)
	}
}

// transport is an http.RoundTripper that traces nothing.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Of a call whose transport does not tell whether it has sent it nothing is certain when its answer is lost.
func TestATransportThatTracesNothing(t *testing.T) {
	untrusted := &tls.CertificateVerificationError{Err: errors.New("nothing signs it")}
	for _, c := range []struct {
		fails, want error
	}{{errors.New("connection reset by peer"), ErrUnknown}, {untrusted, ErrUnavailable}} {
		fails := transport(func(*http.Request) (*http.Response, error) { return nil, c.fails })
		b, err := New(Config{URLs: []string{"http://127.0.0.1:1"}, HTTP: &http.Client{Transport: fails}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := b.Call(ctx, "Bank/main", "open", nil, nil); !errors.Is(err, c.want) || !errors.Is(err, c.fails) {
			t.Errorf("after %v: %v", c.fails, err)
		}
		cancel()
	}
}

// A program may have replaced the transport of package http: it is used as it is.
func TestAnotherDefaultTransport(t *testing.T) {
	was := http.DefaultTransport
	defer func() { http.DefaultTransport = was }()
	used := 0
	http.DefaultTransport = transport(func(r *http.Request) (*http.Response, error) {
		used++
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
	})
	c, err := New(Config{URLs: []string{"http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Call(t.Context(), "Bank/main", "open", nil, nil); err != nil || used != 1 {
		t.Errorf("used %d times: %v", used, err)
	}
}

// What stands between refuses a call. That it has not happened is true of the first sending alone, also if the second one is of package http itself,
// which sends a request with a key again when a connection breaks that it has used before.
func TestRefusedBetween(t *testing.T) {
	for _, kept := range []bool{false, true} {
		var sent, breaks atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if sent.Add(1) <= breaks.Load() {
				panic(http.ErrAbortHandler) // when it may have been performed
			}
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, "<html>slowly")
		}))
		defer s.Close()
		s.Config.SetKeepAlivesEnabled(kept)
		c, err := New(Config{URLs: []string{s.URL}})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []error{ErrUnavailable, ErrUnknown} {
			err := c.Call(t.Context(), "Bank/main", "open", nil, nil)
			if of, is := errors.AsType[*Error](err); !is || !errors.Is(err, want) || (of.Happened == No) != (want == ErrUnavailable) || sent.Load() != breaks.Load()+1 {
				t.Errorf("refused at sending %d, connections are kept: %v: %v", sent.Load(), kept, err)
			}
			breaks.Store(1)
			sent.Store(0)
		}
	}
}

// What stands between answers with a page, or redirects to one, or to a request without the arguments: what has become of the call is unknown.
func TestAnsweredBetween(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		switch {
		case r.URL.Path == "/v1/Bank/main/moved" && r.Method == http.MethodPost:
			http.Redirect(w, r, "/login", http.StatusFound)
		case r.URL.Path == "/v1/Bank/main/elsewhere" && r.Method == http.MethodPost:
			http.Redirect(w, r, r.URL.Path, http.StatusMovedPermanently) // https instead of http, say
		case r.URL.Path == "/v1/Bank/main/kept":
			http.Redirect(w, r, "/v1/Bank/main/count", http.StatusPermanentRedirect)
		case r.URL.Path == "/v1/Bank/main/stored":
			w.WriteHeader(http.StatusAccepted)
		case r.URL.Path == "/v1/Bank/main/close":
			w.WriteHeader(http.StatusNoContent)
			return
		case r.URL.Path == "/v1/Bank/main/page", r.URL.Path == "/login":
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = io.WriteString(w, "7")
	}))
	defer s.Close()
	c, err := New(Config{URLs: []string{s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"moved", "elsewhere", "page", "stored"} {
		for _, result := range []any{nil, new(int), new(json.RawMessage)} {
			err := c.Call(t.Context(), "Bank/main", method, map[string]any{"owner": "ann"}, result)
			if of, is := errors.AsType[*Error](err); !is || of.Happened != Unknown || !errors.Is(err, ErrUnknown) {
				t.Errorf("%s: %v", method, err)
			}
		}
	}
	if err := c.Read(t.Context(), "Bank/main", "page", nil, nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("a page instead of what is read: %v", err)
	}
	for method, want := range map[string]int{"count": 7, "kept": 7, "close": 0} {
		var got int
		if err := c.Call(t.Context(), "Bank/main", method, nil, &got); err != nil || got != want {
			t.Errorf("%s: %d (%v)", method, got, err)
		}
	}
}

// A server that expects TLS, and one that is no program, refuse a call: the error says what to write instead, or what to look at.
func TestWhatIsNoProgram(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no HTTPS here", http.StatusBadRequest) })
	quiet := log.New(io.Discard, "", 0)
	for _, c := range []struct {
		what  string
		start func(*httptest.Server)
		want  func(url string) string
	}{
		{"a server with TLS", (*httptest.Server).StartTLS, func(url string) string {
			return fmt.Sprintf("%s expects TLS: write %s", strings.Replace(url, "https", "http", 1), url)
		}},
		{"another server", (*httptest.Server).Start, func(url string) string {
			return fmt.Sprintf("the answer of %s is none of the program; its status is 400 Bad Request: is that the address of the program?", url)
		}},
	} {
		s := httptest.NewUnstartedServer(page)
		s.Config.ErrorLog = quiet
		c.start(s)
		program, err := New(Config{URLs: []string{strings.Replace(s.URL, "https", "http", 1)}})
		if err != nil {
			t.Fatal(err)
		}
		err = program.Call(t.Context(), "Book/b", "add", nil, nil)
		if of, is := errors.AsType[*Error](err); !is || of.Happened != No || !errors.Is(err, ErrUnavailable) || of.Msg != c.want(s.URL) {
			t.Errorf("%s: %v, want %s", c.what, err, c.want(s.URL))
		}
		s.Close()
	}
}
