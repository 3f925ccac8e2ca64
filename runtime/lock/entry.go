package lock

import "github.com/aeon-lang/aeon/internal/assert"

// state is the life of an entry: waiting, then held or passed; spent when it was
// bounced or refused. It stays until its release arrives, so that enqueues and
// releases pair off exactly.
type state uint8

const (
	free state = iota
	waiting
	held
	passed
	spent
)

// edge is one enqueue that an entry has made on a T-child. Its release follows it.
type edge[N comparable] struct {
	child N
	ref   Ref
}

const edgesInline = 2

// entry is one enqueue on a queue: a hold if mode is set or lazy, else a pass.
type entry[E, N comparable] struct {
	id         ID[E]
	from       N // sender; zero for a direct entry
	edges      [edgesInline]edge[N]
	more       []edge[N]
	children   map[N]struct{} // of the edges; made when a search has to pass more than scanMax
	edgeCount  int32
	next, prev int32 // slots; list of waiting entries, or of free ones
	gen        uint32
	state      state
	mode       Mode
	lazy       bool
	below      bool
	acquired   bool // RULE-6: asked for by a lazy holder above, never a pass
}

func (e *entry[E, N]) addEdge(c N) int32 {
	i := e.edgeCount
	e.edgeCount++
	if i < edgesInline {
		e.edges[i] = edge[N]{child: c}
	} else {
		e.more = append(e.more, edge[N]{child: c})
		if e.children != nil {
			e.children[c] = struct{}{}
		}
	}
	return i
}

func (e *entry[E, N]) edge(i int32) *edge[N] {
	if i < edgesInline {
		return &e.edges[i]
	}
	return &e.more[i-edgesInline]
}

// hasEdge reports whether the entry has enqueued on c. A lazy hold is asked for one child after
// the other, so the children of those that get many are indexed.
func (e *entry[E, N]) hasEdge(c N) bool {
	if e.children == nil && e.edgeCount > scanMax {
		e.children = make(map[N]struct{}, 2*e.edgeCount)
		for i := range e.edgeCount {
			e.children[e.edge(i).child] = struct{}{}
		}
	}
	if e.children != nil {
		_, ok := e.children[c]
		return ok
	}
	for i := range e.edgeCount {
		if e.edge(i).child == c {
			return true
		}
	}
	return false
}

// slot returns the entry in slot i, which counts from 1.
func (q *Queue[E, N]) slot(i int32) *entry[E, N] { return &q.entries[i-1] }

// at returns the live entry r refers to. A release pairs with its enqueue, so a
// stale handle is a bug of the driver.
func (q *Queue[E, N]) at(r Ref) *entry[E, N] {
	e := q.slot(r.slot)
	assert.That(e.gen == r.gen && e.state != free, "lock: stale handle of an entry")
	return e
}

func (q *Queue[E, N]) refOf(i int32) Ref { return Ref{slot: i, gen: q.slot(i).gen} }

// take returns a fresh slot for id, in state waiting but in no list.
func (q *Queue[E, N]) take(id ID[E], from N) int32 {
	i := q.freeSlots
	if i != 0 {
		q.freeSlots = q.slot(i).next
	} else {
		if cap(q.entries) == 0 {
			q.entries = make([]entry[E, N], 0, slotsFirst)
		}
		q.entries = append(q.entries, entry[E, N]{gen: 1})
		i = int32(len(q.entries))
	}
	e := q.slot(i)
	e.id, e.from = id, from
	e.next, e.prev = 0, 0
	e.state = waiting
	q.live++
	if q.index != nil {
		q.index[entryKey[E, N]{id, from}] = i
	}
	return i
}

// drop frees slot i, which is in no list any more.
func (q *Queue[E, N]) drop(i int32) {
	e := q.slot(i)
	if q.index != nil {
		delete(q.index, entryKey[E, N]{e.id, e.from})
	}
	clear(e.more)
	*e = entry[E, N]{gen: e.gen + 1, next: q.freeSlots, more: e.more[:0]}
	q.freeSlots = i
	q.live--
}

// entryKey is what pairs an enqueue with its release.
type entryKey[E, N comparable] struct {
	id   ID[E]
	from N
}

// find returns the slot of (id, from), 0 if there is none. Long queues are indexed
// once they are searched, so that releases by key are not quadratic either.
func (q *Queue[E, N]) find(id ID[E], from N) int32 {
	if q.index != nil {
		return q.index[entryKey[E, N]{id, from}]
	}
	if q.live > scanMax {
		q.index = make(map[entryKey[E, N]]int32, 2*q.live)
		for i := range q.entries {
			if e := &q.entries[i]; e.state != free {
				q.index[entryKey[E, N]{e.id, e.from}] = int32(i + 1)
			}
		}
		return q.index[entryKey[E, N]{id, from}]
	}
	for i := range q.entries {
		if e := &q.entries[i]; e.state != free && e.id == id && e.from == from {
			return int32(i + 1)
		}
	}
	return 0
}

// push appends slot i to the waiting entries.
func (q *Queue[E, N]) push(i int32) {
	e := q.slot(i)
	e.prev = q.tail
	if q.tail != 0 {
		q.slot(q.tail).next = i
	} else {
		q.head = i
	}
	q.tail = i
	q.waiting++
}

// unlink takes slot i out of the waiting entries.
func (q *Queue[E, N]) unlink(i int32) {
	e := q.slot(i)
	if e.prev != 0 {
		q.slot(e.prev).next = e.next
	} else {
		q.head = e.next
	}
	if e.next != 0 {
		q.slot(e.next).prev = e.prev
	} else {
		q.tail = e.prev
	}
	e.next, e.prev = 0, 0
	q.waiting--
}
