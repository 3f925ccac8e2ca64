package locktest

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/commit"
	ids "github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// This file carries out what the machines of the commit say, those of the product: runtime/commit. What is appended is durable at once: disks that are behind are in the
// worlds of that package.

// decision is a row of one, at the home of its event.
type decision struct{ attempt, stores uint8 }

// core is what a store has of the commit, with a version as queues have.
type core struct {
	home commit.Home
	part commit.Participant
	at   uint64
	sum  uint64
}

// core returns what store h has of the commit to change it.
func (w *world) core(h uint8) *core {
	*w.clock++
	k := &w.above.cores[h]
	k.at, k.sum = *w.clock, 0
	return k
}

func nameOf(id xid) commit.Name {
	return commit.Name{Event: eventOf(id.Event), Number: uint64(id.Attempt)}
}

func eventOf(e scene.Event) ids.EventID { return ids.EventID{Seq: uint64(e) + 1} }

func idOf(n commit.Name) xid {
	return xid{Event: scene.Event(n.Event.Seq - 1), Attempt: uint32(n.Number)}
}

// prompt reports whether stores hear at once what others have carried out: where no session ends this may come at any time.
func (w *world) prompt() bool { return !w.c.Faulty() }

// say sends what a machine of store h tells that of another; claim goes with it.
func (w *world) say(h uint8, f *commit.Effect, claim *parcel) {
	id, m, to := idOf(f.Name), f.Message, uint8(f.To)
	g := parcel{kind: toCommit, says: m.Kind, yes: m.Yes, wrote: m.Writes, id: id}
	if claim != nil {
		g.reads, g.writes = claim.reads, claim.writes
	}
	switch {
	case !w.prompt():
	case m.Kind == commit.Vote || m.Kind == commit.Done:
		g.from, g.store = h, to
		w.hear(&g)
		return
	case m.Kind == commit.Decision && !w.comes(id, to):
		if has, _ := w.above.cores[to].part.Has(f.Name); !has {
			return
		}
	}
	w.post(h, to, g)
}

// comes reports whether a part of attempt id is under way to a store.
func (w *world) comes(id xid, store uint8) bool {
	of := func(g parcel) bool {
		return g.id == id && (g.kind == toTop && g.stores>>store&1 != 0 || (g.kind == toStore || g.kind == toVisit) && g.store == store)
	}
	for _, g := range w.above.turns[store].Early {
		if of(g) {
			return true
		}
	}
	return slices.ContainsFunc(w.above.parcels, of)
}

// arrives reports whether g may be delivered now. Where no session ends a decision waits for its part: it would be told again.
func (w *world) arrives(g *parcel) bool {
	if g.from != g.store && w.above.up[g.store][g.from] != g.session {
		return false
	}
	if g.kind == toCommit && g.says == commit.Decision && w.prompt() {
		return !w.comes(g.id, g.store)
	}
	return true
}

// hear takes what a machine of another store says.
func (w *world) hear(g *parcel) {
	h, from := g.store, ids.StoreID(g.from)
	if w.prompt() && (g.says == commit.Vote || g.says == commit.Dropped) && !w.current(g.id) {
		return // a decision is under way
	}
	m := commit.Message{Kind: g.says, Yes: g.yes, Writes: g.wrote, Name: nameOf(g.id)}
	k := w.core(h)
	if h == w.homeHost(g.id.Event) {
		w.run(g.id.Event)
	}
	var out []commit.Effect
	switch g.says {
	case commit.Prepare:
		out = k.part.Prepare(from, m, nil)
	case commit.Decision:
		out = k.part.Decided(from, m, nil)
	case commit.Vote:
		out = k.home.Voted(from, m, nil)
	case commit.Done:
		out = k.home.Done(from, m, nil)
	case commit.Ask:
		out = k.home.Asked(from, m, nil)
	case commit.Dropped:
		out = k.home.Dropped(from, m, nil)
	}
	w.carryOut(h, out, g)
}

