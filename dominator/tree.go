package dominator

// readTries is how often a reader tries before it waits for a move to end.
const readTries = 8

// NCA returns the nearest common T-ancestor-or-self of u and v.
func (g *Graph) NCA(u, v *Node) *Node {
	if u == v {
		return u
	}
	for range readTries {
		if s := g.seq.Load(); s&1 == 0 {
			if a := nca(u, v); a != nil && g.seq.Load() == s {
				return a
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.orTOP(nca(u, v))
}

// IsAncestor reports whether u is v or a T-ancestor of v.
func (g *Graph) IsAncestor(u, v *Node) bool {
	for range readTries {
		if s := g.seq.Load(); s&1 == 0 {
			if is := isAncestor(u, v); g.seq.Load() == s {
				return is
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return isAncestor(u, v)
}

// Child returns the T-child of u that is v or a T-ancestor of v, and nil when v
// does not lie properly below u.
func (g *Graph) Child(u, v *Node) *Node {
	for range readTries {
		if s := g.seq.Load(); s&1 == 0 {
			if c := childTowards(u, v); g.seq.Load() == s {
				return c
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return childTowards(u, v)
}

// Parent returns the T-parent of n, nil for TOP and for a node that is not
// placed.
func (g *Graph) Parent(n *Node) *Node { return n.parent.Load() }

// Depth returns the number of T-ancestors of n.
func (g *Graph) Depth(n *Node) int { return int(n.depth.Load()) }

// Top returns top(x), the nearest common T-ancestor of everything that x
// reaches, or an ancestor of that: it is exact unless Tighten has work left.
func (g *Graph) Top(x *Node) *Node { return x.top.Load() }

// Sequencer returns the node at which an event enters that may touch the actors in
// exact and everything reachable from those in whole. It is the nearest common
// T-ancestor of the former and of the tops of the latter. Both empty gives TOP.
func (g *Graph) Sequencer(exact, whole []*Node) *Node {
	for range readTries {
		if s := g.seq.Load(); s&1 == 0 {
			if a := ncaOf(exact, whole); a != nil && g.seq.Load() == s {
				return a
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.orTOP(ncaOf(exact, whole))
}

// orTOP is for readers that name a node which has left T: any answer is
// permitted there, and TOP covers everything.
func (g *Graph) orTOP(n *Node) *Node {
	if n == nil {
		return &g.root
	}
	return n
}

func ncaOf(exact, whole []*Node) *Node {
	var a *Node
	for _, n := range exact {
		if a == nil {
			a = n
		} else if a = nca(a, n); a == nil {
			return nil
		}
	}
	for _, n := range whole {
		if t := n.top.Load(); a == nil {
			a = t
		} else if a = nca(a, t); a == nil {
			return nil
		}
	}
	return a
}

// The functions below read T as it is. They run under Graph.mu, or under a
// reader's check of Graph.seq: then they may meet a tree that is half rewritten,
// and must end without a fault. Every step goes to a smaller depth, as last
// read, which bounds them whatever they meet.

// lift returns the T-ancestor-or-self of v at depth d, or nil when there is none.
func lift(v *Node, d uint32) *Node {
	dv := v.depth.Load()
	for dv > d {
		up := v.jump.Load()
		if up == nil {
			return nil
		}
		dup := up.depth.Load()
		if dup < d || dup >= dv {
			if up = v.parent.Load(); up == nil {
				return nil
			}
			if dup = up.depth.Load(); dup >= dv {
				return nil
			}
		}
		v, dv = up, dup
	}
	if dv < d {
		return nil
	}
	return v
}

// nca returns the nearest common ancestor-or-self, nil when the tree met is not
// whole.
func nca(u, v *Node) *Node {
	d := min(u.depth.Load(), v.depth.Load())
	if u, v = lift(u, d), lift(v, d); u == nil || v == nil {
		return nil
	}
	for u != v {
		uu, vv := u.jump.Load(), v.jump.Load()
		if uu == vv { // the answer is that node or lies below it
			uu, vv = u.parent.Load(), v.parent.Load()
		}
		if uu == nil || vv == nil {
			return nil
		}
		up := uu.depth.Load()
		if up >= d {
			return nil
		}
		u, v, d = uu, vv, up
	}
	return u
}

func isAncestor(u, v *Node) bool { return u == v || lift(v, u.depth.Load()) == u }

func childTowards(u, v *Node) *Node {
	if c := lift(v, u.depth.Load()+1); c != nil && c.parent.Load() == u {
		return c
	}
	return nil
}

// jumpFrom returns the jump pointer of a T-child of p. Depths that jumps skip
// follow the skew-binary numbers (Myers, "An applicative random-access stack",
// 1983): a walk to any ancestor takes O(log depth) jumps and parent steps, and
// nodes of equal depth have jumps of equal depth.
func jumpFrom(p *Node) *Node {
	j := p.jump.Load()
	jj := j.jump.Load()
	if p.depth.Load()-j.depth.Load() == j.depth.Load()-jj.depth.Load() {
		return jj
	}
	return p
}

// hang makes c the newest T-child of p. Caller holds p.mu; c is not in any list.
func (p *Node) hang(c *Node) {
	c.jump.Store(jumpFrom(p))
	c.depth.Store(p.depth.Load() + 1)
	c.parent.Store(p)
	p.enlist(c)
}

// enlist puts c at the head of p's list of T-children. Caller holds p.mu.
func (p *Node) enlist(c *Node) {
	c.prev, c.next = nil, p.first
	if p.first != nil {
		p.first.prev = c
	}
	p.first = c
}

// delist takes c out of p's list of T-children. Caller holds p.mu.
func (p *Node) delist(c *Node) {
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		p.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil
}

// firstChild reads p.first. Caller holds Graph.mu, so that siblings found from
// it stay: only NewChild and NewRoot may add in front of it.
func (p *Node) firstChild() *Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first
}

// liveAncestor returns the nearest T-ancestor-or-self of n that was not
// deleted. Caller holds Graph.mu.
func liveAncestor(n *Node) *Node {
	for n.has(markDead) {
		n = n.parent.Load()
	}
	return n
}
