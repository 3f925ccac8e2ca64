package lock

import (
	"maps"
	"slices"
)

// This file shows the state of a Queue and of a Home to what checks them: explorers, oracles and
// dumps. It changes nothing, and no rule depends on it.

// Entry is an enqueue on a queue, as inspection shows it.
type Entry[E, N comparable] struct {
	ID   ID[E]
	From N // the T-parent that has enqueued; the zero N of a direct entry
	Ref  Ref
	Mode Mode
	// Waiting for its admission, or Held. Neither: it was passed, bounced or refused, and awaits its release.
	Waiting, Held bool
	Lazy          bool
	Below         bool // something below is wanted, as evaluated last
	Acquired      bool // RULE-6: asked for by a lazy holder above
}

func (q *Queue[E, N]) shown(i int32) Entry[E, N] {
	e := q.slot(i)
	return Entry[E, N]{ID: e.id, From: e.from, Ref: Ref{slot: i, gen: e.gen}, Mode: e.mode,
		Waiting: e.state == waiting, Held: e.state == held, Lazy: e.lazy, Below: e.below, Acquired: e.acquired}
}

// Entries calls yield for each entry: first for those that wait, in order of admission, then for
// the others in no particular but a fixed order.
func (q *Queue[E, N]) Entries(yield func(Entry[E, N]) bool) {
	for i := q.head; i != 0; i = q.slot(i).next {
		if !yield(q.shown(i)) {
			return
		}
	}
	if q.live == q.waiting {
		return
	}
	for i := range q.entries {
		if s := q.entries[i].state; s != free && s != waiting && !yield(q.shown(int32(i+1))) {
			return
		}
	}
}

// Entry returns the live entry r.
func (q *Queue[E, N]) Entry(r Ref) Entry[E, N] {
	q.at(r)
	return q.shown(r.slot)
}

// Find returns the entry of attempt id that from has enqueued, the zero Ref if there is none.
func (q *Queue[E, N]) Find(id ID[E], from N) Ref {
	i := q.find(id, from)
	if i == 0 {
		return Ref{}
	}
	return q.refOf(i)
}

// Edges calls yield for each T-child that entry r has enqueued on, in that order.
func (q *Queue[E, N]) Edges(r Ref, yield func(child N) bool) {
	e := q.at(r)
	for i := range e.edgeCount {
		if !yield(e.edge(i).child) {
			return
		}
	}
}

// Count returns how many entries the queue has, and how many enqueues that came before their turn and
// releases that came before their enqueues it remembers.
func (q *Queue[E, N]) Count() (entries, early, tombstones int) {
	if f := q.far; f != nil {
		early, tombstones = len(f.early), len(f.tombs)
	}
	return int(q.live), early, tombstones
}

// Early calls yield for each enqueue that came before its turn, in order of arrival.
func (q *Queue[E, N]) Early(yield func(ID[E], Sent[N]) bool) {
	if q.far == nil {
		return
	}
	for i := range q.far.early {
		if e := &q.far.early[i]; !yield(e.id, e.sent) {
			return
		}
	}
}

// Tombstones calls yield for each release that came before the enqueue it answers: of attempt id, by from.
func (q *Queue[E, N]) Tombstones(yield func(id ID[E], from N) bool) {
	if q.far == nil {
		return
	}
	for _, t := range q.far.tombs {
		if !yield(t.id, t.from) {
			return
		}
	}
}

// Numbers calls yield for each T-neighbour on another host with the numbers of the enqueues sent to it and
// received from it last, in no order.
func (q *Queue[E, N]) Numbers(yield func(peer N, sent, received uint64) bool) {
	if q.far == nil {
		return
	}
	for peer, l := range q.far.links {
		if !yield(peer, l.sent, l.received) {
			return
		}
	}
}

// Received returns the number of the last enqueue of T-parent peer, on another host, whose turn has come.
func (q *Queue[E, N]) Received(peer N) uint64 {
	if f := q.far; f != nil && f.links[peer] != nil {
		return f.links[peer].received
	}
	return 0
}

// CopyFrom makes q equal to o, handles included, in q's memory.
func (q *Queue[E, N]) CopyFrom(o *Queue[E, N]) {
	entries, far, scratch := append(q.entries[:0], o.entries...), q.far, q.scratch
	for i := range entries {
		e := &entries[i]
		e.children = nil
		if len(e.more) > 0 {
			e.more = slices.Clone(e.more)
		} else {
			e.more = nil
		}
	}
	*q = *o
	q.entries, q.scratch, q.index, q.far = entries, scratch, nil, nil
	if o.far != nil {
		q.far = far
		q.remember().copyFrom(o.far)
	}
}

func (f *far[E, N]) copyFrom(o *far[E, N]) {
	f.early = append(f.early[:0], o.early...)
	f.tombs = append(f.tombs[:0], o.tombs...)
	for x, l := range o.links {
		*f.link(x) = *l
	}
	if len(f.links) > len(o.links) {
		maps.DeleteFunc(f.links, func(x N, _ *link[N]) bool { return o.links[x] == nil })
	}
}

// CopyFrom makes t equal to o, in t's memory.
func (t *Turns[P]) CopyFrom(o *Turns[P]) { t.taken, t.early = o.taken, append(t.early[:0], o.early...) }

// Taken returns the number of the last part whose turn has come.
func (t *Turns[P]) Taken() uint64 { return t.taken }

// Early calls yield for each part that has come before its turn, in order of arrival.
func (t *Turns[P]) Early(yield func(number uint64, part P) bool) {
	for _, e := range t.early {
		if !yield(e.number, e.part) {
			return
		}
	}
}

// Visit is a node on which an attempt was enqueued, as its home knows it. One that is granted, not lazy and
// without a mode was passed.
type Visit[N comparable] struct {
	Node    N
	Ref     Ref
	Mode    Mode
	Granted bool
	Lazy    bool
}

func (v *visit[N]) shown() Visit[N] {
	return Visit[N]{Node: v.node, Ref: v.ref, Mode: v.mode, Granted: v.state != asked, Lazy: v.state == lazily}
}

// Visits calls yield for each node that the attempt has visited, in the order in which the home
// has learned of them.
func (h *Home[E, N]) Visits(yield func(Visit[N]) bool) {
	for i := range h.visits {
		if !yield(h.visits[i].shown()) {
			return
		}
	}
}

// Visit returns what the home knows of x, false if the attempt has not visited it.
func (h *Home[E, N]) Visit(x N) (Visit[N], bool) {
	v := h.lookup(x)
	if v == nil {
		return Visit[N]{}, false
	}
	return v.shown(), true
}

// Asks calls yield for each lazy request made: actor want was asked for at the hold on node at.
func (h *Home[E, N]) Asks(yield func(at, want N) bool) {
	for _, a := range h.asks {
		if !yield(a.at, a.want) {
			return
		}
	}
}

// CopyFrom makes h equal to o, in h's memory.
func (h *Home[E, N]) CopyFrom(o *Home[E, N]) {
	h.id = o.id
	h.visits = append(h.visits[:0], o.visits...)
	h.asks = append(h.asks[:0], o.asks...)
	h.carried = append(h.carried[:0], o.carried...)
	h.index, h.asked = nil, nil
	if len(h.visits) > visitScanMax {
		h.indexVisits()
	}
	if len(h.asks) > askScanMax {
		h.indexAsks()
	}
}
