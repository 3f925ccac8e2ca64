package commit

import (
	"encoding/binary"

	"github.com/aeon-lang/aeon/runtime/event"
)

// This file shows the state of the machines to an explorer (runtime/lock/locktest). It changes nothing, and no rule depends on it.

// CopyFrom makes h equal to o.
func (h *Home) CopyFrom(o *Home) {
	h.tries.clear()
	h.quiesced = o.quiesced
	for name, t := range o.tries.All {
		next := *t
		next.parts = append([]part(nil), t.parts...)
		h.tries.Put(name, &next)
	}
}

// CopyFrom makes p equal to o.
func (p *Participant) CopyFrom(o *Participant) {
	p.tasks.clear()
	for name, t := range o.tasks.All {
		next := *t
		p.tasks.Put(name, &next)
	}
}

// Append appends all that the next steps of h depend on.
func (h *Home) Append(b []byte) []byte {
	b = append(b, flags(h.quiesced))
	for _, name := range h.tries.Names() {
		t := h.tries.Get(name)
		b = append(name.append(b), byte(t.phase), flags(t.writes), byte(len(t.parts)))
		for _, p := range t.parts {
			b = append(binary.AppendUvarint(b, uint64(p.store)), flags(p.writes, p.voted, p.early, p.row, p.over, p.done))
		}
	}
	return b
}

// Append appends all that the next steps of p depend on.
func (p *Participant) Append(b []byte) []byte {
	for _, name := range p.tasks.Names() {
		t := p.tasks.Get(name)
		b = append(binary.AppendUvarint(name.append(b), uint64(t.home)), byte(t.stage), flags(t.row, t.early))
	}
	return b
}

func (n Name) append(b []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(n.Event.Origin)), n.Event.Seq)
	return binary.AppendUvarint(b, n.Number)
}

func flags(list ...bool) (b byte) {
	for i, set := range list {
		if set {
			b |= 1 << i
		}
	}
	return b
}

// Knows reports whether something of an event is left.
func (p *Participant) Knows(id event.EventID) bool {
	for name := range p.tasks.All {
		if name.Event == id {
			return true
		}
	}
	return false
}

// Len returns how many attempts have a part here.
func (p *Participant) Len() int { return p.tasks.Len() }
