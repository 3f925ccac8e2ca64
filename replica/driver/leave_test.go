package driver_test

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// anyway is behind all entries: a node leaves as of it whatever it has.
var anyway = replica.Position{Term: math.MaxUint64}

// slow is a place of which one directory can be held: nothing is written there meanwhile.
type slow struct {
	driver.Place
	dir string

	mu   sync.Mutex
	held chan struct{} // nil: it is not
}

// hold holds the directory until release is called.
func (p *slow) hold() (release func()) {
	held := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = held
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held = nil
		close(held)
	}
}

func (p *slow) wait() {
	p.mu.Lock()
	held := p.held
	p.mu.Unlock()
	if held != nil {
		<-held
	}
}

// Open implements driver.Place.
func (p *slow) Open(dir string) (store.Engine, error) {
	e, err := p.Place.Open(dir)
	if err == nil && dir == p.dir {
		e = slowEngine{e, p}
	}
	return e, err
}

type slowEngine struct {
	store.Engine
	of *slow
}

// Apply implements store.Engine.
func (e slowEngine) Apply(b store.Batch) error {
	e.of.wait()
	return e.Engine.Apply(b)
}

// Sync implements store.Engine.
func (e slowEngine) Sync() error {
	e.of.wait()
	return e.Engine.Sync()
}

// What was to be written for a group behind an append that is under way is not written when the node has left the group. The node starts again, and can
// take part again.
func TestNothingIsWrittenOfAGroupThatWasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := three()
		for i, p := range places {
			places[i] = &slow{Place: p, dir: "log"}
		}
		c := open(t, quick(places...))
		id, e := lead(t, c)
		away, other := id%3+1, (id+1)%3+1
		follow(t, c, id, 1, 2, 3)
		release := places[away-1].(*slow).hold()
		for _, key := range []string{"a", "b"} { // the first one is under way, the second one waits for that
			if err := put(e, key, "1"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		left := make(chan error, 1)
		go func() { left <- c.Node(away).Leave(replicatest.Group, anyway) }()
		synctest.Wait()
		release()
		if err := <-left; err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // what was not dropped is written
		if err := c.Stop(away); err != nil {
			t.Fatal(err)
		}
		if err := c.StartEmpty(away); err != nil {
			t.Fatal(err)
		}
		follow(t, c, id, id, other)
		if err := c.Node(away).Join(replicatest.Group); err != nil {
			t.Fatal(err)
		}
		follow(t, c, id, 1, 2, 3)
	})
}

// A member that is not wanted, be it the leader, or one that lacks much, stays while the group needs it: one of the two that would remain has been silent for
// less than an election timeout. It goes when that is back.
func TestAMemberThatIsNeededStays(t *testing.T) {
	for _, as := range []string{"follower", "leader", "follower that lacks much"} {
		t.Run(as, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var other event.NodeID
				var behind atomic.Bool
				cfg := quick(three()...)
				cfg.Loses = func(m replica.Message) bool {
					return behind.Load() && m.To() == other && m.Raft.GetType().String() == "MsgApp"
				}
				c := open(t, cfg)
				id, e := lead(t, c)
				away := id%3 + 1
				other = (id+1)%3 + 1
				cut := func(is bool) {
					c.Cut(away, id, is)
					c.Cut(away, other, is)
				}
				want := []event.NodeID{id, away}
				switch as {
				case "leader":
					want[0] = other
				case "follower that lacks much":
					behind.Store(true)
					for i := range 2 * replica.CloseBy {
						if err := put(e, fmt.Sprint(i), "0"); err != nil {
							t.Fatal(err)
						}
					}
				}
				cut(true)
				<-time.After(6 * time.Millisecond) // ticks: more than two heartbeats, and less than an election timeout
				for i := range 200 {
					if c.Node(id).Follow(map[replica.Group][]event.NodeID{replicatest.Group: want})[replicatest.Group] {
						t.Fatal("the group is settled, and a member is away")
					}
					behind.Store(false)
					if err := put(e, fmt.Sprint(i), "1"); err != nil {
						t.Fatal(err)
					}
					<-time.After(time.Millisecond)
				}
				cut(false)
				if as != "leader" {
					follow(t, c, id, want...)
				}
			})
		})
	}
}

