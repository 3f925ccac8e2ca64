//go:build linux

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/internal/freeport"
	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// world is a cluster of processes.
type world struct {
	t    *testing.T
	exe  string
	dir  string
	http [slots]string // addresses
	own  [slots]string
	log  *os.File

	advertised [slots]string // where the others reach a node
	more       []string      // arguments of all nodes
	traced     bool          // the nodes write traces
	stores     int           // of the cluster
	links      *links

	mu    sync.Mutex
	procs [slots]*exec.Cmd // nil: it is down
	known []int            // the nodes that clients know
}

// newWorld starts a cluster that keeps three replicas. Its nodes have more arguments.
func newWorld(t *testing.T, more ...string) *world {
	t.Helper()
	return newWorldOf(t, 1, more...)
}

// newWorldOf is newWorld with several stores.
func newWorldOf(t *testing.T, stores int, more ...string) *world {
	t.Helper()
	return begun(&world{t: t, stores: stores, more: more})
}

// newTracedWorld is newWorldOf with traces for checkTraces, which take some of the processors while there is load.
func newTracedWorld(t *testing.T, stores int, more ...string) *world {
	t.Helper()
	return begun(&world{t: t, stores: stores, more: more, traced: true})
}

// counter makes the program once, for all tests.
var counter = sync.OnceValues(func() (string, error) {
	p, err := load.NewLoader().Load(load.Unit{Dir: "testdata/counter", Files: []string{"testdata/counter/counter.aeon"}})
	if err != nil {
		return "", err
	}
	made, err := gobuild.Compile(context.Background(), []*load.Package{p}, gobuild.Options{Kind: gobuild.Program, Name: "counter", Store: true, GRPC: true, Cluster: true})
	if err != nil {
		return "", err
	}
	return made.Path, nil
})

// begun starts the nodes of a cluster.
func begun(w *world) *world {
	t, stores := w.t, w.stores
	t.Helper()
	w.dir, w.known = t.TempDir(), []int{0, 1, 2}
	var err error
	if w.exe, err = counter(); err != nil {
		t.Fatal(err)
	}
	if w.log, err = os.Create(filepath.Join(w.dir, "log")); err != nil {
		t.Fatal(err)
	}
	for i := range slots {
		w.http[i], w.own[i] = freeport.Address(t), freeport.Address(t)
	}
	w.links = newLinks(t, w)
	t.Cleanup(func() {
		for i := range slots {
			w.end(i, syscall.SIGTERM)
		}
		if t.Failed() {
			b, _ := os.ReadFile(w.log.Name())
			t.Logf("%s", b[max(0, len(b)-20000):])
		}
		_ = w.log.Close()
	})
	w.start(0, "")
	w.await("node 0 serves", func(s *status.Status) bool {
		return len(s.Stores) == stores && !slices.ContainsFunc(s.Stores, func(st status.Store) bool { return st.Leader != 1 })
	}, 0)
	for i := 1; i < nodes; i++ {
		w.start(i, w.order(0, status.TokenPath))
	}
	w.well()
	return w
}

// part runs a part of a test, whose failures are its own.
func (w *world) part(name string, f func(*testing.T)) {
	all := w.t
	all.Run(name, func(t *testing.T) {
		w.t = t
		defer func() { w.t = all }()
		f(t)
	})
}

func (w *world) data(i int) string { return filepath.Join(w.dir, "node"+strconv.Itoa(i)) }

// start starts a node. What its process writes is in the log.
func (w *world) start(i int, join string) {
	w.t.Helper()
	args := []string{"--serve", "--data", w.data(i), "--listen", w.http[i], "--cluster-listen", w.own[i], "--cluster-advertise", w.advertised[i],
		"--spans", w.spans(i), "--spans-sample", "0"}
	args = append(args, w.more...)
	if w.traced {
		args = append(args, "--trace", w.traces(i), "--trace-states")
	}
	if _, err := os.Stat(w.data(i)); err != nil && join == "" {
		args = append(args, "--create", "--stores", strconv.Itoa(w.stores))
	}
	if join != "" {
		args = append(args, "--join", join)
	}
	c := exec.Command(w.exe, args...)
	c.Stdout, c.Stderr = w.log, w.log
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.procs[i] = c
}

// end ends a node by a signal, and waits for its end.
func (w *world) end(i int, sig syscall.Signal) {
	w.mu.Lock()
	c := w.procs[i]
	w.mu.Unlock()
	if c == nil {
		return
	}
	_ = c.Process.Signal(sig) // it may have ended
	w.ended(i, c)
}

