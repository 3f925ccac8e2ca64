// Package grpcdoor serves the methods of a program's actors by gRPC, at the address of package httpdoor and within its limits,
// tokens, rights and audit: a service for each actor class, with a method for each of its methods. Messages are made of the
// types of the program by package protocodec. Beside them it serves callbacks to clients outside, a service for each package
// that has client classes; reflection; and the health of the program.
//
// Metadata of a call: authorization has the token, idempotency-key the key by which it runs once. A failure is a status with
// google.rpc.ErrorInfo, whose reason is the code that package door has for it, and whose metadata are happened and at;
// google.rpc.DebugInfo with the path; and google.rpc.RetryInfo if the call may succeed later.
package grpcdoor

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/protocodec"
	"github.com/aeon-lang/aeon/runtime/span"
)

// Services are what a program serves. Any goroutine may use them.
type Services struct {
	door     *door.Door
	schema   *protocodec.Schema
	rpcs     map[*door.Method]*protocodec.RPC
	packages map[string]string // of the services of client classes, by name
}

// Of makes the services of a program.
func Of(d *door.Door) (*Services, error) {
	schema, err := schemaOf(d, func(*door.Class, *door.Method) bool { return true }, func(*door.ClientClass) bool { return true })
	if err != nil {
		return nil, err
	}
	s := &Services{door: d, schema: schema, rpcs: make(map[*door.Method]*protocodec.RPC), packages: make(map[string]string)}
	for name, c := range schema.Clients {
		s.packages[c.Name] = name
	}
	for _, c := range d.Classes() {
		for i, m := range c.Methods {
			s.rpcs[m] = schema.Services[c.Path()].Methods[i]
		}
	}
	return s, nil
}

// schemaOf describes a program: of its actor classes the methods for which may holds, and the client classes for which mayBe does.
func schemaOf(d *door.Door, may func(*door.Class, *door.Method) bool, mayBe func(*door.ClientClass) bool) (*protocodec.Schema, error) {
	var p protocodec.Program
	for _, c := range d.Classes() {
		of := protocodec.Class{Package: c.Package, Name: c.Name, Doc: c.Doc, Hidden: !may(c, nil)}
		for _, m := range c.Methods {
			shown := may(c, m)
			of.Hidden = of.Hidden && !shown
			of.Methods = append(of.Methods, protocodec.Method{Name: m.Name, Doc: m.Doc, Signature: m.Signature, Params: m.Method.Params, Hidden: !shown})
		}
		p.Classes = append(p.Classes, of)
	}
	d.ClientClasses(func(c *door.ClientClass) {
		of := protocodec.Class{Package: c.Package, Name: c.Name, Doc: c.Doc, Hidden: !mayBe(c)}
		for _, m := range c.Methods {
			of.Methods = append(of.Methods, protocodec.Method{Name: m.Name, Doc: m.Doc, Signature: m.Signature, Params: m.ClientMethod.Params})
		}
		p.Clients = append(p.Clients, of)
	})
	return protocodec.Compile(p)
}

const (
	headMax  = 32 << 10         // bytes of metadata
	callsMax = 256              // calls of one connection
	idleTime = 2 * time.Minute  // after which a connection without calls is closed
	aliveMax = 30 * time.Second // of a connection that does not answer
	argsTime = 40 * time.Second // that arguments may take to arrive
	argsMax  = 64               // calls whose arguments are being read
	argsEach = 16               // those of one caller, or of one connection where callers are not known
	argsMin  = time.Second      // that they may take to arrive while other calls wait to be read
	workers  = 16               // goroutines that wait for a call; each further one that is under way has a fresh one
)

// Server serves gRPC, beside a server of HTTP.
type Server struct {
	*Services
	gate      *gate.Gate
	grpc      *grpc.Server
	reading   readers
	receivers receivers
	views     sync.Map // of *access.Caller: the view of reflection
}

