package span

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// OTLP in JSON, written by hand, as the runtime imports the standard library alone. A line is an ExportTraceServiceRequest of
// opentelemetry/proto/collector/trace/v1: ids are hexadecimal, and numbers of 64 bits are texts.

// encode writes spans of one resource as a request.
func encode(b []byte, resource []attribute, spans []span) []byte {
	b = append(b, `{"resourceSpans":[{"resource":{`...)
	b = appendAttributes(b, resource)
	b = append(b, `},"scopeSpans":[{"scope":{"name":"aeon"},"spans":[`...)
	for i := range spans {
		if i > 0 {
			b = append(b, ',')
		}
		b = spans[i].append(b)
	}
	return append(b, `]}]}]}`...)
}

func (s *span) append(b []byte) []byte {
	b = hex.AppendEncode(append(b, `{"traceId":"`...), s.trace[:])
	b = hex.AppendEncode(append(b, `","spanId":"`...), s.id[:])
	if s.parent != (ID{}) {
		b = hex.AppendEncode(append(b, `","parentSpanId":"`...), s.parent[:])
	}
	b = append(b, `","name":`...)
	b = appendText(b, s.name)
	if s.state != "" {
		b = appendText(append(b, `,"traceState":`...), s.state)
	}
	b = strconv.AppendInt(append(b, `,"kind":`...), int64(s.kind), 10)
	b = appendNumber(append(b, `,"startTimeUnixNano":`...), s.begin)
	b = appendNumber(append(b, `,"endTimeUnixNano":`...), max(s.begin, s.end)) // a clock may be set back
	if len(s.attributes) > 0 {
		b = appendAttributes(append(b, ','), s.attributes)
	}
	if len(s.notes) > 0 {
		b = append(b, `,"events":[`...)
		for i, n := range s.notes {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendNumber(append(b, `{"timeUnixNano":`...), n.at)
			b = appendText(append(b, `,"name":`...), n.name)
			if len(n.attributes) > 0 {
				b = appendAttributes(append(b, ','), n.attributes)
			}
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	if s.link.Valid() {
		b = append(b, `,"links":[{"traceId":"`+s.link.Trace.String()+`","spanId":"`+s.link.Span.String()+`"}]`...)
	}
	if s.failed {
		const statusError = 2
		b = strconv.AppendInt(append(b, `,"status":{"code":`...), statusError, 10)
		if s.message != "" {
			b = appendText(append(b, `,"message":`...), s.message)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

func appendAttributes(b []byte, list []attribute) []byte {
	b = append(b, `"attributes":[`...)
	for i, a := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"key":`...), a.key)
		b = append(b, `,"value":{`...)
		switch v := a.value.(type) {
		case int64:
			b = appendNumber(append(b, `"intValue":`...), v)
		case bool:
			b = strconv.AppendBool(append(b, `"boolValue":`...), v)
		case string:
			b = appendText(append(b, `"stringValue":`...), v)
		}
		b = append(b, "}}"...)
	}
	return append(b, ']')
}

// appendNumber writes a number of 64 bits.
func appendNumber(b []byte, n int64) []byte {
	return append(strconv.AppendInt(append(b, '"'), n, 10), '"')
}

// appendText writes a string, in which what is not UTF-8 is replaced.
func appendText(b []byte, text string) []byte {
	if plain(text) {
		return append(append(append(b, '"'), text...), '"')
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings always marshal
	}
	return append(b, quoted...)
}

// plain reports whether a text stands in JSON as it is, as nearly all texts of spans do.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
