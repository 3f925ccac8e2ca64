package locktest

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// This file runs the events' programs: what a driver's home does.

// advance runs all that events can do by themselves: messages to homes on the same
// host, calls to actors they hold.
func (w *world) advance() {
	for again := true; again && w.bad == ""; {
		for len(w.todo) > 0 && w.bad == "" {
			// Grants reach a home while its event sleeps; what ends the attempt is
			// dealt with when it has woken up.
			i := max(0, slices.IndexFunc(w.todo, func(n note) bool { return n.m.Kind == lock.MsgAdmitted }))
			n := w.todo[i]
			w.todo = slices.Delete(w.todo, i, i+1)
			w.handle(&n)
		}
		again = false
		for e := range w.c.Events {
			for w.bad == "" && w.runs[e].status == 1 && w.advanceEvent(scene.Event(e)) {
				again = true
			}
		}
		again = again || len(w.todo) > 0
		if !again && w.latched != 0 {
			w.unlatchAll()
			again = len(w.todo) > 0
		}
	}
	w.out, w.reports, w.kids = w.out[:0], w.reports[:0], w.kids[:0]
}

// note is a report of a node that has arrived at its home.
type note struct {
	m      message
	report []xeffect  // if m tells of a grant on the home's host: the effects it was made of
	via    scene.Node // and the sender of the entry there
}

// handle is the arrival of a node's report at the event's home.
func (w *world) handle(n *note) {
	m := &n.m
	e := m.ID.Event
	if m.Kind == lock.MsgSevered {
		w.severed(m)
		return
	}
	w.touched.read(partAttempt(e))
	if h := w.c.Host[m.From]; w.c.Stores && m.Kind != lock.MsgAdmitted && h != w.homeHost(e) {
		w.refused(m.ID, h, m.Node, max(m.Mode, w.mode(e, m.Node)))
		return
	}
	if r := &w.runs[e]; r.status != 1 || r.home.ID() != m.ID || w.above.tries[e].ended {
		return
	}
	r := w.run(e)
	switch m.Kind {
	case lock.MsgAdmitted:
		if !viewFaults.countGrants {
			w.took(e)
		}
		if n.report == nil {
			r.home.Receive(m)
			return
		}
		r.home.Deliver(n.report)
		r.via[m.From] = n.via
	case lock.MsgBounced:
		w.withdraw(e, 0, lock.None, m.Node, "bounced")
	case lock.MsgRefused:
		w.withdraw(e, m.Node, max(m.Mode, w.mode(e, m.Node)), 0, m.Reason.String())
	}
}

// withdraw ends the attempt of e and enters again with y, if set, among its claims.
func (w *world) withdraw(e scene.Event, y scene.Node, m lock.Mode, up scene.Node, why string) {
	r := w.run(e)
	w.trace("  e%d.%d is withdrawn: %s %v", e, r.home.ID().Attempt, why, y)
	w.counts.withdrawn++
	if w.c.Still() {
		w.fail("e%d is withdrawn (%s %v) although nothing changes", e, why, y)
		return
	}
	if n := r.home.ID().Attempt - uint32(r.since); n >= scene.AttemptsMax {
		w.fail("livelock: e%d has made %d attempts", e, n)
		return
	}
	var next try
	if w.c.Stores {
		next, y = w.carryOn(e, y, m), 0
	}
	w.leave(e, true)
	w.deafen(e)
	if y != 0 {
		w.learnPath(w.homeHost(e), y)
	}
	entered := r.entered
	w.forgetAttempt(e, next)
	r.home.Withdraw(y, m)
	high := entered
	if up != 0 && !w.c.Stores {
		// the report carries how T runs there, or they might disagree for ever
		w.learnPath(w.homeHost(e), up)
		w.learnPath(w.homeHost(e), entered)
		high = hostView{w, w.homeHost(e)}.nearest(scene.Bit(up) | scene.Bit(high))
	}
	r.high, r.entered = high, 0
	r.begin(&w.c.Events[e])
	if w.parked[e] != 0 {
		r.status = 3
		return
	}
	w.enter(e)
}

// faultEnds notes that a fault ends the present attempt of e: the event may have to learn again what it touches.
func (w *world) faultEnds(e scene.Event) {
	r := w.run(e)
	r.since = uint8(r.home.ID().Attempt)
}

