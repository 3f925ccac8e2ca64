package cluster

import (
	"context"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/audit"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// system is the running actors of a store, in one term of a leader, and the doors to it.
type system struct {
	*aeonrt.Led
	public  *httpdoor.Server // for clients; it does not listen itself
	control *httpdoor.Server // for aeond on this machine
}

// open opens a system with what an engine has. fatal is called once if the store fails then.
type open func(e store.Engine, fatal func(error)) (*system, error)

// opener returns what opens systems of the program on a store that a node leads.
func opener(node event.NodeID, c *aeonrt.ClusterConfig, number event.StoreID, g *GRPC, counts *gate.Counts, log *audit.Log, fail func(error)) open {
	return func(e store.Engine, fatal func(error)) (_ *system, err error) {
		s := &system{}
		if s.Led, err = c.Recover(node, e, number, fatal); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				_ = s.Led.Close() // the error that counts is the first
			}
		}()
		d, err := door.Open(door.Config{System: s.System, Classes: aeonrt.AllClasses(c.Package), ClientClasses: aeonrt.AllClientClasses(c.Package)})
		if err != nil {
			return nil, err
		}
		cfg := httpdoor.Config{Config: gate.Config{Door: d, Log: c.Log, Counts: counts, Fail: fail, Audit: log}, Program: c.Package.Name}
		inside := cfg
		inside.Control = true
		s.control = httpdoor.New(inside)
		if c.Listen.Tokens != "" {
			if cfg.Tokens, err = access.Read(c.Listen.Tokens, d, c.Log); err != nil {
				return nil, err
			}
		}
		if g != nil {
			if cfg.GRPC, err = g.Serve(d); err != nil {
				return nil, err
			}
		}
		s.public = httpdoor.New(cfg)
		return s, nil
	}
}

// close ends the system. Events that run get until the end of ctx; if the store has failed they end at once.
func (s *system) close(ctx context.Context) error {
	for _, d := range []*httpdoor.Server{s.public, s.control} {
		_ = d.Close(ctx) // calls that go on are undone, and their clients send them again
	}
	closed := make(chan error, 1)
	go func() { // ends with the events: those that wait for a store that has failed end at once
		closed <- s.Led.Close()
	}()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
