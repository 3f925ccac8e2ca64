package grpcclient

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/aeon-lang/aeon/client"
	"github.com/aeon-lang/aeon/internal/freeport"
)

// node is a server that answers as the test says.
type node struct {
	address string
	mu      sync.Mutex
	keys    []string
	answer  func(stream grpc.ServerStream) error
}

func newNode(t *testing.T, answer func(grpc.ServerStream) error, opts ...grpc.ServerOption) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{address: l.Addr().String(), answer: answer}
	s := grpc.NewServer(append(opts, grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		n.mu.Lock()
		n.keys = append(n.keys, metadata.ValueFromIncomingContext(stream.Context(), keyName)...)
		n.mu.Unlock()
		if err := stream.RecvMsg(new(wrapperspb.StringValue)); err != nil {
			return err
		}
		return n.answer(stream)
	}))...)
	go func() { _ = s.Serve(l) }() // ends with the test
	t.Cleanup(s.Stop)
	return n
}

func dial(t *testing.T, addresses ...string) *Conn {
	t.Helper()
	c, err := Dial(addresses, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func call(ctx context.Context, c *Conn, limit time.Duration, opts ...grpc.CallOption) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out := new(wrapperspb.StringValue)
	err := c.Invoke(ctx, "/p.C/m", wrapperspb.String("in"), out, opts...)
	return out.Value, err
}

// says returns the code, the reason and what has happened.
func says(err error) string {
	text := status.Code(err).String()
	if info := infoOf(status.Convert(err)); info != nil {
		text += " " + info.Reason + " " + info.Metadata["happened"]
	}
	return text
}

func good(stream grpc.ServerStream) error { return stream.SendMsg(wrapperspb.String("out")) }

// A call goes to one node after the other, with one key, until it is answered; else its status says whether it may have happened.
func TestCalls(t *testing.T) {
	fails := func(code codes.Code, reason string, happened client.Happened) func(grpc.ServerStream) error {
		return func(grpc.ServerStream) error { return failure(code, "it fails", reason, happened) }
	}
	lost := func(stream grpc.ServerStream) error { // a proxy in between says no more
		return status.Error(codes.Unavailable, "the connection has broken")
	}
	broken := func(grpc.ServerStream) error { // it cannot write its answer, say
		return status.Error(codes.Internal, unsendable+"marshaling: it fails")
	}
	const long, short = time.Minute, 300 * time.Millisecond
	for _, c := range []struct {
		what   string
		first  func(grpc.ServerStream) error // nil: it is not there
		second func(grpc.ServerStream) error
		limit  time.Duration
		want   string
	}{
		{"both are there", good, good, long, "OK"},
		{"the first is not there", nil, good, long, "OK"},
		{"the first is full", fails(codes.Unavailable, "full", client.No), good, long, "OK"},
		{"the first does not know", fails(codes.Unavailable, "unknown", client.Unknown), good, long, "OK"},
		{"the first has gone", lost, good, long, "OK"},
		{"the first cannot answer", broken, good, long, "OK"},
		{"the first has undone it at the end of its time", fails(codes.DeadlineExceeded, "timeout", client.No), good, long, "OK"},
		{"the first has undone a later step of it", fails(codes.DeadlineExceeded, "timeout", client.Partly), good, long, "DeadlineExceeded timeout partly"},
		{"the program refuses", fails(codes.FailedPrecondition, "aborted", client.No), good, long, "FailedPrecondition aborted no"},
		{"the program refuses what may have happened", lost, fails(codes.FailedPrecondition, "aborted", client.No), long, "FailedPrecondition aborted no"},
		{"the second refuses what may have happened", lost, fails(codes.Unauthenticated, "unauthenticated", client.No), long, "Unauthenticated unauthenticated unknown"},
		{"none is there", nil, nil, short, "Unavailable unavailable no"},
		{"none serves", nil, fails(codes.Unavailable, "unavailable", client.No), short, "Unavailable unavailable no"},
		{"none is there any more", lost, nil, short, "Unavailable unknown unknown"},
		{"none answers", func(s grpc.ServerStream) error { <-s.Context().Done(); return nil }, nil, short, "Unavailable unknown unknown"},
	} {
		var addresses []string
		var keys [][]string
		var list []*node
		for _, answer := range []func(grpc.ServerStream) error{c.first, c.second} {
			if answer == nil {
				addresses = append(addresses, freeport.Address(t))
				continue
			}
			n := newNode(t, answer)
			addresses, list = append(addresses, n.address), append(list, n)
		}
		got, err := call(t.Context(), dial(t, addresses...), c.limit)
		if says(err) != c.want || err == nil && got != "out" {
			t.Errorf("%s: %q, %v", c.what, got, err)
		}
		for _, n := range list {
			n.mu.Lock()
			keys = append(keys, n.keys)
			n.mu.Unlock()
		}
		all := slices.Concat(keys...)
		if slices.ContainsFunc(all, func(k string) bool { return len(k) < 20 || k != all[0] }) || len(list) > 0 && len(all) == 0 {
			t.Errorf("%s: the keys are %q", c.what, all)
		}
	}
}

// What can never be sent, and an answer that cannot be read, is told at once: no node is asked again.
func TestErrorsOfThisSide(t *testing.T) {
	const unsent = "InvalidArgument arguments no"
	for _, c := range []struct {
		what   string
		in     string
		md     []string
		answer func(grpc.ServerStream) error
		calls  int
		want   string
		says   string
		opts   []grpc.CallOption
	}{
		{"a string that is no text", "\xff", nil, good, 0, unsent, "invalid UTF-8", nil},
		{"a key that is not ASCII", "in", []string{keyName, "clé"}, good, 0, unsent, `the key "clé" has`, nil},
		{"a key with a control character", "in", []string{keyName, "a\n"}, good, 0, unsent, `the key "a\n" has`, nil},
		{"a token with a control character", "in", []string{"authorization", "Bearer a\n"}, good, 0, unsent, `"authorization"`, nil},
		{"an answer of another type", "in", nil, func(s grpc.ServerStream) error { return s.SendMsg(wrapperspb.Bytes([]byte{0xff})) }, 1, "FailedPrecondition result yes", "invalid UTF-8", nil},
		{"an answer that is larger than the client takes", "in", nil, func(s grpc.ServerStream) error { return s.SendMsg(wrapperspb.String("an answer")) }, 1,
			"FailedPrecondition result yes", "larger than max (11 vs. 10)", []grpc.CallOption{grpc.MaxCallRecvMsgSize(10)}},
		{"a call that is larger than the node takes", "in", nil, func(s grpc.ServerStream) error { // which over TLS sends headers first
			if err := s.SendHeader(nil); err != nil {
				return err
			}
			return status.Error(codes.ResourceExhausted, "grpc: received message larger than max (4 vs. 3)")
		}, 1, "ResourceExhausted", "larger than max (4 vs. 3)", nil},
	} {
		var calls atomic.Int64
		n := newNode(t, func(s grpc.ServerStream) error {
			calls.Add(1)
			return c.answer(s)
		})
		ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(t.Context(), c.md...), 5*time.Second)
		defer cancel()
		err := dial(t, n.address, n.address).Invoke(ctx, "/p.C/m", wrapperspb.String(c.in), new(wrapperspb.StringValue), c.opts...)
		if says(err) != c.want || !strings.Contains(err.Error(), c.says) || int(calls.Load()) != c.calls || ctx.Err() != nil {
			t.Errorf("%s, after %d calls: %v", c.what, calls.Load(), err)
		}
	}
}

