package raftnode

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/aeon-lang/aeon/internal/parallel"
	"github.com/aeon-lang/aeon/internal/race"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

func TestMain(m *testing.M) {
	parallel.Tests(8) // they wait for elections
	goleak.VerifyTestMain(m)
}

// within is how long a test waits for what should come soon.
const within = 60 * time.Second

// cluster runs nodes in this process.
type cluster struct {
	t       *testing.T
	program string
	nodes   map[event.NodeID]*server

	mu      sync.Mutex
	at      map[event.NodeID]string // where the nodes listen now
	silent  map[event.NodeID]bool
	settled bool
}

// server is a node of a cluster, which may be down.
type server struct {
	of      *cluster
	id      *identity.Identity
	dir     string
	engine  store.Engine
	members *Members
	port    *port.Port
	*Node   // nil: it is down
}

// form begins a cluster of one node.
func form(t *testing.T) *cluster {
	t.Helper()
	c, s := unformed(t)
	s.open(nil)
	c.until(s, "the cluster is formed", func(p *placement.State) bool { return p.Cluster == s.id.Cluster })
	return c
}

// unformed returns the first node of a cluster, which was never started.
func unformed(t *testing.T) (*cluster, *server) {
	t.Helper()
	c := &cluster{t: t, program: "bank", nodes: make(map[event.NodeID]*server), at: make(map[event.NodeID]string), silent: make(map[event.NodeID]bool)}
	dir := filepath.Join(t.TempDir(), "data")
	id, err := identity.Form(dir, "n1")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{of: c, id: id, dir: dir, engine: memengine.New()}
	c.nodes[1] = s
	t.Cleanup(func() {
		for _, s := range c.nodes {
			s.close()
		}
	})
	return c, s
}

// open starts a node. told is what its join was answered.
func (s *server) open(told map[event.NodeID]placement.Member) {
	s.of.t.Helper()
	if err := s.tryOpen(told, func(*Config) {}); err != nil {
		s.of.t.Fatal(err)
	}
}

func (s *server) tryOpen(told map[event.NodeID]placement.Member, change func(*Config)) error {
	c := s.of
	s.members = NewMembers(told)
	p, err := port.Listen(port.Config{Address: "127.0.0.1:0", Identity: s.id, Verify: s.members.Verify, Logger: c.logger(s.id.Node)})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.at[s.id.Node] = p.Addr().String()
	c.mu.Unlock()
	cfg := Config{
		Identity: s.id, Port: p, Members: s.members, Log: s.engine, Dir: filepath.Join(s.dir, "placement"),
		Addresses: func(n event.NodeID) []string {
			c.mu.Lock()
			defer c.mu.Unlock()
			return []string{c.at[n]}
		},
		Heard: func(n event.NodeID) bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return !c.silent[n]
		},
		Settled: func(placement.StoreID, uint64) bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.settled
		},
		Logger:    c.logger(s.id.Node),
		Fatal:     func(err error) { c.t.Errorf("node %d: %v", s.id.Node, err) },
		LookEvery: 20 * time.Millisecond,
	}
	if s.id.Node == 1 {
		cfg.Form = &placement.Form{Program: c.program, Stores: 3, Partitions: 12, Replicas: 3, First: placement.Member{Address: p.Addr().String()}}
	}
	change(&cfg)
	n, err := Open(cfg)
	if err != nil {
		_ = p.Close()
		return err
	}
	s.Node, s.port = n, p
	return nil
}

