package locktest

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// class reduces what a finding says to what must stay the same while it shrinks.
func (f *finding) class() string {
	s, _, _ := strings.Cut(f.what, ":")
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, strings.Join(strings.Fields(s)[:min(2, len(strings.Fields(s)))], " "))
}

func (c *config) clone() *config {
	d := *c
	d.events = slices.Clone(c.events)
	for e := range d.events {
		for x, l := range d.events[e].ops {
			d.events[e].ops[x] = slices.Clone(l)
		}
	}
	return &d
}

// smaller returns configs that are simpler than c by one thing.
func (c *config) smaller() (l []*config) {
	try := func(f func(d *config) bool) {
		if d := c.clone(); f(d) {
			l = append(l, d)
		}
	}
	for e := range c.events {
		if len(c.events) > 1 {
			try(func(d *config) bool { d.dropEvent(e); return true })
		}
		for x := range c.events[e].ops {
			for i, o := range c.events[e].ops[x] {
				try(func(d *config) bool {
					d.events[e].ops[x] = slices.Delete(d.events[e].ops[x], i, i+1)
					return true
				})
				if o.async {
					try(func(d *config) bool { d.events[e].ops[x][i].async = false; return true })
				}
			}
		}
		try(func(d *config) bool { ok := d.events[e].full; d.events[e].full = false; return ok })
		try(func(d *config) bool { ok := d.events[e].after != 0; d.events[e].after = 0; return ok })
		for x := nodeActor; x < nodeFresh; x++ {
			try(func(d *config) bool { ok := d.events[e].writes.has(x); d.events[e].writes &^= bit(x); return ok })
			try(func(d *config) bool { ok := d.lazy[e].has(x); d.lazy[e] &^= bit(x); return ok })
		}
	}
	for x := nodeTop; x < nodeFresh; x++ {
		try(func(d *config) bool { ok := d.host[x] != 0; d.host[x] = 0; return ok })
		for y := nodeActor; y < nodeFresh; y++ {
			try(func(d *config) bool {
				ok := d.edges[x].has(y)
				d.edges[x] &^= bit(y)
				if d.slots[x] == y {
					d.slots[x] = 0
				}
				return ok
			})
		}
	}
	try(func(d *config) bool {
		if d.crash == 0 {
			return false
		}
		d.crash = 0
		return true
	})
	try(func(d *config) bool { ok := d.arb != 0; d.arb = 0; return ok })
	try(func(d *config) bool { ok := d.try; d.try = false; return ok })
	try(func(d *config) bool { ok := d.light; d.light = false; return ok })
	try(func(d *config) bool { ok := d.fanout; d.fanout = false; return ok })
	return l
}

func (c *config) dropEvent(e int) {
	c.events = slices.Delete(c.events, e, e+1)
	cut := func(m uint8) uint8 { return m&(1<<e-1) | m>>(e+1)<<e }
	c.arb = cut(c.arb)
	for i := range c.events {
		c.events[i].after = cut(c.events[i].after)
	}
	copy(c.lazy[e:], c.lazy[e+1:])
	copy(c.home[e:], c.home[e+1:])
	copy(c.host[int(nodeFresh)+e:], c.host[int(nodeFresh)+e+1:])
}

// shrink looks for a smaller config with the same kind of finding, and then for a
// short way to it.
func (s *search) shrink(f *finding) *finding {
	defer func(l int) { s.limit = l }(s.limit)
	s.limit = 20_000
	for again := true; again; {
		again = false
		for _, c := range f.c.smaller() {
			all, g := s.explore(c)
			if r := rand.New(rand.NewPCG(1, 2)); g == nil && !all {
				for range 50 {
					if g = s.random(c, r); g != nil {
						break
					}
				}
			}
			if g != nil && g.class() == f.class() {
				f, again = g, true
				break
			}
		}
	}
	if g := shortest(f.c, f.class()); g != nil {
		return g
	}
	return f
}

// shortest looks for the finding breadth first.
func shortest(c *config, class string) *finding {
	type step struct {
		w     *world
		moves []move
	}
	w := &world{}
	w.reset(c)
	level := []step{{w: w}}
	seen := map[uint64]bool{}
	for len(level) > 0 && len(seen) < 40_000 {
		var next []step
		for _, s := range level {
			l := s.w.moves(nil)
			if len(l) == 0 {
				if s.w.bad == "" {
					s.w.end()
				}
				if f := (&finding{c: c, moves: s.moves, what: s.w.bad}); s.w.bad != "" && f.class() == class {
					return f
				}
				continue
			}
			for _, m := range l {
				n := &world{}
				n.copyFrom(s.w)
				n.apply(m)
				h := n.hash()
				if n.bad == "" && seen[h] {
					continue
				}
				seen[h] = true
				next = append(next, step{n, append(slices.Clone(s.moves), m)})
			}
		}
		level = next
	}
	return nil
}
