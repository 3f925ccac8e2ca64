package door

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// FuzzHTTP: whatever is sent, the server answers with a result or with a problem that says so, and no answer is its own
// failure. A call that is refused leaves nothing.
func FuzzHTTP(f *testing.F) {
	s := serve(f, httpdoor.Config{Config: gate.Config{TimeMax: 5 * time.Millisecond, BodyMax: 4096}})
	for _, seed := range []struct{ verb, path, query, body, key string }{
		{"POST", "/v1/Shop/main/put", "", `{"item":` + pen + `}`, "k"},
		{"GET", "/v1/shop.Shop/a/cheap", `cents=5&size=LARGE`, "", ""},
		{"GET", "/v1/Cart/:1:7/sum", "", "", ""},
		{"POST", "/v1/Shop/main/keep", "", `{"e":{"Whole":1,"Marks":[1],"ByName":{"a":` + pen + `},"Seen":{"1s":true},"At":"2026-01-02T03:04:05Z"}}`, ""},
		{"GET", "/v1/Shop/main/spin", "rounds=9000000000", "", ""},
		{"PUT", "/v1/Shop/main/count", "", "", ""},
		{"GET", "/openapi.json", "", "", ""},
	} {
		f.Add(seed.verb, seed.path, seed.query, []byte(seed.body), seed.key)
	}
	count := func() string {
		for {
			if a := do(s, "POST", "/v1/Shop/fuzz counter/add", "", []byte(`{"n":0}`), ""); a.Code != http.StatusServiceUnavailable { // it may be slow
				return a.Body.String()
			}
		}
	}
	f.Fuzz(func(t *testing.T, verb, path, query string, body []byte, key string) {
		before := count()
		a := do(s, verb, path, query, body, key)
		if a.Code >= 500 && a.Code != http.StatusServiceUnavailable || a.Code < 200 {
			t.Fatalf("it is answered %d %s", a.Code, a.Body)
		}
		var p struct{ Code, Happened, Detail string }
		switch {
		case a.Code >= 400 && (json.Unmarshal(a.Body.Bytes(), &p) != nil || p.Code == "" || p.Detail == "" || p.Happened != "no"):
			t.Fatalf("it is answered %d %s", a.Code, a.Body)
		case a.Code == http.StatusOK && strings.HasPrefix(path, "/v1/") && !json.Valid(a.Body.Bytes()):
			t.Fatalf("the result is %s", a.Body)
		}
		if after := count(); after != before && !strings.Contains(path, "fuzz counter") {
			t.Fatalf("another actor has changed: it was %s, and is %s", before, after)
		}
	})
}

// do hands a request to the server without a connection.
func do(s *served, verb, path, query string, body []byte, key string) *httptest.ResponseRecorder {
	r := &http.Request{Method: verb, URL: &url.URL{Path: path, RawQuery: query}, Host: "localhost", Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	a := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(a, r)
	return a
}
