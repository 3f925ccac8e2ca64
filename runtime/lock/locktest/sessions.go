package locktest

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/commit"
	ids "github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// This file has sessions between stores, which end, and stores that start anew. The rules are those of runtime/across (docs/rfc/stores.md, 29 to 37), and of cluster/link: of two stores
// the lower one begins a session, when it knows that the last one has ended; then the higher one is in it, and then the lower one.

// links are the sessions between stores.
type links struct {
	epoch   [scene.HostsMax][scene.HostsMax]uint8 // of the lower and the higher store: the session that the network has
	up      [scene.HostsMax][scene.HostsMax]uint8 // the one that the first knows of with the second; 0: of none
	crashed uint8                                 // stores that have
	cut     uint8                                 // stores whose session with the next one has ended by itself
}

func (l *links) reset() {
	*l = links{}
	for a := range l.up {
		for b := range l.up {
			l.epoch[a][b], l.up[a][b] = 1, 1
		}
	}
}

// now returns the number of the session that the network has between two stores.
func (l *links) now(a, b uint8) *uint8 { return &l.epoch[min(a, b)][max(a, b)] }

// reaches reports whether a store knows of a session with another one.
func (w *world) reaches(a, b uint8) bool {
	w.touched.read(partSession(a) | partSession(b))
	return a == b || w.above.up[a][b] != 0
}

// linked reports whether two stores are in the session that there is.
func (w *world) linked(a, b uint8) bool {
	l := &w.above.links
	return l.up[a][b] == *l.now(a, b) && l.up[b][a] == *l.now(a, b)
}

// post sends g, unless the session is over.
func (w *world) post(from, to uint8, g parcel) {
	w.touched.read(partSession(from) | partSession(to))
	if g.from, g.store = from, to; from != to {
		if g.session = *w.above.now(from, to); w.above.up[from][to] != g.session {
			return
		}
	}
	w.above.parcels = append(w.above.parcels, g)
}

// faults lists what may happen to stores and sessions.
func (w *world) faults(l []move) []move {
	a := &w.above
	if w.isOpen() {
		for s := range uint8(w.c.Hosts) {
			if (w.c.Crashes&^a.crashed)>>s&1 != 0 {
				l = append(l, move{kind: moveFail, h: s})
			}
			if o := (s + 1) % uint8(w.c.Hosts); (w.c.Cuts&^a.cut)>>s&1 != 0 && w.linked(s, o) {
				l = append(l, move{kind: moveCut, h: s, i: uint16(o)})
			}
		}
	}
	for s := range uint8(w.c.Hosts) {
		for o := range uint8(w.c.Hosts) {
			now := *a.now(s, o)
			switch {
			case s == o:
			case a.up[s][o] != 0 && a.up[s][o] != now:
				l = append(l, move{kind: moveLost, h: s, i: uint16(o)})
			case a.up[s][o] == 0 && (s > o && a.up[o][s] == 0 || s < o && a.up[o][s] == now):
				l = append(l, move{kind: moveUp, h: s, i: uint16(o)})
			}
		}
	}
	return l
}

// everything has a move commute with no other one.
func (w *world) everything() { w.touched.writes = ^scope(0) }

// loseSession has store s learn that its session with another one has ended.
func (w *world) loseSession(s, o uint8) {
	w.everything()
	a := &w.above
	a.up[s][o] = 0
	w.dropOld(s, o)
	if !viewFaults.outlive {
		w.carryOut(s, w.core(s).home.Lost(ids.StoreID(o), nil), nil)
	}
	w.carryOut(s, w.core(s).part.Lost(ids.StoreID(o), nil), nil)
	if o == 0 {
		a.turns[s].Restart()
		w.missed(s, func(t *try) bool { return t.taken != t.asked })
	}
	if s == 0 {
		if !viewFaults.keepNumbers {
			a.given[o] = 0
		}
		a.deferred = slices.DeleteFunc(a.deferred, func(g parcel) bool { return w.homeHost(g.id.Event) == o })
		for to := range uint8(w.c.Hosts) {
			if w.reaches(0, to) {
				w.post(0, to, parcel{kind: toMissed, stores: 1 << o})
			}
		}
	}
}

// dropOld loses what store o has sent to s in sessions that are over.
func (w *world) dropOld(s, o uint8) {
	a := &w.above
	a.parcels = slices.DeleteFunc(a.parcels, func(g parcel) bool { return g.store == s && g.from == o && g.session != *a.now(s, o) })
}

// missed withdraws those attempts of store s of which a part may have been lost on its way from store 0.
func (w *world) missed(s uint8, which func(*try) bool) {
	if viewFaults.halfPass {
		return
	}
	for e := range scene.Event(len(w.c.Events)) {
		if t := &w.above.tries[e]; w.runs[e].status == 1 && w.homeHost(e) == s && t.sent && which(t) {
			w.faultEnds(e)
			w.withdraw(e, 0, lock.None, 0, "a part may be lost")
		}
	}
}

