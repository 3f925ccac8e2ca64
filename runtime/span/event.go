package span

import (
	"errors"
	"strings"
	"sync"

	"github.com/aeon-lang/aeon/runtime/event"
)

// Event records one event. Its methods are for the goroutine that performs it, and those of a Branch for the one that runs
// the branch. Times are nanoseconds since 1970.
type Event struct {
	of      *Tracer
	own     span
	usual   TraceID // that the event begins unless a caller outside has one
	foreign bool    // one has
	issued  bool    // something, which is linked to it
	root    Branch
	began   int64 // the attempt
	waited  int   // the count of waits when the attempt began
	ended   bool  // it has committed or was undone

	mu      sync.Mutex // guards what branches share
	below   []span
	waits   uint64
	skipped int64 // spans that were too many
}

// Begin begins to record an event, which may come from somewhere: from is nil if a client of the program has begun it.
// waits counts how often it waits for locks. It returns nil if the event's trace is not sampled.
func (t *Tracer) Begin(id event.EventID, from *Origin, now int64, waits int) *Event {
	e := &Event{of: t, began: now, waited: waits, usual: t.ids.trace(id)}
	e.own = span{trace: e.usual, id: t.ids.span(id), kind: internal, begin: now}
	sampled := false
	switch {
	case from != nil && from.Call != nil:
		c := from.Call
		c.begin(e.usual, e.own.id.child(serverChild, 0))
		e.own.trace, e.own.parent, e.own.state, sampled, e.foreign = c.own.trace, c.own.id, c.own.state, c.sampled, c.foreign
	case from != nil && from.Parent.Valid():
		p := &from.Parent
		e.own.trace, e.own.parent, e.own.state, sampled, e.foreign = p.Trace, p.Span, p.State, p.Sampled, true
	default:
		sampled = e.own.trace.sampled(t.cfg.Sample)
	}
	if from != nil && from.Issuer != (event.EventID{}) {
		e.own.link = t.linkTo(from)
	}
	if !sampled {
		return nil
	}
	e.root = *e.branch()
	return e
}

// linkTo returns the span of the event that has issued what comes from there.
func (t *Tracer) linkTo(from *Origin) Context {
	c := Context{Trace: t.ids.trace(from.Issuer), Span: t.ids.span(from.Issuer)}
	if from.trace != (TraceID{}) {
		c.Trace = from.trace
	}
	return c
}

// Issues returns where what the event of an id issues comes from. e is nil if the event is not recorded, and t if no event is.
func (t *Tracer) Issues(e *Event, id event.EventID) *Origin {
	if t == nil {
		return nil
	}
	o := &Origin{Issuer: id}
	if e != nil && e.foreign {
		o.trace, e.issued = e.own.trace, true
	}
	return o
}

// Stored is Issues for what an event of another run has issued.
func (t *Tracer) Stored(issuer event.EventID) *Origin { return t.Issues(nil, issuer) }

// Root returns the branch in which the event begins.
func (e *Event) Root() *Branch { return &e.root }

// Entered says that an attempt has its locks. waits counts as that of Begin does.
func (e *Event) Entered(now int64, waits int) {
	if waits > e.waited {
		e.root.Waited(ForLocks, e.began, now)
	}
	e.waited = waits
}

// Withdrawn says that an attempt was withdrawn, and that the next one begins.
func (e *Event) Withdrawn(now int64, waits int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	kept := e.below[:0]
	for i := range e.below {
		if e.below[i].name == string(ForLocks) {
			kept = append(kept, e.below[i]) // it has waited all the same; a call of the attempt may be gone
			kept[len(kept)-1].parent = e.own.id
		}
	}
	e.below, e.skipped = kept, 0
	e.own.notes = append(e.own.notes, note{at: now, name: "withdrawn"})
	e.root = *e.branch()
	e.began, e.waited = now, waits
}

// Ended says how the event has ended. What is not told its end is not exported: it has not happened.
func (e *Event) Ended(now int64, err error) {
	e.ended = true
	e.root.End(now, err != nil)
	if err == nil {
		return
	}
	e.own.failed, e.own.message = true, cut(err.Error())
	exception := []attribute{{"exception.type", "error"}, {"exception.message", e.own.message}}
	if abort := (*event.AbortError)(nil); errors.As(err, &abort) {
		exception[0].value = "abort"
		if abort.Fault {
			exception[0].value = "fault"
		}
		if places := abort.Places(placesMax); places != nil {
			e.own.attributes = append(e.own.attributes, attribute{"aeon.at", places[0]})
			exception = append(exception, attribute{"exception.stacktrace", cut(strings.Join(places, "\n"))})
		}
	}
	e.own.notes = append(e.own.notes, note{at: now, name: "exception", attributes: exception})
}

