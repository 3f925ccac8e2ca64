package locktest

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// Some deliveries commute with whatever else may happen before them. They are made at once, as the last
// part of the move that made them possible, and the orders in which they come later are not searched
// (Valmari's stubborn sets, Godefroid's persistent sets, with one element). To make delivery a at once in
// state s is sound if for every sequence of other moves that is possible in s, each of its moves t either
// commutes with a, or makes a void: a, t leads where t alone does. Where a host may crash all orders are
// searched. TestEagerDeliveries and TestEagerDeliveriesHideNoBug compare what is reached with a search of
// all orders.

// settleDown makes all deliveries that need not wait.
func (w *world) settleDown() {
	if w.allOrders || w.c.Crash != 0 {
		return
	}
	for i := 0; i < w.net.Len() && w.bad == ""; {
		if !w.eager(w.net.At(i)) {
			i++
			continue
		}
		t := w.touched
		w.step(move{kind: moveDeliver, i: uint16(i)})
		w.touched.read(t.reads)
		w.touched.write(t.writes)
		i = 0
	}
}

// eager reports whether the delivery of g commutes with all that may happen before it.
func (w *world) eager(g *letter) bool {
	switch g.Kind {
	case lock.MsgAdmitted:
		return w.eagerGrant(g)
	case lock.MsgRelease:
		return w.eagerRelease(g)
	}
	return false
}

// eagerGrant: the report of a grant or pass at node v to the home of e on another host.
//
// The home notes v and the kids that v has enqueued on; e may then access what it holds and
// call further, which touches nothing but e itself and actors that it holds. What happens at other
// nodes, homes and hosts before does not look at this. At e's own home it is:
//   - Another grant: what e does under its holds does not depend on the order in which they come.
//   - A withdrawal or the commit: either forgets what this grant has led to, unless e has
//     changed an actor, which remains to be undone.
//   - A request or withdrawal for actor y, which e wants (moveAsk). It is decided by the nearest visited
//     node above y. Before the delivery v is visited but not granted, so that everything
//     whose nearest visited node is v waits, and the kids are below v, as long as T has them
//     there; so the decision for no actor is another after the delivery than before it,
//     except for those that wait. If v is not known to the home, all that e may want at
//     or below it must have been asked for at the parent of v, so that it waits there.
func (w *world) eagerGrant(g *letter) bool {
	e, v := g.ID.Event, g.From
	r, p := &w.runs[e], &w.c.Events[e]
	if r.status != 1 || r.home.ID() != g.ID || (scene.MaskOf(g.Children)|scene.Bit(v))&w.fresh() != 0 {
		return false
	}
	// A later call could need more than the hold that a traversal has used.
	if p.Adds && p.Calls.Has(v) && g.Mode != lock.None && g.Mode < w.mode(e, v) {
		return false
	}
	switch u, visited := r.home.Visit(v); {
	case u.Granted:
		return false
	case !visited && !w.allAsked(e, v):
		return false
	}
	if w.c.Moved != 0 && !w.undisturbed(g) {
		return false
	}
	return w.c.Calm || !w.mayChange(e, v) || !w.wouldChange(g)
}

// fresh are the nodes that events may create.
func (w *world) fresh() scene.Mask { return scene.EveryNode &^ (scene.Bit(scene.NodeFresh) - 1) }

// allAsked reports whether e has asked the parent of v for everything at or below v that it
// may ever want, so that it waits for v whatever it comes to want.
func (w *world) allAsked(e scene.Event, v scene.Node) bool {
	if w.c.Moved != 0 {
		return false
	}
	h := &w.runs[e].home
	for m := w.c.Events[e].Wants; m != 0; m &= m - 1 {
		y := m.First()
		for x := y; x != 0; x = w.placed(x) {
			if x == v && !hasAsked(h, w.parents[v], y) {
				return false
			}
		}
	}
	return true
}

// placed returns the T-parent of x, also if x is still to be created.
func (w *world) placed(x scene.Node) scene.Node {
	if x >= scene.NodeFresh && w.parents[x] == 0 && int(x-scene.NodeFresh) < len(w.c.Events) {
		return w.c.Events[x-scene.NodeFresh].Target
	}
	return w.parents[x]
}

