package driver_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/engine"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

func quick(places ...driver.Place) replicatest.Config {
	return replicatest.Config{Places: places, Tick: time.Millisecond, SyncBytes: 4 << 10, Logger: slog.New(slog.DiscardHandler)}
}

func three() []driver.Place {
	return []driver.Place{&replicatest.Memory{}, &replicatest.Memory{}, &replicatest.Memory{}}
}

func put(e store.Engine, key, value string) error {
	b := e.NewBatch()
	b.Set([]byte(key), []byte(value))
	if err := e.Apply(b); err != nil {
		return err
	}
	return e.Sync()
}

func lead(t *testing.T, c *replicatest.Cluster) (event.NodeID, *engine.Engine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	id, e, err := c.Lead(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return id, e
}

// fill writes more than the log of the leader keeps: a node that has been away gets the state.
func fill(t *testing.T, c *replicatest.Cluster, leader event.NodeID, e *engine.Engine) {
	t.Helper()
	const entries = 100
	for i := range entries {
		if err := put(e, fmt.Sprintf("k%03d", i), string(make([]byte, 1000))); err != nil {
			t.Fatal(err)
		}
	}
	for c.Node(leader).LogLength(replicatest.Group) >= entries { // the log is cut when the state is synced
		<-time.After(time.Millisecond)
	}
}

func open(t *testing.T, cfg replicatest.Config) *replicatest.Cluster {
	t.Helper()
	c, err := replicatest.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// What was synced is in the state of the next leader, whichever node that is, and what a leader says is confirmed while it leads.
func TestFailOver(t *testing.T) {
	c := open(t, quick(three()...))
	for round := range 5 {
		id, e := lead(t, c)
		for r := range round {
			if v, _, err := e.Get(fmt.Appendf(nil, "k%d", r), nil); string(v) != "v" {
				t.Fatalf("the leader of round %d has %q of round %d (%v)", round, v, r, err)
			}
		}
		if err := put(e, fmt.Sprintf("k%d", round), "v"); err != nil {
			t.Fatal(err)
		}
		if err := e.Confirm(); err != nil {
			t.Fatal(err)
		}
		if err := c.Stop(id); err != nil {
			t.Fatal(err)
		}
		if err := e.Confirm(); err == nil {
			t.Fatal("a leader that was stopped is confirmed")
		}
		if err := c.Start(id); err != nil {
			t.Fatal(err)
		}
	}
}

// A leader that no other node hears is confirmed no more, though it does not know that another leads, and commits nothing.
func TestACutOffLeaderAnswersNothing(t *testing.T) {
	c := open(t, quick(three()...))
	id, e := lead(t, c)
	if err := put(e, "a", "1"); err != nil {
		t.Fatal(err)
	}
	for n := event.NodeID(1); n <= 3; n++ {
		if n != id {
			c.Cut(id, n, true)
		}
	}
	asked := make(chan error, 2)
	go func() { asked <- e.Confirm() }()
	go func() { asked <- put(e, "a", "2") }()
	next, f := lead(t, c)
	if next == id {
		t.Fatal("a leader that is cut off leads anew")
	}
	if err := put(f, "a", "3"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-asked; !errors.Is(err, driver.ErrDeposed) {
			t.Errorf("a leader that was cut off: %v", err)
		}
	}
	if v, _, err := f.Get([]byte("a"), nil); string(v) != "3" {
		t.Errorf("the new leader has %q (%v)", v, err)
	}
}

// A leader whose engine has failed does not go on leading in the term: a write that comes while it hands over fails the engine, and nothing
// else may come of the handing over.
func TestALeaderWithoutAnEngineHandsOver(t *testing.T) {
	for _, what := range []string{"a write that is refused", "a system that cannot be opened"} {
		t.Run(what, func(t *testing.T) {
			c := open(t, quick(three()...))
			id, e := lead(t, c)
			term := e.Term()
			to := id%3 + 1
			c.Cut(id, to, true)
			d := c.Node(id)
			if what == "a write that is refused" {
				if err := d.Transfer(replicatest.Group, to); err != nil {
					t.Fatal(err)
				}
				if err := put(e, "a", "1"); !errors.Is(err, driver.ErrDeposed) {
					t.Fatalf("a write while the leader hands over: %v", err)
				}
			} else {
				d.Resign(replicatest.Group, term)
			}
			next, f := lead(t, c)
			if f.Term() <= term {
				t.Errorf("node %d leads in term %d, behind one in term %d", next, f.Term(), term)
			}
			if err := put(f, "a", "2"); err != nil {
				t.Error(err)
			}
		})
	}
}

// Of a group of changes that travels in parts no later part is taken when one was refused, though package raft leads on in the term when it has given up
// handing over.
func TestNoPartIsTakenBehindOneThatWasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, quick(three()...))
		id, e := lead(t, c)
		if err := put(e, "a", "1"); err != nil {
			t.Fatal(err)
		}
		d, to := c.Node(id), id%3+1
		c.Cut(id, to, true)
		if err := d.Transfer(replicatest.Group, to); err != nil {
			t.Fatal(err)
		}
		length, parts := d.LogLength(replicatest.Group), 0
		for ; d.Leader(replicatest.Group) == (replica.Role{Group: replicatest.Group, Term: e.Term(), Leader: id}) && parts < 200; parts++ {
			if err := d.Propose(replicatest.Group, e.Term(), []byte("part")); err != nil {
				t.Fatal(err)
			}
			if n := d.LogLength(replicatest.Group); n != length {
				t.Fatalf("the log has %d entries, and had %d before part %d: the parts before were refused", n, length, parts)
			}
			<-time.After(quick().Tick / 2) // so there is one between any two ticks
			synctest.Wait()                // no other leader is on its way
		}
		if parts == 200 {
			t.Error("the leader does not hand over")
		}
	})
}

