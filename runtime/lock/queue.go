package lock

import "github.com/aeon-lang/aeon/internal/assert"

const (
	slotsFirst = 4    // entries a new queue has room for
	slotsKept  = 1024 // entries a pooled queue keeps room for
	scanMax    = 32   // live entries, or edges of one, up to which a search by key is linear
)

// Queue is the state of the protocol at one node of T: what holds it, what waits in
// which order, and what each of them has enqueued further down. All methods run
// under the latch of the node. The zero Queue must be Reset before use.
//
// Invariant: the entries that wait are FIFO, and the head cannot be admitted, so
// none of them can. Holders are never listed, only counted, so that admission of
// the head is O(1) with any number of readers.
type Queue[E, N comparable] struct {
	self      N
	entries   []entry[E, N]
	freeSlots int32
	head      int32 // waiting entries, in order of admission
	tail      int32
	waiting   int32
	live      int32 // entries not free
	holders   int32 // holds, of any mode
	readers   int32 // holds in mode Read
	writers   int32 // holds in mode Write
	lazies    int32 // lazy holds, of any mode
	fast      Mode  // strongest mode of the fast-path holders, see Word
	scratch   []N
	index     map[entryKey[E, N]]int32
	far       *far[E, N] // what only several hosts need; nil in one process
}

// Reset makes q the queue of node self. It must be idle or new; it keeps its memory,
// within bounds.
func (q *Queue[E, N]) Reset(self N) {
	assert.That(q.Idle(), "lock: reset of a queue in use")
	if cap(q.entries) > slotsKept {
		q.entries, q.freeSlots = nil, 0
	}
	q.index, q.far = nil, nil
	q.self, q.fast = self, None
}

// Node returns the node q was last Reset for.
func (q *Queue[E, N]) Node() N { return q.self }

// Idle reports whether q has nothing to remember: no entry, no tombstone, no number.
// An idle queue can be given to another node.
func (q *Queue[E, N]) Idle() bool { return q.live == 0 && (q.far == nil || q.far.empty()) }

// Len returns the number of holds and of entries that wait. The bound on the queue's
// depth is the driver's, at the admission of whole events only.
func (q *Queue[E, N]) Len() (holders, waiters int) { return int(q.holders), int(q.waiting) }

// Lazies returns the number of lazy holds: while there are any, an event that wants something
// below this node has to wait (RULE-4).
func (q *Queue[E, N]) Lazies() int { return int(q.lazies) }

// Try is the fast path for an event whose footprint the caller knows under this
// latch: {x} alone, or x and children on this host, complete. It grants a hold (a
// pass if mode is None) that is settled on children, or changes nothing and
// reports false; then Enter or Enqueue has to be used. The caller latches each
// child, enqueues there (Try with from = x, or Enqueue with number 0) and Binds,
// before it releases this latch. From is zero for a direct entry; else the caller
// has checked that it is the T-parent.
func (q *Queue[E, N]) Try(id ID[E], from N, mode Mode, children []N) (Ref, bool) {
	if q.head != 0 || q.blocked(mode, len(children) > 0) {
		return Ref{}, false
	}
	i := q.take(id, from)
	e := q.slot(i)
	e.mode = mode
	if mode == None {
		e.state = passed
	} else {
		e.state = held
		q.count(e, 1)
	}
	for _, c := range children {
		e.addEdge(c)
	}
	return Ref{slot: i, gen: e.gen}, true
}

// Enter is RULE-1, [ENTER]: the event enters at this node, directly. The entry is admitted at
// once or waits; the effects tell. The Ref is what the home releases, once, whatever
// becomes of the entry; it is zero if the release was here first.
func (q *Queue[E, N]) Enter(v View[E, N], id ID[E], out []Effect[E, N]) (Ref, []Effect[E, N]) {
	var direct N
	return q.arrive(v, Sent[N]{From: direct}, id, out)
}

