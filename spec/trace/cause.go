package trace

import "fmt"

// Every event and callback in a trace comes from a client, or from what an event has issued by its commit: sub-events
// and steps of chains by their number, callbacks by theirs, ticks by their timer (timer.go). The record of the event
// says how much that is, and each of it is accounted for once: what was not issued, or comes again under another id, is
// no less wrong than what is missing.

// issuer is what the checker keeps of an event for the events and callbacks that come from it.
type issuer struct {
	order     int64
	committed bool
	issues    *issues // nil: nothing
}

// issues is what an event has issued.
type issues struct {
	unknown bool // its own record is missing, so it is not known how much it was
	target  string
	keeps   bool
	touched []string // the actors that may have issued it; nil when all is there
	// anywhere: not all of them are known, as they are in other stores, or an earlier start has run the code.
	anywhere bool
	clients  []uint64   // of the callbacks, in order; nil before version 3
	count    [2]int     // sub-events, callbacks
	seen     [2]numbers // which of them have come
}

// The two countings of what an event issues.
const (
	ofSubs = iota
	ofCallbacks
)

// ofAnotherStore stands for a client of another store, which has its callbacks.
const ofAnotherStore = 0

// numbers is a set of numbers from 1 on.
type numbers struct {
	low  uint64 // up to 64
	more map[int]bool
	n    int
}

// add reports whether i was not in the set.
func (s *numbers) add(i int) bool {
	switch bit := uint64(1) << (i - 1); {
	case i > 64 && s.more[i], i <= 64 && s.low&bit != 0:
		return false
	case i <= 64:
		s.low |= bit
	case s.more == nil:
		s.more = map[int]bool{i: true}
	default:
		s.more[i] = true
	}
	s.n++
	return true
}

// issued notes when e was issued, that it has ended, and what is to follow from it. It reports whether e has ended before.
func (c *Checker) issued(e *Event) (again bool) {
	if before := c.events[e.ID]; before != nil {
		again = true
		c.violate(Once, "", []EventID{e.ID}, "%v has ended before, with order %d", e, before.order)
	}
	i := &issuer{order: e.Order, committed: !e.Aborted}
	if !e.Aborted && e.Subs+e.Callbacks > 0 {
		i.issues = &issues{target: e.Target, keeps: e.Keeps, touched: e.touched(), anywhere: e.Restored || e.Try != 0 && !e.isPart(), count: [2]int{e.Subs, e.Callbacks}}
		c.pending[ofSubs] += e.Subs
		c.pending[ofCallbacks] += e.Callbacks
		if len(e.Clients) > 0 {
			i.issues.clients = append([]uint64(nil), e.Clients...)
		}
		for _, client := range e.Clients {
			if client != ofAnotherStore {
				c.owed[client]++
			}
		}
	}
	if !c.idle(e) {
		c.events[e.ID] = i
	}
	if e.isPart() {
		return again // what is issued and answered is told by its home
	}
	if e.Start > c.latest.start {
		c.latest = interval{event: e.ID, start: e.Start}
	}
	c.open[e.Order] = interval{e.ID, e.Start, e.Origin.Kind == "client", c.latest.event, c.latest.start, c.latest.latestOf, c.joint.next()}
	return again
}

// touches reports whether e has touched the actor.
func (e *Event) touches(actor string) bool {
	for _, list := range [...][]Access{e.Reads, e.Writes} {
		for i := range list {
			if list[i].Actor == actor {
				return true
			}
		}
	}
	return false
}

func (e *Event) touched() (list []string) {
	for i := range e.Reads {
		list = append(list, e.Reads[i].Actor)
	}
	for i := range e.Writes {
		if i >= len(e.Reads) || e.Writes[i].Actor != e.Reads[i].Actor {
			list = append(list, e.Writes[i].Actor)
		}
	}
	return list
}

