package exec

import (
	"errors"
	"sync/atomic"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/activation"
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
	var next follow
	ev.settle(&next)
	ev.Release(false)
	if len(ev.Root.Ops) > 0 {
		next.start()
	}
	return nil
}

// takeBack undoes an event that cannot commit.
func (ev *Event) takeBack(err error) {
	ev.Undo()
	ev.LeaveAbove() // perhaps before any code has run
	ev.undone(err)
	ev.Release(true)
}

// settle gives the event its place among all events, and queues at that place what it has issued, which it leaves in next, a zero follow.
func (ev *Event) settle(next *follow) {
	s := ev.sys
	if len(ev.Root.Ops) > 0 {
		meets := ev.needed(ev.Root.Ops)
		s.stripes.Lock(meets)
		defer s.stripes.Unlock(meets)
	}
	switch {
	case ev.Traced != nil:
		ev.settleTraced(next)
	case s.durable != nil:
		ev.decide()
		ev.publish(next)
	default:
		ev.publish(next)
	}
}

// publish makes the event's deletions known and queues what it has issued.
func (ev *Event) publish(next *follow) {
	ev.bury()
	if len(ev.Root.Ops) > 0 {
		next.ev, next.index = ev, ev.IndexBase()
		next.add(ev.Root.Ops)
	}
}

// bury makes the event's deletions known. Other events check without a lock whether an actor is
// deleted, so the deletion must have its place in the journal by then.
func (ev *Event) bury() {
	s := ev.sys
	for _, h := range ev.Deletes {
		h.Bury()
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
		return &event.AbortError{Msg: activation.MsgCycle, Event: ev.ID, Fault: true, Cause: err}
	}
	return err
}

// undone reports an event that has been undone and still holds its locks.
func (ev *Event) undone(err error) {
	switch {
	case ev.sys.durable != nil:
		ev.abortDurable(err)
	case ev.Traced != nil:
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

// follow is what happens after a commit: it is ordered while the event still holds its locks, in program order, and started when they are gone.
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

func (f *follow) add(ops []activation.Op) {
	s := f.ev.sys
	for i := range ops {
		o := &ops[i]
		switch o.Kind {
		case activation.OpBranch:
			f.add(o.Branch.Ops())
		case activation.OpEmit:
			s.timers.Emitted(o.Timer)
			if l := s.wait(o.Issuer, f.sub(o)); l != nil {
				f.lanes = append(f.lanes, l)
			}
		case activation.OpCallback:
			over := f.ev.endsTimer(o)
			if over {
				s.timers.Drop(o.Timer)
			}
			if to := clientOf(receiver(o).client); to.abroad || over {
				f.callbacks++ // their store has them: see hold
			} else if to.post(callback{receiver(o), o.Call.(*ClientMethod), o.Args, o.Timer, f.called(o), f.issued(), f.callbacks, f.ev.maxPos, f.ev.printed, nil}) {
				f.boxes = append(f.boxes, to)
			}
		case activation.OpTail:
			f.tail(o)
		case activation.OpGo:
			s.live.Add(1)
			f.calls = append(f.calls, f.goCall(o))
		case activation.OpTimer:
			if !o.Issuer.Is(order.Deleted) { // its timers have just been dropped
				s.setTimer(o, f.origin(o, trace.Timer, 0), f.issued())
			}
		case activation.OpCancel:
			s.timers.Cancel(o.Issuer, o.Name)
		case activation.OpPrint:
			if s.durable != nil {
				f.ev.printed = s.output.Add(outgoing{text: o.Name}, f.ev.maxPos)
				continue
			}
			s.lines.Add(o.Name)
			f.print = true
		case activation.OpLog:
			attrs := []any{"event", f.ev.ID.String(), "actor", o.Issuer.String()}
			if s.durable != nil {
				f.ev.printed = s.output.Add(outgoing{text: o.Name, attrs: attrs}, f.ev.maxPos)
				continue
			}
			s.log.Info(o.Name, attrs...)
		}
	}
}

func (f *follow) sub(o *activation.Op) subEvent {
	f.index++
	e := subEvent{id: f.ev.ID.Child(f.index), target: o.Target, method: o.Method, args: o.Args, timer: o.Timer,
		from: f.origin(o, trace.Sub, f.index), origin: f.issued(), seq: o.Seq, pos: f.ev.maxPos}
	if s := f.ev.sys; s.watch.Followed() {
		s.tellIssued(o, &e)
	}
	return e
}

// origin returns the source of what o issues, nil in a system that is not traced.
func (f *follow) origin(o *activation.Op, kind trace.Kind, index int) *trace.Source {
	return f.ev.sys.tracer.Source(kind, f.ev.ID, o.Issuer, index)
}

// issued returns the event to which spans of what it issues are linked, nil if none are recorded.
func (f *follow) issued() *span.Origin {
	return f.ev.sys.cfg.Spans.Issues(f.ev.told.span, f.ev.ID)
}

// called is origin for a callback.
func (f *follow) called(o *activation.Op) *trace.Source {
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

// needed returns the set of stripes that ops need. The lanes of an issuer that the event holds for writing need none: no other event adds to them.
func (ev *Event) needed(ops []activation.Op) (set uint64) {
	for i := range ops {
		o := &ops[i]
		switch o.Kind {
		case activation.OpBranch:
			set |= ev.needed(o.Branch.Ops())
		case activation.OpEmit, activation.OpTail:
			if !o.Keep && (o.Issuer != ev.Target || ev.method.Self != order.Write) {
				set |= outbox.StripeOf(o.Issuer.ID.Serial)
			}
			if o.Timer != nil && ev.sys.durable != nil {
				set |= outbox.TimersStripe // its row moves, unless it is cancelled meanwhile
			}
		case activation.OpCallback:
			set |= outbox.StripeOf(uint64(clientOf(receiver(o).client).id))
		case activation.OpTimer, activation.OpCancel:
			set |= outbox.TimersStripe
		case activation.OpPrint, activation.OpLog:
			set |= outbox.OutputStripe
		}
	}
	return set
}
