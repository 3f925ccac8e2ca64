package httpdoor

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
)

// Request is a call from outside, by any protocol.
type Request struct {
	By                 *access.Caller // the one that Server.Know has found
	Remote             string         // the address that it came from
	Class, Key, Method string         // as they were sent, as far as they are known
	Once               string         // the key by which it runs once; "": it has none
	// Read reads the target and the arguments into a call whose method has been found. It calls Server.Hold for the arguments.
	Read func(c *door.Call, class *door.Class) error

	held int64 // bytes
}

// requestOf returns a request by HTTP, which may be a call.
func requestOf(r *http.Request, by *access.Caller) *Request {
	return &Request{By: by, Remote: r.RemoteAddr, Class: r.PathValue("class"), Key: r.PathValue("key"), Method: r.PathValue("method"), Once: r.Header.Get("Idempotency-Key")}
}

// Answer performs a call, within the rights of its caller and the limits of the server, and writes its line of the audit.
// Explain tells how it has failed.
func (s *Server) Answer(ctx context.Context, q *Request) (door.Answer, error) {
	began := time.Now()
	c, answer, err := s.answer(ctx, q)
	if accountable(c, err) {
		err = s.account(q, began, err)
	}
	return answer, err
}

// Door is what the server serves.
func (s *Server) Door() *door.Door { return s.cfg.Door }

// Counts is what the server counts.
func (s *Server) Counts() *Counts { return s.cfg.Counts }

// BodyMax is how many bytes the arguments of a call have at most.
func (s *Server) BodyMax() int64 { return s.cfg.BodyMax }

// Ending is closed when streams are to end.
func (s *Server) Ending() <-chan struct{} { return s.ending }

// answer reads a call and performs it. The call has what could be read of it.
func (s *Server) answer(ctx context.Context, q *Request) (c *door.Call, answer door.Answer, err error) {
	c = &door.Call{Key: q.Once, Caller: q.By.Name}
	class, m, err := s.find(q)
	if err != nil {
		return c, answer, err
	}
	c.Method = m
	defer func() { s.bodies.Add(-q.held) }()
	if err = q.Read(c, class); err == nil {
		answer, err = s.perform(ctx, c)
	}
	if gone := new(door.NoClientError); errors.As(err, &gone) && c.Key != "" {
		status, f := explain(err)
		f.Happened = door.Unknown // it may have come before, when the client was there
		err = &refusal{status, *f}
	}
	return c, answer, err
}

// Hold counts bytes that the arguments of a call take, or may take, until it has been answered. The error says that there is
// no room for them.
func (s *Server) Hold(q *Request, size int64) error {
	q.held += size
	if s.bodies.Add(size) > s.cfg.BodiesMax {
		return full("the arguments of other calls take %d bytes, which is the limit", s.cfg.BodiesMax)
	}
	return nil
}

// find finds the method that a request calls, if its caller may call it.
func (s *Server) find(q *Request) (class *door.Class, m *door.Method, err error) {
	if class, err = s.cfg.Door.Class(q.Class); err == nil {
		m, err = class.Method(q.Method)
	}
	if !q.By.May(class, m) { // also if it is not there
		err = refuse(http.StatusForbidden, CodeForbidden, "the rights of %s do not reach %s.%s", q.By.Name, q.Class, q.Method)
	}
	return class, m, err
}

// perform performs a call, unless too many are under way. It is counted only now: a client that is slow to send its
// arguments takes the place of no other.
func (s *Server) perform(ctx context.Context, c *door.Call) (door.Answer, error) {
	select {
	case s.calls <- struct{}{}:
		defer func() { <-s.calls }()
	default:
		return door.Answer{}, full("%d calls are under way, which is the limit", cap(s.calls))
	}
	if a := s.cfg.Audit; a != nil && a.Err() != nil && !c.Method.ReadOnly {
		return door.Answer{}, unaccounted(door.No)
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.TimeMax)
	defer cancel()
	return s.cfg.Door.Call(ctx, c)
}

// Explain tells how a request has failed, as door.Explain does, of the errors of a Server, too.
func Explain(err error) *door.Failure {
	_, f := explain(err)
	return f
}

// Refuse is the error of a call whose arguments cannot be read; code is one of package door, or CodeTooLarge.
func Refuse(code, format string, args ...any) error {
	return refuse(statuses[code], code, format, args...)
}
