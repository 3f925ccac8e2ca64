package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"github.com/aeon-lang/aeon/runtime/order"
	"slices"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// A commit in a system with a store. What may be refused has been encoded (prepare.go);
// now ownership changes, everything else that the event leaves goes into its batch, and the
// batch gets its place in the journal. With one participant that is the decision. Then the
// locks go; what leaves the node waits until the journal is durable.

// commitDurable is commit in a system with a store.
func (ev *Event) commitDurable() error {
	s, k := ev.sys, ev.kind()
	at("prepare", k)
	if err := ev.prepare(); err != nil {
		ev.takeBack(err)
		return err
	}
	// Rows of ownership tell of several actors, and of T: they are written by one event at
	// a time. A child that only its creator knows needs no such care.
	owning := ev.ChangesOwnership()
	if owning {
		s.durable.owning.Lock()
		ev.listOrphans()
	}
	if err := ev.commitOwnership(); err != nil {
		if owning {
			s.durable.owning.Unlock()
		}
		ev.prep.drop()
		ev.takeBack(err)
		return err
	}
	for _, h := range ev.Born {
		h.Set(order.Created)
	}
	at("owned", k)
	next := ev.settle()
	if owning {
		s.durable.owning.Unlock()
	}
	at("appended", k)
	ev.Release(false)
	at("released", k)
	if len(ev.root.ops) > 0 {
		next.start()
	}
	return ev.answered(nil)
}

// decide puts the rest into the batch and appends it. The event holds its locks, and the
// stripes of what it issues.
func (ev *Event) decide() store.Position {
	w := ev.prep
	ev.decisionRows(w)
	return ev.decided(w)
}

// decisionRows completes the batch.
func (ev *Event) decisionRows(w *preparation) {
	ev.ownershipRows(w)
	if len(ev.root.ops) > 0 {
		o := opWriter{preparation: w, ev: ev}
		o.write(ev.root.ops)
	}
	ev.sourceRow(w)
	if !goesOn(ev.root.ops) {
		ev.outcomeRow(w, nil)
	}
}

// goesOn reports whether the event is followed by another step of its chain.
func goesOn(ops []op) bool { return len(ops) > 0 && ops[len(ops)-1].kind == opTail }

// decided appends the batch, if there is anything in it.
func (ev *Event) decided(w *preparation) store.Position {
	set := w.timers
	pos := ev.appendBatch(w)
	for _, t := range set {
		t.pos = ev.maxPos
	}
	clear(set)
	w.timers = set[:0]
	if pos == 0 {
		return 0
	}
	for i := range ev.root.log {
		ev.root.log[i].self.Handle().LastPos = pos
	}
	for _, list := range [...][]*order.Handle{ev.Fresh, ev.Born, ev.Deletes} {
		for _, h := range list {
			h.LastPos = pos
		}
	}
	for _, h := range ev.Deletes {
		ev.sys.durable.actors.bury(h)
	}
	for _, list := range [...][]*order.Handle{ev.Fresh, ev.Born} {
		for _, h := range list {
			if !ev.Deleting(h) {
				ev.sys.durable.resident.add(h) // not before: until now its state was here alone
			}
		}
	}
	return pos
}

// appendBatch gives the batch its place, if there is anything in it.
func (ev *Event) appendBatch(w *preparation) (pos store.Position) {
	ev.maxPos = max(ev.maxPos, ev.root.maxPos)
	if w.batch != nil {
		w.fields.Finish()
		at("append", ev.kind())
		pos = ev.sys.durable.journal.Append(w.batch)
		w.batch = nil
		ev.maxPos = max(ev.maxPos, pos)
	}
	w.timers = nil
	w.reset()
	return pos
}