func hasAsked(h *xhome, at, y scene.Node) bool {
	for a, want := range h.Asks {
		if a == at && want == y {
			return true
		}
	}
	return false
}

// mayChange reports whether a method of e that may run when it holds v, too, has a change before it.
func (w *world) mayChange(e scene.Event, v scene.Node) bool {
	r, p := &w.runs[e], &w.c.Events[e]
	m := r.started | scene.Bit(v)
	for u := range r.home.Visits {
		if u.Granted {
			m |= scene.Bit(u.Node)
		}
	}
	for m &= p.Changes; m != 0; m &= m - 1 {
		x := m.First()
		for _, o := range p.Ops[x][r.pc[x]:] {
			if o.Kind >= scene.OpSet {
				return true
			}
		}
	}
	return false
}

// wouldChange reports whether e changes an actor when g is delivered.
func (w *world) wouldChange(g *letter) bool {
	if w.trial == nil {
		w.trial = &world{}
	}
	t := w.trial
	t.copyFrom(w)
	for i := range t.net.Len() {
		if t.net.At(i) == g {
			t.step(move{kind: moveDeliver, i: uint16(i)})
			break
		}
	}
	return t.changed || t.bad != ""
}

// eagerRelease: the release of an entry that was passed, bounced or refused. Nothing waits for
// it, and nothing looks at it but its release.
func (w *world) eagerRelease(g *letter) bool {
	i := w.queues[g.To].Find(g.ID, g.From)
	return i.Valid() && w.inert(g.To, i, g.ID, g.Withdrawn)
}

// inert reports whether the release of entry i of the queue of x, of attempt id, does nothing
// there, and on the nodes of the same host that it follows the entry's edges to, but remove
// entries that keep no other entry waiting. Nor may it tell the host something new, now or later.
func (w *world) inert(x scene.Node, i lock.Ref, id xid, withdrawn bool) bool {
	if k := w.queues[x].Entry(i); k.Waiting || k.Held {
		return false
	}
	if withdrawn && uint32(w.runs[id.Event].undoAt[x]) == id.Attempt || !withdrawn && !w.carried(w.c.Host[x], id.Event) {
		return false
	}
	inert := true
	w.queues[x].Edges(i, func(child scene.Node) bool {
		if w.c.Host[child] == w.c.Host[x] {
			j := w.queues[child].Find(id, x)
			inert = j.Valid() && w.inert(child, j, id, withdrawn)
		}
		return inert
	})
	return inert
}

// carried reports whether host h knows what e, which has committed, has changed, and no other
// will change the same.
func (w *world) carried(h uint8, e scene.Event) bool {
	p := &w.c.Events[e]
	for i := range w.c.Events {
		q := &w.c.Events[i]
		if i != int(e) && w.runs[i].status != 2 && (q.Owning&p.Owning != 0 || p.Move != 0 && p.Move == q.Move) {
			return false
		}
	}
	if p.Move != 0 {
		return w.tview[h][p.Move] == w.parents[p.Move]
	}
	if p.Owning == 0 {
		return true
	}
	f := scene.NodeFresh + scene.Node(e)
	for m := p.Owning | scene.Bit(f); m != 0; m &= m - 1 {
		if x := m.First(); w.view[h][x] != w.committed[x] {
			return false
		}
	}
	return w.tview[h][f] == w.parents[f]
}

// idle reports whether g is an enqueue whose turn has not come, and that tells the host nothing new. Its
// delivery would only put it aside until its turn comes, when the queue takes it without a step of its
// own. So it is not delivered before.
func (w *world) idle(g *letter) bool {
	if g.Kind != lock.MsgEnqueue || w.allOrders || w.c.Crash != 0 {
		return false
	}
	reads, writes := claimed(g.Claims)
	if k := &w.know[w.c.Host[g.To]][g.ID.Event]; uint32(k.attempt) < g.ID.Attempt ||
		uint32(k.attempt) == g.ID.Attempt && (reads|writes)&^(k.reads|k.writes)|writes&^k.writes != 0 {
		return false
	}
	return g.Number != w.queues[g.To].Received(g.From)+1
}

