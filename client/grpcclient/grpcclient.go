// Package grpcclient calls the actors of a program by gRPC (docs/grpc.md), at whichever of its nodes answers. A Conn takes the place of a
// *grpc.ClientConn below the code that protoc has generated:
//
//	conn, err := grpcclient.Dial([]string{"a.example:8443", "b.example:8443"}, grpc.WithTransportCredentials(tls))
//	bank := pb.NewBankClient(conn)
//	_, err = bank.Open(ctx, &pb.Bank_Open{Key: "main", Owner: "ann", Deposit: 10})
//	balance, err := bank.Balance(ctx, &pb.Bank_Balance{Key: "main", Owner: "ann"}, grpcclient.Reads())
//
// A call has a key, and takes effect once, however often it is sent. While no node answers it is sent again, to one node after the other, until its
// deadline, or until no certificate of a node is trusted. Then its status is UNAVAILABLE with the reason unavailable if it has surely not happened, and else with the reason unknown.
package grpcclient

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"github.com/aeon-lang/aeon/client"
)

// Conn is connections to the nodes of a program. Any goroutine may use it.
type Conn struct {
	list  []*grpc.ClientConn
	nodes client.Nodes
}

// A connection that the network has cut without a word is silent for a quarter of an hour, as TCP sends again what was lost ever more rarely: each call would
// wait behind it, and a stream for ever. So one that is silent is asked whether it is there, and another one is made.
const (
	pingAfter = 10 * time.Second // the least that package grpc takes
	pingMax   = 5 * time.Second
)

// Dial returns connections to the nodes at these addresses, with the options of each. They are made when they are used. One that is silent while calls or
// streams are under way is left within 15 s, unless the options have other parameters of keepalive. Results may have any size, as by HTTP, unless the options
// have a limit.
func Dial(addresses []string, opts ...grpc.DialOption) (*Conn, error) {
	if len(addresses) == 0 {
		return nil, errors.New("a client needs the address of the program")
	}
	own := []grpc.DialOption{grpc.WithStatsHandler(sentHandler{}), grpc.WithConnectParams(grpc.ConnectParams{
		Backoff: backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}, MinConnectTimeout: 2 * time.Second,
	}), grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingAfter, Timeout: pingMax}), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32))}
	c := &Conn{nodes: client.Nodes{Count: len(addresses)}}
	for _, a := range addresses {
		conn, err := grpc.NewClient(a, append(own, opts...)...)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.list = append(c.list, conn)
	}
	return c, nil
}

// Close closes the connections.
func (c *Conn) Close() (err error) {
	for _, conn := range c.list {
		err = errors.Join(err, conn.Close())
	}
	return err
}

// Reads is the option of a call whose method is ro, which needs no key.
func Reads() grpc.CallOption { return reads{} }

type reads struct{ grpc.EmptyCallOption }

const (
	keyName = "idempotency-key"
	domain  = "aeon" // of the reasons of failures
)

// Invoke implements grpc.ClientConnInterface: it performs a call whose request and answer are single messages. A key in the metadata of ctx is that of
// the call.
func (c *Conn) Invoke(ctx context.Context, method string, in, out any, opts ...grpc.CallOption) error {
	if err := keyFits(ctx); err != nil {
		return err
	}
	if needsKey(ctx, opts) {
		ctx = metadata.AppendToOutgoingContext(ctx, keyName, rand.Text())
	}
	maybe := false // it may have been performed
	err := c.nodes.Try(ctx, true, func(ctx context.Context, node int) (client.Outcome, error) {
		sent := new(sending)
		err := own(c.list[node].Invoke(context.WithValue(ctx, sentKey{}, sent), method, in, out, opts...), sent)
		outcome := outcomeOf(err, sent.message.Load())
		if maybe && (outcome == client.Answered || outcome == client.Undone) {
			err = open(err)
		}
		maybe = maybe || outcome == client.MaybeDone
		return outcome, err
	})
	if given, is := errors.AsType[*client.Error](err); is {
		return failure(codes.Unavailable, given.Error(), given.Code, given.Happened)
	}
	return err
}

// keyFits returns an error if the call has a key that metadata cannot have.
func keyFits(ctx context.Context) error {
	md, _ := metadata.FromOutgoingContext(ctx)
	for _, key := range md.Get(keyName) {
		if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
			msg := fmt.Sprintf("the key %q has a character that is no visible one of ASCII, which no metadata carry; choose one without", key)
			return failure(codes.InvalidArgument, msg, "arguments", client.No)
		}
	}
	return nil
}

// needsKey reports whether a call is to be given a key.
func needsKey(ctx context.Context, opts []grpc.CallOption) bool {
	for _, o := range opts {
		if _, is := o.(reads); is {
			return false
		}
	}
	md, _ := metadata.FromOutgoingContext(ctx)
	return len(md.Get(keyName)) == 0
}

