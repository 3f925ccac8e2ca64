package lock

// Why says why an entry waits for another.
type Why uint8

// The reasons to wait.
const (
	// ModesConflict: the holder's mode conflicts with the one wanted.
	ModesConflict Why = iota + 1
	// LazyHolder: the holder is lazy and the waiter wants something below.
	LazyHolder
	// Behind: the other waits in front; there is no overtaking.
	Behind
	// FastPath: holders without an entry, which have no name here (Word).
	FastPath
)

// String returns the reason in a few words.
func (w Why) String() string {
	return [...]string{"?", "modes conflict", "holder is lazy", "behind", "holders without an entry"}[w]
}

// WaitEdge is one edge of the wait-for graph.
type WaitEdge[E comparable] struct {
	Waiter, For ID[E] // For is zero if Why is FastPath
	Mode, Held  Mode  // wanted by the waiter, as evaluated last; held by the other
	Why         Why
}

// Waits calls yield for each edge of the wait-for graph at this node: the head waits
// for each holder in its way, every other entry for the one in front of it. It is
// for watchdogs, and costs the length of the queue.
func (q *Queue[E, N]) Waits(yield func(WaitEdge[E]) bool) {
	if q.head == 0 {
		return
	}
	h := q.slot(q.head)
	if q.fast.Conflicts(h.mode) || q.fast != None && h.below {
		if !yield(WaitEdge[E]{Waiter: h.id, Mode: h.mode, Held: q.fast, Why: FastPath}) {
			return
		}
	}
	for i := range q.entries {
		a := &q.entries[i]
		w := WaitEdge[E]{Waiter: h.id, For: a.id, Mode: h.mode, Held: a.mode, Why: ModesConflict}
		switch {
		case a.state != held:
			continue
		case a.mode.Conflicts(h.mode):
		case a.lazy && h.below:
			w.Why = LazyHolder
		default:
			continue
		}
		if !yield(w) {
			return
		}
	}
	for p, i := q.head, h.next; i != 0; p, i = i, q.slot(i).next {
		if !yield(WaitEdge[E]{Waiter: q.slot(i).id, For: q.slot(p).id, Mode: q.slot(i).mode, Why: Behind}) {
			return
		}
	}
}

// Holder is a hold as a dump shows it.
type Holder[E comparable] struct {
	ID   ID[E]
	Mode Mode
	Lazy bool
}

// Holders calls yield for each hold at this node, in no particular but a fixed order.
func (q *Queue[E, N]) Holders(yield func(Holder[E]) bool) {
	for i := range q.entries {
		if e := &q.entries[i]; e.state == held && !yield(Holder[E]{ID: e.id, Mode: e.mode, Lazy: e.lazy}) {
			return
		}
	}
}
