package exec

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/value"
)

// A call of a Go function that has an effect leaves the system after the commit of the event that has issued it ([GO-ISSUE]), and is
// tried until a try ends without an error, or so often as the program says ([GO-TRY]). A try is no event: it holds no
// lock, and an event of the issuer gets its result. In a system with a store the call is a row of the outbox, as a
// sub-event of the issuer to itself is: what the row holds is the call, and the event that follows it removes the row. So the call is made
// if and only if the event has committed, and the event that follows runs once; after a crash before that the
// call is made again, under the same key.

// goArgs are the arguments of a Method with a GoCall.
type goArgs interface {
	AeonFailed() (left int)                        // takes away a try, and returns how many are left
	AeonCall(ctx context.Context) error            // tries it
	AeonThen(failure value.Opt[string]) order.Args // the arguments of Then
}

const (
	triesMax    = 64               // that are under way at a time
	tryTimeMax  = 5 * time.Minute  // after which the context of a try ends
	tryCloseMax = 10 * time.Second // how long Close waits for tries; half of it before their contexts end
)

// goCallIndex is where the numbers of calls begin among all that an event gives rise to in a store.
const goCallIndex = 3 << 32

// goCall is a call that has not ended.
type goCall struct {
	subEvent
	parent event.EventID // that has issued it
	index  int
	tried  int // how many tries have failed
}

// goCall returns the call that o issues.
func (f *follow) goCall(o *activation.Op) *goCall {
	f.goIssued++
	index := f.ev.IndexBase() + goCallIndex + f.goIssued
	return &goCall{parent: f.ev.ID, index: index, subEvent: subEvent{id: f.ev.ID.Child(index), target: o.Target, method: o.Method, args: o.Args,
		from: f.origin(o, trace.Go, index), origin: f.issued(), seq: o.Seq, pos: f.ev.maxPos}}
}

// try has a call tried as soon as may be. It is counted as live.
func (s *System) try(c *goCall) {
	if s.cfg.InventGo {
		s.workers.Run(func() { s.tried(c, outbox.Invented(c.id, c.tried, s.cfg.Seed)) })
		return
	}
	s.calls.Add(c)
}

// openCalls opens the tries of calls.
func (s *System) openCalls() {
	s.calls.Open(outbox.TriesConfig[*goCall]{Max: triesMax, TimeMax: tryTimeMax, CloseMax: tryCloseMax, Try: s.tryOne, Ended: s.tried,
		Later: func(c *goCall) bool { return s.postpones(c.seq, false) }, Leave: s.leaveCall})
}

// errCallLost is the failure of a try that was not made, as the store has failed: the row may not be durable.
var errCallLost = errors.New("the store has failed")

// tryOne makes one try, when the event that has issued the call is durable.
func (s *System) tryOne(ctx context.Context, c *goCall) (err error) {
	if d := s.durable; d != nil && d.Wait(c.pos) != nil {
		return errCallLost
	}
	ctx = outbox.WithCallKey(ctx, c.key(s))
	step := s.cfg.Spans.Step(c.id, c.tried+1, c.origin, "go "+c.method.Go.Function, s.nanos())
	if err = outbox.Guard(c.method.Go.Function, func() error { return c.args.(goArgs).AeonCall(ctx) }); err != nil {
		step.End(s.nanos(), err.Error())
		return err
	}
	step.End(s.nanos(), "")
	return nil
}

// tried ends a try: the call is over, or waits for its next try.
func (s *System) tried(c *goCall, err error) {
	if err == errCallLost {
		s.leaveCall(c)
		return
	}
	var failure value.Opt[string]
	if err != nil {
		c.tried++
		left := c.args.(goArgs).AeonFailed()
		// Invariant: a call is tried while tries are left, and so no more often than its program says.
		assert.That(left >= 0, "exec: call %v has no try left, and was tried", c.id)
		if left > 0 {
			s.tryLater(c)
			return
		}
		failure = value.Some(err.Error())
	}
	if then := c.method.Go.Then; then != nil {
		e := c.subEvent
		e.method, e.args, e.called = then, c.args.(goArgs).AeonThen(failure), true
		if l := s.wait(e.target, e); l != nil {
			s.workers.Run(func() { s.drain(l) })
		}
	} else {
		if s.durable != nil {
			c.pos = s.durable.removeCall(c, err)
		}
		if err != nil {
			s.deadLetter(failureOf(c, err))
		}
	}
	s.live.Add(-1)
}

// failureOf returns the dead letter of a call without `then`, whose last try has failed.
func failureOf(c *goCall, err error) failure {
	return failure{id: c.id, target: c.target, method: c.method, err: &event.AbortError{Msg: err.Error(), Event: c.id}, pos: c.pos}
}

// tryLater has a call tried again after a while.
func (s *System) tryLater(c *goCall) {
	if s.durable != nil {
		c.pos = s.durable.failedCall(c)
	}
	if s.closing.Load() {
		s.leaveCall(c)
		return
	}
	wait := outbox.BackOff(c.tried)
	if !s.cfg.InventGo {
		wait -= rand.N(wait/2 + 1)
	}
	s.calls.Rest(true)
	t := &timer{Due: sched.After(s.clock.Now(), wait)}
	t.Call.Again = func() { s.tryAgain(c, t) }
	s.timers.Set(t)
	s.timers.Wake()
	s.live.Add(-1)
}

// tryAgain tries a call whose timer t has fired.
func (s *System) tryAgain(c *goCall, t *timer) {
	s.live.Add(1)
	s.calls.Rest(false)
	s.try(c)
	s.timers.Ended(t)
}

// failedCall replaces the row of a call by one with a try less, and returns the position from which on it is so.
func (d *durable) failedCall(c *goCall) store.Position {
	w := row.Writer{Store: d.Store}
	outbox.WriteSubEvent(&w, c.target.ID, c.target.ID, c.seq, &event.SubEvent{Signature: d.signatures.Number(c.method), Parent: c.parent, Index: c.index,
		Args: codec.ArgsIfReadable(c.args)})
	return d.Journal.Append(w.Take())
}

// removeCall removes the row of a call that no event follows, and returns the position from which on it is gone. One whose last
// try has failed is a dead letter.
func (d *durable) removeCall(c *goCall, err error) store.Position {
	w := row.Writer{Store: d.Store}
	outbox.DeleteSubEvent(&w, c.target.ID, c.target.ID, c.seq)
	if err == nil {
		return d.Journal.Append(w.Take())
	}
	letter := c.letter(d, err)
	d.dead.Write(&w, letter)
	defer d.dead.Written(letter)
	return d.Journal.Append(w.Take())
}

// leaveCall ends a call in this process: its row, if there is a store, has it made when that is opened again.
func (s *System) leaveCall(c *goCall) {
	if s.durable != nil {
		s.postponed.Add(1)
	} else {
		s.undone.Add(1)
	}
	s.live.Add(-1)
}

// key returns the key of a call: the same at each try, and that of no other call.
func (c *goCall) key(s *System) string {
	if s.durable == nil {
		return c.id.String()
	}
	return s.durable.Store.Identity().Store + "-" + c.id.String()
}
