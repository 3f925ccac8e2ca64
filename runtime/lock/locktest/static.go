package locktest

// This file has what follows from a config before anything happens in it: bounds on what its
// events can do, whatever comes to own what.

// derived is what a program can do at most.
type derived struct {
	calls   mask // actors that it may call
	looks   mask // nodes whose edges may decide what its footprint is
	wants   mask // nodes that may come to be in its footprint
	changes mask // actors that it changes
	owning  mask // actors of which it changes what they own
	adds    bool // an owned edge
}

// derive computes what follows from the programs of c.
func (c *config) derive() {
	c.calm = c.still()
	c.moved = 0
	edges := c.edges // what may come to be owned
	for e := range c.events {
		p := &c.events[e]
		c.moved |= bit(p.move) &^ 1
		for x, l := range p.ops {
			for _, o := range l {
				switch o.kind {
				case opAdd:
					edges[x] |= bit(o.to)
				case opCreate:
					edges[x] |= bit(nodeFresh + node(e))
				}
			}
		}
	}
	for e := range c.events {
		p := &c.events[e]
		p.derived = derived{}
		for x, l := range p.ops {
			for _, o := range l {
				if o.kind >= opSet {
					p.changes |= bit(node(x))
				}
				if o.kind >= opAdd {
					p.owning |= bit(node(x))
				}
				p.adds = p.adds || o.kind == opAdd
			}
		}
		p.bound(&edges, c.moved)
	}
}

// bound computes what p may call, look at and want, if edges may come to be owned. An attempt that
// is refused at a node of moved is followed by one that wants it.
func (p *program) bound(edges *[nodeCount]mask, moved mask) {
	if p.move != 0 {
		p.wants = everyNode
		return
	}
	p.calls, _ = p.closure(edges, bit(p.target))
	calls, reads := p.closure(edges, bit(p.target)|moved)
	p.looks = calls | reads
	if p.full {
		p.looks = reach(edges, p.looks)
	}
	p.wants = p.looks
}

// closure returns what the methods at the actors of calls may call, directly or not, and what they read
// before they add an edge.
func (p *program) closure(edges *[nodeCount]mask, calls mask) (_, reads mask) {
	for old := mask(0); old != calls; {
		old = calls
		old.each(func(x node) {
			for _, o := range p.ops[x] {
				switch o.kind {
				case opCall, opCallArg:
					calls |= bit(o.to)
				case opSlot:
					calls |= edges[x]
				case opAdd:
					reads |= reach(edges, bit(o.to))
				}
			}
		})
	}
	return calls, reads
}
