package gate

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/metrics"
)

// Counts are what the servers of a program count together. The zero value has counted nothing.
type Counts struct {
	statuses [statusMax]atomic.Uint64
	underWay atomic.Int64
	bodies   Room // of the arguments of calls
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
	done := c.Begin()
	return func(code uint32) {
		c.Code(code)
		done()
	}
}

// Code counts an answer by gRPC.
func (c *Counts) Code(code uint32) { c.codes[code].Add(1) }

// Begin counts a call. Caller calls the result when the call was answered.
func (c *Counts) Begin() (answered func()) {
	c.underWay.Add(1)
	began := time.Now()
	return func() {
		c.took.Observe(time.Since(began))
		c.underWay.Add(-1)
	}
}

// Stream counts a stream of callbacks. Caller calls the result when it has ended.
func (c *Counts) Stream() (ended func()) {
	c.streams.Add(1)
	return func() { c.streams.Add(-1) }
}

// HTTP counts an answer by HTTP.
func (c *Counts) HTTP(status int) { c.statuses[status].Add(1) }

// Took has how long calls took, by all protocols.
func (c *Counts) Took() *metrics.Histogram { return &c.took }

// Write writes what was counted.
func (c *Counts) Write(w *metrics.Writer) {
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
	bodies, _ := c.bodies.Taken()
	w.Gauge("aeon_http_body_bytes", "Bytes of the arguments of calls by HTTP and gRPC that are being read or under way.", bodies)
	w.Gauge("aeon_http_streams", "Streams of callbacks that are open.", c.streams.Load())
	w.Histogram("aeon_http_call_seconds", "Calls by HTTP and gRPC, from the head of the request to the end of the answer.", &c.took)
}
