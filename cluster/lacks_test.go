package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/internal/freeport"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/settings"
)

// several are nodes of a cluster in this process.
type several struct {
	t      *testing.T
	tokens string // the file of the nodes that start next; "": they ask for none
	dirs   []string
	http   []string
	nodes  []*trial // nil: it has ended
}

// start starts a further node. The first one begins the cluster.
func (c *several) start(stores int) {
	c.t.Helper()
	cluster := settings.Cluster{Listen: freeport.Address(c.t), Stores: stores}
	if len(c.nodes) > 0 {
		c.eventually("the first node makes a token", func() (bool, string) {
			code, text := c.asks(0, http.MethodPost, status.TokenPath)
			cluster.Join = strings.TrimSpace(text)
			return code == http.StatusOK, text
		})
	}
	dir, listen := filepath.Join(c.t.TempDir(), "node"), freeport.Address(c.t)
	r := tryListening(dir, settings.Listen{Address: listen, Tokens: c.tokens}, cluster, len(c.nodes) == 0)
	select {
	case <-r.started:
	case <-time.After(20 * time.Second):
		c.t.Fatalf("a node does not start: %s", r.log.String())
	}
	c.dirs, c.http, c.nodes = append(c.dirs, dir), append(c.http, listen), append(c.nodes, r)
}

// end ends a node.
func (c *several) end(i int) {
	c.t.Helper()
	r := c.nodes[i]
	if r == nil {
		return
	}
	c.nodes[i] = nil
	r.signals <- syscall.SIGTERM
	if code := <-r.ended; code != 0 {
		c.t.Errorf("node %d ends with %d: %s", i, code, r.said.String())
	}
}

// asks asks a node as its operator does.
func (c *several) asks(i int, method, path string) (code int, text string) {
	c.t.Helper()
	client, err := httpdoor.ClientOf(c.dirs[i])
	if err != nil {
		c.t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	return c.do(client, method, "http://localhost"+path)
}

func (c *several) do(client *http.Client, method, url string) (code int, text string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, url, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.send(client, r)
}

func (c *several) send(client *http.Client, r *http.Request) (code int, text string) {
	answer, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(b)
}

// eventually waits until cond holds: nodes tell of nothing by themselves.
func (c *several) eventually(what string, cond func() (ok bool, seen string)) {
	c.t.Helper()
	deadline, look := time.After(30*time.Second), time.NewTicker(20*time.Millisecond)
	defer look.Stop()
	for {
		ok, seen := cond()
		if ok {
			return
		}
		select {
		case <-look.C:
		case <-deadline:
			c.t.Fatalf("%s: not within 30 s: %s", what, seen)
		}
	}
}

// status asks a node how the cluster is.
func (c *several) status(i int) (s status.Status, text string) {
	c.t.Helper()
	_, text = c.asks(i, http.MethodGet, status.Path)
	_ = json.Unmarshal([]byte(text), &s) // else it is none, and text says why
	return s, text
}

// reaches waits until each node that runs is ready, and reaches the leaders of all stores.
func (c *several) reaches(stores int) {
	c.t.Helper()
	for i, r := range c.nodes {
		if r == nil {
			continue
		}
		c.eventually(fmt.Sprintf("node %d is ready", i), func() (bool, string) {
			code, text := c.do(http.DefaultClient, http.MethodGet, "http://"+c.http[i]+"/readyz")
			return code == http.StatusOK, text
		})
		for id := range stores {
			c.eventually(fmt.Sprintf("store %d answers by node %d", id, i), func() (bool, string) {
				code, text := c.asks(i, http.MethodGet, fmt.Sprintf("%s?%s=%d", httpdoor.ActorsPath, storeQuery, id))
				return code == http.StatusOK && text == "", text // there is no actor, and no line that a store is missing
			})
		}
	}
}

// A node without a replica of a store knows its leader, also when that is another one than before.
func TestNodesThatLackStores(t *testing.T) {
	t.Parallel() // it waits for elections
	const stores, nodes, replicas = 4, 4, 3
	c := &several{t: t}
	defer func() {
		for i := range c.nodes {
			c.end(i)
		}
	}()
	for range nodes {
		c.start(stores)
	}
	for i := range nodes {
		c.eventually(fmt.Sprintf("all is well, as node %d says", i), func() (bool, string) {
			s, text := c.status(i)
			return s.Health == status.Healthy && len(s.Nodes) == nodes && !slices.ContainsFunc(s.Stores, func(st status.Store) bool {
				return len(st.Replicas) != replicas || !slices.Equal(st.Replicas, st.Wanted)
			}), text
		})
	}
	c.reaches(stores)

	// The first node may be asked for all. One that lacks the last store gives it to another of its replicas.
	s, text := c.status(0)
	if len(s.Stores) != stores {
		t.Fatal(text)
	}
	last := s.Stores[stores-1]
	lacks := slices.IndexFunc(s.Nodes, func(n status.Node) bool { return !slices.Contains(last.Replicas, n.ID) })
	to := last.Replicas[(slices.Index(last.Replicas, last.Leader)+1)%replicas]
	if code, text := c.asks(lacks, http.MethodPost, fmt.Sprintf("%s?%s=%d&node=%s", status.TransferPath, storeQuery, stores-1, placement.NameOf(to))); code != http.StatusOK {
		t.Errorf("node %d gives no store away that it lacks: %s", lacks, text)
	}
	leads := func() (at event.NodeID) {
		c.eventually("the last store has a leader", func() (bool, string) {
			s, text := c.status(lacks)
			if len(s.Stores) == stores {
				at = s.Stores[stores-1].Leader
			}
			return at != 0, text
		})
		return at
	}
	c.end(int(leads()) - 1)
	c.reaches(stores)
}
