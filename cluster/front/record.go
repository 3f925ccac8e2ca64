package front

import (
	"net/http"
	"strings"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/span"
)

// forwarding records a request that calls a method, from when it is first forwarded until it is answered. The zero value records nothing.
type forwarding struct {
	span *span.Call // nil: nothing is recorded
	to   event.NodeID
	sent int64 // how often
}

// begin notes that a request is sent to a node. What it returns is to be sent instead: what the node records of it is below the span of the front.
func (s *forwarding) begin(t *span.Tracer, r *http.Request, to event.NodeID) *http.Request {
	if t == nil || !isCall(r.URL.Path) {
		return r
	}
	s.to, s.sent = to, s.sent+1
	if s.span != nil {
		return r
	}
	s.span = t.Forward("forward "+r.Method+" /v1/{class}/{key}/{method}", span.Parse(r.Header["Traceparent"], r.Header["Tracestate"]))
	s.span.Text("http.request.method", r.Method)
	r = r.WithContext(r.Context()) // a copy
	r.Header = r.Header.Clone()
	r.Header.Set("Traceparent", s.span.Traceparent())
	return r
}

// isCall reports whether a path is that of a method.
func isCall(path string) bool {
	return strings.HasPrefix(path, "/v1/") && strings.Count(path, "/") == 4 && !strings.HasPrefix(path, httpdoor.ClientsPath+"/")
}

// answered notes with which status a node has answered.
func (s *forwarding) answered(status int) {
	s.span.Number("http.response.status_code", int64(status))
	if status >= http.StatusInternalServerError {
		s.span.Fail(http.StatusText(status))
	}
}

// refused notes that no node has answered.
func (s *forwarding) refused(err error) error {
	f := door.Explain(err)
	s.span.Text("aeon.code", f.Code)
	s.span.Fail(f.Msg)
	return err
}

// end exports the span.
func (s *forwarding) end() {
	if s.span != nil {
		s.span.Text("aeon.node", hostOf(s.to)) // the last one
		s.span.Number("aeon.sent", s.sent)
		s.span.End()
	}
}
