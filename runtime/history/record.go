package history

import (
	"sync"

	"github.com/aeon-lang/aeon/internal/smallset"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// Record is what an event gathers for the recorder.
type Record struct {
	trace.Event
	mu    sync.Mutex // branches of the event meet here
	notes []note
	last  map[*order.Handle]int // index of the last note of an actor, once there are many
	wrote smallset.Set[*order.Handle]
	// reached is a tick at which the attempt had the last of its locks, in whatever store, as far as is known here; locks is 1 above the LockedHere of the attempt then, 0: there
	// is none yet. They count in a system among several.
	reached int64
	locks   uint64
}

// note is an actor as the event first reached it.
type note struct {
	h *order.Handle
	a *actor
	trace.Access
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

// Forget drops what a withdrawn attempt has noted.
func (r *Record) Forget() { r.notes, r.last, r.reached, r.locks = r.notes[:0], nil, 0, 0 }

// clear makes r ready for another event. It keeps the memory of what is small.
func (r *Record) clear() {
	clear(r.notes)
	r.wrote.Clear()
	r.Forget()
	r.Event = trace.Event{Line: r.Line[:0], Reads: r.Reads[:0], Writes: r.Writes[:0], Callbacks: r.Callbacks[:0], Timers: r.Timers[:0],
		Across: trace.Across{Parts: r.Across.Parts[:0]}}
	if cap(r.Line) > lineKeptMax {
		*r = Record{}
	}
}

const lineKeptMax = 4 << 10 // bytes

// scanMax is the number of handles up to which a handle is looked for without an index.
const scanMax = 16
