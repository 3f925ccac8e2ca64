package httpdoor

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/span"
)

// PositionHeader is up to which position of the journal an answer has seen the store.
const PositionHeader = "Aeon-Position"

// noStore is the value of a header that all answers share.
var noStore = []string{"no-store"}

// call serves one call.
func (s *Server) call(w http.ResponseWriter, r *http.Request, by *access.Caller) {
	defer s.Counts.Begin()()
	q := requestOf(r, by)
	recorded := s.Door.Serve(r.Method+" "+callPath, span.Parse(r.Header["Traceparent"], r.Header["Tracestate"]))
	defer recorded.End()
	q.Read = func(c *door.Call, class *door.Class) error {
		c.Span = recorded
		recorded.Name(r.Method + " /v1/" + q.Class + "/{key}/" + q.Method)
		r.Body = &heldBody{r.Body, s.Gate, q}
		return s.read(c, class, w, r, by)
	}
	answer, err := s.Answer(r.Context(), q)
	record(recorded, r, answer, err)
	if err != nil {
		s.fail(w, err)
		return
	}
	head := w.Header()
	head["Cache-Control"] = noStore
	if answer.Seen > 0 {
		head.Set(PositionHeader, strconv.FormatUint(uint64(answer.Seen), 10))
	}
	if answer.Result == nil {
		s.Counts.HTTP(http.StatusNoContent)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.Counts.HTTP(http.StatusOK)
	head["Content-Type"] = jsonType
	head.Set("Content-Length", strconv.Itoa(len(answer.Result)+1))
	_, _ = w.Write(append(answer.Result, '\n')) // the client has gone if this fails
}

// record records how a call was answered. It has failed for its span if its server is why, and not its caller.
func record(c *span.Call, r *http.Request, answer door.Answer, err error) {
	if c == nil {
		return
	}
	c.Text("http.request.method", r.Method)
	status := http.StatusOK
	switch {
	case err != nil:
		f := door.Explain(err)
		status = statuses[f.Code]
		c.Text("aeon.code", f.Code)
		if status >= http.StatusInternalServerError {
			c.Fail(f.Msg)
		}
	case answer.Result == nil:
		status = http.StatusNoContent
	}
	c.Number("http.response.status_code", int64(status))
}

// read reads the target and the arguments of a call.
func (s *Server) read(c *door.Call, class *door.Class, w http.ResponseWriter, r *http.Request, by *access.Caller) (err error) {
	switch {
	case r.Method == http.MethodPost:
		c.Args, err = s.body(w, r, c.Method.Params, by)
	case !c.Method.ReadOnly:
		w.Header().Set("Allow", "POST")
		err = door.Refuse(codeMethod, "%v is not ro: call it by POST", c.Method)
	default:
		var texts url.Values
		if texts, err = readQuery(r); err == nil {
			c.Args, err = c.Method.Params.ReadTexts(texts, s.Door.Names(r.Context(), by.Name))
		}
	}
	if err == nil {
		c.Target, err = s.Door.Target(r.Context(), c, class, r.PathValue("key"))
	}
	return err
}

// readQuery reads the query of a request, or refuses it: without the pairs that cannot be read it would mean something else.
func readQuery(r *http.Request) (url.Values, error) {
	all, err := url.ParseQuery(r.URL.RawQuery)
	if err == nil {
		return all, nil
	}
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if _, err := url.ParseQuery(pair); err != nil {
			return nil, door.Refuse(door.BadArgs, "the query has %q, which cannot be read: %v; write %%25 for a percent sign, and %%3B for a semicolon", pair, err)
		}
	}
	return nil, door.Refuse(door.BadArgs, "the query cannot be read: %v", err) // it has too many pairs
}
