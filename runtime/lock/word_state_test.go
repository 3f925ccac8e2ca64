package lock

import (
	"encoding/binary"
	"slices"
)

// over reports whether all threads have ended, and checks what they leave behind.
func (w *wordWorld) over() bool {
	for e := range w.threads {
		if len(w.threads[e].stack) > 0 {
			return false
		}
	}
	for x := 1; x <= 3; x++ {
		if w.words[x]&^spread != 0 || !w.queues[x].Idle() {
			w.fail("node %d is left with word %b", x, w.words[x])
		}
	}
	if w.slots != [2]uint8{} {
		w.fail("the slots are left with %v", w.slots)
	}
	return true
}

// clone returns a copy that shares nothing that changes.
func (w *wordWorld) clone() *wordWorld {
	n := *w
	n.threads = slices.Clone(w.threads)
	for i := range n.threads {
		t := &n.threads[i]
		t.stack, t.freed = slices.Clone(t.stack), slices.Clone(t.freed)
	}
	for x := 1; x <= 3; x++ {
		n.holds[x] = slices.Clone(w.holds[x])
		n.queues[x].entries = slices.Clone(w.queues[x].entries)
		n.queues[x].scratch = nil
	}
	return &n
}

// key identifies a state of the world.
func (w *wordWorld) key(b []byte) []byte {
	put := func(list ...int) {
		for _, n := range list {
			b = binary.AppendVarint(b, int64(n))
		}
	}
	for x := 1; x <= 3; x++ {
		q := &w.queues[x]
		put(int(w.words[x]), int(q.head), int(q.freeSlots), int(q.fast), len(q.entries))
		for i := range q.entries {
			n := &q.entries[i]
			put(int(n.state), int(n.gen), int(n.next))
			if n.state != free {
				put(n.id.Event, n.from, int(n.mode), int(n.edgeCount))
				b = append(b, flagBit(n.lazy)|flagBit(n.below)<<1|flagBit(n.acquired)<<2)
				for k := range n.edgeCount {
					d := n.edge(k)
					put(d.child, int(d.ref.slot), int(d.ref.gen))
				}
			}
		}
		for _, m := range w.holds[x] {
			b = append(b, byte(m))
		}
	}
	b = append(b, w.slots[:]...)
	ops := func(list []wordOp) {
		put(len(list))
		for _, o := range list {
			b = append(b, byte(o.kind), o.x, o.i, o.eff.e, o.eff.from, flagBit(o.eff.lazy)|flagBit(o.last)<<1|flagBit(o.slot)<<2)
			put(int(o.ref.slot), int(o.ref.gen), int(o.eff.edge), int(o.next))
		}
	}
	for i := range w.threads {
		t := &w.threads[i]
		put(int(t.needs), int(t.called))
		b = append(b, flagBit(t.joined))
		for x := 1; x <= 3; x++ {
			put(int(t.refs[x].slot), int(t.refs[x].gen), int(t.fast[x]))
		}
		ops(t.stack)
		ops(t.freed)
	}
	return b
}

func flagBit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