// sensible checks that the members of e fit each other.
func (c *Checker) sensible(e *Event) {
	o := &e.Origin
	fault := func(rule Rule, format string, args ...any) {
		c.violate(rule, e.Target, []EventID{e.ID}, "%v %s", e, fmt.Sprintf(format, args...))
	}
	fromClient := o.Client != 0
	if e.isPart() {
		if fromClient || e.Try == 0 || o.Parent != (EventID{}) {
			fault(Cause, "is of attempt %d, of client %d and event %v", e.Try, o.Client, o.Parent)
		}
	} else if fromClient != (o.Kind == "client") || fromClient != (o.Parent == EventID{}) {
		fault(Cause, "is of kind %q, of client %d and event %v", o.Kind, o.Client, o.Parent)
	}
	if e.Start >= e.Order {
		fault(RealTime, "was issued at %d", e.Start)
	}
	if e.Keeps && e.Subs == 0 {
		fault(Cause, "keeps its actor for a step that it has not issued")
	}
	if e.Callbacks != len(e.Clients) {
		fault(Cause, "does not name the clients of its callbacks")
	}
	if e.At != 0 && (e.At <= e.Start || e.At >= e.Order) {
		fault(RealTime, "was issued at %d, and has the place %d among the events of all stores", e.Start, e.At)
	}
	if e.Aborted || e.Try != 0 { // the target may be in another store
		return
	}
	if !e.touches(e.Target) {
		fault(Read, "has not touched the actor that it was called on")
	} else if a := c.actors[e.Target]; a != nil && a.deleted {
		fault(Read, "ran on an actor that %v has deleted", a.by)
	}
}

// cause checks that e follows from what has issued it.
func (c *Checker) cause(e *Event) {
	o := &e.Origin
	switch o.Kind {
	case "sub", "tail":
		c.section.Counts.Subs++
		p := c.parent(e, o, ofSubs)
		if p == nil {
			return
		}
		c.step(e, p)
		if c.certain() && e.Start <= p.order {
			c.violate(Cause, "", []EventID{e.ID, o.Parent}, "%v had its turn at %d, before event %v, which has issued it, had committed", e, e.Start, o.Parent)
		}
		if c.goesOn(e) {
			return // it waits behind no other event
		}
		l, at := lane{o.Issuer, e.Target}, place{p.order, o.Index}
		if last, ok := c.lanes[l]; ok && !last.before(at) {
			c.violate(Lane, e.Target, []EventID{e.ID}, "%v is sub-event %d of the event of order %d from %s to %s, but number %d of order %d came before it",
				e, o.Index, p.order, o.Issuer, e.Target, last.index, last.order)
		}
		c.lanes[l] = at
	case "go": // its id is that of the call, so that it comes once; how many calls there were, and how long they take, is not told
		switch p := c.events[o.Parent]; {
		case p == nil && c.earlier:
		case p == nil || !p.committed:
			c.violate(Cause, "", []EventID{e.ID, o.Parent}, "%v follows a call of a Go function that event %v has issued, which has not committed before", e, o.Parent)
		case c.certain() && e.Start <= p.order:
			c.violate(Cause, "", []EventID{e.ID, o.Parent}, "%v had its turn at %d, before event %v, which has issued the call that it follows, had committed", e, e.Start, o.Parent)
		}
	case "timer":
		c.section.Counts.Timers++
		if p := c.events[o.Parent]; (p == nil || !p.committed) && (p != nil || !c.earlier) {
			c.violate(Cause, "", []EventID{e.ID, o.Parent}, "%v is the firing of a timer that event %v has set, which has not committed before", e, o.Parent)
			return
		}
		if c.certain() {
			c.fires(e)
		}
	case "client":
		c.inOrder(e)
	case "part": // its home has the cause
	default:
		c.violate(Cause, "", []EventID{e.ID}, "%v is of kind %q, which there is not", e, o.Kind)
	}
}

// inOrder checks that e, which a client has issued, comes behind what its session has issued to the same target before.
// An event that the client awaited on the spot is not checked: other goroutines of the client may issue meanwhile, and
// the trace does not tell their order. An event that was cancelled has no order.
func (c *Checker) inOrder(e *Event) {
	if e.Aborted && e.Why == "cancelled" {
		return
	}
	l := issueLine{e.ID.Origin, e.Target}
	last, ok := c.lines[l]
	if ok && e.Origin.Issued && e.Start < last.start {
		c.violate(Issue, e.Target, []EventID{e.ID, last.event}, "%v was issued at %d, before event %v was at %d, and comes after it",
			e, e.Start, last.event, last.start)
	}
	if !ok || e.Start > last.start {
		c.lines[l] = interval{event: e.ID, start: e.Start}
	}
}

// step checks that e is a step of a chain where p has ended with a tail call, and only there.
func (c *Checker) step(e *Event, p *issuer) {
	o, w := &e.Origin, p.issues
	if !c.certain() || w.unknown {
		return
	}
	last := o.Index == w.count[ofSubs]
	switch {
	case o.Kind == "tail" && (!last || o.Issuer != w.target):
		c.violate(Cause, "", []EventID{e.ID, o.Parent}, "%v goes on with a chain as number %d of event %v, from %s; a tail call is the last of its %d, from %s",
			e, o.Index, o.Parent, o.Issuer, w.count[ofSubs], w.target)
	case w.keeps && last && (o.Kind != "tail" || e.Target != w.target):
		c.violate(Keep, w.target, []EventID{e.ID, o.Parent}, "%v is the step for which event %v keeps %s, and no tail call of that", e, o.Parent, w.target)
	}
}