// join adds a node.
func (c *cluster) join() *server {
	c.t.Helper()
	by := c.leader()
	dir := filepath.Join(c.t.TempDir(), "data")
	candidate, err := identity.Prepare(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	key, err := identity.KeyFingerprint(candidate.Public())
	if err != nil {
		c.t.Fatal(err)
	}
	token := c.token(by)
	name := fmt.Sprintf("n%d", by.State().LastNode+1)
	r := c.propose(by, placement.Command{Join: &placement.Join{Token: token, Program: c.program, Name: name, Address: "127.0.0.1:1", Key: key}})
	a, err := by.id.Admit(r.Node, name, candidate.Public())
	if err != nil {
		c.t.Fatal(err)
	}
	id, err := candidate.Complete(a)
	if err != nil {
		c.t.Fatal(err)
	}
	s := &server{of: c, id: id, dir: dir, engine: memengine.New()}
	c.nodes[id.Node] = s
	s.open(by.State().Members)
	return s
}

func (c *cluster) token(by *server) (f placement.Fingerprint) {
	c.t.Helper()
	_, _ = rand.Read(f[:])
	c.propose(by, placement.Command{Token: &placement.Token{Hash: f, Expires: time.Now().Add(time.Hour)}})
	return f
}

// three begins a cluster of three nodes that all vote.
func three(t *testing.T) *cluster {
	t.Helper()
	c := form(t)
	c.join()
	c.join()
	c.untilVoters(3)
	return c
}

func (s *server) close() {
	if s.Node == nil {
		return
	}
	if err := s.Node.Close(); err != nil {
		s.of.t.Errorf("node %d: %v", s.id.Node, err)
	}
	_ = s.port.Close()
	s.Node = nil
}

// kill ends a node as a crash does: its connections break, and of its log is left what was synced.
func (s *server) kill() {
	_ = s.port.Close()
	_ = s.stop()
	s.Node = nil
	if m, ok := s.engine.(*memengine.Engine); ok {
		s.engine = m.Crash(func(int) int { return 0 })
	}
}

// propose has a command taken. On a machine that is busy a leader may lose its place meanwhile, as it may anywhere: what has the same result a second time is
// proposed again then.
func (c *cluster) propose(by *server, command placement.Command) placement.Result {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), within)
	defer cancel()
	for {
		r, err := by.Propose(ctx, command)
		if err == nil {
			return r
		}
		if unknown := (*UnknownError)(nil); !errors.As(err, &unknown) || command.Register == nil && command.Token == nil || ctx.Err() != nil {
			c.t.Fatalf("node %d: %v", by.id.Node, err)
		}
	}
}

// register proposes a command that changes the state, and returns its number.
func (c *cluster) register(by *server, text string) uint32 {
	c.t.Helper()
	return c.propose(by, placement.Command{Register: &placement.Register{Kind: placement.Class, Texts: []string{text}}}).Numbers[0]
}

// until waits for a state of a node.
func (c *cluster) until(s *server, what string, holds func(*placement.State) bool) {
	c.t.Helper()
	deadline := time.After(within)
	for {
		changed := s.Watch()
		if holds(s.State()) {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			c.t.Fatalf("node %d: not within %v: %s; it has %+v", s.id.Node, within, what, s.State())
		}
	}
}

// poll waits for something that says nothing when it changes.
func (c *cluster) poll(what string, holds func() bool) {
	c.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(within)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			c.t.Fatalf("not within %v: %s", within, what)
		}
	}
}

// up returns the nodes that run, in ascending order.
func (c *cluster) up() (list []*server) {
	for _, n := range slices.Sorted(maps.Keys(c.nodes)) {
		if c.nodes[n].Node != nil {
			list = append(list, c.nodes[n])
		}
	}
	return list
}

// leader waits for a node that leads, and says so itself.
func (c *cluster) leader() (leads *server) {
	c.t.Helper()
	c.poll("a node leads", func() bool {
		for _, s := range c.up() {
			if n, ok := s.Leader(); ok && n == s.id.Node && s.ledTerm.Load() == s.raft.CurrentTerm() {
				leads = s
			}
		}
		return leads != nil
	})
	return leads
}

// untilVoters waits until so many nodes vote, and all that run know it.
func (c *cluster) untilVoters(n int) {
	c.t.Helper()
	c.poll(fmt.Sprintf("%d nodes vote", n), func() bool {
		for _, s := range c.up() {
			if len(s.Voters()) != n {
				return false
			}
		}
		return true
	})
}

// hear has a node be heard of, or not.
func (c *cluster) hear(n event.NodeID, heard bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent[n] = !heard
}

func (c *cluster) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled = true
}

// slow is how much longer this process may take.
const slow = race.Slower

func (c *cluster) logger(n event.NodeID) *slog.Logger {
	if !*verbose {
		return nil
	}
	return slog.New(slog.NewTextHandler(c.t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})).With("node", n)
}
