package lock

import "github.com/aeon-lang/aeon/internal/assert"

// Word is the part of an actor's lock that fits into one machine word, so that a
// hold without a dispute costs one atomic operation to take and one to leave, and
// touches no queue. The driver keeps one beside each Queue and changes it with
// compare-and-swap from what Load gave to what these functions answer; they are pure.
//
// It has the latch, a gate that the queue sets, and the *fast-path holders*: any number of readers or
// one writer, without a name, earlier than all entries of the queue. Such a hold is settled at once.
// What its event wants below x, T-children of x alone, it enqueues without x's latch, in one step as a
// pass at a virtual node does (VIRTUAL). So the place of the hold among other fast-path holders is the
// place of that step. An entry that wants something below x waits until none of them is left (RULE-4,
// with each of them taken for lazy). The gate closes the fast path while a hold taken there could
// overtake an entry.
//
// The zero Word is that of an actor without holders.
type Word uint32

const (
	latched Word = 1 << iota
	closed       // an entry of the queue waits, writes or is lazy: the fast path is closed
	shared       // the queue has entries, settled ones: the fast path is open to readers
	spread       // readers on the fast path may be visible readers, in the slots of a table (BRAVO)
	writer       // the fast-path holder writes
	reader       // the unit of the count of readers on the fast path; all bits from here on
)

const gates = closed | shared

// Join is RULE-4 on the fast path: it answers the word with one holder more in mode m, Read or
// Write; ok is false if that cannot be now.
func (w Word) Join(m Mode) (next Word, ok bool) {
	switch {
	case w&closed != 0, w&(latched|writer) != 0, m == None:
		return w, false
	case m == Read:
		return w + reader, true
	}
	return w + writer, w < shared
}

// JoinLatched is Join for a caller that has the latch.
func (w Word) JoinLatched(m Mode) (next Word, ok bool) {
	next, ok = (w &^ latched).Join(m)
	return next | latched, ok
}

// Spread answers the word spread, false if it cannot be now.
func (w Word) Spread() (next Word, ok bool) {
	return w | spread, w&(latched|gates|writer) == 0
}

// Spreads reports whether readers may be in slots of the table of visible readers.
func (w Word) Spreads() bool { return w&spread != 0 }

// Recall answers a word that is spread with the latch taken and no longer spread. The caller that has made it so
// adds Gathered to it before it does anything else.
func (w Word) Recall() Word { return w&^spread | latched }

// Gathered is what n readers that were in slots add to the word.
func Gathered(n int) Word { return Word(n) * reader }

// Brief reports whether what is in the way of Join may be gone soon, without an entry in the queue: the
// latch, or another fast-path holder.
func (w Word) Brief() bool { return w&gates == 0 }

// Unit returns what Join in mode m has added to the word. The holder subtracts it
// when it leaves, at any time and without the latch (RULE-7).
func (m Mode) Unit() Word {
	if m == Write {
		return writer
	}
	return reader
}

// Awaited reports whether the holder that has left behind w was the last on the fast path, and an entry
// may wait for that: then the caller latches the node and unlatches it by Gate. While another goroutine
// has the latch, the Gate of that one sees that the holder has gone.
func (w Word) Awaited() bool { return w&closed != 0 && w.fast() == None }

// Latch answers the word with the latch taken, false if it is taken already or the readers have to be called in.
func (w Word) Latch() (next Word, ok bool) { return w | latched, w&(latched|spread) == 0 }

// Unlatched answers the word with the latch given back and the gate as it was: the
// queue has not changed.
func (w Word) Unlatched() Word { return w &^ latched }

// fast returns the strongest mode of the fast-path holders.
func (w Word) fast() Mode {
	switch {
	case w&writer != 0:
		return Write
	case w >= reader:
		return Read
	}
	return None
}

// See tells the queue of the fast-path holders. It is called under the latch, with the word read
// under it, before anything enters a queue that the gate may have left open. While an entry
// waits it does nothing: no holder has come since, and Gate and Left, which let the entry go on,
// take notice of those that have left.
func (q *Queue[E, N]) See(w Word) {
	// Invariant: the queue is used under the latch that the word holds.
	assert.That(w&latched != 0, "lock: the queue of a node that is not latched")
	if q.head != 0 {
		return
	}
	q.fast = w.fast()
	// Invariant: beside a writer or a lazy holder of the queue the fast path is empty, as the gate is closed.
	assert.That(q.fast == None || q.writers == 0 && q.lazies == 0, "lock: a fast-path holder beside a writer or a lazy hold")
}

// Left lets the entries go on that fast-path holders which have left since kept waiting.
func (q *Queue[E, N]) Left(v View[E, N], w Word, out []Effect[E, N]) []Effect[E, N] {
	// Invariant: while an entry waits fast-path holders leave, and none joins.
	assert.That(w&latched != 0 && w.fast() <= q.fast, "lock: a fast-path holder has overtaken the entries that wait")
	q.fast = w.fast()
	return q.pump(v, out)
}

// Gate answers the word without the latch and with the gate set as the queue's entries demand. ok is false if an
// entry waits and fast-path holders that the queue has seen have left. Then the latch stays until the driver has
// called Left and carried out the effects: a holder that leaves looks at the gate, which may not have been set then.
func (q *Queue[E, N]) Gate(w Word) (next Word, ok bool) {
	assert.That(w&latched != 0, "lock: a latch is given back that was not taken")
	if q.head != 0 && w.fast() != q.fast {
		return w, false
	}
	w &^= latched | gates
	switch {
	case q.head != 0 || q.writers > 0 || q.lazies > 0:
		w |= closed
	case !q.Idle():
		w |= shared
	}
	return w, true
}

// Free answers the word without the latch and with the gate open: the queue is idle.
func (w Word) Free() Word { return w &^ (latched | gates) }
