package locktest

import (
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// This file has the fast path, in worlds of several stores: holds that are in a word beside the queue, without a name. The latch of an actor is taken at the first thing
// that a step does with its queue, and given back at the end of the step.

// latch has the queue of x see the holders on the fast path.
func (w *world) latch(x scene.Node) {
	a := &w.above
	next, ok := a.words[x].Latch()
	if !ok {
		return // it is latched
	}
	a.words[x] = next
	w.latched |= scene.Bit(x)
	w.queues[x].See(next)
}

// unlatch gives the latch of x back; entries go on that holders on the fast path have kept waiting.
func (w *world) unlatch(x scene.Node) {
	for w.latched.Has(x) {
		if next, ok := w.queues[x].Gate(w.above.words[x]); ok {
			w.above.words[x] = next
			w.latched &^= scene.Bit(x)
			return
		}
		q := w.queue(x)
		start := len(w.out)
		w.out = q.Left(w.at(x), w.above.words[x], w.out)
		w.process(x, start)
	}
}

// unlatchAll gives all latches back.
func (w *world) unlatchAll() {
	for w.latched != 0 && w.bad == "" {
		w.unlatch(w.latched.First())
	}
}

// join makes the attempt of k a holder of x on the fast path, or reports false.
func (w *world) join(k *part, x scene.Node, m lock.Mode) bool {
	w.unlatch(x)
	w.touched.write(partQueue(x))
	next, ok := w.above.words[x].Join(m)
	if !ok {
		return false
	}
	w.above.words[x] = next
	if m == lock.Write {
		k.fastW |= scene.Bit(x)
	} else {
		k.fastR |= scene.Bit(x)
	}
	if r := w.run(k.id.Event); r.home.ID() == k.id {
		r.home.Hold(x, m, lock.Ref{}, nil)
	}
	w.trace("    e%d holds %v on the fast path", k.id.Event, x)
	return true
}

// joinAll makes the attempt a holder of all of m, or of none.
func (w *world) joinAll(k *part, m, writes scene.Mask) bool {
	for l := m; l != 0; l &= l - 1 {
		x := l.First()
		w.unlatch(x)
		w.touched.write(partQueue(x))
		if _, ok := w.above.words[x].Join(modeIn(writes, x)); !ok {
			return false
		}
	}
	m.Each(func(x scene.Node) { w.join(k, x, modeIn(writes, x)) })
	return true
}

func modeIn(writes scene.Mask, x scene.Node) lock.Mode {
	if writes.Has(x) {
		return lock.Write
	}
	return lock.Read
}

// enterFast enters an event that wants roots alone, or one actor and T-children of it, without a queue; not ok: it has to take the general way, and holds nothing. It is not ready before it has taken
// the children, in a step of its own.
func (w *world) enterFast(k *part, reads, writes scene.Mask) (ok, ready bool) {
	e, f := k.id.Event, reads|writes
	if !w.c.Fast[e] || w.c.Events[e].Move != 0 || f&w.c.Trees[e] != 0 {
		return false, false
	}
	w.touched.read(partView(k.store))
	roots := true
	for m := f; m != 0; m &= m - 1 {
		roots = roots && scene.VirtualNodes.Has(w.parents[m.First()])
	}
	if f&(f-1) == 0 || roots {
		ok = w.joinAll(k, f, writes)
		w.counts.fast += int(oneIf(ok))
		return ok, true
	}
	z := w.c.Events[e].Target
	below := f &^ scene.Bit(z)
	for m := below; m != 0; m &= m - 1 {
		if w.parents[m.First()] != z {
			return false, false
		}
	}
	if !f.Has(z) || !w.join(k, z, modeIn(writes, z)) {
		return false, false
	}
	w.counts.fast++
	w.post(k.store, k.store, parcel{kind: toBelow, id: k.id, reads: below, writes: writes})
	return true, false
}

// enterBelow takes T-children of an actor that the event holds on the fast path: all of them at once, or an entry at each.
func (w *world) enterBelow(k *part, below, writes scene.Mask) {
	id := k.id
	w.run(id.Event)
	w.above.tries[id.Event].ready = true
	if !w.joinAll(k, below, writes) {
		k.entries |= below
		below.Each(func(x scene.Node) { w.enterAt(id, x, w.parents[x]) })
	}
}

// leaveFast ends what k holds on the fast path.
func (w *world) leaveFast(k *part, withdrawn bool) {
	for m := k.fastR | k.fastW; m != 0; m &= m - 1 {
		x := m.First()
		w.touched.write(partQueue(x))
		if withdrawn && uint32(w.runs[k.id.Event].undoAt[x]) == k.id.Attempt {
			w.touched.write(partActor(x))
			w.undo(w.run(k.id.Event), x)
		}
		word := &w.above.words[x]
		if *word -= modeIn(k.fastW, x).Unit(); word.Awaited() {
			w.queue(x)
		}
	}
}

// holders calls yield for all that hold x.
func (w *world) holders(x scene.Node, yield func(lock.Holder[scene.Event]) bool) {
	w.queues[x].Holders(yield)
	if !w.c.Stores {
		return
	}
	for i := range w.above.parts {
		if k := &w.above.parts[i]; (k.fastR | k.fastW).Has(x) {
			yield(lock.Holder[scene.Event]{ID: k.id, Mode: modeIn(k.fastW, x)})
		}
	}
}
