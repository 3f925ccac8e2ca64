package exec

import (
	"errors"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/history"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// Recover opens a system on cfg.Store with everything that is in it: actors, ownership, the
// sequencing tree, sessions, sub-events that have not ended, timers. The states of actors are
// read when they are used. Events run from then on. An error means that nothing has run and
// nothing was changed. It is an error of the store, a *store.CorruptError, or it says what the program cannot
// read of the store: then it wraps state.ErrClass for a class, a *store.SchemaError for each field and a
// *store.CallError for each method.
//
// The caller closes the system, then the store.
func Recover(cfg Config) (*System, error) {
	s := newSystem(cfg)
	d, err := newDurable(s, &s.cfg)
	if err == nil {
		s.durable, s.code.State = d, &d.State
		if s.tracer != nil {
			s.tracer.Resume(&d.State)
		}
		r := recovery{d: d, s: s}
		err = r.run()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	if s.scheduler == nil {
		d.Memory.Start()
	}
	return s, nil
}

// recovery is one reading of a store.
type recovery struct {
	d      *durable
	s      *System
	lanes  []*lane
	calls  []*goCall
	timers map[outbox.TimerID]*timer // those that are set
	steps  []tailStep                // of chains that keep their actors
	chains []*chain                  // theirs
	ends   []event.EventID           // of chains that are for requests of other stores
	live   int                       // how much of that the system counts as issued
}

func (r *recovery) run() error {
	for _, step := range []func() error{r.classes, r.count, r.d.Recover, r.d.sessions.Recover, r.d.keyed.Recover, r.dead, r.setTimers, r.continuations, r.outbox, r.inDoubt, r.unread} {
		if err := step(); err != nil {
			r.s.live.Add(-r.live) // what was read will not run, and closing the system waits for all that is counted
			return err
		}
	}
	r.d.Layouts.Tell(r.s.log)
	r.d.Store.WriteSchema(r.d.Layouts.Schema)
	if r.s.tracer == nil {
		history.Untraced(r.d.Store)
	}
	r.d.Ready()
	for i, ch := range r.chains {
		r.s.workers.Run(func() { ch.proceed(r.steps[i]) })
	}
	for _, l := range r.lanes {
		r.s.workers.Run(func() { r.s.drain(l) })
	}
	for _, c := range r.calls {
		r.s.try(c)
	}
	for _, first := range r.ends {
		r.s.tellEnd(across.End{First: first}, 0, 0)
	}
	r.s.timers.Wake()
	r.s.host.Tighten()
	return nil
}

// unread refuses a store in which calls wait that the program cannot read.
func (r *recovery) unread() error { return r.d.signatures.Unread(r.d.Layouts.Schema) }

// dead finds the dead letters.
func (r *recovery) dead() error { return r.d.dead.Recover(r.d.Store) }

// classes refuses a store with actors of a class that the program has lost.
func (r *recovery) classes() error { return r.d.Layouts.Lost(r.d.Store) }

// count counts the actors, up to a number that takes no time.
func (r *recovery) count() (err error) {
	r.d.found.Actors, err = r.d.Count(state.RestoredMax + 1)
	return err
}

// waiting calls f for every call that waits in a section, with the rest of its key and its payload. Calls
// that the program cannot read are counted instead.
func (r *recovery) waiting(section store.Section, keyMin int, f func(_ event.PartitionID, rest, payload []byte, sig *state.StoredSignature[*Method]) error) error {
	return r.d.Rows(section, keyMin, func(p event.PartitionID, rest, payload []byte) error {
		sig, err := r.d.signatures.Waiting(row.Signature(payload))
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
	return args, codec.ReadArgs(data, r.s, args)
}

// outbox reads the sub-events that have not ended into their lanes. They do not run yet.
func (r *recovery) outbox() error {
	return r.waiting(store.Outbox, row.OutboxKeyMin, func(_ event.PartitionID, rest, payload []byte, sig *state.StoredSignature[*Method]) error {
		issuer, target, seq := row.ReadOutboxKey(rest)
		h := r.d.Handle(issuer)
		e, err := r.subEvent(payload, sig.Method, h)
		if err != nil {
			return err
		}
		e.target, e.seq = r.d.Handle(target), seq
		r.live++
		r.d.found.SubEvents++
		if e.method.Go != nil {
			stored, _ := row.ReadSubEvent(payload) // which has just been read
			r.calls = append(r.calls, &goCall{subEvent: e, parent: stored.Parent, index: stored.Index})
			r.s.live.Add(1)
			return nil
		}
		if l := r.s.wait(h, e); l != nil {
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
	if m.Go != nil {
		kind = trace.Go
	}
	e.id, e.method = stored.Parent.Child(stored.Index), m
	e.from, e.origin = r.s.tracer.Source(kind, stored.Parent, issuer, stored.Index), r.s.cfg.Spans.Stored(stored.Parent)
	if e.args, err = r.args(stored.Args, m); err != nil {
		return e, err
	}
	if t := r.timers[outbox.TimerID{Issuer: issuer, Generation: stored.Timer}]; stored.Timer != 0 && t != nil {
		e.timer = t
		r.s.timers.Emitted(t) // its next tick waits for this one
	}
	return e, nil
}

// chain reads what a step knows of its chain, and lets repetitions of the request that began it wait for its end.
func (r *recovery) chain(e *event.SubEvent) (*chain, error) {
	ch := &chain{sys: r.s, is: e.Chain}
	r.live++
	r.s.live.Add(1)
	if e.Request == nil {
		ch.join()
		return ch, nil
	}
	ch.orphan = true
	if a := r.s.cfg.Across; a != nil {
		ch.is.Store, ch.is.Waits = a.Store, event.RequestWaits
	}
	if e.Request.HasKey() {
		ch.request = r.d.keyed.Reclaim(*e.Request)
		return ch, nil
	}
	x := r.d.sessions.Find(e.Request.Session)
	if x == nil {
		return nil, fmt.Errorf("its session %q is missing", e.Request.Session)
	}
	ch.request = x.Reclaim(*e.Request)
	return ch, nil
}

// continuations reads the steps of chains that keep their actors: no other event touches these
// before the steps have run.
func (r *recovery) continuations() error {
	return r.waiting(store.Continuations, row.ContinuationKeyMin, func(_ event.PartitionID, rest, payload []byte, sig *state.StoredSignature[*Method]) error {
		target, seq := row.ReadContinuationKey(rest)
		h := r.d.Handle(target)
		e, err := r.subEvent(payload, sig.Method, h)
		if err != nil {
			return err
		}
		if e.chain == nil {
			return errors.New("it belongs to no chain")
		}
		e.chain.keep(h)
		r.steps = append(r.steps, tailStep{id: e.id, target: h, method: e.method, args: e.args, keep: true, from: e.from, origin: e.origin, seq: seq})
		r.chains = append(r.chains, e.chain)
		r.d.found.Continuations++
		return nil
	})
}

// setTimers reads the timers.
func (r *recovery) setTimers() error {
	now := r.s.clock.Now()
	r.timers = make(map[outbox.TimerID]*timer)
	return r.d.Rows(store.Timers, row.TimerKeyMin, func(_ event.PartitionID, rest, payload []byte) error {
		t, err := r.timer(rest, payload)
		if t == nil {
			return err
		}
		r.timers[outbox.TimerID{Issuer: t.Issuer, Generation: t.Generation}] = t
		r.d.found.Timers++
		r.s.timers.Restore(t, now)
		return nil
	})
}

// timed reads what a timer, or anything else that was issued, calls. It is nothing, and counted, if the program cannot read it.
func (r *recovery) timed(signature uint32, args []byte) (c timed, err error) {
	if signature == 0 {
		var object uint64
		object, c.Call, c.Args, err = activation.ReadClientCall(args)
		c.Object = r.s.ResolveClient(object)
		return c, err
	}
	sig, err := r.d.signatures.Waiting(signature)
	if sig != nil {
		c.Method = sig.Method
		c.Args, err = r.args(args, c.Method)
	}
	return c, err
}

// timer reads one timer.
func (r *recovery) timer(rest, payload []byte) (t *timer, err error) {
	t, x, err := outbox.ReadTimer[timed](rest, payload)
	if err != nil {
		return nil, err
	}
	c := &t.Call
	if *c, err = r.timed(t.Row.Signature, x.Args); err != nil || c.Method == nil && c.Object == nil {
		return nil, err
	}
	if t.Issuer = r.d.Handle(x.Issuer); c.Method != nil {
		c.Target = r.d.Handle(x.Target)
	}
	if err := r.d.Attach(t.Issuer); err != nil {
		return nil, err
	}
	if t.Issuer.Is(order.Deleted) {
		return nil, fmt.Errorf("its issuer %v is missing", x.Issuer)
	}
	c.From, c.Origin = r.s.tracer.Source(trace.Timer, x.Parent, t.Issuer, 0), r.s.cfg.Spans.Stored(x.Parent)
	return t, nil
}

// newDurable takes cfg.Store into use.
func newDurable(s *System, cfg *Config) (*durable, error) {
	d := &durable{sys: s, answersWait: cfg.Store.Mode().AnswersWait()}
	cfg.Store.Sequence(&d.seq)
	s.host.Reside(d)
	classes := activation.StoredClasses(cfg.Classes)
	err := d.Open(state.Config{
		Host: &s.host, Store: cfg.Store, Journal: cfg.journal, Log: s.log,
		Classes: activation.Shapes(cfg.Classes), Schema: classes, DropFields: cfg.DropFields, MemoryMax: cfg.MemoryMax,
		References: s.references, Left: s.leave, Elsewhere: s.isElsewhere(), Scheduler: s.scheduler,
	})
	if err != nil {
		return nil, err
	}
	d.signatures.Open(d.Layouts.Schema, classes, activation.MethodOf(cfg.Classes))
	d.sessions.Open(outbox.SessionsConfig[*client]{Store: d.Store, Append: d.Journal.Append, Clock: s.clock, Scheduler: s.scheduler, Expiry: s.cfg.SessionExpiry,
		Begun: s.newClient, Expired: func(cl *client) { s.retire(cl.stats) }, At: func(place string) { at(place, "session") }})
	d.keyed.Open(outbox.KeyedConfig{Store: d.Store, Append: d.Journal.Append, Clock: s.clock, Scheduler: s.scheduler, Expiry: s.cfg.SessionExpiry,
		At: func(place string) { at(place, "session") }})
	d.ends = outbox.Ends{Store: d.Store, Append: d.Journal.Append, Partition: s.doubts}
	d.archive.Store, d.archive.Clock, d.archive.Overrides = d.Store, s.clock, s.overrides
	s.openOutput(d)
	return d, nil
}
