package raftnode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// A node that was removed is refused by all, with the reason; its connections are cut.
func TestRemovedNodesAreRefused(t *testing.T) {
	t.Parallel()
	c := three(t)
	gone := c.join()
	c.untilVoters(3)
	c.settleDown()
	l := c.nodes[1].port.Listener(port.Gossip)
	defer func() { _ = l.Close() }()
	conn, err := gone.port.Dial(t.Context(), c.at[1], port.Gossip, 1)
	if err != nil {
		t.Fatal(err)
	}
	c.propose(c.nodes[2], placement.Command{Remove: &placement.Remove{Node: 4}})
	_ = conn.SetReadDeadline(time.Now().Add(within))
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection of a removed node is not cut:", err)
	}
	_ = conn.Close()
	for _, s := range []*server{c.nodes[1], c.nodes[2], c.nodes[3]} {
		c.until(s, "the node is removed", func(p *placement.State) bool { return p.Members[4].Membership == placement.Removed })
		_, err := gone.port.Dial(t.Context(), c.at[s.id.Node], port.Placement, s.id.Node)
		if refused := (*port.RefusedError)(nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), "node 4, n4, was removed") {
			t.Errorf("node %d: %v", s.id.Node, err)
		}
		if err := s.members.Verify(4, gone.id.Key()); err == nil || !strings.Contains(err.Error(), "was removed") {
			t.Error(err)
		}
		if err := s.members.Verify(3, gone.id.Key()); err == nil || !strings.Contains(err.Error(), "another key") {
			t.Error("a certificate with another key is accepted:", err)
		}
	}
}

// An address that does not answer leaves time for the next one.
func TestAnAddressThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	c := form(t)
	c.join()
	c.settleDown()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // connections are made, and no handshake comes
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c.propose(c.nodes[1], placement.Command{Move: &placement.Move{Node: 2, Address: silent.Addr().String()}})
	c.until(c.nodes[1], "the address is noted", func(p *placement.State) bool { return p.Members[2].Address == silent.Addr().String() })
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second) // less than a handshake may take
	defer cancel()
	conn, err := c.nodes[1].Dial(ctx, 2, port.Proposals)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

// A node that was down while others joined learns of them from the members that it knows, although one of them leads now.
func TestNodesThatJoinedMeanwhile(t *testing.T) {
	t.Parallel()
	c := three(t)
	away := c.nodes[1]
	away.kill()
	c.hear(1, false)
	c.join()
	c.poll("the new node votes for the one that is away", func() bool {
		v := c.leader().Voters()
		slices.Sort(v)
		return slices.Equal(v, []event.NodeID{2, 3, 4})
	})
	c.join()
	c.settleDown()
	c.hear(2, false)
	c.nodes[2].kill() // of those that node 1 knows, node 3 is left, and it does not lead
	c.leader()        // after the election that this has caused, node 3 begins none: a slow machine may have node 4 be silent for a time
	patient := c.nodes[3].raft.ReloadableConfig()
	patient.HeartbeatTimeout, patient.ElectionTimeout = time.Hour, time.Hour
	must(t, c.nodes[3].raft.ReloadConfig(patient))
	for leads := c.leader(); leads.id.Node < 4; leads = c.leader() {
		if err := leads.raft.LeadershipTransferToServer("4", "4").Error(); err != nil {
			t.Log(err)
		}
	}
	c.register(c.nodes[3], "meanwhile")
	away.open(nil)
	c.until(away, "the node has what the others have", func(s *placement.State) bool { return s.Number(placement.Class, "meanwhile") != 0 })
	stranger := placement.Fingerprint{1}
	if err := away.members.Verify(9, stranger); err == nil || !strings.Contains(err.Error(), "not known") {
		t.Error("a node with a certificate alone is taken for a member:", err)
	}
}

