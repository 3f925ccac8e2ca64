package exec

import (
	"cmp"
	"context"
	"errors"
	"unsafe"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Across says which of several stores a system has.
type Across struct {
	Cluster string // the id of all stores together
	Stores  int    // how many there are
	Store   event.StoreID
	Of      func(event.PartitionID) event.StoreID // the store of a partition
	Network across.Network
	// Siblings are the systems of all stores, if they run in this process, on one clock; nil: they do not.
	Siblings *Siblings
	Spread   bool // new actors go to any partition, and not to that of their creator
}

// Siblings are the systems of all stores, if they run in one process.
type Siblings = sched.Siblings[*System]

// errWithdrawn says that an attempt over several stores, whose code has ended, is to be made again.
var errWithdrawn = errors.New("withdrawn")

func (s *System) openAcross(cfg *Across) {
	if b := cfg.Siblings; b != nil {
		b.Opened(s, s.live)
	}
	s.abroad.chains, s.clientMethods = make(map[event.EventID]*chain), make(map[string]*ClientMethod)
	for _, c := range s.cfg.ClientClasses {
		for _, m := range c.Methods {
			path := across.MethodName(c.Path()+"."+m.Name, m.Signature)
			m.path.Store(&path)
			s.clientMethods[path] = m
		}
	}
	for p := range s.host.Partitions {
		of := cfg.Of(event.PartitionID(p))
		if s.stores = max(s.stores, of+1); of == cfg.Store {
			s.partitions = append(s.partitions, event.PartitionID(p))
		}
	}
	s.doubts = s.partitions[0]
	s.across = across.Open(across.Config{Store: cfg.Store, Stores: s.stores, StoreOf: func(id event.ActorID) event.StoreID { return cfg.Of(id.Birth) }, Network: cfg.Network,
		Local: local{s}, Number: func() uint64 { return s.durable.nextSeq() }, Workers: &s.workers, Scheduler: s.scheduler, Ticks: s.tracer, Log: s.log})
	s.host.Join(s.across)
	s.code.Across, s.code.Spread, s.code.Methods, s.code.References, s.code.ReadLine, s.code.Dying = s.across, cfg.Spread, activation.MethodsOf(s.cfg.Classes, &methodFire), s, s.readLine, &s.dying
}

// Across returns what the system is among several stores, nil if it has the only one.
func (s *System) Across() *across.Store { return s.across }

// isElsewhere returns what tells the actors of other stores, nil if there are none.
func (s *System) isElsewhere() func(event.ActorID) bool {
	if s.across == nil {
		return nil
	}
	return func(id event.ActorID) bool { return !s.across.IsHere(id) }
}

// together returns the systems whose timers fire in one order.
func (s *System) together() []*System {
	if a := s.cfg.Across; a != nil && a.Siblings != nil {
		return a.Siblings.All()
	}
	return []*System{s}
}

// Abandon ends what a system among several waits for of the others, after its store has failed: nothing that it does happens any more. The
// caller closes it.
func (s *System) Abandon() {
	// Invariant: nothing is appended any more. What is prepared stays in doubt; to drop it would take back what the home may commit.
	assert.That(s.durable.Store.Err() != nil, "exec: a store among several is left, and has not failed")
	s.abroad.Lock()
	s.abroad.over = true
	s.live.Add(-s.abroad.undone)
	s.loseChains()
	s.abroad.Unlock()
	s.across.End()
	if b := s.cfg.Across.Siblings; b != nil {
		b.Gone(s, s.live)
	}
}

// widen notes that the attempt has entered with actors of other stores.
func (ev *Event) widen() {
	if ev.Wide() == nil {
		ev.SetWide(&activation.Wide{})
	}
	ev.Wide().Goes = false
	ev.Wide().Try, ev.verdict = ev.sys.across.TryOf(&ev.Attempt), nil
}

// writes reports whether the commit of the event writes anything in this store.
func (ev *Event) writes() bool {
	return !ev.prep.Empty() || len(ev.Root.Ops) > 0 || ev.ChangesOwnership() || len(ev.Fresh) > 0 || ev.outSeq != 0 || ev.requested() != nil
}

// vote asks the other stores for their votes. nil: the attempt is to be withdrawn. What an event tells has the order of the commits: no store may
// let an event go on that follows this one, before it is told.
func (ev *Event) vote(here bool, there across.Wrote) *across.Verdict {
	if there == across.Changes && activation.Tells(ev.Root.Ops) {
		there = across.All
	}
	w := ev.Wide()
	ev.TraceEnd()
	ev.verdict = w.Try.End(here, there)
	w.Strict = w.Strict || ev.verdict == nil
	ev.TraceVerdict(ev.verdict)
	return ev.verdict
}

// wideRow writes what the batch of the event has of the other stores: at its home the decision, elsewhere that it is not in doubt any more.
func (ev *Event) wideRow(to *row.Writer) {
	w := ev.Wide()
	if w.Part != nil {
		ev.doubtKey(to)
		to.Delete()
		return
	}
	if r := ev.requested(); r != nil && ev.tailed() {
		ev.sys.durable.ends.Leave(to, ev.chainOf().First, r)
	}
	v := ev.verdict
	if v.At = ev.sys.nanos(); v.Keep {
		to.Key = row.AppendDecisionKey(to.Key[:0], ev.sys.doubts, w.Try.Name().Event, w.Try.Name().Number)
		to.Begin()
		to.Row = row.AppendDecision(to.Row, v.At, v.Stores)
		to.Set()
	}
}

// leaveWide ends what the event has been among several stores, and has the others told when its decision is durable: by answered, if that waits for it.
func (ev *Event) leaveWide(waits bool) {
	try, s, pos, printed := ev.Wide().Try, ev.sys, ev.maxPos, ev.printed
	name, at := try.Name(), ev.verdict.At
	try.Leave()
	if !ev.verdict.Keep {
		s.across.Decided(name, at)
		return
	}
	s.decided(1)
	tell := func() {
		s.output.Flush(printed)
		s.across.Decided(name, at)
	}
	if waits {
		ev.tells = tell
		return
	}
	s.workers.Run(func() {
		if s.durable.WaitOwn(pos) == nil {
			tell()
		}
	})
}

// local is the system of a store, as the others see it.
type local struct{ s *System }

// Method implements across.Local.
func (l local) Method(a *order.Attempt) (string, event.Chain) {
	ev := (*Event)(unsafe.Pointer(a)) // its first field
	return ev.sys.code.PathOf(ev.method), ev.chainOf()
}

// chainOf returns the chain that the event is a step of, or would begin.
func (ev *Event) chainOf() event.Chain {
	switch {
	case ev.chain != nil:
		return ev.chain.is
	case ev.IsPart():
		return ev.Wide().Part.Chain
	}
	c := event.Chain{First: ev.ID}
	if a := ev.sys.cfg.Across; a != nil {
		c.Store = a.Store
		if ev.request != nil {
			c.Waits = event.RequestWaits
		} else if ev.Bounded {
			c.Waits = event.ClientWaits
		}
	}
	return c
}

// tailed reports whether another step follows the event, from another store.
func (ev *Event) tailed() bool { return ev.Wide() != nil && ev.Wide().Goes }

// waitForChain has the event's chain, which goes on in another store, wait for its end.
func (ev *Event) waitForChain() {
	s := ev.sys
	if ev.chain == nil && !ev.Bounded {
		return // the other store tells of a failure
	}
	ev.beginChain()
	if ch := ev.chain; ch.isWaitedFor() {
		ch.pos = ev.maxPos
		s.abroad.Lock()
		s.abroad.chains[ch.is.First] = ch
		if s.abroad.over { // after it has ended all that waits
			s.loseChains()
		}
		s.abroad.Unlock()
		ch.cancel.Then(ch.cancelAbroad)
	}
}

// cancelAbroad cancels a chain that goes on in another store, unless its end is known.
func (ch *chain) cancelAbroad() {
	s := ch.sys
	s.abroad.Lock()
	defer s.abroad.Unlock()
	if s.abroad.chains[ch.is.First] == ch {
		s.across.CancelChain(ch.is)
	}
}

// isWaitedFor reports whether anything in this store waits for the end of the chain, which has begun here.
func (ch *chain) isWaitedFor() bool { return ch.ended != nil || ch.request != nil }

// moved notes that the next step of the chain runs in another store.
func (ch *chain) moved() {
	if !ch.isWaitedFor() {
		ch.gone() // that store counts it
	}
}

// loseChains ends the waiting for chains that go on in other stores with this start of the store. Caller holds the mutex of abroad.
func (s *System) loseChains() {
	for first, ch := range s.abroad.chains {
		if ch.request == nil {
			ch.over(&event.UnknownError{Event: first, Cause: errors.New("this node does not lead its store any more, and its tail calls go on in another one; ask their actors, by another event, how they have ended")})
		} else {
			ch.request.Postpone()
			ch.over(event.ErrPostponed)
		}
		delete(s.abroad.chains, first)
	}
}

// tellEnd tells the store that has begun the chain how it has ended, with err.
func (ch *chain) tellEnd(err error) {
	var failed *event.AbortError
	if err != nil && !errors.As(err, &failed) {
		return // the store has failed: the step comes again
	}
	ch.sys.tellEnd(across.End{First: ch.is.First, Client: ch.is.Waits == event.ClientWaits, Failed: failed}, ch.pos, ch.printed)
}

// tellEnd tells the store that has begun a chain how it has ended here, when that, at pos, is durable, and all that was printed is out. End has what its
// row has not, if this start of the store knows that.
func (s *System) tellEnd(end across.End, pos store.Position, printed uint64) {
	d := s.durable
	s.live.Add(1)
	s.workers.Run(func() {
		defer s.live.Add(-1)
		if d.Wait(pos) != nil {
			return
		}
		s.output.Flush(printed)
		d.ends.Tell(end.First, func(to event.StoreID, o *event.Outcome) bool {
			if end.Failed = cmp.Or(end.Failed, o.Failed()); end.Failed == nil {
				sig := d.signatures.Of(o.Signature)
				end.Result, end.Class, end.Method, end.Text = o.Data, sig.Class, sig.Method, sig.Text
			}
			_, err := s.across.Ask(context.Background(), to, across.Question{End: &end})
			return err == nil // else this store has ended
		})
	})
}

// conclude has what waits for a chain get its end, which was in another store. It reports whether that is durable, however often it is told.
func (s *System) conclude(e *across.End) bool {
	d := s.durable
	o := event.Outcome{Data: e.Result}
	if e.Failed != nil {
		o = e.Failed.Outcome(true) // its first step was here
	} else {
		var known bool
		if o.Signature, known = d.signatures.NumberOf(e.Class, e.Method, e.Text); !known {
			s.log.Error("a result of a method with a signature that this store has never had; start its nodes with the version of the program that has it", "method", e.Class+"."+e.Method, "signature", e.Text)
			return false
		}
	}
	s.abroad.Lock()
	ch := s.abroad.chains[e.First]
	delete(s.abroad.chains, e.First)
	if ch != nil && ch.request != nil {
		ch.pos = d.ends.Conclude(e.First, ch.request, &o)
	}
	s.abroad.Unlock()
	s.across.EndChain(e.First)
	durable := d.WaitAll() == nil
	switch {
	case ch == nil && e.Client && e.Failed != nil: // the client has ended with an earlier start, and there is no dead letter
		s.log.Warn("a chain has failed whose client has gone", "event", e.First.String(), "error", e.Failed.Error())
	case ch == nil: // it was told before, or the client has gone
	case ch.request != nil:
		ch.over(outbox.ErrRepeated) // the caller that waits reads the outcome, as a repetition does
	case e.Failed != nil:
		ch.over(e.Failed)
	default:
		ch.over(s.replay(&o, ch.first, ch.args))
	}
	return durable
}

// Leads implements across.Local.
func (l local) Leads() bool { return l.s.durable.Store.Confirm() == nil }

// Handle implements across.Local.
func (l local) Handle(id event.ActorID) *order.Handle {
	h := l.s.durable.Handle(id)
	if h.Is(order.Away) {
		_ = l.s.host.Attach(h) // if it fails the process is ending
	}
	return h
}

// Answer implements across.Local.
func (l local) Answer(q *across.Question) bool {
	switch s := l.s; {
	case q.End != nil:
		return s.conclude(q.End)
	case q.Lines != nil:
		return s.holdFor(q)
	case q.Object != 0:
		if is, _ := s.IsRemote(context.Background(), q.Object, q.Class, q.Name); !is { // it is one of this store
			q.Class = ""
		}
	case !q.Kept.IsNull():
		if gone := s.durable.Handle(q.Kept).Gone(); gone != nil {
			s.scheduler.Wait(gone)
		}
	case q.Actor.IsNull():
		c := activation.ClassNamed(s.cfg.Classes, q.Class)
		if q.Lacks = c == nil; q.Lacks {
			return true
		}
		q.Actor = s.named(&c.Shape, q.Name).ID // durably, or other stores would know an actor that a crash takes back
	default:
		h := l.Handle(q.Actor)
		q.Label = h.Label()
		q.First, _ = s.code.FirstOf(context.Background(), h) // it is in this store
		if h.Shape != nil && !h.Is(order.Deleted) {
			q.Class = h.Shape.Path()
		}
	}
	return l.s.durable.WaitAll() == nil // it rests on what a former leader does not know
}

// named returns the actor of a name, when it is known whether what is prepared here deletes it.
func (s *System) named(c *order.Shape, name string) *order.Handle {
	for {
		h, over := s.code.FindHere(c, name)
		if over == nil {
			return h
		}
		s.scheduler.Wait(over) // the code of that event has ended, so it waits for no event that waits for this
	}
}

// Forget implements across.Local.
func (l local) Forget(names []commit.Name) {
	w := &l.s.forgets
	w.Store = l.s.durable.Store
	for _, n := range names {
		w.Key = row.AppendDecisionKey(w.Key[:0], l.s.doubts, n.Event, n.Number)
		w.Delete()
	}
	l.s.durable.Journal.Append(w.Take())
	l.s.decided(-len(names))
}

// decided notes that there are n more decisions that other stores have to carry out.
func (s *System) decided(n int) {
	s.abroad.Lock()
	defer s.abroad.Unlock()
	if !s.abroad.over {
		s.abroad.undone += n
		s.live.Add(n)
	}
}