// NewStream implements grpc.ClientConnInterface. A stream is of one node. If that ends it with UNAVAILABLE the
// next one is opened at another node; a stream of callbacks that has ended is opened again behind the last one that
// has arrived.
func (c *Conn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (s grpc.ClientStream, err error) {
	first := c.nodes.First()
	for i := range c.list {
		node := (first + i) % len(c.list)
		if s, err = c.list[node].NewStream(ctx, desc, method, opts...); err == nil {
			return &stream{s, c, node}, nil
		}
	}
	return nil, err
}

// stream is a stream of a node, which is left if it ends the stream as it cannot carry it: it has taken it all the same.
type stream struct {
	grpc.ClientStream
	conn *Conn
	node int
}

// RecvMsg implements grpc.ClientStream.
func (s *stream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if status.Code(err) == codes.Unavailable {
		s.conn.nodes.Leave(s.node)
	}
	return err
}

// infoOf returns what the program tells of a failure; nil: it is not the program's.
func infoOf(s *status.Status) *errdetails.ErrorInfo {
	for _, d := range s.Details() {
		if info, is := d.(*errdetails.ErrorInfo); is && info.Domain == domain {
			return info
		}
	}
	return nil
}

// How errors of this side begin that package grpc gives the code of a connection which has broken: the message cannot be sent, or the one that has come
// cannot be read.
const (
	unsendable = "grpc: error while "
	unreadable = "grpc: failed to unmarshal the received message: "
)

// own returns err, as the program would have it if it is of this side: each node would answer alike.
func own(err error, sent *sending) error {
	s := status.Convert(err)
	switch {
	case infoOf(s) != nil:
	case s.Code() == codes.ResourceExhausted && sent.overflown(s.Message()):
		return failure(codes.FailedPrecondition, "the result cannot be read: "+s.Message(), "result", client.Yes)
	case s.Code() != codes.Internal:
	case !sent.head.Load(), !sent.message.Load() && strings.HasPrefix(s.Message(), unsendable):
		return failure(codes.InvalidArgument, "the call cannot be sent: "+s.Message(), "arguments", client.No)
	case strings.HasPrefix(s.Message(), unreadable): // a node does not say so: it takes messages as they are
		return failure(codes.FailedPrecondition, "the result cannot be read: "+s.Message(), "result", client.Yes)
	}
	return err
}

// outcomeOf says what is certain of a call that has ended with err. sent says that a node may have got it.
func outcomeOf(err error, sent bool) client.Outcome {
	s := status.Convert(err)
	info := infoOf(s)
	switch s.Code() {
	case codes.Unavailable:
		if info != nil && info.Metadata["happened"] == string(client.No) {
			return client.NotDone
		}
	case codes.DeadlineExceeded, codes.Canceled, codes.Internal, codes.Unknown:
		switch {
		case info == nil:
		case info.Reason == "timeout" && info.Metadata["happened"] == string(client.No): // its deadline was that of this sending
			return client.Undone
		default:
			return client.Answered
		}
	default:
		return client.Answered
	}
	switch {
	case sent:
		return client.MaybeDone
	case strings.Contains(s.Message(), untrusted):
		return client.Untrusted
	}
	return client.NotDone
}

// untrusted is how an error of a handshake reads in the status of a call, which has its text alone, if the certificate of the node is not trusted.
const untrusted = "authentication handshake failed: tls: failed to verify certificate: "

// open returns the failure of an answer to a call that may have been performed before: one of this sending alone leaves that open. Failures of the program
// are of the call.
func open(err error) error {
	s := status.Convert(err)
	info := infoOf(s)
	if info == nil || s.Code() == codes.FailedPrecondition || info.Metadata["happened"] != string(client.No) {
		return err
	}
	return failure(s.Code(), s.Message(), info.Reason, client.Unknown)
}

// failure returns a status as the program has it.
func failure(code codes.Code, msg, reason string, happened client.Happened) error {
	info := &errdetails.ErrorInfo{Reason: reason, Domain: domain, Metadata: map[string]string{"happened": string(happened)}}
	s, err := status.New(code, msg).WithDetails(protoadapt.MessageV1(info))
	if err != nil {
		panic(err) // it is a message of protobuf
	}
	return s.Err()
}

// sending is how far a call has come that is being sent.
type sending struct {
	head    atomic.Bool  // its head is on its way
	message atomic.Bool  // and its message: a node may perform it
	size    atomic.Int64 // of the message
	answer  atomic.Bool  // headers of an answer have come
}

// overflown reports whether an error is that an answer is larger than this side takes. A node says the same of a call that is larger than it takes, with the size of that.
func (s *sending) overflown(msg string) bool {
	var size, most int64
	n, err := fmt.Sscanf(msg, "grpc: received message larger than max (%d vs. %d)", &size, &most)
	return n == 2 && err == nil && s.answer.Load() && size != s.size.Load()
}

// sentHandler notes of each call how far it has come.
type sentHandler struct{}

type sentKey struct{}

// TagRPC implements stats.Handler.
func (sentHandler) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (sentHandler) HandleRPC(ctx context.Context, s stats.RPCStats) {
	sent, is := ctx.Value(sentKey{}).(*sending)
	if !is {
		return
	}
	switch s := s.(type) {
	case *stats.OutHeader:
		sent.head.Store(true)
	case *stats.OutPayload:
		sent.message.Store(true)
		sent.size.Store(int64(s.CompressedLength))
	case *stats.InHeader:
		sent.answer.Store(true)
	}
}

// TagConn implements stats.Handler.
func (sentHandler) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (sentHandler) HandleConn(context.Context, stats.ConnStats) {}
