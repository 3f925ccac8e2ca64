package dominator

import (
	"errors"

	"github.com/aeon-lang/aeon/internal/assert"
)

// ErrDetached is the error of Attach where the T-parent is not attached itself.
var ErrDetached = errors.New("the T-parent is not in the graph")

// Attach places n, which a store has kept and the graph does not know: parent is its T-parent,
// and, if units is not 0, its only owner. It fails with ErrDeleted or ErrDetached, having changed
// nothing, if parent is not in the graph any more. A node without owners below an actor is queued for
// Pending. The parent need not be held: see the package comment. O(1).
func (g *Graph) Attach(n, parent *Node, units uint32) error {
	assertFresh(n)
	g.mu.Lock()
	defer g.mu.Unlock()
	assert.That(units == 0 || !parent.virtual, "virtual node %d owns node %d", parent.ID, n.ID)
	switch {
	case parent.has(markDead):
		return ErrDeleted
	case parent != &g.root && parent.parent.Load() == nil:
		return ErrDetached
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
	return nil
}

// Detach takes n out of the graph, and reports whether it did: only if Attach can place it as it was.
// It hangs below its only owner then, or has none and hangs below a virtual node; it owns nothing,
// nothing hangs below it, and it waits for no maintenance. The caller holds n (W), and no other
// goroutine uses it or is about to. O(1).
func (g *Graph) Detach(n *Node) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := n.parent.Load()
	if p == nil || n.virtual || n.marks&^markCovered != 0 || n.top.Load() != n || n.outAt(0) != nil || n.firstChild() != nil {
		return false
	}
	switch n.inLen() {
	case 0:
		if !p.virtual {
			return false
		}
	case 1:
		if n.owner(0) != p {
			return false
		}
		g.unlink(p, n.in0.outPos)
	default:
		return false
	}
	p.mu.Lock()
	p.delist(n)
	p.mu.Unlock()
	n.unset(markCovered)
	n.parent.Store(nil)
	n.jump.Store(nil)
	n.top.Store(nil)
	n.depth.Store(0)
	n.edges.Store(nil)
	return true
}
