package front

import (
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// attempt is the writer of one sending of a request. An answer that says that the system has ended is held back, so that the request can be
// sent to the next one.
type attempt struct {
	http.ResponseWriter
	unknown bool // a sending before may have done it
	again   bool // the request may be sent again though it may have happened
	away    bool // it is sent to another node
	grpc    bool
	header  http.Header // of the answer before the attempt
	begun   bool        // the answer is on its way
	lasts   bool        // the answer is a stream from another node, see outlast
	status  int         // of the answer
	over    bool        // the attempt has failed, and nothing was answered
	sent    bool        // the request may have happened
	carried atomic.Bool // a connection to another node has carried it
	rest    http.Header // takes what is set after the attempt has failed
	err     error
}

// Header implements http.ResponseWriter.
func (t *attempt) Header() http.Header {
	if t.over {
		return t.rest
	}
	return t.ResponseWriter.Header()
}

// Flush implements http.Flusher, which gRPC asks for.
func (t *attempt) Flush() { _ = t.FlushError() } // the client has gone if this fails

// Unwrap lets http.ResponseController reach the connection.
func (t *attempt) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// FlushError lets http.ResponseController send what is written, unless the attempt has failed.
func (t *attempt) FlushError() error {
	if t.WriteHeader(http.StatusOK); t.over || t.isWhole() {
		return nil
	}
	defer t.outlast()()
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// WriteHeader implements http.ResponseWriter.
func (t *attempt) WriteHeader(status int) {
	if t.begun || t.over {
		return
	}
	h := t.Header()
	switch code := h.Get(httpdoor.CodeHeader); code {
	case door.Full, door.TimedOut: // this sending has not done it
		if t.unknown {
			t.fail(errors.New("the system has no room, or no time"), false)
			return
		}
	case door.Closing, door.NoOutcome:
		if (t.unaccepted() || h.Get(httpdoor.AwayHeader) != "") && !t.unknown { // the answer says what is to be done
			break
		}
		sent := h.Get(httpdoor.HappenedHeader) != string(door.No)
		if t.again || !sent {
			t.fail(errors.New("the system has ended"), sent)
			return
		}
	}
	if status >= 200 {
		t.begun, t.status, t.lasts = true, status, t.away && t.mayLast()
	}
	t.ResponseWriter.WriteHeader(status)
}

// unaccepted reports whether another node has refused the request as it asks clients for no tokens. It would refuse the next one, too.
func (t *attempt) unaccepted() bool {
	h := t.Header()
	defer h.Del(asksHeader)
	return t.away && h.Get(asksHeader) != ""
}

// Write implements http.ResponseWriter.
func (t *attempt) Write(b []byte) (int, error) {
	if t.WriteHeader(http.StatusOK); t.over {
		return len(b), nil
	}
	defer t.outlast()()
	return t.ResponseWriter.Write(b)
}

// failed takes an error of the connection to another node.
func (t *attempt) failed(err error) {
	if t.begun {
		panic(http.ErrAbortHandler) // the answer is cut off: the client notices
	}
	t.fail(err, t.carried.Load())
}

// fail ends the attempt without an answer.
func (t *attempt) fail(err error, sent bool) {
	h := t.Header()
	t.over, t.sent, t.rest, t.err = true, sent, make(http.Header), err
	clear(h)
	for k, v := range t.header {
		h[k] = v
	}
}

// isWhole reports whether the headers of an answer by gRPC have its status. Its stream is to end with them: a client does not look for the status of an answer there whose headers
// come alone. A proxy that flushes at once may do that before it knows that no body follows.
func (t *attempt) isWhole() bool { return t.Header().Get(statusHeader) != "" }

// complete looks at the end of an answer by gRPC. A server that was stopped leaves it without a status.
func (t *attempt) complete() {
	switch {
	case t.over:
	case !t.begun:
		t.fail(errors.New("the system has ended without an answer"), true)
	case !t.isWhole() && t.Header().Get(http.TrailerPrefix+statusHeader) == "":
		panic(http.ErrAbortHandler) // the answer is cut off: the client notices
	}
}