// ownershipRows writes the headers and edges that the event has made or changed.
func (ev *Event) ownershipRows(w *preparation) {
	s, d := ev.sys, ev.sys.durable
	serials := uint64(0)
	for _, h := range ev.Fresh {
		serials = max(serials, h.ID.Serial) // a reference may stay even to one that is deleted at once
		if !ev.Deleting(h) {
			d.actors.keep(h)
			w.header(h)
		}
	}
	if serials > 0 {
		d.store.ReserveIDs(serials)
	}
	for _, h := range ev.Born {
		if !ev.Deleting(h) {
			w.header(h)
		}
	}
	for _, e := range ev.Edges {
		switch {
		case ev.Deleting(e.Owner), ev.Deleting(e.Child), e.Child.Is(order.Deleted):
		case len(ev.Fresh) > 0 && s.host.ParentOf(e.Child) == e.Owner && slices.Contains(ev.Fresh, e.Child): // in its header
		default:
			w.edge(e.Owner, e.Child)
		}
	}
	for _, h := range ev.Deletes {
		if !slices.Contains(ev.Fresh, h) { // else nothing of it is stored
			ev.deletionRows(w, h)
		}
	}
	for _, o := range w.orphans {
		if s.host.ParentOf(o.child) != o.owner && !ev.Deleting(o.child) {
			w.edgeRow(o.owner, o.child, 0)
		}
	}
}

// deletionRows removes the rows of an actor that the event deletes. What hung below it, and was
// owned by it alone, may lie in the store alone and goes on naming it (attach.go). A name stays
// for ever, so that the next actor of that name has another id.
func (ev *Event) deletionRows(w *preparation, h *order.Handle) {
	b := w.open()
	w.key = appendHeaderKey(w.key[:0], h.ID)
	b.Delete(w.key)
	w.key = store.AppendSerial(store.AppendSection(w.key[:0], h.ID.Birth, store.Fields), h.ID.Serial)
	b.DeleteRange(w.key, store.After(w.key))
	if obj, ok := h.Object.(image.Stored); ok {
		w.fields.Forget(obj)
	}
	w.key = appendEdgesKey(w.key[:0], h.ID)
	b.DeleteRange(w.key, store.After(w.key))
	if h.Named != nil {
		w.name(h, true)
	}
	if h.Has(order.MarkTimed) {
		ev.sys.timers.forgetRows(w, h)
	}
}

// listOrphans notes what the actors that the event deletes own.
func (ev *Event) listOrphans() {
	s, w := ev.sys, ev.prep
	for _, h := range ev.Deletes {
		if h.Is(order.Fresh) {
			continue
		}
		for _, n := range s.host.Graph.Owned(nil, &h.Node) {
			w.orphans = append(w.orphans, orphan{h, s.host.HandleOf(n)})
		}
	}
}

// sourceRow removes the row that the event comes from: with the batch, that has happened.
func (ev *Event) sourceRow(w *preparation) {
	if ev.outSeq == 0 {
		return
	}
	if ev.issuer != nil {
		w.key = appendOutboxKey(w.key[:0], ev.issuer.ID, ev.Target.ID, ev.outSeq)
	} else {
		w.key = appendContinuationKey(w.key[:0], ev.Target.ID, ev.outSeq)
	}
	w.open().Delete(w.key)
}

// requested returns the request that the event, or the chain that it is a step of, is for; nil if there is none.
func (ev *Event) requested() *request {
	if ev.request == nil && ev.chain != nil {
		return ev.chain.request
	}
	return ev.request
}

// outcomeRow writes the outcome of the request that the event, or the chain which it ends, is
// for.
func (ev *Event) outcomeRow(w *preparation, err error) {
	if r := ev.requested(); r != nil {
		r.outcome(w, ev.method, err)
	}
}

// abortDurable stores the outcome of an event that has been undone, where that counts: an
// abort of a sub-event ends it as a commit does, and so does that of a request of a session.
func (ev *Event) abortDurable(err error) {
	w, k := ev.preparation(), ev.kind()
	at("abort", k)
	ev.sourceRow(w)
	ev.outcomeRow(w, err)
	if ev.traced != nil {
		ev.sys.tracer.undoneDurable(ev, err)
	} else {
		ev.appendBatch(w)
	}
	at("aborted", k)
}

