// Package spantree reads spans that a program has exported with the types that OpenTelemetry publishes, and writes them as trees
// that a test can compare.
package spantree

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// Span is a span with its ids as text.
type Span struct {
	*otlp.Span
	Trace, ID, Parent string
	Service           string
}

// Read reads requests, one a line. Everything that the format does not have fails the test.
func Read(t testing.TB, requests []byte) (list []*Span) {
	t.Helper()
	for line := range bytes.Lines(requests) {
		var data otlp.TracesData // an ExportTraceServiceRequest has the same field, and its package has a server
		if err := protojson.Unmarshal(line, &data); err != nil {
			t.Fatalf("no request of OTLP: %v\n%s", err, line)
		}
		for _, r := range data.GetResourceSpans() {
			service := attribute(r.GetResource().GetAttributes(), "service.name")
			for _, scope := range r.GetScopeSpans() {
				for _, s := range scope.GetSpans() {
					list = append(list, &Span{Span: s, Trace: id(t, s.GetTraceId(), 32), ID: id(t, s.GetSpanId(), 16), Parent: id(t, s.GetParentSpanId(), 16), Service: service})
				}
			}
		}
	}
	return list
}

// id returns an id as its text: OTLP in JSON has hexadecimal digits where protobuf has base64.
func id(t testing.TB, read []byte, digits int) string {
	text := base64.StdEncoding.EncodeToString(read)
	if len(text) != 0 && (len(text) != digits || strings.Trim(text, "0123456789abcdef") != "") {
		t.Fatalf("%q is no id of %d digits", text, digits)
	}
	return text
}

// Attribute returns an attribute as text, "" if there is none.
func (s *Span) Attribute(key string) string { return attribute(s.GetAttributes(), key) }

func attribute(list []*common.KeyValue, key string) string {
	for _, a := range list {
		if a.GetKey() == key {
			switch v := a.GetValue().GetValue().(type) {
			case *common.AnyValue_StringValue:
				return v.StringValue
			case *common.AnyValue_IntValue:
				return fmt.Sprint(v.IntValue)
			case *common.AnyValue_BoolValue:
				return fmt.Sprint(v.BoolValue)
			}
		}
	}
	return ""
}

// Link returns the ids of the span that s is linked to: trace-span, "" if it is linked to none.
func (s *Span) Link() string {
	if len(s.GetLinks()) == 0 {
		return ""
	}
	l := s.GetLinks()[0]
	return base64.StdEncoding.EncodeToString(l.GetTraceId()) + "-" + base64.StdEncoding.EncodeToString(l.GetSpanId())
}

// Trees writes spans as trees, in an order that depends on no time: the name, the actor, whether it is async, why it has failed, and
// behind an arrow the name of the span to which it is linked. A span whose parent is not among them is written with that.
func Trees(list []*Span) string {
	byID := map[string]*Span{}
	for _, s := range list {
		byID[s.Trace+"-"+s.ID] = s
	}
	var roots []string
	var write func(s *Span, depth int) string
	write = func(s *Span, depth int) string {
		var parts []string
		for _, c := range list {
			if c.Parent == s.ID && c.Trace == s.Trace {
				parts = append(parts, write(c, depth+1))
			}
		}
		slices.Sort(parts)
		return strings.Repeat("  ", depth) + s.line(byID) + "\n" + strings.Join(parts, "")
	}
	for _, s := range list {
		switch {
		case s.Parent == "":
			roots = append(roots, write(s, 0))
		case byID[s.Trace+"-"+s.Parent] == nil:
			roots = append(roots, s.Parent+" of "+s.Trace+"\n"+write(s, 1))
		}
	}
	slices.Sort(roots)
	return strings.Join(roots, "")
}

func (s *Span) line(byID map[string]*Span) string {
	text := s.GetName()
	if s.GetKind() == otlp.Span_SPAN_KIND_SERVER {
		text = "server " + text
	}
	if a := s.Attribute("aeon.actor"); a != "" {
		text += " " + a
	}
	if s.Attribute("aeon.async") == "true" {
		text += " async"
	}
	if s.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR {
		text += " failed"
		if m := s.GetStatus().GetMessage(); m != "" {
			text += ": " + m
		}
	}
	if l := s.Link(); l != "" {
		if to := byID[l]; to != nil {
			l = to.GetName()
		}
		text += " <- " + l
	}
	return text
}
