// Package nodes runs a program on several stores in one process: a cluster without machines, for tests of programs and of the runtime. What the
// stores tell each other is delivered in any order.
package nodes

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Config says what a Cluster runs.
type Config struct {
	System exec.Config // of each; Classes are all that the program has
	Stores int
	// Open opens the engine of a store.
	Open       func(event.StoreID) (store.Engine, error)
	Partitions int // at least one for each store
	// Spread has new actors go to any store.
	Spread bool
	// Delay is how long a message to another store is under way, in a system that is not scheduled; nil: none is.
	Delay func(*across.Message) time.Duration
	// Fatal is told why a store has failed, unless it has crashed.
	Fatal func(error)
	// Start changes what System says for one start of a store; nil: nothing does.
	Start func(event.StoreID, *exec.Config) error
	// Crashed is told that a start of a store crashes, before any of it has ended; nil: nothing is.
	Crashed func(event.StoreID) error

	siblings *exec.Siblings
}

// Cluster is the systems. Clients use any of them.
type Cluster struct {
	cfg     Config
	workers sched.Workers
	flying  sched.Pending // messages
	down    sched.Pending // stores that are to start again: live in all systems
	wait    *sched.Scheduler

	mu    sync.Mutex // guards what follows
	nodes []*node
	links map[[2]event.StoreID]*link // those that there are, the lower store first
	began []*exec.System             // all starts
	last  uint64                     // session
}

// node is one start of a store.
type node struct {
	id     event.StoreID
	engine store.Engine
	store  *store.Store
	sys    *exec.System // nil until it is open; guarded by the mutex of the Cluster
	own    link         // what it tells itself, in session 0
}

// link is a session between two stores. What arrives before a store knows of the session waits for that.
type link struct {
	session uint64
	ready   map[event.StoreID]bool
	early   map[event.StoreID][]func() // send it on its way
}

func newLink(session uint64) link {
	return link{session, make(map[event.StoreID]bool), make(map[event.StoreID][]func())}
}

// Open opens all stores.
func Open(cfg Config) (c *Cluster, err error) {
	c = &Cluster{nodes: make([]*node, cfg.Stores), links: make(map[[2]event.StoreID]*link)}
	if cfg.System.Scheduled && cfg.System.Scheduler == nil {
		cfg.System.Scheduler = sched.New(cfg.System.Seed, c.waits)
	}
	c.cfg, c.wait = cfg, cfg.System.Scheduler
	c.workers.Open(0, c.wait)
	c.cfg.siblings = &exec.Siblings{}
	c.cfg.siblings.Add(&c.down)
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	for i := range cfg.Stores {
		e, err := cfg.Open(event.StoreID(i))
		if err != nil {
			return c, err
		}
		if err := c.start(event.StoreID(i), e); err != nil {
			return c, err
		}
	}
	return c, nil
}

// start opens a store, and connects it with all that are open.
func (c *Cluster) start(id event.StoreID, e store.Engine) (err error) {
	n := &node{id: id, engine: e, own: newLink(0)}
	fatal := func(err error) {
		if !errors.Is(err, errCrashed) {
			c.cfg.Fatal(err)
		}
	}
	n.store, err = store.Open(e, store.Options{Program: "nodes", Partitions: c.cfg.Partitions, Number: id, Log: slog.New(slog.DiscardHandler),
		Scheduler: c.wait, Fatal: fatal})
	if err != nil {
		return errors.Join(err, e.Close())
	}
	sys := c.cfg.System
	sys.Store = n.store
	if c.cfg.Start != nil {
		if err := c.cfg.Start(id, &sys); err != nil {
			return err
		}
	}
	sys.Across = &exec.Across{Store: id, Of: func(p event.PartitionID) event.StoreID { return event.StoreID(int(p) % c.cfg.Stores) },
		Network: network{c, n}, Siblings: c.cfg.siblings, Spread: c.cfg.Spread}
	c.mu.Lock()
	c.nodes[id] = n
	c.mu.Unlock()
	s, err := exec.Recover(sys)
	if err != nil {
		return err
	}
	c.mu.Lock()
	n.sys = s
	c.began = append(c.began, s)
	c.mu.Unlock()
	c.isReady(&n.own, n)
	for _, other := range c.open() {
		if other != n {
			c.connect(other, n)
		}
	}
	return nil
}

// open lists the nodes that are open.
func (c *Cluster) open() (list []*node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		if n != nil && n.sys != nil {
			list = append(list, n)
		}
	}
	return list
}

// System returns the system of a store, nil if that is not open.
func (c *Cluster) System(id event.StoreID) *exec.System {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.nodes[id]; n != nil {
		return n.sys
	}
	return nil
}

// Systems lists the systems of all stores that are open.
func (c *Cluster) Systems() (list []*exec.System) {
	for _, n := range c.open() {
		list = append(list, n.sys)
	}
	return list
}

// Began lists the systems of all starts, those that have crashed included; the first is that of the first store.
func (c *Cluster) Began() []*exec.System {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.began)
}

// lag is how many steps the second of two stores hears later of a session, in a system that is scheduled.
const lag = 30

// connect begins a session between two stores.
func (c *Cluster) connect(a, b *node) {
	l := c.newSession(a, b)
	for _, ends := range [...][2]*node{{a, b}, {b, a}} {
		c.hears(l, ends[0], ends[1])
		for range lag {
			c.wait.Yield() // the other store hears of the session later
		}
	}
}

// newSession puts a session in the place of that which two stores had. They have not heard of it.
func (c *Cluster) newSession(a, b *node) *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	l := newLink(c.last)
	c.links[between(a.id, b.id)] = &l
	return &l
}

