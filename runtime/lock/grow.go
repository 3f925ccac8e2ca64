package lock

import (
	"math"
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
)

// Standing is what an attempt is to others that grow.
type Standing struct {
	Place uint64 // of an attempt over several hosts, until it has released what it has: by TOP, or below all that TOP gives. 0: it has none
	Ended bool   // its code has: it asks for no lock any more, and is being decided
}

// precedes reports whether an attempt that has a place may wait for another one.
func (s Standing) precedes(place uint64) bool { return s.Place != 0 && (s.Ended || s.Place < place) }

// MayGrow reports whether Grow may take y, which the attempt does not cover: it has not come to y itself.
func (d Decision[N]) MayGrow(y N) bool { return d.Act == Withdraw && d.At != y }

// Grow has an attempt over several hosts take the actor at the end of path for itself, if all let it go by at once. If its place is
// one of TOP it has been ordered here; else it waits in no queue. Path are the queues from the root of T down; from is the T-parent of the last. The
// caller has latched them all. If the attempt is only kept by others that it may wait for, one of them is returned: it tries again when that has released what it
// has here. The zero ID says that it must be withdrawn.
//
// What it takes so is as another event, which passes the virtual nodes now, and waits nowhere. So nothing may wait further up: that would come to the actor later,
// though it is earlier.
func Grow[E, N comparable](path []*Queue[E, N], from N, id ID[E], m Mode, place uint64, standing func(ID[E]) Standing) (taken Ref, behind ID[E]) {
	// Invariant: only what has a place grows.
	assert.That(place != 0, "lock: an attempt without a place takes what it has not entered with")
	last := len(path) - 1
	for _, q := range path[:last] {
		if q.head != 0 || q.blocked(None, true) {
			return Ref{}, q.obstacle(None, true, place, standing)
		}
	}
	q := path[last]
	taken, ok := q.Try(id, from, m, nil)
	if !ok {
		behind = q.obstacle(m, false, place, standing)
	}
	return taken, behind
}

// obstacle returns the first of the attempts that keep another from going on here in mode m, with something below or not, if it may wait for all that do.
func (q *Queue[E, N]) obstacle(m Mode, below bool, place uint64, standing func(ID[E]) Standing) (behind ID[E]) {
	first := uint64(math.MaxUint64)
	for i := range q.entries {
		e := &q.entries[i]
		if e.state != waiting && (e.state != held || !e.mode.Conflicts(m) && !(e.lazy && below)) {
			continue
		}
		s := standing(e.id)
		if !s.precedes(place) {
			return ID[E]{}
		}
		if s.Place < first {
			first, behind = s.Place, e.id
		}
	}
	return behind // none: it is held on the fast path
}

// Turns has what TOP sends to one host taken in the order of the numbers that it gives, from 1 on. P is a part of an attempt.
type Turns[P any] struct {
	taken uint64
	early []turn[P]
}

type turn[P any] struct {
	number uint64
	part   P
}

// Take has take called with part when all with smaller numbers were taken, perhaps at once, and then with those that waited for it.
func (t *Turns[P]) Take(number uint64, part P, take func(P)) {
	// Invariant: TOP gives each number once.
	assert.That(number > t.taken && t.find(number) < 0, "lock: part %d comes again, after %d", number, t.taken)
	t.early = append(t.early, turn[P]{number, part})
	for {
		i := t.find(t.taken + 1)
		if i < 0 {
			return
		}
		next := t.early[i].part
		t.early = slices.Delete(t.early, i, i+1)
		t.taken++
		take(next)
	}
}

func (t *Turns[P]) find(number uint64) int {
	return slices.IndexFunc(t.early, func(e turn[P]) bool { return e.number == number })
}

// Restart forgets what has come: TOP has another session with this host, and numbers from 1 on. Attempts that have parts among what is
// forgotten are withdrawn by their homes.
func (t *Turns[P]) Restart() { *t = Turns[P]{} }
