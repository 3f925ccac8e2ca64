//go:build linux

package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

var (
	kills     = flag.Int("kills", 1, "how many leaders are killed")
	pauses    = flag.Int("pauses", 0, "how many leaders are paused for 5 s")
	cuts      = flag.Int("cuts", 1, "how often the network of a leader is cut for 4 s, in one of five ways")
	stalls    = flag.Int("stalls", 0, "how often the disk of a leader takes nothing for 5 s")
	alls      = flag.Int("alls", 1, "how often all nodes are killed at once")
	transfers = flag.Int("transfers", 1, "how often another node is asked to lead")
	actors    = flag.Int("actors", 0, "how many actors the store has beside, in thousands")
	restarts  = flag.Int("restarts", 1, "how often a leader is ended by SIGTERM, and started again")
)

const (
	nodes = 3 // of a cluster at first
	slots = 6 // for nodes, in all of a test
	pause = 5 * time.Second
	cut   = 4 * time.Second
	flap  = 300 * time.Millisecond

	healMax = 10 * time.Second // until all is well after a cut
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
	links      *links

	mu    sync.Mutex
	procs [slots]*exec.Cmd // nil: it is down
	known []int            // the nodes that clients know
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// newWorld starts a cluster that keeps three replicas.
func newWorld(t *testing.T) *world {
	t.Helper()
	p, err := load.NewLoader().Load(load.Unit{Dir: "testdata/counter", Files: []string{"testdata/counter/counter.aeon"}})
	if err != nil {
		t.Fatal(err)
	}
	made, err := gobuild.Compile(t.Context(), []*load.Package{p}, gobuild.Options{Kind: gobuild.Program, Name: "counter", Store: true, Cluster: true})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, exe: made.Path, dir: t.TempDir(), known: []int{0, 1, 2}}
	if w.log, err = os.Create(filepath.Join(w.dir, "log")); err != nil {
		t.Fatal(err)
	}
	for i := range slots {
		w.http[i], w.own[i] = free(t), free(t)
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
	w.await("node 0 serves", func(s *status.Status) bool { return len(s.Stores) == 1 && s.Stores[0].Leader == 1 }, 0)
	for i := 1; i < nodes; i++ {
		w.start(i, w.order(0, status.TokenPath))
	}
	w.await("three replicas", func(s *status.Status) bool { return s.Health == status.Healthy }, 0, 1, 2)
	return w
}

func (w *world) data(i int) string { return filepath.Join(w.dir, "node"+strconv.Itoa(i)) }

// start starts a node. What its process writes is in the log.
func (w *world) start(i int, join string) {
	w.t.Helper()
	args := []string{"--serve", "--data", w.data(i), "--listen", w.http[i], "--cluster-listen", w.own[i], "--cluster-advertise", w.advertised[i]}
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
	_ = c.Wait()
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
	look := time.NewTicker(10 * time.Millisecond)
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

// goesOn waits until so many more requests were answered.
func (c *crowd) goesOn(requests int64) {
	c.w.t.Helper()
	before := c.added.Load()
	eventually(c.w.t, "requests are answered", func() (bool, any) { return c.added.Load() >= before+requests, c.added.Load() - before })
}

// crowd is clients that send requests, each until it is answered, and what they have been told.
type crowd struct {
	w     *world
	stop  chan struct{}
	group sync.WaitGroup
	tag   string

	added, relayed atomic.Int64 // what was answered
	reads          atomic.Int64
	again          atomic.Int64 // requests that were sent more than once
	refused        atomic.Int64 // answers that said that no node serves
	answered       atomic.Int64 // when the last request was, in nanoseconds
	mu             sync.Mutex
	gaps           []time.Duration // the longest times without an answer, of which the outages are
	longest        time.Duration   // that a request took, with all that it was sent again
	took           []time.Duration // by each request, since quantile was called
	wrong          []string
}

func (c *crowd) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

var errLater = errors.New("unavailable")

// call calls a method once at a node.
func (c *crowd) call(i int, path, key string, args any) (result int64, err error) {
	body, err := json.Marshal(args)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 12*time.Second)
	defer cancel()
	method := http.MethodPost
	if key == "" {
		method, body = http.MethodGet, nil
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.w.http[i]+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	if key != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return 0, err
	case answer.StatusCode == http.StatusServiceUnavailable:
		c.refused.Add(1)
		return 0, errLater
	case answer.StatusCode != http.StatusOK:
		c.fail("%s %s: %s: %s", method, path, answer.Status, b)
		return 0, nil
	}
	return strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}

// until sends a request to one node after another until it is answered.
func (c *crowd) until(at int, path, key string, args any) int64 {
	began := time.Now()
	for n := 0; ; n++ {
		known := c.w.clientsKnow()
		result, err := c.call(known[(at+n)%len(known)], path, key, args)
		if err == nil {
			now := time.Now().UnixNano()
			c.mu.Lock()
			c.longest = max(c.longest, time.Since(began))
			c.took = append(c.took, time.Since(began))
			c.mu.Unlock()
			if last := c.answered.Swap(now); key != "" && last != 0 && now-last > int64(100*time.Millisecond) {
				c.mu.Lock()
				c.gaps = append(c.gaps, time.Duration(now-last))
				c.mu.Unlock()
			}
			return result
		}
		c.again.Add(1)
		<-time.After(10 * time.Millisecond) // as clients do that are told to come again
	}
}

// begin starts the clients.
func (w *world) begin(tag string) *crowd {
	c := &crowd{w: w, stop: make(chan struct{}), tag: tag}
	for i := range 6 {
		c.group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-c.stop:
					return
				default:
				}
				key := fmt.Sprintf("%s-%d-%d", tag, i, n)
				if n%5 == 4 {
					c.until(i, "/v1/Counter/main/relay", key, map[string]int{"k": 1})
					c.relayed.Add(1)
				} else {
					c.until(i, "/v1/Counter/main/add", key, map[string]int{"k": 1})
					c.added.Add(1)
				}
			}
		})
	}
	for i := range nodes {
		c.group.Go(func() {
			for {
				select {
				case <-c.stop:
					return
				default:
				}
				before := c.added.Load() + c.relayed.Load()
				if got := c.until(i, "/v1/Counter/main/get", "", nil); got < before {
					c.fail("a reader has seen %d when %d were answered", got, before)
				}
				c.reads.Add(1)
			}
		})
	}
	return c
}

