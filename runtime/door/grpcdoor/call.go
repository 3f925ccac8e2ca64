package grpcdoor

import (
	"errors"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/span"
)

// call serves a call.
func (s *Server) call(_ any, stream grpc.ServerStream) (err error) {
	answered := s.gate.Counts.Code
	defer func() {
		answered(uint32(status.Code(err)))
		tell(stream, err)
	}()
	ctx := stream.Context()
	q, err := s.request(ctx)
	if err != nil {
		return failed(err)
	}
	if served, err := s.clients(stream, q); served {
		return err
	}
	answered = s.gate.Counts.GRPC()
	var recorded *span.Call
	if s.door.Records() {
		recorded = s.door.Serve("call", span.Parse(metadata.ValueFromIncomingContext(ctx, parentKey), metadata.ValueFromIncomingContext(ctx, stateKey)))
	}
	defer func() { record(recorded, err) }()
	found := false
	q.Read = func(c *door.Call, class *door.Class) (err error) {
		found = true
		c.Span = recorded
		if recorded != nil {
			recorded.Name(q.Class + "/" + q.Method)
		}
		rpc := s.rpcs[c.Method]
		b, err := s.receive(ctx, stream, q)
		if err == nil {
			err = s.gate.Hold(q, int64(len(b)))
		}
		if err == nil {
			q.Key, c.Args, err = rpc.Read(b, s.door.Names(ctx, q.By.Name))
		}
		if err == nil {
			c.Form = rpc
			c.Target, err = s.door.Target(ctx, c, class, q.Key)
		}
		return err
	}
	answer, err := s.gate.Answer(ctx, q)
	if _, absent := errors.AsType[*door.NotFoundError](err); absent && !found { // the method itself
		return statusOf(codes.Unimplemented, door.Explain(err))
	}
	if err != nil {
		return failed(err)
	}
	if answer.Seen > 0 { // sent, not set: grpc-go copies what is set
		if err := stream.SendHeader(metadata.MD{positionKey: {strconv.FormatUint(uint64(answer.Seen), 10)}}); err != nil {
			return err
		}
	}
	return stream.SendMsg(&message{answer.Result})
}

// record records how a call has ended. It has failed for its span if its server is why, and not its caller.
func record(c *span.Call, err error) {
	code := status.Code(err)
	c.Text("rpc.system", "grpc")
	c.Number("rpc.grpc.status_code", int64(code))
	switch code {
	case codes.Unknown, codes.DeadlineExceeded, codes.Unimplemented, codes.Internal, codes.Unavailable, codes.DataLoss:
		c.Fail(status.Convert(err).Message())
	}
	c.End()
}
