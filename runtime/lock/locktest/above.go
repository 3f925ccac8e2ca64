package locktest

import (
	"hash/maphash"
	"slices"

	"github.com/aeon-lang/aeon/runtime/commit"
	ids "github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// This file has what stores tell each other of the order of attempts. TOP, at store 0, gives an attempt its place, and sends each store concerned its part; a store takes
// its parts in turn, each in one step. The attempt runs when all have taken theirs. When its code has ended each store votes, and then it commits (decide.go). What is
// under way is delivered in any order, in sessions that may end (sessions.go). An attempt that is withdrawn is over at its home at once, and its parts elsewhere end when they hear of it.
// Calls and answers take no time: code runs wherever it has its locks, as long as its part is there and has a session with the home.

type parcelKind uint8

const (
	toTop    parcelKind = iota // an attempt is to be ordered
	toStore                    // a part, in its turn
	toVisit                    // a call begins a part of an unordered attempt
	toRest                     // planted bug: the second half of a pass
	toBelow                    // a holder on the fast path takes what it wants below
	toHome                     // a part was taken
	toCommit                   // what the machines of the commit say
	toMissed                   // store 0 has lost its session with a store
)

func (k parcelKind) String() string {
	return [...]string{"order", "part", "visit", "rest of a pass", "below", "taken", "commit", "missed"}[k]
}

// parcel is a message between stores about attempt id of an event.
type parcel struct {
	kind          parcelKind
	says          commit.Kind // of toCommit, with yes and wrote
	yes, wrote    bool
	id            xid
	from, store   uint8 // from which it comes, to which it goes
	session       uint8 // of the two
	stores        uint8 // toTop: that get parts; toMissed: the one that was lost
	number        uint8
	place         uint8      // toTop: not 0 if the attempt has one, and gets further parts
	reads, writes scene.Mask // toVisit: reads is what is called; of a part that was refused: what it does not cover
}

// part is what an attempt has in a store, its home included.
type part struct {
	id            xid
	store         uint8
	place         uint8
	ended         bool
	early         bool // it has voted with an answer, and is not asked for more
	row           bool // it is prepared
	refused       bool // by a queue, after it had voted: it lacks what is in lacksR and lacksW
	reads, writes scene.Mask
	entries       scene.Mask // entered at, or grown
	fastR, fastW  scene.Mask // held on the fast path
	rows, kept    scene.Mask // row: has these writes, and holds these reads
	done          scene.Mask // it has written these, and committed at its home
	calls         scene.Mask // that are under way though the attempt was withdrawn

	lacksR, lacksW scene.Mask
}

// try is what the home knows of the order of an attempt.
type try struct {
	reads, writes scene.Mask // that later attempts enter with, too
	follows       [scene.NodeCount]followed
	place         uint8
	asked, taken  uint8 // stores with parts that were ordered, and taken
	early, firm   uint8 // stores whose early votes count, whatever locks the attempt takes later
	keep          uint8 // stores that the decision names
	places        uint8 // stores in which later attempts have parts, too
	open          bool  // it has parts elsewhere: the home's machine knows it
	unsent, sent  bool  // it waits for sessions, was sent to store 0
	ready, ended  bool  // its code runs, has ended
	verdict       bool  // all have voted
	byTop         bool
	zero          uint8 // no padding, as it is hashed in one piece
}

// followed is an attempt.
type followed struct {
	event   scene.Event
	attempt uint8
}

func (f followed) id() xid { return xid{Event: f.event, Attempt: uint32(f.attempt)} }

// above is what there is of order over stores.
type above struct {
	place    uint8                 // the last that TOP has given
	given    [scene.HostsMax]uint8 // and the last numbers
	tries    [scene.EventsMax]try
	parts    []part
	parcels  []parcel
	deferred []parcel // orders that store 0 keeps until it has a session
	turns    [scene.HostsMax]lock.Turns[parcel]
	words    [scene.NodeCount]lock.Word
	cores    [scene.HostsMax]core
	rows     [scene.EventsMax]decision
	links
}

func (a *above) copyFrom(o *above) {
	a.place, a.given, a.tries, a.words, a.rows, a.links = o.place, o.given, o.tries, o.words, o.rows, o.links
	a.parts, a.parcels, a.deferred = append(a.parts[:0], o.parts...), append(a.parcels[:0], o.parcels...), append(a.deferred[:0], o.deferred...)
	for h := range a.turns {
		a.turns[h].CopyFrom(&o.turns[h])
		if k, of := &a.cores[h], &o.cores[h]; k.at != of.at {
			k.home.CopyFrom(&of.home)
			k.part.CopyFrom(&of.part)
			k.at, k.sum = of.at, of.sum
		}
	}
}

func (a *above) hash(buf []byte) (uint64, []byte) {
	sum := maphash.Comparable(hashSeed, a.given) + mix(maphash.Comparable(hashSeed, a.tries)+uint64(a.place)) + maphash.Comparable(hashSeed, a.words)
	sum += mix(maphash.Comparable(hashSeed, a.rows) + maphash.Comparable(hashSeed, a.links))
	for i := range a.parts {
		sum += maphash.Comparable(hashSeed, a.parts[i])
	}
	for i := range a.parcels {
		sum += a.parcels[i].sum()
	}
	for i := range a.deferred {
		sum += mix(a.deferred[i].sum())
	}
	for h := range a.turns {
		sum += mix(uint64(h)<<32 + a.turns[h].Taken())
		for _, g := range a.turns[h].Early {
			sum += mix(g.sum())
		}
		k := &a.cores[h]
		if k.sum == 0 {
			buf = k.part.Append(append(k.home.Append(buf[:0]), 0xff))
			k.sum = mix(maphash.Bytes(hashSeed, buf)+uint64(h)) | 1
		}
		sum += k.sum
	}
	return sum, buf
}

func (g *parcel) sum() uint64 { return maphash.Comparable(hashSeed, *g) }

// concerns reports whether something of e is left.
func (a *above) concerns(e scene.Event) bool {
	of := func(g parcel) bool { return g.kind != toMissed && g.id.Event == e }
	left := a.rows[e] != decision{} || slices.ContainsFunc(a.parcels, of) || slices.ContainsFunc(a.deferred, of)
	for h := range a.turns {
		for _, g := range a.turns[h].Early {
			left = left || of(g)
		}
		left = left || a.cores[h].part.Knows(eventOf(e))
	}
	return left || slices.ContainsFunc(a.parts, func(k part) bool { return k.id.Event == e })
}

// partOf returns the part of attempt id in a store, nil if it has none.
func (w *world) partOf(id xid, store uint8) *part {
	i := slices.IndexFunc(w.above.parts, func(k part) bool { return k.id == id && k.store == store })
	if i < 0 {
		return nil
	}
	return &w.above.parts[i]
}

// enterAbove enters with what the event knows: in its store alone, or by TOP.
func (w *world) enterAbove(e scene.Event) {
	r, t, h, p := w.run(e), &w.above.tries[e], w.homeHost(e), &w.c.Events[e]
	id := r.home.ID()
	reads, writes := w.knows(e)
	t.byTop = t.byTop || w.c.ByTop[e]
	stores := w.c.StoresOf(reads|writes) | t.places | w.c.Hinted[e] | 1<<h
	if !t.byTop || stores == 1<<h || p.Move != 0 {
		w.above.parts = append(w.above.parts, part{id: id, store: h, reads: reads & w.c.In(h), writes: writes & w.c.In(h)})
		t.ready = w.enterStore(id, h, true)
		return
	}
	t.asked, t.unsent, t.open = stores, true, true
	home := &w.core(h).home
	home.Begin(nameOf(id), new(commit.Try))
	w.others(e, stores, func(s uint8) { home.Touch(nameOf(id), ids.StoreID(s), nil) })
	w.sendOrder(e)
}

// knows returns what an attempt of e enters with.
func (w *world) knows(e scene.Event) (reads, writes scene.Mask) {
	t := &w.above.tries[e]
	writes = w.c.Known[e]&w.c.Events[e].Writes | t.writes
	return (w.c.Known[e] | t.reads) &^ writes, writes
}

// others calls f for the stores of set that are not the home of e.
func (w *world) others(e scene.Event, set uint8, f func(s uint8)) {
	for s := range uint8(w.c.Hosts) {
		if s != w.homeHost(e) && set>>s&1 != 0 {
			f(s)
		}
	}
}

// sendOrder has TOP order e, once its home has sessions with all stores that this takes.
func (w *world) sendOrder(e scene.Event) {
	t, h := &w.above.tries[e], w.homeHost(e)
	if !t.unsent || !w.reaches(h, 0) {
		return
	}
	for s := range uint8(w.c.Hosts) {
		if t.asked>>s&1 != 0 && !w.reaches(h, s) {
			return
		}
	}
	reads, writes := w.knows(e)
	t.unsent, t.sent = false, true
	w.post(h, 0, parcel{kind: toTop, id: w.runs[e].home.ID(), stores: t.asked, reads: reads, writes: writes})
}

// unorderedPlace is the place of an attempt of e that goes out by itself: below all that TOP gives.
func unorderedPlace(e scene.Event) uint8 { return uint8(e) + 1 }

// reach has TOP order a further part of e, which holds locks; or, if e has no place of TOP, its call of y begins the part. False says that there is no session.
func (w *world) reach(e scene.Event, store uint8, y scene.Node) bool {
	r, t, h := w.run(e), &w.above.tries[e], w.homeHost(e)
	name, ordered := nameOf(r.home.ID()), t.place > scene.EventsMax
	if !w.reaches(h, store) || ordered && !w.reaches(h, 0) {
		return false
	}
	if !t.open {
		t.open = true
		w.core(h).home.Begin(name, new(commit.Try))
	}
	w.core(h).home.Touch(name, ids.StoreID(store), nil)
	t.asked |= 1 << store
	switch {
	case !ordered:
		w.touched.write(partKnow(h, e))
		t.place = unorderedPlace(e)
		w.partOf(r.home.ID(), h).place = t.place
		t.asked, t.taken = t.asked|1<<h, t.taken|1<<h
		w.post(h, store, parcel{kind: toVisit, id: r.home.ID(), reads: scene.Bit(y)})
	case viewFaults.noPlace:
		w.begin(part{id: r.home.ID(), store: store, place: t.place})
		t.taken |= 1 << store
	default:
		w.post(h, 0, parcel{kind: toTop, id: r.home.ID(), stores: 1 << store, place: t.place})
	}
	return true
}

// begin begins a part in a store that is not the home.
func (w *world) begin(k part) {
	w.core(k.store).part.Begin(nameOf(k.id), ids.StoreID(w.homeHost(k.id.Event)), new(commit.Task))
	w.above.parts = append(w.above.parts, k)
}

// enterStore enters where the part of attempt id is to enter: at its sequencer, if nothing is to be ordered above that, or at the roots. It reports whether code may run then.
func (w *world) enterStore(id xid, store uint8, alone bool) bool {
	v, k := hostView{w, store}, w.partOf(id, store)
	w.touched.write(partKnow(store, id.Event))
	reads, writes := v.wanted(id)
	f := reads | writes
	if alone && f != 0 {
		if ok, ready := w.enterFast(k, reads, writes); ok {
			return ready
		}
		if z := v.nearest(f | v.ends(&w.c.Events[id.Event])); !scene.VirtualNodes.Has(z) {
			k.entries |= scene.Bit(z)
			w.enterAt(id, z, 0)
			return true
		}
	}
	var roots scene.Mask
	for m := f & w.c.In(store); m != 0; m &= m - 1 {
		x := m.First()
		for !scene.VirtualNodes.Has(w.parents[x]) {
			x = w.parents[x]
		}
		roots |= scene.Bit(x)
	}
	if viewFaults.twoSteps && !alone && roots&(roots-1) != 0 {
		w.post(store, store, parcel{kind: toRest, id: id, reads: roots & (roots - 1)})
		roots &= -roots
	}
	w.pass(id, k, roots)
	return true
}

func (w *world) pass(id xid, k *part, roots scene.Mask) {
	k.entries |= roots
	roots.Each(func(x scene.Node) { w.enterAt(id, x, w.parents[x]) })
}

// enterAt enters at x: below a node that was passed, or directly.
func (w *world) enterAt(id xid, x, from scene.Node) {
	if r := w.run(id.Event); r.home.ID() == id {
		r.home.Enter(x, lock.Ref{})
	}
	start := len(w.out)
	if from == 0 {
		_, w.out = w.queue(x).Enter(w.at(x), id, w.out)
	} else {
		w.orders[x] = append(w.orders[x], order{id: id, from: from})
		_, w.out = w.queue(x).Enqueue(w.at(x), lock.Sent[scene.Node]{From: from}, id, w.out)
	}
	w.process(x, start)
}

// receive is the arrival of parcel i.
func (w *world) receive(i int) {
	g := w.above.parcels[i]
	w.above.parcels = slices.Delete(w.above.parcels, i, i+1)
	e := g.id.Event
	w.touched.read(partSession(g.store) | partSession(g.from))
	w.touched.write(partKnow(g.store, e))
	switch g.kind {
	case toTop:
		w.touched.write(partTop)
		w.top(&g)
	case toStore:
		w.touched.write(partTurns(g.store))
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
		w.begin(k)
		w.tellHome(&g)
	case toRest:
		if k := w.partOf(g.id, g.store); k != nil {
			w.pass(g.id, k, g.reads)
			w.tellHome(&g)
		}
	case toBelow:
		if k := w.partOf(g.id, g.store); k != nil {
			w.enterBelow(k, g.reads, g.writes)
		}
	case toHome:
		if w.came(&g, g.from); viewFaults.stale {
			break
		}
		w.carryOut(g.store, w.core(g.store).home.Asked(ids.StoreID(g.from), commit.Message{Name: nameOf(g.id)}, nil), nil)
	case toCommit:
		w.hear(&g)
	case toMissed:
		w.missed(g.store, func(t *try) bool { return t.asked&^t.taken&g.stores != 0 })
	}
}

// top gives each store concerned its part, once it has sessions with all of them.
func (w *world) top(g *parcel) {
	a := &w.above
	for s := range uint8(w.c.Hosts) {
		if g.stores>>s&1 == 0 || w.reaches(0, s) {
			continue
		}
		if g.place != 0 { // it holds locks
			w.post(0, w.homeHost(g.id.Event), parcel{kind: toMissed, stores: 1 << s})
		} else {
			a.deferred = append(a.deferred, *g)
		}
		return
	}
	if g.place == 0 {
		a.place++
		g.place = scene.EventsMax + a.place
	}
	for s := range uint8(w.c.Hosts) {
		if g.stores>>s&1 != 0 {
			a.given[s]++
			w.post(0, s, parcel{kind: toStore, id: g.id, number: a.given[s], place: g.place, reads: g.reads & w.c.In(s), writes: g.writes & w.c.In(s)})
		}
	}
}

// take takes a part, whose turn it is. That of an attempt which is over is taken nowhere but at its home.
func (w *world) take(g parcel) {
	k := part{id: g.id, store: g.store, place: g.place, reads: g.reads, writes: g.writes}
	if h := w.homeHost(g.id.Event); g.store != h && !w.reaches(g.store, h) {
		w.touched.write(partKnow(g.store, g.id.Event))
		w.core(g.store).part.Miss(nameOf(g.id), ids.StoreID(h))
		return
	} else if g.store != h {
		w.begin(k)
	} else if !w.current(g.id) {
		return
	} else {
		w.above.parts = append(w.above.parts, k)
	}
	w.enterStore(g.id, g.store, false)
	if len(w.above.parcels) == 0 || w.above.parcels[len(w.above.parcels)-1].kind != toRest {
		w.tellHome(&g)
	}
}

// current reports whether attempt id goes on.
func (w *world) current(id xid) bool {
	w.touched.read(partAttempt(id.Event))
	return w.runs[id.Event].status == 1 && w.runs[id.Event].home.ID() == id
}

// tellHome tells the home that a store has taken its part.
func (w *world) tellHome(g *parcel) {
	if h := w.homeHost(g.id.Event); g.store == h || w.prompt() {
		w.came(g, g.store)
	} else {
		w.post(g.store, h, parcel{kind: toHome, id: g.id})
	}
}

// came notes at the home that a store has taken its part.
func (w *world) came(g *parcel, store uint8) {
	if !w.current(g.id) {
		return
	}
	w.run(g.id.Event)
	t := &w.above.tries[g.id.Event]
	if t.taken |= 1 << store; store == w.homeHost(g.id.Event) {
		t.place = w.partOf(g.id, store).place
	}
	t.ready = t.ready || t.taken == t.asked
}

// quit releases what a part has.
func (w *world) quit(of *part, withdrawn bool) {
	k := *of
	w.leaveFast(&k, withdrawn)
	for entries := k.entries; entries != 0; entries &= entries - 1 {
		x := entries.First()
		q := w.queue(x)
		var from scene.Mask // a node that was moved may have entries of its former parent and of others
		for d := range q.Entries {
			if d.ID == k.id && (scene.VirtualNodes | 1).Has(d.From) {
				from |= scene.Bit(d.From)
			}
		}
		if from == 0 {
			from = scene.Bit(w.parents[x]) // grown, or below a hold on the fast path
		}
		from.Each(func(u scene.Node) {
			w.release(&message{Kind: lock.MsgRelease, ID: k.id, From: u, To: x, Withdrawn: withdrawn}, lock.Ref{})
		})
	}
}

// remove ends the part of an attempt in a store, and releases what it has.
func (w *world) remove(id xid, store uint8, withdrawn bool) {
	k := w.partOf(id, store)
	if k == nil {
		return
	}
	w.touched.write(partKnow(store, id.Event))
	w.quit(k, withdrawn)
	w.above.parts = slices.DeleteFunc(w.above.parts, func(k part) bool { return k.id == id && k.store == store })
}

// leaveAbove ends the present attempt of e.
func (w *world) leaveAbove(e scene.Event, withdrawn bool) {
	id, h, t := w.runs[e].home.ID(), w.homeHost(e), &w.above.tries[e]
	if t.open {
		home := &w.core(h).home
		if withdrawn {
			out, ok := home.Withdraw(nameOf(id), nil)
			if !ok {
				w.fail("e%d is withdrawn, and has been decided", e)
			}
			w.carryOut(h, out, nil)
		} else {
			if t.keep != 0 {
				w.above.rows[e] = decision{uint8(id.Attempt), t.keep}
			}
			w.carryOut(h, home.Decided(nameOf(id), 0, nil), nil)
		}
	}
	w.remove(id, h, withdrawn)
}