// The engine of a leader fails when the node hears of another one, though nothing is asked of it: its system ends by that.
func TestTheEngineOfADeposedLeaderFails(t *testing.T) {
	c := open(t, quick(three()...))
	id, e := lead(t, c)
	failed := make(chan error, 1)
	e.OnFailure(func(err error) { failed <- err })
	others := func(cut bool) {
		for n := event.NodeID(1); n <= 3; n++ {
			if n != id {
				c.Cut(id, n, cut)
				c.Cut(n, id, cut)
			}
		}
	}
	others(true)
	if next, _ := lead(t, c); next == id {
		t.Fatal("a leader that is cut off leads anew")
	}
	others(false)
	select {
	case err := <-failed:
		if !errors.Is(err, driver.ErrDeposed) {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the engine of a deposed leader goes on")
	}
}

// A node that was away for longer than the log goes back takes a whole state. It counts from then on, and all replicas are equal.
func TestAStateIsSent(t *testing.T) {
	places := three()
	c := open(t, quick(places...))
	id, e := lead(t, c)
	away, other := id%3+1, (id+1)%3+1
	if err := c.Stop(away); err != nil {
		t.Fatal(err)
	}
	value := string(make([]byte, 1000))
	for i := range 100 {
		if err := put(e, fmt.Sprintf("k%03d", i), value); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Start(away); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(other); err != nil {
		t.Fatal(err)
	}
	for i := range 10 { // committed by this majority alone
		if err := put(e, fmt.Sprintf("l%03d", i), value); err != nil {
			t.Fatal(err)
		}
	}
	if states := places[away-1].(*replicatest.Memory).States(); states["states/1/1"] != nil || states["states/1/2"] == nil {
		t.Errorf("the node that was away has %v", slices.Collect(maps.Keys(states)))
	}
	if err := c.Start(other); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	equal(t, open(t, quick(places...)), places)
}

// counted counts the engines in a place that are open. before, if set, is called before one is opened.
type counted struct {
	driver.Place
	open   atomic.Int64
	before func(dir string)
}

func (p *counted) Open(dir string) (store.Engine, error) {
	if p.before != nil {
		p.before(dir)
	}
	e, err := p.Place.Open(dir)
	if err == nil {
		p.open.Add(1)
		e = &countedEngine{e, p}
	}
	return e, err
}

type countedEngine struct {
	store.Engine
	of *counted
}

func (e *countedEngine) Close() error {
	e.of.open.Add(-1)
	return e.Engine.Close()
}

// A node that is closed while a state that has come is put in its place closes that, too.
func TestAStateThatComesAtTheEndIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := three()
		for i := range places {
			places[i] = &counted{Place: places[i]}
		}
		c := open(t, quick(places...))
		id, e := lead(t, c)
		away := id%3 + 1
		if err := c.Stop(away); err != nil {
			t.Fatal(err)
		}
		fill(t, c, id, e)
		p := places[away-1].(*counted)
		stopped := make(chan error, 1)
		p.before = func(dir string) {
			if dir == "states/1/2" {
				go func() { stopped <- c.Stop(away) }()
				synctest.Wait() // Stop waits for what the node has under way, which is this
			}
		}
		if err := c.Start(away); err != nil {
			t.Fatal(err)
		}
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		if n := p.open.Load(); n != 0 {
			t.Errorf("%d engines are open at the end", n)
		}
	})
}