// takeCredit waits for a part of the store's budget, for an event of a client. One that is cancelled meanwhile
// goes on without, to its end at its entry.
func (ev *Event) takeCredit() error {
	if ev.client == ev.sys.inner {
		return nil
	}
	switch err := ev.sys.durable.store.Credit(ev.Context()); {
	case err == nil:
		ev.credit = true
	case !errors.Is(err, context.Canceled):
		return &UnknownError{Event: ev.ID, Cause: err}
	}
	return nil
}

// giveCredit gives it back; what is appended counts by its size from then on.
func (ev *Event) giveCredit() {
	if ev.credit {
		ev.credit = false
		ev.sys.durable.store.Return()
	}
}

// answered is [ANSWER]: it returns err when an answer that has seen what the event has may
// leave the node. What goes on inside of it does not wait.
func (ev *Event) answered(err error) error {
	d, k := ev.sys.durable, ev.kind()
	ev.giveCredit()
	ev.turn.leave(ev.sys) // the next of the line is ordered behind the event, and need not wait for the disk
	if ev.client == ev.sys.inner || ev.chain != nil && err == nil {
		return err // of a chain, the end is answered
	}
	at("wait", k)
	if ev.request != nil || d.answersWait || ev.traced != nil || d.store.Overdue() {
		if lost := d.wait(ev.maxPos); lost != nil {
			return &UnknownError{Event: ev.ID, Cause: lost}
		}
	}
	if !ev.waitsForNothing() {
		ev.sys.egress.flush(ev.printed)
	}
	at("answer", k)
	return err
}

// waitsForNothing reports whether the event answers no client, or none that waits.
func (ev *Event) waitsForNothing() bool {
	return ev.client == ev.sys.inner || ev.request == nil && !ev.sys.durable.answersWait
}

// UnknownError is the failure of an event whose outcome is unknown, because the store has
// failed before it was durable: the process is ending. It may be there when the program
// runs again, or not.
type UnknownError struct {
	Event event.EventID
	Cause error
}

// Error implements error.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("the outcome of the event is unknown: %v", e.Cause)
}

// AbortMessage returns the message that a client's catch gets.
func (e *UnknownError) AbortMessage() string { return e.Error() }

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Cause }

// wait waits until everything up to p is durable. Only a failure of the store stops it:
// the caller's wishes are ignored once the commit has begun.
func (d *durable) wait(p store.Position) error {
	if p == 0 || d.journal.Durable(p) {
		return nil
	}
	return d.journal.Wait(context.Background(), p)
}

// opWriter writes the rows of what an event issues, in program order.
type opWriter struct {
	*preparation
	ev    *Event
	index int
}

func (w *opWriter) write(ops []op) {
	for i := range ops {
		o := &ops[i]
		switch o.kind {
		case opBranch:
			w.write(o.branch.cx.ops)
		case opEmit, opTail:
			w.index++
			w.emit(o)
		case opTimer:
			if !w.ev.Deleting(o.issuer) {
				w.setTimer(o)
			}
		case opCancel:
			w.cancel(o.issuer, o.name)
		case opCallback:
			if o.timer != nil {
				w.fired(o.timer)
			}
		}
	}
}

// emit writes a sub-event into the outbox. One that a timer has fired takes the place of
// that timer, or of its tick. As with every call that waits, the row begins with the number of the signature,
// for a caller that only counts.
func (w *opWriter) emit(o *op) {
	o.seq = w.d.nextSeq()
	w.begin()
	w.row = binary.AppendUvarint(w.row, uint64(w.d.signatures.number(o.method)))
	w.row = appendEvent(w.row, w.ev.ID)
	w.row = binary.AppendUvarint(w.row, uint64(w.index))
	generation := uint64(0)
	if o.timer != nil && o.timer.every > 0 {
		generation = o.timer.generation
	}
	w.row = binary.AppendUvarint(w.row, generation)
	w.row = appendBool(w.row, o.kind == opTail)
	if o.kind == opTail {
		w.chain()
	}
	w.row = append(w.row, w.encoded(o)...)
	if o.keep {
		w.key = appendContinuationKey(w.key[:0], o.target.ID, o.seq)
	} else {
		w.key = appendOutboxKey(w.key[:0], o.issuer.ID, o.target.ID, o.seq)
	}
	w.set()
	if o.timer != nil {
		w.fired(o.timer)
	}
}

