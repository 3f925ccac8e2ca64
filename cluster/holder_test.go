package cluster

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/cluster/front"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// endsNot has a test fail if a node ends.
func endsNot(t *testing.T) func(error) {
	return func(err error) { t.Errorf("the node ends: %v", err) }
}

// follow runs a holder, which hears of the roles of a driver, until the function that is returned is called.
func follow(h *holder, d *driver.Driver) (end func()) {
	h.driver = d
	var tasks sync.WaitGroup
	stop := make(chan struct{})
	tasks.Go(h.run)
	tasks.Go(func() {
		look := time.NewTicker(time.Millisecond)
		defer look.Stop()
		for last := (replica.Role{}); ; {
			if r := d.Leader(h.group); r != last { // a driver tells once of each
				h.turn(r)
				last = r
			}
			select {
			case <-stop:
				return
			case <-look.C:
			}
		}
	})
	return func() {
		close(stop)
		h.end()
		tasks.Wait()
	}
}

// unopened begins a group whose store no node can open. Each attempt is told to opens.
func unopened(t *testing.T, nodes int, fail func(error), opens func()) (end func()) {
	t.Helper()
	var places []driver.Place
	for range nodes {
		places = append(places, &replicatest.Memory{})
	}
	log := slog.New(slog.DiscardHandler)
	c, err := replicatest.Open(replicatest.Config{Places: places, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	var ends []func()
	for id := event.NodeID(1); id <= event.NodeID(nodes); id++ {
		ends = append(ends, follow(newHolder(id, replicatest.Group, func(store.Engine, uint64, func(error)) (*system, error) {
			opens()
			return nil, errors.New("the program has changed")
		}, sched.NewHybrid(sched.RealClock{}), fail, log), c.Node(id)))
	}
	return func() {
		for _, end := range ends {
			end()
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A store that no node can open does not go round as fast as it can: of five attempts on three nodes one at least is the second on its node, after which
// that waits.
func TestAStoreThatNoNodeCanOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := make(chan time.Time, 5)
		defer unopened(t, 3, endsNot(t), func() {
			select {
			case opened <- time.Now():
			default:
			}
		})()
		first := <-opened
		for range cap(opened) - 2 {
			<-opened
		}
		if d := (<-opened).Sub(first); d < pauseMin {
			t.Errorf("the store was opened %d times within %v", cap(opened), d)
		}
	})
}

// The only member of a group, which can hand nothing over, ends when it cannot use the store: started again it can try again.
func TestTheOnlyNodeOfAStoreThatCannotBeOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		defer unopened(t, 1, func(err error) { failed <- err }, func() {})()
		select {
		case err := <-failed:
			if want := "store 1 has failed on this node, and no other one can lead it; start the node again: the program has changed"; err.Error() != want {
				t.Errorf("the node ends: %v, want %s", err, want)
			}
		case <-time.After(time.Minute):
			t.Error("the node goes on, and its store has no engine")
		}
	})
}

// A node waits the longer before it gives a store away the more often that has failed there, until a node has opened it, or another one leads.
func TestPausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolder(1, replicatest.Group, nil, sched.NewHybrid(sched.RealClock{}), nil, slog.New(slog.DiscardHandler))
		term := uint64(0)
		pauses := func() time.Duration {
			term++
			h.turn(replica.Role{Group: replicatest.Group, Term: term, Leader: 1})
			h.failed(term)
			began := time.Now()
			h.pause(term)
			return time.Since(began)
		}
		second := time.Second
		for i, want := range []time.Duration{0, second, 2 * second, 4 * second, 8 * second, 16 * second, 30 * second, 30 * second} {
			if got := pauses(); got != want {
				t.Errorf("failure %d is followed by a pause of %v, want %v", i+1, got, want)
			}
		}
		h.served(term - 1) // before it has failed
		next := replica.Role{Group: replicatest.Group, Term: term + 2, Leader: 2}
		time.AfterFunc(second, func() { h.turn(next) })
		if got := pauses(); got != second {
			t.Errorf("the node waits for %v, and another one leads after %v", got, second)
		}
		term++
		h.served(term)
		if got := pauses(); got != 0 {
			t.Errorf("the node waits for %v before it gives away a store that another one has opened", got)
		}
	})
}

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
		return nil, errors.New("the program has changed\nmuch")
	}, sched.NewHybrid(sched.RealClock{}), endsNot(t), log)
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
	h.served(first.Term + 1) // another node can open it
	if why := h.whyNot(); why != "the program has changed (its log has more)" {
		t.Errorf("the node tells that it cannot open the store: %q", why)
	}
}

// A request that is under way to a leader goes on while that leads: what is known already, or was once, ends it not.
func TestRolesThatAreNoNews(t *testing.T) {
	h := newHolder(1, replicatest.Group, nil, sched.NewHybrid(sched.RealClock{}), nil, slog.New(slog.DiscardHandler))
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

// A request waits for a leader at a node that ends for a short time alone, and not as long as its client would: the node ends behind it. One that comes to be
// known meanwhile gets the request.
func TestRequestsDoNotHoldUpANodeThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolder(1, replicatest.Group, nil, sched.NewHybrid(sched.RealClock{}), nil, slog.New(slog.DiscardHandler))
		locate := func() (event.NodeID, time.Duration, error) {
			began := time.Now()
			at, err := h.locate(t.Context(), front.Place{})
			return at.Node, time.Since(began), err
		}
		time.AfterFunc(time.Minute, h.end)
		if at, took, err := locate(); err == nil || took != time.Minute+transferMax {
			t.Errorf("a request goes to node %d after %v: %v", at, took, err)
		}
		time.AfterFunc(transferMax/2, func() { h.turn(replica.Role{Group: replicatest.Group, Term: 1, Leader: 2}) })
		if at, took, err := locate(); err != nil || at != 2 || took != transferMax/2 {
			t.Errorf("a request goes to node %d after %v: %v", at, took, err)
		}
	})
}

// What a node has forwarded is answered when the node ends, if the other one answers within the grace period, and is cut off then.
func TestANodeThatEndsAwaitsAnswersOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{log: slog.New(slog.DiscardHandler), stop: make(chan struct{}), ready: make(chan struct{})}
		h := newHolder(1, replicatest.Group, nil, sched.NewHybrid(sched.RealClock{}), nil, n.log)
		n.holders.list = map[placement.StoreID]*holder{placement.StoreID(h.group): h}
		h.turn(replica.Role{Group: h.group, Term: 1, Leader: 2})
		_, at, _ := h.known()
		began, took := time.Now(), time.Duration(0)
		n.servers = append(n.servers, func(context.Context) error { // has a request that the other node does not answer
			<-at.Over
			took = time.Since(began)
			return nil
		})
		if n.close(t.Context()); took != graceMax {
			t.Errorf("a node that ends has waited for another one for %v, want %v", took, graceMax)
		}
	})
}
