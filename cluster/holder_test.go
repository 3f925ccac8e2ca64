package cluster

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// A node that leads a store, and cannot open it, does not keep it from the others.
func TestAStoreThatCannotBeOpenedGoesToAnotherNode(t *testing.T) {
	const nodes = 3
	var places []driver.Place
	for range nodes {
		places = append(places, &replicatest.Memory{})
	}
	log := slog.New(slog.DiscardHandler)
	c, err := replicatest.Open(replicatest.Config{Places: places, Tick: time.Millisecond, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	// leads returns the role of the node that leads in the newest term, which is at least after.
	leads := func(after uint64) (newest replica.Role) {
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(time.Millisecond) {
			for id := event.NodeID(1); id <= nodes; id++ {
				if r := c.Node(id).Leader(replicatest.Group); r.Leader == id && r.Term >= max(after, newest.Term) {
					newest = r
				}
			}
			if newest.Leader != 0 {
				return newest
			}
		}
		t.Fatalf("no node leads in a term from %d on", after)
		return
	}
	first := leads(0)
	opened := 0
	h := newHolder(first.Leader, replicatest.Group, func(store.Engine, uint64, func(error)) (*system, error) {
		opened++
		return nil, errors.New("the program has changed")
	}, sched.NewHybrid(sched.RealClock{}), log)
	h.driver = c.Node(first.Leader)
	h.turn(first)
	ended := make(chan struct{})
	go func() {
		h.run()
		close(ended)
	}()
	if next := leads(first.Term + 1); next.Leader == first.Leader {
		t.Errorf("node %d leads again, in term %d", next.Leader, next.Term)
	}
	h.end()
	<-ended
	if opened != 1 {
		t.Errorf("the store was opened %d times", opened)
	}
}

// A request that is under way to a leader goes on while that leads: what is known already, or was once, ends it not.
func TestRolesThatAreNoNews(t *testing.T) {
	h := newHolder(1, replicatest.Group, nil, sched.NewHybrid(sched.RealClock{}), slog.New(slog.DiscardHandler))
	turn := func(term uint64, leader event.NodeID) {
		h.turn(replica.Role{Group: replicatest.Group, Term: term, Leader: leader})
	}
	turn(3, 2)
	_, at, _ := h.known()
	over := func() bool {
		select {
		case <-at.Over:
			return true
		default:
			return false
		}
	}
	turn(3, 2)
	turn(2, 3)
	if role, _, _ := h.known(); over() || role.Leader != 2 {
		t.Errorf("the leader is node %d, and requests end: %v", role.Leader, over())
	}
	turn(4, 3)
	if role, at, _ := h.known(); !over() || role.Leader != 3 || at.Node != 3 {
		t.Errorf("the leader is node %d, and requests go to node %d, those to the one before end: %v", role.Leader, at.Node, over())
	}
}
