package dominator

// Invariant (cover): top(x) is a T-ancestor-or-self of x and of top(c) for every
// edge x -> c; hence, by induction over the DAG, of everything x reaches.
//
// Invariant (exact): unless x is queued in loose, top(x) is the nearest such
// node; where nothing is queued, top is exact everywhere.

// settleSteps bounds the tightening that one edit does on its way; the rest
// stays queued for Tighten.
const settleSteps = 256

// raise lifts top(p) to cover v, and carries the change on to owners for as far
// as it changes anything.
func (g *Graph) raise(p, v *Node) {
	if !g.lift(p, v) {
		return
	}
	for len(g.raising) > 0 {
		x := g.raising[len(g.raising)-1]
		g.raising = g.raising[:len(g.raising)-1]
		x.unset(markRaised)
		t := x.top.Load()
		for i := range x.inLen() {
			g.reclassify(x, i)
			g.lift(x.owner(i), t)
		}
	}
}

// lift raises top(x) to cover v; a change is put on the stack of raise.
func (g *Graph) lift(x, v *Node) bool {
	t := x.top.Load()
	up := nca(t, v)
	if up == t {
		return false
	}
	x.top.Store(up)
	if !x.has(markRaised) {
		x.set(markRaised)
		g.raising = append(g.raising, x)
	}
	return true
}

func (g *Graph) markLoose(x *Node) {
	if x.top.Load() != x && !x.has(markLoose) {
		x.set(markLoose)
		g.loose.push(x)
	}
}

// Tighten lowers tops that earlier removals and moves have left too high, for
// about the given number of steps (<= 0: to the end), and reports whether all tops
// are exact now. Each call holds the graph's mutex for as long.
func (g *Graph) Tighten(steps int) (exact bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for left := steps; !g.loose.empty() && (steps <= 0 || left > 0); {
		left -= g.tightenOne()
	}
	return g.loose.empty()
}

// tightenSome is the tightening that follows an edit at once.
func (g *Graph) tightenSome() {
	for steps := settleSteps; steps > 0 && !g.loose.empty(); {
		steps -= g.tightenOne()
	}
}

// tightenOne computes the top of one queued node anew, queues the owners that
// may follow, and returns the number of edges it looked at.
func (g *Graph) tightenOne() (steps int) {
	x := g.loose.pop()
	x.unset(markLoose)
	old := x.top.Load()
	t, steps := g.localTop(x)
	if t == old || x.has(markDead) {
		return steps
	}
	x.top.Store(t)
	for i := range x.inLen() {
		g.reclassify(x, i)
		// An owner whose top lies above the old top of x is held up by another
		// edge, or was queued before.
		if o := x.owner(i); o.top.Load() == old {
			g.markLoose(o)
		}
	}
	return steps + int(x.inLen())
}

// localTop returns the nearest common T-ancestor of x and the tops of what it
// owns, and the number of edges it took to find. By cover the present top is an
// ancestor of it, so that the search ends when it gets there.
func (g *Graph) localTop(x *Node) (t *Node, steps int) {
	e := x.edges.Load()
	if e == nil {
		return x, 1
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	t = x
	limit := x.top.Load()
	for i := range e.escaping {
		if t = nca(t, e.out[i].child.top.Load()); t == limit {
			// Below limit, x and the tops before this one lie under one T-child, and this one does not: it holds the top up by itself. In front of the
			// others it ends the next search at once, as long as it is there.
			e.swap(0, i)
			return t, int(i) + 1
		}
	}
	return t, int(e.escaping) + 1
}

// queue is a first-in first-out list of nodes, each at most once by a mark that
// its users keep.
type queue struct {
	nodes []*Node
	head  int
}

func (q *queue) empty() bool { return q.head == len(q.nodes) }

func (q *queue) push(n *Node) {
	if q.head > len(q.nodes)/2 && q.head > 64 {
		kept := copy(q.nodes, q.nodes[q.head:])
		clear(q.nodes[kept:])
		q.nodes, q.head = q.nodes[:kept], 0
	}
	q.nodes = append(q.nodes, n)
}

func (q *queue) pop() *Node {
	n := q.nodes[q.head]
	q.nodes[q.head] = nil
	q.head++
	if q.empty() {
		q.nodes, q.head = q.nodes[:0], 0
		if cap(q.nodes) > 1<<12 {
			q.nodes = nil
		}
	}
	return n
}