// hears tells a store of a session with another one.
func (c *Cluster) hears(l *link, n, of *node) {
	n.sys.Across().Up(of.id, l.session)
	c.isReady(l, n)
}

// isReady has a node get what it is told in a session.
func (c *Cluster) isReady(l *link, n *node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.ready[n.id] = true
	early := l.early[n.id]
	delete(l.early, n.id)
	for _, start := range early {
		start()
	}
}

func between(a, b event.StoreID) [2]event.StoreID { return [2]event.StoreID{min(a, b), max(a, b)} }

// Cut ends the session between two stores, and begins another one: what is under way between them is lost.
func (c *Cluster) Cut(a, b event.StoreID) {
	ends := make([]*node, 0, 2)
	for _, n := range c.open() {
		if n.id == a || n.id == b {
			ends = append(ends, n)
		}
	}
	if len(ends) == 2 {
		c.disconnect(ends[0], ends[1])
		c.connect(ends[0], ends[1])
	}
}

// disconnect ends the session between two stores.
func (c *Cluster) disconnect(a, b *node) {
	c.mu.Lock()
	l := c.links[between(a.id, b.id)]
	delete(c.links, between(a.id, b.id))
	c.mu.Unlock()
	if l != nil {
		for _, list := range l.early {
			c.flying.Add(-len(list))
		}
		a.sys.Across().Lost(b.id)
		b.sys.Across().Lost(a.id)
	}
}

// errCrashed is why a store has failed.
var errCrashed = errors.New("a crash")

// Crash ends the start of a store in the midst of what it does. image makes the engine fail, and returns another one with what
// a crash leaves of it. Restart opens that.
func (c *Cluster) Crash(id event.StoreID, image func(store.Engine, error) store.Engine) error {
	c.mu.Lock()
	n := c.nodes[id]
	c.mu.Unlock()
	if c.cfg.Crashed != nil {
		if err := c.cfg.Crashed(id); err != nil {
			return err
		}
	}
	left := image(n.engine, errCrashed)
	n.store.Fail(errCrashed)
	n.sys.Abandon()
	for _, other := range c.open() {
		if other != n {
			c.disconnect(other, n)
		}
	}
	c.mu.Lock()
	c.nodes[id] = &node{id: id, engine: left}
	c.mu.Unlock()
	n.sys.Close()
	if err := n.store.Close(); !errors.Is(err, errCrashed) {
		return fmt.Errorf("store %d ends with %w", id, err)
	}
	return nil
}

// Restart opens a store that has crashed.
func (c *Cluster) Restart(id event.StoreID) error {
	c.mu.Lock()
	e := c.nodes[id].engine
	c.mu.Unlock()
	return c.start(id, e)
}

// Settle waits until nothing that was issued is left, and no message is under way.
func (c *Cluster) Settle() {
	for {
		for _, s := range c.Systems() {
			s.Client().Settle()
		}
		ch := c.flying.Zero()
		if ch == nil {
			return
		}
		c.wait.Wait(ch)
	}
}

// Close ends the systems, in which nothing is under way, and their stores.
func (c *Cluster) Close() (err error) {
	for ch := c.flying.Zero(); ch != nil; ch = c.flying.Zero() {
		c.wait.Wait(ch)
	}
	for _, n := range c.open() {
		n.sys.Close()
	}
	if c.wait != nil {
		c.wait.Until(c.workers.Idle)
	}
	c.workers.Close()
	for _, n := range c.nodes {
		if n != nil && n.store != nil {
			err = errors.Join(err, n.store.Close())
		}
	}
	return err
}

// Engine returns the engine of a store.
func (c *Cluster) Engine(id event.StoreID) store.Engine {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[id].engine
}

// waits says what waits for what, if nothing goes on.
func (c *Cluster) waits() string {
	var b strings.Builder
	c.WriteWaits(&b)
	return b.String()
}

// WriteWaits writes what waits for what.
func (c *Cluster) WriteWaits(b *strings.Builder) {
	for _, n := range c.open() {
		tries, parts, undone := n.sys.Across().Open()
		fmt.Fprintf(b, "store %d: %d attempts over several stores, %d parts, %d decisions to be carried out\n", n.id, tries, parts, undone)
		n.sys.WriteWaits(b)
	}
}

// network is how a start of a store sends.
type network struct {
	c    *Cluster
	from *node
}

// Send implements across.Network. Messages cross in their form on the wire, those of a store to itself, too: so no store shares with another what it
// holds.
func (n network) Send(to event.StoreID, session uint64, m *across.Message) {
	c, target := n.c, n.from
	wire := m.Append(make([]byte, 0, 256))
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &target.own
	if to != target.id {
		if l = c.links[between(target.id, to)]; l == nil || l.session != session {
			return
		}
		target = c.nodes[to]
	}
	c.flying.Add(1)
	deliver := func() {
		var m across.Message
		err := m.Read(wire)
		// Invariant: what is written can be read.
		assert.That(err == nil, "nodes: %v", err)
		target.sys.Across().Receive(n.from.id, session, &m) // sys does not change any more
		c.flying.Add(-1)
	}
	start := func() { c.workers.Run(deliver) }
	if c.cfg.Delay != nil && to != n.from.id {
		start = func() { time.AfterFunc(c.cfg.Delay(m), func() { c.workers.Run(deliver) }) }
	}
	if l.ready[to] {
		start()
	} else {
		l.early[to] = append(l.early[to], start)
	}
}

// Counts adds up what has happened between the stores.
func (c *Cluster) Counts() (sum across.Counts) {
	for _, n := range c.open() {
		sum.Add(n.sys.Across().Counts())
	}
	return sum
}
