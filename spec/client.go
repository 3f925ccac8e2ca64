package spec

import (
	"iter"
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// Client code waits, and a state that was kept may be taken up again. So a thread of
// client code has two parts. The state keeps the log of everything that the thread has
// been told: client code computes nothing else of its own. A coroutine runs the thread; it
// is thrown away when the machine returns to an older state, and made again from the log.

// thread is what the state keeps of main, of a test, or of a callback.
type thread struct {
	session  uint64   // under which it issues events
	first    counters // of the session before this thread
	callback *callback
	log      *reply
	causes   []*cause // of what it has been told
	waiting  *wait    // nil while it has not begun, and once it has ended
	ended    bool
	failure  *Failure
}

// counters number what a session does, each by itself: those of main do not depend on the order
// of events.
type counters struct{ events, draws, objects uint64 }

// reply is something that a thread was told, with all replies before it.
type reply struct {
	before *reply
	value  any
	sum    digest
}

// wait is what a thread waits for.
type wait struct {
	kind  waitKind
	event eventID // resultWait
	until instant // advanceWait, sleepWait
	on    Resource
	what  string // actionWait: what it is about to do
}

type waitKind uint8

const (
	resultWait  waitKind = iota // the end of an event ([AWAIT])
	settleWait                  // [SETTLE]
	advanceWait                 // [ADVANCE]
	sleepWait                   // [SLEEP] in main
	actionWait                  // its turn for a visible action ([CLIENT-STEP])
)

// client runs a thread.
type client struct {
	m       *Machine
	slot    int // in state.threads
	session uint64
	count   counters
	replay  []*reply // what is still to be told again
	at      *reply   // what it was told last
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
}

// spawn makes the coroutine of a thread, to be told everything in the log again.
func (m *Machine) spawn(slot int) *client {
	t := m.st.threads[slot]
	c := &client{m: m, slot: slot, session: t.session, count: t.first}
	for r := t.log; r.before != nil; r = r.before {
		c.replay = append(c.replay, r)
	}
	slices.Reverse(c.replay)
	c.at = t.log
	for c.at.before != nil {
		c.at = c.at.before
	}
	c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		defer func() {
			switch p := recover().(type) {
			case nil, killed:
			default:
				panic(p)
			}
		}()
		c.run()
	})
	return c
}

// run runs the thread to its end.
func (c *client) run() {
	t := c.m.st.threads[c.slot]
	failure := caught(func() {
		if t.callback != nil {
			root := &frame{m: c.m, th: c}
			root.call(t.callback.method, callee{obj: t.callback.object}, t.callback.args, nil)
			return
		}
		fn := c.m.entry.fn
		g := &frame{m: c.m, info: c.m.p.infos[fn.Pkg], fn: fn, locals: map[*typecheck.Var]value{}, th: c, depth: 1}
		if class := fn.Pkg.MainConfig(); class != nil && fn == fn.Pkg.Main {
			g.locals[fn.Params[0]] = g.config(class)
		}
		g.run()
	})
	end := *c.m.st.threads[c.slot]
	end.ended, end.failure, end.waiting = true, failure, nil
	c.m.st.threads = replaced(c.m.st.threads, c.slot, &end)
	if t.callback != nil {
		c.m.st.callbackCounters = c.count
	}
}

// told appends to the log what the thread is told now.
func (c *client) told(v any) {
	t := *c.m.st.threads[c.slot]
	t.log = newReply(t.log, v)
	t.waiting = nil
	c.m.st.threads = replaced(c.m.st.threads, c.slot, &t)
	c.at = t.log
}

func newReply(before *reply, v any) *reply {
	r := &reply{before: before, value: v}
	if before != nil {
		r.sum = r.digest()
	}
	return r
}

// again returns what the thread was told at this point, if it is being told again.
func (c *client) again() (v any, ok bool) {
	if len(c.replay) == 0 {
		return nil, false
	}
	r := c.replay[0]
	c.replay = c.replay[1:]
	c.at = r
	return r.value, true
}

// do has an effect once; a thread that is made again is only told its result.
func (c *client) do(effect func() any) any {
	if v, ok := c.again(); ok {
		return v
	}
	v := effect()
	c.told(v)
	return v
}

