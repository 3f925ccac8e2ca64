package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// errFull is of a writer that takes one line and no more.
var errFull = errors.New("it is full")

type oneLine struct{ bytes.Buffer }

func (o *oneLine) Write(p []byte) (int, error) {
	n, _ := o.Buffer.Write(p)
	return n, errFull
}

// What watches a cluster by JSON reads nothing else, whatever the node answers meanwhile.
func TestWatchedStatusIsJSONAlone(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, httpdoor.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	node := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, `{"program":"bank"}`)
	})}
	go node.Serve(l)
	defer node.Close()
	var out oneLine
	var said bytes.Buffer
	if err := clusterStatus(&cli.Env{Tool: "aeond", Stdout: cli.NewOutput(&out), Stderr: &said}, dir, "", true, true); !errors.Is(err, errFull) {
		t.Errorf("it ends with %v", err)
	}
	var s status.Status
	if err := json.Unmarshal(out.Bytes(), &s); err != nil || s.Program != "bank" {
		t.Errorf("%v: it writes %q", err, out.String())
	}
	if text := said.String(); !strings.HasPrefix(text, "aeond: the process that uses "+dir) || strings.Count(text, "\n") != 1 {
		t.Errorf("it says %q", text)
	}
}
