package exec

import (
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// A tail call ends an event, and the call takes its place ([TAIL]): the two are steps of a chain.
// Each step is an event by itself. The next step is an op of the step that commits, as a
// sub-event is: it exists if and only if that step has committed. A step on another actor waits its
// turn in the lane of the two actors, behind what the step before it has issued.
//
// A step on the same actor waits for no event: until it has ended, no other event touches the
// actor ([KEEP]). The lock is given back like any other, so that the step enters as every event does,
// wherever its footprint lies. An event that then finds the actor kept ends its attempt ([KEPT]), and holds
// nothing while it waits. So this adds no way to wait in a circle among locks. The checker sees to it that
// chains do not wait for each other (AE0224).

// tailStep is a step that follows another.
type tailStep struct {
	id     event.EventID
	target *order.Handle
	method *Method // nil: there is none
	args   order.Args
	keep   bool  // target is the actor of the step before
	lane   *lane // that holds nothing but the step, and is its chain's to drain; nil for others
	from   *trace.Source
	origin *span.Origin
	seq    uint64 // of its row, in a system with a store
	pos    store.Position
}

// chain is an event and the steps that follow it. One goroutine at a time uses it: the one that performs
// its step.
type chain struct {
	sys   *System
	is    event.Chain // as all stores know it
	first *Method     // nil where an earlier start, or another store, has begun it
	args  order.Args  // of the first step: they take the result
	keeps *order.Keep

	cancel  *order.Cancellation // of the event that began it
	ended   chan struct{}       // closed at the end; nil if no client has begun the chain
	err     error               // valid then
	pos     store.Position      // what the answer has seen; valid then
	printed uint64              // the number of the last line of a step in the output
	// request is that of a durable session which began the chain, perhaps in an earlier run.
	request *request
	orphan  bool // an earlier run began it: only repetitions of the request wait
}

// stepOf makes the event a step of ch, which may be nil.
func (ev *Event) stepOf(ch *chain) {
	if ch != nil {
		ev.chain, ev.Cancellation, ev.Keeps = ch, ch.cancel, ch.keeps
	}
}

// tail queues the next step of the event's chain, or keeps the actor for it.
func (f *follow) tail(o *activation.Op) {
	ev := f.ev
	s := ev.sys
	ev.beginChain()
	ev.chain.printed = max(ev.chain.printed, ev.printed)
	e := f.sub(o)
	e.chain, e.from = ev.chain, f.origin(o, trace.Tail, f.index)
	ev.next = tailStep{id: e.id, target: e.target, method: e.method, args: e.args, keep: o.Keep, from: e.from, origin: e.origin,
		seq: o.Seq, pos: ev.maxPos}
	if o.Keep {
		ev.chain.keep(o.Target)
		return
	}
	ev.chain.leave() // the goroutine that drains the lane may perform the step at once
	ev.next.lane = s.wait(o.Issuer, e)
}

// beginChain makes the event the first step of a chain, or of what this store has of one, unless it is a step already.
func (ev *Event) beginChain() {
	if ev.chain != nil {
		return
	}
	ev.chain = &chain{sys: ev.sys, is: ev.chainOf(), first: ev.method, args: ev.Args, cancel: ev.Cancellation, request: ev.request}
	if c := ev.Cancellation; c != nil && c.First {
		ev.chain.cancel = nil
	}
	if ev.Bounded {
		ev.chain.ended = make(chan struct{})
	}
	ev.chain.join()
	ev.sys.live.Add(1)
}

// join has the steps of the chain in this store cancelled by the store of its client, until gone.
func (ch *chain) join() {
	if ch.isOwed() {
		ch.cancel = ch.sys.across.JoinChain(ch.is.First)
	}
}

// gone says that the chain is over in this store, or goes on in another one.
func (ch *chain) gone() {
	if ch.isOwed() {
		ch.sys.across.LeaveChain(ch.is.First)
	}
	ch.sys.live.Add(-1)
}

// isOwed reports whether the end of the chain is owed to the store that has begun it.
func (ch *chain) isOwed() bool { return ch.is.Waits != event.NoWaiter && !ch.isWaitedFor() }

// seeThrough goes on with the chain that ev, a client's event, has begun, gives ev back, and returns
// how the chain has ended.
func (ev *Event) seeThrough() error {
	ch, next := ev.chain, ev.next
	s := ev.sys
	s.giveBack(ev)
	if ch.proceed(next) {
		return ch.answer()
	}
	s.scheduler.Wait(ch.ended)
	if e, ok := ch.err.(*event.AbortError); ok { // it happened in another goroutine
		e.Path = append(e.Path, callpath.Here()...)
	}
	return ch.answer()
}

// answer returns how the chain has ended, when that may leave the node.
func (ch *chain) answer() error {
	if d := ch.sys.durable; d != nil && (ch.request != nil || d.answersWait || d.Store.Overdue()) {
		if lost := d.Wait(ch.pos); lost != nil {
			return &event.UnknownError{Event: ch.is.First, Cause: lost}
		}
		ch.sys.output.Flush(ch.printed)
	}
	return ch.err
}

// stepped goes on with the chain of a step that its lane has performed. The lane need not wait for
// that: each step is an event of its own.
func (s *System) stepped(ev *Event, err error) {
	switch ch, next := ev.chain, ev.next; {
	case err == nil && ev.tailed():
		ch.moved()
	case err != nil || next.method == nil:
		ch.end(ev, err)
	case next.mine():
		s.workers.Run(func() { ch.proceed(next) })
	}
}

// mine reports whether the goroutine that has performed the step before performs this one. Other steps wait in lanes
// that are being drained.
func (t *tailStep) mine() bool { return t.keep || t.lane != nil }

// proceed performs a step, and those after it, until there is none left or one waits in a lane that another goroutine
// drains. It reports whether the chain has ended.
func (ch *chain) proceed(next tailStep) (ended bool) {
	s := ch.sys
	var ev *Event
	var l *lane
	finished := false
	defer func() {
		if !finished { // runtime.Goexit in the step: its goroutine is going away
			s.passOn(l)
			ch.leave()
			ch.end(ev, &event.AbortError{Msg: msgGoexit, Event: ev.ID, Fault: true})
		}
	}()
	for next.mine() {
		if s.postpones(next.seq, false) {
			finished = true
			if next.lane != nil {
				_, _ = s.lanes.Next(next.lane)
				s.passOn(next.lane)
			}
			s.postponed.Add(1)
			ch.postpone(next.pos)
			return true
		}
		ev = s.takeEvent(s.inner, next.id, next.target, next.method, next.args)
		ev.stepOf(ch)
		ev.from, ev.told.from = next.from, next.origin
		ev.outSeq, ev.maxPos = next.seq, next.pos
		if l = next.lane; l != nil {
			_, _ = s.lanes.Next(l)
			ev.issuer = l.Key.Issuer
		}
		err := ev.perform()
		s.passOn(l)
		if err == event.ErrClosed {
			finished = true
			s.giveBack(ev)
			s.postponed.Add(1)
			ch.postpone(next.pos)
			return true
		}
		next = ev.next
		if err == nil && ev.tailed() {
			ch.leave()
			ch.moved()
		} else if ended = next.method == nil; ended {
			ch.leave()
			ch.end(ev, err)
		}
		s.giveBack(ev)
	}
	finished = true
	return ended
}

// passOn has a worker drain what stands behind a step in its lane. l may be nil.
func (s *System) passOn(l *lane) {
	if l == nil {
		return
	}
	if s.lanes.More(l) {
		s.workers.Run(func() { s.drain(l) })
	}
	s.live.Add(-1)
}

// end tells the waiters how the chain has ended, with its last step ev.
func (ch *chain) end(ev *Event, err error) {
	ch.pos, ch.printed = ev.maxPos, max(ch.printed, ev.printed)
	if ch.orphan {
		_ = ch.sys.durable.Wait(ch.pos) // a repetition gets an answer, too
	}
	if err == nil && ch.ended != nil {
		if last, ok := ev.Args.(interface{ AeonResult() any }); ok {
			ch.args.(interface{ AeonTake(result any) }).AeonTake(last.AeonResult())
		}
	}
	switch {
	case ch.ended != nil:
	case ch.isOwed():
		ch.tellEnd(err)
	case err != nil:
		ch.sys.deadLetter(failure{id: ev.ID, target: ev.Target, method: ev.method, err: err, pos: ev.maxPos})
	}
	ch.over(err)
}

// over ends the waiting for the chain in this store. err is how it has ended, as far as that is known.
func (ch *chain) over(err error) {
	if ch.orphan {
		ch.request.End()
	}
	if ch.ended != nil {
		ch.err = event.BehindFirst(err)
		close(ch.ended)
	}
	ch.gone()
}

// postpone ends the chain in this process: its next step runs when the store is opened again, if what it did up to pos
// is durable. No event touches the actor that it keeps before that.
func (ch *chain) postpone(pos store.Position) {
	ch.pos = pos
	if k := ch.keeps; k != nil {
		k.Close()
	} else {
		ch.leave()
	}
	if ch.request != nil {
		ch.request.Postpone()
	}
	ch.over(event.ErrPostponed)
}

// keep is [KEEP] for actor h, which the step that commits holds for writing.
func (ch *chain) keep(h *order.Handle) {
	if ch.keeps == nil {
		ch.keeps = h.KeepFor(ch.is.First)
	}
}

// leave lets other events touch the actor that the chain has kept.
func (ch *chain) leave() {
	k := ch.keeps
	if k == nil {
		return
	}
	ch.keeps = nil
	k.Leave()
}
