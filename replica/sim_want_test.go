package replica

import (
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
)

// wants has an operator want so many nodes as the members of a group.
func (c *cluster) wants(g Group, count int) {
	nodes := c.r.Perm(simNodes)[:count]
	c.want[g] = nil
	for _, n := range nodes {
		c.want[g] = append(c.want[g], event.NodeID(n+1))
	}
}

// While members change as an operator wants it a node dies for ever, whichever it is; then the operator wants other members, even of those that are left
// few, or the dead one. All groups go on: none gives away a member without which it has no majority. Meanwhile there are the faults of all simulations.
func TestANodeDiesWhileMembersChange(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n = min(n, 30)
	}
	died, shrunk := 0, 0
	for seed := *firstSeed; seed < *firstSeed+uint64(n); seed++ {
		c := newCluster(seed)
		c.want = make(map[Group][]event.NodeID)
		c.after(1, c.load)
		c.after(1500, c.part)
		c.after(2000, c.fault)
		at := 5000 + c.r.Uint64N(30_000)
		for g := Group(1); g <= simGroups; g++ {
			c.after(c.r.Uint64N(at), func() { c.wants(g, 3) })
			const sure = 25 * tick // after so long, a pause of an election timeout included, leaders do not count on a node
			for _, more := range []uint64{0, c.r.Uint64N(15_000)} {
				c.after(at+sure+c.r.Uint64N(2000)+more, func() { c.wants(g, 1+c.r.IntN(simNodes)) })
			}
		}
		c.after(at, func() {
			c.dead = event.NodeID(1 + c.r.IntN(simNodes))
			if n := c.nodes[c.dead]; !n.down {
				n.crash()
			}
			died++
		})
		c.run(faultTime + 9000 + healTime/2)
		before := make(map[Group]int)
		for g := range c.committed {
			before[g] = len(c.committed[g])
		}
		c.run(faultTime + 9000 + healTime)
		for g := Group(1); g <= simGroups; g++ {
			if c.bad == "" && len(c.committed[g]) == before[g] {
				c.fail("group %d, of which %v are wanted and node %d is dead, commits nothing", g, c.want[g], c.dead)
			}
			if len(c.want[g]) < 3 && !slices.Contains(c.want[g], c.dead) {
				shrunk++
			}
		}
		if c.bad == "" {
			c.healed()
		}
		if c.bad != "" {
			t.Fatalf("-sim.seed=%d -sim.seeds=1: %s", seed, c.bad)
		}
	}
	if died < n || n >= 20 && shrunk == 0 {
		t.Errorf("%d nodes have died, and %d groups have shrunk", died, shrunk)
	}
}
