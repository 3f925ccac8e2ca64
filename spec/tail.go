package spec

import "github.com/aeon-lang/aeon/typecheck"

// chain is an event and what follows it by tail calls, of which one step runs or waits at a time.
type chain struct {
	first eventID
	issue *issue // by which a client began it; nil if an actor did
}

// kept is a step that waits for no other event, and the actor that its chain keeps for it ([KEEP]).
type kept struct {
	who  *identity
	step *subEvent
}

// tailCall is [TAIL] up to the commit.
func (ev *event) tailCall(f *frame, o order) {
	if o.target == nil {
		f.fail(o.at, msgNullCall)
	}
	if o.keeps() {
		ev.need(o.target, writeAccess) // a chain that keeps an actor has had it alone
	}
	ev.tail = &o
}

// keeps reports whether a tail call keeps the actor: it is a call of this.
func (o *order) keeps() bool { return o.call.Through == typecheck.ThroughThis }

// handOver is [TAIL] at the commit: what the event has issued comes before the next step, which
// joins the sub-events of this actor to another, or keeps this one.
func (ev *event) handOver(id eventID) {
	m, o := ev.m, ev.tail
	ch := ev.chain
	if ch == nil {
		ch = &chain{first: ev.id, issue: ev.issue}
	}
	step := &subEvent{id: id, method: o.method, args: o.args, chain: ch}
	if o.keeps() {
		step.cause = newCause(StepKey{TailStep, id}, ev.cause)
		m.note(write, Resource{kind: actorResource, a: o.target.id})
		m.st.kept = with(m.st.kept, &kept{o.target, step})
		return
	}
	step.cause = newCause(StepKey{SubStep, id}, ev.cause)
	m.note(write, Resource{kind: laneResource, a: ev.target.id, b: o.target.id})
	m.st.queue(ev.target, o.target, step)
}

// keptByOther unwinds an event that touches an actor which a chain keeps, and that is no step of it.
type keptByOther struct{}

// respect is [KEEP].
func (ev *event) respect(who *identity) {
	for _, k := range ev.m.st.kept {
		if k.who.id == who.id && k.step.chain != ev.chain {
			panic(keptByOther{})
		}
	}
}

// mustWait reports whether the event of a step touches, in the present state, an actor that a chain keeps.
// It runs the event to know, and takes everything back.
func (m *Machine) mustWait(s Step) (waits bool) {
	st, undone, stop, steps, acc := m.st, m.undone, m.stop, m.steps, m.acc
	defer func() {
		m.st, m.undone, m.stop, m.steps, m.acc = st, undone, stop, steps, acc
		if p := recover(); p != nil {
			if _, waits = p.(keptByOther); !waits {
				panic(p)
			}
		}
	}()
	m.st, m.acc = m.st.clone(), Access{}
	m.runStepEvent(s)
	return false
}

// runKept runs the next step of a chain that keeps its actor.
func (m *Machine) runKept(i int) {
	k := m.st.kept[i]
	m.st.kept = without(m.st.kept, i)
	e := k.step
	v, failure, follows := m.runStep(&event{id: e.id, cause: e.cause, chain: e.chain}, func(ev *event) value {
		root := &frame{m: m, info: m.p.entry, ev: ev}
		return ev.start(root, k.who, e.method, e.args)
	})
	m.undone = failure
	m.note(write, Resource{kind: actorResource, a: k.who.id}) // other events may touch it from now on
	if !follows {
		m.endChain(e, k.who, v, failure)
	}
}

// endChain gives the outcome of a sub-event that is no step, or the last one, to all that may ask.
func (m *Machine) endChain(e *subEvent, target *identity, v value, failure *Failure) {
	if e.chain != nil && e.chain.issue != nil {
		i := e.chain.issue
		m.answer(i, result{value: v, failure: failure, target: i.target, method: i.method, cause: e.cause})
		return
	}
	if failure != nil {
		m.st.deadLetter(target, e.method.Name(), failure)
		m.unheard(failure)
	}
}