// Sent describes an enqueue by the T-parent.
type Sent[N comparable] struct {
	From     N      // the T-parent that enqueues; the zero N is a direct entry
	Number   uint64 // from 1, per (From, child); 0 if executed under From's latch
	Acquired bool   // Lazy of the Enqueue effect: asked for by a lazy holder (RULE-6)
}

// Enqueue is RULE-2: T-parent s.From enqueues the event here. Numbered enqueues may
// arrive in any order and are taken in number order; the Ref is zero for one that is
// early, or whose release has come before it.
func (q *Queue[E, N]) Enqueue(v View[E, N], s Sent[N], id ID[E], out []Effect[E, N]) (Ref, []Effect[E, N]) {
	if s.Number == 0 {
		return q.arrive(v, s, id, out)
	}
	l := q.remember().link(s.From)
	if s.Number != l.received+1 {
		assert.That(s.Number > l.received, "lock: enqueue delivered twice")
		q.far.early = append(q.far.early, early[E, N]{id: id, sent: s})
		return Ref{}, out
	}
	l.received++
	ref, out := q.arrive(v, s, id, out)
	for {
		e, ok := q.far.due(s.From)
		if !ok {
			return ref, out
		}
		_, out = q.arrive(v, e.sent, e.id, out)
	}
}

// arrive puts an enqueue, whose turn it is, into the queue.
func (q *Queue[E, N]) arrive(v View[E, N], s Sent[N], id ID[E], out []Effect[E, N]) (Ref, []Effect[E, N]) {
	if q.far != nil && q.far.buried(id, s.From) {
		return Ref{}, out
	}
	i := q.take(id, s.From)
	e := q.slot(i)
	e.acquired = s.Acquired
	var direct N
	if s.From != direct && q.stranger(v, s.From) {
		out = q.refuse(e, i, Stranger, q.self, None, out)
		return q.refOf(i), out
	}
	q.push(i)
	if q.head == i {
		out = q.pump(v, out)
	}
	return q.refOf(i), out
}

// stranger reports whether from is known not to be the T-parent.
func (q *Queue[E, N]) stranger(v View[E, N], from N) bool {
	var undecided N
	p := v.Parent(q.self)
	return p != from && p != undecided
}

// refuse makes entry e spent and asks its home to withdraw the attempt.
func (q *Queue[E, N]) refuse(e *entry[E, N], i int32, why Reason, y N, m Mode, out []Effect[E, N]) []Effect[E, N] {
	e.state = spent
	return append(out, Effect[E, N]{Kind: Refused, At: q.self, ID: e.id, Ref: Ref{slot: i, gen: e.gen},
		To: y, Mode: m, Reason: why})
}

// Bind tells entry parent that its edge number edge is the entry child of that
// T-child, on this host, so that releasing it will need no search.
func (q *Queue[E, N]) Bind(parent Ref, edge int32, child Ref) {
	e := q.at(parent)
	assert.That(edge < e.edgeCount, "lock: a binding to an edge that is not there")
	e.edge(edge).ref = child
}

// Refresh tries the head anew, after the view has changed in a way that may admit or
// bounce it. No other entry needs it, for safety or for liveness.
func (q *Queue[E, N]) Refresh(v View[E, N], out []Effect[E, N]) []Effect[E, N] {
	return q.pump(v, out)
}

// Moved is RULE-10, [MOVE]: a move of this node has ended, and View.Parent is decided again; it
// is called before the move's hold is released, also if the move was withdrawn.
// Entries of a former parent that still wait are refused, as later ones will be.
func (q *Queue[E, N]) Moved(v View[E, N], out []Effect[E, N]) []Effect[E, N] {
	var direct N
	for i := q.head; i != 0; {
		e := q.slot(i)
		next := e.next
		if e.from != direct && q.stranger(v, e.from) {
			q.unlink(i)
			out = q.refuse(e, i, Stranger, q.self, None, out)
		}
		i = next
	}
	return q.pump(v, out)
}
