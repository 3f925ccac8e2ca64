package dominator

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
)

// outEdge is an edge in the list of its owner, inEdge the same edge in the list
// of its child. Each knows its place in the other list, so that an edge once
// found is removed in O(1) whatever the degrees are.
type outEdge struct {
	child *Node
	units uint32
	inPos uint32
}

type inEdge struct {
	owner  *Node
	outPos uint32
}

// edges holds what few nodes have: out-edges, and in-edges beyond the first.
type edges struct {
	// out[:escaping] are the edges whose child has its top outside the T-subtree
	// of this node. They alone decide top: it is this node itself when there is
	// none. Guarded by Node.mu, and by Graph.mu except for a push by NewChild.
	out      []outEdge
	escaping uint32
	// index finds an edge by child; built when a search has to pass more than
	// scanMax edges at both ends. Guarded as out.
	index map[*Node]uint32

	more []inEdge // guarded by Graph.mu
}

const (
	scanMax  = 16 // edges looked at one by one before an index is built
	indexMin = 8  // an index over fewer edges is dropped
)

// ensureEdges returns n.edges, made if need be. Caller holds n.mu.
func (n *Node) ensureEdges() *edges {
	e := n.edges.Load()
	if e == nil {
		e = &edges{}
		n.edges.Store(e)
	}
	return e
}

// push appends an edge that does not escape and returns its place.
func (e *edges) push(o outEdge) uint32 {
	if len(e.out) == cap(e.out) {
		// Twofold: append grows long lists by a quarter, so that each edge is copied four times.
		e.out = slices.Grow(e.out, len(e.out)+1)
	}
	e.out = append(e.out, o)
	at := uint32(len(e.out) - 1)
	if e.index != nil {
		e.index[o.child] = at
	}
	return at
}

// put writes o at place i and tells the other end.
func (e *edges) put(i uint32, o outEdge) {
	e.out[i] = o
	o.child.inAt(o.inPos).outPos = i
	if e.index != nil {
		e.index[o.child] = i
	}
}

func (e *edges) swap(i, j uint32) {
	if i != j {
		oi, oj := e.out[i], e.out[j]
		e.put(i, oj)
		e.put(j, oi)
	}
}

// setEscaping moves the edge at place i into or out of the escaping prefix.
func (e *edges) setEscaping(i uint32, escapes bool) {
	switch {
	case escapes && i >= e.escaping:
		e.swap(i, e.escaping)
		e.escaping++
	case !escapes && i < e.escaping:
		e.escaping--
		e.swap(i, e.escaping)
	}
}

// remove takes out the edge at place i.
func (e *edges) remove(i uint32) {
	if i < e.escaping {
		e.escaping--
		e.swap(i, e.escaping)
		i = e.escaping
	}
	last := uint32(len(e.out) - 1)
	e.swap(i, last)
	if e.index != nil {
		delete(e.index, e.out[last].child)
		if last < indexMin {
			e.index = nil
		}
	}
	e.out[last] = outEdge{}
	e.out = shrink(e.out[:last])
}

// shrink gives memory back once three quarters of it are unused.
func shrink[E any](s []E) []E {
	switch {
	case len(s) == 0:
		return nil
	case cap(s) > scanMax && len(s) < cap(s)/4:
		return append(make([]E, 0, 2*len(s)), s...)
	}
	return s
}

// inLen returns the number of owners. Caller holds Graph.mu, here and below.
func (n *Node) inLen() uint32 {
	if n.in0.owner == nil {
		return 0
	}
	if e := n.edges.Load(); e != nil {
		return 1 + uint32(len(e.more))
	}
	return 1
}

func (n *Node) inAt(i uint32) *inEdge {
	if i == 0 {
		return &n.in0
	}
	return &n.edges.Load().more[i-1]
}

func (n *Node) owner(i uint32) *Node { return n.inAt(i).owner }

