package locktest

import "github.com/aeon-lang/aeon/runtime/lock"

// opKind is a step of a method.
type opKind uint8

const (
	opCall    opKind = iota // call child `to`, if it is owned
	opCallArg               // call argument `to`
	opSlot                  // call the child that the slot names: this.field[k]
	opSet                   // slot = to, if it is owned; no change of ownership
	opAdd                   // own `to` (RULE-8)
	opRemove                // disown `to` (RULE-9)
	opCreate                // new child, then call it
)

type op struct {
	kind  opKind
	to    node
	async bool
}

// program is what an event does: at each actor it calls, a list of steps.
type program struct {
	target node
	writes mask // actors written; the others are read
	full   bool // footprint: all that is reachable, instead of the paths
	ops    [nodeCount][]op
	after  uint8 // starts after these events have committed
	move   node  // if set, the event moves this node in T, below `below`
	below  node
	derived
}

// sets reports whether the method at x may change its slot or what it owns: then
// paths through them are not narrowed.
func (p *program) sets(x node) bool {
	for _, o := range p.ops[x] {
		if o.kind == opSet || o.kind == opAdd || o.kind == opRemove {
			return true
		}
	}
	return false
}

// owns reports whether the method at x may change what x owns.
func (p *program) owns(x node) bool {
	for _, o := range p.ops[x] {
		if o.kind == opAdd || o.kind == opRemove || o.kind == opCreate {
			return true
		}
	}
	return false
}

// config is the start of an exploration.
type config struct {
	name    string
	hosts   int
	host    [nodeCount]uint8
	actors  mask
	edges   [nodeCount]mask
	slots   [nodeCount]node
	parents [nodeCount]node
	events  []program
	lazy    [eventsMax]mask  // nodes where the view does not expand
	crash   uint8            // host + 1 of the host that crashes once, at any time; no home is there
	home    [eventsMax]uint8 // host of each event's home, if a host crashes, or events are over stores; else the target's
	arb     uint8            // events that are withdrawn once, at any time
	try     bool             // use the fast paths
	light   bool             // moves hold the path down to the node lazily, without a mode, and not the new parent (one host)
	fanout  bool             // homes pass virtual nodes themselves (one host)
	next    [eventsMax]uint8 // event + 1 that is the next step of the chain, on the same target
	far

	calm  bool // derived: it is still
	moved mask // derived: nodes that events move in T
}

// still reports whether neither ownership nor T changes and no event withdraws: then
// nothing may ever be withdrawn or bounced.
func (c *config) still() bool {
	if c.stores || c.arb != 0 || c.crash != 0 || c.next != [eventsMax]uint8{} {
		return false
	}
	for i := range c.events {
		p := &c.events[i]
		if p.move != 0 {
			return false
		}
		for _, ops := range p.ops {
			for _, o := range ops {
				if o.kind == opAdd || o.kind == opRemove || o.kind == opCreate {
					return false
				}
			}
		}
	}
	return true
}

// viewFaults are bugs planted in the driver's side of the explorer.
var viewFaults struct {
	narrowAtPass bool // a path through a field is narrowed without a hold
	skipLock     bool // an access does not wait for its hold
	releaseEarly bool // an event releases before its end
	noOutside    bool // an uncovered access goes on instead of withdrawing
	freshForEver bool // created actors are never locked, although their creators have ended
	homeEntries  bool // an event releases what its home takes for its entries
	noEpochs     bool // a vote does not ask whether a visited host has crashed
	touchKept    bool // what a chain keeps is touched by other events
	// circularChains: steps of chains want the actors that other chains keep.
	circularChains bool
	keepMessages   bool // messages of a session that is over are delivered

	followLater bool // an attempt that needs more waits for any other that has a place
	beside      bool // and takes it though others wait further up
	noPlace     bool // and in a store that has not taken a part of it
	// unorderedWaits: an attempt without a place of TOP waits in queues.
	unorderedWaits bool
	twoSteps       bool // a store performs its part of an attempt in two steps
	anyOrder       bool // store 1 takes its parts as they come

	releasePrepared bool // what is prepared is released before the decision
	countVotes      bool // a vote counts though the attempt has taken locks since
	countGrants     bool // or though queues have granted it locks since
	outlive         bool // attempts outlive the session with a store
	halfPass        bool // and the loss of what store 0 has sent
	stale           bool // a home answers nothing about attempts that are over
	keepNumbers     bool // store 0 goes on with the numbers of a session that is over
	unrefused       bool // a part that a queue has refused does not tell its home
	forgetDoubt     bool // a store that starts anew does not hold what is prepared
	restoreLate     bool // or only when it has a session
}