// end stops the clients, and compares what there is with what was answered.
func (c *crowd) end() {
	t := c.w.t
	t.Helper()
	close(c.stop)
	c.group.Wait()
	added, relayed := c.added.Load(), c.relayed.Load()
	for path, want := range map[string]int64{"Counter/main": added + relayed, "Side/sent": added, "Side/late": added, "Side/hopped": relayed} {
		var got int64
		eventually(t, path+" has what was answered", func() (bool, any) {
			got = c.until(0, "/v1/"+path+"/get", "", nil)
			return got >= want, fmt.Sprintf("%d of %d", got, want)
		})
		if got != want {
			t.Errorf("%s has %d, and %d were answered", path, got, want)
		}
	}
	for _, text := range c.wrong {
		t.Error(text)
	}
	t.Logf("%d additions, %d relays, %d reads; %d were sent again", added, relayed, c.reads.Load(), c.again.Load())
}

// outages writes the longest gaps, and returns how long the longest request took.
func (c *crowd) outages(what string, n int) (longest time.Duration) {
	c.quantile(0)
	c.mu.Lock()
	defer c.mu.Unlock()
	longest, c.longest = c.longest, 0
	slices.Sort(c.gaps)
	list := c.gaps[max(0, len(c.gaps)-n):]
	if len(list) > 0 {
		c.w.t.Logf("outage of %d %s: median %v, p99 %v", n, what, list[len(list)/2].Round(time.Millisecond), list[(len(list)*99-1)/100].Round(time.Millisecond))
	}
	c.w.t.Logf("%d %s: the longest request took %v", n, what, longest.Round(time.Millisecond))
	c.gaps = nil
	return longest
}

// plannedMax is how long a request may take while a leader hands over, on a machine that has other things to do.
const plannedMax = 2 * time.Second

// planned is outages of what an operator does on purpose.
func (c *crowd) planned(what string, n int) {
	c.w.t.Helper()
	if longest := c.outages(what, n); longest > plannedMax {
		c.w.t.Errorf("%d %s: a request took %v", n, what, longest)
	}
}

