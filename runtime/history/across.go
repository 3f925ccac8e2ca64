package history

import (
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// Each of several stores records what events do there. The home of an event names the place that it has among the events of all stores: a tick at
// which its attempt holds all its locks. So that ticks of several stores have an order they are those of logical clocks: parts that are taken, the
// thread of control and the commit carry them, and no store counts from less than it has heard. What conflicts with an event, and is before it, has
// released its locks in a store before the event has got them there; what is after it has waited for the decision, or for a vote that no lock follows.
// An actor that the event has locked earlier, and reaches later, does not move its place: a store that has voted may have been lost meanwhile.

// elsewhere returns what stands for the target of an event that is an actor of another store, of which this one knows the id.
func elsewhere(a *order.Attempt) string {
	class := "?"
	if m, is := a.Work.(interface{ Shape() *order.Shape }); is && m.Shape() != nil {
		class = m.Shape().Path()
	}
	return class + ":" + a.Target.ID.String()
}

// Time returns the last tick, 0 without a tracer.
func (t *Tracer) Time() int64 {
	if t == nil {
		return 0
	}
	return t.tick.Load()
}

// Heard notes a tick of another store: all that come are larger. t may be nil.
func (t *Tracer) Heard(tick int64) {
	if t == nil {
		return
	}
	for last := t.tick.Load(); last < tick && !t.tick.CompareAndSwap(last, tick); {
		last = t.tick.Load()
	}
}

// Held returns the source of a callback that this store has held for an event of another one; issuer is an actor there. nil without a tracer.
func (t *Tracer) Held(parent event.EventID, home event.StoreID, issuer event.ActorID, index int) *trace.Source {
	if t == nil {
		return nil
	}
	return &trace.Source{Origin: trace.Origin{Parent: parent, Issuer: "?:" + issuer.String(), Index: index, Elsewhere: true, Home: home}}
}

// Reached returns the tick that the thread of control carries to another store, or at the end that of the event.
func (t *Tracer) Reached(r *Record, a *order.Attempt) int64 {
	locks := a.LockedHere() + 1 // before the tick
	r.mu.Lock()
	defer r.mu.Unlock()
	if locks > r.locks {
		r.reached, r.locks = t.next(), locks
	}
	return r.reached
}

// Arrived notes the tick that the thread of control has carried here.
func (t *Tracer) Arrived(r *Record, tick int64) {
	t.Heard(tick)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reached = max(r.reached, tick)
}

// BeginPart returns the record of a part that is taken, of an attempt of another store. restored: an earlier start has run its code.
func (t *Tracer) BeginPart(a *order.Attempt, home event.StoreID, try uint64, restored bool) *Record {
	r := t.pool.Get().(*Record)
	r.ID, r.Method, r.Start = a.ID, a.Work.String(), t.next()
	r.Origin.Kind, r.Across.Home, r.Across.Try, r.Across.Restored = trace.Part, home, try, restored
	r.locks = 1 // those that the part is taken with: its home hears of their tick
	return r
}

// Decided notes what all stores have voted for. The place is what Reached has returned before they were asked: a lock that a queue has given since, and that no code waits for, does
// not move it.
func (t *Tracer) Decided(r *Record, try uint64, parts []event.StoreID) {
	r.Across.Try, r.Across.At = try, r.reached
	r.Across.Parts = append(r.Across.Parts, parts...)
}

// Vote tells that the part votes: of what it has read, and of what it has written in log, if it has. It holds its locks. Into w, if not nil, it writes
// what the next run needs, and appended gives that its place in the journal.
func (t *Tracer) Vote(r *Record, a *order.Attempt, log *undo.Log, w *row.Writer, appended func()) {
	v := &Record{Event: trace.Event{ID: r.ID, Method: r.Method, Start: r.Start, Attempt: a.Number, Across: r.Across}}
	v.Origin.Kind = trace.Vote
	for i := range r.notes {
		v.Reads = append(v.Reads, r.notes[i].Access)
	}
	if log != nil {
		each(a, log, func(h *order.Handle, dead bool) {
			if !v.wrote.Add(h) {
				return
			}
			x := t.noted(r, h)
			would := trace.Access{Actor: h.ID, Label: x.label, Version: x.version.Load() + 1, Deleted: dead}
			if !dead {
				would.State = t.hash(h)
			}
			v.Writes = append(v.Writes, would)
		})
	}
	t.rec.Prepare(&v.Event)
	t.Enter(v)
	defer t.Leave()
	if v.Batch = w != nil; v.Batch {
		t.markOrder(v, w)
	}
	t.ended(&v.Event)
	if w != nil {
		appended()
	}
}

// WroteHeld is Wrote for the actors that a part holds which an earlier start has prepared.
func (t *Tracer) WroteHeld(r *Record, a *order.Attempt, held []*order.Handle) {
	for _, h := range held {
		t.write(r, h, a.Deleting(h))
	}
}
