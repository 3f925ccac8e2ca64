// Package nodes runs a program on several stores in one process: a cluster without machines, for tests of programs and of the runtime. What the
// stores tell each other is delivered in any order.
package nodes

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

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
	// Fatal is told why a store has failed.
	Fatal func(error)
}

// Cluster is the systems. Clients use the first one; every other has its actors, too.
type Cluster struct {
	Systems []*exec.System
	stores  []*store.Store
	workers sched.Workers
	flying  sched.Pending // messages
	wait    *sched.Scheduler
}

// Open opens all stores.
func Open(cfg Config) (c *Cluster, err error) {
	c = &Cluster{Systems: make([]*exec.System, cfg.Stores)}
	if cfg.System.Scheduled && cfg.System.Scheduler == nil {
		cfg.System.Scheduler = sched.New(cfg.System.Seed, c.waits)
	}
	c.wait = cfg.System.Scheduler
	c.workers.Open(0, c.wait)
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	siblings := &exec.Siblings{}
	for i := range cfg.Stores {
		id := event.StoreID(i)
		e, err := cfg.Open(id)
		if err != nil {
			return c, err
		}
		st, err := store.Open(e, store.Options{Program: "nodes", Partitions: cfg.Partitions, Number: id, Log: slog.New(slog.DiscardHandler), Fatal: cfg.Fatal})
		if err != nil {
			return c, err
		}
		c.stores = append(c.stores, st)
		sys := cfg.System
		sys.Store = st
		sys.Across = &exec.Across{Store: id, Of: func(p event.PartitionID) event.StoreID { return event.StoreID(int(p) % cfg.Stores) },
			Network: network{c, id}, Siblings: siblings, Spread: cfg.Spread}
		if c.Systems[i], err = exec.Recover(sys); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Close ends the systems, in which nothing is under way, and their stores.
func (c *Cluster) Close() (err error) {
	for ch := c.flying.Zero(); ch != nil; ch = c.flying.Zero() {
		c.wait.Wait(ch)
	}
	for _, s := range c.Systems {
		if s != nil {
			s.Close()
		}
	}
	if c.wait != nil {
		c.wait.Until(c.workers.Idle)
	}
	c.workers.Close()
	for _, s := range c.stores {
		err = errors.Join(err, s.Close())
	}
	return err
}

// waits says what waits for what, if nothing goes on.
func (c *Cluster) waits() string {
	var b strings.Builder
	for i, s := range c.Systems {
		if s != nil {
			tries, parts, undone := s.Across().Open()
			fmt.Fprintf(&b, "store %d: %d attempts over several stores, %d parts, %d decisions to be carried out\n", i, tries, parts, undone)
			s.WriteWaits(&b)
		}
	}
	return b.String()
}

// network is how a store sends.
type network struct {
	c    *Cluster
	from event.StoreID
}

// Send implements across.Network.
func (n network) Send(to event.StoreID, m *across.Message) {
	n.c.flying.Add(1)
	n.c.workers.Run(func() {
		defer n.c.flying.Add(-1)
		n.c.Systems[to].Across().Receive(n.from, m)
	})
}

// Counts adds up what has happened between the stores.
func (c *Cluster) Counts() (sum across.Counts) {
	for _, s := range c.Systems {
		sum.Add(s.Across().Counts())
	}
	return sum
}