// A node that was removed from a group leaves, and takes part again later, with what the others have.
func TestLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := three()
		c := open(t, quick(places...))
		id, e := lead(t, c)
		away, other := id%3+1, (id+1)%3+1
		if err := put(e, "a", "1"); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second) // in which all get the entry
		_, member := c.Node(id).Progress(replicatest.Group)
		follow(t, c, id, id, other)
		if err := c.Node(away).Leave(replicatest.Group, replica.Position{Index: member.Index - 1, Term: member.Term}); err != driver.ErrStays {
			t.Errorf("a node leaves with an entry that came behind the news: %v", err)
		}
		_, asOf := c.Node(id).Progress(replicatest.Group)
		if err := c.Node(away).Leave(replicatest.Group, replica.Position{Index: asOf.Index, Term: asOf.Term - 1}); err != driver.ErrStays {
			t.Errorf("a node leaves in a later term: %v", err)
		}
		if err := c.Node(away).Leave(replicatest.Group, asOf); err != nil {
			t.Fatal(err)
		}
		if names, _ := places[away-1].List("states"); len(names) > 0 {
			t.Errorf("the node has left, and has %v", names)
		}
		if err := c.Stop(away); err != nil { // it starts without a part in the group
			t.Fatal(err)
		}
		if err := c.StartEmpty(away); err != nil {
			t.Fatal(err)
		}
		if err := c.Node(away).Leave(replicatest.Group, asOf); err != driver.ErrNoMember {
			t.Errorf("a node leaves twice: %v", err)
		}
		if err := put(e, "b", "2"); err != nil {
			t.Fatal(err)
		}
		if err := c.Node(away).Join(replicatest.Group); err != nil {
			t.Fatal(err)
		}
		follow(t, c, id, id, other, away)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		equal(t, open(t, quick(places...)), places)
	})
}

// equal checks, when a leader has committed something and all have it, that the states of all nodes are equal to the byte.
func equal(t *testing.T, c *replicatest.Cluster, places []driver.Place) {
	t.Helper()
	_, e := lead(t, c)
	if err := put(e, "end", ""); err != nil {
		t.Fatal(err)
	}
	for id := range places {
		if err := c.Node(event.NodeID(id+1)).Await(t.Context(), replicatest.Group, e.Index()); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	var first string
	for id, p := range places {
		for _, m := range p.(*replicatest.Memory).States() {
			var all []byte
			it := m.Reopen().Scan(nil, []byte{255, 255})
			for it.Next() {
				all = fmt.Appendf(all, "%q=%q\n", it.Key(), it.Value())
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
			if id == 0 {
				first = string(all)
			} else if string(all) != first {
				t.Errorf("node %d has\n%s\nnode 1 has\n%s", id+1, all, first)
			}
		}
	}
}