// A leader that stood still does not take for alive what has answered before: a member stays that the group needs.
func TestAMemberThatIsNeededStaysAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, quick(three()...))
		id, e := lead(t, c)
		away, other := id%3+1, (id+1)%3+1
		follow(t, c, id, 1, 2, 3)
		if err := put(e, "a", "1"); err != nil {
			t.Fatal(err)
		}
		d := c.Node(id)
		want := map[replica.Group][]event.NodeID{replicatest.Group: {id, away}}
		resume, asked := d.Pause(), make(chan struct{})
		go func() { d.Follow(want); close(asked) }()
		synctest.Wait() // the question comes before the next tick
		c.Cut(id, other, true)
		c.Cut(other, id, true)
		if err := c.Stop(away); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		c.Cut(id, other, false)
		c.Cut(other, id, false)
		resume()
		<-asked
		for range 100 {
			<-time.After(time.Millisecond)
			for n := event.NodeID(1); n <= 3; n++ {
				if d := c.Node(n); d != nil {
					d.Follow(want)
				}
			}
		}
		deadline := time.After(20 * time.Second)
		for {
			for _, n := range []event.NodeID{id, other} {
				if list, _ := c.Node(n).Progress(replicatest.Group); len(list) > 0 { // it leads
					if len(list) != 3 || !list[other-1].Votes {
						t.Errorf("node %d stays no member: %+v", other, list)
					}
					return
				}
			}
			select {
			case <-time.After(time.Millisecond):
			case <-deadline:
				t.Fatal("the group has no leader")
			}
		}
	})
}

// follow has the members of the group, which node id leads, be those that are wanted.
func follow(t *testing.T, c *replicatest.Cluster, id event.NodeID, want ...event.NodeID) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		settled, leads := c.Node(id).Follow(map[replica.Group][]event.NodeID{replicatest.Group: want})[replicatest.Group]
		if !leads {
			t.Fatalf("node %d does not lead", id)
		}
		if settled {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-deadline:
			t.Fatalf("the members are not %v", want)
		}
	}
}

// A group whose log does not fit its state is not on the node, and its state is closed.
func TestAGroupThatCannotBeJoined(t *testing.T) {
	p := &counted{Place: &replicatest.Memory{}}
	engine, err := p.Open("log")
	if err != nil {
		t.Fatal(err)
	}
	log, _, err := replica.OpenLog(engine)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Write(&replica.Append{Records: []replica.Record{{Group: replicatest.Group, Term: 1, Commit: 5}}}); err != nil {
		t.Fatal(err)
	}
	if err := engine.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	d := openAlone(t, 1, p)
	const want = "group 1: the log begins behind 0, ends at 0, and is committed up to 5"
	for range 2 {
		if err := d.Join(replicatest.Group); fmt.Sprint(err) != want {
			t.Errorf("%v, expected %q", err, want)
		}
		if d.Has(replicatest.Group) {
			t.Error("the node has the group")
		}
		if n := p.open.Load(); n != 1 { // of the log
			t.Errorf("%d engines are open", n)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// A node that leaves a group, of which it was about to send a state, sends none, and closes what it has open.
func TestLeavingBeforeAStateIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := three()
		for i, p := range places {
			places[i] = &counted{Place: &slow{Place: p, dir: "states/1/1"}}
		}
		c := open(t, quick(places...))
		id, e := lead(t, c)
		away := id%3 + 1
		if err := c.Stop(away); err != nil {
			t.Fatal(err)
		}
		fill(t, c, id, e)
		<-time.After(50 * time.Millisecond)
		synctest.Wait() // the engine of the state has all
		release := places[id-1].(*counted).Place.(*slow).hold()
		if err := put(e, "l", "1"); err != nil {
			t.Fatal(err)
		}
		<-time.After(50 * time.Millisecond) // it is about to take that
		if err := c.Start(away); err != nil {
			t.Fatal(err)
		}
		<-time.After(50 * time.Millisecond)
		synctest.Wait() // the state waits to be sent
		left := make(chan error, 1)
		go func() { left <- c.Node(id).Leave(replicatest.Group, anyway) }()
		synctest.Wait()
		release()
		if err := <-left; err != nil {
			t.Fatal(err)
		}
		if err := c.Stop(id); err != nil {
			t.Fatal(err)
		}
		if n := places[id-1].(*counted).open.Load(); n != 0 {
			t.Errorf("%d engines are open at the end", n)
		}
	})
}

