package span

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
)

// TraceID names a trace: all spans that have one root.
type TraceID [16]byte

// ID names a span of a trace.
type ID [8]byte

// String prints the id as OTLP and traceparent have it.
func (t TraceID) String() string { return hex.EncodeToString(t[:]) }

// String prints the id as OTLP and traceparent have it.
func (i ID) String() string { return hex.EncodeToString(i[:]) }

// Context names a span from outside. The zero value names none.
type Context struct {
	Trace   TraceID
	Span    ID
	Sampled bool   // the sender records the trace
	State   string // tracestate, as it has come
}

// Valid reports whether the context names a span.
func (c *Context) Valid() bool { return c.Trace != TraceID{} }

const (
	parentBytes = 55  // of a traceparent of version 00
	stateMax    = 512 // bytes of a tracestate that is handed on
)

// Parse reads the headers traceparent and tracestate of a request, as W3C Trace Context has them. What does not follow the
// recommendation names no span: the request begins a trace.
func Parse(traceparent, tracestate []string) (c Context) {
	if len(traceparent) != 1 {
		return Context{}
	}
	h := traceparent[0]
	if len(h) < parentBytes || h[2] != '-' || h[35] != '-' || h[52] != '-' {
		return Context{}
	}
	var version, flags [1]byte
	switch {
	case !lowerHex(version[:], h[:2]), !lowerHex(c.Trace[:], h[3:35]), !lowerHex(c.Span[:], h[36:52]), !lowerHex(flags[:], h[53:55]),
		version[0] == 0xff, c.Trace == TraceID{}, c.Span == ID{}:
		return Context{}
	case len(h) > parentBytes && (version[0] == 0 || h[parentBytes] != '-'): // later versions may append fields
		return Context{}
	}
	c.Sampled = flags[0]&1 != 0
	if state := strings.Join(tracestate, ","); len(state) <= stateMax && printable(state) {
		c.State = state
	}
	return c
}

// lowerHex reads bytes that are written as lower-case hexadecimal digits.
func lowerHex(to []byte, text string) bool {
	if strings.ToLower(text) != text {
		return false
	}
	_, err := hex.Decode(to, []byte(text))
	return err == nil
}

func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// ids makes the ids of spans from those of events: a link to what has issued an event needs nothing that is not stored
// anyway, and is the same after a restart.
type ids [3]uint64

// newIDs returns the ids of the store, or the run, of a name.
func newIDs(name string) (x ids) {
	h := uint64(len(name))
	for i := range x {
		for j := range len(name) {
			h = event.Mix(h ^ uint64(name[j])<<32 + uint64(i))
		}
		x[i] = event.Mix(h)
	}
	return x
}

// hash depends on all bits of the id of an event.
func (x ids) hash(key int, e event.EventID) uint64 {
	if h := event.Mix(event.Mix(x[key]^e.Origin) + e.Seq); h != 0 {
		return h
	}
	return 1 // an id of zeros names nothing
}

// trace returns the trace that an event begins which no caller outside has.
func (x ids) trace(e event.EventID) (t TraceID) {
	binary.BigEndian.PutUint64(t[:8], x.hash(0, e))
	binary.BigEndian.PutUint64(t[8:], x.hash(1, e))
	return t
}

// span returns the span of an event.
func (x ids) span(e event.EventID) (id ID) {
	binary.BigEndian.PutUint64(id[:], x.hash(2, e))
	return id
}

// child returns the n-th span of a kind below another one.
func (i ID) child(kind childKind, n uint64) (id ID) {
	h := event.Mix(event.Mix(binary.BigEndian.Uint64(i[:])+uint64(kind)) ^ n)
	binary.BigEndian.PutUint64(id[:], max(h, 1))
	return id
}

// childKind keeps the numbers of children apart: how often an event waits depends on others, and the ids of its calls do not.
type childKind uint64

const (
	callChild childKind = iota + 1
	waitChild
	serverChild
)

// sampled reports whether a share of all traces contains one: the same in each process that is asked.
func (t TraceID) sampled(share float64) bool {
	const bits = 56 // W3C has the last seven bytes random
	return share >= 1 || float64(binary.BigEndian.Uint64(t[8:])&(1<<bits-1)) < share*(1<<bits)
}
