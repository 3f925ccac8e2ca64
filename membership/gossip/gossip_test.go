package gossip

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const within = 60 * time.Second

// cluster is some nodes that know each other by gossip alone.
type cluster struct {
	t     *testing.T
	first *identity.Identity
	ids   map[event.NodeID]*identity.Identity

	mu      sync.Mutex
	removed map[event.NodeID]bool
	load    map[event.NodeID][]byte
	seeds   []string

	tried chan event.NodeID // nodes whose join loop has asked for seeds; some
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	id, err := identity.Form(filepath.Join(t.TempDir(), "data"), "n1")
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{t: t, first: id, ids: map[event.NodeID]*identity.Identity{1: id}, removed: make(map[event.NodeID]bool), load: make(map[event.NodeID][]byte), tried: make(chan event.NodeID, 100)}
}

func (c *cluster) identity(n event.NodeID) *identity.Identity {
	c.t.Helper()
	if c.ids[n] == nil {
		candidate, err := identity.Prepare(filepath.Join(c.t.TempDir(), "data"))
		if err != nil {
			c.t.Fatal(err)
		}
		a, err := c.first.Admit(n, "n", candidate.Public())
		if err != nil {
			c.t.Fatal(err)
		}
		if c.ids[n], err = candidate.Complete(a); err != nil {
			c.t.Fatal(err)
		}
	}
	return c.ids[n]
}

func (c *cluster) member(n event.NodeID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.removed[n] {
		return fmt.Errorf("node %d was removed", n)
	}
	return nil
}

// node is a node that runs.
type node struct {
	*Gossip
	of   *cluster
	n    event.NodeID
	port *port.Port
}

func (c *cluster) start(n event.NodeID) *node {
	c.t.Helper()
	id := c.identity(n)
	for range 20 { // the number may be in use for UDP
		p, err := port.Listen(port.Config{Address: "127.0.0.1:0", Identity: id,
			Verify: func(n event.NodeID, _ placement.Fingerprint) error { return c.member(n) }})
		if err != nil {
			c.t.Fatal(err)
		}
		udp, err := Bind(p.Addr())
		if err != nil {
			_ = p.Close()
			continue
		}
		g, err := Start(Config{Port: p, UDP: udp, Address: p.Addr().String(), Member: c.member, Every: 50 * time.Millisecond,
			Seeds: func() []string {
				c.mu.Lock()
				defer c.mu.Unlock()
				select {
				case c.tried <- n:
				default:
				}
				return slices.Clone(c.seeds)
			},
			Load: func() []byte {
				c.mu.Lock()
				defer c.mu.Unlock()
				return c.load[n]
			}})
		if err != nil {
			c.t.Fatal(err)
		}
		return &node{g, c, n, p}
	}
	c.t.Fatal("no number of a port is free")
	return nil
}

func (n *node) close() {
	n.of.t.Helper()
	if err := errors.Join(n.Gossip.Close(), n.port.Close()); err != nil {
		n.of.t.Error(err)
	}
}

// kill ends a node without a word to the others.
func (n *node) kill() {
	_ = n.port.Close()
	if err := n.stop(); err != nil {
		n.of.t.Error(err)
	}
}

func (n *node) until(what string, holds func([]Peer) bool) {
	n.of.t.Helper()
	deadline := time.After(within)
	for {
		changed := n.Watch()
		if holds(n.Peers()) {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			n.of.t.Fatalf("node %d: not within %v: %s; it has %+v", n.n, within, what, n.Peers())
		}
	}
}

func (c *cluster) seed(addresses ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seeds = addresses
}

func nodes(list []Peer) (of []event.NodeID) {
	for _, p := range list {
		of = append(of, p.Node)
	}
	return of
}

func are(want ...event.NodeID) func([]Peer) bool {
	return func(list []Peer) bool { return slices.Equal(nodes(list), want) }
}

