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
		case n.has(g) && (n.state[g].applied() > 0 || c.r.IntN(50) == 0) && c.isOut(n, g):
			n.leave(g)
		case !n.has(g) && len(n.behind) == 0 && c.allKnow(g):
			n.join(g)
		}
		list, _ := n.core.Progress(g)
		var voters []event.NodeID
		for _, p := range list {
			if p.Votes {
				voters = append(voters, p.Node)
			}
		}
		_, _ = n.core.Follow(g, voters) // it may not lead
		n.act()
	})
	c.after(1+c.r.Uint64N(150), c.part)
}

// newest returns the node that leads a group in the newest term, when it has what former leaders have committed; nil if there is none.
func (c *cluster) newest(g Group) (leader *node) {
	var term uint64
	for id := event.NodeID(1); id <= simNodes; id++ {
		n := c.nodes[id]
		if r := n.core.Leader(g); !n.down && r.Leader == id && r.Term > term {
			leader, term = n, r.Term
		}
	}
	if leader != nil {
		if list := leader.state[g].list; len(list) == 0 || list[len(list)-1].term != term {
			return nil
		}
	}
	return leader
}

// isOut reports whether the leader of a group says that a node is no member of it.
func (c *cluster) isOut(n *node, g Group) bool {
	leader := c.newest(g)
	if leader == nil {
		return false
	}
	list, _ := leader.core.Progress(g)
	return !slices.ContainsFunc(list, func(p Progress) bool { return p.Node == n.id })
}

// allKnow reports whether all nodes with a part in a group know the newest members, and will after a crash. Before, a node that has left must not take part
// again: it has nothing of the log any more, and would vote for one that believes it to be a voter still, and lacks what was committed without either.
func (c *cluster) allKnow(g Group) bool {
	leader := c.newest(g)
	if leader == nil {
		return false
	}
	turned := leader.state[g].turned
	for id := event.NodeID(1); id <= simNodes; id++ {
		n := c.nodes[id]
		if n.out[g] || n.durable[g].applied() == 0 { // it knows no members
			continue
		}
		s, err := n.log.read(g)
		c.check(err)
		if max(s.Commit, n.durable[g].applied()) < turned[len(turned)-1].Index {
			return false
		}
	}
	return true
}

// leave ends the part of a node in a group, whose log and state are removed behind what is being written.
func (n *node) leave(g Group) {
	n.c.saw.left++
	n.core.Remove(g)
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
