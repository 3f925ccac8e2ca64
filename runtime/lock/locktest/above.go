package locktest

import (
	"hash/maphash"
	"slices"

	"github.com/aeon-lang/aeon/runtime/lock"
)

// This file has what stores tell each other of the order of attempts. TOP, at store 0, gives an attempt its place, and sends each store concerned its part; a store takes
// its parts in turn, each in one step. The attempt runs when all have taken theirs. When its code has ended each store votes, and then it commits. What is
// under way is delivered in any order. An attempt that is withdrawn is over at its home at once, and its parts elsewhere end when they hear of it, which
// is after they were taken. That a home hears of a part is no step: it only lets code run, which may run later still.

type parcelKind uint8

const (
	toTop   parcelKind = iota // an attempt is to be ordered
	toStore                   // a part, in its turn
	toVisit                   // a call begins a part of an unordered attempt
	toRest                    // planted bug: the second half of a pass
	toVote                    // the code has ended
	toEnd                     // the attempt has committed, or was withdrawn
)

func (k parcelKind) String() string {
	return [...]string{"order", "part", "visit", "rest of a pass", "prepare", "end"}[k]
}

// parcel is a message between stores about attempt id of an event.
type parcel struct {
	kind          parcelKind
	id            xid
	store         uint8 // to which it goes
	stores        uint8 // toTop: that get parts
	number        uint8
	place         uint8 // toTop: not 0 if the attempt has one, and gets further parts
	withdrawn     bool
	reads, writes mask // toVisit: reads is what is called
}

// part is what an attempt has in a store, its home included.
type part struct {
	id            xid
	store         uint8
	place         uint8
	ended         bool
	left          bool // it has released what it had, with its vote
	reads, writes mask
	entries       mask // entered at, or grown
	calls         mask // that are under way though the attempt was withdrawn
}

// try is what the home knows of the order of an attempt.
type try struct {
	place         uint8
	asked, taken  uint8 // stores with parts that were ordered, and taken
	ready, ended  bool  // its code runs, has ended
	votes         uint8
	byTop         bool
	places        uint8 // stores in which later attempts have parts, too
	reads, writes mask  // that they enter with, too
	follows       [nodeCount]xid
}

// above is what there is of order over stores.
type above struct {
	place   uint8           // the last that TOP has given
	given   [hostsMax]uint8 // and the last numbers
	tries   [eventsMax]try
	parts   []part
	parcels []parcel
	turns   [hostsMax]lock.Turns[parcel]
}

func (a *above) copyFrom(o *above) {
	a.place, a.given, a.tries = o.place, o.given, o.tries
	a.parts, a.parcels = append(a.parts[:0], o.parts...), append(a.parcels[:0], o.parcels...)
	for h := range a.turns {
		a.turns[h].CopyFrom(&o.turns[h])
	}
}

func (a *above) hash() uint64 {
	sum := maphash.Comparable(hashSeed, a.given) + mix(maphash.Comparable(hashSeed, a.tries)+uint64(a.place))
	for i := range a.parts {
		sum += maphash.Comparable(hashSeed, a.parts[i])
	}
	for i := range a.parcels {
		sum += a.parcels[i].sum()
	}
	for h := range a.turns {
		sum += mix(uint64(h)<<32 + a.turns[h].Taken())
		for _, g := range a.turns[h].Early {
			sum += mix(g.sum())
		}
	}
	return sum
}

func (g *parcel) sum() uint64 { return maphash.Comparable(hashSeed, *g) }

// concerns reports whether something of e is left.
func (a *above) concerns(e event) bool {
	of := func(g parcel) bool { return g.id.Event == e }
	early := false
	for h := range a.turns {
		for _, g := range a.turns[h].Early {
			early = early || of(g)
		}
	}
	return early || slices.ContainsFunc(a.parcels, of) || slices.ContainsFunc(a.parts, func(k part) bool { return k.id.Event == e })
}

// partOf returns the part of attempt id in a store, nil if it has none.
func (w *world) partOf(id xid, store uint8) *part {
	i := slices.IndexFunc(w.above.parts, func(k part) bool { return k.id == id && k.store == store })
	if i < 0 {
		return nil
	}
	return &w.above.parts[i]
}

func (w *world) post(g parcel) { w.above.parcels = append(w.above.parcels, g) }

// arrives reports whether g may be delivered.
func (w *world) arrives(g *parcel) bool { return g.kind != toEnd || w.partOf(g.id, g.store) != nil }

