package dominator

import (
	"errors"
	"fmt"
)

// Placed is a node as a store has kept it.
type Placed struct {
	Node *Node
	// Parent is the T-parent: TOP, the node of a partition, or another of the nodes.
	Parent *Node
	// Units is the multiplicity of the edge Parent -> Node, 0 if there is none.
	Units uint32
}

// ErrRestore is wrapped by the errors of Restore: what was stored is not a graph.
var ErrRestore = errors.New("dominator: what was stored is no ownership graph")

// Restore places nodes as they were stored in a graph that has only its partitions yet. T is as it
// was; edges lists the ownership edges whose owner is not the T-parent. Tops are computed, from
// below, and are exact. Nodes that want a move in T, because moves that edits had caused were not
// performed any more, are queued for Pending. nodes has all nodes but those that Attach may place
// later.
//
// It takes O(nodes + edges), and less where parents come before their children. No other goroutine
// uses the graph meanwhile. An error wraps ErrRestore and leaves the graph unusable.
func (g *Graph) Restore(nodes []Placed, edges []Edit) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := restorer{g: g}
	if err := r.place(nodes); err != nil {
		return err
	}
	if err := r.link(nodes, edges); err != nil {
		return err
	}
	if err := r.tops(); err != nil {
		return err
	}
	for i := range nodes {
		g.want(&nodes[i])
	}
	return nil
}

// restorer is one Restore.
type restorer struct {
	g      *Graph
	block  []edges // that edge lists are taken from
	owners []*Node // of edges that do not come from the T-parent
}

// edgesBlock is how many edge lists are allocated at once.
const edgesBlock = 256

// placePasses is how often the nodes that wait for their parents are gone through.
const placePasses = 4

// place builds T. A node whose parent is not placed yet waits for it: mostly that comes soon.
func (r *restorer) place(nodes []Placed) error {
	var later []*Placed
	for i := range nodes {
		if p := &nodes[i]; r.placed(p.Parent) {
			r.hang(p)
		} else {
			later = append(later, p)
		}
	}
	for pass := 0; pass < placePasses && len(later) > 0; pass++ {
		kept := later[:0]
		for _, p := range later {
			if r.placed(p.Parent) {
				r.hang(p)
			} else {
				kept = append(kept, p)
			}
		}
		later = kept
	}
	return r.placeUpwards(later)
}

// placeUpwards places nodes, each after those above it, wherever these are in the list.
func (r *restorer) placeUpwards(nodes []*Placed) error {
	index := make(map[*Node]*Placed, len(nodes))
	for _, p := range nodes {
		index[p.Node] = p
	}
	var path []*Placed
	for _, p := range nodes {
		if p.Node.parent.Load() != nil {
			continue // placed on the way to a descendant
		}
		for !r.placed(p.Parent) {
			path = append(path, p)
			if p = index[p.Parent]; p == nil {
				return fmt.Errorf("%w: the parent of node %d in the tree is missing", ErrRestore, path[len(path)-1].Node.ID)
			}
			if len(path) > len(nodes) {
				return fmt.Errorf("%w: node %d lies below itself in the tree", ErrRestore, p.Node.ID)
			}
		}
		r.hang(p)
		for len(path) > 0 {
			r.hang(path[len(path)-1])
			path = path[:len(path)-1]
		}
	}
	return nil
}

// placed reports whether n is in T.
func (r *restorer) placed(n *Node) bool { return n == &r.g.root || n.parent.Load() != nil }

func (r *restorer) hang(p *Placed) {
	p.Node.top.Store(p.Node)
	p.Parent.hang(p.Node)
}

// link makes the edges. None escapes its owner yet.
func (r *restorer) link(nodes []Placed, others []Edit) error {
	for i := range nodes {
		p := &nodes[i]
		if p.Units == 0 {
			continue
		}
		if p.Parent.virtual {
			return fmt.Errorf("%w: virtual node %d owns node %d", ErrRestore, p.Parent.ID, p.Node.ID)
		}
		p.Node.in0 = inEdge{owner: p.Parent, outPos: r.edgesOf(p.Parent).push(outEdge{child: p.Node, units: p.Units})}
		p.Node.set(markCovered)
	}
	for _, e := range others {
		if e.Units <= 0 || !r.placed(e.Owner) || !r.placed(e.Child) || e.Owner.virtual || e.Child.virtual {
			return fmt.Errorf("%w: edge %d -> %d of %d units", ErrRestore, e.Owner.ID, e.Child.ID, e.Units)
		}
		at := e.Child.inLen()
		if at > 0 {
			ce := r.edgesOf(e.Child)
			ce.more = append(ce.more, inEdge{})
		}
		*e.Child.inAt(at) = inEdge{owner: e.Owner, outPos: r.edgesOf(e.Owner).push(outEdge{child: e.Child, units: uint32(e.Units), inPos: at})}
		e.Child.unset(markCovered)
		r.owners = append(r.owners, e.Owner)
	}
	return nil
}

// edgesOf is Node.ensureEdges from a block.
func (r *restorer) edgesOf(n *Node) *edges {
	e := n.edges.Load()
	if e == nil {
		if len(r.block) == cap(r.block) {
			r.block = make([]edges, 0, edgesBlock)
		}
		r.block = r.block[:len(r.block)+1]
		e = &r.block[len(r.block)-1]
		n.edges.Store(e)
	}
	return e
}

// tops computes the tops of the nodes that own, directly or not, over an edge that does
// not come from the T-parent; all others are their own tops. From below: a node is next
// when what it owns is done.
func (r *restorer) tops() error {
	left := make(map[*Node]int, len(r.owners)) // of nodes above such an edge: how many that they own are not done
	list := r.owners
	for _, n := range list {
		left[n] = 0
	}
	list = list[:0]
	for n := range left {
		list = append(list, n)
	}
	for i := 0; i < len(list); i++ {
		for j := range list[i].inLen() {
			o := list[i].owner(j)
			if _, known := left[o]; !known {
				list = append(list, o)
			}
			left[o]++
		}
	}
	ready := list[:0:0]
	for _, n := range list {
		if left[n] == 0 {
			ready = append(ready, n)
		}
	}
	done := 0
	for ; done < len(ready); done++ {
		n := ready[done]
		n.settleTop()
		for j := range n.inLen() {
			o := n.owner(j)
			if left[o]--; left[o] == 0 {
				ready = append(ready, o)
			}
		}
	}
	if done != len(list) {
		return fmt.Errorf("%w: %d nodes are in or above an ownership cycle", ErrRestore, len(list)-done)
	}
	return nil
}

// settleTop computes the top of n, whose children have theirs, and which of its edges escape.
func (n *Node) settleTop() {
	e := n.edges.Load()
	if e == nil {
		return
	}
	t := n
	for i := range e.out {
		top := e.out[i].child.top.Load()
		t = nca(t, top)
		e.setEscaping(uint32(i), !isAncestor(n, top))
	}
	n.top.Store(t)
}

// want notes whether a node that was restored wants a move in T.
func (g *Graph) want(p *Placed) {
	switch n := p.Node; {
	case n.has(markCovered) || n.inLen() == 0 && p.Parent.virtual:
	case g.desired(n) == p.Parent:
		n.set(markCovered)
	default:
		g.markDirty(n)
	}
}
