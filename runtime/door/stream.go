package door

import (
	"fmt"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Stream gives the callbacks of a client to one carrier. One goroutine uses it.
//
// Invariant: it gives each callback behind the one that it began with once, in order, or says that it has ended.
type Stream struct {
	of    *Remote
	next  uint64 // the number of the callback that comes next; guarded by Remote.mu
	ready chan struct{}
}

// FromError says that a stream cannot begin where it is asked to.
type FromError struct {
	Forgotten bool // there were callbacks, which are not kept any more; else: there was none
	Msg       string
}

// Error implements error.
func (e *FromError) Error() string { return e.Msg }

// Stream opens a stream with the callbacks behind that with the number after. The client has got those up to it, which are
// forgotten. A stream that is open ends: it may be one whose client has gone away without a word. The errors are *FromError and
// *NotFoundError.
func (r *Remote) Stream(after uint64) (*Stream, error) {
	m := &r.mu
	m.Lock()
	defer m.Unlock()
	last := m.first + uint64(len(m.kept)) - 1
	switch {
	case m.ended != nil:
		return nil, errNoRemote
	case after > last:
		return nil, &FromError{Msg: fmt.Sprintf("the client has had %d callbacks, and none has the number %d", last, after)}
	case after+1 < m.first:
		return nil, &FromError{true, fmt.Sprintf("the callbacks behind number %d are asked for, and those up to number %d are not kept any more", after, m.first-1)}
	}
	for m.first <= after {
		r.shift()
	}
	m.stream.wake()
	m.stream = &Stream{of: r, next: after + 1, ready: make(chan struct{}, 1)}
	return m.stream, nil
}

// wake lets the carrier of s look for callbacks; s may be nil.
func (s *Stream) wake() {
	if s == nil {
		return
	}
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Ready has a value when there may be callbacks, or the stream has ended.
func (s *Stream) Ready() <-chan struct{} { return s.ready }

// takeBytes is how much Take returns, one callback more or less.
const takeBytes = 32 << 10

// Take returns the next callbacks, none if there are none yet. The error, an *EndedError, says why there will be none.
func (s *Stream) Take() (list []Delivery, err error) {
	r, m := s.of, &s.of.mu
	m.Lock()
	defer m.Unlock()
	if m.ended != nil {
		return nil, m.ended
	}
	if m.stream != s {
		return nil, ended(TakenOver, "another stream of the client was opened")
	}
	assert.That(s.next >= m.first, "callback %d of a client is forgotten before its stream was given it; the first that is kept is %d", s.next, m.first)
	rest := m.kept[s.next-m.first:]
	n := 0
	for size := int64(0); n < len(rest) && size < takeBytes; n++ {
		size += rest[n].size()
	}
	if s.next += uint64(n); s.next-1 > m.sent {
		r.all.delivered.Add(s.next - 1 - m.sent)
		m.sent = s.next - 1
	}
	return append([]Delivery(nil), rest[:n]...), nil
}

// Close closes the stream. The client waits for another one.
func (s *Stream) Close() {
	m := &s.of.mu
	now := s.of.all.now()
	m.Lock()
	defer m.Unlock()
	if m.stream == s {
		m.stream, m.left = nil, now
	}
}

// encode returns the message of arguments; the error says that they nest too deeply.
func encode(args order.Args) (msg []byte, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case value.Fault:
			err = r
		default:
			panic(r)
		}
	}()
	e := codec.NewEncoder(nil)
	args.(interface{ Encode(*codec.Encoder) }).Encode(e)
	return e.Data(), nil
}