// Leaders are killed, paused, cut off and asked to hand over, their disks stall, and all nodes are killed at once, under load: what was answered has happened, once, with what
// follows from it, readers see it, and the others go on.
func TestFaults(t *testing.T) {
	w := newWorld(t)
	c := w.begin(url.PathEscape(t.Name()))
	calm := func() {
		w.await("all is well", func(s *status.Status) bool { return s.Health == status.Healthy }, 0, 1, 2)
		c.goesOn(200)
	}
	for i := range *actors {
		c.until(i, fmt.Sprintf("/v1/Crowd/c%d/grow", i), fmt.Sprint("grow ", i), map[string]int{"k": 1000})
	}
	calm()
	c.outages("before", 0)
	var caughtUp, opened []float64
	for range *kills {
		i := w.leader()
		w.end(i, syscall.SIGKILL)
		c.goesOn(100) // without it
		w.start(i, "")
		calm()
		if s, err := w.status(w.leader()); err == nil {
			caughtUp, opened = append(caughtUp, s.Stores[0].CaughtUp), append(opened, s.Stores[0].Opened)
		}
	}
	c.outages("leaders killed", *kills)
	if len(opened) > 0 {
		slices.Sort(caughtUp)
		slices.Sort(opened)
		t.Logf("of that, in the median: %.0f ms until the new leader had all that was committed, then %.0f ms until its system served; before that is notice and election, behind it the next try of a client",
			1000*caughtUp[len(caughtUp)/2], 1000*opened[len(opened)/2])
	}
	for range *pauses {
		i := w.leader()
		w.signal(i, syscall.SIGSTOP)
		<-time.After(pause)
		w.signal(i, syscall.SIGCONT)
		calm()
	}
	c.outages("leaders paused", *pauses)
	for k := range *cuts {
		w.cutOff(c, k)
		healed := time.Now()
		calm()
		if took := time.Since(healed); took > healMax {
			t.Errorf("all is well only %v after %s", took, networkFaults[k%len(networkFaults)].name)
		}
	}
	c.outages("leaders cut off", *cuts)
	for range *stalls {
		stalled := w.stall(w.leader(), pause)
		c.goesOn(100)
		if err := stalled.Wait(); err != nil {
			t.Fatal(err)
		}
		calm()
	}
	c.outages("leaders with a stalled disk", *stalls)
	for range *transfers {
		i := w.leader()
		w.transfer(i, (i+1+rand.IntN(nodes-1))%nodes)
		calm()
	}
	c.planned("leaders asked to hand over", *transfers)
	for range *restarts {
		i := w.leader()
		w.end(i, syscall.SIGTERM)
		c.goesOn(100) // without it
		w.start(i, "")
		calm()
	}
	c.planned("leaders restarted", *restarts)
	for range *alls {
		for i := range nodes {
			w.end(i, syscall.SIGKILL)
		}
		for i := range nodes {
			w.start(i, "")
		}
		calm()
	}
	c.end()
	w.compare()
}

// compare ends all nodes, and compares their replicas: after a moment without load these are equal to the byte, up to the same entry of the log. The
// leader ends last, so that no other one begins, which would write.
func (w *world) compare() {
	w.t.Helper()
	w.await("all is well", func(s *status.Status) bool { return s.Health == status.Healthy }, w.clientsKnow()...)
	<-time.After(time.Second) // some heartbeats, which tell what is committed
	l := w.leader()
	list := append(slices.DeleteFunc(slices.Clone(w.clientsKnow()), func(i int) bool { return i == l }), l)
	for _, i := range list {
		w.end(i, syscall.SIGTERM)
	}
	first := w.rows(l)
	w.t.Logf("%d rows in each replica", len(first))
	for _, i := range list[:len(list)-1] {
		rows := w.rows(i)
		if at := firstDifference(first, rows); at >= 0 {
			w.t.Errorf("the replicas of node %d and node %d differ, in row %d of %d and %d: %s and %s", l, i, at, len(first), len(rows), rowAt(first, at), rowAt(rows, at))
		}
	}
}

// rows returns the rows of a node's replica of the store.
func (w *world) rows(i int) (rows []string) {
	w.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(w.data(i), "replica", "states", "0", "[0-9]*"))
	dirs = slices.DeleteFunc(dirs, func(d string) bool { return strings.HasSuffix(d, ".new") })
	if err != nil || len(dirs) == 0 {
		w.t.Fatalf("node %d has no replica: %v", i, err)
	}
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	e, err := pebbledb.Open(dirs[len(dirs)-1], store.EngineOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	it := e.Scan(nil, []byte{255})
	for it.Next() {
		rows = append(rows, fmt.Sprintf("%q=%x", it.Key(), it.Value()))
	}
	if err := errors.Join(it.Close(), e.Close()); err != nil {
		w.t.Fatal(err)
	}
	return rows
}

func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if rowAt(a, i) != rowAt(b, i) {
			return i
		}
	}
	return -1
}

func rowAt(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return "none"
}

// cutOff has one of networkFaults happen to the leader, during which the others go on.
func (w *world) cutOff(c *crowd, k int) {
	w.t.Helper()
	f, l := networkFaults[k%len(networkFaults)], w.leader()
	a := (l + 1 + rand.IntN(nodes-1)) % nodes
	list := f.cut(l, a, nodes-l-a)
	w.links.set(true, list...)
	over := time.After(cut)
	if f.flaps {
		ticks := time.NewTicker(flap)
		defer ticks.Stop()
		for is := false; ; is = !is {
			select {
			case <-ticks.C:
				w.links.set(is, list...)
				continue
			case <-over:
			}
			break
		}
	} else {
		c.goesOn(100)
		<-over
	}
	w.links.set(false, list...)
}

// transfer has a node take over.
func (w *world) transfer(from, to int) {
	w.t.Helper()
	w.order(from, status.TransferPath+"?store=0&node="+w.name(from, to))
}

// name returns what a node is called, as another one says.
func (w *world) name(by, of int) string {
	w.t.Helper()
	s, err := w.status(by)
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Nodes[slices.IndexFunc(s.Nodes, func(n status.Node) bool { return n.Listen == w.http[of] })].Name
}

// order asks a node for what an operator may, and returns the answer.
func (w *world) order(of int, path string) string {
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
	if err != nil || answer.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %s (%v)", answer.Status, b, err)
	}
	return strings.TrimSpace(string(b))
}