// forgetAttempt forgets what the present attempt of e has done.
func (w *world) forgetAttempt(e scene.Event, next try) {
	r := w.run(e)
	w.above.tries[e] = next
	w.touched.write(partAttempt(e) | partActor(scene.NodeFresh+scene.Node(e)))
	for x := range w.readers {
		if (w.readers[x]|w.writers[x]|w.lost[x])>>e&1 != 0 {
			w.touched.write(partActor(scene.Node(x)))
		}
		w.readers[x] &^= 1 << e
		w.writers[x] &^= 1 << e
		w.lost[x] &^= 1 << e
	}
	w.precede[e] = r.after
	for o := range w.precede { // that have come after it where it had read, and had left with its vote
		if w.precede[o]>>e&1 != 0 {
			w.touched.write(partRun(scene.Event(o)))
			w.precede[o] &^= 1 << e
		}
	}
	w.edges[scene.NodeFresh+scene.Node(e)] = 0
	r.started, r.done, r.pending, r.reach, r.read = 0, 0, 0, 0, 0
	clear(r.pc[:])
	clear(r.block[:])
	clear(r.via[:])
}

// learnPath tells the home and the hosts on the T-path to y how it runs: the home has
// asked y's host, and the request that enters again carries it.
func (w *world) learnPath(home uint8, y scene.Node) {
	w.touched.read(partGlobal)
	var path scene.Mask
	for x := y; x != 0; x = w.parents[x] {
		path |= scene.Bit(x)
	}
	path.Each(func(x scene.Node) {
		path.Each(func(u scene.Node) {
			for _, h := range []uint8{w.c.Host[x], home} {
				w.touched.read(partView(h))
				if w.tview[h][u] != w.parents[u] {
					w.touched.write(partView(h))
					w.tview[h][u] = w.parents[u]
				}
			}
		})
	})
}

// leave releases all that the home has entered.
func (w *world) leave(e scene.Event, withdrawn bool) {
	if w.c.Stores {
		w.leaveAbove(e, withdrawn)
		return
	}
	r := w.run(e)
	h := w.homeHost(e)
	list := r.made
	r.made = [scene.NodeCount]made{}
	for x := range scene.Node(scene.NodeCount) {
		m, to := list[x], w.c.Host[x]
		if !m.is || r.epochs[to] != w.net.Known(lock.Host(h), lock.Host(to)) {
			continue // the node has crashed since: there is no such entry
		}
		g := message{Kind: lock.MsgRelease, ID: r.home.ID(), From: m.from, To: x, Withdrawn: withdrawn}
		if viewFaults.homeEntries && m.ref.Valid() {
			v, _ := r.home.Visit(x)
			m.ref = v.Ref
		}
		if to != h {
			w.send(h, to, g)
		} else {
			w.release(&g, m.ref)
		}
	}
}

func (r *run) begin(p *scene.Program) {
	if p.Move == 0 {
		r.pending = scene.Bit(p.Target)
	}
}

// advanceEvent does one thing that e can do without waiting; false if there is none.
func (w *world) advanceEvent(e scene.Event) bool {
	r := &w.runs[e]
	p := &w.c.Events[e]
	if w.c.Stores && !w.above.tries[e].ready {
		return false
	}
	for m := w.wanted(e); m != 0; m &= m - 1 {
		y := m.First()
		mode := w.wantedMode(e, y)
		d := w.decide(e, y, mode)
		if d.Act == lock.Run && !w.cutOff(e, y) {
			if w.park(e, y) {
				return true
			}
			w.touched.read(partView(w.homeHost(e)))
			w.askMore(e, y)
			w.access(e, y, mode)
			w.arrive(e, y)
			return true
		}
		if d.Act == lock.Wait && w.c.Stores && w.learnsRefusal(e, y) {
			return true
		}
	}
	for m := r.started &^ r.done; m != 0; m &= m - 1 {
		if w.cutOff(e, m.First()) {
			continue
		}
		if w.stepMethod(e, p, m.First()) {
			return true
		}
	}
	return false
}