// Serve returns what serves gRPC beside gate. It is for httpdoor.Config.GRPC.
func (s *Services) Serve(g *gate.Gate) *Server {
	of := &Server{Services: s, gate: g, receivers: newReceivers(),
		reading: readers{max: argsMax, each: argsEach, patience: argsMin, late: argsTime, of: make(map[source]int)}}
	of.grpc = grpc.NewServer(
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(encodingproto.Name)}),
		grpc.MaxRecvMsgSize(int(g.BodyMax)),
		grpc.MaxHeaderListSize(headMax),
		grpc.MaxConcurrentStreams(callsMax),
		grpc.NumStreamWorkers(workers),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idleTime, Time: idleTime, Timeout: aliveMax}),
		grpc.UnknownServiceHandler(of.call),
	)
	of.registerReflection()
	of.registerHealth()
	return of
}

// Serve implements httpdoor.Peer.
func (s *Server) Serve(l net.Listener) error { return s.grpc.Serve(conns{l}) }

// Close implements httpdoor.Peer.
func (s *Server) Close(ctx context.Context) {
	stop := context.AfterFunc(ctx, s.grpc.Stop)
	defer stop()
	s.grpc.GracefulStop()
	s.receivers.end()
}

// message is a message that package protocodec reads or writes.
type message struct{ bytes []byte }

// codec hands on the messages of calls as they are, and has those of other services encoded.
type codec struct{ encoding.CodecV2 }

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if m, ok := v.(*message); ok {
		return mem.BufferSlice{mem.SliceBuffer(m.bytes)}, nil
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if m, ok := v.(*message); ok {
		m.bytes = data.Materialize()
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}

// call serves a call.
func (s *Server) call(_ any, stream grpc.ServerStream) (err error) {
	answered := s.gate.Counts.Code
	defer func() { answered(uint32(status.Code(err))) }()
	ctx := stream.Context()
	q, err := s.request(ctx)
	if err != nil {
		return failed(err)
	}
	if served, err := s.clients(stream, q); served {
		return err
	}
	answered = s.gate.Counts.GRPC()
	md, _ := metadata.FromIncomingContext(ctx)
	recorded := s.door.Serve("call", span.Parse(md[parentKey], md[stateKey]))
	defer func() { record(recorded, err) }()
	found := false
	q.Read = func(c *door.Call, class *door.Class) (err error) {
		found = true
		c.Span = recorded
		recorded.Name(q.Class + "/" + q.Method)
		rpc := s.rpcs[c.Method]
		b, err := s.receive(ctx, stream, q)
		if err == nil {
			err = s.gate.Hold(q, int64(len(b)))
		}
		if err == nil {
			q.Key, c.Args, err = rpc.Read(b, s.door.Names(q.By.Name))
		}
		if err == nil {
			c.Form = rpc
			c.Target, err = s.door.Actor(class, q.Key)
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
	if answer.Seen > 0 {
		if err := stream.SetHeader(metadata.Pairs(positionKey, strconv.FormatUint(uint64(answer.Seen), 10))); err != nil {
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

// The names of metadata.
const (
	parentKey        = "traceparent"
	stateKey         = "tracestate"
	authorizationKey = "authorization"
	onceKey          = "idempotency-key"
	positionKey      = "aeon-position" // up to which position of the journal the event has seen the store
)

// request returns what is known of a call before it is read: of which caller it is.
func (s *Server) request(ctx context.Context) (*gate.Request, error) {
	keys := metadata.ValueFromIncomingContext(ctx, onceKey)
	q := &gate.Request{Once: strings.Join(keys, ","), Keyed: len(keys) > 0}
	path, _ := grpc.Method(ctx)
	q.Class, q.Method, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if from, ok := peer.FromContext(ctx); ok {
		q.Remote = from.Addr.String()
	}
	return q, s.gate.Know(q, metadata.ValueFromIncomingContext(ctx, authorizationKey))
}

// unread is the failure of a call whose message could not be received; nil if err is.
func unread(err error) error {
	switch {
	case err == nil:
		return nil
	case err == io.EOF:
		return door.Refuse(door.BadArgs, "the call has no message")
	case status.Code(err) == codes.ResourceExhausted:
		return door.Refuse(door.TooLarge, "%s", status.Convert(err).Message())
	}
	return door.Refuse(door.BadArgs, "the message cannot be received: %s", status.Convert(err).Message())
}
