package grpcdoor

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
)

// receive returns the message of a call. What it receives beyond the time that it has is not awaited: the receiver is free again
// when the call has ended.
func (s *Server) receive(ctx context.Context, stream grpc.ServerStream, q *gate.Request) ([]byte, error) {
	r := s.reading.enter(q.Source())
	if r.admitted != nil {
		late := time.NewTimer(s.reading.late)
		defer late.Stop()
		select {
		case <-r.admitted:
		case <-late.C:
			s.reading.leave(r)
			return nil, s.reading.slow()
		case <-ctx.Done():
			s.reading.leave(r)
			return nil, door.Refuse(door.TimedOut, "the call has ended before its arguments have arrived")
		}
	}
	s.receivers.receive(job{&s.reading, r, stream})
	return s.reading.done(r)
}
