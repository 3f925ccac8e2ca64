package trace

import "fmt"

// timer is what the checker keeps of a timer, under the generation that tells it from all others.
type timer struct {
	parent EventID // that has set it
	issuer string
	every  bool
	tick   int
	over   string // why it does not fire any more; "" while it is set
}

type timerName struct{ issuer, name string }

// times takes what the commit of e does with timers.
func (c *Checker) times(e *Event) {
	for i := range e.Timers {
		o := &e.Timers[i]
		if !e.touches(o.Issuer) {
			c.violate(Cause, o.Issuer, []EventID{e.ID}, "%v sets or cancels a timer of %s, which it has not touched", e, o.Issuer)
		}
		name := timerName{o.Issuer, o.Name}
		if t := c.named[name]; t != nil && o.Name != "" {
			how := "replaced"
			if o.Set == 0 {
				how = "cancelled"
			}
			if t.over == "" {
				t.over = fmt.Sprintf("%v has %s", e, how)
			}
			delete(c.named, name)
		}
		if o.Set == 0 {
			continue
		}
		if c.timers[o.Set] != nil {
			c.violate(Once, o.Issuer, []EventID{e.ID}, "%v sets timer %d, which event %v has set before", e, o.Set, c.timers[o.Set].parent)
		}
		t := &timer{parent: e.ID, issuer: o.Issuer, every: o.Every}
		c.timers[o.Set] = t
		if o.Name != "" {
			c.named[name] = t
		}
	}
}

// idle reports whether e is a firing that has found its timer cancelled, perhaps by an event that a crash has lost.
// Then the timer is set again, and the tick comes again.
func (c *Checker) idle(e *Event) bool {
	return e.Order > c.survived && e.Origin.Kind == "timer" && !e.Aborted && e.Subs+e.Callbacks == 0
}

// fires checks that e, a firing, is the next tick of a timer that is set, and issues what that timer is for. If the
// timer is not set any more, e must issue nothing.
func (c *Checker) fires(e *Event) {
	if c.idle(e) {
		return
	}
	o := &e.Origin
	t := c.timers[o.Timer]
	if t == nil && c.earlier {
		t = &timer{parent: o.Parent, issuer: o.Issuer, tick: o.Index - 1, every: true} // its beginning is not known
		c.timers[o.Timer] = t
	}
	fault := func(rule Rule, format string, args ...any) {
		c.violate(rule, o.Issuer, []EventID{e.ID, o.Parent}, "%v is tick %d of timer %d of %s, %s", e, o.Index, o.Timer, o.Issuer, fmt.Sprintf(format, args...))
	}
	switch {
	case t == nil:
		fault(Cause, "which no event has set")
		return
	case t.parent != o.Parent || t.issuer != o.Issuer:
		fault(Cause, "which event %v has set, for %s", t.parent, t.issuer)
		return
	case e.Target != t.issuer:
		fault(Cause, "and a firing runs on the actor that has set the timer")
	}
	issued := e.Subs + e.Callbacks
	switch {
	case !t.every && t.tick > 0:
		fault(Timer, "which fires once")
	case o.Index != t.tick+1:
		fault(Timer, "but the one before it was tick %d", t.tick)
	case e.Aborted && !c.actor(e.Target).deleted:
		fault(Timer, "and a firing fails only when its actor has been deleted")
	case !e.Aborted && t.over != "" && issued > 0:
		fault(Timer, "which was not set any more: %s it", t.over)
	case !e.Aborted && t.over == "" && issued != 1:
		fault(Timer, "which is set, and issues one event or callback, not %d", issued)
	}
	if p := c.events[o.Parent]; p != nil && e.Start <= p.order {
		fault(Cause, "and began at %d, before it was set", e.Start)
	}
	t.tick = o.Index
}