// carryOut carries out what a machine of store h says, because of a message, perhaps.
func (w *world) carryOut(h uint8, list []commit.Effect, why *parcel) {
	for i := range list {
		f := &list[i]
		id := idOf(f.Name)
		e := id.Event
		if f.Act != commit.Send && f.Act != commit.SendConfirmed && w.log != nil {
			w.log("    store %d: %v e%d.%d", h, f.Act, e, id.Attempt)
		}
		w.touched.write(partKnow(h, e))
		t, k := &w.above.tries[e], w.partOf(id, h)
		switch f.Act {
		case commit.Send, commit.SendConfirmed: // a store that starts again here is its only leader
			w.say(h, f, why)
		case commit.Decide, commit.Confirm:
			if h != w.homeHost(e) {
				k.ended = true
				if !f.Keep {
					w.undoStore(id, h)
				}
				if k.row = k.row && f.Keep; !k.row {
					k.rows, k.kept = 0, 0
				}
				w.carryOut(h, w.core(h).part.Prepared(f.Name, nil), nil)
				break
			}
			w.run(e)
			t.verdict = true
			for _, s := range f.Stores {
				t.keep |= 1 << s
			}
		case commit.Write:
			k.ended = true
			w.writeRow(k)
			w.carryOut(h, w.core(h).part.Prepared(f.Name, nil), nil)
			if viewFaults.releasePrepared {
				w.quit(k, false)
				k.entries, k.fastR, k.fastW = 0, 0, 0
			}
		case commit.Apply:
			if k.rows != k.done {
				w.fail("store %d carries out what e%d has not committed: %v, and that is %v", h, e, k.rows, k.done)
			}
			w.remove(id, h, false)
			w.carryOut(h, w.core(h).part.Applied(f.Name, nil), nil)
		case commit.Release:
			w.remove(id, h, false)
		case commit.Drop:
			if k != nil && k.done != 0 {
				w.fail("e%d has committed, and store %d drops what it has written", e, h)
			}
			if w.remove(id, h, true); w.current(id) {
				for m := w.c.In(h); m != 0; m &= m - 1 {
					w.loseWrite(e, m.First())
				}
			}
		case commit.Forget:
			w.above.rows[e] = decision{}
			w.run(e)
		case commit.Withdraw:
			y, m := scene.Node(0), lock.None
			if why != nil && why.says == commit.Dropped && why.reads != 0 {
				if y, m = why.reads.First(), lock.Read; why.writes != 0 {
					m = lock.Write
				}
			}
			if y == 0 && w.c.Faulty() {
				w.faultEnds(e)
			}
			w.withdraw(e, y, m, 0, "another store has lost its part")
		}
	}
}

// writeRow makes what an attempt has written in a store durable, and that it holds what it has read there.
func (w *world) writeRow(k *part) {
	k.row, k.rows = true, w.have(&w.writers, k.id.Event, k.store)
	if k.kept = w.have(&w.readers, k.id.Event, k.store) &^ k.rows; viewFaults.forgetReads {
		k.kept = 0
	}
}

// have returns the actors of a store of which e is one of the events that have written them, or read them.
func (w *world) have(events *[scene.NodeCount]uint8, e scene.Event, store uint8) (list scene.Mask) {
	for m := w.c.In(store); m != 0; m &= m - 1 {
		if x := m.First(); events[x]>>e&1 != 0 {
			list |= scene.Bit(x)
		}
	}
	return list
}

// wrote reports whether e has held an actor of a store for writing.
func (w *world) wrote(e scene.Event, store uint8) bool { return w.have(&w.writers, e, store) != 0 }

// prepare asks for the votes on e, whose code has ended.
func (w *world) prepare(e scene.Event) {
	r, t, h := w.run(e), &w.above.tries[e], w.homeHost(e)
	t.ended = true
	w.touched.write(partKnow(h, e))
	w.partOf(r.home.ID(), h).ended = true
	aborts := w.c.Aborts[e]
	if aborts {
		w.abort(e)
	}
	w.carryOut(h, w.core(h).home.End(nameOf(r.home.ID()), w.wrote(e, h), func(s ids.StoreID) bool {
		return !aborts && (!w.c.Early || w.wrote(e, uint8(s)))
	}, nil), nil)
}

// abort has e, whose code has failed, be one that has only read; its home takes back what it has written there. Other stores do so when they vote, or hear how it has ended.
func (w *world) abort(e scene.Event) {
	for x := range w.writers {
		if w.writers[x]>>e&1 != 0 {
			w.touched.write(partActor(scene.Node(x)))
			w.writers[x] &^= 1 << e
			w.readers[x] |= 1 << e
		}
	}
	w.undoStore(w.runs[e].home.ID(), w.homeHost(e))
}

// undoStore takes back what an attempt has written in a store.
func (w *world) undoStore(id xid, store uint8) {
	for m := w.c.In(store); m != 0; m &= m - 1 {
		if x := m.First(); uint32(w.runs[id.Event].undoAt[x]) == id.Attempt {
			w.touched.write(partActor(x))
			w.undo(w.run(id.Event), x)
		}
	}
}

// voteEarly has the store of x, where a method of e has ended, vote with the answer, if it does so and nothing of e runs there.
func (w *world) voteEarly(e scene.Event, x scene.Node) {
	r, s := &w.runs[e], w.c.Host[x]
	if w.c.Votes[e]>>s&1 == 0 || s == w.homeHost(e) || !w.above.tries[e].open {
		return
	}
	if (r.started&^r.done|r.pending)&w.c.In(s) != 0 {
		return
	}
	k := w.partOf(r.home.ID(), s)
	if k == nil || k.early {
		return
	}
	w.touched.write(partKnow(s, e))
	w.trace("  store %d votes for e%d with its answer", s, e)
	k.early = true
	t, wrote := &w.above.tries[e], w.wrote(e, s)
	if t.firm &^= 1 << s; wrote {
		t.firm |= 1 << s
		w.writeRow(k)
	}
	w.core(s).part.Answered(nameOf(k.id), wrote)
	w.core(w.homeHost(e)).home.Answered(nameOf(k.id), ids.StoreID(s), wrote)
	w.run(e)
	t.early |= 1 << s
}