// exclusive is a place of which no directory may be opened while it is open.
type exclusive struct {
	driver.Place
	t *testing.T

	mu   sync.Mutex
	open map[string]bool
}

// Open implements driver.Place.
func (p *exclusive) Open(dir string) (store.Engine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[dir] {
		p.t.Errorf("%s is opened while it is open", dir)
	}
	p.open[dir] = true
	e, err := p.Place.Open(dir)
	return exclusiveEngine{e, p, dir}, err
}

type exclusiveEngine struct {
	store.Engine
	of  *exclusive
	dir string
}

// Close implements store.Engine.
func (e exclusiveEngine) Close() error {
	e.of.mu.Lock()
	defer e.of.mu.Unlock()
	delete(e.of.open, e.dir)
	return e.Engine.Close()
}

// A snapshot of a state that was replaced is read on, whether the node leaves the group meanwhile or also takes part again; then the state is closed, and
// no other one is removed.
func TestASnapshotOutlivesAPartInAGroup(t *testing.T) {
	for _, back := range []bool{false, true} {
		t.Run(fmt.Sprintf("takes part again: %v", back), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disks, places := three(), make([]driver.Place, 3)
				for i, p := range disks {
					places[i] = &exclusive{Place: p, t: t, open: make(map[string]bool)}
				}
				c := open(t, quick(places...))
				id, e := lead(t, c)
				if err := put(e, "a", "1"); err != nil {
					t.Fatal(err)
				}
				view := e.Snapshot()
				cut := func(lost bool) {
					for n := event.NodeID(1); n <= 3; n++ {
						c.Cut(id, n, lost && n != id)
						c.Cut(n, id, lost && n != id)
					}
				}
				cut(true)
				next, f := lead(t, c)
				fill(t, c, next, f)
				cut(false)
				if err := c.Node(id).Await(t.Context(), replicatest.Group, f.Index()); err != nil {
					t.Fatal(err)
				}
				if names, _ := disks[id-1].List("states/1"); fmt.Sprint(names) != "[1 2]" {
					t.Fatalf("no state was replaced: there are %v", names)
				}
				follow(t, c, next, next, 6-id-next)
				if err := c.Node(id).Leave(replicatest.Group, anyway); err != nil {
					t.Fatal(err)
				}
				join := func() {
					if err := c.Node(id).Join(replicatest.Group); err != nil {
						t.Fatal(err)
					}
					follow(t, c, next, 1, 2, 3)
				}
				if back {
					join()
				}
				if v, _, err := view.Get([]byte("a"), nil); string(v) != "1" {
					t.Errorf("the snapshot has %q (%v)", v, err)
				}
				if err := view.Close(); err != nil {
					t.Fatal(err)
				}
				if !back {
					join()
				}
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				if open := places[id-1].(*exclusive).open; len(open) > 0 {
					t.Errorf("%v are open at the end", open)
				}
				equal(t, open(t, quick(disks...)), disks)
			})
		})
	}
}