// undisturbed reports whether moves in T leave the grant g what it is, to the home that gets it now or
// later. No node is reached twice by the attempt, so that no other grant at the same node comes; and
// above kids that move, wherever they may come to be, the home meets v first.
func (w *world) undisturbed(g *letter) bool {
	e := g.ID.Event
	for i := range w.c.Events {
		if o := &w.c.Events[i]; o.Move != 0 && i != int(e) && w.c.Events[e].Move != 0 && w.runs[i].status != 2 {
			return false // the path that e holds may become another
		}
	}
	open, there, twice := w.whereabouts(g.ID)
	if twice {
		return false
	}
	for m := w.c.Moved; m != 0; m &= m - 1 {
		x := m.First()
		from := w.senders(g.ID, x)
		ways, n := from, 0
		for m := w.everBelow(x) | from; m != 0; m &= m - 1 {
			if o := m.First(); from.Has(o) || w.everAbove(scene.Bit(o), 0)&open != 0 {
				n++
			}
			ways |= scene.Bit(m.First())
		}
		if n > 1 || slices.Contains(g.Children, x) && !w.meets(g.From, ways, there) {
			return false
		}
	}
	return true
}

// whereabouts returns the nodes where attempt id has been enqueued, as far as it has not been released there,
// and of these the ones that may still enqueue on other nodes; and whether it has been twice at one.
func (w *world) whereabouts(id xid) (open, there scene.Mask, twice bool) {
	at := func(x scene.Node, more bool) {
		twice = twice || there.Has(x)
		there |= scene.Bit(x)
		if more {
			open |= scene.Bit(x)
		}
	}
	for i := range w.net.Len() {
		if g := w.net.At(i); (g.Kind == lock.MsgEnter || g.Kind == lock.MsgEnqueue) && g.ID == id {
			at(g.To, true)
		}
	}
	for x := range w.queues {
		q := &w.queues[x]
		for k := range q.Entries {
			if k.ID == id {
				at(scene.Node(x), k.Waiting || k.Held && k.Lazy)
			}
		}
		for k := range q.Early {
			if k == id {
				at(scene.Node(x), true)
			}
		}
	}
	return open, there, twice
}

// senders returns the nodes that have enqueued attempt id on x, as far as it has not been released there: 0 is its home.
func (w *world) senders(id xid, x scene.Node) (from scene.Mask) {
	for i := range w.net.Len() {
		if g := w.net.At(i); (g.Kind == lock.MsgEnter || g.Kind == lock.MsgEnqueue) && g.ID == id && g.To == x {
			from |= scene.Bit(g.From)
		}
	}
	q := &w.queues[x]
	for k := range q.Entries {
		if k.ID == id {
			from |= scene.Bit(k.From)
		}
	}
	for k, sent := range q.Early {
		if k == id {
			from |= scene.Bit(sent.From)
		}
	}
	return from
}

// everBelow returns below which nodes x is in T, as any host knows it or will come to know it.
func (w *world) everBelow(x scene.Node) scene.Mask {
	m := scene.Bit(w.parents[x])
	for h := range w.c.Hosts {
		m |= scene.Bit(w.tview[h][x])
	}
	for i := range w.c.Events {
		if p := &w.c.Events[i]; p.Move == x && w.runs[i].status != 2 {
			m |= scene.Bit(p.Below)
		}
	}
	return m &^ 1
}

// everAbove returns m and what lies above it in the same sense, not looking further above those of stop.
func (w *world) everAbove(m, stop scene.Mask) scene.Mask {
	for {
		o := m
		for k := o &^ stop &^ 1; k != 0; k &= k - 1 {
			m |= w.everBelow(k.First())
		}
		if o == m {
			return m
		}
	}
}

// meets reports whether from each of ways upwards v comes before all else that is there.
func (w *world) meets(v scene.Node, ways, there scene.Mask) bool {
	up := w.everAbove(ways&^scene.Bit(v), scene.Bit(v))
	return ways&^scene.Bit(v) == 0 || up.Has(v) && (v == scene.NodeTop || !up.Has(scene.NodeTop)) && up&^scene.Bit(v)&there == 0
}