// find returns the place of the edge p -> c among p's out-edges.
func (g *Graph) find(p, c *Node) (at uint32, found bool) {
	if in := c.inLen(); in <= scanMax {
		for i := range in {
			if e := c.inAt(i); e.owner == p {
				return e.outPos, true
			}
		}
		return 0, false
	}
	e := p.edges.Load()
	if e == nil {
		return 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.index == nil && len(e.out) > scanMax {
		e.index = make(map[*Node]uint32, len(e.out))
		for i, o := range e.out {
			e.index[o.child] = uint32(i)
		}
	}
	if e.index != nil {
		at, found = e.index[c]
		return at, found
	}
	for i, o := range e.out {
		if o.child == c {
			return uint32(i), true
		}
	}
	return 0, false
}

// link adds the edge p -> c, which is not there yet.
func (g *Graph) link(p, c *Node, units uint32) {
	inPos := c.inLen()
	if inPos > 0 {
		c.mu.Lock()
		e := c.ensureEdges()
		c.mu.Unlock()
		e.more = append(e.more, inEdge{})
	}
	escapes := !isAncestor(p, c.top.Load())
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.ensureEdges()
	at := e.push(outEdge{child: c, units: units, inPos: inPos})
	*c.inAt(inPos) = inEdge{owner: p, outPos: at}
	e.setEscaping(at, escapes)
}

// unlink removes the edge at place at among p's out-edges.
func (g *Graph) unlink(p *Node, at uint32) {
	p.mu.Lock()
	e := p.edges.Load()
	c, inPos := e.out[at].child, e.out[at].inPos
	e.remove(at)
	p.mu.Unlock()

	last := c.inLen() - 1
	if inPos != last {
		moved := *c.inAt(last)
		*c.inAt(inPos) = moved
		moved.owner.mu.Lock()
		moved.owner.edges.Load().out[moved.outPos].inPos = inPos
		moved.owner.mu.Unlock()
	}
	*c.inAt(last) = inEdge{}
	if last > 0 {
		ce := c.edges.Load()
		ce.more = shrink(ce.more[:last-1])
	}
}

// reclassify sets whether the i-th in-edge of c escapes its owner, after top(c)
// or the T-path to it has changed.
func (g *Graph) reclassify(c *Node, i uint32) {
	in := *c.inAt(i)
	escapes := !isAncestor(in.owner, c.top.Load())
	in.owner.mu.Lock()
	in.owner.edges.Load().setEscaping(in.outPos, escapes)
	in.owner.mu.Unlock()
}

// outAt returns the i-th child of n, nil when there are fewer.
func (n *Node) outAt(i uint32) *Node {
	e := n.edges.Load()
	if e == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if i >= uint32(len(e.out)) {
		return nil
	}
	return e.out[i].child
}

// escapees returns the number of escaping out-edges of n.
func (n *Node) escapees() uint32 {
	e := n.edges.Load()
	if e == nil {
		return 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return e.escaping
}

// addUnits adds to the multiplicity of p -> c, without the cycle check.
func (g *Graph) addUnits(p, c *Node, units uint32) {
	if at, found := g.find(p, c); found {
		g.addToEdge(p, at, units)
	} else {
		g.addEdge(p, c, units)
	}
}

func (g *Graph) addToEdge(p *Node, at, units uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := &p.edges.Load().out[at]
	assert.That(e.units+units >= units, "edge %d -> %d has too many units", p.ID, e.child.ID)
	e.units += units
}

// addEdge adds a new edge and keeps top. The child may want a move, unless its
// owners had their nearest common ancestor at or below its T-parent and the new
// owner lies there too.
func (g *Graph) addEdge(p, c *Node, units uint32) {
	g.link(p, c, units)
	if !c.has(markCovered) || c.inLen() == 1 || !isAncestor(c.parent.Load(), p) {
		c.unset(markCovered)
		g.markDirty(c)
	}
	g.raise(p, c.top.Load())
}

// removeUnits takes from the multiplicity of p -> c and reports whether the
// edge is gone.
func (g *Graph) removeUnits(p, c *Node, units uint32) (last bool) {
	at, found := g.find(p, c)
	assert.That(found, "edge %d -> %d is removed and does not exist", p.ID, c.ID)
	p.mu.Lock()
	e := &p.edges.Load().out[at]
	assert.That(e.units >= units, "edge %d -> %d loses %d of %d units", p.ID, c.ID, units, e.units)
	e.units -= units
	last = e.units == 0
	p.mu.Unlock()
	if last {
		g.drop(p, at)
	}
	return last
}

// drop removes the edge at place at among p's out-edges and queues what may tighten
// by it: the T-place of the child, and the top of the owner. Only an escaping edge
// can hold that top up.
func (g *Graph) drop(p *Node, at uint32) {
	c, escapes := p.outAt(at), at < p.escapees()
	g.unlink(p, at)
	g.markDirty(c)
	if escapes {
		g.markLoose(p)
	}
}
