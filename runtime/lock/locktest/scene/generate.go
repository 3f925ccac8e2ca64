package scene

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Graph is an ownership graph over n actors, numbered so that edges lead upwards in
// number: out[i] are the actors that actor i owns.
type Graph struct {
	n   int
	out [4]uint8
}

// graphsOf returns all DAGs on n actors up to isomorphism.
func graphsOf(n int) (l []Graph) {
	pairs := n * (n - 1) / 2
	seen := map[[4]uint8]bool{}
	perms := permutations(n)
	for bits := range 1 << pairs {
		var g Graph
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

// Options restricts what a config contains, to aim at planted bugs.
type Options struct {
	Hosts  int // 0: drawn
	Still  bool
	Events int  // 0: drawn, 2 or 3
	Moves  bool // half of the events move nodes in T
	Create bool // the first event creates an actor, which another calls
	Crash  bool // a host crashes
	Plain  bool // nothing crashes, and what is created is called by its creator only
}

// Generate draws a config over g.
func Generate(g Graph, r *rand.Rand, o Options) *Config {
	c := &Config{Hosts: o.Hosts}
	if c.Hosts == 0 {
		c.Hosts = 1 + r.IntN(HostsMax)
	}
	for i := range g.n {
		x := NodeActor + Node(i)
		c.Actors |= Bit(x)
		for j := range g.n {
			if g.out[i]>>j&1 == 1 {
				c.Edges[x] |= Bit(NodeActor + Node(j))
			}
		}
		c.Slots[x] = pick(r, c.Edges[x])
	}
	c.genTree(r)
	for x := range c.Host {
		c.Host[x] = uint8(r.IntN(c.Hosts))
	}
	n := o.Events
	if n == 0 {
		n = 2 + r.IntN(2)
	}
	for e := range n {
		c.Events = append(c.Events, c.DrawEvent(r, Event(e), o))
		for x := NodeActor; x < NodeCount; x++ {
			if r.IntN(2) == 0 {
				c.Lazy[e] |= Bit(x)
			}
		}
	}
	if !o.Still && r.IntN(4) == 0 {
		c.Arb = 1 << r.IntN(n)
	}
	c.Try = r.IntN(2) == 0
	c.Fanout = c.Hosts == 1 && r.IntN(2) == 0
	c.Light = r.IntN(2) == 0 && c.Hosts == 1 // see farMove
	if !o.Still && !o.Plain {
		c.genCreated(r, o)
		if c.Hosts > 1 && (o.Crash || r.IntN(8) == 0) {
			c.genCrash(r)
		}
	}
	return c
}

// genCreated lets events call, once it is there, what another creates.
func (c *Config) genCreated(r *rand.Rand, o Options) {
	if p := &c.Events[0]; o.Create && p.Move == 0 {
		p.Writes |= Bit(p.Target)
		p.Ops[p.Target] = append(p.Ops[p.Target], Op{Kind: OpCreate})
	}
	for e := range c.Events {
		p := &c.Events[e]
		if p.Move != 0 || !slices.ContainsFunc(p.Ops[p.Target], func(o Op) bool { return o.Kind == OpCreate }) {
			continue
		}
		f := NodeFresh + Node(e)
		p.Writes |= Bit(f)
		for i := range c.Events {
			q := &c.Events[i]
			if i == e || q.Move != 0 || r.IntN(4) == 0 && !o.Create {
				continue
			}
			if r.IntN(2) == 0 {
				q.Target = p.Target
				c.Host[NodeFresh+Node(i)] = c.Host[q.Target]
			}
			q.Writes &^= Bit(f)
			q.Writes |= Bit(f) & Mask(r.Uint32())
			q.Ops[p.Target] = append(q.Ops[p.Target], Op{Kind: OpCall, To: f, Async: r.IntN(3) == 0})
		}
	}
}

// genCrash chooses a host to crash, and homes that are elsewhere.
func (c *Config) genCrash(r *rand.Rand) {
	h := uint8(r.IntN(c.Hosts))
	c.Crash = h + 1
	for e := range c.Events {
		p := &c.Events[e]
		x := p.Target
		if p.Move != 0 {
			x = p.Move
		}
		c.Home[e] = c.Host[x]
		if c.Home[e] == h {
			c.Home[e] = (h + 1 + uint8(r.IntN(c.Hosts-1))) % uint8(c.Hosts)
		}
	}
}

func pick(r *rand.Rand, m Mask) Node {
	var l []Node
	m.Each(func(x Node) { l = append(l, x) })
	if len(l) == 0 {
		return 0
	}
	return l[r.IntN(len(l))]
}

// genTree draws the sequencing tree: mostly the dominator tree, else a looser one or any.
func (c *Config) genTree(r *rand.Rand) {
	c.Actors.Each(func(x Node) { c.Parents[x] = c.dominator(x) })
	kind := r.IntN(6)
	if kind >= 4 {
		c.Actors.Each(func(x Node) {
			if r.IntN(2) == 0 {
				return
			}
			if kind == 4 && c.Parents[x] != NodeTop { // an ancestor
				c.Parents[x] = c.Parents[c.Parents[x]]
			} else if kind == 5 { // any actor with a smaller number: no cycle
				c.Parents[x] = pick(r, c.Actors&(Bit(x)-1)|Bit(NodeTop))
			}
		})
	}
	if r.IntN(4) == 0 { // two partitions
		c.Parents[nodePartA], c.Parents[nodePartB] = NodeTop, NodeTop
		c.Actors.Each(func(x Node) {
			if c.Parents[x] == NodeTop {
				c.Parents[x] = nodePartA + Node(r.IntN(2))
			}
		})
	}
}

// dominator returns the nearest node on all paths from TOP to x.
func (c *Config) dominator(x Node) Node {
	best, size := NodeTop, 0
	c.Actors.Each(func(d Node) {
		if d == x {
			return
		}
		without := c.Edges
		without[d] = 0
		var roots Mask
		c.Actors.Each(func(y Node) {
			root := true
			c.Actors.Each(func(p Node) { root = root && !c.Edges[p].Has(y) })
			if root && y != d {
				roots |= Bit(y)
			}
		})
		if !Reach(&without, roots).Has(x) {
			// of the dominators the one with most dominators above it has the fewest below
			n := 0
			c.Actors.Each(func(y Node) {
				if Reach(&c.Edges, Bit(y)).Has(d) {
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

// DrawEvent draws what event e does.
func (c *Config) DrawEvent(r *rand.Rand, e Event, o Options) Program {
	var p Program
	if !o.Still && (r.IntN(10) == 0 || o.Moves && r.IntN(2) == 0) {
		p.Move = pick(r, c.Actors)
		p.Below = pick(r, c.Actors&^Bit(p.Move)|Bit(c.root(p.Move)))
		return p
	}
	p.Target = pick(r, c.Actors)
	if r.IntN(4) != 0 { // a third of the rest reads only
		p.Writes = Mask(r.Uint32()) & c.Actors
		if r.IntN(2) == 0 {
			p.Writes = c.Actors
		}
	}
	if e > 0 && r.IntN(8) == 0 {
		p.After = 1 << r.IntN(int(e))
	}
	p.Full = r.IntN(4) == 0
	c.Host[NodeFresh+Node(e)] = c.Host[p.Target]
	var arg Node
	if r.IntN(3) == 0 {
		arg = pick(r, c.Actors)
	}
	change := !o.Still && r.IntN(3) == 0
	c.Actors.Each(func(x Node) {
		for m := c.Edges[x]; m != 0; m &= m - 1 {
			y := m.First()
			for range r.IntN(3) { // none, once or twice
				p.Ops[x] = append(p.Ops[x], Op{Kind: OpCall, To: y, Async: r.IntN(3) == 0})
			}
		}
		if k := r.IntN(5); c.Edges[x] != 0 && k < 2 {
			a := Op{Kind: OpSlot, Async: r.IntN(3) == 0}
			if k == 1 && p.Writes.Has(x) {
				a = Op{Kind: OpSet, To: pick(r, c.Edges[x])}
			}
			p.Ops[x] = append(p.Ops[x], a)
		}
		r.Shuffle(len(p.Ops[x]), func(i, j int) { p.Ops[x][i], p.Ops[x][j] = p.Ops[x][j], p.Ops[x][i] })
		if len(p.Ops[x]) > 3 {
			p.Ops[x] = p.Ops[x][:3]
		}
	})
	x := p.Target
	if arg != 0 && arg != x {
		p.Ops[x] = append(p.Ops[x], Op{Kind: OpCallArg, To: arg, Async: r.IntN(3) == 0})
	}
	if change {
		c.genChange(r, &p, x, arg)
	}
	return p
}

// genChange adds a change of ownership at x.
func (c *Config) genChange(r *rand.Rand, p *Program, x, arg Node) {
	p.Writes |= Bit(x)
	switch k := r.IntN(5); {
	case k == 0:
		p.Ops[x] = append(p.Ops[x], Op{Kind: OpCreate, Async: r.IntN(2) == 0})
		p.Writes |= Mask(0xf) << NodeFresh
	case k == 1 && c.Edges[x] != 0:
		p.Ops[x] = append(p.Ops[x], Op{Kind: OpRemove, To: pick(r, c.Edges[x])})
	default:
		y := arg
		if y == 0 || y == x {
			y = pick(r, c.Actors&^Bit(x))
		}
		if y != 0 {
			p.Ops[x] = slices.Insert(p.Ops[x], r.IntN(len(p.Ops[x])+1), Op{Kind: OpAdd, To: y})
			if r.IntN(2) == 0 {
				p.Ops[x] = append(p.Ops[x], Op{Kind: OpCall, To: y})
			}
		}
	}
}

// root returns the virtual node above x.
func (c *Config) root(x Node) Node {
	for !VirtualNodes.Has(x) {
		x = c.Parents[x]
	}
	return x
}

// String describes the config to the reader of a finding.
func (c *Config) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; %d hosts, try %v, fanout %v, light %v, arb %b\n", c.Name, c.Hosts, c.Try, c.Fanout, c.Light, c.Arb)
	if c.Crash != 0 {
		fmt.Fprintf(&b, "  host %d may crash; homes on %v\n", c.Crash-1, c.Home[:len(c.Events)])
	}
	if c.Stores {
		fmt.Fprintf(&b, "  over stores; homes in %v; by TOP at once %v; hinted %b; known %v, with all below %v; readers leave early %v\n  stores that vote with answers %b; on the fast path %v; events that fail %v; stores that crash %b, cut %b\n", c.Home[:len(c.Events)], c.ByTop[:len(c.Events)], c.Hinted[:len(c.Events)],
			c.Known[:len(c.Events)], c.Trees[:len(c.Events)], c.Early, c.Votes[:len(c.Events)], c.Fast[:len(c.Events)], c.Aborts[:len(c.Events)], c.Crashes, c.Cuts)
	}
	for x := Node(1); x < NodeFresh; x++ {
		if c.Parents[x] != 0 {
			fmt.Fprintf(&b, "  %d: below %d, owns %v, slot %d, host %d\n", x, c.Parents[x], c.Edges[x], c.Slots[x], c.Host[x])
		}
	}
	for e := range c.Events {
		p := &c.Events[e]
		if p.Move != 0 {
			fmt.Fprintf(&b, "  e%d: moves %d below %d in T\n", e, p.Move, p.Below)
			continue
		}
		fmt.Fprintf(&b, "  e%d: target %d, writes %v, full %v, after %b, lazy %v:", e, p.Target, p.Writes&c.Actors, p.Full, p.After, c.Lazy[e]&c.Actors)
		for x, l := range p.Ops {
			for _, o := range l {
				fmt.Fprintf(&b, " %d.%s", x, o)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (o Op) String() string {
	s := [...]string{"call", "callArg", "callSlot", "setSlot", "add", "remove", "create"}[o.Kind]
	if o.Async {
		s = "async-" + s
	}
	return fmt.Sprintf("%s(%d)", s, o.To)
}

func (m Mask) String() string {
	s := ""
	m.Each(func(x Node) { s += fmt.Sprint(",", x) })
	return "{" + strings.TrimPrefix(s, ",") + "}"
}

// Seeded returns configuration number i over graph g.
func Seeded(graphs []Graph, seed uint64, o Options) *Config {
	r := rand.New(rand.NewPCG(seed, 0xae0))
	c := Generate(graphs[seed%uint64(len(graphs))], r, o)
	c.Name = fmt.Sprintf("seed %d", seed)
	return c
}

// Graphs returns all ownership graphs of two to four actors.
func Graphs() []Graph {
	var l []Graph
	for n := 2; n <= 4; n++ {
		l = append(l, graphsOf(n)...)
	}
	return l
}
