package locktest

import (
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

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
	unheard         bool // a part that had voted when it was refused tells nothing when its code waits
	forgetDoubt     bool // a store that starts anew does not hold what is prepared
	forgetReads     bool // or what was only read
	restoreLate     bool // or only when it has a session

	lateCalls bool // no bug: a call that waits for its lock comes to its store when that has refused it
}

// hostView is the View of one host.
type hostView struct {
	w *world
	h uint8
}

func (v hostView) ancestor(u, x scene.Node) bool {
	for range scene.NodeCount { // stale pieces of T may form a loop
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
func (v hostView) nearest(m scene.Mask) scene.Node {
	v.w.touched.read(partView(v.h))
	z := m.First()
	for range scene.NodeCount {
		ok := true
		m.Each(func(x scene.Node) { ok = ok && v.ancestor(z, x) })
		if ok {
			return z
		}
		z = v.w.tview[v.h][z]
		if z == 0 {
			break
		}
	}
	return scene.NodeTop
}

// path returns the actors on the T-path from z to x.
func (v hostView) path(z, x scene.Node) (m scene.Mask) {
	for range scene.NodeCount {
		if x == 0 {
			break
		}
		m |= scene.Bit(x)
		if x == z {
			break
		}
		x = v.w.tview[v.h][x]
	}
	return m &^ scene.VirtualNodes
}

// footprint evaluates the event's footprint with what this host knows; held is the actor,
// if any, that the event holds and whose slot may be read.
func (v hostView) footprint(e scene.Event, held scene.Node) (reads, writes scene.Mask) {
	w, p := v.w, &v.w.c.Events[e]
	w.touched.read(partView(v.h) | partKnow(v.h, e))
	k := &w.know[v.h][e]
	if p.Move != 0 {
		if w.c.Light {
			return k.reads, k.writes | scene.Bit(p.Move)
		}
		z := v.nearest(v.ends(p))
		return k.reads, k.writes | v.path(z, p.Move) | v.path(z, p.Below)
	}
	edges := &w.view[v.h]
	f := scene.Bit(p.Target)
	todo := f
	var full scene.Mask
	for todo != 0 {
		x := todo.First()
		todo &= todo - 1
		var more scene.Mask
		for i := range p.Ops[x] {
			more |= v.callees(p, x, &p.Ops[x][i], held == x)
			if o := &p.Ops[x][i]; o.Kind == scene.OpAdd {
				full |= scene.Reach(edges, scene.Bit(o.To))
			}
		}
		if p.Full {
			more |= edges[x]
		}
		todo |= more &^ f
		f |= more
	}
	writes = f & p.Writes
	f |= full | k.reads | k.writes
	writes |= k.writes
	return f &^ writes &^ scene.VirtualNodes, writes &^ scene.VirtualNodes
}

// ends returns the old and the new T-parent of the node that p moves: its sequencer lies
// above both (RULE-10).
func (v hostView) ends(p *scene.Program) scene.Mask {
	if p.Move == 0 {
		return 0
	}
	return scene.Bit(v.w.tview[v.h][p.Move]) | scene.Bit(p.Below)
}

// callees returns what step o of the method at x may call.
func (v hostView) callees(p *scene.Program, x scene.Node, o *scene.Op, held bool) scene.Mask {
	owned := v.w.view[v.h][x]
	switch o.Kind {
	case scene.OpCall:
		for _, b := range p.Ops[x] {
			if b.Kind == scene.OpAdd {
				owned |= scene.Bit(b.To)
			}
		}
		return owned & scene.Bit(o.To)
	case scene.OpCallArg:
		return scene.Bit(o.To)
	case scene.OpSlot:
		if (held || viewFaults.narrowAtPass) && !p.Sets(x) {
			v.w.touched.read(partActor(x))
			return owned & scene.Bit(v.w.slots[x])
		}
		return owned
	}
	return 0
}

// wanted returns what attempt id may touch on this host, as far as that knows.
func (v hostView) wanted(id xid) (reads, writes scene.Mask) {
	if !v.w.c.Stores || v.w.c.Events[id.Event].Move != 0 {
		return v.footprint(id.Event, 0)
	}
	v.w.touched.read(partKnow(v.h, id.Event))
	k := v.w.partOf(id, v.h)
	return k.reads &^ k.writes, k.writes
}

// Footprint implements View.
func (v hostView) Footprint(x scene.Node, id xid) lock.Want[scene.Node] {
	e := id.Event
	reads, writes := v.wanted(id)
	var t lock.Want[scene.Node]
	switch {
	case scene.VirtualNodes.Has(x):
	case writes.Has(x):
		t.Mode = lock.Write
	case reads.Has(x):
		t.Mode = lock.Read
	}
	if z := v.nearest(reads | writes | scene.Bit(x) | v.ends(&v.w.c.Events[e])); z != x {
		t.Enter = z
	}
	t.Below = v.below(x, reads|writes) != 0 || v.w.c.Events[e].Move == x || v.w.c.Trees[e].Has(x)
	return t
}

func (v hostView) below(x scene.Node, f scene.Mask) (m scene.Mask) {
	(f &^ scene.Bit(x)).Each(func(y scene.Node) {
		if v.ancestor(x, y) {
			m |= scene.Bit(y)
		}
	})
	return m
}

// Expand implements View.
func (v hostView) Expand(x scene.Node, id xid, held lock.Mode, children []scene.Node) lock.Expansion[scene.Node] {
	e := id.Event
	p := &v.w.c.Events[e]
	narrow := scene.Node(0)
	if held != lock.None {
		narrow = x
	}
	reads, writes := v.wanted(id)
	if !v.w.c.Stores {
		reads, writes = v.footprint(e, narrow)
	}
	f := reads | writes
	down := v.below(x, f)
	if !scene.VirtualNodes.Has(x) && (v.w.c.Lazy[e].Has(x) || v.w.c.Trees[e].Has(x) || p.Move != 0) {
		return lock.Expansion[scene.Node]{Lazy: true}
	}
	var seen scene.Mask
	for m := down; m != 0; m &= m - 1 {
		if c, ok := v.Toward(x, m.First()); ok && !seen.Has(c) {
			seen |= scene.Bit(c)
			children = append(children, c)
		}
	}
	if p.Move == 0 && !v.w.c.Stores && f.Has(x) {
		// x's own out-edges that lead outside what the entry was told
		var own scene.Mask
		for i := range p.Ops[x] {
			own |= v.callees(p, x, &p.Ops[x][i], narrow == x)
		}
		k := &v.w.know[v.h][e]
		if out := own &^ down &^ scene.Bit(x) &^ k.reads &^ k.writes; out != 0 && k.attempt == uint8(id.Attempt) {
			y := out.First()
			return lock.Expansion[scene.Node]{Outside: true, Node: y, Mode: v.w.mode(e, y)}
		}
	}
	return lock.Expansion[scene.Node]{Children: children}
}

// Parent implements View: undecided while a move holds x.
func (v hostView) Parent(x scene.Node) scene.Node {
	v.w.touched.read(partView(v.h))
	if v.w.decided != x && v.w.movers != 0 {
		moving := false
		v.w.queues[x].Holders(func(h lock.Holder[scene.Event]) bool {
			moving = v.w.c.Events[h.ID.Event].Move == x
			return !moving
		})
		if moving {
			return 0
		}
	}
	return v.w.tview[v.h][x]
}

// Toward implements View.
func (v hostView) Toward(x, y scene.Node) (scene.Node, bool) {
	v.w.touched.read(partView(v.h))
	for range scene.NodeCount {
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
func (v hostView) Remote(x, c scene.Node) bool { return v.w.c.Host[x] != v.w.c.Host[c] }

// router is what a home's host knows of T.
type router struct{ parents *[scene.NodeCount]scene.Node }

func (r router) Parent(x scene.Node) scene.Node { return r.parents[x] }

// mode is the mode in which event e needs actor y for a call.
func (w *world) mode(e scene.Event, y scene.Node) lock.Mode {
	p := &w.c.Events[e]
	if p.Writes.Has(y) || p.Move != 0 {
		return lock.Write
	}
	return lock.Read
}
