package activation

import (
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/span"
)

// What is recorded of an event over several stores: package history has the traces, package span the spans.

// TracePart begins to record a part, if the system is traced. restored: an earlier start has run its code.
func (r *Run) TracePart(restored bool) {
	if t, p := r.sys.Tracer, r.Wide().Part; t != nil {
		r.Traced = t.BeginPart(&r.Attempt, p.Home(), p.Name().Number, restored)
	}
}

// TraceVote tells that a part votes. w has the batch of what it has written, and appended appends that; nil: the part has only read.
func (r *Run) TraceVote(w *row.Writer, appended func()) {
	switch {
	case r.Traced != nil && w != nil:
		r.sys.Tracer.Vote(r.Traced, &r.Attempt, r.Root.UndoLog(), w, appended)
	case r.Traced != nil:
		r.sys.Tracer.Vote(r.Traced, &r.Attempt, nil, nil, nil)
	case w != nil:
		appended()
	}
}

// TraceEnd notes that the code has ended in all stores, before these are asked to vote.
func (r *Run) TraceEnd() {
	if r.Traced != nil {
		r.sys.Tracer.Reached(r.Traced, &r.Attempt)
	}
}

// TraceVerdict notes what all other stores have voted for; nil: the attempt is withdrawn.
func (r *Run) TraceVerdict(v *across.Verdict) {
	if r.Traced != nil && v != nil {
		r.sys.Tracer.Decided(r.Traced, r.Wide().Try.Name().Number, v.Stores)
	}
}

// TraceHeld notes that a part writes what it holds, which an earlier start has prepared.
func (r *Run) TraceHeld(held []*order.Handle) {
	if r.Traced != nil {
		r.sys.Tracer.WroteHeld(r.Traced, &r.Attempt, held)
	}
}

// TraceTail notes of which actor a tail call is that follows a part: it is the target of the event.
func (r *Run) TraceTail() {
	if r.IsPart() && r.Root.GoesOn() {
		r.Traced.Label = r.sys.Tracer.Label(r.Root.Ops[len(r.Root.Ops)-1].Issuer)
	}
}

// RecordPart begins to record what a part does as spans, if its event is recorded: then a call has a place in its trace.
func (r *Run) RecordPart(t *span.Tracer, p *span.Place) (e *span.Event) {
	if t != nil && p != nil {
		e = t.BeginPart(r.ID, p, uint64(r.sys.Across.ID()))
		r.Root.Record(e.Root())
	}
	return e
}