// A result may be larger than package grpc has it.
func TestLargeAnswers(t *testing.T) {
	n := newNode(t, func(s grpc.ServerStream) error { return s.SendMsg(wrapperspb.String(strings.Repeat("x", 5<<20))) })
	if out, err := call(t.Context(), dial(t, n.address), time.Minute); err != nil || len(out) != 5<<20 {
		t.Errorf("%d bytes (%v)", len(out), err)
	}
}

// That no certificate of a node is trusted is told at once, with the reason: it is for people to mend. One that is trusted is enough.
func TestCertificates(t *testing.T) {
	known, unknown := authority(t), authority(t)
	later := time.Now().Add(time.Hour)
	good, bad := known.node(t, "127.0.0.1", later), unknown.node(t, "127.0.0.1", later)
	pool := x509.NewCertPool()
	pool.AddCert(known.cert)
	dial := func(addresses ...string) *Conn {
		c, err := Dial(addresses, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool})))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	for _, c := range []struct{ address, why string }{
		{bad, "certificate signed by unknown authority"},
		{known.node(t, "127.0.0.1", time.Now().Add(-time.Hour)), "certificate has expired"},
		{known.node(t, "127.0.0.2", later), "not 127.0.0.1"},
	} {
		began := time.Now()
		_, err := call(t.Context(), dial(c.address, bad), 10*time.Second)
		if says(err) != "Unavailable unavailable no" || !strings.Contains(err.Error(), c.why) && !strings.Contains(err.Error(), "unknown authority") || time.Since(began) > 5*time.Second {
			t.Errorf("%s: after %v: %v", c.why, time.Since(began), err)
		}
		if _, err := call(t.Context(), dial(c.address), 10*time.Second); !strings.Contains(err.Error(), c.why) || time.Since(began) > 5*time.Second {
			t.Errorf("%s, alone: after %v: %v", c.why, time.Since(began), err)
		}
	}
	if got, err := call(t.Context(), dial(bad, good), 10*time.Second); got != "out" {
		t.Errorf("one is trusted: %q, %v", got, err)
	}
}

