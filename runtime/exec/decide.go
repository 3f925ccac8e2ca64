package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/store"
)

// A commit in a system with a store. What may be refused has been encoded (preparation.go); now ownership changes, everything else that the
// event leaves goes into its batch, and the batch gets its place in the journal. With one participant that is the decision. Then the locks
// go; what leaves the node waits until the journal is durable.

// commitDurable is commit in a system with a store.
func (ev *Event) commitDurable() error {
	k := ev.kind()
	at("prepare", k)
	if err := ev.prepare(); err != nil {
		return ev.abort(err)
	}
	if !ev.hold() || ev.Wide() != nil && ev.vote(ev.writes(), across.Changes) == nil {
		ev.let(false)
		ev.prep.drop()
		ev.Undo()
		return errWithdrawn
	}
	next, err := ev.commitPrepared(k)
	ev.let(err == nil)
	if err != nil {
		return err
	}
	at("appended", k)
	ev.Release(false)
	at("released", k)
	if ev.tailed() {
		ev.waitForChain()
	}
	if ev.Wide() != nil {
		ev.leaveWide(ev.awaits(nil))
	}
	if len(ev.Root.Ops) > 0 {
		next.start()
	}
	return ev.answered(nil)
}

// commitPrepared gives a prepared event its place in the journal. It still holds its locks.
func (ev *Event) commitPrepared(kind string) (next follow, err error) {
	s := ev.sys
	// Rows of ownership tell of several actors, and of T: one event at a time writes them. A child that only its creator knows needs no such care.
	owning := ev.ChangesOwnership()
	if owning {
		s.durable.Ownership().Lock()
		ev.prep.ListOrphans(&ev.Attempt)
	}
	if err := ev.commitOwnership(); err != nil {
		if owning {
			s.durable.Ownership().Unlock()
		}
		// Invariant: what other stores have voted for commits.
		assert.That(ev.Wide() == nil, "exec: event %v has all votes, and cannot commit: %v", ev.ID, err)
		ev.prep.drop()
		ev.takeBack(err)
		return next, err
	}
	for _, h := range ev.Born {
		h.Set(order.Created)
	}
	at("owned", kind)
	ev.settle(&next)
	if owning {
		s.durable.Ownership().Unlock()
	}
	return next, nil
}

// decide puts the rest into the batch and appends it. The event holds its locks, and the stripes of what it issues.
func (ev *Event) decide() {
	ev.decisionRows(ev.prep)
	ev.decided(ev.prep)
}

// decisionRows completes the batch.
func (ev *Event) decisionRows(w *preparation) {
	w.Ownership(&ev.Attempt)
	for _, h := range ev.Deletes {
		if h.Has(order.MarkTimed) && !slices.Contains(ev.Fresh, h) { // else nothing of it is stored
			ev.sys.timers.DeleteOf(w.rows(), h)
		}
	}
	if len(ev.Root.Ops) > 0 {
		o := opWriter{preparation: w, ev: ev, index: ev.IndexBase()}
		o.write(ev.Root.Ops)
	}
	ev.sourceRow(w)
	if !ev.Root.GoesOn() && !ev.tailed() {
		ev.outcomeRow(w, nil)
	}
	if ev.Wide() != nil {
		ev.wideRow(w.rows())
	}
}

// decided appends the batch, if there is anything in it.
func (ev *Event) decided(w *preparation) {
	set := w.timers
	pos := ev.appendBatch(w)
	for _, t := range set {
		t.Call.Pos = ev.maxPos
	}
	clear(set)
	w.timers = set[:0]
	if pos == 0 {
		return
	}
	entries := ev.Root.UndoLog().Entries()
	for i := range entries {
		order.HandleOf(entries[i].Self().Ref()).Stored(pos)
	}
	ev.sys.durable.Appended(&ev.Attempt, pos)
}

