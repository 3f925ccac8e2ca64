package grpcdoor

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	aeoncodec "github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/protocodec"
)

// clients serves a method of the service of a package's client classes. It reports false if the service has no such method.
func (s *Server) clients(stream grpc.ServerStream, q *gate.Request) (served bool, err error) {
	of := s.schema.Clients[s.packages[q.Class]]
	if of == nil {
		return false, nil
	}
	serve := map[string]func(grpc.ServerStream, *gate.Request, *protocodec.Clients) error{
		of.Begin.Name: s.beginClient, of.Receive.Name: s.callbacks, of.End.Name: s.endClient,
	}[q.Method]
	if serve == nil {
		return false, nil
	}
	err = serve(stream, q, of)
	if end := new(door.EndedError); errors.As(err, &end) {
		return true, statusOf(endings[end.Code], &door.Failure{Code: end.Code, Msg: end.Msg, Happened: door.No})
	}
	if _, is := status.FromError(err); is {
		return true, err
	}
	return true, failed(err)
}

// endings are the codes of gRPC by which streams end. A client that has ended is one that is not there.
var endings = map[string]codes.Code{
	door.Ended: codes.NotFound, door.Expired: codes.NotFound, door.Overflow: codes.NotFound, door.Failed: codes.NotFound, door.TakenOver: codes.Aborted,
}

// asked reads what a method of the service is asked.
func (s *Server) asked(stream grpc.ServerStream, q *gate.Request, of *protocodec.RPC) (*aeoncodec.Decoder, error) {
	b, err := s.receive(stream.Context(), stream, q)
	if err != nil {
		return nil, err
	}
	defer s.gate.Release(q)
	if err := s.gate.Hold(q, int64(len(b))); err != nil {
		return nil, err
	}
	msg, err := of.ReadRequest(b)
	if err != nil {
		return nil, err
	}
	return aeoncodec.NewDecoder(msg), nil
}

// answer sends an answer, whose fields were put into e.
func (s *Server) answer(stream grpc.ServerStream, of *protocodec.RPC, e *aeoncodec.Encoder) error {
	b, err := of.Append(nil, e.Data(), nil)
	if err != nil {
		return err
	}
	return stream.SendMsg(&message{b})
}

// beginClient begins a client with an object of each class that it asks for.
func (s *Server) beginClient(stream grpc.ServerStream, q *gate.Request, of *protocodec.Clients) error {
	d, err := s.asked(stream, q, of.Begin)
	if err != nil {
		return err
	}
	var names, paths []string
	for n := d.Uint(); n > 0; n-- {
		name := d.String()
		names, paths = append(names, name), append(paths, of.Package+"."+name)
	}
	remote, err := s.gate.BeginClient(q, paths)
	if err != nil {
		return err
	}
	e := aeoncodec.NewEncoder(nil)
	e.String(remote.ID)
	e.Uint(uint64(len(names)))
	for i, name := range names {
		e.String(name)
		e.String(remote.References[i])
	}
	if err := s.answer(stream, of.Begin, e); err != nil {
		remote.End() // its caller does not know of it
		return err
	}
	return nil
}

// endClient ends a client.
func (s *Server) endClient(stream grpc.ServerStream, q *gate.Request, of *protocodec.Clients) error {
	d, err := s.asked(stream, q, of.End)
	if err != nil {
		return err
	}
	remote, err := s.gate.Client(q, d.String())
	if err != nil {
		return err
	}
	remote.End()
	return s.answer(stream, of.End, aeoncodec.NewEncoder(nil))
}

// callbacks streams the callbacks of a client.
func (s *Server) callbacks(stream grpc.ServerStream, q *gate.Request, of *protocodec.Clients) error {
	d, err := s.asked(stream, q, of.Receive)
	if err != nil {
		return err
	}
	remote, err := s.gate.Client(q, d.String())
	if err != nil {
		return err
	}
	from, err := remote.Stream(d.Uint())
	if err != nil {
		return err
	}
	defer from.Close()
	defer s.gate.Counts.Stream()()
	lasting(stream.Context())
	if err := stream.SendHeader(metadata.MD{}); err != nil { // so that the client knows that it is open
		return err
	}
	for {
		list, err := from.Take()
		if err != nil {
			return err
		}
		for _, c := range list {
			if err := s.callback(stream, q, of, &c); err != nil {
				return err
			}
		}
		if len(list) > 0 {
			continue
		}
		select {
		case <-from.Ready():
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		case <-s.gate.Ending():
			return &door.Refusal{Failure: door.Failure{Code: door.Closing, Happened: door.No, Later: true, Msg: "the program is ending, and its clients with it"}}
		}
	}
}

// callback sends a callback.
func (s *Server) callback(stream grpc.ServerStream, q *gate.Request, of *protocodec.Clients, c *door.Delivery) error {
	class := c.Method.Of
	if class.Package != of.Package {
		return door.Refuse(door.BadArgs, "callback %d is one of a %s, and this service is that of package %s; receive behind it, or by HTTP", c.Number, class.Path(), of.Package)
	}
	b, err := of.Classes[class.Name].Methods[c.Method.Name].Append(nil, c.Number, c.Args, s.door.Names(context.Background(), q.By.Name))
	if err != nil {
		return door.Refuse(door.BadResult, "callback %d, %s.%s, cannot be written: %v; receive behind it, or by HTTP", c.Number, class.Name, c.Method.Name, err)
	}
	return s.send(stream, &message{b})
}