// wanted returns the actors that e wants to access now and has not.
func (w *world) wanted(e scene.Event) scene.Mask {
	r := &w.runs[e]
	p := &w.c.Events[e]
	if p.Move != 0 {
		w.touched.read(partGlobal)
		if !w.moveValid(p) {
			return 0
		}
		return w.movePath(p) &^ r.read
	}
	return r.pending | r.reach&^r.read
}

func (w *world) wantedMode(e scene.Event, y scene.Node) lock.Mode {
	r := &w.runs[e]
	if r.pending.Has(y) || w.c.Events[e].Move != 0 {
		return w.mode(e, y)
	}
	return lock.Read
}

// movePath is what RULE-10 holds: from the nearest common T-ancestor down to the node
// and to its new parent, without virtual nodes.
func (w *world) movePath(p *scene.Program) scene.Mask {
	if w.c.Light {
		return scene.Bit(p.Move)
	}
	z := w.nearestTrue(scene.Bit(w.parents[p.Move]) | scene.Bit(p.Below))
	var m scene.Mask
	for _, x := range []scene.Node{p.Move, p.Below} {
		for ; x != z && x != 0; x = w.parents[x] {
			m |= scene.Bit(x)
		}
	}
	return (m | scene.Bit(z)) &^ scene.VirtualNodes
}

// moveValid reports whether the new parent is not below the node that is to move.
func (w *world) moveValid(p *scene.Program) bool {
	for x := p.Below; x != 0; x = w.parents[x] {
		if x == p.Move {
			return false
		}
	}
	return true
}

func (w *world) nearestTrue(m scene.Mask) scene.Node {
	var paths [scene.NodeCount]uint8
	n := uint8(0)
	m.Each(func(x scene.Node) {
		n++
		for ; x != 0; x = w.parents[x] {
			paths[x]++
		}
	})
	for x := m.First(); x != 0; x = w.parents[x] {
		if paths[x] == n {
			return x
		}
	}
	return scene.NodeTop
}

func (w *world) decide(e scene.Event, y scene.Node, m lock.Mode) lock.Decision[scene.Node] {
	if viewFaults.freshForEver && y >= scene.NodeFresh {
		return lock.Decision[scene.Node]{Act: lock.Run}
	}
	d := w.runs[e].home.Decide(router{&w.tview[w.homeHost(e)]}, y, m)
	if viewFaults.skipLock && d.Act != lock.Run && w.runs[e].started != 0 {
		d.Act = lock.Run
	}
	if viewFaults.noOutside && d.Act == lock.Withdraw {
		d.Act = lock.Run
	}
	return d
}

// arrive notes that access to y was granted.
func (w *world) arrive(e scene.Event, y scene.Node) {
	r := w.run(e)
	if r.pending.Has(y) {
		r.pending &^= scene.Bit(y)
		r.started |= scene.Bit(y)
		return
	}
	r.read |= scene.Bit(y)
	w.touched.read(partActor(y))
	if w.c.Events[e].Move == 0 {
		r.reach |= w.edges[y]
	}
}

// stepMethod runs one step of the method at x, if it is not blocked.
func (w *world) stepMethod(e scene.Event, p *scene.Program, x scene.Node) bool {
	r := &w.runs[e]
	if b := r.block[x]; b != 0 {
		if !r.done.Has(b) {
			return false
		}
		r = w.run(e)
		r.block[x] = 0
	}
	r = w.run(e)
	w.touched.read(partActor(x))
	if int(r.pc[x]) == len(p.Ops[x]) {
		if r.done |= scene.Bit(x); w.c.Stores {
			w.voteEarly(e, x)
		}
		return true
	}
	o := &p.Ops[x][r.pc[x]]
	y := o.To
	if o.Kind == scene.OpSlot {
		y = w.slots[x]
	}
	if r.started.Has(y) && w.cutOff(e, y) {
		return false
	}
	switch o.Kind {
	case scene.OpCall:
		if w.edges[x].Has(y) {
			w.call(e, x, y, o.Async)
		}
	case scene.OpCallArg:
		w.call(e, x, y, o.Async)
	case scene.OpSlot:
		if w.edges[x].Has(y) {
			w.call(e, x, y, o.Async)
		}
	case scene.OpSet:
		if w.edges[x].Has(y) {
			w.change(e, x)
			w.slots[x] = y
		}
	case scene.OpRemove:
		w.change(e, x)
		w.edges[x] &^= scene.Bit(y)
	case scene.OpAdd:
		r.reach |= scene.Bit(y)
		if r.reach&^r.read != 0 {
			return false
		}
		w.touched.read(partActors)
		if !scene.Reach(&w.edges, scene.Bit(y)).Has(x) {
			w.change(e, x)
			w.edges[x] |= scene.Bit(y)
		}
	case scene.OpCreate:
		w.change(e, x)
		f := scene.NodeFresh + scene.Node(e)
		w.edges[x] |= scene.Bit(f)
		w.touched.write(partActor(f))
		r.home.Fresh(f)
		w.call(e, x, f, o.Async)
	}
	r.pc[x]++
	return true
}

