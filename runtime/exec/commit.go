package exec

import (
	"errors"
	"sync/atomic"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// commit ends an attempt whose code has run: ownership, the place among all events, what
// follows; then the locks go, and the answer leaves. A system with a store does more.
func (ev *Event) commit() error {
	if ev.sys.durable != nil {
		return ev.commitDurable()
	}
	if err := ev.commitOwnership(); err != nil {
		ev.takeBack(err)
		return err
	}
	for _, h := range ev.Born {
		h.Set(order.Created)
	}
	next := ev.settle()
	ev.Release(false)
	if len(ev.root.ops) > 0 {
		next.start()
	}
	return nil
}

// takeBack undoes an event that cannot commit.
func (ev *Event) takeBack(err error) {
	ev.undo()
	ev.undone(err)
	ev.Release(true)
}

// settle gives the event its place among all events, and queues at that place what it has issued.
func (ev *Event) settle() (next follow) {
	s := ev.sys
	if len(ev.root.ops) > 0 {
		meets := ev.needed(ev.root.ops)
		s.stripes.Lock(meets)
		defer s.stripes.Unlock(meets)
	}
	switch {
	case ev.traced != nil:
		ev.settleTraced(&next)
	case s.durable != nil:
		ev.decide()
		ev.publish(&next)
	default:
		ev.publish(&next)
	}
	return next
}

// publish makes the event's deletions known and queues what it has issued.
func (ev *Event) publish(next *follow) {
	ev.bury()
	if len(ev.root.ops) > 0 {
		next.ev = ev
		next.add(ev.root.ops)
	}
}

// bury makes the event's deletions known. Other events check without a lock whether an actor is
// deleted, so the deletion must have its place in the journal by then.
func (ev *Event) bury() {
	s := ev.sys
	for _, h := range ev.Deletes {
		h.Set(order.Deleted)
		s.host.Forget(h)
		if h.Has(order.MarkTimed) {
			s.timers.Forget(h)
		}
	}
}

// commitOwnership applies the changes of the attempt. A cycle is a fault of the program.
func (ev *Event) commitOwnership() error {
	err := ev.ApplyChanges()
	if err == nil {
		return nil
	}
	var cycle *dominator.CycleError
	if errors.As(err, &cycle) {
		return &event.AbortError{Msg: msgCycle, Event: ev.ID, Fault: true, Cause: err}
	}
	return err
}

// undone reports an event that has been undone and still holds its locks.
func (ev *Event) undone(err error) {
	switch {
	case ev.sys.durable != nil:
		ev.abortDurable(err)
	case ev.traced != nil:
		ev.traceUndone(nil, err)
	}
}

// failed ends an event that has been undone and holds nothing any more, and returns
// err once the answer may leave the node: an abort, too, tells what the event has read.
func (ev *Event) failed(err error) error {
	if ev.sys.watch.Followed() {
		ev.tellEnded(err)
	}
	if ev.sys.durable != nil {
		err = ev.answered(err)
	}
	ev.over(&ev.client.stats.Aborts)
	return err
}

// over counts an event whose answer may leave the node. Close has waited for it until now.
func (ev *Event) over(how *atomic.Uint64) {
	ev.place.Leave(&ev.sys.workers)
	ev.traceAnswered()
	if ev.told.span != nil {
		ev.exportSpan()
	}
	how.Add(1)
}

// follow is what happens after a commit: it is ordered while the event still holds its
// locks, in program order, and started when they are gone.
type follow struct {
	ev        *Event
	index     int // of the last sub-event
	callbacks int // issued
	goIssued  int // calls of Go functions
	calls     []*goCall
	lanes     []*lane
	boxes     []*client
	print     bool
}

func (f *follow) add(ops []op) {
	s := f.ev.sys
	for i := range ops {
		o := &ops[i]
		switch o.kind {
		case opBranch:
			f.add(o.branch.cx.ops)
		case opEmit:
			s.timers.Emitted(o.timer)
			if l := s.wait(o.issuer, f.sub(o)); l != nil {
				f.lanes = append(f.lanes, l)
			}
		case opCallback:
			if to := clientOf(o.object.client); to.post(callback{o.object, o.call, o.args, o.timer, f.called(o), f.issued(), f.callbacks, f.ev.maxPos, f.ev.printed}) {
				f.boxes = append(f.boxes, to)
			}
		case opTail:
			f.tail(o)
		case opGo:
			s.live.Add(1)
			f.calls = append(f.calls, f.goCall(o))
		case opTimer:
			if !o.issuer.Is(order.Deleted) { // its timers have just been dropped
				s.setTimer(o, f.origin(o, trace.Timer, 0), f.issued())
			}
		case opCancel:
			s.timers.Cancel(o.issuer, o.name)
		case opPrint:
			if s.durable != nil {
				f.ev.printed = s.output.Add(outgoing{text: o.name}, f.ev.maxPos)
				continue
			}
			s.lines.Add(o.name)
			f.print = true
		case opLog:
			attrs := []any{"event", f.ev.ID.String(), "actor", o.issuer.String()}
			if s.durable != nil {
				f.ev.printed = s.output.Add(outgoing{text: o.name, attrs: attrs}, f.ev.maxPos)
				continue
			}
			s.log.Info(o.name, attrs...)
		}
	}
}

func (f *follow) sub(o *op) subEvent {
	f.index++
	e := subEvent{id: f.ev.ID.Child(f.index), target: o.target, method: o.method, args: o.args, timer: o.timer,
		from: f.origin(o, trace.Sub, f.index), origin: f.issued(), seq: o.seq, pos: f.ev.maxPos}
	if s := f.ev.sys; s.watch.Followed() {
		s.tellIssued(o, &e)
	}
	return e
}

// origin returns the source of what o issues, nil in a system that is not traced.
func (f *follow) origin(o *op, kind trace.Kind, index int) *trace.Source {
	return f.ev.sys.tracer.Source(kind, f.ev.ID, o.issuer, index)
}

// issued returns the event to which spans of what it issues are linked, nil if none are recorded.
func (f *follow) issued() *span.Origin {
	return f.ev.sys.cfg.Spans.Issues(f.ev.told.span, f.ev.ID)
}

// called is origin for a callback.
func (f *follow) called(o *op) *trace.Source {
	f.callbacks++
	return f.origin(o, "", f.callbacks)
}

func (f *follow) start() {
	s := f.ev.sys
	if f.print {
		s.lines.Flush()
	}
	if f.ev.printed > 0 && (f.ev.waitsForNothing() || f.ev.chain != nil) { // only its end waits for the lines of a chain
		s.output.Start()
	}
	for _, l := range f.lanes {
		s.workers.Run(func() { s.drain(l) })
	}
	for _, c := range f.calls {
		s.try(c)
	}
	for _, c := range f.boxes {
		s.workers.Run(c.drain)
	}
	s.timers.Wake()
}

// needed returns the set of stripes that ops need. The lanes of an issuer that the event holds for writing
// need none: no other event adds to them.
func (ev *Event) needed(ops []op) (set uint64) {
	for i := range ops {
		o := &ops[i]
		switch o.kind {
		case opBranch:
			set |= ev.needed(o.branch.cx.ops)
		case opEmit, opTail:
			if !o.keep && (o.issuer != ev.Target || ev.method.Self != order.Write) {
				set |= outbox.StripeOf(o.issuer.ID.Serial)
			}
			if o.timer != nil && ev.sys.durable != nil {
				set |= outbox.TimersStripe // its row moves, unless it is cancelled meanwhile
			}
		case opCallback:
			set |= outbox.StripeOf(uint64(clientOf(o.object.client).id))
		case opTimer, opCancel:
			set |= outbox.TimersStripe
		case opPrint:
			set |= outbox.OutputStripe
		}
	}
	return set
}
