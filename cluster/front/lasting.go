package front

import (
	"net/http"
	"time"

	"github.com/aeon-lang/aeon/runtime/door/gate"
)

// A server for clients bounds the time of an answer. A stream lasts longer: the handler of a system lifts the bound, of the connection that it sees. That is one
// between nodes when the answer is forwarded, so the front lifts the bound of the one to the client.

// mayLast reports whether an answer is a stream, or one by gRPC, of which the headers do not tell.
func (t *attempt) mayLast() bool {
	return t.grpc || t.Header().Get("Content-Type") == "text/event-stream"
}

// outlast gives a part of a stream that is sent now a time of its own. Caller calls the result when the part was sent: then the stream may be silent for any
// time, and HTTP/2 ends it at the deadline also while nothing is sent.
func (t *attempt) outlast() (sent func()) {
	if !t.lasts {
		return func() {}
	}
	t.until(time.Now().Add(gate.SendMaxDefault))
	return func() { t.until(time.Time{}) }
}

// end bounds how long the server may take to send what is left of the answer.
func (t *attempt) end() {
	if t.lasts {
		t.until(time.Now().Add(gate.SendMaxDefault))
	}
}

func (t *attempt) until(deadline time.Time) {
	_ = http.NewResponseController(t.ResponseWriter).SetWriteDeadline(deadline) // an error says that there are no such times
}