// appendBatch gives the batch its place, if there is anything in it.
func (ev *Event) appendBatch(w *preparation) (pos store.Position) {
	ev.maxPos = max(ev.maxPos, ev.Root.MaxPos)
	if b := w.Take(); b != nil {
		at("append", ev.kind())
		pos = ev.sys.durable.Journal.Append(b)
		// Invariant: a batch is behind all that its event has seen.
		assert.That(pos > ev.maxPos, "exec: a batch has its place before what its event has seen")
		ev.maxPos, ev.wrote = pos, true
	}
	w.timers = nil
	w.reset()
	return pos
}

// sourceRow removes the row that the event comes from: once the batch has its place, the event has happened.
func (ev *Event) sourceRow(w *preparation) {
	if ev.outSeq == 0 {
		return
	}
	if ev.issuer != nil {
		outbox.DeleteSubEvent(w.rows(), ev.issuer.ID, ev.Target.ID, ev.outSeq)
	} else {
		outbox.DeleteContinuation(w.rows(), ev.Target.ID, ev.outSeq)
	}
}

// outcomeRow writes the outcome of the request that the event, or the chain which it ends, is for.
func (ev *Event) outcomeRow(w *preparation, err error) {
	if ev.chain == nil && errors.Is(err, order.ErrCancelled) {
		return // nothing has happened, so the request may come again
	}
	if ev.isAwaited() {
		w.writeOutcome(ev, err)
	}
}

// abortDurable stores the outcome of an event that has been undone, where that counts: an
// abort of a sub-event ends it as a commit does, and so does that of a request of a session.
func (ev *Event) abortDurable(err error) {
	w, k := ev.preparation(), ev.kind()
	at("abort", k)
	ev.sourceRow(w)
	ev.outcomeRow(w, err)
	var letter *event.DeadLetter
	if ev.isDead() {
		letter = ev.letter(err)
		ev.sys.durable.dead.Write(w.rows(), letter)
	}
	if ev.Traced != nil {
		ev.traceUndone(w.rows(), err)
	} else {
		ev.appendBatch(w)
	}
	if letter != nil {
		ev.sys.durable.dead.Written(letter)
	}
	at("aborted", k)
}

// takeCredit waits for a part of the store's budget, for an event of a client. An event that is cancelled meanwhile
// goes on without it, and ends at its entry. If the store has failed the event has not begun, and its caller learns that it has not happened.
func (ev *Event) takeCredit() error {
	if ev.client == ev.sys.inner {
		return nil
	}
	switch err := ev.sys.durable.Store.Credit(ev.Context()); {
	case err == nil:
		ev.credit = true
	case !errors.Is(err, context.Canceled):
		return event.NotBegun(err)
	}
	return nil
}

// giveCredit gives that part back. What was appended counts by its size from then on.
func (ev *Event) giveCredit() {
	if ev.credit {
		ev.credit = false
		ev.sys.durable.Store.Return()
	}
}

// answered is [ANSWER]: it returns err when an answer that depends on what the event has seen may
// leave the node. What stays inside the node does not wait.
func (ev *Event) answered(err error) error {
	k := ev.kind()
	ev.giveCredit()
	ev.place.Leave(&ev.sys.workers) // the next of the line is ordered behind the event, and need not wait for the disk
	if ev.client == ev.sys.inner || ev.chain != nil && err == nil {
		// Invariant: other stores are told of a decision by what waits until it is durable.
		assert.That(ev.tells == nil, "exec: an event has other stores told of its decision, and does not wait for it")
		return err // a chain is answered at its end
	}
	at("wait", k)
	if ev.tells != nil || ev.awaits(err) {
		if lost := ev.awaitDurable(); lost != nil {
			ev.sys.output.Flush(ev.printed) // drops its lines, which nothing else lets out, and for which Close waits
			return &event.UnknownError{Event: ev.ID, Cause: lost}
		}
	}
	if ev.tells != nil {
		ev.tells()
	}
	if !ev.waitsForNothing() {
		ev.sys.output.Flush(ev.printed)
	}
	at("answer", k)
	return err
}

