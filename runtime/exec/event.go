package exec

import (
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// What generated code describes to the system, and gets from it.
type (
	Method = activation.Method
	Class  = activation.Class
	Cx     = activation.Cx
)

// Event is one event on its home: a Run, which is an Attempt to have its locks and what runs under them, is made again until
// one has led to an end. Events are pooled; an event is owned by the goroutine that performs it.
type Event struct {
	activation.Run // Invariant: first, so that the event is found from its run and its attempt
	life
	chain  *chain       // that the event is a step of; nil if no tail call has led to it or ended it
	next   tailStep     // the step that follows, once the event has committed
	prep   *preparation // of its batch, in systems with a store; kept by the pooled object
	credit bool         // it has taken part of the budget of the store
}

// life is what one event has. It is apart so that one store of zeros forgets it.
type life struct {
	sys    *System
	method *Method
	client *client        // the one that it runs for: counters and callbacks
	from   *trace.Source  // traced systems only; nil: a client issues it now
	place  *place         // of a client's event, in the line to its target; nil if none was outstanding
	maxPos store.Position // largest LastPos seen
	told   telling

	// Systems with a store only.
	source
	verdict *across.Verdict // of the other stores that the attempt has touched
	lacks   *order.Lacking  // a store that was away as its callbacks were to be held
	request *request        // of a durable session
	printed uint64          // the number of its last line in the output
	tells   func()          // has other stores told of its decision, when it is durable
	wrote   bool            // the batch at maxPos is its own
}

// source is the row that an event comes from.
type source struct {
	issuer  *order.Handle // of a sub-event: whose outbox it comes from
	outSeq  uint64        // its number there
	byTimer *timer        // that has fired it, if one has
}

func (s *System) newEvent() *Event {
	ev := &Event{}
	ev.Open(&s.host, s.scheduler)
	return ev
}

// takeEvent returns a fresh event on target.
func (s *System) takeEvent(cl *client, id event.EventID, target *order.Handle, m *Method, args order.Args) *Event {
	ev := s.events.Get()
	ev.Use(&s.code)
	ev.sys, ev.client, ev.ID = s, cl, id
	ev.Target, ev.method, ev.Effects, ev.Work, ev.Args, ev.Reroutes = target, m, &m.Effects, m, args, &cl.stats.Reroutes
	return ev
}

// giveBack returns ev, which holds nothing any more, to the pool.
func (s *System) giveBack(ev *Event) {
	// Invariant: an event that has ended has no part of the store's budget, and its batch was appended or discarded.
	if ev.credit || ev.prep != nil && !ev.prep.Empty() {
		assert.Unreachable("exec: event %v has ended with credit %v or an open batch", ev.ID, ev.credit)
	}
	ev.Reset()
	ev.life = life{}
	if ev.chain != nil {
		ev.chain, ev.next = nil, tailStep{}
	}
	s.events.Put(ev)
	s.scheduler.Yield()
}

// perform runs ev to its end in the calling goroutine and returns its failure. It has few returns beside its deferred
// calls, so that they cost nothing: the Go compiler inlines no deferred call of a function with many of both.
func (ev *Event) perform() error {
	defer sched.EndOnBug()
	if ev.sys.durable != nil {
		if err := ev.takeCredit(); err != nil {
			ev.over(&ev.client.stats.Aborts)
			return err
		}
		ev.Begin()
		defer func() {
			ev.End()
			ev.giveCredit()
		}()
	}
	return ev.attempts()
}

// attempts is the life of one event: attempts until one commits or aborts ([RERUN]).
func (ev *Event) attempts() error {
	ev.Start()
	if ev.sys.tracer != nil {
		ev.beginTrace()
	}
	if ev.sys.watch.Followed() {
		ev.tellBegun()
	}
	ev.sys.scheduler.Yield()
	for {
		err := ev.Enter()
		if ev.told.span != nil {
			ev.told.span.Entered(ev.sys.nanos(), ev.Waits)
		}
		if err == order.ErrKept || err == across.ErrEnded {
			return ev.leftOut()
		}
		if ev.request != nil && !ev.request.Claim() {
			if ev.IsWide() {
				ev.LeaveAbove()
			}
			ev.Release(true)
			if ev.sys.watch.Followed() {
				ev.tellEnded(outbox.ErrRepeated)
			}
			ev.over(&ev.client.stats.Repeats) // the event has ended, and has done nothing
			return outbox.ErrRepeated
		}
		if err != nil {
			err = ev.refused(err)
			ev.undone(err)
			return ev.failed(err)
		}
		if ev.Cancelled() {
			return ev.endCancelled()
		}
		if ev.IsWide() {
			ev.widen()
		} else if ev.Wide() != nil {
			// Invariant: an attempt after one over several stores enters with parts in these.
			assert.Unreachable("exec: event %v has been to other stores, and enters as if it had not", ev.ID)
		}
		switch out := ev.Execute(ev.method); out.Kind {
		case activation.Ended:
			if ev.Cancelled() {
				return ev.endCancelled()
			}
			switch err := ev.commit(); {
			case err == errWithdrawn:
				ev.again(order.Withdrawal{Lacks: ev.lacks})
				continue
			case err != nil:
				return ev.failed(err)
			}
			if ev.sys.watch.Followed() {
				ev.tellEnded(nil)
			}
			ev.over(&ev.client.stats.Commits)
			return nil
		case activation.Aborted:
			if ev.Cancelled() {
				return ev.endCancelled()
			}
			err := ev.abort(out.Err)
			if err == errWithdrawn {
				ev.again(order.Withdrawal{})
				continue
			}
			return ev.failed(err)
		case activation.Withdrawn:
			ev.Undo()
			ev.again(*out.Withdrawal)
			if out.Withdrawal.Kept.Await(&ev.Attempt) != nil {
				return ev.leftOut()
			}
		}
	}
}

// again withdraws the attempt, which w has unwound, and whose writes are undone, and waits for what it has met in other stores.
func (ev *Event) again(w order.Withdrawal) {
	ev.Retry(w)
	ev.Clear()
	if ev.Traced != nil {
		ev.Traced.Forget()
	}
	if ev.told.span != nil {
		ev.told.span.Withdrawn(ev.sys.nanos(), ev.Waits)
	}
	ev.client.stats.Withdrawals.Add(1)
	ev.AwaitOthers(w)
}

// leftOut ends an event that needs what is not there until the store is opened again: an actor that is kept, or other stores. The event has not happened;
// what it comes from stays, so that it happens then. leftOut returns ErrClosed itself, as no other end of an event does.
func (ev *Event) leftOut() error {
	ev.over(&ev.client.stats.Aborts)
	return event.ErrClosed
}

// failpoint is called at every place where a crash finds the store, the locks and the
// clients in a new state. Tests set it, to crash there. The name is place and kind.
var failpoint func(name string)

// at passes a failpoint.
func at(place, kind string) {
	if failpoint != nil {
		failpoint(place + "/" + kind)
	}
}

// kind returns what the event is to the store: a client's, one of a durable session, a client's new or delete, a sub-event, a step of a chain, or a firing.
func (ev *Event) kind() string {
	switch {
	case ev.request != nil:
		return "session"
	case ev.Makes != nil:
		return "create"
	case ev.method == &methodFire:
		return "firing"
	case ev.chain != nil && (ev.issuer != nil || ev.outSeq != 0):
		return "tail"
	case ev.issuer != nil:
		return "sub"
	case ev.method == &activation.MethodDelete:
		return "delete"
	}
	return "client"
}
