package locktest

import (
	"fmt"
	"math/rand/v2"
)

// This file draws events over several stores. Each host is a store, with a sequencing tree of its own; the virtual nodes are passed by each attempt that enters.
// Ownership is at rest, and nodes may be moved in T. What an event knows of its footprint before is drawn, so that it meets the rest.

// far is what a config has of events over stores.
type far struct {
	stores bool
	known  [eventsMax]mask  // what the first attempt enters with
	trees  [eventsMax]mask  // of that: what it holds with all below
	hinted [eventsMax]uint8 // stores in which every attempt has a part
	byTop  [eventsMax]bool  // it enters by TOP at once, if it knows of other stores
	early  bool             // a part that has only read releases when it votes

	votes   [eventsMax]uint8 // stores that vote with their answers
	fast    [eventsMax]bool  // it enters on the fast path, if it can
	crashes uint8            // stores that crash once, at any time
	cuts    uint8            // stores whose session with the next one ends once
}

// faulty reports whether stores crash, or sessions end.
func (c *config) faulty() bool { return c.crashes|c.cuts != 0 }

// in returns the actors of a store.
func (c *config) in(store uint8) (m mask) {
	c.actors.each(func(x node) {
		if c.host[x] == store {
			m |= bit(x)
		}
	})
	return m
}

// storesOf returns the stores of the actors of m.
func (c *config) storesOf(m mask) (set uint8) {
	m.each(func(x node) { set |= 1 << c.host[x] })
	return set
}

// overStores draws a configuration of two or three stores over graph number seed of graphs.
func overStores(graphs []dag, seed uint64) *config {
	r := rand.New(rand.NewPCG(seed, 0x57083))
	c := generate(graphs[seed%uint64(len(graphs))], r, genOptions{hosts: 2 + int(seed/uint64(len(graphs))%2), still: true, events: 2 + r.IntN(4)/3})
	c.name = fmt.Sprintf("seed %d", seed)
	c.stores, c.try, c.fanout, c.light, c.early = true, false, false, false, r.IntN(2) == 0
	edges := c.edges
	for x := range edges { // those between stores are in no tree
		c.edges[x] &= c.in(c.host[x])
	}
	c.genTree(r)
	c.edges = edges
	c.actors.each(func(x node) {
		if u := c.parents[x]; c.host[u] != c.host[x] && !virtualNodes.has(u) {
			c.parents[x] = nodeTop
		}
	})
	if r.IntN(4) == 0 {
		c.arb = 1 << r.IntN(len(c.events))
	}
	for e := range c.events {
		p := &c.events[e]
		c.home[e] = c.host[p.target]
		if r.IntN(3) == 0 {
			c.home[e] = uint8(r.IntN(c.hosts))
		}
		if x := pick(r, c.actors); r.IntN(8) == 0 {
			*p = program{move: x, below: pick(r, c.in(c.host[x])&^bit(x)|bit(c.root(x)))}
			c.home[e] = c.host[x]
			continue
		}
		for more := true; more && len(p.ops[p.target]) < 4; more = r.IntN(2) == 0 {
			p.ops[p.target] = append(p.ops[p.target], op{kind: opCallArg, to: pick(r, c.actors), async: r.IntN(3) == 0})
		}
		if r.IntN(2) == 0 {
			p.writes = c.actors
		}
		calls, _ := p.closure(&c.edges, bit(p.target))
		c.known[e] = calls | bit(p.target)
		if r.IntN(2) == 0 { // else it knows all but one
			c.known[e] = bit(p.target) | (calls|mask(r.Uint32()&r.Uint32()))&mask(r.Uint32())&c.actors
		} else if calls &^= bit(p.target); calls != 0 {
			c.known[e] &^= bit(pick(r, calls))
		}
		c.trees[e] = c.known[e] & mask(r.Uint32()&r.Uint32())
		c.byTop[e] = r.IntN(4) != 0
		c.hinted[e] = uint8(r.IntN(1<<c.hosts)&r.IntN(1<<c.hosts)&r.IntN(1<<c.hosts)) &^ (1 << c.home[e])
	}
	more := rand.New(rand.NewPCG(seed, 0xfa57))
	for e := range c.events {
		c.fast[e] = more.IntN(2) == 0
		if more.IntN(2) == 0 {
			c.votes[e] = uint8(more.IntN(1 << c.hosts))
		}
	}
	return c
}

// faultyStores draws a configuration as overStores does, in which a store crashes or a session ends, or two of these happen.
func faultyStores(graphs []dag, seed uint64) *config {
	c, r := overStores(graphs, seed), rand.New(rand.NewPCG(seed, 0xc4a54))
	for range 1 + r.IntN(4)/3 {
		if s := uint8(r.IntN(c.hosts)); r.IntN(3) == 0 {
			c.cuts |= 1 << s
		} else {
			c.crashes |= 1 << s
		}
	}
	if c.hosts == 2 { // their only session is that of store 0 with the next one
		c.cuts = c.cuts&1 | c.cuts>>1
	}
	return c
}

// wanted returns what attempt id may touch on this host, as far as that knows.
func (v hostView) wanted(id xid) (reads, writes mask) {
	if !v.w.c.stores || v.w.c.events[id.Event].move != 0 {
		return v.footprint(id.Event, 0)
	}
	v.w.touched.read(partKnow(v.h, id.Event))
	k := v.w.partOf(id, v.h)
	return k.reads &^ k.writes, k.writes
}