// signer signs certificates of nodes.
type signer struct {
	cert *x509.Certificate
	key  ed25519.PrivateKey
}

func authority(t *testing.T) *signer {
	t.Helper()
	own := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour)}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &signer{own, key}
	a.cert = a.sign(t, own, key)
	return a
}

func (a *signer) sign(t *testing.T, c *x509.Certificate, key ed25519.PrivateKey) *x509.Certificate {
	t.Helper()
	b, err := x509.CreateCertificate(nil, c, a.cert, key.Public(), a.key)
	if err == nil {
		c, err = x509.ParseCertificate(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// node returns the address of a node whose certificate is for a host, until a time.
func (a *signer) node(t *testing.T, host string, until time.Time) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := a.sign(t, &x509.Certificate{SerialNumber: big.NewInt(2), IPAddresses: []net.IP{net.ParseIP(host)}, NotAfter: until}, key)
	return newNode(t, good, grpc.Creds(credentials.NewServerTLSFromCert(&tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: key}))).address
}

// A key that is given is kept, and a call that reads has none.
func TestKeys(t *testing.T) {
	n := newNode(t, good)
	c := dial(t, n.address)
	if _, err := call(metadata.AppendToOutgoingContext(t.Context(), keyName, "k"), c, time.Minute); err != nil {
		t.Error(err)
	}
	if _, err := call(t.Context(), c, time.Minute, Reads()); err != nil {
		t.Error(err)
	}
	if !slices.Equal(n.keys, []string{"k"}) {
		t.Errorf("the keys are %q", n.keys)
	}
	if _, err := Dial(nil); err == nil {
		t.Error("a program without addresses is dialled")
	}
}

// A node that takes a stream, and ends it as it cannot carry it, is left: the next stream is opened at another one. Other ends are of the program, which
// each node has alike.
func TestStreamsLeaveANode(t *testing.T) {
	for code, want := range map[codes.Code]string{codes.Unavailable: "failed out", codes.NotFound: "failed failed"} {
		bad := newNode(t, func(grpc.ServerStream) error { return failure(code, "it fails", "unavailable", client.No) })
		c := dial(t, bad.address, newNode(t, good).address)
		var got []string
		for range 2 {
			s, err := c.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, "/p.C/m")
			if err == nil {
				err = errors.Join(s.SendMsg(wrapperspb.String("in")), s.CloseSend())
			}
			out := wrapperspb.String("failed")
			if err == nil {
				err = s.RecvMsg(out)
			}
			if err != nil && status.Code(err) != code {
				t.Fatal(err)
			}
			got = append(got, out.Value)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%v: %s", code, text)
		}
	}
}

// A stream is opened at a node that is there.
func TestStreams(t *testing.T) {
	n := newNode(t, good)
	c := dial(t, freeport.Address(t), n.address)
	s, err := c.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, "/p.C/m")
	if err == nil {
		err = errors.Join(s.SendMsg(wrapperspb.String("in")), s.CloseSend())
	}
	out := new(wrapperspb.StringValue)
	if err != nil || s.RecvMsg(out) != nil || out.Value != "out" {
		t.Errorf("%q, %v", out.Value, err)
	}
}
