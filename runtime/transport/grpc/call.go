package grpc

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/transport"
)

// The first byte of an answer.
const (
	answered byte = iota // the reply of the handler follows
	refused              // the text of its error follows
	notRun               // it was not called: the session is another one, or has ended; why follows
)

// Call implements transport.Transport.
func (t *Transport) Call(ctx context.Context, to event.NodeID, request []byte) ([]byte, error) {
	transport.CheckCall(request)
	s := t.present(to)
	if s == nil {
		return nil, failed(transport.ErrNotSent, to, errNoSession)
	}
	ctx, cancel := s.within(ctx)
	defer cancel(nil)
	c, err := s.caller()
	if err != nil {
		return nil, failed(transport.ErrNotSent, to, err)
	}
	st, err := c.NewStream(ctx, &callDesc, callMethod)
	if err != nil {
		return nil, failed(transport.ErrNotSent, to, reason(ctx, err))
	}
	s.link.counts.calls.Add(1)
	if err := st.SendMsg(bytesOf(s.id.append(nil), request)); err != nil {
		// It has no place in the connection then, and the other's handler needs all of it.
		return nil, failed(transport.ErrNotSent, to, reason(ctx, errors.Join(err, st.RecvMsg(&packet{}))))
	}
	_ = st.CloseSend() // it has no error
	return answer(ctx, st, to)
}

var errNoSession = errors.New("there is no session")

// failed returns why a call came to nothing.
func failed(how error, to event.NodeID, why error) error {
	return fmt.Errorf("to node %d: %w: %w", to, how, why)
}

// reason returns why ctx has ended, if it has, and otherwise err. The other node knows the deadline, too, and may be faster.
func reason(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case status.Code(err) == codes.DeadlineExceeded:
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return err
}

// within returns a context that ends with the session, too.
func (s *session) within(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(fmt.Errorf("the session has ended: %w", context.Cause(s.ctx))) })
	return ctx, func(why error) {
		stop()
		cancel(why)
	}
}

// answer waits for that of a call or a bulk.
func answer(ctx context.Context, st grpc.ClientStream, to event.NodeID) ([]byte, error) {
	var p packet
	if err := st.RecvMsg(&p); err != nil {
		return nil, failed(transport.ErrUnknown, to, reason(ctx, err))
	}
	if len(p.in) == 0 {
		return nil, failed(transport.ErrUnknown, to, errFrame)
	}
	switch kind, b := p.in[0], p.in[1:]; kind {
	case answered:
		return b, nil
	case refused:
		return nil, &transport.Refusal{By: to, Text: string(b)}
	case notRun:
		return nil, failed(transport.ErrNotSent, to, errors.New(string(b)))
	default:
		return nil, failed(transport.ErrUnknown, to, errFrame)
	}
}

// begun reads the first packet of a call or a bulk, and returns its session and what follows the id of that.
func (t *Transport) begun(st grpc.ServerStream, from known) (s *session, b []byte, err error) {
	var p packet
	if err := st.RecvMsg(&p); err != nil {
		return nil, nil, err
	}
	id, b, err := cutID(p.in)
	if err != nil {
		return nil, nil, err
	}
	s, err = t.link(from.node).current(st.Context(), id)
	if err != nil {
		return nil, nil, st.SendMsg(bytesOf([]byte{notRun}, []byte(err.Error())))
	}
	return s, b, nil
}

// answer answers with what a handler has returned. If the session has ended, or the time of the caller, that may be the only reason of
// an error, which then is no refusal.
func (s *session) answer(st grpc.ServerStream, reply []byte, err error) error {
	transport.CheckCall(reply)
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if late := st.Context().Err(); late != nil {
		return status.FromContextError(late).Err()
	}
	if err != nil {
		return st.SendMsg(bytesOf([]byte{refused}, []byte(err.Error())))
	}
	return st.SendMsg(bytesOf([]byte{answered}, reply))
}

// serveCall has the handler answer a request.
func (t *Transport) serveCall(st grpc.ServerStream, from known) error {
	s, request, err := t.begun(st, from)
	if s == nil {
		return err
	}
	s.link.counts.callsServed.Add(1)
	ctx, cancel := s.within(st.Context())
	defer cancel(nil)
	reply, err := t.cfg.Handler.Call(ctx, from.node, request)
	return s.answer(st, reply, err)
}
