package dominator

import "fmt"

// Validate checks every invariant of the DAG, of T and of what links them, and
// returns the first violation. It visits everything, for tests and diagnosis;
// no NewChild or NewRoot may run beside it.
func (g *Graph) Validate() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seq.Load()&1 != 0 {
		return fmt.Errorf("dominator: no move is running and the sequence is odd")
	}
	inT := map[*Node]bool{}
	order := []*Node{}
	if err := g.validateTree(inT, &order); err != nil {
		return err
	}
	for _, n := range order {
		if err := validateEdges(n, inT); err != nil {
			return err
		}
		if err := validateTop(n); err != nil {
			return err
		}
	}
	return validateAcyclic(order)
}

func (g *Graph) validateTree(inT map[*Node]bool, order *[]*Node) (err error) {
	fail := func(n *Node, what string) {
		if err == nil {
			err = fmt.Errorf("dominator: node %d: %s", n.ID, what)
		}
	}
	walk(&g.root, func(n *Node) {
		if inT[n] {
			fail(n, "is in T twice")
		}
		inT[n] = true
		*order = append(*order, n)
		for prev, c := (*Node)(nil), n.firstChild(); c != nil; prev, c = c, c.next {
			if c.parent.Load() != n || c.prev != prev {
				fail(c, fmt.Sprintf("is badly linked among the T-children of %d", n.ID))
			}
		}
		if n == &g.root {
			return
		}
		p := n.parent.Load()
		if n.depth.Load() != p.depth.Load()+1 {
			fail(n, "has the wrong depth")
		}
		if n.jump.Load() != jumpFrom(p) {
			fail(n, "has the wrong jump pointer")
		}
		if n.virtual && (p != &g.root || n.inLen() > 0 || n.outAt(0) != nil) {
			fail(n, "is virtual and owned, owning or not below TOP")
		}
		if n.has(markDead) && (n.inLen() > 0 || n.outAt(0) != nil || n.first == nil) {
			fail(n, "is deleted and has edges or no T-children")
		}
		if n.has(markForward | markBackward | markRaised) {
			fail(n, "carries the mark of a search that has ended")
		}
	})
	return err
}

func validateEdges(n *Node, inT map[*Node]bool) error {
	for i := range n.inLen() {
		in := *n.inAt(i)
		if !inT[in.owner] {
			return fmt.Errorf("dominator: node %d has an owner %d outside T", n.ID, in.owner.ID)
		}
		e := in.owner.edges.Load()
		if e == nil || int(in.outPos) >= len(e.out) || e.out[in.outPos].child != n || e.out[in.outPos].inPos != i {
			return fmt.Errorf("dominator: in-edge %d of node %d does not match its owner %d", i, n.ID, in.owner.ID)
		}
		if n.has(markCovered) && !isAncestor(n.parent.Load(), in.owner) {
			return fmt.Errorf("dominator: node %d counts as covered and owner %d is outside", n.ID, in.owner.ID)
		}
	}
	e := n.edges.Load()
	if e == nil {
		return nil
	}
	if e.index != nil && len(e.index) != len(e.out) {
		return fmt.Errorf("dominator: index of node %d has %d entries for %d edges", n.ID, len(e.index), len(e.out))
	}
	for i, o := range e.out {
		switch {
		case o.units == 0:
			return fmt.Errorf("dominator: edge %d -> %d has no units", n.ID, o.child.ID)
		case !inT[o.child]:
			return fmt.Errorf("dominator: edge %d -> %d leads out of T", n.ID, o.child.ID)
		case o.inPos >= o.child.inLen() || o.child.owner(o.inPos) != n || o.child.inAt(o.inPos).outPos != uint32(i):
			return fmt.Errorf("dominator: edge %d -> %d does not match its child", n.ID, o.child.ID)
		case (uint32(i) < e.escaping) == isAncestor(n, o.child.top.Load()):
			return fmt.Errorf("dominator: edge %d -> %d is on the wrong side of the escaping edges", n.ID, o.child.ID)
		case e.index != nil && e.index[o.child] != uint32(i):
			return fmt.Errorf("dominator: edge %d -> %d is indexed wrongly", n.ID, o.child.ID)
		}
	}
	return nil
}

// validateTop checks cover and exact, see top.go.
func validateTop(n *Node) error {
	top, want := n.top.Load(), n
	if e := n.edges.Load(); e != nil {
		for _, o := range e.out {
			want = nca(want, o.child.top.Load())
		}
	}
	if !isAncestor(top, want) {
		return fmt.Errorf("dominator: top of node %d is %d and does not cover %d", n.ID, top.ID, want.ID)
	}
	if top != want && !n.has(markLoose) && !n.has(markDead) {
		return fmt.Errorf("dominator: top of node %d is %d, should be %d, and is not queued", n.ID, top.ID, want.ID)
	}
	return nil
}

// validateAcyclic takes away nodes without owners until none is left.
func validateAcyclic(nodes []*Node) error {
	owners := make(map[*Node]uint32, len(nodes))
	var free []*Node
	for _, n := range nodes {
		if owners[n] = n.inLen(); owners[n] == 0 {
			free = append(free, n)
		}
	}
	taken := 0
	for ; len(free) > 0; taken++ {
		n := free[len(free)-1]
		free = free[:len(free)-1]
		if e := n.edges.Load(); e != nil {
			for _, o := range e.out {
				if owners[o.child]--; owners[o.child] == 0 {
					free = append(free, o.child)
				}
			}
		}
	}
	if taken != len(nodes) {
		return fmt.Errorf("dominator: %d nodes are in or below an ownership cycle", len(nodes)-taken)
	}
	return nil
}
