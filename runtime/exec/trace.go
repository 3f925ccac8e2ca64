package exec

import (
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// A traced event does what any event does, and tells package history of it. All that happens at its place in the order of
// all events is done between Enter and Leave of the tracer: here, and nowhere else.

// beginTrace gives an event of a traced system its record.
func (ev *Event) beginTrace() {
	ev.traced = ev.sys.tracer.Begin(&ev.Attempt, ev.from, ev.client.itself().id)
}

// traceRead notes that the event has reached h, if it is traced.
func (ev *Event) traceRead(h *order.Handle) {
	if ev.traced != nil {
		ev.sys.tracer.Read(ev.traced, h)
	}
}

// settleTraced is the rest of settle for a traced event: its batch gets its place in the journal, and what it has issued is queued.
func (ev *Event) settleTraced(next *follow) {
	t, r, d := ev.sys.tracer, ev.traced, ev.sys.durable
	t.Wrote(r, &ev.Attempt, &ev.root.log)
	if d != nil {
		ev.decisionRows(ev.prep)
	}
	t.Complete(r, &ev.Attempt, nil)
	t.Enter(r)
	defer t.Leave()
	if d == nil {
		ev.publish(next) // makes the timers that are noted as issued
		ev.noteIssued(ev.root.ops)
		t.Ended(r, nil)
		return
	}
	ev.noteIssued(ev.root.ops)
	t.Ended(r, ev.prep.rows())
	ev.decided(ev.prep)
	ev.publish(next)
}

// traceUndone tells of an event that has been undone and still holds its locks. In a system with a store w has
// the batch of the event.
func (ev *Event) traceUndone(w *row.Writer, err error) {
	t, r := ev.sys.tracer, ev.traced
	t.Complete(r, &ev.Attempt, err)
	t.Enter(r)
	defer t.Leave()
	t.Ended(r, w)
	if w != nil {
		ev.appendBatch(ev.prep)
	}
}

// noteIssued notes what the event issues by its commit, in program order. Timers have been made.
func (ev *Event) noteIssued(ops []op) {
	t, r := ev.sys.tracer, ev.traced
	for i := range ops {
		switch o := &ops[i]; o.kind {
		case opBranch:
			ev.noteIssued(o.branch.cx.ops)
		case opEmit:
			r.Subs++
		case opTail:
			r.Subs++
			r.Keeps = o.keep
		case opCallback:
			r.Callbacks = append(r.Callbacks, clientOf(o.object.client).id)
		case opTimer:
			if o.made != nil { // else its issuer is deleted
				r.Timers = append(r.Timers, trace.TimerOp{Issuer: t.Label(o.issuer), Name: o.name, Generation: o.made.Generation, Every: o.every > 0})
			}
		case opCancel:
			r.Timers = append(r.Timers, trace.TimerOp{Issuer: t.Label(o.issuer), Name: o.name})
		}
	}
}

// traceAnswered is called when the answer of the event is about to leave.
func (ev *Event) traceAnswered() {
	if ev.traced != nil {
		ev.sys.tracer.Answered(ev.traced, ev.maxPos)
		ev.traced = nil
	}
}

// Recovered returns the order of the last event of earlier runs that has left something
// in the store, 0 if none was traced.
func (s *System) Recovered() int64 { return s.tracer.Recovered() }