// A node that starts knows its members before raft runs: no stranger can reach the log in between.
func TestStrangersAreRefusedWhileANodeStarts(t *testing.T) {
	t.Parallel()
	c := form(t)
	s := c.nodes[1]
	for _, class := range []string{"one", "two"} { // with them the log says that the entry that forms the cluster is committed
		c.register(s, class)
	}
	s.kill()
	var begins atomic.Bool
	must(t, s.tryOpen(nil, func(cfg *Config) {
		cfg.Logger = slog.New(slog.NewTextHandler(eachLine(func(line string) {
			if strings.Contains(line, "initial configuration") { // the first that raft says, with its transport open
				begins.Store(true)
				if err := s.members.Verify(9, placement.Fingerprint{1}); err == nil {
					t.Error("a node with a certificate alone is taken for a member")
				}
			}
		}), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}))
	if !begins.Load() {
		t.Error("raft does not say that it begins")
	}
}

// eachLine is told each line of a log.
type eachLine func(string)

func (f eachLine) Write(line []byte) (int, error) { f(string(line)); return len(line), nil }

// A node that has lost its log, or snapshots, does not go on, and one whose cluster cannot be formed leaves no trace.
func TestLostDisks(t *testing.T) {
	t.Parallel()
	c := three(t)
	for i := range 700 {
		c.register(c.nodes[1], fmt.Sprint("class ", i))
	}
	for range 2 { // entries are cut when there are more than are kept
		for i := range 700 {
			c.register(c.nodes[1], fmt.Sprint("more ", i))
		}
		must(t, c.leader().raft.Snapshot().Error())
	}
	cut := make(map[*server]bool)
	for _, s := range c.up() {
		first, _ := s.log.FirstIndex()
		cut[s] = first > 1
		s.close()
	}
	if !slices.Contains(slices.Collect(maps.Values(cut)), true) {
		t.Error("no log was cut")
	}
	expect := func(s *server, parts string) {
		t.Helper()
		if err := s.tryOpen(nil, func(*Config) {}); err == nil || !strings.Contains(err.Error(), parts) {
			t.Errorf("node %d: %v", s.id.Node, err)
		}
	}
	for _, s := range []*server{c.nodes[1], c.nodes[2], c.nodes[3]} {
		if cut[s] {
			must(t, os.RemoveAll(filepath.Join(s.dir, "placement")))
			expect(s, "snapshots were lost")
		}
		s.engine = memengine.New()
		expect(s, "it was lost, with the votes")
	}
	dir := filepath.Join(t.TempDir(), "data")
	id, err := identity.Form(dir, "Bad Name")
	must(t, err)
	s := &server{of: c, id: id, dir: dir, engine: memengine.New()}
	expect(s, `"Bad Name" is no name of a node`)
	s.engine = memengine.New()
	must(t, s.tryOpen(nil, func(cfg *Config) { cfg.Form.First.Name = "good" }))
	c.until(s, "it is formed under a better name", func(p *placement.State) bool { return p.Members[1].Name == "good" })
	s.close()
}

// A node keeps its log in a store on the disk.
func TestOnTheDisk(t *testing.T) {
	t.Parallel()
	c := form(t)
	s := c.nodes[1]
	s.close()
	dir := filepath.Join(t.TempDir(), "data")
	id, err := identity.Form(dir, "n1")
	must(t, err)
	opened := func() store.Engine {
		e, err := pebbledb.Open(filepath.Join(dir, "log"), store.EngineOptions{Program: "placement"})
		must(t, err)
		return e
	}
	s = &server{of: c, id: id, dir: dir, engine: opened()}
	c.nodes[1] = s
	s.open(nil)
	c.until(s, "the cluster is formed", func(p *placement.State) bool { return p.Cluster != "" })
	c.register(s, "x")
	s.kill()
	must(t, s.engine.Close())
	s.engine = opened()
	s.open(nil)
	if n := c.register(s, "x"); n != 1 {
		t.Error("the number is", n)
	}
	s.close()
	must(t, s.engine.Close())
}

// gated is a disk that takes nothing while mu is held.
type gated struct {
	store.Engine
	mu sync.RWMutex
}

func (g *gated) Sync() error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.Engine.Sync()
}

// A command whose proposer does not wait until the disk has it is of unknown outcome, and is taken later.
func TestImpatientProposers(t *testing.T) {
	t.Parallel()
	c := form(t)
	s := c.nodes[1]
	s.close()
	g := &gated{Engine: s.engine}
	must(t, s.tryOpen(nil, func(cfg *Config) { cfg.Log = g }))
	c.poll("it leads again", func() bool {
		_, err := s.Propose(t.Context(), placement.Command{Policy: &placement.Policy{Text: "a"}})
		return err == nil
	})
	g.mu.Lock()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := s.Propose(ctx, placement.Command{Policy: &placement.Policy{Text: "b"}})
	g.mu.Unlock()
	if unknown := (*UnknownError)(nil); !errors.As(err, &unknown) {
		t.Error("it is told", err)
	}
	c.until(s, "the command is taken", func(p *placement.State) bool { return p.Policy == "b" })
}

// What proposers are told is what has happened, while leaders are killed: a command that was taken stays, one of which nothing was done is
// not there; of others it is not known.
func TestWhatProposersAreTold(t *testing.T) {
	t.Parallel()
	c := three(t)
	var mu sync.Mutex
	told := make(map[string]error)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for k := range 60 {
				text := fmt.Sprintf("%d-%d", i, k)
				mu.Lock()
				by := c.up()[k%len(c.up())].Node
				mu.Unlock()
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+k%4)*20*time.Millisecond)
				_, err := by.Propose(ctx, placement.Command{Register: &placement.Register{Kind: placement.Layout, Texts: []string{text}}})
				cancel()
				mu.Lock()
				told[text] = err
				mu.Unlock()
			}
		})
	}
	for range 2 {
		dead := c.leader()
		mu.Lock()
		dead.kill()
		mu.Unlock()
		c.leader()
		mu.Lock()
		dead.open(nil)
		mu.Unlock()
	}
	wg.Wait()
	same(t, c)
	s := c.leader().State()
	counts := make(map[string]int)
	for text, err := range told {
		there := s.Number(placement.Layout, text) != 0
		unknown := (*UnknownError)(nil)
		switch {
		case err == nil && !there:
			t.Errorf("%s was taken, and is not there", text)
		case err == nil:
			counts["taken"]++
		case errors.As(err, &unknown):
			counts["unknown"]++
		case errors.Is(err, ErrNoLeader) && there:
			t.Errorf("of %s nothing was done, and it is there: %v", text, err)
		case errors.Is(err, ErrNoLeader):
			counts["not done"]++
		default:
			t.Errorf("%s: %v", text, err)
		}
	}
	t.Log(counts)
}

