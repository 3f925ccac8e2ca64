package front

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
)

// A front serves files itself, whether or not any system is there, and leaves to the systems what is theirs.
func TestPagesNeedNoSystem(t *testing.T) {
	var calls atomic.Int32
	p := &places{changed: make(chan struct{}), over: make(chan struct{})}
	f := newFront(p, time.Millisecond, nil)
	f.cfg.Pages = system("page", &calls)
	f.cfg.GRPC = &GRPC{Fail: fails, Reads: func(string) bool { return true },
		Store: func(string, []byte) event.StoreID { return 0 }}
	for _, c := range []struct {
		method, path string
		major        int
		page         bool
	}{
		{"GET", "/", 1, true},
		{"GET", "/", 2, true},
		{"GET", "/page.js", 1, true},
		{"POST", "/shop.Shop/total", 1, true},
		{"POST", "/openapi.json", 1, true},
		{"GET", "/v1x", 1, true},
		{"POST", "/shop.Shop/total", 2, false},
		{"GET", "/openapi.json", 1, false},
		{"GET", "/metrics", 1, false},
		{"GET", "/v1/Shop/main/total", 1, false},
		{"POST", "/v1/clients", 1, false},
		{"GET", "/v1/clients/c/events", 1, false},
		{"GET", "/v1/", 1, false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil)
		if r.ProtoMajor = c.major; c.major == 2 && c.method == "POST" {
			r.Header.Set("Content-Type", "application/grpc")
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		if page := w.Code == http.StatusOK && w.Body.String() == "page:"; page != c.page || !page && w.Code != http.StatusServiceUnavailable {
			t.Errorf("%s %s by HTTP/%d: %d %s", c.method, c.path, c.major, w.Code, w.Body)
		}
	}
}