// beginSession has store s know of the session with another one.
func (w *world) beginSession(s, o uint8) {
	w.everything()
	a := &w.above
	a.up[s][o] = *a.now(s, o)
	w.dropOld(s, o)
	w.carryOut(s, w.core(s).home.Up(ids.StoreID(o), nil), nil)
	w.carryOut(s, w.core(s).part.Up(ids.StoreID(o), nil), nil)
	for e := range scene.Event(len(w.c.Events)) {
		if w.runs[e].status == 1 && w.homeHost(e) == s {
			w.sendOrder(e)
		}
	}
	if s == 0 {
		list := slices.Clone(a.deferred)
		a.deferred = a.deferred[:0]
		for i := range list {
			w.top(&list[i])
		}
	}
	if viewFaults.restoreLate {
		w.restoreHolds(s)
	}
}

// cut ends the session between two stores.
func (w *world) cut(s, o uint8) {
	w.everything()
	w.above.cut |= 1 << s
	*w.above.now(s, o)++
}

// failStore ends store s with all that is not durable, and starts it anew: it restores its decisions and what is prepared, with its locks, before anything else happens there.
// Its events that have not committed begin anew, as those do that a row issues.
func (w *world) failStore(s uint8) {
	w.everything()
	a := &w.above
	a.crashed |= 1 << s
	for o := range uint8(w.c.Hosts) {
		if o != s {
			*a.now(s, o)++
			a.up[s][o] = 0
		}
	}
	a.parcels = slices.DeleteFunc(a.parcels, func(g parcel) bool { return g.store == s })
	var again []scene.Event
	for e := range scene.Event(len(w.c.Events)) {
		if w.runs[e].status == 1 && w.homeHost(e) == s {
			again = append(again, e)
			w.carryOn(e, 0, lock.None) // its parts elsewhere go on until they hear of this
		}
	}
	k := w.core(s)
	k.home, k.part = commit.Home{}, commit.Participant{}
	w.loseActors(s)
	a.parts = slices.DeleteFunc(a.parts, func(k part) bool { return k.store == s && !k.row })
	if a.turns[s].Restart(); s == 0 {
		a.given, a.deferred = [scene.HostsMax]uint8{}, a.deferred[:0]
	}
	for e := range scene.Event(len(w.c.Events)) {
		if d := a.rows[e]; d != (decision{}) && w.homeHost(e) == s {
			var stores []ids.StoreID
			w.others(e, d.stores, func(o uint8) { stores = append(stores, ids.StoreID(o)) })
			k.home.Restore(nameOf(xid{Event: e, Attempt: uint32(d.attempt)}), 0, stores)
			w.counts.decisions++
		}
	}
	for i := range a.parts {
		if p := &a.parts[i]; p.store == s {
			*p = part{id: p.id, store: s, ended: true, row: true, rows: p.rows, kept: p.kept, done: p.done, reads: p.rows | p.kept, writes: p.rows}
			k.part.Restore(nameOf(p.id), ids.StoreID(w.homeHost(p.id.Event)))
			w.counts.doubts++
		}
	}
	if !viewFaults.restoreLate {
		w.restoreHolds(s)
	}
	for _, e := range again {
		w.faultEnds(e)
		w.forgetAttempt(e, try{})
		r := w.run(e)
		r.home.Withdraw(0, lock.None)
		r.status = 0
	}
}

// restoreHolds has what is prepared in a store hold what it has written and read, on the fast path: nothing else is there.
func (w *world) restoreHolds(s uint8) {
	for i := range w.above.parts {
		k := &w.above.parts[i]
		if k.store != s || !k.row || k.fastR|k.fastW == k.rows|k.kept || k.entries != 0 || viewFaults.forgetDoubt {
			continue
		}
		for m := (k.rows | k.kept) &^ (k.fastR | k.fastW); m != 0; m &= m - 1 {
			if x := m.First(); !w.join(k, x, modeIn(k.rows, x)) {
				w.fail("what e%d has prepared cannot be held again", k.id.Event)
			}
		}
	}
}

// loseWrite notes that the present attempt of e, which must not commit, has lost what it has written at x.
func (w *world) loseWrite(e scene.Event, x scene.Node) {
	if w.writers[x]>>e&1 != 0 {
		w.touched.write(partActor(x))
		w.lost[x] |= 1 << e
		w.writers[x] &^= 1 << e
	}
}

// loseActors loses what is in the memory of store s of its actors: what is not prepared was not written.
func (w *world) loseActors(s uint8) {
	for m := w.c.In(s); m != 0; m &= m - 1 {
		x := m.First()
		for e := range scene.Event(len(w.c.Events)) {
			r := &w.runs[e]
			durable := func(id xid) bool {
				k := w.partOf(id, s)
				return k != nil && k.row && k.rows.Has(x)
			}
			if a := r.undoAt[x]; a != 0 && !durable(xid{Event: e, Attempt: uint32(a)}) {
				w.undo(w.run(e), x)
			}
			if r.status == 1 && !durable(r.home.ID()) {
				w.loseWrite(e, x)
			}
		}
		w.queue(x)
		w.queues[x] = xqueue{}
		w.queues[x].Reset(x)
		w.orders[x] = w.orders[x][:0]
		w.above.words[x] = 0
		w.latched &^= scene.Bit(x)
	}
	for i := range w.above.parts {
		if k := &w.above.parts[i]; k.store == s && k.done&^k.rows != 0 {
			w.fail("store %d loses what e%d has committed there", s, k.id.Event)
		}
	}
}