// block waits until the machine tells the thread something.
func (c *client) block(w *wait) any {
	if v, ok := c.again(); ok {
		return v
	}
	t := *c.m.st.threads[c.slot]
	t.waiting = w
	c.m.st.threads = replaced(c.m.st.threads, c.slot, &t)
	if !c.yield(struct{}{}) {
		panic(killed{})
	}
	v, ok := c.again()
	if !ok {
		panic(bug{"a thread goes on and was told nothing"})
	}
	return v
}

// act waits for the thread's turn where the order of an action can be seen: something else
// may happen before it.
func (c *client) act(on Resource, what string) {
	if v, ok := c.again(); ok {
		_ = v
		return
	}
	if c.m.alone() {
		c.told(nil)
		return
	}
	c.block(&wait{kind: actionWait, on: on, what: what})
}

// cause is that of something the thread does now.
func (c *client) cause(key StepKey) *cause { return newCause(key, c.m.st.threads[c.slot].causes...) }

func (c *client) id() eventID {
	c.count.events++
	return eventID{c.session, c.count.events}
}

// issue is [EVENT-ISSUE]; of a client object, [CALLBACK-POST] by a client.
func (c *client) issue(f *frame, o order) value {
	if o.object != nil || typecheck.IsClient(o.call.RecvType) {
		if o.object == nil {
			f.fail(o.at, msgNull)
		}
		c.act(Resource{kind: mailboxResource}, "issues a callback")
		c.do(func() any {
			c.m.note(write, Resource{kind: mailboxResource})
			c.m.st.mailbox = with(c.m.st.mailbox, &callback{*o.object, o.method, o.args, eventID{}, c.cause(StepKey{})})
			return nil
		})
		return nil
	}
	i := &issue{id: c.id(), target: o.target, method: o.method, args: o.args, sent: o.call.Unawaited}
	c.do(func() any { c.submit(i); return nil })
	if i.sent {
		return nil
	}
	return pendingRef{i.id}
}

// submit adds an event to those that may run, or ends it if it has no target.
func (c *client) submit(i *issue) {
	m := c.m
	i.cause = c.cause(StepKey{IssueStep, i.id})
	if i.target != nil && !m.p.cancels { // else it may run before one that was cancelled
		l := issueLine{c.session, i.target.id}
		if before := m.st.before[l]; before != nil {
			i.cause = newCause(i.cause.key, with(i.cause.from, before)...)
		}
		m.st.before[l] = i.cause
	}
	if i.kind == newEvent || i.target != nil {
		m.st.issued = with(m.st.issued, i)
		return
	}
	m.finish(i, nil, &Failure{Msg: msgNullCall})
}

// await is [AWAIT].
func (f *frame) await(x *ast.Await) value {
	c := f.th
	a := f.info.Awaits[x]
	if a.Call == nil {
		id := f.eval(x.X).(pendingRef).id
		return c.result(id, f.path(x.Span()))
	}
	call := f.info.Calls[a.Call]
	var target *identity
	if r, ok := f.eval(call.Recv).(actorRef); ok {
		target = r.who
	}
	args := f.evalAll(a.Call.Args)
	i := &issue{id: c.id(), target: target, method: call.Func, args: args, awaited: true}
	return c.perform(f, i, a.Call)
}

// perform issues an event and waits for it on the spot.
func (c *client) perform(f *frame, i *issue, at ast.Node) value {
	i.awaited, i.path = true, f.path(callPlace(at))
	c.do(func() any { c.submit(i); return nil })
	return c.result(i.id, nil)
}

// result waits for the end of an event. It ends the same each time; a failure that happened at no place of the program, as the event has
// not begun, happens at that of the await.
func (c *client) result(id eventID, await []Place) value {
	r, ok := c.block(&wait{kind: resultWait, event: id}).(result)
	if !ok {
		panic(bug{"an event ended without a result"})
	}
	if r.failure != nil && len(r.failure.Path) == 0 {
		failure := *r.failure
		failure.Path = await
		panic(&failure)
	}
	if r.failure != nil {
		panic(r.failure)
	}
	return r.value
}

