package locktest

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// This file has what hosts do when one of them crashes: its queues and numbers are lost and its actors are as they were committed last. Hosts notice one by one;
// until then they send in a session that is over. Homes do not crash: they are on other hosts.

// crashes lists the moves of crashes that are possible.
func (w *world) crashes(l []move) []move {
	h := w.c.Crash - 1
	if w.net.Crashes(lock.Host(h)) == 0 {
		for e := range w.c.Events {
			if w.runs[e].status == 1 {
				return append(l, move{kind: moveCrash, h: h})
			}
		}
		return l
	}
	for o := range uint8(w.c.Hosts) {
		if !w.net.Noticed(lock.Host(o), lock.Host(h)) {
			l = append(l, move{kind: moveNotice, h: o, i: uint16(h)})
		}
	}
	return l
}

// crash lets host h lose all that is not committed. When it is back it asks how T runs around
// its nodes: the release that would have told it may be lost.
func (w *world) crash(h uint8) {
	w.touched.read(partGlobal)
	w.touched.write(partSessions | partView(h))
	w.net.Crash(lock.Host(h))
	for x := range scene.Node(scene.NodeCount) {
		if w.c.Host[w.tview[h][x]] == h {
			w.tview[h][x] = w.parents[x]
		}
		if w.c.Host[x] != h {
			continue
		}
		w.touched.write(partActor(x))
		for e := range scene.Event(len(w.c.Events)) {
			w.touched.write(partKnow(h, e))
			if w.runs[e].undoAt[x] != 0 {
				w.undo(w.run(e), x)
			}
			if w.runs[e].status != 2 {
				w.lost[x] |= w.writers[x] & (1 << e)
				w.readers[x] &^= 1 << e
				w.writers[x] &^= 1 << e
			}
		}
		w.view[h][x], w.tview[h][x] = w.committed[x], w.parents[x]
		*w.queue(x) = xqueue{}
		w.queue(x).Reset(x)
		w.orders[x] = w.orders[x][:0]
	}
	w.know[h] = [scene.EventsMax]known{}
}

// undo takes back what an attempt of r has changed at x.
func (w *world) undo(r *run, x scene.Node) {
	w.edges[x], w.slots[x] = r.undoEdges[x], r.undoSlot[x]
	r.undoAt[x], r.undoEdges[x], r.undoSlot[x] = 0, 0, 0
}

// notice lets host h begin a new session with host lost, which has crashed.
func (w *world) notice(h, lost uint8) {
	w.touched.write(partSessions)
	w.net.Notice(lock.Host(h), lock.Host(lost))
	for x := range scene.Node(scene.NodeCount) {
		if w.c.Host[x] != h || x == 0 {
			continue
		}
		for peer := scene.NodeTop; peer < scene.NodeCount; peer++ {
			if w.c.Host[peer] == lost {
				w.lose(x, peer)
			}
		}
	}
	for e := range scene.Event(len(w.c.Events)) {
		r := &w.runs[e]
		if r.status != 1 || w.homeHost(e) != h {
			continue
		}
		if w.visited(e, lost) {
			w.withdraw(e, 0, lock.None, 0, "host crashed")
		} else {
			w.run(e).epochs[lost] = w.net.Crashes(lock.Host(lost))
		}
	}
}

// lose tells the queue of x that peer has crashed.
func (w *world) lose(x, peer scene.Node) {
	q := w.queue(x)
	start := len(w.out)
	w.out = q.Lost(peer, w.out)
	w.orders[x] = slices.DeleteFunc(w.orders[x], func(o order) bool {
		return o.from == peer && !q.Find(o.id, peer).Valid()
	})
	w.process(x, start)
}

// severed is the report of a node that its T-neighbour has crashed.
func (w *world) severed(m *message) {
	e, r := m.ID.Event, &w.runs[m.ID.Event]
	w.touched.read(partAttempt(e))
	current := r.home.ID() == m.ID
	if current && r.status == 1 {
		w.withdraw(e, 0, lock.None, 0, "cut off by a crash")
	}
	if !m.Orphan {
		return
	}
	a := message{Kind: lock.MsgRelease, ID: m.ID, From: m.Node, To: m.From, Withdrawn: !current || r.status != 2}
	if h, to := w.homeHost(e), w.c.Host[a.To]; to != h {
		w.send(h, to, a)
	} else {
		w.release(&a, lock.Ref{})
	}
}

// visited reports whether the attempt of e has visited host h, as far as its home knows.
func (w *world) visited(e scene.Event, h uint8) (yes bool) {
	r := &w.runs[e]
	r.home.Visited(func(x scene.Node) bool {
		yes = yes || w.c.Host[x] == h
		return true
	})
	return yes
}

// crashedSince returns a host that the attempt has visited and that has crashed since.
func (w *world) crashedSince(e scene.Event) (h uint8, ok bool) {
	for h := range uint8(w.c.Hosts) {
		if w.runs[e].epochs[h] != w.net.Crashes(lock.Host(h)) && w.visited(e, h) {
			return h, true
		}
	}
	return 0, false
}

// cutOff reports whether the attempt of e can do nothing at x any more, as its host has
// crashed.
func (w *world) cutOff(e scene.Event, x scene.Node) bool {
	h := w.c.Host[x]
	if w.c.Stores {
		return !w.serves(e, h)
	}
	w.touched.read(partSession(h))
	return w.runs[e].epochs[h] != w.net.Crashes(lock.Host(h))
}