// crashing is an engine of which an image is kept as a crash behind the first batch leaves it.
type crashing struct {
	*memengine.Engine
	image *memengine.Engine
}

func (e *crashing) Sync() error {
	err := e.Engine.Sync()
	if e.image == nil {
		e.image = e.Crash(func(int) int { return 0 })
	}
	return err
}

// What a log begins with has the whole cluster: a start after a crash, with other flags, does not form another one.
func TestALogBeginsWithTheCluster(t *testing.T) {
	t.Parallel()
	c, s := unformed(t)
	e := &crashing{Engine: memengine.New()}
	s.engine = e
	s.open(nil)
	s.close()
	s.engine = e.image
	must(t, s.tryOpen(nil, func(cfg *Config) { cfg.Form.Stores = 5 }))
	if n := len(s.State().Stores); n != 3 { // it is known before raft has a leader
		t.Errorf("a cluster that was to have 3 stores has %d", n)
	}
	c.until(s, "the cluster is formed", func(p *placement.State) bool { return p.Cluster != "" })
}

// A log that has begun without the command that forms the cluster, as one of an earlier version, forms none that may be another one.
func TestALogThatBeganWithoutTheCluster(t *testing.T) {
	t.Parallel()
	_, s := unformed(t)
	cfg := Config{Identity: s.id, Form: &placement.Form{Program: "bank", Stores: 3, Partitions: 12, Replicas: 3, First: placement.Member{Address: "127.0.0.1:1"}}}
	cfg.fill()
	list, err := (&Node{cfg: cfg}).firstEntries()
	must(t, err)
	_, err = openLog(s.engine, s.id, deadline{time.Minute, func(error) {}}, func() uint64 { return 0 }, func() ([]*raft.Log, error) { return list[:1], nil })
	must(t, err)
	told := make(chan error, 1)
	must(t, s.tryOpen(nil, func(cfg *Config) {
		cfg.Fatal = func(err error) {
			select {
			case told <- err:
			default:
			}
		}
	}))
	select {
	case err := <-told:
		if !strings.Contains(err.Error(), "ended before it had formed the cluster") {
			t.Error(err)
		}
	case <-time.After(within):
		t.Error("it goes on without a cluster")
	}
}