// ended waits for the end of a node.
func (w *world) ended(i int, c *exec.Cmd) {
	_ = c.Wait() // the code is that of a signal, or of a node that was removed
	w.mu.Lock()
	w.procs[i] = nil // not before: a node that ends still reaches others
	w.mu.Unlock()
}

// clientsKnow returns the nodes that clients know.
func (w *world) clientsKnow() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known
}

// know has clients know other nodes from now on.
func (w *world) know(list ...int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known = list
}

func (w *world) signal(i int, sig syscall.Signal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.procs[i].Process.Signal(sig); err != nil {
		w.t.Error(err)
	}
}

func (w *world) status(i int) (*status.Status, error) {
	answer, err := (&http.Client{Timeout: 2 * time.Second}).Get("http://" + w.http[i] + status.Path)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	s := &status.Status{}
	return s, json.NewDecoder(answer.Body).Decode(s)
}

// eventually waits until cond holds: other processes tell of nothing by themselves.
func eventually(t *testing.T, what string, cond func() (ok bool, seen any)) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	look := time.NewTicker(50 * time.Millisecond) // an answer costs nodes some work
	defer look.Stop()
	for {
		ok, seen := cond()
		if ok {
			return
		}
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("%s: not within 30 s: %v", what, seen)
		}
	}
}

// counts waits until n is at least enough. The next one has to come in time, and not all: how much a machine does in a time is not what is tested.
func counts(t *testing.T, what string, n func() int64, enough int64) {
	t.Helper()
	for last := n(); last < enough; last = n() {
		eventually(t, what, func() (bool, any) { return n() > last, fmt.Sprintf("%d more are wanted", enough-last) })
	}
}

// await waits until the status that each of some nodes tells is as it should be.
func (w *world) await(what string, is func(*status.Status) bool, of ...int) {
	w.t.Helper()
	for _, i := range of {
		eventually(w.t, fmt.Sprintf("%s, as node %d says", what, i), func() (bool, any) {
			s, err := w.status(i)
			return err == nil && is(s), fmt.Sprint(s, err)
		})
	}
}

// leader returns the node that runs the actors.
func (w *world) leader() (at int) {
	w.t.Helper()
	eventually(w.t, "a node leads", func() (bool, any) {
		for _, i := range w.clientsKnow() {
			s, err := w.status(i)
			if err != nil || len(s.Stores) == 0 || s.Stores[0].Leader == 0 {
				continue
			}
			for _, n := range s.Nodes {
				if n.ID == s.Stores[0].Leader && n.State == status.Serving {
					at = slices.Index(w.http[:], n.Listen)
					return true, nil
				}
			}
		}
		return false, nil
	})
	return at
}

// transfer has a node take over.
func (w *world) transfer(from, to int) {
	w.t.Helper()
	w.order(from, status.TransferPath+"?store=0&node="+w.name(from, to))
}

// name returns what a node is called, as another one says.
func (w *world) name(by, of int) string { return w.node(by, of).Name }

// node returns what a node says of another one, or of itself.
func (w *world) node(by, of int) status.Node {
	w.t.Helper()
	s, err := w.status(by)
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Nodes[slices.IndexFunc(s.Nodes, func(n status.Node) bool { return n.Listen == w.http[of] })]
}

// order asks a node for what an operator may, and returns the answer.
func (w *world) order(of int, path string) string {
	w.t.Helper()
	code, text := w.orders(of, path)
	if code != http.StatusOK {
		w.t.Fatalf("%d: %s", code, text)
	}
	return text
}

// orders is order of what may be refused. It returns the code of the answer, too.
func (w *world) orders(of int, path string) (code int, text string) {
	w.t.Helper()
	client, err := httpdoor.ClientOf(w.data(of))
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := client.Post("http://localhost"+path, "", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(b))
}

func (w *world) follower() int {
	w.t.Helper()
	l := w.leader()
	list := w.clientsKnow()
	return list[(slices.Index(list, l)+1)%len(list)]
}

func (w *world) without(i int) []int {
	return slices.DeleteFunc(slices.Clone(w.clientsKnow()), func(j int) bool { return j == i })
}

// join starts a node that joins, and waits until all is well.
func (w *world) join(i int, token string) {
	w.t.Helper()
	w.start(i, token)
	w.know(append(slices.Clone(w.clientsKnow()), i)...)
	w.well()
}

func (w *world) well() {
	w.t.Helper()
	w.await("all is well", func(s *status.Status) bool { return s.Health == status.Healthy }, w.clientsKnow()...)
}
