package spec

import (
	"slices"
	"time"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// Options bound and configure a run; the zero value is for running a program once.
type Options struct {
	// Start is the time at which a run begins; the zero Time is that of `aeonc test`.
	Start time.Time
	// Seed goes into every random(), as `aeonc test --seed` does.
	Seed uint64
	// DepthMax bounds nested calls, FuelMax the rounds of loops in one event, StepsMax the
	// statements and calls of a whole run. 0: 10 000, 100 million, 1000 million.
	DepthMax, FuelMax, StepsMax int
	// Observe: printing is a visible action of clients, so that all orders of the lines
	// that a program can print are among its orders. Without it the output of a run is
	// that of an order in which clients print as soon as they can.
	Observe bool
	// FreeTime: in main, time may pass whenever something waits for it, as it may on a
	// busy machine. Without it time passes only when nothing else can happen.
	FreeTime bool
	// StopAtFailure: a failure of main or the test ends the run at once. A failure of which no
	// client learns is one of the test ([TEST-FAILS]); one of main only if an assert has failed.
	StopAtFailure bool
}

func (o *Options) defaults() {
	setDefault := func(p *int, n int) {
		if *p <= 0 {
			*p = n
		}
	}
	setDefault(&o.DepthMax, 10_000)
	setDefault(&o.FuelMax, 100_000_000)
	setDefault(&o.StepsMax, 1_000_000_000)
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
}

// Machine is a run of a program: a state, and the steps that may come next. One goroutine
// uses it. Close frees what it holds.
type Machine struct {
	p     *Program
	entry Entry
	opts  Options
	st    *state
	live  [2]*client // coroutines of the thread of main and of the callback
	steps int        // statements and calls so far
	acc   Access     // of the step that runs
	stop  *Failure   // the first failure of which no client learns that fails the entry, with StopAtFailure
	// undone is the failure of the event that the last step has run, if it has failed.
	undone *Failure
}

// mainSession is the number of the client of main; the one before is the system's own.
const mainSession = 2

// Start returns a machine that is about to run an entry of the program: client code has run
// to its first wait.
func (p *Program) Start(e Entry, o Options) *Machine {
	o.defaults()
	m := &Machine{p: p, entry: e, opts: o, st: newState(instant(o.Start.UnixNano()))}
	m.st.threads = []*thread{{session: mainSession, log: newReply(nil, nil)}}
	m.acc = Access{}
	m.resume(0)
	m.proceed()
	m.hearUnclaimed()
	return m
}

// Close ends the client code that is under way.
func (m *Machine) Close() {
	for i := range m.live {
		m.drop(i)
	}
}

func (m *Machine) drop(i int) {
	if m.live[i] != nil {
		m.live[i].stop()
		m.live[i] = nil
	}
}

// seed is what the seed of a run becomes: odd multiples keep neighbouring ones apart.
func (m *Machine) seed() uint64 { return m.opts.Seed * 0x9e3779b97f4a7c15 }

// spend counts a statement or a call of the run.
func (m *Machine) spend(f *frame, at ast.Node) {
	if m.steps++; m.steps > m.opts.StepsMax {
		msg := limitText("statements in one run", m.opts.StepsMax, "see that the program ends, or let it do less")
		if at != nil {
			msg += "; it was at " + f.path(at.Span())[0].Short()
		}
		panic(exhausted{msg})
	}
}

// exhausted unwinds a run that has exceeded StepsMax.
type exhausted struct{ msg string }

// resume lets a thread run until it waits or ends.
func (m *Machine) resume(slot int) {
	t := m.st.threads[slot]
	c := m.live[slot]
	if c == nil || c.at != t.log && (t.log.before == nil || c.at != t.log.before) {
		m.drop(slot)
		c = m.spawn(slot)
		m.live[slot] = c
	} else if c.at != t.log {
		c.replay = []*reply{t.log}
	}
	if _, more := c.next(); !more {
		m.live[slot] = nil
	}
}

// learn notes that what a thread does from now on comes after something.
func (m *Machine) learn(slot int, why *cause) {
	t := *m.st.threads[slot]
	t.causes = with(t.causes, why)
	m.st.threads = replaced(m.st.threads, slot, &t)
}

// tell gives a thread what it waits for and lets it run.
func (m *Machine) tell(slot int, v any) {
	t := *m.st.threads[slot]
	t.log = newReply(t.log, v)
	t.waiting = nil
	m.st.threads = replaced(m.st.threads, slot, &t)
	m.resume(slot)
}

// proceed lets every thread go on that has what it waits for, and time pass where a test
// has asked for it, until only steps are left among which the Chooser has to choose.
func (m *Machine) proceed() {
	for m.proceedOnce() {
	}
}

func (m *Machine) proceedOnce() bool {
	for slot, t := range m.st.threads {
		w := t.waiting
		if w == nil {
			continue
		}
		switch w.kind {
		case resultWait:
			if r, ok := m.st.results[w.event]; ok {
				r.awaited = true
				m.st.results[w.event] = r
				m.learn(slot, r.cause)
				m.tell(slot, r)
				return true
			}
		case settleWait:
			if m.st.settled() {
				m.acc.Barrier = true
				m.tell(slot, nil)
				return true
			}
		case advanceWait:
			if m.st.settled() {
				m.acc.Barrier = true
				m.advance(slot, w.until)
				return true
			}
		case sleepWait:
			if m.st.clock >= w.until {
				m.tell(slot, nil)
				return true
			}
		}
	}
	if t := m.callbackThread(); t != nil && t.ended {
		m.endCallback(t)
		return true
	}
	return m.mainEnded() && !m.entry.Test && m.st.threads[0].failure == nil && len(m.options()) == 0 && m.st.oneShots() && m.passTime()
}

// advance is one round of [ADVANCE]: all has settled; what is due next fires.
func (m *Machine) advance(slot int, goal instant) {
	st := m.st
	if len(st.timers) > 0 && st.timers[0].due <= goal {
		st.clock = max(st.clock, st.timers[0].due)
		m.fire()
		return
	}
	st.clock = max(st.clock, goal)
	m.tell(slot, nil)
}

// passTime lets the time of main move on to when something is due, and reports whether there
// is such a time.
func (m *Machine) passTime() bool {
	st := m.st
	next, ok := instant(0), false
	soonest := func(t instant) {
		if !ok || t < next {
			next, ok = t, true
		}
	}
	if len(st.timers) > 0 {
		soonest(st.timers[0].due)
	}
	for _, t := range st.threads {
		if t.waiting != nil && t.waiting.kind == sleepWait {
			soonest(t.waiting.until)
		}
	}
	if !ok {
		return false
	}
	if m.opts.FreeTime {
		m.note(write, Resource{kind: everything})
	} else {
		m.acc.Barrier = true
	}
	st.clock = max(st.clock, next)
	for len(st.timers) > 0 && st.timers[0].due <= st.clock {
		m.fire()
	}
	return true
}

func (m *Machine) mainEnded() bool { return m.st.threads[0].ended }

func (m *Machine) callbackThread() *thread {
	if len(m.st.threads) > 1 {
		return m.st.threads[1]
	}
	return nil
}

func (m *Machine) endCallback(t *thread) {
	if t.failure != nil {
		m.st.failures = with(m.st.failures, t.failure)
		m.unheard(t.failure)
	}
	m.st.ended(t.callback.timer)
	m.st.threads = without(m.st.threads, 1)
	m.drop(1)
}

// runIssue runs the i-th event that clients have issued.
func (m *Machine) runIssue(i int) {
	e := m.st.issued[i]
	m.st.issued = without(m.st.issued, i)
	v, failure, follows := m.runStep(&event{id: e.id, cause: e.cause, issue: e}, func(ev *event) value {
		ev.birth = e.birth
		root := &frame{m: m, info: m.p.entry, ev: ev}
		switch e.kind {
		case newEvent:
			who := ev.identify(root, e.class)
			ev.expect(e.method, nil, e.args)
			ev.construct(root, who, e.args, nil)
			return actorRef{who}
		case deleteEvent:
			ev.delete(root, e.target, nil)
			return nil
		}
		return ev.start(root, e.target, e.method, e.args)
	})
	m.undone = failure
	if !follows {
		m.finish(e, v, failure)
	}
}

// start calls the method of an event on its target.
func (ev *event) start(root *frame, target *identity, method *typecheck.Func, args []value) value {
	ev.target = target
	ev.expect(method, target, args)
	ev.enter(root, target, nil)
	return root.call(method, callee{who: target}, args, nil)
}

// finish gives the outcome of an event to all that may ask for it.
func (m *Machine) finish(e *issue, v value, failure *Failure) {
	m.answer(e, result{value: v, failure: failure, target: e.target, method: e.method, cause: e.cause})
}

// answer is finish for an event that may have been a chain, whose last step r tells of.
func (m *Machine) answer(e *issue, r result) {
	if r.failure != nil {
		r.failure.Path = append(r.failure.Path, e.path...)
	}
	if !e.sent {
		r.awaited = r.failure != nil && r.failure.cancelled // the client that has cancelled it knows
		m.st.results[e.id] = r
		return
	}
	if r.failure != nil {
		name := "new"
		if r.method != nil {
			name = r.method.Name()
		}
		m.st.deadLetter(r.target, name, r.failure)
		m.unheard(r.failure)
	}
}

// unheard is [TEST-FAILS]: it notes a failure of which no client learns.
func (m *Machine) unheard(f *Failure) {
	if (m.entry.Test || f.Assert) && m.opts.StopAtFailure && m.stop == nil {
		m.stop = f
	}
}

// hearUnclaimed notes the failures that no client has awaited or will await, as all is over.
func (m *Machine) hearUnclaimed() {
	if m.opts.StopAtFailure && m.Over() && m.Failure() == nil {
		for _, l := range m.unclaimed() {
			m.unheard(l.Failure)
		}
	}
}

// runSub runs the first sub-event of a lane.
func (m *Machine) runSub(i int) {
	l := m.st.lanes[i]
	e := l.queue[0]
	m.note(write, Resource{kind: laneResource, a: l.issuer.id, b: l.target.id})
	v, failure, follows := m.runStep(&event{id: e.id, cause: e.cause, chain: e.chain}, func(ev *event) value {
		root := &frame{m: m, info: m.p.entry, ev: ev}
		return ev.start(root, l.target, e.method, e.args)
	})
	m.undone = failure
	// The event may have appended to its own lane.
	i = slices.IndexFunc(m.st.lanes, func(x *lane) bool { return x.issuer.id == l.issuer.id && x.target.id == l.target.id })
	if rest := m.st.lanes[i].queue[1:]; len(rest) > 0 {
		m.st.lanes = replaced(m.st.lanes, i, &lane{l.issuer, l.target, slices.Clone(rest)})
	} else {
		m.st.lanes = without(m.st.lanes, i)
	}
	m.st.ended(e.timer)
	if !follows {
		m.endChain(e, l.target, v, failure)
	}
}

// runCallback begins the first callback ([CALLBACK-RUN]).
func (m *Machine) runCallback() {
	c := m.st.mailbox[0]
	m.st.mailbox = without(m.st.mailbox, 0)
	m.st.callbacks++
	m.note(write, Resource{kind: mailboxResource})
	m.st.threads = with(m.st.threads[:1], &thread{session: mainSession + 1, first: m.st.callbackCounters, callback: c, log: newReply(nil, nil), causes: []*cause{c.cause}})
	m.resume(1)
}
