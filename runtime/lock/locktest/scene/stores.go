package scene

import (
	"fmt"
	"math/rand/v2"
)

// This file draws events over several stores. Each host is a store, with a sequencing tree of its own; the virtual nodes are passed by each attempt that enters.
// Ownership is at rest, and nodes may be moved in T. What an event knows of its footprint before is drawn, so that it meets the rest.

// Faulty reports whether stores crash, or sessions end.
func (c *Config) Faulty() bool { return c.Crashes|c.Cuts != 0 }

// treesAreOfStores reports whether T has no edge between actors of two stores, and gets none, as it has to be if there are several.
func (c *Config) treesAreOfStores() bool {
	of := func(x, u Node) bool { return !c.Stores || VirtualNodes.Has(u) || c.Host[x] == c.Host[u] }
	ok := true
	c.Actors.Each(func(x Node) { ok = ok && of(x, c.Parents[x]) })
	for i := range c.Events {
		if p := &c.Events[i]; p.Move != 0 {
			ok = ok && of(p.Move, p.Below)
		}
	}
	return ok
}

// In returns the actors of a store.
func (c *Config) In(store uint8) (m Mask) {
	c.Actors.Each(func(x Node) {
		if c.Host[x] == store {
			m |= Bit(x)
		}
	})
	return m
}

// StoresOf returns the stores of the actors of m.
func (c *Config) StoresOf(m Mask) (set uint8) {
	m.Each(func(x Node) { set |= 1 << c.Host[x] })
	return set
}

// OverStores draws a configuration of two or three stores over graph number seed of graphs.
func OverStores(graphs []Graph, seed uint64) *Config {
	r := rand.New(rand.NewPCG(seed, 0x57083))
	c := Generate(graphs[seed%uint64(len(graphs))], r, Options{Hosts: 2 + int(seed/uint64(len(graphs))%2), Still: true, Events: 2 + r.IntN(4)/3})
	c.Name = fmt.Sprintf("seed %d", seed)
	c.Stores, c.Try, c.Fanout, c.Light, c.Early = true, false, false, false, r.IntN(2) == 0
	edges := c.Edges
	for x := range edges { // those between stores are in no tree
		c.Edges[x] &= c.In(c.Host[x])
	}
	c.genTree(r)
	c.Edges = edges
	c.Actors.Each(func(x Node) {
		if u := c.Parents[x]; c.Host[u] != c.Host[x] && !VirtualNodes.Has(u) {
			c.Parents[x] = NodeTop
		}
	})
	if r.IntN(4) == 0 {
		c.Arb = 1 << r.IntN(len(c.Events))
	}
	for e := range c.Events {
		p := &c.Events[e]
		c.Home[e] = c.Host[p.Target]
		if r.IntN(3) == 0 {
			c.Home[e] = uint8(r.IntN(c.Hosts))
		}
		if x := pick(r, c.Actors); r.IntN(8) == 0 {
			*p = Program{Move: x, Below: pick(r, c.In(c.Host[x])&^Bit(x)|Bit(c.root(x)))}
			c.Home[e] = c.Host[x]
			continue
		}
		for more := true; more && len(p.Ops[p.Target]) < 4; more = r.IntN(2) == 0 {
			p.Ops[p.Target] = append(p.Ops[p.Target], Op{Kind: OpCallArg, To: pick(r, c.Actors), Async: r.IntN(3) == 0})
		}
		if r.IntN(2) == 0 {
			p.Writes = c.Actors
		}
		calls, _ := p.closure(&c.Edges, Bit(p.Target))
		c.Known[e] = calls | Bit(p.Target)
		if r.IntN(2) == 0 { // else it knows all but one
			c.Known[e] = Bit(p.Target) | (calls|Mask(r.Uint32()&r.Uint32()))&Mask(r.Uint32())&c.Actors
		} else if calls &^= Bit(p.Target); calls != 0 {
			c.Known[e] &^= Bit(pick(r, calls))
		}
		c.Trees[e] = c.Known[e] & Mask(r.Uint32()&r.Uint32())
		c.ByTop[e] = r.IntN(4) != 0
		c.Hinted[e] = uint8(r.IntN(1<<c.Hosts)&r.IntN(1<<c.Hosts)&r.IntN(1<<c.Hosts)) &^ (1 << c.Home[e])
	}
	more := rand.New(rand.NewPCG(seed, 0xfa57))
	for e := range c.Events {
		c.Fast[e] = more.IntN(2) == 0
		if more.IntN(2) == 0 {
			c.Votes[e] = uint8(more.IntN(1 << c.Hosts))
		}
	}
	for e := range c.Events {
		c.Aborts[e] = c.Events[e].Move == 0 && more.IntN(8) == 0
	}
	return c
}

// FaultyStores draws a configuration as overStores does, in which a store crashes or a session ends, or two of these happen.
func FaultyStores(graphs []Graph, seed uint64) *Config {
	c, r := OverStores(graphs, seed), rand.New(rand.NewPCG(seed, 0xc4a54))
	for range 1 + r.IntN(4)/3 {
		if s := uint8(r.IntN(c.Hosts)); r.IntN(3) == 0 {
			c.Cuts |= 1 << s
		} else {
			c.Crashes |= 1 << s
		}
	}
	if c.Hosts == 2 { // their only session is that of store 0 with the next one
		c.Cuts = c.Cuts&1 | c.Cuts>>1
	}
	return c
}
