package spec

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// effectCall is a call of a Go function that has been issued and has not ended: an element of G.
type effectCall struct {
	id     eventID
	issuer *identity
	call   *typecheck.ClassGoCall
	left   int // how many tries may yet be made
	tried  int // how many have failed
	args   []value
	then   []value // the arguments of the method that follows, but the last
	cause  *cause
}

// issueEffect is [GO-ISSUE] up to the commit.
func (f *frame) issueEffect(s *ast.GoCall) {
	g := f.info.GoCalls[s]
	c := &effectCall{issuer: f.issuer(), call: g.ClassGoCall, left: g.Tries, args: f.evalAll(s.X.Args)}
	if s.Then != nil {
		c.then = f.evalAll(s.Then.Args)
	}
	f.ev.ops = append(f.ev.ops, op{kind: effectOp, effect: c})
}

// effectIndex is where the numbers of calls begin among all that an event gives rise to.
const effectIndex = 3 << 32

// addEffect is [GO-ISSUE] at the commit.
func (ev *event) addEffect(issued *effectCall) {
	ev.effects++
	c := *issued
	c.id, c.cause = ev.id.child(effectIndex+ev.effects), ev.cause
	ev.m.st.effects = with(ev.m.st.effects, &c)
}

// key names the try that a call makes next.
func (c *effectCall) key(kind StepKind) StepKey { return StepKey{kind, c.id.child(c.tried)} }

func (c *effectCall) text(how string) string {
	return "the Go function " + c.call.Func.Go.Name() + argsText(c.args) + ", issued by " + c.issuer.sign() + ", " + how
}

// invented is the failure of tries: none is made.
const invented = "failed"

// runTry is [GO-TRY]: the i-th call is tried, and the try ends well or fails.
func (m *Machine) runTry(i int, kind StepKind) {
	st := m.st
	c := *st.effects[i]
	st.effects = without(st.effects, i)
	m.note(write, Resource{kind: effectResource, a: c.id})
	c.cause = newCause(c.key(kind), c.cause)
	failed := kind == GoFailStep
	if failed {
		c.left--
		if c.tried++; c.left > 0 {
			m.tryLater(&c)
			return
		}
	}
	then := c.call.Then
	switch {
	case then != nil:
		var failure value
		if failed {
			failure = invented
		}
		m.note(write, Resource{kind: laneResource, a: c.issuer.id, b: c.issuer.id})
		st.queue(c.issuer, c.issuer, &subEvent{id: c.id, method: then, args: append(c.then[:len(c.then):len(c.then)], failure), cause: newCause(StepKey{SubStep, c.id}, c.cause)})
	case failed:
		st.deadLetter(c.issuer, c.call.Call.Name(), &Failure{Msg: invented}) // no event has failed, so no test does
	}
}

// tryLater sets the timer for the next try. It belongs to no actor.
func (m *Machine) tryLater(c *effectCall) {
	wait := span(1e9)
	for range c.tried - 1 {
		wait = min(2*wait, 300e9)
	}
	st := m.st
	st.generation++
	t := &timer{issuer: &identity{id: c.id}, again: c, method: c.call.Call, due: st.clock.after(wait), id: c.key(GoFailStep).id, generation: st.generation, cause: c.cause}
	m.noteTimer(t)
	st.timers = inserted(st.timers, t)
}

// Alternative reports whether the two steps are the two ends of one try.
func (s Step) Alternative(other Step) bool {
	return s.Key.kind != other.Key.kind && s.tries() && other.tries() && s.Key.id == other.Key.id
}

func (s Step) tries() bool { return s.Kind == GoEndStep || s.Kind == GoFailStep }