// enterAbove enters with what the event knows: in its store alone, or by TOP.
func (w *world) enterAbove(e event) {
	r, t, h, p := w.run(e), &w.above.tries[e], w.homeHost(e), &w.c.events[e]
	writes := w.c.known[e]&p.writes | t.writes
	reads := (w.c.known[e] | t.reads) &^ writes
	t.byTop = t.byTop || w.c.byTop[e]
	stores := w.c.storesOf(reads|writes) | t.places | w.c.hinted[e] | 1<<h
	if !t.byTop || stores == 1<<h || p.move != 0 {
		w.above.parts = append(w.above.parts, part{id: r.home.ID(), store: h, reads: reads & w.c.in(h), writes: writes & w.c.in(h)})
		t.ready = true
		w.enterStore(r.home.ID(), h, true)
		return
	}
	t.asked = stores
	w.post(parcel{kind: toTop, id: r.home.ID(), stores: t.asked, reads: reads, writes: writes})
}

// unorderedPlace is the place of an attempt of e that goes out by itself: below all that TOP gives.
func unorderedPlace(e event) uint8 { return uint8(e) + 1 }

// reach has TOP order a further part of e, which holds locks; or, if e has no place of TOP, its call of y begins the part.
func (w *world) reach(e event, store uint8, y node) {
	r, t, h := w.run(e), &w.above.tries[e], w.homeHost(e)
	if t.place <= eventsMax {
		w.touched.write(partKnow(h, e))
		t.place = unorderedPlace(e)
		w.partOf(r.home.ID(), h).place = t.place
		t.asked, t.taken = t.asked|1<<h|1<<store, t.taken|1<<h
		w.post(parcel{kind: toVisit, id: r.home.ID(), store: store, reads: bit(y)})
		return
	}
	t.asked |= 1 << store
	if viewFaults.noPlace {
		w.above.parts = append(w.above.parts, part{id: r.home.ID(), store: store, place: t.place})
		t.taken |= 1 << store
		return
	}
	w.post(parcel{kind: toTop, id: r.home.ID(), stores: 1 << store, place: t.place})
}

// enterStore enters where the part of attempt id is to enter: at its sequencer, if nothing is to be ordered above that, or at the roots.
func (w *world) enterStore(id xid, store uint8, alone bool) {
	v, k := hostView{w, store}, w.partOf(id, store)
	w.touched.write(partKnow(store, id.Event))
	reads, writes := v.wanted(id)
	f := reads | writes
	if alone && f != 0 {
		if z := v.nearest(f | v.ends(&w.c.events[id.Event])); !virtualNodes.has(z) {
			k.entries |= bit(z)
			w.enterAt(id, z, 0)
			return
		}
	}
	var roots mask
	for m := f & w.c.in(store); m != 0; m &= m - 1 {
		x := m.first()
		for !virtualNodes.has(w.parents[x]) {
			x = w.parents[x]
		}
		roots |= bit(x)
	}
	if viewFaults.twoSteps && !alone && roots&(roots-1) != 0 {
		w.post(parcel{kind: toRest, id: id, store: store, reads: roots & (roots - 1)})
		roots &= -roots
	}
	w.pass(id, k, roots)
}

func (w *world) pass(id xid, k *part, roots mask) {
	k.entries |= roots
	roots.each(func(x node) { w.enterAt(id, x, w.parents[x]) })
}

// enterAt enters at x: below a virtual node that was passed, or directly.
func (w *world) enterAt(id xid, x, from node) {
	if r := w.run(id.Event); r.home.ID() == id {
		r.home.Enter(x, lock.Ref{})
	}
	start := len(w.out)
	if from == 0 {
		_, w.out = w.queue(x).Enter(w.at(x), id, w.out)
	} else {
		w.orders[x] = append(w.orders[x], order{id: id, from: from})
		_, w.out = w.queue(x).Enqueue(w.at(x), lock.Sent[node]{From: from}, id, w.out)
	}
	w.process(x, start)
}

// receive is the arrival of parcel i.
func (w *world) receive(i int) {
	g := w.above.parcels[i]
	w.above.parcels = slices.Delete(w.above.parcels, i, i+1)
	e := g.id.Event
	w.touched.write(partKnow(g.store, e))
	switch g.kind {
	case toTop:
		w.touched.write(partTop)
		w.top(&g)
	case toStore:
		w.touched.write(partSession(g.store))
		if viewFaults.anyOrder && g.store == 1 {
			w.take(g)
			break
		}
		w.above.turns[g.store].Take(uint64(g.number), g, w.take)
	case toVisit:
		k := part{id: g.id, store: g.store, place: unorderedPlace(e)}
		if !w.current(g.id) {
			k.calls = g.reads
		}
		w.above.parts = append(w.above.parts, k)
		w.came(&g)
	case toRest:
		if k := w.partOf(g.id, g.store); k != nil {
			w.pass(g.id, k, g.reads)
			w.came(&g)
		}
	case toVote:
		k, r := w.partOf(g.id, g.store), w.run(e)
		if k == nil {
			break
		}
		k.ended = true
		if r.home.ID() == g.id && r.status == 1 {
			w.above.tries[e].votes |= 1 << g.store
			if w.c.early && !w.wrote(e, g.store) {
				k.left = true
				w.quit(k, false)
			}
		}
	case toEnd:
		k := w.partOf(g.id, g.store)
		if !k.left {
			w.quit(k, g.withdrawn)
		}
		w.above.parts = slices.DeleteFunc(w.above.parts, func(k part) bool { return k.id == g.id && k.store == g.store })
	}
}

