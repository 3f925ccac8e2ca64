package locktest

import (
	"fmt"

	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// This file is the explorer's driver: it executes effects as the package comment asks,
// at once on one host, by messages in any order between hosts.

func (w *world) fail(format string, args ...any) {
	if w.bad == "" {
		w.bad = fmt.Sprintf(format, args...)
	}
}

func (w *world) trace(format string, args ...any) {
	if w.log != nil {
		w.log(format, args...)
	}
}

func (w *world) at(x scene.Node) hostView { return hostView{w, w.c.Host[x]} }

// homeHost returns the host of an event's home.
func (w *world) homeHost(e scene.Event) uint8 {
	p := &w.c.Events[e]
	switch {
	case w.c.Crash != 0 || w.c.Stores:
		return w.c.Home[e]
	case p.Move != 0:
		return w.c.Host[p.Move]
	}
	return w.c.Host[p.Target]
}

// learn merges what host h is told of the footprint of an attempt into what it knows.
func (w *world) learn(h uint8, id xid, reads, writes scene.Mask) {
	e, attempt := id.Event, uint8(id.Attempt)
	k := &w.know[h][e]
	w.touched.read(partKnow(h, e))
	old := *k
	defer func() {
		if *k != old {
			w.touched.write(partKnow(h, e))
		}
	}()
	if k.attempt > attempt {
		return
	}
	if k.attempt < attempt {
		*k = known{attempt: attempt}
	}
	k.reads |= reads
	k.writes |= writes
	k.reads &^= k.writes
}

// claim returns a footprint as a message carries it, until the next is made.
func (w *world) claim(reads, writes scene.Mask) []lock.Claim[scene.Node] {
	w.claims = w.claims[:0]
	for m := reads | writes; m != 0; m &= m - 1 {
		c := lock.Claim[scene.Node]{Node: m.First(), Mode: lock.Read}
		if writes.Has(c.Node) {
			c.Mode = lock.Write
		}
		w.claims = append(w.claims, c)
	}
	return w.claims
}

// claimed is the footprint that a message carries.
func claimed(claims []lock.Claim[scene.Node]) (reads, writes scene.Mask) {
	for _, c := range claims {
		if c.Mode == lock.Write {
			writes |= scene.Bit(c.Node)
		} else {
			reads |= scene.Bit(c.Node)
		}
	}
	return reads, writes
}

// process executes the effects of a step at x from start on: enqueues first, under x's
// latch, then the rest.
func (w *world) process(x scene.Node, start int) {
	h := w.c.Host[x]
	end := len(w.out)
	for i := start; i < end; i++ {
		f := w.out[i]
		if w.log != nil {
			w.log("    %v", f)
		}
		if f.Kind == lock.Enqueue {
			w.sendEnqueue(x, h, i)
		}
	}
	for i := start; i < end; i++ {
		switch f := w.out[i]; f.Kind {
		case lock.Release:
			m := lock.MessageOf(w.out[i:], nil)
			if to := w.c.Host[f.To]; to != h {
				w.send(h, to, m)
			} else {
				w.release(&m, f.Ref)
			}
		case lock.Admitted, lock.Bounced, lock.Refused, lock.Severed:
			w.sendHome(h, i)
		}
	}
}

// sendEnqueue executes the Enqueue in w.out[i], of node x.
func (w *world) sendEnqueue(x scene.Node, h uint8, i int) {
	f := w.out[i]
	c := f.To
	to := w.c.Host[c]
	w.touched.read(partSession(h) | partSession(to))
	if !w.net.Noticed(lock.Host(h), lock.Host(to)) {
		return
	}
	w.queue(c)
	w.orders[c] = append(w.orders[c], order{id: f.ID, from: x})
	reads, writes := scene.Mask(0), scene.Mask(0)
	if !w.c.Stores {
		reads, writes = hostView{w, h}.footprint(f.ID.Event, 0)
	}
	if to != h {
		m := lock.MessageOf(w.out[i:], nil)
		m.Claims = w.claim(reads, writes)
		w.send(h, to, m)
		return
	}
	if !w.c.Stores {
		w.learn(h, f.ID, reads, writes)
	}
	n := len(w.out)
	var ref lock.Ref
	ref, w.out = w.queue(c).Enqueue(w.at(c), lock.Sent[scene.Node]{From: x, Acquired: f.Lazy}, f.ID, w.out)
	w.process(c, n)
	if ref.Valid() {
		w.queue(x).Bind(f.Ref, f.Edge, ref)
	}
}

// sendHome tells the event's home of the effect in w.out[i].
func (w *world) sendHome(h uint8, i int) {
	f := w.out[i]
	e := f.ID.Event
	start := len(w.kids)
	n := note{m: lock.MessageOf(w.out[i:], w.kids)}
	if f.Kind == lock.Admitted {
		w.kids, n.m.Children = n.m.Children, n.m.Children[start:]
	}
	if f.Kind == lock.Admitted || f.Kind == lock.Refused {
		w.checkOrder(f)
	}
	w.touched.read(partAttempt(e))
	part := w.c.Stores && h != w.homeHost(e) && f.Kind != lock.Admitted // which knows nothing of the attempt's end
	if r := &w.runs[e]; !part && !n.m.Orphan && (r.status != 1 || r.home.ID() != f.ID) {
		return // it would be dropped there
	}
	if to := w.homeHost(e); to != h && !w.c.Stores {
		w.send(h, to, n.m)
		return
	}
	if f.Kind == lock.Admitted {
		n.via = w.queues[f.At].Entry(f.Ref).From
		start := len(w.reports)
		w.reports = append(w.reports, w.out[i:i+1+int(f.Count)]...)
		n.report = w.reports[start:]
	}
	w.todo = append(w.todo, n)
}

// checkOrder checks that admission follows the order in which one T-parent sent, and
// that an admitted direct entry covers its footprint (RULE-1).
func (w *world) checkOrder(f xeffect) {
	q := w.queue(f.At)
	from := q.Entry(f.Ref).From
	if from == 0 && f.Kind == lock.Admitted {
		if z := w.at(f.At).Footprint(f.At, f.ID).Enter; z != 0 {
			w.fail("e%d is admitted at %v, which does not cover its footprint; %v does", f.ID.Event, f.At, z)
		}
	}
	l := w.orders[f.At]
	for i := range l {
		if l[i].id != f.ID || l[i].from != from || l[i].done {
			continue
		}
		l[i].done = true
		for k := range i {
			if f.Kind == lock.Admitted && l[k].from == from && !l[k].done {
				w.fail("admission at %v is not FIFO: e%d overtakes e%d", f.At, f.ID.Event, l[k].id.Event)
			}
		}
	}
}

// release executes a release at its node: undo or learn first, under the latch.
func (w *world) release(m *message, ref lock.Ref) {
	x, e := m.To, m.ID.Event
	if m.Withdrawn {
		if uint32(w.runs[e].undoAt[x]) == m.ID.Attempt {
			w.touched.write(partActor(x))
			w.undo(w.run(e), x)
		}
	} else {
		w.carry(w.c.Host[x], e)
	}
	kept := w.orders[x][:0]
	for _, o := range w.orders[x] {
		if o.id != m.ID || o.from != m.From {
			kept = append(kept, o)
		}
	}
	w.orders[x] = kept
	q, v := w.queue(x), w.at(x)
	start := len(w.out)
	if w.c.Events[e].Move == x {
		if i := q.Find(m.ID, m.From); i.Valid() && q.Entry(i).Held {
			w.decided = x
			w.out = q.Moved(v, w.out)
		}
	}
	if ref.Valid() {
		w.out = q.Release(v, ref, m.Withdrawn, w.out)
	} else {
		w.out = q.Receive(v, m, w.out)
	}
	w.process(x, start)
	w.decided = 0
}

// carry tells a host what the committed event e has changed.
func (w *world) carry(h uint8, e scene.Event) {
	p := &w.c.Events[e]
	edges, paths := w.view[h], w.tview[h]
	if p.Move != 0 {
		w.touched.read(partGlobal)
		w.tview[h][p.Move] = w.parents[p.Move]
	}
	for x := range p.Ops {
		if p.Owns(scene.Node(x)) {
			w.touched.read(partGlobal)
			w.view[h][x] = w.committed[x]
			if f := scene.NodeFresh + scene.Node(e); w.parents[f] != 0 {
				w.view[h][f], w.tview[h][f] = w.committed[f], w.parents[f]
			}
		}
	}
	w.touched.read(partView(h))
	if edges != w.view[h] || paths != w.tview[h] {
		w.touched.write(partView(h))
	}
}

// deliver executes a message at its addressee.
func (w *world) deliver(g *letter) {
	switch {
	case g.Kind.ToHome():
		w.todo = append(w.todo, note{m: g.Message})
		return
	case g.Kind == lock.MsgRelease:
		w.release(&g.Message, lock.Ref{})
		return
	}
	q, v := w.queue(g.To), w.at(g.To)
	reads, writes := claimed(g.Claims)
	w.learn(v.h, g.ID, reads, writes)
	start := len(w.out)
	w.out = q.Receive(v, &g.Message, w.out)
	w.process(g.To, start)
}

// enter sends the current attempt of e to its sequencer, as its home sees it.
func (w *world) enter(e scene.Event) {
	if w.c.Stores {
		w.enterAbove(e)
		return
	}
	r := w.run(e)
	h := w.homeHost(e)
	id := r.home.ID()
	k := known{attempt: uint8(id.Attempt)}
	for _, c := range r.home.Claims() {
		if c.Mode == lock.Write {
			k.writes |= scene.Bit(c.Node)
		} else {
			k.reads |= scene.Bit(c.Node)
		}
	}
	w.know[h][e] = k
	w.touched.write(partKnow(h, e))
	w.touched.read(partSession(h))
	for o := range r.epochs {
		r.epochs[o] = w.net.Known(lock.Host(h), lock.Host(o))
	}
	v := hostView{w, h}
	reads, writes := v.footprint(e, 0)
	f := reads | writes | v.ends(&w.c.Events[e])
	if r.high != 0 {
		f |= scene.Bit(r.high)
	}
	z := v.nearest(f)
	r.entered = z
	w.learn(h, id, reads, writes)
	if w.c.Fanout && scene.VirtualNodes.Has(z) {
		w.fanout(e, z)
		return
	}
	if to := w.c.Host[z]; to != h {
		r.home.Enter(z, lock.Ref{})
		r.made[z] = made{is: true}
		w.send(h, to, message{Kind: lock.MsgEnter, ID: id, To: z, Claims: w.claim(reads, writes)})
		return
	}
	if w.c.Try && w.tryEnter(e, z) {
		return
	}
	start := len(w.out)
	var ref lock.Ref
	ref, w.out = w.queue(z).Enter(v, id, w.out)
	r.home.Enter(z, ref)
	r.made[z] = made{is: true, ref: ref}
	w.process(z, start)
}

// tryEnter is the fast path of a driver in one process: narrow, and hold with the children.
func (w *world) tryEnter(e scene.Event, z scene.Node) bool {
	v, r, q := w.at(z), w.run(e), w.queue(z)
	id := r.home.ID()
	t := v.Footprint(z, id)
	if t.Enter != 0 || t.Mode == lock.None {
		return false
	}
	if !open(q, t.Mode, t.Below) {
		return false // else the fields are still, in this step, as if they were held
	}
	var x lock.Expansion[scene.Node]
	if t.Below {
		x = v.Expand(z, id, t.Mode, nil)
		if x.Lazy || x.Outside {
			return false
		}
		for _, c := range x.Children {
			if w.c.Host[c] != v.h {
				return false
			}
		}
	}
	ref, ok := q.Try(id, 0, t.Mode, x.Children)
	if !ok {
		return false
	}
	w.trace("    fast path at %v: %v, children %v", z, t.Mode, x.Children)
	r.home.Enter(z, ref)
	r.made[z] = made{is: true, ref: ref}
	r.home.Hold(z, t.Mode, ref, x.Children)
	for i, c := range x.Children {
		w.enqueueLocal(e, z, c, ref, int32(i))
	}
	return true
}

// open reports whether an event that wants mode m, and something below or not, would be admitted at once.
func open(q *xqueue, m lock.Mode, below bool) bool {
	_, waiting := q.Len()
	free := waiting == 0
	q.Holders(func(h lock.Holder[scene.Event]) bool {
		free = free && !m.Conflicts(h.Mode) && !(below && h.Lazy)
		return free
	})
	return free
}

// enqueueLocal enqueues on child c on behalf of parent, or of the home if parent's
// entry is none.
func (w *world) enqueueLocal(e scene.Event, parent, c scene.Node, entry lock.Ref, i int32) {
	r := w.run(e)
	start := len(w.out)
	w.orders[c] = append(w.orders[c], order{id: r.home.ID(), from: parent})
	ref, out := w.queue(c).Enqueue(w.at(c), lock.Sent[scene.Node]{From: parent}, r.home.ID(), w.out)
	w.out = out
	if entry.Valid() {
		w.queue(parent).Bind(entry, i, ref)
	} else {
		r.home.Enter(c, ref)
		r.made[c] = made{is: true, from: parent, ref: ref}
	}
	w.process(c, start)
}

// fanout passes virtual node z without a queue.
func (w *world) fanout(e scene.Event, z scene.Node) {
	v := hostView{w, w.homeHost(e)}
	x := v.Expand(z, w.runs[e].home.ID(), lock.None, nil)
	for _, c := range x.Children {
		if scene.VirtualNodes.Has(c) {
			w.fanout(e, c)
			continue
		}
		w.enqueueLocal(e, z, c, lock.Ref{}, 0)
	}
}

// deafen drops the messages to the home of e, which has ended an attempt: it would
// drop them itself, whenever they come, so their order of arrival is nothing to explore.
func (w *world) deafen(e scene.Event) {
	w.net.Drop(func(g *letter) bool { return g.Kind.ToHome() && g.ID.Event == e && !g.Orphan })
}

func allAdmitted(h *xhome) bool {
	for v := range h.Visits {
		if !v.Granted {
			return false
		}
	}
	return true
}
