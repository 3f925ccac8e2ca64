package history

import (
	"hash/fnv"
	"sync"

	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// Record is what an event gathers for the recorder.
type Record struct {
	trace.Event
	mu    sync.Mutex // branches of the event meet here
	notes []note
	last  map[*order.Handle]int // index of the last note of an actor, once there are many
	wrote handleSet
}

// note is an actor as the event first reached it.
type note struct {
	h *order.Handle
	a *actor
	trace.Access
}

// Read notes that the event has reached h and has not written it yet. The event holds h, or h is deleted for
// good. If h has changed under the event, Read notes that, too.
func (t *Tracer) Read(r *Record, h *order.Handle) {
	if h.Is(order.Fresh) {
		return // only this event knows it
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.lastNote(h)
	if last >= 0 && r.notes[last].Version == r.notes[last].a.version.Load() {
		return
	}
	a := t.actor(h)
	n := note{h, a, trace.Access{Actor: h.ID, Label: a.label, Version: a.version.Load()}}
	if last < 0 {
		n.State = t.hash(h)
	}
	if r.last != nil {
		r.last[h] = len(r.notes)
	}
	r.notes = append(r.notes, n)
}

// lastNote returns the index of the last note of h, -1 if there is none. Caller holds mu.
func (r *Record) lastNote(h *order.Handle) int {
	if r.last != nil {
		if i, ok := r.last[h]; ok {
			return i
		}
		return -1
	}
	for i := len(r.notes) - 1; i >= 0; i-- {
		if r.notes[i].h == h {
			return i
		}
	}
	if len(r.notes) > scanMax {
		r.last = make(map[*order.Handle]int, 4*scanMax)
		for i := range r.notes {
			r.last[r.notes[i].h] = i
		}
	}
	return -1
}

// noted is Tracer.actor for an actor that r has probably noted.
func (t *Tracer) noted(r *Record, h *order.Handle) *actor {
	if i := r.lastNote(h); i >= 0 {
		return r.notes[i].a
	}
	return t.actor(h)
}

// Wrote gives every actor that the event has changed its next version. The event commits, and holds them.
func (t *Tracer) Wrote(r *Record, a *order.Attempt, log *undo.Log) {
	for _, h := range a.Deletes {
		t.write(r, h, true)
	}
	for _, list := range [...][]*order.Handle{a.Fresh, a.Born} {
		for _, h := range list {
			t.write(r, h, false)
		}
	}
	entries := log.Entries()
	for i := range entries {
		t.write(r, order.HandleOf(entries[i].Self().Ref()), false)
	}
}

// write gives h its next version, unless the event has done so.
func (t *Tracer) write(r *Record, h *order.Handle, dead bool) {
	if !r.wrote.add(h) {
		return
	}
	a := t.noted(r, h)
	w := trace.Access{Actor: h.ID, Label: a.label, Version: a.version.Add(1), Deleted: dead}
	if !dead {
		w.State = t.hash(h)
	}
	r.Writes = append(r.Writes, w)
}

// hash returns a hash of the fields of h, which is held; 0 for none.
func (t *Tracer) hash(h *order.Handle) uint64 {
	if !t.hashes || h.Object == nil || h.Is(order.Deleted) {
		return 0
	}
	s, ok := h.Object.(image.Stored)
	if !ok {
		return 0
	}
	defer func() { _ = recover() }() // what nests too deeply to be encoded has no hash
	sum := fnv.New64a()
	_, _ = sum.Write(image.State(s, len(h.Shape.Fields))) // never fails
	return sum.Sum64() | 1                                // 0 is none
}

// Forget drops what a withdrawn attempt has noted.
func (r *Record) Forget() { r.notes, r.last = r.notes[:0], nil }

// clear makes r ready for another event. It keeps the memory of what is small.
func (r *Record) clear() {
	clear(r.notes)
	clear(r.wrote.list)
	r.wrote = handleSet{list: r.wrote.list[:0]}
	r.Forget()
	r.Event = trace.Event{Line: r.Line[:0], Reads: r.Reads[:0], Writes: r.Writes[:0], Callbacks: r.Callbacks[:0], Timers: r.Timers[:0]}
	if cap(r.Line) > lineKeptMax {
		*r = Record{}
	}
}

const lineKeptMax = 4 << 10 // bytes

// handleSet is a set that is small mostly.
type handleSet struct {
	list []*order.Handle
	more map[*order.Handle]bool
}

// scanMax is the number of handles up to which a handle is looked for without an index.
const scanMax = 16

// add reports whether h was not in the set.
func (s *handleSet) add(h *order.Handle) bool {
	if s.more != nil {
		had := s.more[h]
		s.more[h] = true
		return !had
	}
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i] == h {
			return false
		}
	}
	if s.list = append(s.list, h); len(s.list) > scanMax {
		s.more = make(map[*order.Handle]bool, 4*scanMax)
		for _, o := range s.list {
			s.more[o] = true
		}
	}
	return true
}