// wrote reports whether e has held an actor of a store for writing.
func (w *world) wrote(e event, store uint8) bool {
	for m := w.c.in(store); m != 0; m &= m - 1 {
		if w.writers[m.first()]>>e&1 != 0 {
			return true
		}
	}
	return false
}

// top gives each store concerned its part.
func (w *world) top(g *parcel) {
	a := &w.above
	if g.place == 0 {
		a.place++
		g.place = eventsMax + a.place
	}
	for s := range uint8(w.c.hosts) {
		if g.stores>>s&1 != 0 {
			a.given[s]++
			w.post(parcel{kind: toStore, id: g.id, store: s, number: a.given[s], place: g.place, reads: g.reads & w.c.in(s), writes: g.writes & w.c.in(s)})
		}
	}
}

// take takes a part, whose turn it is. That of an attempt which is over is taken nowhere but at its home.
func (w *world) take(g parcel) {
	if g.store == w.homeHost(g.id.Event) && !w.current(g.id) {
		return
	}
	w.above.parts = append(w.above.parts, part{id: g.id, store: g.store, place: g.place, reads: g.reads, writes: g.writes})
	w.enterStore(g.id, g.store, false)
	if len(w.above.parcels) == 0 || w.above.parcels[len(w.above.parcels)-1].kind != toRest {
		w.came(&g)
	}
}

// current reports whether attempt id goes on.
func (w *world) current(id xid) bool {
	w.touched.read(partAttempt(id.Event))
	return w.runs[id.Event].status == 1 && w.runs[id.Event].home.ID() == id
}

// came notes at the home that a store has taken its part.
func (w *world) came(g *parcel) {
	if !w.current(g.id) {
		return
	}
	w.run(g.id.Event)
	t := &w.above.tries[g.id.Event]
	if t.taken |= 1 << g.store; g.store == w.homeHost(g.id.Event) {
		t.place = w.partOf(g.id, g.store).place
	}
	t.ready = t.ready || t.taken == t.asked
}

// quit releases what a part has.
func (w *world) quit(k *part, withdrawn bool) {
	id, entries := k.id, k.entries
	for ; entries != 0; entries &= entries - 1 {
		x := entries.first()
		q := w.queue(x)
		var from mask // a node that was moved may have entries of its former parent and of others
		for d := range q.Entries {
			if d.ID == id && (virtualNodes | 1).has(d.From) {
				from |= bit(d.From)
			}
		}
		if from == 0 {
			from = bit(w.parents[x]) // grown
		}
		from.each(func(u node) {
			w.release(&message{Kind: lock.MsgRelease, ID: id, From: u, To: x, Withdrawn: withdrawn}, lock.Ref{})
		})
	}
}

// prepare asks for the votes on e, whose code has ended.
func (w *world) prepare(e event) {
	r, t, h := w.run(e), &w.above.tries[e], w.homeHost(e)
	t.ended, t.votes = true, 1<<h
	w.touched.write(partKnow(h, e))
	w.partOf(r.home.ID(), h).ended = true
	w.tell(e, parcel{kind: toVote})
}

// tell sends g to all other stores with parts of e.
func (w *world) tell(e event, g parcel) {
	for s := range uint8(w.c.hosts) {
		if g.id, g.store = w.runs[e].home.ID(), s; s != w.homeHost(e) && w.above.tries[e].asked>>s&1 != 0 {
			w.post(g)
		}
	}
}

// leaveAbove ends the present attempt of e.
func (w *world) leaveAbove(e event, withdrawn bool) {
	id, h := w.runs[e].home.ID(), w.homeHost(e)
	w.tell(e, parcel{kind: toEnd, withdrawn: withdrawn})
	if k := w.partOf(id, h); k != nil {
		w.touched.write(partKnow(h, e))
		w.quit(k, withdrawn)
		w.above.parts = slices.DeleteFunc(w.above.parts, func(k part) bool { return k.id == id && k.store == h })
	}
}
