package httpdoor

import (
	"encoding/json"
	"net/http"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/door"
)

// The codes of what HTTP alone refuses.
const (
	codeMethod  = "method"       // the method of HTTP
	codeMedia   = "media-type"   // of the arguments
	codeOrigin  = "cross-origin" // a page of another origin has sent it
	codeHost    = "host"         // it was sent to another host
	codeDamaged = "damaged"      // rows of the store
)

// statuses are the statuses of failures, by code.
var statuses = map[string]int{
	door.Aborted: http.StatusUnprocessableEntity, door.Fault: http.StatusUnprocessableEntity, door.TooMuch: http.StatusUnprocessableEntity,
	door.KeyReused: http.StatusUnprocessableEntity, door.BadResult: http.StatusUnprocessableEntity,
	door.NotThere: http.StatusNotFound, door.BadArgs: http.StatusBadRequest, door.NoClient: http.StatusBadRequest, door.Forgotten: http.StatusGone,
	door.Full: http.StatusServiceUnavailable, door.TimedOut: http.StatusServiceUnavailable, door.NoOutcome: http.StatusServiceUnavailable,
	door.Closing: http.StatusServiceUnavailable, door.TooLarge: http.StatusRequestEntityTooLarge,
	door.Unauthenticated: http.StatusUnauthorized, door.Forbidden: http.StatusForbidden,
	codeMethod: http.StatusMethodNotAllowed, codeMedia: http.StatusUnsupportedMediaType, codeOrigin: http.StatusForbidden,
	codeHost: http.StatusMisdirectedRequest, codeDamaged: http.StatusInternalServerError,
}

// retryAfter is after how many seconds a client is to send again what may succeed later.
const retryAfter = "1"

// problem is the body of a failure (RFC 9457). Its type is about:blank, as code says what it is.
type problem struct {
	Title    string        `json:"title"`
	Status   int           `json:"status"`
	Detail   string        `json:"detail"`
	Code     string        `json:"code"`
	Happened door.Happened `json:"happened"`
	At       string        `json:"at,omitempty"`
	Path     []string      `json:"path,omitempty"`
}

// The headers that have the code of a failure, what has happened, and whether a store is away, too: what forwards an answer need not read its body.
const (
	CodeHeader     = "Aeon-Code"
	HappenedHeader = "Aeon-Happened"
	AwayHeader     = "Aeon-Away" // "true", or it is not there
)

// fail answers with a failure.
func (s *Server) fail(w http.ResponseWriter, err error) { s.Counts.HTTP(Fail(w, err)) }

// Fail answers with a failure that door.Explain explains, for what serves requests before a Server does. It returns the status.
func Fail(w http.ResponseWriter, err error) (status int) {
	f := door.Explain(err)
	status, ok := statuses[f.Code]
	assert.That(ok, "httpdoor: the failure %q has no status", f.Code)
	head := w.Header()
	head.Set("Content-Type", "application/problem+json")
	head.Set("Cache-Control", "no-store")
	head.Set(CodeHeader, f.Code)
	head.Set(HappenedHeader, string(f.Happened))
	if f.Away {
		head.Set(AwayHeader, "true")
	}
	if f.Later {
		head.Set("Retry-After", retryAfter)
	}
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(problem{http.StatusText(status), status, f.Msg, f.Code, f.Happened, f.At, f.Path}) // the client has gone if this fails
	return status
}

// nothingAt is the failure of a request to no place that there is.
func nothingAt(r *http.Request) error {
	return door.Refuse(door.NotThere, "there is nothing at %s; methods of actors are at /v1/CLASS/KEY/METHOD", r.URL.Path)
}
