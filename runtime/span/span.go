// Package span records what events do and wait for as spans of OpenTelemetry, and exports them. A system that records
// none pays nothing for it beyond what it pays for followers (package watch).
//
// The span of an event has the calls to other actors below it, and the times for which it has waited. What an event issues
// is a trace of its own, linked to the span of that event. The ids of both follow from the ids of the events, so a link can be made
// of the issuer's id alone, in another run, too.
package span

import (
	"github.com/aeon-lang/aeon/runtime/event"
)

// kind is that of OTLP.
type kind int

const (
	internal kind = 1
	server   kind = 2
	client   kind = 3
)

// span is a span that has ended.
type span struct {
	trace      TraceID
	id, parent ID // parent is zeros for a root
	state      string
	name       string
	kind       kind
	begin, end int64 // nanoseconds since 1970
	failed     bool
	message    string // why, if it has failed
	attributes []attribute
	notes      []note
	link       Context // to what has issued it; the zero Context: nothing has
}

type attribute struct {
	key   string
	value any // string, int64 or bool
}

// note is an event of OTLP: something that happened at a time within a span.
type note struct {
	at         int64
	name       string
	attributes []attribute
}

// Origin says where an event comes from. Any goroutine may use it.
type Origin struct {
	Issuer event.EventID // has issued it; zero: a client has
	trace  TraceID       // that of the issuer, if a caller outside has begun it
	Call   *Call         // from outside, and recorded; nil: it is none
	Parent Context       // of a call from Go code that is part of a trace
}

// bounds of what is recorded.
const (
	callsMax  = 1000 // spans of one event, beside its own
	textMax   = 2048 // bytes of a text
	placesMax = 32   // of a failure
)

// cut bounds a text.
func cut(text string) string {
	if len(text) > textMax {
		return text[:textMax] + "…"
	}
	return text
}
