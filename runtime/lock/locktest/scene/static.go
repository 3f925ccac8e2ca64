package scene

// This file has what follows from a config before anything happens in it: bounds on what its
// events can do, whatever comes to own what.

// derived is what a program can do at most.
type derived struct {
	Calls   Mask // actors that it may call
	Looks   Mask // nodes whose edges may decide what its footprint is
	Wants   Mask // nodes that may come to be in its footprint
	Changes Mask // actors that it changes
	Owning  Mask // actors of which it changes what they own
	Adds    bool // an owned edge
}

// Derive computes what follows from the programs of c.
func (c *Config) Derive() {
	c.Calm = c.Still()
	c.Moved = 0
	edges := c.Edges // what may come to be owned
	for e := range c.Events {
		p := &c.Events[e]
		c.Moved |= Bit(p.Move) &^ 1
		for x, l := range p.Ops {
			for _, o := range l {
				switch o.Kind {
				case OpAdd:
					edges[x] |= Bit(o.To)
				case OpCreate:
					edges[x] |= Bit(NodeFresh + Node(e))
				}
			}
		}
	}
	for e := range c.Events {
		p := &c.Events[e]
		p.derived = derived{}
		for x, l := range p.Ops {
			for _, o := range l {
				if o.Kind >= OpSet {
					p.Changes |= Bit(Node(x))
				}
				if o.Kind >= OpAdd {
					p.Owning |= Bit(Node(x))
				}
				p.Adds = p.Adds || o.Kind == OpAdd
			}
		}
		p.bound(&edges, c.Moved)
	}
}

// bound computes what p may call, look at and want, if edges may come to be owned. An attempt that
// is refused at a node of moved is followed by one that wants it.
func (p *Program) bound(edges *[NodeCount]Mask, moved Mask) {
	if p.Move != 0 {
		p.Wants = EveryNode
		return
	}
	p.Calls, _ = p.closure(edges, Bit(p.Target))
	calls, reads := p.closure(edges, Bit(p.Target)|moved)
	p.Looks = calls | reads
	if p.Full {
		p.Looks = Reach(edges, p.Looks)
	}
	p.Wants = p.Looks
}

// closure returns what the methods at the actors of calls may call, directly or not, and what they read
// before they add an edge.
func (p *Program) closure(edges *[NodeCount]Mask, calls Mask) (_, reads Mask) {
	for old := Mask(0); old != calls; {
		old = calls
		old.Each(func(x Node) {
			for _, o := range p.Ops[x] {
				switch o.Kind {
				case OpCall, OpCallArg:
					calls |= Bit(o.To)
				case OpSlot:
					calls |= edges[x]
				case OpAdd:
					reads |= Reach(edges, Bit(o.To))
				}
			}
		})
	}
	return calls, reads
}
