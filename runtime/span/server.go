package span

import (
	"crypto/rand"
	"fmt"
	"time"
)

// Call records a call from outside of the program. All methods of a nil Call do nothing; one goroutine at a time uses a Call.
type Call struct {
	of      *Tracer
	own     span
	foreign bool // the caller has a trace
	sampled bool
	begun   bool // the ids are those that go with the event
}

// Serve begins to record a call, whose caller may have a trace. It returns nil if nothing is recorded.
func (t *Tracer) Serve(name string, caller Context) *Call {
	if t == nil {
		return nil
	}
	c := &Call{of: t, foreign: caller.Valid(), sampled: caller.Sampled}
	c.own = span{trace: caller.Trace, parent: caller.Span, state: caller.State, name: name, kind: server, begin: time.Now().UnixNano()}
	return c
}

// Forward begins to record a call from outside that this process hands on to another one, whose spans are below this one. It returns nil if
// nothing is recorded.
func (t *Tracer) Forward(name string, caller Context) *Call {
	c := t.Serve(name, caller)
	if c != nil {
		c.own.kind = client
		c.beginAlone()
	}
	return c
}

// Traceparent returns the header of that name for what is below a call that is handed on.
func (c *Call) Traceparent() string {
	flags := 0
	if c.sampled {
		flags = 1
	}
	return fmt.Sprintf("00-%v-%v-%02x", c.own.trace, c.own.id, flags)
}

// Origin returns where the event of the call comes from.
func (c *Call) Origin() *Origin {
	if c == nil {
		return nil
	}
	return &Origin{Call: c}
}

// begin gives the call its ids. trace is the one of a caller that has none.
func (c *Call) begin(trace TraceID, id ID) {
	c.begun, c.own.id = true, id
	if !c.foreign {
		c.own.trace, c.sampled = trace, trace.sampled(c.of.cfg.Sample)
	}
}

// beginAlone gives the call ids that follow from no event.
func (c *Call) beginAlone() {
	var trace TraceID
	var id ID
	_, _ = rand.Read(trace[:]) // it does not fail
	_, _ = rand.Read(id[:])
	c.begin(trace, id)
}

// Name gives the span its name, once more is known of the call.
func (c *Call) Name(name string) {
	if c != nil {
		c.own.name = name
	}
}

// Text adds an attribute, unless it is empty.
func (c *Call) Text(key, value string) {
	if c != nil && value != "" {
		c.own.attributes = append(c.own.attributes, attribute{key, cut(value)})
	}
}

// Number adds an attribute.
func (c *Call) Number(key string, n int64) {
	if c != nil {
		c.own.attributes = append(c.own.attributes, attribute{key, n})
	}
}

// Fail says that the program, and not its caller, is why the call has failed.
func (c *Call) Fail(message string) {
	if c != nil {
		c.own.failed, c.own.message = true, cut(message)
	}
}

// End exports the call, which has been answered.
func (c *Call) End() {
	if c == nil {
		return
	}
	if !c.begun { // it was refused: there is no event that the ids could follow from
		c.beginAlone()
	}
	if c.sampled {
		c.own.end = time.Now().UnixNano()
		c.of.queue.add([]span{c.own})
	}
}