// chain appends what the next step has to know of its chain.
func (w *opWriter) chain() {
	first, r := w.ev.ID, w.ev.request
	if ch := w.ev.chain; ch != nil {
		first, r = ch.first, ch.request
	}
	w.row = appendEvent(w.row, first)
	w.row = appendBool(w.row, r != nil)
	if r != nil {
		w.row = appendText(w.row, r.session.name)
		w.row = binary.AppendUvarint(w.row, r.seq)
		w.row = appendActor(w.row, r.target)
	}
}

// encoded returns the arguments of a call, which are the rest of its row.
func (w *opWriter) encoded(o *op) []byte { return w.args[o.encoded[0]:o.encoded[1]] }

// setTimer writes a timer and removes the one of that name.
func (w *opWriter) setTimer(o *op) {
	if o.name != "" {
		w.cancel(o.issuer, o.name)
	}
	s := w.d.sys
	t := &timer{issuer: o.issuer, name: o.name, target: o.target, method: o.method, object: o.object, call: o.call,
		args: o.args, every: o.every, generation: w.d.nextSeq(), due: sched.After(s.clock.Now(), o.delay)}
	o.made = t
	w.timers = append(w.timers, t)
	if o.object != nil {
		return // of a client of this process
	}
	t.signature, t.payload = w.d.signatures.number(o.method), w.timerPayload(t, o)
	w.timerRow(t, t.due, 0)
}

// timerPayload returns what does not change in the row of a timer, apart from the signature, which stands
// before what does.
func (w *opWriter) timerPayload(t *timer, o *op) []byte {
	b := appendEvent(nil, w.ev.ID)
	b = appendActor(b, t.issuer.ID)
	b = appendText(b, t.name)
	b = appendActor(b, t.target.ID)
	b = binary.AppendVarint(b, int64(t.every))
	return append(b, w.encoded(o)...)
}

// timerRow writes the row of a timer that is due then next, after so many ticks.
func (w *preparation) timerRow(t *timer, due time.Time, ticks uint64) {
	t.stored = due.UnixNano()
	w.key = appendTimerKey(w.key[:0], t.issuer.ID, t.stored, t.generation)
	w.begin()
	w.row = binary.AppendUvarint(w.row, uint64(t.signature))
	w.row = binary.AppendUvarint(w.row, ticks)
	w.row = append(w.row, t.payload...)
	w.set()
}

// unset removes the row of a timer.
func (w *preparation) unset(t *timer) {
	if t.payload == nil {
		return
	}
	w.key = appendTimerKey(w.key[:0], t.issuer.ID, t.stored, t.generation)
	w.open().Delete(w.key)
}

// cancel removes the row of the timer of that name: what this event has set counts first.
func (w *opWriter) cancel(issuer *order.Handle, name string) {
	if name == "" {
		return // such timers cannot be named
	}
	for i := len(w.timers) - 1; i >= 0; i-- {
		if t := w.timers[i]; t.issuer == issuer && t.name == name {
			w.unset(t)
			return
		}
	}
	ts := &w.d.sys.timers
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.mu.named[timerKey{issuer, name}]; t != nil {
		w.unset(t)
	}
}

// fired moves the row of a timer to its next tick, or removes it after the only one. The
// timer may have been cancelled since the firing has begun.
func (w *opWriter) fired(t *timer) {
	ts := &w.d.sys.timers
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.payload == nil || t.off {
		return
	}
	w.unset(t)
	if t.every > 0 {
		w.timerRow(t, t.due, t.tick)
	}
}

// ErrClass is wrapped by the error for rows that this program has no class for.
var ErrClass = errors.New("the program has no such class")
