package cluster

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/settings"
)

// writeTokens writes a file of tokens with one caller, and returns its token.
func writeTokens(t *testing.T, path string, rights ...string) (token string) {
	t.Helper()
	token = access.New()
	line, err := access.Line("ann", token, rights)
	if err == nil {
		err = os.WriteFile(path, []byte(line+"\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// The file of tokens is read at the start: a node that cannot use it does not begin, and one that has begun leads whatever becomes of the file.
func TestANodeReadsTokensAtItsStart(t *testing.T) {
	t.Parallel() // it waits for a node
	const free = "127.0.0.1:0"
	dir := t.TempDir()
	tokens, data := filepath.Join(dir, "tokens"), filepath.Join(dir, "node")
	listen, cluster := settings.Listen{Address: free, Tokens: tokens}, settings.Cluster{Listen: free, Stores: 1}
	refuses := func(want string) {
		t.Helper()
		r := tryListening(data, listen, cluster, true)
		<-r.started
		r.signals <- syscall.SIGTERM // if it has begun
		if code := <-r.ended; code != aeonrt.ExitRefused || !strings.Contains(r.said.String(), want) {
			t.Errorf("code %d: %s, want %q", code, r.said.String(), want)
		}
		if _, err := os.Stat(data); !os.IsNotExist(err) {
			t.Errorf("a node that cannot read its tokens has begun: %v", err)
		}
	}
	refuses("the file of tokens cannot be read: open " + tokens)
	writeTokens(t, tokens, "Bank.withdraw")
	refuses(tokens + `:1: right 1 of ann: the program has no actor class "Bank"`)

	writeTokens(t, tokens, "*")
	r := tryListening(data, listen, cluster, true)
	<-r.started
	if err := os.Remove(tokens); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.log.serves:
	case <-time.After(20 * time.Second):
		t.Errorf("it does not lead: %s\n%s", r.said.String(), r.log.String())
	}
	r.signals <- syscall.SIGTERM
	if code := <-r.ended; code != 0 {
		t.Errorf("code %d: %s", code, r.said.String())
	}
}

// A node that asks for tokens has them asked for whichever node runs the actors: one that asks for none performs nothing that comes from there, and the status
// says what is to be done.
func TestOneNodeAsksForTokens(t *testing.T) {
	t.Parallel() // it waits for nodes
	c := &several{t: t}
	defer func() {
		for i := range c.nodes {
			c.end(i)
		}
	}()
	c.start(1)
	c.tokens = filepath.Join(t.TempDir(), "tokens")
	token := writeTokens(t, c.tokens, "*")
	c.start(1)
	c.eventually("the node without tokens runs the actors", func() (bool, string) {
		s, text := c.status(1)
		return len(s.Nodes) == 2 && len(s.Stores) == 1 && s.Stores[0].Leader == 1, text
	})
	ask := func(path, token string) (code int, text string) {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.http[1]+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if q.Host = "localhost"; token != "" {
			q.Header.Set("Authorization", "Bearer "+token)
		}
		return c.send(http.DefaultClient, q)
	}
	const call, figures = "/v1/Nothing/a/b", "/metrics" // each node has figures of its own, whichever runs the actors
	for _, path := range []string{call, figures} {
		if code, text := ask(path, ""); code != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d %s", path, code, text)
		}
	}
	if code, text := ask(figures, token); code != http.StatusOK || !strings.Contains(text, "aeon_node_info") {
		t.Errorf("the figures with a token: %d %s", code, text)
	}
	if code, text := ask(call, token); code != http.StatusServiceUnavailable || !strings.Contains(text, "node 2 asks clients for tokens, and node 1, which runs the actors, asks for none") {
		t.Errorf("with a token: %d %s", code, text)
	}
	c.eventually("the status says so", func() (bool, string) {
		s, text := c.status(0)
		return slices.Contains(s.Next, "start all nodes with --tokens, or none"), text
	})
}
