package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/typecheck"
)

// StepKind tells what a step does.
type StepKind uint8

// The kinds of steps.
const (
	IssueStep    StepKind = iota // an event that a client has issued
	SubStep                      // the first sub-event of an issuer to a target
	TailStep                     // the next step of a chain that keeps its actor
	FiringStep                   // the firing of a timer that is due
	GoEndStep                    // a try of a Go function ends well
	GoFailStep                   // a try of a Go function fails
	CallbackStep                 // the first callback of the client
	ActionStep                   // a visible action of client code
	TimeStep                     // time passes (main with FreeTime)
)

// StepKey names a step: the same in all orders in which it occurs, but for what callbacks have led to. The events of callbacks
// are numbered as they come, and so a key names other steps in other orders; where the Digest is the same it names the same one.
type StepKey struct {
	kind StepKind
	id   eventID
}

// Step is one of the steps that may come next.
type Step struct {
	Kind  StepKind
	Key   StepKey
	index int
	text  func() string
	cause *cause
}

// String describes the step to users, such as `Bank("main").transfer("ann", "bob", 5)`.
func (s Step) String() string { return s.text() }

// After reports whether the step that key names led to this one: it issued the event, or a
// thread that did had awaited it. In no order does this step come first then.
func (s Step) After(key StepKey) bool { return s.cause.after(key, map[*cause]bool{}) }

// CauseSum is a fingerprint of the step and of all that led to it.
func (s Step) CauseSum() [2]uint64 {
	d := s.cause.digest()
	return [2]uint64{d.a, d.b}
}

// cause is a step and what led to it.
type cause struct {
	key  StepKey
	from []*cause
	sum  digest // of the rest; zero if it was not asked for
}

func newCause(key StepKey, from ...*cause) *cause { return &cause{key: key, from: from} }

func (c *cause) after(key StepKey, seen map[*cause]bool) bool {
	if c == nil || seen[c] {
		return false
	}
	seen[c] = true
	for _, f := range c.from {
		if f != nil && (f.key == key || f.after(key, seen)) {
			return true
		}
	}
	return false
}

// Options returns the steps that may come next, in a fixed order. There are none when the
// run is over.
func (m *Machine) Options() []Step {
	if m.Over() {
		return nil
	}
	return m.options()
}

// options are the steps without regard to whether the run is over.
func (m *Machine) options() []Step {
	st := m.st
	var list []Step
	add := func(kind StepKind, id eventID, index int, why *cause, text func() string) {
		list = append(list, Step{Kind: kind, Key: StepKey{kind, id}, index: index, text: text, cause: why})
	}
	for i, e := range st.issued {
		if m.mustFollow(i) {
			continue
		}
		add(IssueStep, e.id, i, e.cause, e.text)
	}
	for i, l := range st.lanes {
		e := l.queue[0]
		add(SubStep, e.id, i, e.cause, func() string { return callText(l.target, e.method, e.args) + ", issued by " + l.issuer.sign() })
	}
	for i, k := range st.kept {
		add(TailStep, k.step.id, i, k.step.cause, func() string { return callText(k.who, k.step.method, k.step.args) + ", by a tail call" })
	}
	for i, t := range st.fired {
		if st.firesBefore(i) {
			continue
		}
		id := t.id.child(t.tick)
		add(FiringStep, id, i, newCause(StepKey{FiringStep, id}, t.cause), func() string { return "a timer of " + t.issuer.sign() + " fires" })
	}
	if len(st.kept) > 0 {
		list = slices.DeleteFunc(list, m.mustWait)
	}
	for i, c := range st.effects {
		end, fail := c.key(GoEndStep), c.key(GoFailStep)
		add(GoEndStep, end.id, i, newCause(end, c.cause), func() string { return c.text("ends well") })
		add(GoFailStep, fail.id, i, newCause(fail, c.cause), func() string { return c.text("fails") })
	}
	callback := m.callbackThread()
	if len(st.mailbox) > 0 && callback == nil {
		c := st.mailbox[0]
		key := eventID{uint64(st.callbacks), 0}
		add(CallbackStep, key, 0, newCause(StepKey{CallbackStep, key}, c.cause), func() string { return "callback " + c.method.FullName() + argsText(c.args) })
	}
	for i, t := range st.threads {
		if t.waiting != nil && t.waiting.kind == actionWait {
			id := eventID{uint64(i), t.log.sum.a}
			add(ActionStep, id, i, newCause(StepKey{ActionStep, id}, t.causes...), func() string { return []string{"the client ", "the callback "}[i] + t.waiting.what })
		}
	}
	if m.timeMay(len(list) == 0) {
		add(TimeStep, eventID{uint64(st.clock), 0}, 0, nil, func() string { return "time passes" })
	}
	return list
}

