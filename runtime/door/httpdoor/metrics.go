package httpdoor

import (
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/metrics"
)

// Counts are what the servers of a program count together. The zero value has counted nothing.
type Counts struct {
	statuses [statusMax]atomic.Uint64
	underWay atomic.Int64
	took     metrics.Histogram
	codes    [codeMax]atomic.Uint64 // of gRPC
	streams  atomic.Int64
}

// codeMax is above all codes of gRPC.
const codeMax = 17

// statusMax is above all statuses of HTTP.
const statusMax = 600

// GRPC counts a call by gRPC. Caller calls the result with the code of its answer.
func (c *Counts) GRPC() (answered func(code uint32)) {
	done := c.begun()
	return func(code uint32) {
		c.codes[code].Add(1)
		done()
	}
}

// begun counts a call. Caller calls the result when the call was answered.
func (c *Counts) begun() (answered func()) {
	c.underWay.Add(1)
	began := time.Now()
	return func() {
		c.took.Observe(time.Since(began))
		c.underWay.Add(-1)
	}
}

// answer counts an answer.
func (c *Counts) answer(status int) { c.statuses[status].Add(1) }

func (c *Counts) write(w *metrics.Writer) {
	const answers = "aeon_http_answers_total"
	w.Counters(answers, "Calls that were answered, and requests that were refused, by status.")
	for status := range c.statuses {
		if n := c.statuses[status].Load(); n > 0 {
			w.Sample(answers, n, "code", strconv.Itoa(status))
		}
	}
	const codes = "aeon_grpc_answers_total"
	w.Counters(codes, "Calls by gRPC that were answered, by code.")
	for code := range c.codes {
		if n := c.codes[code].Load(); n > 0 {
			w.Sample(codes, n, "code", strconv.Itoa(code))
		}
	}
	w.Gauge("aeon_http_calls", "Calls under way by HTTP and gRPC, those included whose arguments are being read.", c.underWay.Load())
	w.Gauge("aeon_http_streams", "Streams of callbacks that are open.", c.streams.Load())
	w.Histogram("aeon_http_call_seconds", "Calls by HTTP and gRPC, from the head of the request to the end of the answer.", &c.took)
}

// metrics serves what the program counts, which is of all classes: a caller needs the right to everything.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request, by *access.Caller) {
	if !by.May(nil, nil) {
		s.fail(w, s.account(requestOf(r, by), time.Now(), refuse(http.StatusForbidden, CodeForbidden, "the rights of %s do not reach the figures of the program, which take *", by.Name)))
		return
	}
	var m metrics.Writer
	m.Gauge("aeon_program_info", "The program.", 1, "program", s.cfg.Program)
	s.cfg.Door.WriteMetrics(&m)
	s.cfg.Counts.write(&m)
	w.Header().Set("Content-Type", metrics.ContentType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = m.WriteTo(w) // the client has gone if this fails
}

// ready tells whether calls are performed.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	if err := s.cfg.Door.Ready(); err != nil {
		s.problem(w, http.StatusServiceUnavailable, &door.Failure{Code: door.Closing, Happened: door.No, Later: true, Msg: fmt.Sprintf("not ready: %v", err)})
		return
	}
	ok(w, r)
}
