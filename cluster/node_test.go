package cluster

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// The server of a node for clients has the bounds of a program that runs alone, with gRPC and without it. The servers for other nodes and for operators end no
// stream, and take the heads of all requests that are forwarded.
func TestServersOfANodeAreBounded(t *testing.T) {
	for _, g := range []*GRPC{nil, {}} {
		n := &node{grpc: g, log: slog.New(slog.DiscardHandler)}
		s := n.server(http.NotFoundHandler())
		if s.ReadHeaderTimeout != 10*time.Second || s.ReadTimeout != 40*time.Second || s.WriteTimeout != 100*time.Second || s.IdleTimeout != 2*time.Minute || s.MaxHeaderBytes != 32<<10 {
			t.Errorf("gRPC %v, for clients: %v %v %v %v %d", g != nil, s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout, s.IdleTimeout, s.MaxHeaderBytes)
		}
		s = n.inner(http.NotFoundHandler())
		if s.ReadHeaderTimeout != 10*time.Second || s.ReadTimeout != 0 || s.WriteTimeout != 0 || s.IdleTimeout != 2*time.Minute || s.MaxHeaderBytes != 0 {
			t.Errorf("gRPC %v, for nodes: %v %v %v %v %d", g != nil, s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout, s.IdleTimeout, s.MaxHeaderBytes)
		}
	}
}

// A query that loses a pair that cannot be read could forget all dead letters: an operator is told, and nothing is done.
func TestQueriesOfOperatorsAreWhole(t *testing.T) {
	h := (&node{}).control()
	for _, to := range []string{"DELETE " + httpdoor.DeadPath + "?all=true&event=1%", "POST " + status.RemovePath + "?node=a&lost=true;x", "GET " + httpdoor.ActorsPath + "?%"} {
		method, path, _ := strings.Cut(to, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "cannot be read") {
			t.Errorf("%s: %d %s", to, w.Code, w.Body)
		}
	}
}
