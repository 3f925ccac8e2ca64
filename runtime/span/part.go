package span

import "github.com/aeon-lang/aeon/runtime/event"

// An event over several stores is one trace: the store of each call records it. So each exports what it has run, under the ids that it would have
// if all ran in one store.

// Place is where the span of a call belongs that another store makes.
type Place struct {
	Trace  TraceID
	Parent ID     // of the span
	Child  uint64 // its number among the calls of that
	State  string // tracestate
	Async  bool   // the program does not wait for the call
}

// Elsewhere returns the place of the next call that the innermost one makes, in another store.
func (b *Branch) Elsewhere() *Place {
	e, by := b.of, b.top()
	by.calls++
	e.mu.Lock()
	e.issued = true // perhaps, by that store
	e.mu.Unlock()
	p := &Place{Trace: e.own.trace, Parent: by.id, Child: by.calls, State: e.own.state, Async: b.async}
	b.async = false
	return p
}

// AsyncElsewhere says that the next call of another store is async.
func (b *Branch) AsyncElsewhere() { b.async = true }

// ForkElsewhere returns the branch of an async call in another store, which records that.
func (b *Branch) ForkElsewhere() *Branch {
	p := b.Elsewhere()
	return &Branch{of: b.of, base: call{id: p.Parent, calls: p.Child - 1, elsewhere: true}, async: true}
}

// Beside returns another branch of the event.
func (b *Branch) Beside() *Branch { return b.of.branch() }

func (e *Event) branch() *Branch { return &Branch{of: e, base: call{id: e.own.id}} }

// Serve begins to serve a call of another store, whose span has this place, and returns what Served needs.
func (b *Branch) Serve(p *Place) (from int) {
	b.open = append(b.open, call{id: p.Parent, calls: p.Child - 1, depth: -1, elsewhere: true, async: p.Async})
	return len(b.open) - 1
}

// Served ends that, with all calls that it has not left.
func (b *Branch) Served(from int, now int64, failed bool) { b.leave(from, now, failed) }

// leave ends all calls but so many.
func (b *Branch) leave(kept int, now int64, failed bool) {
	for n := len(b.open); n > kept; n-- {
		b.of.add(&b.open[n-1], now, failed)
	}
	b.open = b.open[:kept]
}

// BeginPart begins to record what an event of another store does in this one, whose number is store.
func (t *Tracer) BeginPart(id event.EventID, p *Place, store uint64) *Event {
	e := &Event{of: t, usual: t.ids.trace(id), waits: (store + 1) << partShift}
	e.own = span{trace: p.Trace, id: t.ids.span(id), state: p.State}
	e.foreign = e.own.trace != e.usual
	e.root = *e.branch()
	return e
}

// partShift is where the number of a store begins in those of the waits of an event there.
const partShift = 32

// ExportPart exports what the event has done in this store. Its home exports the event.
func (e *Event) ExportPart() {
	if len(e.below) == 0 {
		return
	}
	if e.skipped > 0 {
		e.below[0].attributes = append(e.below[0].attributes, attribute{"aeon.spans_left_out", e.skipped})
	}
	e.of.queue.add(e.below)
}
