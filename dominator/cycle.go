package dominator

import "slices"

// search is one direction of the cycle check. seen lists what it has met, with
// the step it came by; what lies at and after cursor is still to be expanded.
type search struct {
	seen   []seenNode
	cursor int    // of the node being expanded
	edge   uint32 // the next edge of that node
	mark   mark
}

type seenNode struct {
	node *Node
	from int // index in seen, -1 at the start
}

func (s *search) start(n *Node, m mark) {
	s.mark = m
	s.add(n, -1)
}

func (s *search) add(n *Node, from int) {
	n.set(s.mark)
	s.seen = append(s.seen, seenNode{node: n, from: from})
}

func (s *search) done() bool { return s.cursor == len(s.seen) }

// trail returns the nodes from the start to seen[i].
func (s *search) trail(i int) []*Node {
	var t []*Node
	for ; i >= 0; i = s.seen[i].from {
		t = append(t, s.seen[i].node)
	}
	slices.Reverse(t)
	return t
}

func (s *search) indexOf(n *Node) int {
	return slices.IndexFunc(s.seen, func(x seenNode) bool { return x.node == n })
}

// path returns a path from a down to b in Omega, or nil. Caller holds Graph.mu.
//
// It searches forward from a and backward from b, one edge of each in turn, and
// ends when either has nothing left: a long chain above b costs nothing when
// little lies below a, and the reverse. Both searches leave out what T excludes:
// everything on such a path lies in T-subtree(top(a)), and reaches b.
func (g *Graph) path(a, b *Node) []*Node {
	if a == b {
		return []*Node{a}
	}
	region := a.top.Load()
	if a.outAt(0) == nil || b.inLen() == 0 || !isAncestor(region, b) {
		return nil
	}
	var down, up search
	down.start(a, markForward)
	up.start(b, markBackward)
	defer func() {
		for _, s := range down.seen {
			s.node.unset(markForward)
		}
		for _, s := range up.seen {
			s.node.unset(markBackward)
		}
	}()
	for !down.done() && !up.done() {
		if met := down.stepDown(b); met != nil {
			return join(&down, down.cursor, &up, up.indexOf(met))
		}
		if met := up.stepUp(region); met != nil {
			return join(&down, down.indexOf(met), &up, up.cursor)
		}
	}
	return nil
}

// join puts the two halves together, where neither repeats the other's end.
func join(down *search, i int, up *search, j int) []*Node {
	back := up.trail(j)
	slices.Reverse(back)
	return append(down.trail(i), back...)
}

// stepDown looks at one out-edge; it returns the child when the other search
// has seen it.
func (s *search) stepDown(b *Node) (met *Node) {
	c := s.seen[s.cursor].node.outAt(s.edge)
	if c == nil {
		s.cursor, s.edge = s.cursor+1, 0
		return nil
	}
	s.edge++
	if c.has(markBackward) {
		return c
	}
	if !c.has(s.mark) && isAncestor(c.top.Load(), b) {
		s.add(c, s.cursor)
	}
	return nil
}

// stepUp looks at one in-edge, in the same way.
func (s *search) stepUp(region *Node) (met *Node) {
	n := s.seen[s.cursor].node
	if s.edge == n.inLen() {
		s.cursor, s.edge = s.cursor+1, 0
		return nil
	}
	o := n.owner(s.edge)
	s.edge++
	if o.has(markForward) {
		return o
	}
	if !o.has(s.mark) && isAncestor(region, o) {
		s.add(o, s.cursor)
	}
	return nil
}