// askMore asks more of a part that may have voted.
func (w *world) askMore(e scene.Event, x scene.Node) {
	s := w.c.Host[x]
	k := w.partOf(w.runs[e].home.ID(), s)
	if k == nil || !k.early {
		return
	}
	k.early = false
	w.touched.write(partKnow(s, e))
	w.core(s).part.Reopen(nameOf(k.id))
	w.core(w.homeHost(e)).home.Touch(nameOf(k.id), ids.StoreID(s), nil)
	w.run(e)
	w.above.tries[e].early &^= 1 << s
}

// took notes that an attempt has got a lock: votes that it has do not count any more, unless a row holds what they are for.
func (w *world) took(e scene.Event) {
	t := &w.above.tries[e]
	if t.early == 0 || t.ended || viewFaults.countVotes {
		return
	}
	w.core(w.homeHost(e)).home.Taken(nameOf(w.runs[e].home.ID()), nil)
	w.run(e)
	t.early &= t.firm
}

// refused drops a part that a queue has refused as it does not cover y. One that has voted stays, and keeps what it has: it is dropped if code of it waits again.
func (w *world) refused(id xid, h uint8, y scene.Node, m lock.Mode) {
	g := &parcel{reads: scene.Bit(y) &^ 1}
	if m == lock.Write {
		g.writes = g.reads
	}
	if k := w.partOf(id, h); k != nil && k.early && !viewFaults.unheard {
		w.touched.write(partKnow(h, id.Event))
		k.refused, k.lacksR, k.lacksW = true, g.reads, g.writes
	}
	out := w.core(h).part.Drop(nameOf(id), nil)
	if viewFaults.unrefused && len(out) > 0 {
		out = out[:1]
	}
	w.carryOut(h, out, g)
}

// learnsRefusal has code of e, which waits for y in another store, find that a queue has refused its part there after it had voted. It reports whether that is so.
func (w *world) learnsRefusal(e scene.Event, y scene.Node) bool {
	s := w.c.Host[y]
	w.touched.read(partKnow(s, e))
	k := w.partOf(w.runs[e].home.ID(), s)
	if k == nil || !k.refused || w.cutOff(e, y) {
		return false
	}
	w.askMore(e, y)
	k.refused = false
	w.carryOut(s, w.core(s).part.Drop(nameOf(k.id), nil), &parcel{reads: k.lacksR, writes: k.lacksW})
	return true
}

// serves reports whether code of e can run in a store: its part is there, and can be called.
func (w *world) serves(e scene.Event, store uint8) bool {
	h := w.homeHost(e)
	if store == h {
		return true
	}
	w.touched.read(partKnow(store, e) | partSession(h) | partSession(store))
	k := w.partOf(w.runs[e].home.ID(), store)
	if k == nil || !w.linked(h, store) {
		return false
	}
	_, works := w.above.cores[store].part.Has(nameOf(k.id))
	return works || k.early
}

// left says what is left when nothing happens any more, "" if nothing is.
func (w *world) left() string {
	a := &w.above
	for h := range w.c.Hosts {
		if tries, _ := a.cores[h].home.Open(); tries != 0 || a.cores[h].part.Len() != 0 {
			return "attempts of the commit"
		}
	}
	switch {
	case len(a.parts)+len(a.parcels)+len(a.deferred) != 0:
		return "parts and messages about parts"
	case a.rows != [scene.EventsMax]decision{}:
		return "decisions"
	case a.words != [scene.NodeCount]lock.Word{}:
		return "holds on the fast path"
	}
	for h := range a.turns {
		for range a.turns[h].Early {
			return "parts whose turn has not come"
		}
	}
	return ""
}

// markDone notes which parts of e, which has committed, have writes to carry out.
func (w *world) markDone(e scene.Event) {
	for i := range w.above.parts {
		k := &w.above.parts[i]
		if k.id != w.runs[e].home.ID() {
			continue
		}
		w.touched.write(partKnow(k.store, e))
		for m := w.c.In(k.store); m != 0; m &= m - 1 {
			if x := m.First(); w.writers[x]>>e&1 != 0 {
				k.done |= scene.Bit(x)
			}
		}
	}
}

// isOpen reports whether anything goes on, over which a fault could happen.
func (w *world) isOpen() bool {
	return slices.ContainsFunc(w.runs[:len(w.c.Events)], func(r run) bool { return r.status == 1 }) || len(w.above.parts)+len(w.above.parcels) != 0
}
