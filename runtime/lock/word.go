package lock

import "github.com/aeon-lang/aeon/internal/assert"

// Word is the part of an actor's lock that fits into one machine word, so that a
// hold that nobody disputes costs one atomic operation to take and one to leave, and
// touches no queue. The driver keeps one beside each Queue and changes it with
// compare-and-swap from what Load gave to what these functions answer; they are pure.
//
// It holds the latch, a gate that the queue sets, and the *guests*: anonymous holders,
// any number of readers or one writer, who are earlier than whatever is in the queue.
// A guest's hold is settled at once. What it wants below x, T-children of x alone, it enqueues
// without x's latch, in one step as a pass at a virtual node does (VIRTUAL): so its
// place among other guests is the place of that step, and everybody who wants
// something below x through the queue waits until no guest is left (RULE-4 with the
// guest taken for lazy). The gate keeps guests out while one could overtake.
//
// The zero Word is that of an actor that nobody holds.
type Word uint32

const (
	latched Word = 1 << iota
	closed       // the queue has someone who waits, writes or is lazy: no guests
	shared       // the queue has entries, settled ones: guests may read
	spread       // guests who read may be in slots
	writer       // the guest writes
	reader       // the unit of the count of guests who read; all bits from here on
)

const gates = closed | shared

// Join is RULE-4 for a guest: it answers the word with one more in mode m, Read or
// Write; ok is false if he cannot be one now.
func (w Word) Join(m Mode) (next Word, ok bool) {
	switch {
	case w&closed != 0, w&(latched|writer) != 0, m == None:
		return w, false
	case m == Read:
		return w + reader, true
	}
	return w + writer, w < shared
}

// JoinLatched is Join for whoever has the latch himself.
func (w Word) JoinLatched(m Mode) (next Word, ok bool) {
	next, ok = (w &^ latched).Join(m)
	return next | latched, ok
}

// Spread answers the word spread, false if it cannot be now.
func (w Word) Spread() (next Word, ok bool) {
	return w | spread, w&(latched|gates|writer) == 0
}

// Spreads reports whether readers may be in slots.
func (w Word) Spreads() bool { return w&spread != 0 }

// Recall answers a word that is spread with the latch taken and no longer spread. Whoever has made it so
// adds Gathered to it, before he does anything else.
func (w Word) Recall() Word { return w&^spread | latched }

// Gathered is what n readers that were in slots add to the word.
func Gathered(n int) Word { return Word(n) * reader }

// Brief reports whether what keeps a guest out may be gone soon, without anybody's
// queueing: the latch, or another guest.
func (w Word) Brief() bool { return w&gates == 0 }

// Guest returns what the guest in mode m has added to the word, and subtracts from it
// when he leaves, at any time and without the latch (RULE-7).
func (m Mode) Guest() Word {
	if m == Write {
		return writer
	}
	return reader
}

// Awaited reports whether the guest who has left behind w was the last, and the queue
// may have somebody who has been waiting for that: then the guest latches the node and
// unlatches it by Gate. While the latch is another's, Gate sees that he has gone.
func (w Word) Awaited() bool { return w&closed != 0 && w.guests() == None }

// Latch answers the word with the latch taken, false if it is taken already or the readers have to be called in.
func (w Word) Latch() (next Word, ok bool) { return w | latched, w&(latched|spread) == 0 }

// Unlatched answers the word with the latch given back and the gate as it was: the
// queue has not changed.
func (w Word) Unlatched() Word { return w &^ latched }

// guests returns the strongest mode of the guests.
func (w Word) guests() Mode {
	switch {
	case w&writer != 0:
		return Write
	case w >= reader:
		return Read
	}
	return None
}

// See tells the queue who its guests are. It is called under the latch, with the word
// read under it, before anything enters a queue that the gate may have left open. While
// somebody waits it does nothing: none has come since, and those who have left are
// Gate's and Left's to notice, who let the waiting go on.
func (q *Queue[E, N]) See(w Word) {
	// Invariant: the queue is used under the latch that the word holds.
	assert.That(w&latched != 0, "lock: the queue of a node that is not latched")
	if q.head != 0 {
		return
	}
	q.guests = w.guests()
	// Invariant: the queue's writer is alone, guests included, and so is a lazy holder: the gate is closed.
	assert.That(q.guests == None || q.writers == 0 && q.lazies == 0, "lock: a guest beside a writer or a lazy hold")
}

// Left lets go on whom guests that have gone since kept waiting.
func (q *Queue[E, N]) Left(v View[E, N], w Word, out []Effect[E, N]) []Effect[E, N] {
	// Invariant: while somebody waits guests go, and none comes.
	assert.That(w&latched != 0 && w.guests() <= q.guests, "lock: a guest has come before those that wait")
	q.guests = w.guests()
	return q.pump(v, out)
}

// Gate answers the word without the latch and with the gate set as the queue's entries
// demand. ok is false if guests have gone whom the queue has seen: then the latch stays
// until the driver has called Left and carried out the effects, as those
// who leave look at the gate and it may not have been set in their time.
func (q *Queue[E, N]) Gate(w Word) (next Word, ok bool) {
	assert.That(w&latched != 0, "lock: a latch is given back that was not taken")
	if q.head != 0 && w.guests() != q.guests {
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