// timeMay reports whether it is a step that time passes in main: if some thread sleeps or a
// timer is set, and nothing else can happen or time is free.
func (m *Machine) timeMay(idle bool) bool {
	if m.entry.Test || !idle && !m.opts.FreeTime {
		return false
	}
	if m.mainEnded() {
		return m.st.threads[0].failure == nil && m.st.oneShots()
	}
	for _, t := range m.st.threads {
		if t.waiting != nil && t.waiting.kind == sleepWait {
			return true
		}
	}
	return m.opts.FreeTime && len(m.st.timers) > 0
}

// alone reports whether client code that runs now need not wait for its turn: there is
// nothing else that could come before what it does.
func (m *Machine) alone() bool { return len(m.options()) == 0 }

// mustFollow is [ISSUE-ORDER]: it reports whether the i-th event that was issued waits for one that its client
// has issued to the same target before. An event that was cancelled has no effect, and so no order.
func (m *Machine) mustFollow(i int) bool {
	e := m.st.issued[i]
	if e.target == nil || m.st.called[e.id] {
		return false
	}
	for _, o := range m.st.issued[:i] {
		if o.id.origin == e.id.origin && o.target != nil && o.target.id == e.target.id && !m.st.called[o.id] {
			return true
		}
	}
	return false
}

// Over reports whether the run has ended: the client code, and every event that it has led
// to ([END]).
func (m *Machine) Over() bool {
	if m.opts.StopAtFailure && m.Failure() != nil {
		return true
	}
	return m.mainEnded() && len(m.options()) == 0
}

// Do makes a step, and lets client code go on that waited for it. It returns what the step
// has read and written.
func (m *Machine) Do(s Step) Access {
	m.st, m.undone = m.st.clone(), nil
	m.acc = Access{}
	switch s.Kind {
	case IssueStep, SubStep, TailStep, FiringStep:
		m.runStepEvent(s)
	case GoEndStep, GoFailStep:
		m.runTry(s.index, s.Kind)
	case CallbackStep:
		m.runCallback()
	case ActionStep:
		m.note(write, m.st.threads[s.index].waiting.on)
		m.tell(s.index, nil)
	case TimeStep:
		m.passTime()
	}
	m.proceed()
	m.hearUnclaimed()
	return m.acc
}

// runStepEvent runs the event that a step is.
func (m *Machine) runStepEvent(s Step) {
	switch s.Kind {
	case IssueStep:
		m.runIssue(s.index)
	case SubStep:
		m.runSub(s.index)
	case TailStep:
		m.runKept(s.index)
	case FiringStep:
		m.runFiring(s.index)
	}
}

func (i *issue) text() string {
	switch i.kind {
	case newEvent:
		return "new " + i.class.Name() + argsText(i.args)
	case deleteEvent:
		return "delete " + i.target.sign()
	}
	return callText(i.target, i.method, i.args)
}

// callText writes a call as it would stand in a program.
func callText(target *identity, method *typecheck.Func, args []value) string {
	return fmt.Sprintf("%s.%s%s", target.sign(), method.Name(), argsText(args))
}

const argTextMax = 40 // characters

func argsText(args []value) string {
	var list []string
	for _, v := range args {
		var s string
		switch v := v.(type) {
		case string:
			s = strconv.Quote(v)
		case actorRef:
			s = v.who.sign()
		default:
			s = strconv.Quote(text(v)) // on one line, whatever is in it
			s = strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`)
		}
		if r := []rune(s); len(r) > argTextMax {
			s = string(r[:argTextMax]) + "…"
		}
		list = append(list, s)
	}
	return "(" + strings.Join(list, ", ") + ")"
}
