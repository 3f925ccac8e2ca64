package cluster

import (
	"context"
	"errors"

	"github.com/aeon-lang/aeon/cluster/link"
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/replica/driver"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/audit"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// system is the running actors of a store, in one term of a leader, and the doors to it.
type system struct {
	*aeonrt.Led
	link    *link.Local      // of a store among several; nil: it is the only one
	public  *httpdoor.Server // for clients; it does not listen itself
	control *httpdoor.Server // for aeond on this machine
}

// open opens a system with what an engine has, in a term. fatal is called once if the store fails then.
type open func(e store.Engine, term uint64, fatal func(error)) (*system, error)

// opener returns what opens systems of the program on a store that this node leads.
func (n *node) opener(number event.StoreID, counts *gate.Counts, log *audit.Log) open {
	c, g, fail := n.c, n.grpc, n.fail
	return func(e store.Engine, term uint64, fatal func(error)) (_ *system, err error) {
		ctx, cancel := n.whileItRuns()
		defer cancel()
		if err := n.knowStores(ctx); err != nil { // a replica may have its leader before the placement has its own
			return nil, errors.Join(err, driver.ErrClosed)
		}
		s := &system{}
		among := n.among(s, number, term)
		if s.Led, err = c.Recover(n.id.Node, e, number, among, fatal); err != nil {
			if s.link != nil {
				s.link.Close()
			}
			return nil, err
		}
		defer func() {
			if err != nil {
				_ = s.end() // the error that counts is the first
			}
		}()
		if s.link != nil {
			s.link.Ready(s.System.Across())
		}
		d := door.Open(door.Config{System: s.System, Program: n.clients.program})
		cfg := httpdoor.Config{Config: gate.Config{Door: d, Log: c.Log, Counts: counts, Fail: fail, Audit: log}, Program: c.Package.Name, Metrics: n.writeMetrics}
		inside := cfg
		inside.Control = true
		s.control = httpdoor.New(inside)
		cfg.Tokens = n.clients.tokens
		if g != nil {
			if cfg.GRPC, err = g.Serve(d); err != nil {
				return nil, err
			}
		}
		s.public = httpdoor.New(cfg)
		return s, nil
	}
}

// among says which of the stores of the cluster a system has; nil: it has the only one.
func (n *node) among(s *system, number event.StoreID, term uint64) *aeonrt.Across {
	p := n.placement.State()
	// Invariant: a system is opened when the stores are known.
	assert.That(len(p.Stores) > 0, "cluster: store %d is opened, and no stores are known", number)
	if len(p.Stores) == 1 {
		return nil
	}
	if n.c.State.SnapshotActor != "" {
		n.fail(errors.New("--snapshot-actor: an actor may own actors of other stores, so a cluster of several takes snapshots of everything: leave it out"))
	}
	s.link = n.links.Open(number, term)
	return &aeonrt.Across{Cluster: n.id.Cluster, Stores: len(p.Stores), Store: number, Of: func(id event.PartitionID) event.StoreID { return p.Partitions[id].Store }, Network: s.link}
}

// end ends the system and its sessions with other stores.
func (s *system) end() error {
	if s.link != nil {
		s.link.Close()
	}
	return s.Led.Close()
}

// close ends the system. Events that run get until the end of ctx; if the store has failed they end at once. The doors are closed behind it: until then calls
// end with their events, and what is answered says whether they have happened.
func (s *system) close(ctx context.Context) error {
	doors := []*httpdoor.Server{s.public, s.control}
	for _, d := range doors {
		d.End() // of streams; calls that go on are undone, and their clients send them again
	}
	closed := make(chan error, 1)
	go func() { // ends with the events, those that wait for a store that has failed at once, and with the answers to their calls
		closed <- s.end()
		answered, cancel := context.WithTimeout(context.Background(), gate.TimeMaxDefault)
		defer cancel()
		for _, d := range doors {
			_ = d.Close(answered) // what is not answered by then is cut off
		}
	}()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
