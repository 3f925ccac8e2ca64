package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/transport"
)

// clusterNode is one node, in one life. It is the handler of its transport.
type clusterNode struct {
	c         *scheduledCluster
	id        event.NodeID
	place     *replicatest.Memory
	transport transport.Transport
	driver    *driver.Driver // nil: it is starting
	role      replica.Role
	sys       *System       // nil: it does not lead
	trace     *clusterTrace // of sys
	gone      bool          // this life has ended
	paused    bool
	holds     bool     // what arrives waits: it lies in the buffers of sockets that the paused process does not read
	held      []func() // what waits, in the order of arrival
}

var clusterNodes = []event.NodeID{1, 2, 3}

// Up implements transport.Handler.
func (n *clusterNode) Up(event.NodeID) {}

// Message implements transport.Handler.
func (n *clusterNode) Message(from event.NodeID, m []byte) {
	n.arrives(func() { n.driver.Message(from, m) })
}

// Down implements transport.Handler.
func (n *clusterNode) Down(of event.NodeID) {
	n.arrives(func() { n.driver.Down(of) })
}

// arrives has the driver told by f, once the node does not hold it.
func (n *clusterNode) arrives(f func()) {
	switch {
	case n.holds:
		n.held = append(n.held, f)
	case n.driver != nil:
		f()
	}
}

// Call implements transport.Handler.
func (n *clusterNode) Call(context.Context, event.NodeID, []byte) ([]byte, error) {
	return nil, errors.New("no node calls another one")
}

// Bulk implements transport.Handler.
func (n *clusterNode) Bulk(from event.NodeID, header []byte, r io.Reader) error {
	if n.driver == nil {
		return errors.New("the node is starting")
	}
	err := n.driver.TakeState(from, header, r)
	if err == nil {
		n.c.saw.states++
	}
	return err
}

// tick has time pass: as often as the node is chosen, which is rarely while others have something to do.
func (n *clusterNode) tick() {
	for !n.gone && !n.c.over {
		for range 12 {
			n.c.s.Yield()
		}
		n.c.s.Until(func() bool { return !n.paused || n.gone || n.c.over })
		n.driver.Tick()
	}
}

// lead runs a system in each term in which the node leads.
func (n *clusterNode) lead() {
	c, term := n.c, uint64(0)
	for {
		c.s.Until(func() bool { return n.gone || c.over || n.role.Leader == n.id && n.role.Term > term })
		if n.gone || c.over {
			break
		}
		term = n.role.Term
		e, err := n.driver.Lead(clusterGroup, term)
		if err != nil {
			continue
		}
		failed := false
		st, err := store.Open(e, store.Options{Program: "test", Partitions: 4, Log: quiet, Scheduler: c.s, Fatal: func(error) { failed = true }})
		if err != nil {
			c.note("node %d does not open the store in term %d: %v", n.id, term, err)
			continue
		}
		if c.starts[st.Starts()] { // which is in the ids that the system gives
			c.fail("node %d opens the store in term %d as the %d-th time, as another one has", n.id, term, st.Starts())
		}
		c.starts[st.Starts()] = true
		rec, err := c.record(n.id, st)
		if err != nil {
			c.note("node %d does not recover in term %d: %v", n.id, term, err)
			_ = st.Close()
			continue
		}
		n.trace = rec
		sys, err := Recover(Config{Trace: rec, Store: st, Classes: testClasses, Log: quiet, Scheduled: true, Scheduler: c.s, Seed: term, Clock: sched.NewSimClock(time.Unix(1000, 0))})
		if err != nil {
			c.note("node %d does not recover in term %d: %v", n.id, term, err)
			_ = st.Close()
			rec.end(false)
			continue
		}
		c.note("node %d leads in term %d", n.id, term)
		c.saw.failovers++
		n.sys = sys
		c.s.Until(func() bool { return failed || n.gone || c.over })
		n.sys = nil
		sys.Close()
		err = st.Close()
		if err != nil && !failed && !n.gone {
			c.fail("node %d: %v", n.id, err)
		}
		rec.end(err == nil && !n.gone && sys.Postponed() == 0)
		c.note("node %d leads no more in term %d", n.id, term)
	}
}

// rows returns the rows of the states that a node has: one, or two while one comes.
func (n *clusterNode) rows() string {
	var b strings.Builder
	states := n.place.States()
	for _, dir := range slices.Sorted(maps.Keys(states)) {
		it := states[dir].Scan(nil, []byte{255})
		for it.Next() {
			fmt.Fprintf(&b, "%q=%x\n", it.Key(), it.Value())
		}
		if err := it.Close(); err != nil {
			n.c.fail("node %d: %v", n.id, err)
		}
	}
	return b.String()
}
