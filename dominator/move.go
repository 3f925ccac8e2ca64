package dominator

import (
	"errors"

	"github.com/aeon-lang/aeon/internal/assert"
)

// Errors of MoveT. Both say that the graph has changed since the move was
// proposed; the caller drops the move or asks Desired again.
var (
	ErrBelowItself = errors.New("the new T-parent lies below the node")
	ErrDeleted     = errors.New("the node or its new T-parent was deleted")
)

// Move proposes to hang Node below Parent in T.
type Move struct {
	Node, Parent *Node
}

// Desired returns the T-parent that c should have: the nearest common
// T-ancestor of its owners, or the nearest virtual node above it when it has
// none; deleted nodes are passed over. Where every actor has its desired
// parent, T is the dominator tree of Omega (protocol rule 10). nil for a deleted
// node.
func (g *Graph) Desired(c *Node) *Node {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.has(markDead) {
		return nil
	}
	return g.desired(c)
}

func (g *Graph) desired(c *Node) *Node {
	if c.inLen() == 0 {
		v := c.parent.Load()
		for !v.virtual {
			v = v.parent.Load()
		}
		return v
	}
	// Where the T-parent covers all owners the search ends when it gets there.
	limit := &g.root
	if c.has(markCovered) {
		limit = c.parent.Load()
	}
	at := c.owner(0)
	for i := uint32(1); i < c.inLen() && at != limit; i++ {
		at = nca(at, c.owner(i))
	}
	return liveAncestor(at)
}

// Pending takes up to limit moves that T wants after the edits so far, oldest
// cause first (limit <= 0: all). A move is proposed once: it returns only when
// another edit or move gives new cause, or by Reconsider. Performing the moves
// until none is pending makes T the dominator tree of Omega.
func (g *Graph) Pending(limit int) []Move {
	g.mu.Lock()
	defer g.mu.Unlock()
	var moves []Move
	for !g.dirty.empty() && (limit <= 0 || len(moves) < limit) {
		c := g.dirty.pop()
		c.unset(markDirty)
		if c.has(markDead) {
			continue
		}
		// A parent below c itself is possible where c and a former child have
		// changed places: the child moves first, and that queues c again.
		if p := g.desired(c); p != c.parent.Load() && !isAncestor(c, p) {
			moves = append(moves, Move{Node: c, Parent: p})
		}
	}
	return moves
}

// Reconsider queues c for Pending again, for a caller that took a move and did
// not perform it; unless c was detached since.
func (g *Graph) Reconsider(c *Node) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.parent.Load() != nil {
		g.markDirty(c)
	}
}

func (g *Graph) markDirty(c *Node) {
	if !c.has(markDirty | markDead) {
		c.set(markDirty)
		g.dirty.push(c)
	}
}

// MoveT hangs c and its T-subtree below the T-parent p. It returns the deleted
// nodes that left T because their last T-child did. The caller performs it as
// protocol rule 10 asks. ErrBelowItself and ErrDeleted leave T as it was.
func (g *Graph) MoveT(c, p *Node) (gone []*Node, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	assert.That(!c.virtual && c.parent.Load() != nil, "node %d cannot move in T", c.ID)
	assert.That(p == &g.root || p.parent.Load() != nil, "new T-parent %d of %d is not placed", p.ID, c.ID)
	switch old := c.parent.Load(); {
	case c.has(markDead) || p.has(markDead):
		return nil, ErrDeleted
	case isAncestor(c, p):
		return nil, ErrBelowItself
	case old == p:
		return nil, nil
	default:
		g.move(c, old, p)
		c.unset(markCovered)
		if p == g.desired(c) {
			c.set(markCovered)
		} else {
			g.markDirty(c)
		}
		g.tightenSome()
		return g.reap(old), nil
	}
}

// Moves returns a number that changes with every move in T, and is odd while one is under way. T is the
// same between two calls that return the same even number, but for nodes that came or went.
func (g *Graph) Moves() uint64 { return g.seq.Load() }

// move relinks c and restores depths, jumps, tops and escaping edges. The
// owners outside the subtree whose edges lead into it, and the nodes inside
// whose top lies outside, are all whose top can change first; the rest follows
// from them.
func (g *Graph) move(c, old, p *Node) {
	owners, inside := g.crossing(c)

	g.seq.Add(1)
	old.mu.Lock()
	old.delist(c)
	old.mu.Unlock()
	p.mu.Lock()
	c.parent.Store(p)
	p.enlist(c)
	p.mu.Unlock()
	walk(c, func(n *Node) {
		// A child placed below n meanwhile, under n.mu, needs no more than the lock
		// with which walk then looks for n's children. It is in the list before, and is
		// walked next, or it is placed after, and sees n as it is.
		up := n.parent.Load()
		n.jump.Store(jumpFrom(up))
		n.depth.Store(up.depth.Load() + 1)
	})
	for _, x := range inside {
		g.raise(x, x)
	}
	for _, in := range owners {
		for i := range in.inLen() {
			g.reclassify(in, i)
			g.raise(in.owner(i), in.top.Load())
		}
	}
	g.seq.Add(1)

	for _, x := range inside {
		g.markLoose(x)
	}
	for _, in := range owners {
		for i := range in.inLen() {
			g.markLoose(in.owner(i))
		}
	}
}

// crossing returns, of the T-subtree of c, the nodes that have an owner outside
// it and the nodes whose top lies outside it. It queues the nodes whose desired
// T-parent may change when the subtree moves: those with owners on both sides.
func (g *Graph) crossing(c *Node) (owned, inside []*Node) {
	walk(c, func(n *Node) {
		for i := range n.inLen() {
			if !isAncestor(c, n.owner(i)) {
				owned = append(owned, n)
				n.unset(markCovered)
				g.markDirty(n)
				break
			}
		}
		if !isAncestor(c, n.top.Load()) {
			inside = append(inside, n)
		}
		for i := range n.escapees() {
			if child := n.outAt(i); !isAncestor(c, child) {
				child.unset(markCovered)
				g.markDirty(child)
			}
		}
	})
	return owned, inside
}

// walk visits the T-subtree of c, parents first. Caller holds Graph.mu.
func walk(c *Node, visit func(*Node)) {
	for n := c; ; {
		visit(n)
		if k := n.firstChild(); k != nil {
			n = k
			continue
		}
		for n != c && n.next == nil {
			n = n.parent.Load()
		}
		if n == c {
			return
		}
		n = n.next
	}
}