// hostView is the View of one host.
type hostView struct {
	w *world
	h uint8
}

func (v hostView) ancestor(u, x node) bool {
	for range nodeCount { // stale pieces of T may form a loop
		if x == u {
			return true
		}
		if x == 0 {
			return false
		}
		x = v.w.tview[v.h][x]
	}
	return false
}

// nearest returns the nearest common T-ancestor of the nodes of m.
func (v hostView) nearest(m mask) node {
	v.w.touched.read(partView(v.h))
	z := m.first()
	for range nodeCount {
		ok := true
		m.each(func(x node) { ok = ok && v.ancestor(z, x) })
		if ok {
			return z
		}
		z = v.w.tview[v.h][z]
		if z == 0 {
			break
		}
	}
	return nodeTop
}

// path returns the actors on the T-path from z to x.
func (v hostView) path(z, x node) (m mask) {
	for range nodeCount {
		if x == 0 {
			break
		}
		m |= bit(x)
		if x == z {
			break
		}
		x = v.w.tview[v.h][x]
	}
	return m &^ virtualNodes
}

// footprint evaluates the event's footprint with what this host knows; held is the actor,
// if any, that the event holds and whose slot may be read.
func (v hostView) footprint(e event, held node) (reads, writes mask) {
	w, p := v.w, &v.w.c.events[e]
	w.touched.read(partView(v.h) | partKnow(v.h, e))
	k := &w.know[v.h][e]
	if p.move != 0 {
		if w.c.light {
			return k.reads, k.writes | bit(p.move)
		}
		z := v.nearest(v.ends(p))
		return k.reads, k.writes | v.path(z, p.move) | v.path(z, p.below)
	}
	edges := &w.view[v.h]
	f := bit(p.target)
	todo := f
	var full mask
	for todo != 0 {
		x := todo.first()
		todo &= todo - 1
		var more mask
		for i := range p.ops[x] {
			more |= v.callees(p, x, &p.ops[x][i], held == x)
			if o := &p.ops[x][i]; o.kind == opAdd {
				full |= reach(edges, bit(o.to))
			}
		}
		if p.full {
			more |= edges[x]
		}
		todo |= more &^ f
		f |= more
	}
	writes = f & p.writes
	f |= full | k.reads | k.writes
	writes |= k.writes
	return f &^ writes &^ virtualNodes, writes &^ virtualNodes
}

// ends returns the old and the new T-parent of the node that p moves: its sequencer lies
// above both (RULE-10).
func (v hostView) ends(p *program) mask {
	if p.move == 0 {
		return 0
	}
	return bit(v.w.tview[v.h][p.move]) | bit(p.below)
}

// callees returns what step o of the method at x may call.
func (v hostView) callees(p *program, x node, o *op, held bool) mask {
	owned := v.w.view[v.h][x]
	switch o.kind {
	case opCall:
		for _, b := range p.ops[x] {
			if b.kind == opAdd {
				owned |= bit(b.to)
			}
		}
		return owned & bit(o.to)
	case opCallArg:
		return bit(o.to)
	case opSlot:
		if (held || viewFaults.narrowAtPass) && !p.sets(x) {
			v.w.touched.read(partActor(x))
			return owned & bit(v.w.slots[x])
		}
		return owned
	}
	return 0
}

