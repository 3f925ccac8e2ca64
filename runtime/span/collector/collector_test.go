package collector

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/span"
	"go.uber.org/goleak"
)

// TestMain runs the tests, after which nothing may still run.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A request goes to the path of traces, as JSON, with the headers of the environment.
func TestRequests(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=1=2")
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing is seen
		got = append(got, strings.Join([]string{r.Method, r.URL.String(), r.Header.Get("Content-Type"), r.Header.Get("Api-Key"), r.Header.Get("X"), string(body)}, " "))
	}))
	defer server.Close()
	for _, path := range []string{"", "/", "/v1/traces", "/base", "/base/"} {
		c, err := Open(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if refused, err := c.Export(t.Context(), []byte("{}")); refused != 0 || err != nil {
			t.Errorf("%s: %d refused, %v", path, refused, err)
		}
		want := "/v1/traces"
		if strings.HasPrefix(path, "/base") {
			want = "/base/v1/traces"
		}
		if last := got[len(got)-1]; last != "POST "+want+" application/json a b 1=2 {}" {
			t.Errorf("%s: the request is %s", path, last)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An answer says whether the spans are there, and whether to send them again.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		status      int
		after, body string
		refused     int
		later       bool
		want        string // of the error
	}{
		{200, "", "{}", 0, false, ""},
		{200, "", "", 0, false, ""},
		{202, "", `{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}}`, 3, false, ""},
		{200, "", `{"partialSuccess":{"rejectedSpans":2}}`, 2, false, ""},
		{400, "", "bad \xff span", 0, false, "400 Bad Request: bad  span"},
		{302, "", "", 0, false, "302 Found"},
		{500, "", "", 0, false, "500 Internal Server Error"},
		{503, "7", "", 0, true, "503 Service Unavailable"},
		{429, "soon", "", 0, true, "429 Too Many Requests"},
		{502, "", strings.Repeat("x", 1<<20), 0, true, "502 Bad Gateway: xxx"},
		{504, "", "", 0, true, "504 Gateway Timeout"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.after != "" {
				w.Header().Set("Retry-After", c.after)
			}
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body) // it may be more than is read
		}))
		to, err := Open(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		refused, err := to.Export(t.Context(), []byte("{}"))
		later := (*span.LaterError)(nil)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if refused != c.refused || errors.As(err, &later) != c.later || !strings.Contains(text, c.want) || c.want == "" && err != nil || len(text) > 300 {
			t.Errorf("%d: %d refused, %v", c.status, refused, err)
		}
		if c.after == "7" && later.After != 7*time.Second {
			t.Errorf("it asks for 7 s: %v", later.After)
		}
		_ = to.Close() // it does not fail
		server.Close()
	}
}

// A collector that is absent, or hangs, is one to try again.
func TestNoAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client goes
		<-r.Context().Done()
	}))
	defer server.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, url := range []string{server.URL, gone.URL} {
		c, err := Open(url)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err = c.Export(ctx, []byte("{}"))
		cancel()
		if later := (*span.LaterError)(nil); !errors.As(err, &later) {
			t.Errorf("%s: %v", url, err)
		}
		_ = c.Close() // it does not fail
	}
}

// What is wrong with the place or the environment is said at the start, and without secrets.
func TestWhatCannotBeUsed(t *testing.T) {
	for _, url := range []string{"http://", "http://[", "https:///v1"} {
		if _, err := Open(url); err == nil {
			t.Errorf("%s was opened", url)
		}
	}
	for _, value := range []string{"secret", "=secret", "a=%secret"} {
		t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", value)
		if _, err := Open("http://localhost"); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", value, err)
		}
	}
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=prod,")
	t.Setenv("OTEL_SERVICE_NAME", "shop")
	name, list, err := Resource()
	if name != "shop" || strings.Join(list, " ") != "deployment.environment prod" || err != nil {
		t.Errorf("%q %q %v", name, list, err)
	}
	if IsURL("spans.jsonl") || IsURL("/http://x") || !IsURL("https://x") {
		t.Error("a file is no collector")
	}
}
