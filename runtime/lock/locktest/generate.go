package locktest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// dag is an ownership graph over n actors, numbered so that edges lead upwards in
// number: out[i] are the actors that actor i owns.
type dag struct {
	n   int
	out [4]uint8
}

// dags returns all DAGs on n actors up to isomorphism.
func dags(n int) (l []dag) {
	pairs := n * (n - 1) / 2
	seen := map[[4]uint8]bool{}
	perms := permutations(n)
	for bits := range 1 << pairs {
		var g dag
		g.n = n
		k := 0
		for i := range n {
			for j := i + 1; j < n; j++ {
				if bits>>k&1 == 1 {
					g.out[i] |= 1 << j
				}
				k++
			}
		}
		var least [4]uint8
		for i, p := range perms {
			var o [4]uint8
			for a := range n {
				for b := range n {
					if g.out[a]>>b&1 == 1 {
						o[p[a]] |= 1 << p[b]
					}
				}
			}
			if i == 0 || slices.Compare(o[:], least[:]) < 0 {
				least = o
			}
		}
		if !seen[least] {
			seen[least] = true
			l = append(l, g)
		}
	}
	return l
}

func permutations(n int) (l [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for i := 0; i <= len(p); i++ {
			l = append(l, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return l
}

// genOptions restricts what a config contains, to aim at planted bugs.
type genOptions struct {
	hosts  int // 0: drawn
	still  bool
	events int  // 0: drawn, 2 or 3
	moves  bool // half of the events move nodes in T
	create bool // the first event creates an actor, which another calls
	crash  bool // a host crashes
	plain  bool // nothing crashes, and what is created is called by its creator only
}

// generate draws a config over g.
func generate(g dag, r *rand.Rand, o genOptions) *config {
	c := &config{hosts: o.hosts}
	if c.hosts == 0 {
		c.hosts = 1 + r.IntN(hostsMax)
	}
	for i := range g.n {
		x := nodeActor + node(i)
		c.actors |= bit(x)
		for j := range g.n {
			if g.out[i]>>j&1 == 1 {
				c.edges[x] |= bit(nodeActor + node(j))
			}
		}
		c.slots[x] = pick(r, c.edges[x])
	}
	c.genTree(r)
	for x := range c.host {
		c.host[x] = uint8(r.IntN(c.hosts))
	}
	n := o.events
	if n == 0 {
		n = 2 + r.IntN(2)
	}
	for e := range n {
		c.events = append(c.events, c.genEvent(r, event(e), o))
		for x := nodeActor; x < nodeCount; x++ {
			if r.IntN(2) == 0 {
				c.lazy[e] |= bit(x)
			}
		}
	}
	if !o.still && r.IntN(4) == 0 {
		c.arb = 1 << r.IntN(n)
	}
	c.try = r.IntN(2) == 0
	c.fanout = c.hosts == 1 && r.IntN(2) == 0
	c.light = r.IntN(2) == 0 && c.hosts == 1 // see farMove
	if !o.still && !o.plain {
		c.genCreated(r, o)
		if c.hosts > 1 && (o.crash || r.IntN(8) == 0) {
			c.genCrash(r)
		}
	}
	return c
}

// genCreated lets events call, once it is there, what another creates.
func (c *config) genCreated(r *rand.Rand, o genOptions) {
	if p := &c.events[0]; o.create && p.move == 0 {
		p.writes |= bit(p.target)
		p.ops[p.target] = append(p.ops[p.target], op{kind: opCreate})
	}
	for e := range c.events {
		p := &c.events[e]
		if p.move != 0 || !slices.ContainsFunc(p.ops[p.target], func(o op) bool { return o.kind == opCreate }) {
			continue
		}
		f := nodeFresh + node(e)
		p.writes |= bit(f)
		for i := range c.events {
			q := &c.events[i]
			if i == e || q.move != 0 || r.IntN(4) == 0 && !o.create {
				continue
			}
			if r.IntN(2) == 0 {
				q.target = p.target
				c.host[nodeFresh+node(i)] = c.host[q.target]
			}
			q.writes &^= bit(f)
			q.writes |= bit(f) & mask(r.Uint32())
			q.ops[p.target] = append(q.ops[p.target], op{kind: opCall, to: f, async: r.IntN(3) == 0})
		}
	}
}

// genCrash chooses a host to crash, and homes that are elsewhere.
func (c *config) genCrash(r *rand.Rand) {
	h := uint8(r.IntN(c.hosts))
	c.crash = h + 1
	for e := range c.events {
		p := &c.events[e]
		x := p.target
		if p.move != 0 {
			x = p.move
		}
		c.home[e] = c.host[x]
		if c.home[e] == h {
			c.home[e] = (h + 1 + uint8(r.IntN(c.hosts-1))) % uint8(c.hosts)
		}
	}
}

func pick(r *rand.Rand, m mask) node {
	var l []node
	m.each(func(x node) { l = append(l, x) })
	if len(l) == 0 {
		return 0
	}
	return l[r.IntN(len(l))]
}

// genTree draws the sequencing tree: mostly the dominator tree, else a looser one or any.
func (c *config) genTree(r *rand.Rand) {
	c.actors.each(func(x node) { c.parents[x] = c.dominator(x) })
	kind := r.IntN(6)
	if kind >= 4 {
		c.actors.each(func(x node) {
			if r.IntN(2) == 0 {
				return
			}
			if kind == 4 && c.parents[x] != nodeTop { // an ancestor
				c.parents[x] = c.parents[c.parents[x]]
			} else if kind == 5 { // any actor with a smaller number: no cycle
				c.parents[x] = pick(r, c.actors&(bit(x)-1)|bit(nodeTop))
			}
		})
	}
	if r.IntN(4) == 0 { // two partitions
		c.parents[nodePartA], c.parents[nodePartB] = nodeTop, nodeTop
		c.actors.each(func(x node) {
			if c.parents[x] == nodeTop {
				c.parents[x] = nodePartA + node(r.IntN(2))
			}
		})
	}
}

// dominator returns the nearest node on all paths from TOP to x.
func (c *config) dominator(x node) node {
	best, size := nodeTop, 0
	c.actors.each(func(d node) {
		if d == x {
			return
		}
		without := c.edges
		without[d] = 0
		var roots mask
		c.actors.each(func(y node) {
			root := true
			c.actors.each(func(p node) { root = root && !c.edges[p].has(y) })
			if root && y != d {
				roots |= bit(y)
			}
		})
		if !reach(&without, roots).has(x) {
			// of the dominators the one with most dominators above it has the fewest below
			n := 0
			c.actors.each(func(y node) {
				if reach(&c.edges, bit(y)).has(d) {
					n++
				}
			})
			if n > size {
				best, size = d, n
			}
		}
	})
	return best
}

// genEvent draws what event e does.
func (c *config) genEvent(r *rand.Rand, e event, o genOptions) program {
	var p program
	if !o.still && (r.IntN(10) == 0 || o.moves && r.IntN(2) == 0) {
		p.move = pick(r, c.actors)
		p.below = pick(r, c.actors&^bit(p.move)|bit(c.root(p.move)))
		return p
	}
	p.target = pick(r, c.actors)
	if r.IntN(4) != 0 { // a third of the rest reads only
		p.writes = mask(r.Uint32()) & c.actors
		if r.IntN(2) == 0 {
			p.writes = c.actors
		}
	}
	if e > 0 && r.IntN(8) == 0 {
		p.after = 1 << r.IntN(int(e))
	}
	p.full = r.IntN(4) == 0
	c.host[nodeFresh+node(e)] = c.host[p.target]
	var arg node
	if r.IntN(3) == 0 {
		arg = pick(r, c.actors)
	}
	change := !o.still && r.IntN(3) == 0
	c.actors.each(func(x node) {
		for m := c.edges[x]; m != 0; m &= m - 1 {
			y := m.first()
			for range r.IntN(3) { // none, once or twice
				p.ops[x] = append(p.ops[x], op{kind: opCall, to: y, async: r.IntN(3) == 0})
			}
		}
		if k := r.IntN(5); c.edges[x] != 0 && k < 2 {
			a := op{kind: opSlot, async: r.IntN(3) == 0}
			if k == 1 && p.writes.has(x) {
				a = op{kind: opSet, to: pick(r, c.edges[x])}
			}
			p.ops[x] = append(p.ops[x], a)
		}
		r.Shuffle(len(p.ops[x]), func(i, j int) { p.ops[x][i], p.ops[x][j] = p.ops[x][j], p.ops[x][i] })
		if len(p.ops[x]) > 3 {
			p.ops[x] = p.ops[x][:3]
		}
	})
	x := p.target
	if arg != 0 && arg != x {
		p.ops[x] = append(p.ops[x], op{kind: opCallArg, to: arg, async: r.IntN(3) == 0})
	}
	if change {
		c.genChange(r, &p, x, arg)
	}
	return p
}

// genChange adds a change of ownership at x.
func (c *config) genChange(r *rand.Rand, p *program, x, arg node) {
	p.writes |= bit(x)
	switch k := r.IntN(5); {
	case k == 0:
		p.ops[x] = append(p.ops[x], op{kind: opCreate, async: r.IntN(2) == 0})
		p.writes |= mask(0xf) << nodeFresh
	case k == 1 && c.edges[x] != 0:
		p.ops[x] = append(p.ops[x], op{kind: opRemove, to: pick(r, c.edges[x])})
	default:
		y := arg
		if y == 0 || y == x {
			y = pick(r, c.actors&^bit(x))
		}
		if y != 0 {
			p.ops[x] = slices.Insert(p.ops[x], r.IntN(len(p.ops[x])+1), op{kind: opAdd, to: y})
			if r.IntN(2) == 0 {
				p.ops[x] = append(p.ops[x], op{kind: opCall, to: y})
			}
		}
	}
}

// root returns the virtual node above x.
func (c *config) root(x node) node {
	for !virtualNodes.has(x) {
		x = c.parents[x]
	}
	return x
}

// String describes the config to the reader of a finding.
func (c *config) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; %d hosts, try %v, fanout %v, light %v, arb %b\n", c.name, c.hosts, c.try, c.fanout, c.light, c.arb)
	if c.crash != 0 {
		fmt.Fprintf(&b, "  host %d may crash; homes on %v\n", c.crash-1, c.home[:len(c.events)])
	}
	if c.stores {
		fmt.Fprintf(&b, "  over stores; homes in %v; by TOP at once %v; hinted %b; known %v, with all below %v; readers leave early %v\n  stores that vote with answers %b; on the fast path %v; stores that crash %b, cut %b\n", c.home[:len(c.events)], c.byTop[:len(c.events)], c.hinted[:len(c.events)],
			c.known[:len(c.events)], c.trees[:len(c.events)], c.early, c.votes[:len(c.events)], c.fast[:len(c.events)], c.crashes, c.cuts)
	}
	for x := node(1); x < nodeFresh; x++ {
		if c.parents[x] != 0 {
			fmt.Fprintf(&b, "  %d: below %d, owns %v, slot %d, host %d\n", x, c.parents[x], c.edges[x], c.slots[x], c.host[x])
		}
	}
	for e := range c.events {
		p := &c.events[e]
		if p.move != 0 {
			fmt.Fprintf(&b, "  e%d: moves %d below %d in T\n", e, p.move, p.below)
			continue
		}
		fmt.Fprintf(&b, "  e%d: target %d, writes %v, full %v, after %b, lazy %v:", e, p.target, p.writes&c.actors, p.full, p.after, c.lazy[e]&c.actors)
		for x, l := range p.ops {
			for _, o := range l {
				fmt.Fprintf(&b, " %d.%s", x, o)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (o op) String() string {
	s := [...]string{"call", "callArg", "callSlot", "setSlot", "add", "remove", "create"}[o.kind]
	if o.async {
		s = "async-" + s
	}
	return fmt.Sprintf("%s(%d)", s, o.to)
}

func (m mask) String() string {
	s := ""
	m.each(func(x node) { s += fmt.Sprint(",", x) })
	return "{" + strings.TrimPrefix(s, ",") + "}"
}
