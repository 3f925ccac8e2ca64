package replica

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/event"
)

// has reports whether a node has a part in a group.
func (n *node) has(g Group) bool { return n.core.find[g] != nil }

// part has a node leave a group that it is no member of any more, or take part again, and leaders have the others do without those that were removed.
func (c *cluster) part() {
	n, g := c.nodes[event.NodeID(1+c.r.IntN(simNodes))], Group(1+c.r.IntN(simGroups))
	n.after(0, func() {
		switch {
		case n.has(g) && (n.state[g].applied() > 0 || c.r.IntN(50) == 0) && c.said[g].isOut(n.id):
			n.leave(g)
		case !n.has(g) && len(n.behind) == 0:
			n.join(g)
		}
		list, asOf := n.core.Progress(g)
		if len(list) > 0 && c.r.IntN(2) == 0 {
			c.said[g] = said{list, asOf}
		}
		want := c.want[g]
		if want == nil {
			for _, p := range list {
				if p.Votes {
					want = append(want, p.Node)
				}
			}
		}
		_, _ = n.core.Follow(g, want) // it may not lead
		n.act()
	})
	c.after(1+c.r.Uint64N(150), c.part)
}

// said is what a leader has said of a group, which may be long ago.
type said struct {
	list []Progress
	asOf Position
}

func (s said) isOut(n event.NodeID) bool {
	return len(s.list) > 0 && !slices.ContainsFunc(s.list, func(p Progress) bool { return p.Node == n })
}

// leave ends the part of a node in a group, whose log and state are removed behind what is being written.
func (n *node) leave(g Group) {
	if !n.core.Remove(g, n.c.said[g].asOf) {
		n.c.saw.stays++
		return
	}
	n.c.saw.left++
	for i, a := range n.todo {
		if a != nil && a.Group == g {
			n.todo[i] = nil
		}
	}
	for of := range n.coming {
		if of.group == g {
			delete(n.coming, of)
		}
	}
	clear(n.mine[g])
	n.state[g], n.taken[g] = state{}, state{}
	remove := func() {
		n.c.check(n.log.Leave(g))
		n.out[g] = true
		delete(n.durable, g)
		n.c.note(4, uint64(n.id), uint64(g))
	}
	if n.pending != nil {
		n.behind = append(n.behind, remove)
	} else {
		remove()
	}
}

// join takes part in a group that the node has left.
func (n *node) join(g Group) {
	n.c.saw.joined++
	n.c.note(5, uint64(n.id), uint64(g))
	log, err := n.log.State(g)
	n.c.check(err)
	delete(n.out, g)
	if err := n.core.Add(g, Start{Members: Voters(), Log: log}); err != nil {
		n.c.fail("node %d does not take part in group %d again: %v", n.id, g, err)
	}
}
