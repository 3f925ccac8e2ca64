package spec

import (
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// event is an event that runs. It runs whole, on the state of the machine; what is only
// to happen at the commit waits in ops.
type event struct {
	m       *Machine
	id      eventID
	random  randomState
	started instant
	fuel    int
	made    int // actors created so far
	timers  int // timers set so far
	effects int // calls of Go functions issued so far
	birth   uint64
	target  *identity // nil for a client's new and delete, and for a firing
	cause   *cause
	ops     []op             // ω, in program order
	chain   *chain           // that the event is a step of; nil if it was not begun by a tail call
	issue   *issue           // of a client; nil for others
	tail    *order           // that ends it; nil for none
	fresh   map[eventID]bool // created by this event
	born    map[eventID]bool // named actors whose constructor ran in this event
	dying   map[eventID]bool // deleted by this event
	owners  map[eventID]bool // that have come to own actors of their own class
	prints  []*footprint     // of the event, and of the async calls in progress, innermost last
	before  *state           // as it was when the event began
}

// op is something that happens at the commit.
type op struct {
	kind   opKind
	issuer *identity
	order  order
	text   string  // of a print; the name of a cancel
	timer  eventID // of a firing
	effect *effectCall
}

type opKind uint8

const (
	emitOp opKind = iota
	callbackOp
	timerOp
	cancelOp
	printOp
	effectOp
)

// runEvent runs an event from start to commit or abort ([EVENT-START]); body is what it
// does. The state is afterwards that of the commit, or exactly what it was ([ABORT]).
func (m *Machine) runEvent(id eventID, why *cause, body func(ev *event) value) (v value, failure *Failure) {
	v, failure, _ = m.runStep(&event{id: id, cause: why}, body)
	return v, failure
}

// runStep is runEvent for an event that may be a step of a chain; follows reports that another
// step does.
func (m *Machine) runStep(ev *event, body func(ev *event) value) (v value, failure *Failure, follows bool) {
	before, noted := m.st, m.uses()
	m.st = before.clone()
	ev.m, ev.started, ev.fuel, ev.before = m, m.st.clock, m.opts.FuelMax, before
	ev.fresh, ev.born, ev.dying = map[eventID]bool{}, map[eventID]bool{}, map[eventID]bool{}
	ev.owners = map[eventID]bool{}
	ev.expect(nil, nil, nil)
	failure = caught(func() {
		ev.mayBeCancelled()
		v = body(ev)
	})
	for len(ev.prints) > 0 {
		ev.expected()
	}
	if failure != nil {
		m.st = before.clone()
		ev.tail = nil
		m.harmless(noted)
	} else {
		ev.commit()
		ev.checkAcyclic()
	}
	m.st.events++
	return v, failure, failure == nil && ev.tail != nil
}

// caught runs f and returns the failure that unwound it, if one has.
func caught(f func()) (failure *Failure) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Failure:
			failure = p
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

// commit lets what the event has issued happen, in program order ([COMMIT]).
func (ev *event) commit() {
	m := ev.m
	st := m.st
	for id := range ev.dying {
		ev.bury(st.actors[id])
	}
	children := 0
	for _, o := range ev.ops {
		switch o.kind {
		case emitOp:
			children++
			if o.timer != (eventID{}) {
				st.busy[o.timer]++
			}
			m.note(write, Resource{kind: laneResource, a: o.issuer.id, b: o.order.target.id})
			id := ev.id.child(children)
			st.queue(o.issuer, o.order.target, &subEvent{id, o.order.method, o.order.args, o.timer, newCause(StepKey{SubStep, id}, ev.cause), nil})
		case callbackOp:
			if o.timer != (eventID{}) {
				st.busy[o.timer]++
			}
			m.note(write, Resource{kind: mailboxResource})
			st.mailbox = with(st.mailbox, &callback{*o.order.object, o.order.method, o.order.args, o.timer, ev.cause})
		case timerOp:
			ev.timers++
			m.setTimer(ev.id.child(ev.timers+2<<32), ev.cause, o.issuer, o.order)
		case cancelOp:
			m.cancelTimer(o.issuer, o.text)
		case effectOp:
			ev.addEffect(o.effect)
		case printOp:
			m.notePrint()
			st.print(o.text)
		}
	}
	if ev.tail != nil {
		ev.handOver(ev.id.child(children + 1))
	}
}

// bury makes a deletion take effect ([DELETE]): the name is free, the timers go, and
// with the fields the edges.
func (ev *event) bury(a *actor) {
	st := ev.m.st
	gone := *a
	gone.deleted, gone.digest = true, digest{}
	st.actors[a.who.id] = &gone
	if key := (actorName{a.who.class, a.who.name}); a.who.named && st.names[key] == a.who.id {
		ev.m.note(write, Resource{kind: nameResource, name: key})
		delete(st.names, key)
		st.lost[key]++
	}
	ev.m.dropTimers(func(t *timer) bool { return t.issuer.id == a.who.id })
}

// enter makes sure that an actor can be called: it exists, and a named one that was not
// called before is created ([NAMED-CREATE]).
func (ev *event) enter(f *frame, who *identity, at ast.Node) {
	if who == nil {
		f.fail(at, msgNullCall)
	}
	a := ev.m.st.actors[who.id]
	if a.deleted || ev.dying[who.id] { // what is gone for good needs no place in the footprint
		ev.m.note(read, Resource{kind: actorResource, a: who.id})
		f.fail(at, "actor "+who.label()+" was deleted")
	}
	ev.touch(who, readAccess)
	if a.born || ev.fresh[who.id] || ev.born[who.id] {
		return
	}
	ev.born[who.id] = true
	ev.touch(who, writeAccess)
	ev.construct(f, who, nil, at)
}

// construct runs the constructor of an actor.
func (ev *event) construct(f *frame, who *identity, args []value, at ast.Node) {
	c := who.class
	fields := make([]value, len(c.Fields))
	for i, v := range c.Fields {
		fields[i] = zeroField(v.Type())
	}
	ev.m.st.actors[who.id] = &actor{who: who, fields: fields, born: true}
	if c.Ctor == nil {
		f.fail(at, "class "+c.Name()+" has no parameterless constructor: its actors cannot be named")
	}
	f.call(c.Ctor, callee{who: who}, args, at)
}

// syncCall is [SYNC-CALL], and [RE-ENTER] where the event is active on the actor already.
func (ev *event) syncCall(f *frame, o order) value {
	if o.target == nil {
		f.fail(o.at, msgNullCall)
	}
	ev.enter(f, o.target, o.at)
	return f.call(o.method, callee{who: o.target}, o.args, o.at)
}

// asyncCall is [ASYNC-CALL]: the call runs here, and its result is dropped. The first
// failure in program order is thereby the event's ([ASYNC-JOIN]). Only random numbers
// show the word: an async call has a sequence of its own.
func (ev *event) asyncCall(f *frame, o order) {
	if o.target == nil {
		f.fail(o.at, msgNullCall)
	}
	own := randomState{ev.random.draw(ev.id, ev.m.seed()) | 1}
	outer := ev.random
	ev.random = own
	ev.expect(o.method, o.target, o.args)
	ev.syncCall(f, o)
	ev.expected()
	ev.random = outer
}

// newActor is [NEW-ACTOR].
func (ev *event) newActor(f *frame, c *typecheck.Class, args []value, at ast.Node) value {
	who := ev.identify(f, c)
	ev.construct(f, who, args, at)
	return actorRef{who}
}

// identify gives a new actor its identity.
func (ev *event) identify(f *frame, c *typecheck.Class) *identity {
	ev.made++
	birth := ev.birth
	for g := f; g != nil; g = g.caller {
		if g.who != nil {
			birth = g.who.birth
			break
		}
	}
	st := ev.m.st
	st.made[c]++
	kin := siblings{c, birth}
	st.serials[kin]++
	if ev.m.p.keys[c] {
		ev.m.note(write, Resource{kind: serialResource, a: eventID{seq: birth}, name: actorName{class: c}})
	}
	who := &identity{id: ev.id.child(ev.made + 1<<32), class: c, birth: birth, serial: st.serials[kin], number: st.made[c]}
	ev.fresh[who.id] = true
	return who
}

// delete marks an actor as deleted, for other events from the commit on ([DELETE]).
func (f *frame) delete(at ast.Node, v value) {
	var who *identity
	if r, ok := v.(actorRef); ok {
		who = r.who
	}
	if f.th != nil {
		f.th.delete(f, who, at)
		return
	}
	f.ev.delete(f, who, at)
}

func (ev *event) delete(f *frame, who *identity, at ast.Node) {
	ev.enter(f, who, at)
	ev.touch(who, writeAccess)
	if ev.dying[who.id] { // by the constructor that has just run
		f.fail(at, "actor "+who.label()+" was deleted")
	}
	ev.dying[who.id] = true
}

// named is actor<C>(k).
func (f *frame) named(c *typecheck.Class, name string) value {
	if f.th != nil {
		return actorRef{f.th.lookup(c, name)}
	}
	f.m.note(read, Resource{kind: nameResource, name: actorName{c, name}})
	return actorRef{f.m.st.lookup(c, name)}
}

// emit is [SUBEVENT], [TIMER-SET] and [CALLBACK-POST] up to the commit.
func (ev *event) emit(f *frame, o order) {
	if o.target == nil && o.object == nil {
		f.fail(o.at, msgNullCall)
	}
	if o.periodic && o.every <= 0 {
		f.fail(o.at, msgPeriod)
	}
	kind := emitOp
	switch {
	case o.timed:
		kind = timerOp
	case o.object != nil:
		kind = callbackOp
	}
	who := f.issuer()
	if o.name != "" {
		ev.need(who, writeAccess) // the names of its timers are the issuer's
	}
	ev.ops = append(ev.ops, op{kind: kind, issuer: who, order: o})
}

// issuer is the actor whose code runs: helpers and value classes run on its behalf.
func (f *frame) issuer() *identity {
	for g := f; g != nil; g = g.caller {
		if g.who != nil {
			return g.who
		}
	}
	panic(bug{"an event without an actor"})
}

// cancel is [TIMER-CANCEL] up to the commit.
func (ev *event) cancel(f *frame, name string) {
	who := f.issuer()
	ev.need(who, writeAccess)
	ev.ops = append(ev.ops, op{kind: cancelOp, issuer: who, text: name})
}

// print is [PRINT].
func (ev *event) print(f *frame, text string) {
	ev.ops = append(ev.ops, op{kind: printOp, text: text})
}

// now is [NOW].
func (ev *event) now() value { return ev.started }

// spend takes one unit of fuel for a round of a loop.
func (ev *event) spend(f *frame, at ast.Node) {
	if ev.fuel--; ev.fuel < 0 {
		f.fail(at, limitText("loop iterations in one step", ev.m.opts.FuelMax, "see that the loop ends, or go on in a later step, by `tail` or `event`"))
	}
}

// readField is [READ].
func (ev *event) readField(who *identity, i int) value {
	ev.touch(who, readAccess)
	return ev.m.st.actors[who.id].fields[i]
}

// writeField stores the value of a field ([WRITE]); a plain field may change ownership.
func (ev *event) writeField(f *frame, who *identity, v *typecheck.Var, x value, at ast.Node) {
	ev.touch(who, writeAccess)
	a := ev.m.st.actors[who.id]
	if !v.Yield {
		ev.changeOwnership(f, who, a.fields[v.Index], x, at)
	}
	changed := *a
	changed.fields = slices.Clone(a.fields)
	changed.fields[v.Index] = x
	changed.digest = digest{}
	ev.m.st.actors[who.id] = &changed
}
