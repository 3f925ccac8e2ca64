package exec

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// calls calls f for every call that waits in a section, with the rest of its key and its payload. Calls
// that the program cannot read are counted instead.
func (r *recovery) calls(section store.Section, keyMin int, f func(p event.PartitionID, rest, payload []byte, sig *storedSignature) error) error {
	return r.d.Rows(section, keyMin, func(p event.PartitionID, rest, payload []byte) error {
		sig, err := r.d.signatures.waiting(row.Signature(payload))
		if sig == nil {
			return err
		}
		return f(p, rest, payload, sig)
	})
}

// args reads the arguments of a call.
func (r *recovery) args(data []byte, m *Method) (order.Args, error) {
	if len(data) == 0 {
		return nil, nil
	}
	args := m.NewArgs()
	dec := codec.NewDecoder(data)
	dec.Context = r.s
	args.(argsCodec).Decode(dec)
	return args, dec.Close()
}

// outbox reads the sub-events that have not ended into their lanes. Nobody runs them yet.
func (r *recovery) outbox() error {
	return r.calls(store.Outbox, row.OutboxKeyMin, func(p event.PartitionID, rest, payload []byte, sig *storedSignature) error {
		issuer, target, seq := row.ReadOutboxKey(p, rest)
		h := r.d.Handle(issuer)
		e, err := r.subEvent(payload, sig.method, h)
		if err != nil {
			return err
		}
		e.target, e.seq = r.d.Handle(target), seq
		r.live++
		r.d.found.SubEvents++
		if l := r.s.lanes.push(r.s, h, e); l != nil {
			r.lanes = append(r.lanes, l)
		}
		return nil
	})
}

// subEvent reads a sub-event, or the next step of a chain.
func (r *recovery) subEvent(payload []byte, m *Method, issuer *order.Handle) (e subEvent, err error) {
	stored, err := row.ReadSubEvent(payload)
	if err != nil {
		return e, err
	}
	kind := trace.Sub
	if stored.Step {
		kind = trace.Tail
		if e.chain, err = r.chain(&stored); err != nil {
			return e, err
		}
	}
	e.id, e.method = stored.Parent.Child(stored.Index), m
	e.from = r.s.restored(kind, stored.Parent, issuer, stored.Index)
	if e.args, err = r.args(stored.Args, m); err != nil {
		return e, err
	}
	if t := r.timers[stored.Timer]; stored.Timer != 0 && t != nil {
		e.timer = t
		t.firings++ // its next tick waits for this one
	}
	return e, nil
}

// chain reads what a step knows of its chain, and lets repetitions of the request that began
// it wait for its end.
func (r *recovery) chain(e *event.SubEvent) (*chain, error) {
	ch := &chain{sys: r.s, first: e.First}
	r.live++
	r.s.live.Add(1)
	if e.Request == nil {
		return ch, nil
	}
	x := r.d.sessions.mu.byName[e.Request.Session]
	if x == nil {
		return nil, fmt.Errorf("its session %q is missing", e.Request.Session)
	}
	x.mu.running[e.Request.Seq] = make(chan struct{})
	ch.request = &request{session: x, Request: *e.Request, claimed: true}
	ch.orphan = true
	return ch, nil
}

// continuations reads the steps of chains that keep their actors: no other event touches these
// before the steps have run.
func (r *recovery) continuations() error {
	return r.calls(store.Continuations, row.ContinuationKeyMin, func(p event.PartitionID, rest, payload []byte, sig *storedSignature) error {
		target, seq := row.ReadContinuationKey(p, rest)
		h := r.d.Handle(target)
		e, err := r.subEvent(payload, sig.method, h)
		if err != nil {
			return err
		}
		if e.chain == nil {
			return errors.New("it belongs to no chain")
		}
		e.chain.keep(h)
		r.steps = append(r.steps, tailStep{id: e.id, target: h, method: e.method, args: e.args, keep: true, from: e.from, seq: seq})
		r.chains = append(r.chains, e.chain)
		r.d.found.Continuations++
		return nil
	})
}

// setTimers reads the timers.
func (r *recovery) setTimers() error {
	ts := &r.s.timers
	now := r.s.clock.Now()
	r.timers = make(map[uint64]*timer)
	return r.calls(store.Timers, row.TimerKeyMin, func(_ event.PartitionID, rest, payload []byte, sig *storedSignature) error {
		t, err := r.timer(rest, payload, sig)
		if err != nil {
			return err
		}
		r.timers[t.generation] = t
		r.d.found.Timers++
		ts.mu.Lock()
		defer ts.mu.Unlock()
		_, sim := r.s.clock.(*sched.SimClock)
		t.late = !sim && !t.due.After(now)
		ts.enter(t)
		return nil
	})
}

// timer reads one timer.
func (r *recovery) timer(rest, payload []byte, sig *storedSignature) (t *timer, err error) {
	x, number, ticks, call, err := row.ReadTimer(payload)
	if err != nil {
		return nil, err
	}
	t = &timer{name: x.Name, every: x.Every, method: sig.method, signature: number, tick: ticks, payload: bytes.Clone(call)}
	t.stored, t.generation = row.ReadTimerKey(rest)
	t.due = time.Unix(0, t.stored)
	if t.args, err = r.args(x.Args, t.method); err != nil {
		return nil, err
	}
	t.issuer, t.target = r.d.Handle(x.Issuer), r.d.Handle(x.Target)
	if err := r.d.Attach(t.issuer); err != nil {
		return nil, err
	}
	if t.issuer.Is(order.Deleted) {
		return nil, fmt.Errorf("its issuer %v is missing", x.Issuer)
	}
	t.from = r.s.restored(trace.Timer, x.Parent, t.issuer, 0)
	return t, nil
}

// enter puts a timer into the heap. Caller holds mu.
func (ts *timers) enter(t *timer) {
	if t.every == 0 {
		ts.mu.oneShots++
	}
	if t.name != "" {
		ts.mu.named[timerKey{t.issuer, t.name}] = t
	}
	ts.list(t)
	ts.queue(t)
}

// list notes that t is not off. Caller holds mu.
func (ts *timers) list(t *timer) {
	if t.next = ts.mu.first[t.issuer]; t.next != nil {
		t.next.prev = t
	}
	ts.mu.first[t.issuer] = t
	t.issuer.Mark(order.MarkTimed, true)
}

// unlist notes that t is off. An actor whose last timer that was may be detached. Caller holds mu.
func (ts *timers) unlist(t *timer) {
	if t.next != nil {
		t.next.prev = t.prev
	}
	switch {
	case t.prev != nil:
		t.prev.next = t.next
	case t.next != nil:
		ts.mu.first[t.issuer] = t.next
	default:
		delete(ts.mu.first, t.issuer)
		t.issuer.Mark(order.MarkTimed, false)
	}
	t.next, t.prev = nil, nil
}

// forgetRows removes the rows of the timers of an actor that an event deletes.
func (ts *timers) forgetRows(w *preparation, issuer *order.Handle) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for t := ts.mu.first[issuer]; t != nil; t = t.next {
		w.unset(t)
	}
}
