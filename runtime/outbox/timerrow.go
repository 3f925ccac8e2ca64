package outbox

import (
	"bytes"
	"slices"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
)

// TimerID tells a timer from all others, those of other stores included: a store gives each generation once.
type TimerID struct {
	Issuer     *order.Handle
	Generation uint64
}

// WriteTimer writes the row of a timer that event parent has set: it is to call a method of that signature of target.
func WriteTimer[C any](w *row.Writer, t *Timer[C], signature uint32, parent event.EventID, target event.ActorID, args []byte) {
	t.Row.Signature = signature
	t.Row.Call = row.AppendTimerCall(nil, &event.Timer{Parent: parent, Name: t.Name, Target: target, Every: t.Every, Args: args})
	writeTimer(w, t, t.Due, 0)
}

// ReadTimer reads the row of a timer, whose key has rest behind its section. The timer has no Issuer and no Call yet; of has what they are made of.
func ReadTimer[C any](rest, payload []byte) (t *Timer[C], of event.Timer, err error) {
	of, signature, ticks, call, err := row.ReadTimer(payload)
	if err != nil {
		return nil, of, err
	}
	t = &Timer[C]{Name: of.Name, Every: of.Every, Ticks: ticks, Row: TimerRow{Call: bytes.Clone(call), Signature: signature}}
	t.Row.Due, of.Issuer, t.Generation = row.ReadTimerKey(rest)
	t.Due = time.Unix(0, t.Row.Due)
	return t, of, nil
}

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

// DeleteNamed removes the row of the timer of a name, if it is not "": such timers cannot be named. A timer that the event
// itself has set, in this order, comes before an older one.
func (ts *Timers[C]) DeleteNamed(w *row.Writer, set []*Timer[C], issuer *order.Handle, name string) {
	if name == "" {
		return
	}
	for _, t := range slices.Backward(set) {
		if t.Issuer == issuer && t.Name == name {
			DeleteTimer(w, t)
			return
		}
	}
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

// Advance moves the row of a timer that has fired to its next tick, or removes the row of a one-shot timer, and of one that is over with this firing. The
// timer may have been cancelled since the firing began.
func (ts *Timers[C]) Advance(w *row.Writer, t *Timer[C], over bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.Row.Call == nil || t.off {
		return
	}
	DeleteTimer(w, t)
	if t.Every > 0 && !over {
		writeTimer(w, t, t.Due, t.Ticks)
	}
}