// parent returns the event that has issued what o describes, nil if it cannot have done so, or if that was in a run that
// is not there.
func (c *Checker) parent(what fmt.Stringer, o *Origin, kind int) *issuer {
	p := c.events[o.Parent]
	unknown := p == nil && c.earlier && c.vanished[o.Parent] == ""
	if unknown {
		p = &issuer{committed: true, issues: &issues{unknown: true}}
		c.events[o.Parent] = p
	}
	if p == nil || !p.committed {
		c.violate(Cause, "", []EventID{o.Parent}, "%v was issued by event %v, which has not committed before", what, o.Parent)
		return nil
	}
	w := p.issues
	switch {
	case o.Index < 1, w == nil, !w.unknown && o.Index > w.count[kind]:
		n := 0
		if w != nil {
			n = w.count[kind]
		}
		c.violate(Cause, "", []EventID{o.Parent}, "%v is number %d of event %v (order %d), which has issued %d", what, o.Index, o.Parent, p.order, n)
		return nil
	case !w.seen[kind].add(o.Index):
		c.violate(Once, "", []EventID{o.Parent}, "%v is number %d of event %v (order %d), which has come before", what, o.Index, o.Parent, p.order)
		return nil
	case w.unknown:
		return nil
	}
	c.pending[kind]--
	if c.certain() && !w.anywhere && !contains(w.touched, o.Issuer) {
		c.violate(Cause, o.Issuer, []EventID{o.Parent}, "%v was issued by %s in event %v (order %d), which has not touched that", what, o.Issuer, o.Parent, p.order)
	}
	if w.seen[ofSubs].n == w.count[ofSubs] && w.seen[ofCallbacks].n == w.count[ofCallbacks] {
		w.touched = nil
	}
	return p
}

func contains(list []string, s string) bool {
	for _, t := range list {
		if s == t {
			return true
		}
	}
	return false
}

// String names the callback in reports.
func (k *Callback) String() string {
	return fmt.Sprintf("callback %s of client %d", k.Method, k.Origin.Client)
}

// Callback takes a callback that is about to run.
func (c *Checker) Callback(k *Callback) {
	c.section.Counts.Callbacks++
	o := &k.Origin
	if o.Parent == (EventID{}) {
		return // posted by a client
	}
	if o.Elsewhere {
		if c.joint != nil {
			c.called(k)
		}
		return
	}
	if c.lostParent(k) {
		return
	}
	p := c.parent(k, o, ofCallbacks)
	if p == nil {
		return
	}
	if to := p.issues.clients; to != nil {
		want := to[o.Index-1]
		c.owed[want]--
		if want != o.Client {
			c.violate(Cause, "", []EventID{o.Parent}, "%v is number %d of event %v (order %d), which is for client %d", k, o.Index, o.Parent, p.order, want)
		}
	}
	if c.certain() && k.Start <= p.order {
		c.violate(Cause, "", []EventID{o.Parent}, "%v ran at %d, before event %v, which has issued it, had committed", k, k.Start, o.Parent)
	}
	at := place{p.order, o.Index}
	if last, ok := c.boxes[o.Client]; ok && !last.before(at) {
		c.violate(Client, "", []EventID{o.Parent}, "%v is number %d of the event of order %d, but number %d of order %d came before it",
			k, o.Index, p.order, last.index, last.order)
	}
	c.boxes[o.Client] = at
}

// Gone notes that a client has gone: its callbacks may be dropped.
func (c *Checker) Gone(client uint64) {
	c.gone[client] = true
	if c.joint != nil {
		c.joint.gone = true
	}
}

// missing reports what a closed section lacks.
func (c *Checker) missing() {
	if n := c.pending[ofSubs]; n > 0 {
		c.violate(Lost, "", nil, "%d sub-events were issued and have not ended", n)
	}
	n := 0
	for client, owed := range c.owed {
		if !c.gone[client] {
			n += owed
		}
	}
	if !c.certain() && len(c.gone) == 0 {
		n = c.pending[ofCallbacks]
	}
	if n > 0 {
		c.violate(Lost, "", nil, "%d callbacks were issued and have not run", n)
	}
}
