package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// A node that is lost is taken out when the token for the next one is there, and a script reads that token alone.
func TestReplaceHasItsTokenFirst(t *testing.T) {
	dir := t.TempDir()
	if _, err := identity.Form(filepath.Join(dir, "node"), ""); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "node")
	l, err := net.Listen("unix", filepath.Join(dir, httpdoor.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	refused, asked := "", []string{}
	node := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		switch r.URL.Path {
		case refused:
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, `{"detail":"too few nodes"}`)
		case status.TokenPath:
			io.WriteString(w, "aeon-join-x@a:1\n")
		case status.RemovePath:
			io.WriteString(w, "it is removed\n")
		}
	})}
	go node.Serve(l)
	defer node.Close()
	for _, c := range []struct {
		refused      string
		asks         []string
		writes, says string
	}{
		{"", []string{status.TokenPath, status.RemovePath}, "aeon-join-x@a:1\n", "aeond: node3 is removed\n"},
		{status.TokenPath, []string{status.TokenPath}, "", ""},
		{status.RemovePath, []string{status.TokenPath, status.RemovePath}, "", ""},
	} {
		var out, said bytes.Buffer
		refused, asked = c.refused, nil
		err := replace(&cli.Env{Tool: "aeond", Stdout: cli.NewOutput(&out), Stderr: &said}, dir, "node3")
		if (err == nil) != (refused == "") || !slices.Equal(asked, c.asks) || out.String() != c.writes || said.String() != c.says {
			t.Errorf("%q is refused: it asks for %q, writes %q, says %q, error %v", refused, asked, out.String(), said.String(), err)
		}
	}
}

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
