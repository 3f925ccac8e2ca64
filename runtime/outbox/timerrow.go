package outbox

import (
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
)

// TimerRow is what a timer keeps of its row. A callback of a client of this process has no row.
type TimerRow struct {
	Call      []byte // the part that does not change; nil if there is no row
	Signature uint32 // number of the signature of its call
	Due       int64  // the due time in its key; guarded by the stripe of timers
}

// WriteTimer writes the row of a timer.
func WriteTimer[C any](w *row.Writer, t *Timer[C]) { writeTimer(w, t, t.Due, 0) }

// writeTimer writes the row of a timer that is due at a time, after some ticks.
func writeTimer[C any](w *row.Writer, t *Timer[C], due time.Time, ticks uint64) {
	t.Row.Due = due.UnixNano()
	w.Key = row.AppendTimerKey(w.Key[:0], t.Issuer.ID, t.Row.Due, t.Generation)
	w.Begin()
	w.Row = row.AppendTimer(w.Row, t.Row.Signature, ticks, t.Row.Call)
	w.Set()
}

// DeleteTimer removes the row of a timer, if it has one.
func DeleteTimer[C any](w *row.Writer, t *Timer[C]) {
	if t.Row.Call == nil {
		return
	}
	w.Key = row.AppendTimerKey(w.Key[:0], t.Issuer.ID, t.Row.Due, t.Generation)
	w.Delete()
}

// DeleteNamed removes the row of the timer of a name.
func (ts *Timers[C]) DeleteNamed(w *row.Writer, issuer *order.Handle, name string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.mu.named[timerKey{issuer, name}]; t != nil {
		DeleteTimer(w, t)
	}
}

// DeleteOf removes the rows of the timers of an actor that an event deletes.
func (ts *Timers[C]) DeleteOf(w *row.Writer, issuer *order.Handle) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for t := ts.mu.first[issuer]; t != nil; t = t.next {
		DeleteTimer(w, t)
	}
}

// Advance moves the row of a timer that has fired to its next tick, or removes the row of a one-shot timer. The
// timer may have been cancelled since the firing began.
func (ts *Timers[C]) Advance(w *row.Writer, t *Timer[C]) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.Row.Call == nil || t.off {
		return
	}
	DeleteTimer(w, t)
	if t.Every > 0 {
		writeTimer(w, t, t.Due, t.Ticks)
	}
}
