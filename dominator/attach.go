package dominator

import "github.com/aeon-lang/aeon/internal/assert"

// Attach places n, which a store has kept and the graph did not know: parent is its T-parent,
// and, if units is not 0, its only owner. It reports false, having changed nothing, if parent was
// deleted. A node without owners below an actor is queued for Pending. The parent need not be
// held: see the package comment. O(1).
func (g *Graph) Attach(n, parent *Node, units uint32) bool {
	assertFresh(n)
	g.mu.Lock()
	defer g.mu.Unlock()
	assert.That(parent == &g.root || parent.parent.Load() != nil, "T-parent %d of node %d is not placed", parent.ID, n.ID)
	assert.That(units == 0 || !parent.virtual, "virtual node %d owns node %d", parent.ID, n.ID)
	if parent.has(markDead) {
		return false
	}
	n.top.Store(n)
	parent.mu.Lock()
	if units > 0 {
		n.set(markCovered)
		n.in0 = inEdge{owner: parent, outPos: parent.ensureEdges().push(outEdge{child: n, units: units})}
	}
	parent.hang(n)
	parent.mu.Unlock()
	if units == 0 && !parent.virtual {
		g.markDirty(n)
	}
	return true
}
