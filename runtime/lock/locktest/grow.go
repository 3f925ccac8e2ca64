package locktest

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// This file has what an attempt over stores does when it meets what it does not cover: docs/rfc/stores.md, 43 to 47. The rules are those of the core; which
// actors an attempt has met, and when it tries, is up to the search.

// placesOnly is the number of the first attempt that is followed by one which enters with all that was found: those before it add places.
const placesOnly = 2

// tries reports whether e goes on at y, which it wants to access: it does not wait for a part, or for an attempt that it follows.
func (w *world) tries(e scene.Event, y scene.Node) bool {
	if !w.c.Stores {
		return true
	}
	t, s := &w.above.tries[e], w.c.Host[y]
	w.touched.read(partKnow(s, t.follows[y].event))
	return t.ready && t.asked&^t.taken>>s&1 == 0 && w.partOf(t.follows[y].id(), s) == nil && (t.asked>>s&1 == 0 || w.serves(e, s))
}

// unordered reports whether e is in other stores without a place of TOP: it waits in no queue.
func (w *world) unordered(e scene.Event) bool {
	t := &w.above.tries[e]
	return t.place != 0 && t.place <= scene.EventsMax && !viewFaults.unorderedWaits
}

// need does what the access of e to y needs, which its home does not have.
func (w *world) need(e scene.Event, y scene.Node, m lock.Mode) {
	r, t, s := w.run(e), &w.above.tries[e], w.c.Host[y]
	id := r.home.ID()
	w.askMore(e, y)
	d := r.home.Access(router{&w.parents}, y, m)
	switch {
	case d.Act == lock.Ask:
		w.touched.write(partKnow(s, e))
		w.partOf(id, s).want(y, m)
		start := len(w.out)
		w.out = w.queue(d.At).Acquire(w.at(d.At), lock.Ref{}, id, y, w.out)
		w.process(d.At, start)
	case d.Act == lock.Wait:
		w.withdraw(e, y, m, 0, "it would wait for")
	case !d.MayGrow(y) || t.asked == 0 && (s == w.homeHost(e) || t.byTop):
		w.withdraw(e, y, m, 0, d.Reason.String())
	case t.asked>>s&1 == 0:
		if w.counts.further++; !w.reach(e, s, y) {
			w.withdraw(e, y, m, 0, "there is no session with the store of")
		}
	default:
		ref, behind := w.grow(w.partOf(id, s), y, m)
		t.follows[y] = followed{behind.Event, uint8(behind.Attempt)}
		switch {
		case ref.Valid():
			r.home.Hold(y, m, ref, nil)
			w.took(e)
			w.counts.taken++
			w.trace("    %v is taken", y)
		case behind == xid{}:
			w.withdraw(e, y, m, 0, "not free:")
		default:
			w.counts.followed++
			w.trace("    e%d.%d is before, and has it", behind.Event, behind.Attempt)
		}
	}
}

// want adds y to what a part may touch.
func (k *part) want(y scene.Node, m lock.Mode) {
	if k.reads |= scene.Bit(y); m == lock.Write {
		k.writes |= scene.Bit(y)
	}
}

// grow tries to take y for a part.
func (w *world) grow(k *part, y scene.Node, m lock.Mode) (lock.Ref, xid) {
	w.touched.write(partKnow(k.store, k.id.Event))
	var path []*xqueue
	for x := y; !scene.VirtualNodes.Has(x); x = w.parents[x] {
		w.touched.read(partQueue(x))
		w.latch(x)
		path = append(path, &w.queues[x])
	}
	w.touched.read(partView(k.store))
	if slices.Reverse(path); viewFaults.beside {
		path = path[len(path)-1:]
	}
	w.queue(y)
	ref, behind := lock.Grow(path, w.parents[y], k.id, m, uint64(k.place), func(id xid) lock.Standing {
		w.touched.read(partKnow(k.store, id.Event))
		o := w.partOf(id, k.store)
		return lock.Standing{Place: uint64(o.place), Ended: o.ended || viewFaults.followLater}
	})
	if ref.Valid() {
		k.entries |= scene.Bit(y)
		k.want(y, m)
	}
	return ref, behind
}

// arrivals lists what may come between stores.
func (w *world) arrivals(l []move) []move {
	if w.c.Faulty() {
		l = w.faults(l)
	}
	for i := range w.above.parcels {
		if w.arrives(&w.above.parcels[i]) {
			l = append(l, move{kind: moveParcel, i: uint16(i)})
		}
	}
	for i := range w.above.parts {
		k := &w.above.parts[i]
		if k.calls == 0 {
			continue
		}
		if _, works := w.above.cores[k.store].part.Has(nameOf(k.id)); !works {
			continue
		}
		for m := k.calls; m != 0; m &= m - 1 {
			l = append(l, move{kind: moveOrphan, e: k.id.Event, y: m.First(), i: uint16(i)})
		}
	}
	return l
}

// orphaned has a call try to take y, though its attempt was withdrawn, and its part does not know.
func (w *world) orphaned(id xid, y scene.Node) {
	k := w.partOf(id, w.c.Host[y])
	k.calls &^= scene.Bit(y)
	w.grow(k, y, w.mode(id.Event, y))
}

// carryOn notes what the attempt after the present one of e enters with, which has missed y. Calls that may be under way go on.
func (w *world) carryOn(e scene.Event, y scene.Node, m lock.Mode) try {
	id, t, h := w.runs[e].home.ID(), &w.above.tries[e], w.homeHost(e)
	next := try{byTop: t.byTop || t.asked != 0, places: t.places | t.asked&^(1<<h), reads: t.reads, writes: t.writes}
	s := w.c.Host[y]
	if y != 0 && s != h {
		next.byTop = true
	}
	if y != 0 && id.Attempt < placesOnly && s != h && t.asked>>s&1 == 0 {
		next.places |= 1 << s
	} else if y != 0 {
		next.claim(y, m)
	}
	for i := range w.above.parts {
		k := &w.above.parts[i]
		if k.id != id {
			continue
		}
		w.touched.read(partKnow(k.store, e))
		if m := k.reads | k.writes; id.Attempt >= placesOnly {
			next.reads, next.writes = next.reads|m, next.writes|k.writes
		}
		if k.store != h {
			w.touched.write(partKnow(k.store, e))
			for m := w.wanted(e) & w.c.In(k.store); m != 0; m &= m - 1 {
				if y := m.First(); w.decide(e, y, w.mode(e, y)).MayGrow(y) {
					k.calls |= scene.Bit(y)
				}
			}
		}
	}
	return next
}

func (t *try) claim(y scene.Node, m lock.Mode) {
	if t.reads |= scene.Bit(y); m == lock.Write {
		t.writes |= scene.Bit(y)
	}
}
