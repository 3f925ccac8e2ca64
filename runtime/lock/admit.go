package lock

import "github.com/aeon-lang/aeon/internal/assert"

// blocked is RULE-4, [ADMIT], by counts: whether a holder keeps an event waiting that wants mode m here,
// and something below. Fast-path holders may still be about to enqueue below, and count as lazy.
func (q *Queue[E, N]) blocked(m Mode, below bool) bool {
	if below && (q.lazies > 0 || q.fast != None) || m.Conflicts(q.fast) {
		return true
	}
	return q.writers > 0 && m != None || m == Write && q.readers > 0
}

// count adds n to the counts that hold e belongs to.
func (q *Queue[E, N]) count(e *entry[E, N], n int32) {
	q.holders += n
	switch e.mode {
	case Read:
		q.readers += n
	case Write:
		q.writers += n
	}
	if e.lazy {
		q.lazies += n
		// Invariant: a lazy holder is the only one: another entry would have waited for it, as it wants something
		// below.
		assert.That(q.lazies <= 1, "lock: two lazy holds")
	}
	// Invariant: a writer is alone among the holders that have a mode.
	assert.That(q.writers == 0 || q.writers == 1 && q.readers == 0 && q.fast == None, "lock: conflicting holds")
}

// pump admits from the head until one has to wait.
func (q *Queue[E, N]) pump(v View[E, N], out []Effect[E, N]) []Effect[E, N] {
	i := q.head
	for i != 0 {
		next := q.slot(i).next
		var ok bool
		if out, ok = q.admit(v, i, out); !ok {
			break
		}
		i = next
	}
	return out
}

// admit tries the entry in slot i, which waits: it is granted, passed, bounced or
// refused, and leaves the waiting entries, or stays.
func (q *Queue[E, N]) admit(v View[E, N], i int32, out []Effect[E, N]) ([]Effect[E, N], bool) {
	e := q.slot(i)
	w := v.Footprint(q.self, e.id)
	var none N
	if e.from == none && w.Enter != none && w.Enter != q.self {
		q.unlink(i)
		e.state = spent
		return append(out, Effect[E, N]{Kind: Bounced, At: q.self, ID: e.id, To: w.Enter,
			Ref: Ref{slot: i, gen: e.gen}}), true
	}
	// RULE-6: what a lazy holder has asked for is a hold even if x is not in the
	// footprint. Without a mode the hold orders what is below.
	stays := e.acquired && w.Mode == None
	e.mode, e.below = w.Mode, w.Below || stays
	if q.blocked(e.mode, e.below) {
		return out, false
	}
	var x Expansion[N]
	if w.Below && !stays {
		x = v.Expand(q.self, e.id, e.mode, q.scratch[:0])
		if x.Children != nil {
			q.scratch = x.Children
		}
		if x.Outside {
			q.unlink(i)
			return q.refuse(e, i, Outside, x.Node, x.Mode, out), true
		}
	}
	q.unlink(i)
	out = q.grant(v, i, x.Lazy || stays, x.Children, out)
	clear(q.scratch)
	return out, true
}

// grant is RULE-3, [COVER], and RULE-5, [PASS]: entry i becomes a hold or was a pass, and in the same
// step enqueues on children, unless it is lazy. Its coverage is frozen by this.
func (q *Queue[E, N]) grant(v View[E, N], i int32, lazy bool, children []N, out []Effect[E, N]) []Effect[E, N] {
	e := q.slot(i)
	e.lazy = lazy
	ref := Ref{slot: i, gen: e.gen}
	if e.mode == None && !lazy {
		e.state = passed
	} else {
		e.state = held
		q.count(e, 1)
	}
	if lazy {
		children = nil
	}
	out = append(out, Effect[E, N]{Kind: Admitted, At: q.self, ID: e.id, Mode: e.mode, Lazy: lazy,
		Count: int32(len(children)), Ref: ref})
	for _, c := range children {
		out = q.send(v, e, ref, c, false, out)
	}
	return out
}

// send is RULE-2, [SENDER]: e's event is enqueued on T-child c.
func (q *Queue[E, N]) send(v View[E, N], e *entry[E, N], ref Ref, c N, acquired bool, out []Effect[E, N]) []Effect[E, N] {
	var number uint64
	if v.Remote(q.self, c) {
		l := q.remember().link(c)
		l.sent++
		number = l.sent
	}
	return append(out, Effect[E, N]{Kind: Enqueue, At: q.self, To: c, ID: e.id, Number: number,
		Lazy: acquired, Ref: ref, Edge: e.addEdge(c)})
}

// Acquire is RULE-6, [ACQUIRE]: the event, which holds this node lazily, wants y further down.
// The next node on the T-path is enqueued on, once. Ref may be zero, then the entry is
// searched. A request that comes after the release is dropped: lazy requests are
// only made while the hold is there, so its attempt is dead.
func (q *Queue[E, N]) Acquire(v View[E, N], ref Ref, id ID[E], y N, out []Effect[E, N]) []Effect[E, N] {
	i := q.holder(ref, id)
	if i == 0 {
		return out
	}
	e := q.slot(i)
	ref = Ref{slot: i, gen: e.gen}
	deny := Effect[E, N]{Kind: Refused, At: q.self, ID: id, Ref: ref, To: y}
	if !e.lazy {
		deny.Reason = Settled
		return append(out, deny)
	}
	c, ok := v.Toward(q.self, y)
	if !ok {
		deny.Reason = Unrouted
		return append(out, deny)
	}
	if e.hasEdge(c) {
		return out
	}
	return q.send(v, e, ref, c, true, out)
}

// holder returns the slot in which id is held, 0 if it is not.
func (q *Queue[E, N]) holder(ref Ref, id ID[E]) int32 {
	if ref.Valid() {
		if int(ref.slot) > len(q.entries) {
			return 0
		}
		if e := q.slot(ref.slot); e.gen != ref.gen || e.state != held || e.id != id {
			return 0
		}
		return ref.slot
	}
	for i := range q.entries {
		if e := &q.entries[i]; e.state == held && e.id == id {
			return int32(i + 1)
		}
	}
	return 0
}
