package dominator

import "github.com/aeon-lang/aeon/internal/assert"

// Delete removes the actor n: all its edges go, whatever their multiplicity. It returns the deleted nodes that have
// left T: none, or n, and perhaps nodes above it. While actors hang below it in T, n stays there, and is passed like a
// virtual node, never held: moving those actors is an event for each (protocol rule 10). Pending proposes those moves,
// and the MoveT of the last reports n as gone. The caller holds n, and afterwards no event creates an actor below n or
// makes n an owner.
func (g *Graph) Delete(n *Node) (gone []*Node) {
	g.mu.Lock()
	defer g.mu.Unlock()
	assert.That(!n.virtual && n.parent.Load() != nil, "node %d cannot be deleted", n.ID)
	assert.That(!n.has(markDead), "node %d is deleted twice", n.ID)
	for n.inLen() > 0 {
		e := *n.inAt(0)
		g.drop(e.owner, e.outPos)
	}
	for n.outAt(0) != nil {
		g.drop(n, 0)
	}
	n.set(markDead)
	for c := n.firstChild(); c != nil; c = c.next {
		g.markDirty(c)
	}
	g.tightenSome()
	return g.reap(n)
}

// Deleted reports whether n was deleted.
func (g *Graph) Deleted(n *Node) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return n.has(markDead)
}

// reap takes n out of T if it was deleted and has no T-children, and then its
// T-parent in the same way. The pointers upwards stay, for readers that still
// hold the node.
func (g *Graph) reap(n *Node) (gone []*Node) {
	for n.has(markDead) && n.firstChild() == nil {
		up := n.parent.Load()
		up.mu.Lock()
		up.delist(n)
		up.mu.Unlock()
		gone = append(gone, n)
		n = up
	}
	return gone
}