func (w *world) call(e scene.Event, x, y scene.Node, async bool) {
	r := w.run(e)
	w.trace("  e%d: %v calls %v", e, x, y)
	if w.c.Stores && !w.cutOff(e, y) && (!viewFaults.lateCalls || r.started.Has(y)) { // the call is there at once, and waits there for its lock
		w.askMore(e, y)
	}
	if r.started.Has(y) { // called again: the event holds it, the call runs at once
		w.access(e, y, w.mode(e, y))
		return
	}
	r.pending |= scene.Bit(y)
	if !async {
		r.block[x] = y
	}
}

// change logs the undo of a write at x.
func (w *world) change(e scene.Event, x scene.Node) {
	r := w.run(e)
	w.access(e, x, lock.Write)
	w.changed = true
	w.touched.write(partActor(x))
	if a := uint8(r.home.ID().Attempt); r.undoAt[x] != a {
		if r.undoAt[x] != 0 {
			w.fail("e%d writes %v while the undo of attempt %d is due", e, x, r.undoAt[x])
		}
		r.undoAt[x], r.undoEdges[x], r.undoSlot[x] = a, w.edges[x], w.slots[x]
	}
}

// finished reports whether e can commit.
func (w *world) finished(e scene.Event) bool {
	r := &w.runs[e]
	if w.c.Events[e].Move != 0 {
		return w.wanted(e) == 0
	}
	return r.pending == 0 && r.started != 0 && r.started == r.done
}

// commit ends e: its changes become visible, its holds are released.
func (w *world) commit(e scene.Event) {
	r := w.run(e)
	p := &w.c.Events[e]
	h := w.homeHost(e)
	w.touched.read(partSessions)
	w.touched.write(partGlobal | partAttempt(e))
	if lost, ok := w.crashedSince(e); ok && !viewFaults.noEpochs {
		w.trace("  the vote is refused: host %d has crashed", lost)
		w.notice(h, lost)
		return
	}
	for x := range scene.Node(scene.NodeCount) {
		if w.lost[x]>>e&1 != 0 {
			w.fail("e%d commits without its writes at %v, which a crash has undone", e, x)
		}
	}
	if p.Move != 0 {
		if w.moveValid(p) && w.movePath(p)&^r.read == 0 {
			w.parents[p.Move] = p.Below
			if w.c.Stores { // each has a tree of its own, and knows it
				for h := range w.tview {
					w.tview[h] = w.parents
				}
			}
		}
	} else {
		for x := range w.edges {
			if r.undoAt[x] == uint8(r.home.ID().Attempt) && !w.c.Aborts[e] {
				w.committed[x] = w.edges[x]
				r.undoAt[x], r.undoEdges[x], r.undoSlot[x] = 0, 0, 0
			}
		}
		if f := scene.NodeFresh + scene.Node(e); r.started.Has(f) && w.parents[f] == 0 {
			w.parents[f] = w.owner(f)
		}
	}
	w.checkOwnership()
	if w.recall {
		w.remember(e)
	}
	r.status = 2
	if w.c.Stores {
		w.markDone(e)
		w.checkCommitted()
	}
	w.carry(h, e)
	if !r.early {
		w.leave(e, false)
	}
	r.end()
	w.above.tries[e] = try{}
	w.deafen(e)
	w.handOver(e)
	w.retire()
}

// end forgets what only matters while the event runs. What earlier attempts must undo may
// be due still.
func (r *run) end() {
	r.course = course{status: r.status, early: r.early, undoAt: r.undoAt, undoEdges: r.undoEdges, undoSlot: r.undoSlot}
}
