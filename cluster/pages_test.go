package cluster

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/aeon-lang/aeon/cluster/status"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/settings"
)

// A node serves the files of --static itself, as a program alone does. One that cannot open them does not begin.
func TestPagesOfANode(t *testing.T) {
	t.Parallel() // it waits for a node
	const free = "127.0.0.1:0"
	dir := t.TempDir()
	static, data := filepath.Join(dir, "page"), filepath.Join(dir, "node")
	listen, cluster := settings.Listen{Address: free, Static: static}, settings.Cluster{Listen: free, Stores: 1}
	r := tryListening(data, listen, cluster, true)
	if code := <-r.ended; code != aeonrt.ExitRefused || !strings.Contains(r.said.String(), "the directory of --static cannot be served: open "+static) {
		t.Errorf("code %d: %s", code, r.said.String())
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("a node that cannot serve its files has begun: %v", err)
	}
	if err := os.Mkdir(static, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(static, "index.html"), []byte("home"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = tryListening(data, listen, cluster, true)
	<-r.started
	at := regexp.MustCompile("http://[0-9.:]+").FindString(r.said.String())
	for _, c := range []struct {
		method, path, host string
		status             int
		text               string
	}{
		{"GET", "/", "", http.StatusOK, "home"},
		{"GET", "/nothing.js", "", http.StatusNotFound, "not-found"},
		{"POST", "/", "", http.StatusMethodNotAllowed, "GET"},
		{"GET", "/", "evil.example", http.StatusMisdirectedRequest, "evil.example"},
		{"GET", "/healthz", "", http.StatusOK, "ok"},
		{"GET", "/healthz", "evil.example", http.StatusMisdirectedRequest, "evil.example"},
		{"GET", status.Path, "", http.StatusOK, `"by":1`},
		{"GET", status.Path, "evil.example", http.StatusMisdirectedRequest, "evil.example"},
		{"GET", metricsPath, "", http.StatusOK, "aeon_node_info"},
		{"GET", metricsPath, "evil.example", http.StatusMisdirectedRequest, "evil.example"},
		{"GET", "/openapi.json", "", http.StatusOK, "openapi"},
		{"GET", "/v1/Nothing/a/b", "", http.StatusNotFound, "Nothing"},
	} {
		q, err := http.NewRequestWithContext(t.Context(), c.method, at+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Host = c.host
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(a.Body)
		a.Body.Close()
		if err != nil || a.StatusCode != c.status || !strings.Contains(string(text), c.text) {
			t.Errorf("%s %s of host %q: %d %s, error %v", c.method, c.path, c.host, a.StatusCode, text, err)
		}
	}
	r.signals <- syscall.SIGTERM
	if code := <-r.ended; code != 0 {
		t.Errorf("code %d: %s", code, r.said.String())
	}
}
