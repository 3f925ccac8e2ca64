package dominator

import (
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/internal/assert"
)

// Node is the place of one actor in both structures. It is embedded in the
// runtime's handle of an actor (96 bytes) and identified by its address; the
// zero value, with ID set, is ready to be placed. It must not be copied.
type Node struct {
	// ID belongs to the owner of the node, which sets it before placing the node.
	// The package only prints it.
	ID uint64

	// T, read without locks under Graph.seq. parent, jump and depth change
	// together, only inside a MoveT.
	parent atomic.Pointer[Node]
	jump   atomic.Pointer[Node] // an ancestor, see jumpFrom
	top    atomic.Pointer[Node]
	depth  atomic.Uint32

	virtual bool // constant once placed
	marks   mark // guarded by Graph.mu

	// mu guards the node's list of T-children and its out-edges. NewChild takes it
	// alone; every other method holds Graph.mu too.
	mu         sync.Mutex
	first      *Node // T-children, newest first
	next, prev *Node // siblings, guarded by the parent's mu

	// The in-edges are in0 and then edges.more; guarded by Graph.mu. Nearly
	// every actor has at most one owner, so the first needs no allocation.
	in0   inEdge
	edges atomic.Pointer[edges] // created under mu, dropped by Detach alone
}

// Virtual reports whether n is TOP or the node of a partition: it is passed and
// never held. Any goroutine.
func (n *Node) Virtual() bool { return n.virtual }

type mark uint8

const (
	markDirty    mark = 1 << iota // queued in Graph.dirty: may want a move in T
	markLoose                     // queued in Graph.loose: top may be too high
	markCovered                   // the T-parent is a T-ancestor-or-self of all owners
	markForward                   // seen by the cycle search from c
	markBackward                  // seen by the cycle search from p
	markRaised                    // on the stack of raise
	markDead                      // deleted; still in T while it has T-children
)

func (n *Node) has(m mark) bool { return n.marks&m != 0 }
func (n *Node) set(m mark)      { n.marks |= m }
func (n *Node) unset(m mark)    { n.marks &^= m }

// Graph holds the ownership DAG and the sequencing tree of one system. The
// package comment states which method may be called when.
type Graph struct {
	root Node

	// seq is odd while MoveT rewrites T. Readers that overlap it retry.
	seq atomic.Uint64

	mu      sync.Mutex
	dirty   queue   // guarded by mu: nodes that may want a move
	loose   queue   // guarded by mu: nodes whose top may be tighter
	raising []*Node // guarded by mu: the stack of raise, kept for its space
}

// New returns a graph that consists of TOP.
func New() *Graph {
	g := &Graph{}
	g.root.virtual = true
	g.root.jump.Store(&g.root)
	g.root.top.Store(&g.root)
	return g
}

// TOP returns the virtual root of T.
func (g *Graph) TOP() *Node { return &g.root }

// NewPartition places n below TOP as the virtual node of a partition.
func (g *Graph) NewPartition(n *Node) {
	assertFresh(n)
	n.virtual = true
	n.top.Store(n)
	g.root.mu.Lock()
	defer g.root.mu.Unlock()
	g.root.hang(n)
}

// NewRoot places the fresh actor n, which has no owner yet, below the virtual node
// of its partition (or TOP). O(1).
func (g *Graph) NewRoot(n, partition *Node) {
	assertFresh(n)
	if !partition.virtual {
		assert.Unreachable("root %d placed below %d, which is not virtual", n.ID, partition.ID)
	}
	n.top.Store(n)
	partition.mu.Lock()
	defer partition.mu.Unlock()
	partition.hang(n)
}

// NewChild places the fresh actor c with its creator as only owner, one unit,
// and as T-parent. It touches no other node: c lies in the T-subtree of the
// creator, so the tops of the creator and of all above it stay as they are. The
// caller holds the creator. O(1).
func (g *Graph) NewChild(creator, c *Node) {
	assertFresh(c)
	if creator.virtual {
		assert.Unreachable("virtual node %d creates %d", creator.ID, c.ID)
	}
	c.top.Store(c)
	c.set(markCovered)
	creator.mu.Lock()
	defer creator.mu.Unlock()
	if creator.parent.Load() == nil {
		assert.Unreachable("creator %d of %d is not placed", creator.ID, c.ID)
	}
	c.in0 = inEdge{owner: creator, outPos: creator.ensureEdges().push(outEdge{child: c, units: 1})}
	creator.hang(c)
}

// PlaceFresh places the fresh actor c below the nearest common T-ancestor of
// its owners, of which there is at least one; an owner listed twice holds two
// units. The caller holds the owners.
func (g *Graph) PlaceFresh(c *Node, owners []*Node) {
	assertFresh(c)
	assert.That(len(owners) > 0, "fresh node %d has no owner: NewRoot places roots", c.ID)
	g.mu.Lock()
	defer g.mu.Unlock()
	at := owners[0]
	for _, p := range owners {
		assert.That(!p.virtual && p.parent.Load() != nil && !p.has(markDead), "%d cannot own fresh node %d", p.ID, c.ID)
		at = nca(at, p)
	}
	at = liveAncestor(at)
	c.top.Store(c)
	c.set(markCovered)
	at.mu.Lock()
	at.hang(c)
	at.mu.Unlock()
	for _, p := range owners {
		if at, found := g.find(p, c); found {
			g.addToEdge(p, at, 1)
			continue
		}
		g.link(p, c, 1)
		g.raise(p, c)
	}
}

func assertFresh(n *Node) {
	if n.parent.Load() != nil || n.jump.Load() != nil {
		assert.Unreachable("node %d is placed twice", n.ID)
	}
}