// awaits reports whether the answer to a client waits until what the event has seen is durable; that of a chain comes at its end.
func (ev *Event) awaits(err error) bool {
	d := ev.sys.durable
	return ev.client != ev.sys.inner && (ev.chain == nil || err != nil) && (ev.request != nil || d.answersWait || ev.Traced != nil || d.Store.Overdue())
}

// waitsForNothing reports whether the event answers no client, or none that waits.
func (ev *Event) waitsForNothing() bool {
	return ev.client == ev.sys.inner || ev.request == nil && !ev.sys.durable.answersWait
}

// opWriter writes the rows of what an event issues, in program order.
type opWriter struct {
	*preparation
	ev       *Event
	index    int
	goIssued int
}

func (w *opWriter) write(ops []activation.Op) {
	for i := range ops {
		o := &ops[i]
		switch o.Kind {
		case activation.OpBranch:
			w.write(o.Branch.Ops())
		case activation.OpEmit, activation.OpTail:
			w.index++
			w.emit(o, w.index)
		case activation.OpGo:
			w.goIssued++
			w.emit(o, w.ev.IndexBase()+goCallIndex+w.goIssued)
		case activation.OpTimer:
			if !w.ev.Deleting(o.Issuer) {
				w.setTimer(o)
			}
		case activation.OpCancel:
			w.cancel(o.Issuer, o.Name)
		case activation.OpCallback:
			if o.Timer != nil {
				w.advance(o.Timer, w.ev.endsTimer(o))
			}
		}
	}
}

// emit writes a sub-event into the outbox. One that a timer has fired takes the place of
// that timer, or of its tick. As with every call that waits, the row begins with the number of the signature, so that
// calls can be counted without being read.
func (w *opWriter) emit(o *activation.Op, index int) {
	o.Seq = w.d.nextSeq()
	e := event.SubEvent{Signature: w.d.signatures.Number(o.Method), Parent: w.ev.ID, Index: index, Args: w.encoded(o)}
	if o.Timer != nil && o.Timer.Every > 0 {
		e.Timer = o.Timer.Generation
	}
	if o.Kind == activation.OpTail {
		e.Step, e.Chain = true, w.ev.chainOf()
		if c := &e.Chain; c.Waits == event.ClientWaits && c.Store == w.ev.sys.cfg.Across.Store {
			c.Waits = event.NoWaiter // the client ends with this process
		}
		if r := w.ev.requested(); r != nil {
			e.Request = &r.Request
		}
	}
	if o.Keep {
		outbox.WriteContinuation(w.rows(), o.Target.ID, o.Seq, &e)
	} else {
		outbox.WriteSubEvent(w.rows(), o.Issuer.ID, o.Target.ID, o.Seq, &e)
	}
	if o.Timer != nil {
		w.advance(o.Timer, false)
	}
}

// encoded returns the arguments of a call, which are the rest of its row.
func (w *opWriter) encoded(o *activation.Op) []byte { return w.args[o.Encoded[0]:o.Encoded[1]] }

// setTimer writes a timer and removes the older one of its name.
func (w *opWriter) setTimer(o *activation.Op) {
	w.cancel(o.Issuer, o.Name)
	t := o.NewTimer(w.ev.CommittedAt(w.d.sys.clock.Now()))
	t.Generation = w.d.nextSeq()
	o.Made = t
	w.timers = append(w.timers, t)
	if o.IsStored() {
		signature, target := o.Callee(w.d.signatures.Number)
		outbox.WriteTimer(w.rows(), t, signature, w.ev.ID, target, w.encoded(o))
	}
}

// cancel removes the row of the timer of that name. A timer that this event has set comes before an older one.
func (w *opWriter) cancel(issuer *order.Handle, name string) {
	w.d.sys.timers.DeleteNamed(w.rows(), w.timers, issuer, name)
}

// advance moves the row of a timer that has fired.
func (w *opWriter) advance(t *timer, over bool) { w.d.sys.timers.Advance(w.rows(), t, over) }
