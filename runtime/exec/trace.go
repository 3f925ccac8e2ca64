package exec

import (
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// A traced event does what any event does, and tells package history of it. All that happens at its place in the order of
// all events is done between Enter and Leave of the tracer: here, and nowhere else.

// beginTrace gives an event of a traced system its record.
func (ev *Event) beginTrace() {
	ev.Traced = ev.sys.tracer.Begin(&ev.Attempt, ev.from, ev.client.itself().id)
}

// settleTraced is the rest of settle for a traced event: its batch gets its place in the journal, and what it has issued is queued.
func (ev *Event) settleTraced(next *follow) {
	t, r, d := ev.sys.tracer, ev.Traced, ev.sys.durable
	t.Wrote(r, &ev.Attempt, ev.Root.UndoLog())
	if d != nil {
		ev.decisionRows(ev.prep)
	}
	ev.TraceTail()
	t.Complete(r, &ev.Attempt, nil)
	t.Enter(r)
	defer t.Leave()
	if d == nil {
		ev.publish(next) // makes the timers that are noted as issued
		ev.noteIssued(ev.Root.Ops)
		t.Ended(r, nil)
		return
	}
	ev.noteIssued(ev.Root.Ops)
	t.Ended(r, ev.prep.rows())
	ev.decided(ev.prep)
	ev.publish(next)
}

// traceUndone tells of an event that has been undone and still holds its locks. In a system with a store w has
// the batch of the event.
func (ev *Event) traceUndone(w *row.Writer, err error) {
	t, r := ev.sys.tracer, ev.Traced
	t.Complete(r, &ev.Attempt, err)
	t.Enter(r)
	defer t.Leave()
	t.Ended(r, w)
	if w != nil {
		ev.appendBatch(ev.prep)
	}
}

// noteIssued notes what the event issues by its commit, in program order. Timers have been made.
func (ev *Event) noteIssued(ops []activation.Op) {
	t, r := ev.sys.tracer, ev.Traced
	for i := range ops {
		switch o := &ops[i]; o.Kind {
		case activation.OpBranch:
			ev.noteIssued(o.Branch.Ops())
		case activation.OpEmit:
			r.Subs++
		case activation.OpTail:
			r.Subs++
			r.Keeps = o.Keep
		case activation.OpCallback:
			r.Callbacks = append(r.Callbacks, clientOf(receiver(o).client).id)
		case activation.OpTimer:
			if o.Made != nil { // else its issuer is deleted
				r.Timers = append(r.Timers, trace.TimerOp{Issuer: t.Label(o.Issuer), Name: o.Name, Generation: o.Made.Generation, Every: o.Every > 0})
			}
		case activation.OpCancel:
			r.Timers = append(r.Timers, trace.TimerOp{Issuer: t.Label(o.Issuer), Name: o.Name})
		}
	}
}

// traceAnswered is called when the answer of the event is about to leave.
func (ev *Event) traceAnswered() {
	if ev.Traced != nil {
		ev.sys.tracer.Answered(ev.Traced, ev.maxPos)
		ev.Traced = nil
	}
}

// Recovered returns the order of the last event of earlier runs that has left something
// in the store, 0 if none was traced.
func (s *System) Recovered() int64 { return s.tracer.Recovered() }
