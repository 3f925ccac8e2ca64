package outbox

import (
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
)

// WriteSubEvent writes the row of a sub-event, of a step of a chain on another actor, or of a call of a Go function. seq
// orders those of one issuer and one target.
func WriteSubEvent(w *row.Writer, issuer, target event.ActorID, seq uint64, e *event.SubEvent) {
	w.Begin()
	w.Row = row.AppendSubEvent(w.Row, e)
	w.Key = row.AppendOutboxKey(w.Key[:0], issuer, target, seq)
	w.Set()
}

// DeleteSubEvent removes that row.
func DeleteSubEvent(w *row.Writer, issuer, target event.ActorID, seq uint64) {
	w.Key = row.AppendOutboxKey(w.Key[:0], issuer, target, seq)
	w.Delete()
}

// WriteContinuation writes the row of the next step of a chain that keeps its actor.
func WriteContinuation(w *row.Writer, target event.ActorID, seq uint64, e *event.SubEvent) {
	w.Begin()
	w.Row = row.AppendSubEvent(w.Row, e)
	w.Key = row.AppendContinuationKey(w.Key[:0], target, seq)
	w.Set()
}

// DeleteContinuation removes that row.
func DeleteContinuation(w *row.Writer, target event.ActorID, seq uint64) {
	w.Key = row.AppendContinuationKey(w.Key[:0], target, seq)
	w.Delete()
}
