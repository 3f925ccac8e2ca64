package exec

import (
	"context"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// commit ends an attempt whose code has run: ownership, the journal's position, what
// follows; then the locks go, and the answer waits until the journal is durable up to
// everything the event has seen.
func (ev *Event) commit() error {
	s, cx := ev.sys, &ev.root
	if err := ev.commitOwnership(); err != nil {
		ev.undo()
		if ev.traced != nil {
			s.tracer.undone(ev, err)
		}
		ev.release(true)
		return err
	}
	for _, h := range ev.born {
		h.set(created)
	}
	next := ev.settle()
	ev.release(false)
	if len(cx.ops) > 0 {
		next.start()
	}
	s.answer(ev.maxPos)
	ev.client.stats.commits.Add(1)
	return nil
}

// settle takes the event's place among all events, and leaves there what it has issued.
func (ev *Event) settle() (next follow) {
	s := ev.sys
	var meets uint64
	if len(ev.root.ops) > 0 {
		meets = ev.needed(ev.root.ops)
		s.outlets.lock(meets)
		defer s.outlets.unlock(meets)
	}
	pos := ev.append(nil)
	if ev.traced == nil {
		ev.publish(&next)
	} else {
		s.tracer.committed(ev, pos, &next)
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

// failed counts an event that has been undone and holds nothing any more, and returns
// err once the answer may leave the node: an abort, too, tells what the event has read.
func (ev *Event) failed(err error) error {
	ev.append(err)
	ev.sys.answer(ev.maxPos)
	ev.client.stats.aborts.Add(1)
	return err
}

// append gives the event its place in the journal. An abort is an outcome, too.
func (ev *Event) append(failed error) store.Position {
	s := ev.sys
	b := &ev.batch
	b.Event, b.Attempt, b.Failed = ev.id, ev.attempt, failed
	if s.records && failed == nil {
		ev.fill(b)
	}
	pos := s.journal.Append(b)
	b.Failed = nil
	ev.maxPos = max(ev.maxPos, ev.root.maxPos, pos)
	if pos == 0 || failed != nil {
		return pos
	}
	for i := range ev.root.log {
		ev.root.log[i].self.h.lastPos = pos
	}
	for _, h := range ev.fresh {
		h.lastPos = pos
	}
	for _, h := range ev.deletes {
		h.lastPos = pos
	}
	return pos
}

// fill lists what the batch has to record. A field that was written several times is
// listed once: its value is read when the batch is encoded.
func (ev *Event) fill(b *store.Batch) {
	b.Writes, b.Created, b.Deleted = b.Writes[:0], b.Created[:0], b.Deleted[:0]
	type slot struct {
		self  *Self
		field uint16
	}
	seen := make(map[slot]bool, len(ev.root.log))
	for i := range ev.root.log {
		e := &ev.root.log[i]
		k := slot{e.self, e.field}
		if seen[k] {
			continue
		}
		seen[k] = true
		b.Writes = append(b.Writes, store.FieldWrite{Actor: e.self.h.id, Object: e.self.h.obj, Field: e.field})
	}
	list := func(to []event.ActorID, hs []*Handle) []event.ActorID {
		for _, h := range hs {
			to = append(to, h.id)
		}
		return to
	}
	b.Created = list(list(b.Created, ev.fresh), ev.born)
	b.Deleted = list(b.Deleted, ev.deletes)
}

// answer is [ANSWER]: it waits until an answer that has seen position p may leave the node.
func (s *System) answer(p store.Position) {
	if !s.journal.Durable(p) {
		// Only the end of the process can stop it: the caller's wishes are ignored
		// once the commit has begun.
		_ = s.journal.Wait(context.Background(), p)
	}
}

// follow is what happens after a commit: it is ordered while the event still holds its
// locks, in program order, and started when they are gone.
type follow struct {
	ev        *Event
	index     int // of the last sub-event
	callbacks int // issued
	lanes     []*lane
	boxes     []*Client
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
			s.timers.emitted(o.timer)
			if l := s.lanes.push(s, o.issuer, f.sub(o)); l != nil {
				f.lanes = append(f.lanes, l)
			}
		case opCallback:
			if o.object.client.post(callback{o.object, o.call, o.args, o.timer, f.called(o)}) {
				f.boxes = append(f.boxes, o.object.client)
			}
		case opTimer:
			if !o.issuer.is(deleted) { // its timers have just been dropped
				s.timers.set(o, f.origin(o, trace.Timer, 0))
			}
		case opCancel:
			s.timers.cancel(o.issuer, o.name)
		case opPrint:
			s.out.add(o.name)
			f.print = true
		case opLog:
			s.log.Info(o.name, "event", f.ev.id.String(), "actor", o.issuer.String())
		}
	}
}

func (f *follow) sub(o *op) subEvent {
	f.index++
	return subEvent{id: f.ev.id.Child(f.index), target: o.target, method: o.method, args: o.args, timer: o.timer,
		from: f.origin(o, trace.Sub, f.index)}
}

// origin returns where what o issues comes from, nil in a system that is not traced.
func (f *follow) origin(o *op, kind trace.Kind, index int) *origin {
	if f.ev.traced == nil {
		return nil
	}
	return &origin{Origin: trace.Origin{Kind: kind, Parent: f.ev.id, Issuer: f.ev.sys.tracer.label(o.issuer), Index: index}}
}

// called is origin for a callback.
func (f *follow) called(o *op) *origin {
	f.callbacks++
	return f.origin(o, "", f.callbacks)
}

func (f *follow) start() {
	s := f.ev.sys
	if f.print {
		s.out.flush()
	}
	for _, l := range f.lanes {
		s.workers.run(func() { s.drain(l) })
	}
	for _, c := range f.boxes {
		s.workers.run(c.drain)
	}
	s.timers.wake()
}
