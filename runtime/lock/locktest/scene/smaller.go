package scene

import "slices"

func (c *Config) clone() *Config {
	d := *c
	d.Events = slices.Clone(c.Events)
	for e := range d.Events {
		for x, l := range d.Events[e].Ops {
			d.Events[e].Ops[x] = slices.Clone(l)
		}
	}
	return &d
}

// Smaller returns configs that are simpler than c by one thing.
func (c *Config) Smaller() (l []*Config) {
	try := func(f func(d *Config) bool) {
		if d := c.clone(); f(d) {
			l = append(l, d)
		}
	}
	for e := range c.Events {
		if len(c.Events) > 1 {
			try(func(d *Config) bool { d.dropEvent(e); return true })
		}
		for x := range c.Events[e].Ops {
			for i, o := range c.Events[e].Ops[x] {
				try(func(d *Config) bool {
					d.Events[e].Ops[x] = slices.Delete(d.Events[e].Ops[x], i, i+1)
					return true
				})
				if o.Async {
					try(func(d *Config) bool { d.Events[e].Ops[x][i].Async = false; return true })
				}
			}
		}
		try(func(d *Config) bool { ok := d.Events[e].Full; d.Events[e].Full = false; return ok })
		try(func(d *Config) bool { ok := d.Events[e].After != 0; d.Events[e].After = 0; return ok })
		for x := NodeActor; x < NodeFresh; x++ {
			try(func(d *Config) bool { ok := d.Events[e].Writes.Has(x); d.Events[e].Writes &^= Bit(x); return ok })
			try(func(d *Config) bool { ok := d.Lazy[e].Has(x); d.Lazy[e] &^= Bit(x); return ok })
		}
	}
	for x := NodeTop; x < NodeFresh; x++ {
		try(func(d *Config) bool { ok := d.Host[x] != 0; d.Host[x] = 0; return ok && d.treesAreOfStores() })
		for y := NodeActor; y < NodeFresh; y++ {
			try(func(d *Config) bool {
				ok := d.Edges[x].Has(y)
				d.Edges[x] &^= Bit(y)
				if d.Slots[x] == y {
					d.Slots[x] = 0
				}
				return ok
			})
		}
	}
	try(func(d *Config) bool {
		if d.Crash == 0 {
			return false
		}
		d.Crash = 0
		return true
	})
	try(func(d *Config) bool { ok := d.Arb != 0; d.Arb = 0; return ok })
	try(func(d *Config) bool { ok := d.Try; d.Try = false; return ok })
	try(func(d *Config) bool { ok := d.Light; d.Light = false; return ok })
	try(func(d *Config) bool { ok := d.Fanout; d.Fanout = false; return ok })
	return l
}

func (c *Config) dropEvent(e int) {
	c.Events = slices.Delete(c.Events, e, e+1)
	cut := func(m uint8) uint8 { return m&(1<<e-1) | m>>(e+1)<<e }
	c.Arb = cut(c.Arb)
	for i := range c.Events {
		c.Events[i].After = cut(c.Events[i].After)
	}
	copy(c.Lazy[e:], c.Lazy[e+1:])
	copy(c.Home[e:], c.Home[e+1:])
	copy(c.Known[e:], c.Known[e+1:])
	copy(c.Trees[e:], c.Trees[e+1:])
	copy(c.Hinted[e:], c.Hinted[e+1:])
	copy(c.ByTop[e:], c.ByTop[e+1:])
	copy(c.Votes[e:], c.Votes[e+1:])
	copy(c.Fast[e:], c.Fast[e+1:])
	copy(c.Aborts[e:], c.Aborts[e+1:])
	copy(c.Host[int(NodeFresh)+e:], c.Host[int(NodeFresh)+e+1:])
}
