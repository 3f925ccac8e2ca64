package spec

import (
	"cmp"
	"math"
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
)

// timerName is the name that a statement at sets or cancels a timer by. An empty one would be that of a timer without a name.
func (f *frame) timerName(at ast.Node, name value) string {
	if name == "" {
		f.fail(at, msgNoName)
	}
	return name.(string)
}

// setTimer is [TIMER-SET] at the commit.
func (m *Machine) setTimer(id eventID, why *cause, issuer *identity, o order) {
	st := m.st
	if o.name != "" {
		m.cancelTimer(issuer, o.name)
	}
	st.generation++
	t := &timer{issuer: issuer, name: o.name, target: o.target, object: o.object, method: o.method, args: o.args,
		due: st.clock.after(o.after), id: id, generation: st.generation, cause: why}
	if o.periodic {
		t.every = o.every
	}
	m.noteTimer(t)
	st.timers = inserted(st.timers, t)
}

// endOfTime is the last time that there is.
const endOfTime instant = math.MaxInt64

// after is the time d after t, which does not come after the end of time. No sum comes before its beginning, as runs start at 1970 or later.
func (t instant) after(d span) instant {
	if d > 0 && t > endOfTime-instant(d) {
		return endOfTime
	}
	return t + instant(d)
}

// noteTimer notes what the place of a timer among the others depends on. Timers due at
// the same time fire in the order in which they were set, and a periodic one is due at
// many times.
func (m *Machine) noteTimer(t *timer) {
	m.note(write, Resource{kind: dueResource, a: eventID{uint64(t.due), 0}})
	if t.every > 0 {
		m.note(write, Resource{kind: periodicResource})
	} else {
		m.note(read, Resource{kind: periodicResource})
	}
}

// inserted returns the list with t in its place: by due time, then by when it was set.
func inserted(list []*timer, t *timer) []*timer {
	i, _ := slices.BinarySearchFunc(list, t, func(a, b *timer) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.generation, b.generation))
	})
	return slices.Insert(slices.Clone(list), i, t)
}

// cancelTimer is [TIMER-CANCEL]: also of a timer that has fired and whose firing has not run.
func (m *Machine) cancelTimer(issuer *identity, name string) {
	m.note(write, Resource{kind: timerResource, a: issuer.id, text: name})
	m.dropTimers(func(t *timer) bool { return t.issuer.id == issuer.id && t.name == name })
}

// dropTimers ends timers. A firing that is to run stays, and does nothing: a search of all orders, which has seen the
// end of the timer first, must meet the firing to learn that it could have come before.
func (m *Machine) dropTimers(match func(*timer) bool) {
	m.st.timers = slices.DeleteFunc(slices.Clone(m.st.timers), match)
	for i, t := range m.st.fired {
		if match(t) && !t.off {
			off := *t
			off.off = true
			m.st.fired = replaced(m.st.fired, i, &off)
		}
	}
}

// fire takes the first timer, which is due, and makes it a firing that is to run. A
// periodic one is set again, at its next tick after now, of which there is none after the
// end of time; its firing is left out if the one before has not ended.
func (m *Machine) fire() {
	st := m.st
	t := st.timers[0]
	st.timers = without(st.timers, 0)
	if t.again != nil {
		st.effects = with(st.effects, t.again)
		return
	}
	busy := st.busy[t.id] > 0
	tick := *t
	tick.tick++
	if t.every > 0 && t.due < endOfTime {
		again := tick
		missed := span(st.clock-t.due) / t.every
		again.due = (t.due + instant(missed*t.every)).after(t.every)
		if busy {
			again.tick--
		}
		st.timers = inserted(st.timers, &again)
	}
	if busy {
		return
	}
	st.busy[t.id]++
	st.fired = with(st.fired, &tick)
}

// firesBefore reports whether another firing comes before the i-th: one of the same issuer, or
// one that was due at the same time.
func (s *state) firesBefore(i int) bool {
	return slices.ContainsFunc(s.fired[:i], func(t *timer) bool {
		return t.issuer.id == s.fired[i].issuer.id || t.due == s.fired[i].due
	})
}

// ended notes that a firing of the timer, or what it has issued, has ended.
func (s *state) ended(id eventID) {
	if id == (eventID{}) {
		return
	}
	if s.busy[id]--; s.busy[id] <= 0 {
		delete(s.busy, id)
	}
}

// runFiring is [TIMER-FIRE]: an event on the issuer, which issues the call proper as a
// sub-event of the issuer, unless the timer has ended meanwhile.
func (m *Machine) runFiring(i int) {
	t := m.st.fired[i]
	m.st.fired = without(m.st.fired, i)
	m.note(write, Resource{kind: firingResource})
	m.note(read, Resource{kind: timerResource, a: t.issuer.id, text: t.name})
	if t.off || m.st.actors[t.issuer.id].deleted { // the latter by the event that set the timer
		m.note(read, Resource{kind: actorResource, a: t.issuer.id})
		m.st.ended(t.id)
		return
	}
	id := t.id.child(t.tick)
	m.runEvent(id, newCause(StepKey{FiringStep, id}, t.cause), func(ev *event) value {
		ev.touch(t.issuer, readAccess)
		o := op{kind: emitOp, issuer: t.issuer, timer: t.id, order: order{target: t.target, object: t.object, args: t.args, method: t.method}}
		if t.object != nil {
			o.kind = callbackOp
		}
		ev.ops = append(ev.ops, o)
		return nil
	})
	m.st.ended(t.id)
}

// oneShots reports whether a timer without a period is left, for which a program waits
// before it ends ([END]).
func (s *state) oneShots() bool {
	return slices.ContainsFunc(s.timers, func(t *timer) bool { return t.every == 0 })
}