// Export exports the event as method of an actor, once its answer may leave.
func (e *Event) Export(now int64, name, actor, id string, attempts int) {
	if !e.ended {
		return
	}
	e.own.name, e.own.end = name, now
	e.own.attributes = append(e.own.attributes, attribute{"aeon.event", id}, attribute{"aeon.attempts", int64(attempts)})
	if actor != "" {
		e.own.attributes = append(e.own.attributes, attribute{"aeon.actor", cut(actor)})
	}
	if e.skipped > 0 {
		e.own.attributes = append(e.own.attributes, attribute{"aeon.spans_left_out", e.skipped})
	}
	e.of.queue.add(append(e.below, e.own))
	if e.foreign && e.issued {
		e.of.queue.add([]span{e.anchor()})
	}
}

// anchor is a span in the trace that the event would have begun: a link which was made of the event's id alone, in a later run,
// leads to it, and it leads to the event.
func (e *Event) anchor() span {
	return span{trace: e.usual, id: e.own.id, name: e.own.name, kind: internal, begin: e.own.end, end: e.own.end,
		link: Context{Trace: e.own.trace, Span: e.own.id}}
}

// Wait is what a span of waiting is called.
type Wait string

// What events wait for.
const (
	ForLocks      Wait = "wait for locks"
	ForDurability Wait = "wait for durability"
)

// Branch records what one branch of an event does.
type Branch struct {
	of   *Event
	base call   // what the branch itself is
	open []call // calls in progress, innermost last

	async bool // the next call that another store records is
}

// call is a call in progress.
type call struct {
	id, parent  ID
	name, actor string
	began       int64
	depth       int
	async       bool
	elsewhere   bool   // another store records it
	calls       uint64 // made by it
}

// top returns the innermost call.
func (b *Branch) top() *call {
	if n := len(b.open); n > 0 {
		return &b.open[n-1]
	}
	return &b.base
}

// next returns the next call that the innermost one makes.
func (b *Branch) next(name, actor string, now int64) call {
	by := b.top()
	by.calls++
	return call{id: by.id.child(callChild, by.calls), parent: by.id, name: name, actor: actor, began: now, async: by.elsewhere && by.async}
}

// Enter begins a call, the code of which runs at a depth of the branch's stack. async says that the program does not wait for it.
func (b *Branch) Enter(depth int, async bool, name, actor string, now int64) {
	c := b.next(name, actor, now)
	c.depth, c.async = depth, async || c.async
	b.open = append(b.open, c)
}

// At reports whether the innermost call runs at a depth.
func (b *Branch) At(depth int) bool { return len(b.open) > 0 && b.top().depth == depth }

// Leave ends the innermost call.
func (b *Branch) Leave(now int64) {
	b.of.add(b.top(), now, false)
	b.open = b.open[:len(b.open)-1]
}

// Fork returns the branch of an async call.
func (b *Branch) Fork(name, actor string, now int64) *Branch {
	c := b.next(name, actor, now)
	c.async = true
	return &Branch{of: b.of, base: c}
}

// Waited records that the innermost call has waited.
func (b *Branch) Waited(what Wait, from, to int64) {
	e := b.of
	parent := b.top().id
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waits++
	e.keep(span{trace: e.own.trace, id: e.own.id.child(waitChild, e.waits), parent: parent, state: e.own.state, name: string(what), kind: internal, begin: from, end: to})
}

// End ends the branch with all calls that it has not left.
func (b *Branch) End(now int64, failed bool) {
	b.leave(0, now, failed)
	if b != &b.of.root {
		b.of.add(&b.base, now, failed)
	}
}

// add records a call that has ended.
func (e *Event) add(c *call, now int64, failed bool) {
	if c.elsewhere {
		return
	}
	s := span{trace: e.own.trace, id: c.id, parent: c.parent, state: e.own.state, name: c.name, kind: internal, begin: c.began, end: now, failed: failed}
	if c.actor != "" {
		s.attributes = append(s.attributes, attribute{"aeon.actor", cut(c.actor)})
	}
	if c.async {
		s.attributes = append(s.attributes, attribute{"aeon.async", true})
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keep(s)
}

// keep keeps a span unless there are too many. Caller holds mu.
func (e *Event) keep(s span) {
	if len(e.below) >= callsMax {
		e.skipped++
		return
	}
	e.below = append(e.below, s)
}
