package locktest

import (
	"hash/maphash"

	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// This file watches the serial order of the events.

// access is the act that the locks guard: event e touches actor y. It must hold y
// in a sufficient mode, no other event may hold y in a conflicting one, and the
// order must remain acyclic.
func (w *world) access(e scene.Event, y scene.Node, m lock.Mode) {
	id := w.runs[e].home.ID()
	w.touched.read(partQueue(y) | partGlobal&-scope(y/scene.NodeFresh))
	w.touched.write(partActor(y) | partRun(e))
	if y >= scene.NodeFresh && (w.parents[y] == 0 && y == scene.NodeFresh+scene.Node(e)) {
		return // made by this event, unknown to other events
	}
	got, any := lock.None, false
	w.holders(y, func(h lock.Holder[scene.Event]) bool {
		if h.ID == id {
			got, any = max(got, h.Mode), true
		} else if h.Mode.Conflicts(m) {
			w.fail("conflicting holds at %v: e%d accesses it in mode %v, e%d holds it in mode %v", y, e, m, h.ID.Event, h.Mode)
		}
		return true
	})
	if !any || got < m {
		w.fail("e%d accesses %v in mode %v without a hold (has %v)", e, y, m, got)
	}
	before := w.writers[y]
	if m == lock.Write {
		before |= w.readers[y]
		w.writers[y] |= 1 << e
	} else {
		w.readers[y] |= 1 << e
	}
	w.after(e, before)
}

// checkHolds checks that events still hold what they have accessed, where a move has touched
// a queue.
func (w *world) checkHolds() {
	if w.c.Crash != 0 {
		return
	}
	for e := range scene.Event(len(w.c.Events)) {
		r := &w.runs[e]
		if r.status != 1 || r.started|r.read == 0 || w.above.tries[e].ended {
			continue
		}
		for m := (r.started | r.read) & scene.Mask(w.touched.writes); m != 0; m &= m - 1 {
			x, need := m.First(), lock.Read
			if x == scene.NodeFresh+scene.Node(e) {
				continue // unknown to other events
			}
			if w.writers[x]>>e&1 != 0 {
				need = lock.Write
			}
			held := false
			if s := w.c.Host[x]; w.c.Stores && s != w.homeHost(e) {
				if k := w.partOf(r.home.ID(), s); k == nil || k.ended {
					continue // it was lost, or restored, and the home has not heard of that
				}
			}
			w.holders(x, func(h lock.Holder[scene.Event]) bool {
				held = held || h.ID == r.home.ID() && h.Mode >= need
				return true
			})
			if !held {
				w.fail("e%d goes on without a hold of %v, which it has accessed", e, x)
			}
		}
	}
}

// validate checks the invariants of the queues and homes that a move has touched, and of the sessions.
func (w *world) validate() {
	for m := scene.Mask(w.touched.writes) & scene.EveryNode; m != 0; m &= m - 1 {
		if err := w.queues[m.First()].Validate(); err != nil {
			w.fail("at %v: %v", m.First(), err)
		}
	}
	for e := range scene.Event(len(w.c.Events)) {
		if r := &w.runs[e]; r.status == 1 && w.touched.writes&partRun(e) != 0 {
			if err := r.home.Validate(); err != nil {
				w.fail("home of e%d: %v", e, err)
			}
		}
	}
}

// after notes that the events of set come before e, and checks that the order is acyclic.
func (w *world) after(e scene.Event, set uint8) {
	set &^= 1 << e
	if w.precede[e]|set == w.precede[e] {
		return
	}
	w.precede[e] |= set
	if !w.c.Stores { // else an attempt that has lost a part may be about to hear of that
		w.acyclic(w.precede)
	}
}

// acyclic checks that no event comes before itself.
func (w *world) acyclic(p [scene.EventsMax]uint8) {
	for k := range p {
		for i := range p {
			if p[i]>>k&1 != 0 {
				p[i] |= p[k]
			}
		}
	}
	for i := range p {
		if p[i]>>i&1 != 0 {
			w.fail("not strictly serialisable: e%d comes before itself", i)
			return
		}
	}
}

// retire forgets the order of events that can be part of no cycle any more: they have
// committed, so nothing new comes before them, and so has all that comes before them.
func (w *world) retire() {
	for again := true; again; {
		again = false
		for e := range w.c.Events {
			if w.retired>>e&1 == 0 && w.runs[e].status == 2 && w.precede[e]&^w.retired == 0 {
				w.retired |= 1 << e
				again = true
			}
		}
	}
	for x := range w.readers {
		w.readers[x] &^= w.retired
		w.writers[x] &^= w.retired
	}
	for e := range w.precede {
		w.precede[e] &^= w.retired
	}
	for e := range scene.Event(len(w.c.Events)) {
		if w.runs[e].after&w.retired != 0 {
			w.run(e).after &^= w.retired
		}
	}
}

// remember adds the commit of e to the history: which attempt has read and written what, after which events.
func (w *world) remember(e scene.Event) {
	r := &w.runs[e]
	h := maphash.Comparable(hashSeed, [4]uint64{uint64(e), uint64(r.home.ID().Attempt), uint64(w.precede[e]), uint64(r.started | r.read)})
	for x := range w.readers {
		read, written := w.readers[x]>>e&1, w.writers[x]>>e&1
		if written != 0 {
			h = mix(h ^ uint64(w.slots[x]))
		}
		h = mix(h ^ uint64(read)<<36 ^ uint64(written)<<32 ^ uint64(w.committed[x])<<16 ^ uint64(w.parents[x]))
	}
	w.history = mix(w.history ^ h)
}

// checkCommitted checks that the events that have committed have an order.
func (w *world) checkCommitted() {
	p, committed := w.precede, uint8(0)
	for e := range w.c.Events {
		if w.runs[e].status == 2 {
			committed |= 1 << e
		}
	}
	for e := range p {
		if p[e] &= committed; committed>>e&1 == 0 {
			p[e] = 0
		}
	}
	w.acyclic(p)
}

func (w *world) owner(f scene.Node) scene.Node {
	for x := range w.committed {
		if w.committed[x].Has(f) {
			return scene.Node(x)
		}
	}
	return scene.NodeTop
}

// checkOwnership checks that Omega and T have no cycle.
func (w *world) checkOwnership() {
	for x := scene.NodeActor; x < scene.NodeCount; x++ {
		if scene.Reach(&w.committed, w.committed[x]).Has(x) {
			w.fail("ownership has a cycle through %v", x)
		}
		u := x
		for range scene.NodeCount {
			u = w.parents[u]
		}
		if u != 0 {
			w.fail("T has a cycle above %v", x)
		}
	}
}
