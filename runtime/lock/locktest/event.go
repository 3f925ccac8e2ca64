package locktest

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/lock"
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
		for e := range w.c.events {
			for w.bad == "" && w.runs[e].status == 1 && w.advanceEvent(event(e)) {
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
	report []xeffect // if m tells of a grant on the home's host: the effects it was made of
	via    node      // and the sender of the entry there
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
	if h := w.c.host[m.From]; w.c.stores && m.Kind != lock.MsgAdmitted && h != w.homeHost(e) {
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
func (w *world) withdraw(e event, y node, m lock.Mode, up node, why string) {
	r := w.run(e)
	w.trace("  e%d.%d is withdrawn: %s %v", e, r.home.ID().Attempt, why, y)
	w.counts.withdrawn++
	if w.c.still() {
		w.fail("e%d is withdrawn (%s %v) although nothing changes", e, why, y)
		return
	}
	if r.home.ID().Attempt >= attemptsMax {
		w.fail("livelock: e%d has made %d attempts", e, attemptsMax)
		return
	}
	var next try
	if w.c.stores {
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
	if up != 0 && !w.c.stores {
		// the report carries how T runs there, or they might disagree for ever
		w.learnPath(w.homeHost(e), up)
		w.learnPath(w.homeHost(e), entered)
		high = hostView{w, w.homeHost(e)}.nearest(bit(up) | bit(high))
	}
	r.high, r.entered = high, 0
	r.begin(&w.c.events[e])
	if w.parked[e] != 0 {
		r.status = 3
		return
	}
	w.enter(e)
}

// forgetAttempt forgets what the present attempt of e has done.
func (w *world) forgetAttempt(e event, next try) {
	r := w.run(e)
	w.above.tries[e] = next
	w.touched.write(partAttempt(e) | partActor(nodeFresh+node(e)))
	for x := range w.readers {
		if (w.readers[x]|w.writers[x]|w.lost[x])>>e&1 != 0 {
			w.touched.write(partActor(node(x)))
		}
		w.readers[x] &^= 1 << e
		w.writers[x] &^= 1 << e
		w.lost[x] &^= 1 << e
	}
	w.precede[e] = r.after
	for o := range w.precede { // that have come after it where it had read, and had left with its vote
		if w.precede[o]>>e&1 != 0 {
			w.touched.write(partRun(event(o)))
			w.precede[o] &^= 1 << e
		}
	}
	w.edges[nodeFresh+node(e)] = 0
	r.started, r.done, r.pending, r.reach, r.read = 0, 0, 0, 0, 0
	clear(r.pc[:])
	clear(r.block[:])
	clear(r.via[:])
}

// learnPath tells the home and the hosts on the T-path to y how it runs: the home has
// asked y's host, and the request that enters again carries it.
func (w *world) learnPath(home uint8, y node) {
	w.touched.read(partGlobal)
	var path mask
	for x := y; x != 0; x = w.parents[x] {
		path |= bit(x)
	}
	path.each(func(x node) {
		path.each(func(u node) {
			for _, h := range []uint8{w.c.host[x], home} {
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
func (w *world) leave(e event, withdrawn bool) {
	if w.c.stores {
		w.leaveAbove(e, withdrawn)
		return
	}
	r := w.run(e)
	h := w.homeHost(e)
	list := r.made
	r.made = [nodeCount]made{}
	for x := range node(nodeCount) {
		m, to := list[x], w.c.host[x]
		if !m.is || r.epochs[to] != w.net.noticed[h][to] {
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

func (r *run) begin(p *program) {
	if p.move == 0 {
		r.pending = bit(p.target)
	}
}

// advanceEvent does one thing that e can do without waiting; false if there is none.
func (w *world) advanceEvent(e event) bool {
	r := &w.runs[e]
	p := &w.c.events[e]
	if w.c.stores && !w.above.tries[e].ready {
		return false
	}
	for m := w.wanted(e); m != 0; m &= m - 1 {
		y := m.first()
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
	}
	for m := r.started &^ r.done; m != 0; m &= m - 1 {
		if w.cutOff(e, m.first()) {
			continue
		}
		if w.stepMethod(e, p, m.first()) {
			return true
		}
	}
	return false
}

// wanted returns the actors that e wants to access now and has not.
func (w *world) wanted(e event) mask {
	r := &w.runs[e]
	p := &w.c.events[e]
	if p.move != 0 {
		w.touched.read(partGlobal)
		if !w.moveValid(p) {
			return 0
		}
		return w.movePath(p) &^ r.read
	}
	return r.pending | r.reach&^r.read
}

func (w *world) wantedMode(e event, y node) lock.Mode {
	r := &w.runs[e]
	if r.pending.has(y) || w.c.events[e].move != 0 {
		return w.mode(e, y)
	}
	return lock.Read
}

// movePath is what RULE-10 holds: from the nearest common T-ancestor down to the node
// and to its new parent, without virtual nodes.
func (w *world) movePath(p *program) mask {
	if w.c.light {
		return bit(p.move)
	}
	z := w.nearestTrue(bit(w.parents[p.move]) | bit(p.below))
	var m mask
	for _, x := range []node{p.move, p.below} {
		for ; x != z && x != 0; x = w.parents[x] {
			m |= bit(x)
		}
	}
	return (m | bit(z)) &^ virtualNodes
}

// moveValid reports whether the new parent is not below the node that is to move.
func (w *world) moveValid(p *program) bool {
	for x := p.below; x != 0; x = w.parents[x] {
		if x == p.move {
			return false
		}
	}
	return true
}

func (w *world) nearestTrue(m mask) node {
	var paths [nodeCount]uint8
	n := uint8(0)
	m.each(func(x node) {
		n++
		for ; x != 0; x = w.parents[x] {
			paths[x]++
		}
	})
	for x := m.first(); x != 0; x = w.parents[x] {
		if paths[x] == n {
			return x
		}
	}
	return nodeTop
}

func (w *world) decide(e event, y node, m lock.Mode) lock.Decision[node] {
	if viewFaults.freshForEver && y >= nodeFresh {
		return lock.Decision[node]{Act: lock.Run}
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
func (w *world) arrive(e event, y node) {
	r := w.run(e)
	if r.pending.has(y) {
		r.pending &^= bit(y)
		r.started |= bit(y)
		return
	}
	r.read |= bit(y)
	w.touched.read(partActor(y))
	if w.c.events[e].move == 0 {
		r.reach |= w.edges[y]
	}
}

// stepMethod runs one step of the method at x, if it is not blocked.
func (w *world) stepMethod(e event, p *program, x node) bool {
	r := &w.runs[e]
	if b := r.block[x]; b != 0 {
		if !r.done.has(b) {
			return false
		}
		r = w.run(e)
		r.block[x] = 0
	}
	r = w.run(e)
	w.touched.read(partActor(x))
	if int(r.pc[x]) == len(p.ops[x]) {
		if r.done |= bit(x); w.c.stores {
			w.voteEarly(e, x)
		}
		return true
	}
	o := &p.ops[x][r.pc[x]]
	y := o.to
	if o.kind == opSlot {
		y = w.slots[x]
	}
	if r.started.has(y) && w.cutOff(e, y) {
		return false
	}
	switch o.kind {
	case opCall:
		if w.edges[x].has(y) {
			w.call(e, x, y, o.async)
		}
	case opCallArg:
		w.call(e, x, y, o.async)
	case opSlot:
		if w.edges[x].has(y) {
			w.call(e, x, y, o.async)
		}
	case opSet:
		if w.edges[x].has(y) {
			w.change(e, x)
			w.slots[x] = y
		}
	case opRemove:
		w.change(e, x)
		w.edges[x] &^= bit(y)
	case opAdd:
		r.reach |= bit(y)
		if r.reach&^r.read != 0 {
			return false
		}
		w.touched.read(partActors)
		if !reach(&w.edges, bit(y)).has(x) {
			w.change(e, x)
			w.edges[x] |= bit(y)
		}
	case opCreate:
		w.change(e, x)
		f := nodeFresh + node(e)
		w.edges[x] |= bit(f)
		w.touched.write(partActor(f))
		r.home.Fresh(f)
		w.call(e, x, f, o.async)
	}
	r.pc[x]++
	return true
}

func (w *world) call(e event, x, y node, async bool) {
	r := w.run(e)
	w.trace("  e%d: %v calls %v", e, x, y)
	if r.started.has(y) { // called again: the event holds it, the call runs at once
		w.askMore(e, y)
		w.access(e, y, w.mode(e, y))
		return
	}
	r.pending |= bit(y)
	if !async {
		r.block[x] = y
	}
}

// change logs the undo of a write at x.
func (w *world) change(e event, x node) {
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
func (w *world) finished(e event) bool {
	r := &w.runs[e]
	if w.c.events[e].move != 0 {
		return w.wanted(e) == 0
	}
	return r.pending == 0 && r.started != 0 && r.started == r.done
}

// commit ends e: its changes become visible, its holds are released.
func (w *world) commit(e event) {
	r := w.run(e)
	p := &w.c.events[e]
	h := w.homeHost(e)
	w.touched.read(partSessions)
	w.touched.write(partGlobal | partAttempt(e))
	if lost, ok := w.crashedSince(e); ok && !viewFaults.noEpochs {
		w.trace("  the vote is refused: host %d has crashed", lost)
		w.notice(h, lost)
		return
	}
	for x := range node(nodeCount) {
		if w.lost[x]>>e&1 != 0 {
			w.fail("e%d commits without its writes at %v, which a crash has undone", e, x)
		}
	}
	if p.move != 0 {
		if w.moveValid(p) && w.movePath(p)&^r.read == 0 {
			w.parents[p.move] = p.below
			if w.c.stores { // each has a tree of its own, and knows it
				for h := range w.tview {
					w.tview[h] = w.parents
				}
			}
		}
	} else {
		for x := range w.edges {
			if r.undoAt[x] == uint8(r.home.ID().Attempt) {
				w.committed[x] = w.edges[x]
				r.undoAt[x], r.undoEdges[x], r.undoSlot[x] = 0, 0, 0
			}
		}
		if f := nodeFresh + node(e); r.started.has(f) && w.parents[f] == 0 {
			w.parents[f] = w.owner(f)
		}
	}
	w.checkOwnership()
	if w.recall {
		w.remember(e)
	}
	r.status = 2
	if w.c.stores {
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

// deafen drops the messages to the home of e, which has ended an attempt: it would
// drop them itself, whenever they come, so their order of arrival is nothing to explore.
func (w *world) deafen(e event) {
	w.net.Drop(func(g *letter) bool { return g.Kind.ToHome() && g.ID.Event == e && !g.Orphan })
}

func (w *world) owner(f node) node {
	for x := range w.committed {
		if w.committed[x].has(f) {
			return node(x)
		}
	}
	return nodeTop
}

// checkOwnership checks that Omega and T have no cycle.
func (w *world) checkOwnership() {
	for x := nodeActor; x < nodeCount; x++ {
		if reach(&w.committed, w.committed[x]).has(x) {
			w.fail("ownership has a cycle through %v", x)
		}
		u := x
		for range nodeCount {
			u = w.parents[u]
		}
		if u != 0 {
			w.fail("T has a cycle above %v", x)
		}
	}
}
