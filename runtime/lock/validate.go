package lock

import "fmt"

// Validate checks every invariant of the queue and returns the first violation. It visits everything, for
// tests; like all methods it runs under the latch of the node, between two steps.
func (q *Queue[E, N]) Validate() error {
	if err := q.validateWaiting(); err != nil {
		return err
	}
	if err := q.validateEntries(); err != nil {
		return err
	}
	return q.validateFar()
}

// validateWaiting checks the list of the entries that wait.
func (q *Queue[E, N]) validateWaiting() error {
	n, prev := int32(0), int32(0)
	for i := q.head; i != 0; prev, i = i, q.slot(i).next {
		e := q.slot(i)
		switch n++; {
		case n > q.waiting:
			return fmt.Errorf("lock: more entries wait than the %d counted", q.waiting)
		case e.state != waiting || e.prev != prev:
			return fmt.Errorf("lock: entry %d is badly linked among those that wait", i)
		case e.edgeCount > 0 || e.lazy:
			return fmt.Errorf("lock: entry %d waits and has enqueued already", i)
		}
	}
	if n != q.waiting || q.tail != prev {
		return fmt.Errorf("lock: %d entries wait, %d are counted, and %d is the last, not %d", n, q.waiting, prev, q.tail)
	}
	// Invariant: the head could not be admitted, so no entry that waits could (RULE-4).
	if q.head != 0 && !q.blocked(q.slot(q.head).mode, q.slot(q.head).below) {
		return fmt.Errorf("lock: entry %d waits for nothing", q.head)
	}
	return nil
}

// validateEntries checks each entry, and that they are counted right.
func (q *Queue[E, N]) validateEntries() error {
	var live, holders, readers, writers, lazies int32
	for i := range q.entries {
		e := &q.entries[i]
		if e.state == free {
			continue
		}
		live++
		for k := range i {
			// Invariant: an attempt has one entry of each sender; the release that answers it finds this one.
			if o := &q.entries[k]; o.state != free && o.id == e.id && o.from == e.from {
				return fmt.Errorf("lock: entries %d and %d are one enqueue", k+1, i+1)
			}
		}
		if q.index != nil && q.index[entryKey[E, N]{e.id, e.from}] != int32(i+1) {
			return fmt.Errorf("lock: entry %d is not indexed", i+1)
		}
		switch {
		// Invariant: a pass has no mode and is not lazy; any other that was admitted is a hold (RULE-3).
		case e.state == passed && (e.mode != None || e.lazy):
			return fmt.Errorf("lock: entry %d was passed in mode %v, lazy %v", i+1, e.mode, e.lazy)
		case e.state == held && e.mode == None && !e.lazy:
			return fmt.Errorf("lock: entry %d is held and neither has a mode nor is lazy", i+1)
		case e.state == spent && e.edgeCount > 0:
			return fmt.Errorf("lock: entry %d was refused and has enqueued on %d children", i+1, e.edgeCount)
		case e.state != held:
			continue
		}
		holders++
		switch e.mode {
		case Read:
			readers++
		case Write:
			writers++
		}
		if e.lazy {
			lazies++
		}
	}
	if live != q.live || holders != q.holders || readers != q.readers || writers != q.writers || lazies != q.lazies {
		return fmt.Errorf("lock: %d entries, %d holds, %d readers, %d writers and %d lazy ones are counted as %d, %d, %d, %d, %d",
			live, holders, readers, writers, lazies, q.live, q.holders, q.readers, q.writers, q.lazies)
	}
	if q.index != nil && len(q.index) != int(live) {
		return fmt.Errorf("lock: %d of %d entries are indexed", len(q.index), live)
	}
	unused := int32(0)
	for i := q.freeSlots; i != 0 && unused <= int32(len(q.entries)); i = q.slot(i).next {
		unused++
	}
	if unused+live != int32(len(q.entries)) {
		return fmt.Errorf("lock: %d slots, of which %d are free and %d in use", len(q.entries), unused, live)
	}
	return nil
}

// validateFar checks what is remembered of other hosts.
func (q *Queue[E, N]) validateFar() error {
	f := q.far
	if f == nil {
		return nil
	}
	for i, e := range f.early {
		// Invariant: what was put aside comes after the next number, and once (RULE-2).
		if next := q.Received(e.sent.From) + 1; e.sent.Number <= next {
			return fmt.Errorf("lock: enqueue %d of %v was put aside, and %d is the next", e.sent.Number, e.sent.From, next)
		}
		for _, o := range f.early[:i] {
			if o.sent.From == e.sent.From && o.sent.Number == e.sent.Number {
				return fmt.Errorf("lock: enqueue %d of %v was put aside twice", e.sent.Number, e.sent.From)
			}
		}
	}
	for i, t := range f.tombs {
		// Invariant: a tombstone awaits an enqueue that has not come, and one release answers it (RULE-7).
		if q.find(t.id, t.from) != 0 {
			return fmt.Errorf("lock: a tombstone awaits the enqueue of %v by %v, which is here", t.id, t.from)
		}
		for _, o := range f.tombs[:i] {
			if o == t {
				return fmt.Errorf("lock: the enqueue of %v by %v was released twice", t.id, t.from)
			}
		}
	}
	return nil
}

// Validate checks every invariant of the home and returns the first violation. It visits everything, for tests.
func (h *Home[E, N]) Validate() error {
	for i := range h.visits {
		v := &h.visits[i]
		// Invariant: a node is visited once, however often it was enqueued on.
		if h.lookup(v.node) != v {
			return fmt.Errorf("lock: %v is among the visits twice, or badly indexed", v.node)
		}
		// Invariant: a settled hold has a mode; without one it was passed, and what was not granted has none.
		if (v.state == settled) != (v.mode != None) && v.state != lazily {
			return fmt.Errorf("lock: the visit of %v has mode %v in state %d", v.node, v.mode, v.state)
		}
	}
	for _, a := range h.asks {
		// Invariant: a lazy request goes to a node that the attempt has visited (RULE-6).
		if h.lookup(a.at) == nil {
			return fmt.Errorf("lock: %v was asked for at %v, which was not visited", a.want, a.at)
		}
	}
	for i, c := range h.carried {
		for _, o := range h.carried[:i] {
			if o.Node == c.Node {
				return fmt.Errorf("lock: %v is claimed twice", c.Node)
			}
		}
		if c.Mode == None {
			return fmt.Errorf("lock: %v is claimed without a mode", c.Node)
		}
	}
	if h.index != nil && len(h.index) != len(h.visits) || h.asked != nil && len(h.asked) != len(h.asks) {
		return fmt.Errorf("lock: %d of %d visits and %d of %d requests are indexed", len(h.index), len(h.visits), len(h.asked), len(h.asks))
	}
	return nil
}