// newActor is `new C(v)` in a client: an awaited event.
func (c *client) newActor(f *frame, class *typecheck.Class, args []value, at ast.Node) value {
	i := &issue{id: c.id(), kind: newEvent, class: class, args: args, method: class.Ctor}
	i.birth = (c.session*31 + i.id.seq) % partitions
	return c.perform(f, i, at)
}

// delete is `delete a` in a client: an awaited event.
func (c *client) delete(f *frame, who *identity, at ast.Node) {
	c.perform(f, &issue{id: c.id(), kind: deleteEvent, target: who}, at)
}

// newObject makes an object of a client class. Its fields are in the state.
func (c *client) newObject(f *frame, class *typecheck.Class, args []value, at ast.Node) value {
	c.count.objects++
	id := eventID{c.session, c.count.objects}.child(3 << 32)
	c.do(func() any {
		o := &object{class: class, fields: make([]value, len(class.Fields))}
		for i, v := range class.Fields {
			o.fields[i] = zeroField(v.Type())
		}
		c.m.st.objects[id] = o
		return nil
	})
	ref := clientRef{id, class}
	if class.Ctor != nil {
		f.call(class.Ctor, callee{obj: ref}, args, at)
	}
	return ref
}

func (c *client) readField(o clientRef, i int) value {
	return c.do(func() any { return c.m.st.objects[o.id].fields[i] })
}

func (c *client) writeField(o clientRef, i int, v value) {
	c.do(func() any {
		old := c.m.st.objects[o.id]
		c.m.st.objects[o.id] = &object{old.class, replaced(old.fields, i, v)}
		return nil
	})
}

// lookup is actor<C>(k) in a client. What it finds can depend on when, but only if
// something deletes actors.
func (c *client) lookup(class *typecheck.Class, name string) *identity {
	on := Resource{kind: nameResource, name: actorName{class, name}}
	if c.m.p.deletes {
		c.act(on, "looks up an actor")
	}
	return c.do(func() any {
		c.m.note(read, on)
		return c.m.st.lookup(class, name)
	}).(*identity)
}

func (c *client) print(text string) {
	if c.m.opts.Observe {
		c.act(Resource{kind: outputResource}, "prints")
	}
	c.do(func() any {
		c.m.notePrint()
		c.m.st.print(text)
		return nil
	})
}

func (c *client) now() value { return c.do(func() any { return c.m.st.clock }) }

// random draws from a sequence of the session.
func (c *client) random() value {
	c.count.draws++
	return unit(eventID{^c.session, c.count.draws}.seed() ^ c.m.seed())
}

// mayWait faults in a callback.
func (c *client) mayWait(f *frame, at ast.Node, why string) {
	if c.m.st.threads[c.slot].callback != nil {
		f.fail(at, why)
	}
}

func waits(what string) string { return what + " in a callback would wait for the callback itself" }

func (c *client) settle(f *frame, at ast.Node) {
	c.mayWait(f, at, waits("settle"))
	c.block(&wait{kind: settleWait})
}

func (c *client) sleep(f *frame, at ast.Node, d span) {
	c.mayWait(f, at, "sleep in a callback would hold up the callbacks behind it")
	if c.m.entry.Test {
		c.advanceBy(d)
		return
	}
	until := c.now().(instant).after(max(d, 0))
	c.block(&wait{kind: sleepWait, until: until})
}

func (c *client) advance(f *frame, at ast.Node, d span) {
	c.mayWait(f, at, waits("advancing the clock"))
	if !c.m.entry.Test {
		f.fail(at, "advance is for tests: the time of main is real")
	}
	c.advanceBy(d)
}

func (c *client) advanceBy(d span) {
	goal := c.now().(instant).after(d)
	c.block(&wait{kind: advanceWait, until: goal})
}

// tryCatch is [TRY].
func (f *frame) tryCatch(s *ast.TryCatch) control {
	var c control
	failure := caught(func() { c = f.stmts(s.Body.Stmts) })
	if failure == nil {
		return c
	}
	f.locals[f.info.Defs[s.Catch].(*typecheck.Var)] = failure.Msg
	return f.stmts(s.Catch.Body.Stmts)
}
