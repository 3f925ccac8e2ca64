package lock

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
)

// Release is RULE-7, [RELEASE], for a release that has a handle: the entry goes, what it has
// enqueued is released too, and those behind it are tried. It must answer each
// enqueue exactly once. Withdrawn says that the attempt has not ended but was
// withdrawn; then the driver undoes the event's effects on this actor before the call,
// under the same latch.
func (q *Queue[E, N]) Release(v View[E, N], ref Ref, withdrawn bool, out []Effect[E, N]) []Effect[E, N] {
	e := q.at(ref)
	was, first := e.state, q.head == ref.slot
	switch was {
	case held:
		q.count(e, -1)
	case waiting:
		// Invariant: what waits has enqueued nothing.
		assert.That(e.edgeCount == 0, "lock: an entry that waits has enqueued")
		q.unlink(ref.slot)
	}
	for k := range e.edgeCount {
		d := e.edge(k)
		out = append(out, Effect[E, N]{Kind: Release, At: q.self, To: d.child, ID: e.id, Ref: d.ref, Withdrawn: withdrawn})
	}
	q.drop(ref.slot)
	if q.head != 0 && (was == held || first) {
		out = q.pump(v, out)
	}
	return out
}

// ReleaseID is RULE-7 and [WITHDRAW] for a release that comes as a message: from is the
// node that had enqueued, zero for a direct entry. If the enqueue is still under way a
// tombstone awaits it.
func (q *Queue[E, N]) ReleaseID(v View[E, N], from N, id ID[E], withdrawn bool, out []Effect[E, N]) []Effect[E, N] {
	if i := q.find(id, from); i != 0 {
		return q.Release(v, q.refOf(i), withdrawn, out)
	}
	f := q.remember()
	f.tombs = append(f.tombs, entryKey[E, N]{id, from})
	return out
}

// far is what a queue remembers because messages between hosts may overtake each
// other. Its lists are short: they hold what is under way.
type far[E, N comparable] struct {
	links map[N]*link[N] // looked up; only inspection ranges over it
	early []early[E, N]
	tombs []entryKey[E, N]
}

// link numbers the enqueues between this node and peer: sent to it as a T-child,
// received from it as a T-parent (RULE-2).
type link[N comparable] struct{ sent, received uint64 }

// early is an enqueue that waits for the numbers before it.
type early[E, N comparable] struct {
	id   ID[E]
	sent Sent[N]
}

func (q *Queue[E, N]) remember() *far[E, N] {
	if q.far == nil {
		q.far = &far[E, N]{}
	}
	return q.far
}

// empty reports whether nothing is remembered. Numbers are, for ever: their links are
// as many as the T-neighbours of the node on other hosts.
func (f *far[E, N]) empty() bool {
	return len(f.links) == 0 && len(f.early) == 0 && len(f.tombs) == 0
}

func (f *far[E, N]) link(peer N) *link[N] {
	l := f.links[peer]
	if l == nil {
		if f.links == nil {
			f.links = make(map[N]*link[N])
		}
		l = &link[N]{}
		f.links[peer] = l
	}
	return l
}

// due takes the enqueue of peer whose turn it is out of the early ones.
func (f *far[E, N]) due(peer N) (early[E, N], bool) {
	l := f.link(peer)
	for i, e := range f.early {
		if e.sent.From == peer && e.sent.Number == l.received+1 {
			f.early = slices.Delete(f.early, i, i+1)
			l.received++
			return e, true
		}
	}
	return early[E, N]{}, false
}

// buried reports whether a tombstone awaits the enqueue (id, from), and consumes it.
func (f *far[E, N]) buried(id ID[E], from N) bool {
	for i, t := range f.tombs {
		if t == (entryKey[E, N]{id, from}) {
			f.tombs = slices.Delete(f.tombs, i, i+1)
			return true
		}
	}
	return false
}
