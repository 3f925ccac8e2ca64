// Package replicatest keeps a store on three replicas in one process, so that what runs on a store.Engine is tested on them unchanged.
package replicatest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/engine"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Group is the group of the store.
const Group replica.Group = 1

// Config says how a cluster works.
type Config struct {
	Places []driver.Place // of the nodes, which are numbered from 1 on
	Tick   time.Duration  // 0: driver.TickDefault
	// SyncBytes is as in driver.Config.
	SyncBytes int
	Seed      uint64
	Logger    *slog.Logger
	Fatal     func(event.NodeID, error) // nil: it panics
	// Loses reports whether a message is lost on its way. Any node may call it at any time. nil: none is.
	Loses func(replica.Message) bool
}

// Cluster is the nodes. Messages between them are calls.
type Cluster struct {
	cfg   Config
	mu    sync.Mutex
	nodes map[event.NodeID]*driver.Driver // those that are up
	cut   map[[2]event.NodeID]bool        // messages from the first to the second are lost
	turns chan struct{}                   // a node has heard of another leader
}

// Open starts the nodes. If their places are empty, all of them are members of the group.
func Open(cfg Config) (*Cluster, error) {
	c := &Cluster{cfg: cfg, nodes: make(map[event.NodeID]*driver.Driver), cut: make(map[[2]event.NodeID]bool), turns: make(chan struct{}, 1)}
	if c.cfg.Tick == 0 {
		c.cfg.Tick = driver.TickDefault
	}
	for i := range cfg.Places {
		if err := c.Start(event.NodeID(i + 1)); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// StartEmpty starts a node with what its place has, though that may have no part in the group.
func (c *Cluster) StartEmpty(id event.NodeID) error { return c.start(id, false) }

// Start starts a node with what its place has. If that has no part in the group, the node begins the group with all others.
func (c *Cluster) Start(id event.NodeID) error { return c.start(id, true) }

func (c *Cluster) start(id event.NodeID, begins bool) error {
	fatal := func(err error) { panic(fmt.Sprintf("node %d: %v", id, err)) }
	if f := c.cfg.Fatal; f != nil {
		fatal = func(err error) { f(id, err) }
	}
	place := c.cfg.Places[id-1]
	d, err := driver.Open(driver.Config{
		Node: id, Disk: driver.NewDisk(place), Tick: c.cfg.Tick, SyncBytes: c.cfg.SyncBytes, Logger: c.cfg.Logger, Fatal: fatal,
		Rand: rand.New(rand.NewPCG(c.cfg.Seed, uint64(id))),
		Send: func(to event.NodeID, m []byte) {
			if n := c.reach(id, to); n != nil && !c.loses(m) {
				n.Message(id, m)
			}
		},
		SendState: func(_ context.Context, to event.NodeID, header []byte, write func(io.Writer) error) error {
			n := c.reach(id, to)
			if n == nil {
				return errors.New("the node is not reached")
			}
			r, w := io.Pipe()
			go func() { w.CloseWithError(write(w)) }()
			err := n.TakeState(id, header, r)
			r.CloseWithError(errors.New("the other end has gone"))
			return err
		},
		Roles: func(replica.Role) {
			select {
			case c.turns <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		return err
	}
	if begins && !d.Has(Group) {
		var members []event.NodeID
		for i := range c.cfg.Places {
			members = append(members, event.NodeID(i+1))
		}
		err = d.Begin(Group, members...)
	}
	if err != nil {
		return errors.Join(err, d.Close())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[id] = d
	return nil
}

// reach returns a node if messages from another one reach it, else nil.
func (c *Cluster) reach(from, to event.NodeID) *driver.Driver {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut[[2]event.NodeID{from, to}] {
		return nil
	}
	return c.nodes[to]
}

// loses reports whether a message, as bytes, is lost on its way.
func (c *Cluster) loses(b []byte) bool {
	if c.cfg.Loses == nil {
		return false
	}
	m, err := replica.DecodeMessage(b)
	return err == nil && c.cfg.Loses(m)
}

// Node returns a node that is up, else nil.
func (c *Cluster) Node(id event.NodeID) *driver.Driver { return c.reach(id, id) }

// Cut has messages from a node to another one be lost, or not any more.
func (c *Cluster) Cut(from, to event.NodeID, lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut[[2]event.NodeID{from, to}] = lost
}

// Stop closes a node.
func (c *Cluster) Stop(id event.NodeID) error {
	c.mu.Lock()
	d := c.nodes[id]
	delete(c.nodes, id)
	c.mu.Unlock()
	if d == nil {
		return nil
	}
	return d.Close()
}

// Lead waits until a node leads, and returns it with its engine. Of each term it is returned once.
func (c *Cluster) Lead(ctx context.Context) (event.NodeID, *engine.Engine, error) {
	for {
		for i := range c.cfg.Places {
			id := event.NodeID(i + 1)
			d := c.Node(id)
			if d == nil {
				continue
			}
			if r := d.Leader(Group); r.Leader == id {
				e, err := d.Lead(Group, r.Term)
				if err == nil {
					return id, e, nil
				}
				if err != driver.ErrDeposed {
					return 0, nil, err
				}
			}
		}
		select {
		case <-c.turns:
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
}

// Close closes all nodes.
func (c *Cluster) Close() error {
	var list []error
	for i := range c.cfg.Places {
		list = append(list, c.Stop(event.NodeID(i+1)))
	}
	return errors.Join(list...)
}

// leading is the engine of the leader of a cluster, which is closed with it.
type leading struct {
	*engine.Engine
	Of *Cluster
}

// Close implements store.Engine.
func (e *leading) Close() error { return errors.Join(e.Engine.Close(), e.Of.Close()) }

// OpenEngine starts a cluster and returns the engine of its leader; the cluster is closed with it.
func OpenEngine(cfg Config) (store.Engine, error) { return open(cfg) }

func open(cfg Config) (*leading, error) {
	c, err := Open(cfg)
	if err != nil {
		return nil, err
	}
	e, err := c.leadNow()
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &leading{e, c}, nil
}

const (
	electionMax  = 20                    // ticks after which a node without a leader stands for election
	electionTime = 50 * time.Millisecond // that it then gets before another one stands, too
)

// leadNow is Lead without the time that the nodes would wait for a leader of former times: one after the other is told that it has passed. So the
// tick can be as long as it is for real nodes, among which a busy machine deposes no leader. All nodes follow the one that is returned: none stands still.
func (c *Cluster) leadNow() (e *engine.Engine, err error) {
	var leader replica.Role
	for i := 0; ; i++ {
		ctx, cancel := context.WithTimeout(context.Background(), electionTime)
		defer cancel()
		if leader.Leader == 0 || c.Node(leader.Leader).Leader(Group) != leader {
			d := c.Node(event.NodeID(i%len(c.cfg.Places) + 1))
			for range electionMax {
				d.Tick()
			}
			var id event.NodeID
			id, e, err = c.Lead(ctx)
			switch {
			case err == context.DeadlineExceeded:
				continue
			case err != nil:
				return nil, err
			}
			leader = replica.Role{Group: Group, Leader: id, Term: e.Term()}
		}
		if c.followed(ctx, leader) {
			return e, nil
		}
	}
}

// followed waits until all nodes follow a leader. It returns false if that is not so in time.
func (c *Cluster) followed(ctx context.Context, leader replica.Role) bool {
	for {
		all := true
		for i := range c.cfg.Places {
			all = all && c.Node(event.NodeID(i+1)).Leader(Group) == leader
		}
		if all {
			return true
		}
		select {
		case <-c.turns:
		case <-ctx.Done():
			return false
		}
	}
}
