package dominator

import (
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/internal/assert"
)

// CycleError refuses an edge that would close a cycle in Omega. A user fault:
// the event that stored the reference aborts (AEON leaves this open; docs/language.md, Ownership).
type CycleError struct {
	// Path leads from the child of the refused edge down to its owner, both
	// included; the refused edge is the step back.
	Path []*Node
}

// Error implements error.
func (e *CycleError) Error() string {
	var b strings.Builder
	b.WriteString("ownership cycle: ")
	for _, n := range e.Path {
		fmt.Fprintf(&b, "%d -> ", n.ID)
	}
	fmt.Fprintf(&b, "%d", e.Path[0].ID)
	return b.String()
}

// Edit changes the number of references that Owner holds to Child by Units,
// which may be negative.
type Edit struct {
	Owner, Child *Node
	Units        int
}

// AddEdge adds one unit to p -> c and reports whether the edge is new. A cycle
// is refused with a *CycleError and changes nothing. An edge to a deleted actor
// is not kept: the reference dangles. The caller holds p (W) and, where the
// class graph does not exclude a cycle, reach(c) (R): protocol rule 8.
func (g *Graph) AddEdge(p, c *Node) (first bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if first, err = g.addChecked(p, c, 1); first {
		g.tightenSome()
	}
	return first, err
}

// RemoveEdge takes one unit from p -> c and reports whether that was the last.
// T stays as it is, at worst looser than need be (protocol rule 9). Edges of
// deleted actors are gone already, and removing one changes nothing; removing
// any other edge that is not there is a bug and panics.
func (g *Graph) RemoveEdge(p, c *Node) (last bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.has(markDead) || c.has(markDead) {
		return false
	}
	if last = g.removeUnits(p, c, 1); last {
		g.tightenSome()
	}
	return last
}

// Apply performs the ownership changes of one event, all or none: removals
// first, then additions, so that an event may turn an edge round. There is at
// most one edit per pair, its net change. It returns a *CycleError.
func (g *Graph) Apply(edits []Edit) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range edits {
		if e.Units < 0 && !e.Owner.has(markDead) && !e.Child.has(markDead) {
			g.removeUnits(e.Owner, e.Child, uint32(-e.Units))
		}
	}
	for i, e := range edits {
		if e.Units <= 0 {
			continue
		}
		if _, err := g.addChecked(e.Owner, e.Child, uint32(e.Units)); err != nil {
			g.revert(edits, i)
			g.tightenSome()
			return err
		}
	}
	g.tightenSome()
	return nil
}

// revert undoes an Apply whose addition number done was refused.
func (g *Graph) revert(edits []Edit, done int) {
	for _, e := range edits[:done] {
		if e.Units > 0 && !e.Child.has(markDead) {
			g.removeUnits(e.Owner, e.Child, uint32(e.Units))
		}
	}
	for _, e := range edits {
		if e.Units < 0 && !e.Owner.has(markDead) && !e.Child.has(markDead) {
			g.addUnits(e.Owner, e.Child, uint32(-e.Units))
		}
	}
}

func (g *Graph) addChecked(p, c *Node, units uint32) (first bool, err error) {
	for _, n := range [...]*Node{p, c} {
		assert.That(!n.virtual, "virtual node %d cannot be in an ownership edge", n.ID)
		assert.That(n.parent.Load() != nil, "node %d of an ownership edge is not placed", n.ID)
	}
	assert.That(!p.has(markDead), "deleted node %d becomes owner of %d", p.ID, c.ID)
	if c.has(markDead) {
		return false, nil
	}
	if at, found := g.find(p, c); found {
		g.addToEdge(p, at, units)
		return false, nil
	}
	if path := g.path(c, p); path != nil {
		return false, &CycleError{Path: path}
	}
	g.addEdge(p, c, units)
	return true, nil
}

// Path returns a path of ownership edges from a down to b, both included, or
// nil when a does not reach b. An edge b -> a would close a cycle exactly when
// there is one.
func (g *Graph) Path(a, b *Node) []*Node {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.path(a, b)
}

// Units returns the multiplicity of p -> c, 0 when there is no edge.
func (g *Graph) Units(p, c *Node) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, found := g.find(p, c)
	if !found {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return int(p.edges.Load().out[at].units)
}

// Owners appends the owners of n to buf, in no particular but a reproducible
// order.
func (g *Graph) Owners(buf []*Node, n *Node) []*Node {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range n.inLen() {
		buf = append(buf, n.owner(i))
	}
	return buf
}

// Owned appends the actors that n owns to buf, in no particular but a
// reproducible order.
func (g *Graph) Owned(buf []*Node, n *Node) []*Node {
	g.mu.Lock()
	defer g.mu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	if e := n.edges.Load(); e != nil {
		for _, o := range e.out {
			buf = append(buf, o.child)
		}
	}
	return buf
}

// OwnedMax is Owned with a bound: if n owns more than max actors, all is false and nothing is
// appended. It takes no lock of the whole graph.
func (g *Graph) OwnedMax(buf []*Node, n *Node, max int) (list []*Node, all bool) {
	e := n.edges.Load()
	if e == nil {
		return buf, true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(e.out) > max {
		return buf, false
	}
	for _, o := range e.out {
		buf = append(buf, o.child)
	}
	return buf, true
}

// TChildren appends the T-children of n to buf, newest first.
func (g *Graph) TChildren(buf []*Node, n *Node) []*Node {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := n.firstChild(); c != nil; c = c.next {
		buf = append(buf, c)
	}
	return buf
}