// Nodes that know one address find all others, and their loads; one that is killed is not heard any more, is heard again when it is
// back, at another address; one that goes says so.
func TestNodesFindEachOther(t *testing.T) {
	c := newCluster(t)
	a := c.start(1)
	defer a.close()
	c.seed("127.0.0.1:1", a.port.Addr().String()) // at the first one nothing answers
	b, d := c.start(2), c.start(3)
	a.until("node 1 hears the others", are(2, 3))
	b.until("node 2 hears the others", are(1, 3))
	d.until("node 3 hears the others", are(1, 2))
	if !a.Heard(1) || !a.Heard(3) || a.Heard(4) {
		t.Error("node 1 hears", nodes(a.Peers()))
	}
	c.mu.Lock()
	c.load[3] = []byte("busy")
	c.mu.Unlock()
	a.until("node 1 knows the load of node 3", func(list []Peer) bool {
		return slices.ContainsFunc(list, func(p Peer) bool { return p.Node == 3 && string(p.Load) == "busy" })
	})
	before := a.Addresses(3)
	d.kill()
	a.until("a node that was killed is not heard", are(2))
	b.until("a node that was killed is not heard", are(1))
	d = c.start(3)
	a.until("a node that is back is heard", are(2, 3))
	if at := a.Addresses(3); !slices.Equal(at, []string{d.port.Addr().String()}) || slices.Equal(at, before) {
		t.Error("node 3 is at", at, "and was at", before)
	}
	d.close()
	b.until("a node that goes is not heard", are(1))
	b.close()
	a.until("no node is heard", are())
}

// The join loop goes on: a node that comes later than the tries is found, and so are two halves that were apart.
func TestTheJoinLoopGoesOn(t *testing.T) {
	c := newCluster(t)
	a, b := c.start(1), c.start(2)
	defer a.close()
	defer b.close()
	deadline := time.After(within)
	for tries := map[event.NodeID]int{}; tries[1] < 2 || tries[2] < 2; {
		select {
		case n := <-c.tried:
			tries[n]++
		case <-deadline:
			t.Fatal("the nodes try once")
		}
	}
	if len(a.Peers()) > 0 {
		t.Error("nodes find each other without an address", a.Peers())
	}
	c.seed(b.port.Addr().String(), a.port.Addr().String())
	a.until("the nodes find each other", are(2))
	b.until("the nodes find each other", are(1))
}

// A node that was removed is none of the peers, although it has the key; and what has another key, or none, is not heard.
func TestStrangersAreNotHeard(t *testing.T) {
	c, other := newCluster(t), newCluster(t)
	a, b, d := c.start(1), c.start(2), c.start(3)
	defer a.close()
	defer b.close()
	defer d.close()
	strange := other.start(7)
	defer strange.close()
	c.seed(a.port.Addr().String())
	other.seed(a.port.Addr().String())
	udp, err := net.Dial("udp", a.port.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{{0}, []byte("hello"), bytes.Repeat([]byte{1}, 1000), {}} {
		if _, err := udp.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	_ = udp.Close()
	a.until("the members are heard", are(2, 3))
	c.mu.Lock()
	c.removed[3] = true
	c.mu.Unlock()
	if got := nodes(a.Peers()); !slices.Equal(got, []event.NodeID{2}) || a.Heard(3) {
		t.Error("a removed node is heard:", got)
	}
	if got := strange.Peers(); len(got) > 0 {
		t.Error("a stranger hears", got)
	}
}

// Names and what nodes say of themselves are read as they were written, and nothing else is.
func TestNamesAndMeta(t *testing.T) {
	if n, incarnation, ok := parseName(name(7, 1<<63)); n != 7 || incarnation != 1<<63 || !ok {
		t.Error(n, incarnation, ok)
	}
	for _, text := range []string{"", "7", "7-", "-7", "0-1", "7-x", "07-1", "7-01", "7-1-2", "host"} {
		if n, _, ok := parseName(text); ok {
			t.Errorf("%q is node %d", text, n)
		}
	}
	whole := encodeMeta("host:7001", []byte("load"))
	if address, load, ok := decodeMeta(whole); address != "host:7001" || string(load) != "load" || !ok {
		t.Error(address, load, ok)
	}
	for n := range len(whole) - len("load") {
		if _, _, ok := decodeMeta(whole[:n]); ok {
			t.Errorf("%d bytes are taken for all", n)
		}
	}
	whole[0]++
	if _, _, ok := decodeMeta(whole); ok {
		t.Error("another format is read")
	}
}

// What memberlist logs goes to slog, as details.
func TestLogs(t *testing.T) {
	var b bytes.Buffer
	w := logWriter{slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, line := range []string{"[DEBUG] memberlist: one\n", "[INFO] memberlist: two\n", "[WARN] memberlist: three\n", "[ERR] memberlist: four\n"} {
		if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
			t.Error(n, err)
		}
	}
	for _, want := range []string{"level=DEBUG msg=gossip text=two", "level=DEBUG msg=gossip text=three", "level=DEBUG msg=gossip text=four"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in %s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "one") {
		t.Error(b.String())
	}
}