func reach(edges *[nodeCount]mask, m mask) mask {
	for {
		o := m
		o.each(func(x node) { m |= edges[x] })
		if o == m {
			return m
		}
	}
}

// Footprint implements View.
func (v hostView) Footprint(x node, id xid) lock.Want[node] {
	e := id.Event
	reads, writes := v.wanted(id)
	var t lock.Want[node]
	switch {
	case virtualNodes.has(x):
	case writes.has(x):
		t.Mode = lock.Write
	case reads.has(x):
		t.Mode = lock.Read
	}
	if z := v.nearest(reads | writes | bit(x) | v.ends(&v.w.c.events[e])); z != x {
		t.Enter = z
	}
	t.Below = v.below(x, reads|writes) != 0 || v.w.c.events[e].move == x || v.w.c.trees[e].has(x)
	return t
}

func (v hostView) below(x node, f mask) (m mask) {
	(f &^ bit(x)).each(func(y node) {
		if v.ancestor(x, y) {
			m |= bit(y)
		}
	})
	return m
}

// Expand implements View.
func (v hostView) Expand(x node, id xid, held lock.Mode, children []node) lock.Expansion[node] {
	e := id.Event
	p := &v.w.c.events[e]
	narrow := node(0)
	if held != lock.None {
		narrow = x
	}
	reads, writes := v.wanted(id)
	if !v.w.c.stores {
		reads, writes = v.footprint(e, narrow)
	}
	f := reads | writes
	down := v.below(x, f)
	if !virtualNodes.has(x) && (v.w.c.lazy[e].has(x) || v.w.c.trees[e].has(x) || p.move != 0) {
		return lock.Expansion[node]{Lazy: true}
	}
	var seen mask
	for m := down; m != 0; m &= m - 1 {
		if c, ok := v.Toward(x, m.first()); ok && !seen.has(c) {
			seen |= bit(c)
			children = append(children, c)
		}
	}
	if p.move == 0 && !v.w.c.stores && f.has(x) {
		// x's own out-edges that lead outside what the entry was told
		var own mask
		for i := range p.ops[x] {
			own |= v.callees(p, x, &p.ops[x][i], narrow == x)
		}
		k := &v.w.know[v.h][e]
		if out := own &^ down &^ bit(x) &^ k.reads &^ k.writes; out != 0 && k.attempt == uint8(id.Attempt) {
			y := out.first()
			return lock.Expansion[node]{Outside: true, Node: y, Mode: v.w.mode(e, y)}
		}
	}
	return lock.Expansion[node]{Children: children}
}

// Parent implements View: undecided while a move holds x.
func (v hostView) Parent(x node) node {
	v.w.touched.read(partView(v.h))
	if v.w.decided != x && v.w.movers != 0 {
		moving := false
		v.w.queues[x].Holders(func(h lock.Holder[event]) bool {
			moving = v.w.c.events[h.ID.Event].move == x
			return !moving
		})
		if moving {
			return 0
		}
	}
	return v.w.tview[v.h][x]
}

// Toward implements View.
func (v hostView) Toward(x, y node) (node, bool) {
	v.w.touched.read(partView(v.h))
	for range nodeCount {
		p := v.w.tview[v.h][y]
		if p == x {
			return y, true
		}
		if p == 0 {
			break
		}
		y = p
	}
	return 0, false
}

// Remote implements View.
func (v hostView) Remote(x, c node) bool { return v.w.c.host[x] != v.w.c.host[c] }

// router is what a home's host knows of T.
type router struct{ parents *[nodeCount]node }

func (r router) Parent(x node) node { return r.parents[x] }

// mode is the mode in which event e needs actor y for a call.
func (w *world) mode(e event, y node) lock.Mode {
	p := &w.c.events[e]
	if p.writes.has(y) || p.move != 0 {
		return lock.Write
	}
	return lock.Read
}
