package grpcdoor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
)

// body is that of a request that has come through net/http. What serves such requests in grpc-go reads the whole of it at once, whatever is received of the
// call, and keeps all that. So a message is let through only when it is about to be received: what bounds that bounds the memory. A call has one message, and
// what follows that is dropped: left unread it would have the other calls of the connection wait.
type body struct {
	io.ReadCloser
	to   *http.ResponseController
	max  int64 // bytes of a message
	many bool  // the request may have several messages

	asked chan struct{} // has one if a message is about to be received that was not let through
	over  chan struct{} // closed when nothing more is read
	close func()        // closes it, and may be called again
	begun atomic.Bool   // the first message was asked for

	left int64 // of the message that has begun
	err  error // behind the head of a message that is too large
}

// frameHead is what a message of gRPC has in front.
const frameHead = 5

// Bounds of what gRPC's own services are sent, as nothing else counts that. A message names a service, or what describes one.
const (
	ownServices   = "/grpc."
	healthService = ownServices + "health.v1.Health/"
	ownMax        = 1 << 10
)

// isOwn reports whether the path of a method is of one of gRPC's own services.
func isOwn(path string) bool { return strings.HasPrefix(path, ownServices) }

// bodyOf returns what is read of a request instead of its body.
func (s *Server) bodyOf(r *http.Request, to *http.ResponseController) *body {
	over := make(chan struct{})
	b := &body{ReadCloser: r.Body, to: to, max: s.gate.BodyMax, asked: make(chan struct{}, 1), over: over, close: sync.OnceFunc(func() { close(over) })}
	if isOwn(r.URL.Path) {
		b.max, b.many = ownMax, true
	}
	if strings.HasPrefix(r.URL.Path, healthService) { // grpc-go receives its message before it calls what serves it
		b.many = false
		b.ask()
	}
	return b
}

// ask says that a message is about to be received.
func (b *body) ask() {
	select {
	case b.asked <- struct{}{}:
	default:
	}
}

// Read implements io.Reader. grpc-go keeps 16 KiB for each result, however short it is, so as much of a message is read at once as fits.
func (b *body) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.left == 0 {
		if b.begun.Load() && !b.many {
			if _, err := io.Copy(io.Discard, b.ReadCloser); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		select {
		case <-b.asked:
			b.begun.Store(true)
		case <-b.over:
			return 0, errOver
		}
		if n, err = io.ReadFull(b.ReadCloser, p[:frameHead]); err != nil {
			return n, early(err)
		}
		if b.left = int64(binary.BigEndian.Uint32(p[1:])); b.left > b.max {
			b.err = fmt.Errorf("the message has %d bytes, and may have %d", b.left, b.max)
			return n, nil // grpc-go refuses it by its head
		}
	}
	more, err := io.ReadFull(b.ReadCloser, p[n:min(int64(len(p)), int64(n)+b.left)])
	b.left -= int64(more)
	return n + more, early(err)
}

// Close implements io.Closer. grpc-go waits for the end of the reading then. A front keeps a body open for another sending, so what is being read needs a
// deadline to end; what was read is for no other sending.
func (b *body) Close() error {
	b.close()
	if b.begun.Load() {
		_ = b.to.SetReadDeadline(time.Unix(1, 0)) // an error says that there are no such times
	}
	return b.ReadCloser.Close()
}

var errOver = errors.New("the call has ended")

// early is the error of a message that ends early, as a body has it.
func early(err error) error {
	if err == io.ErrUnexpectedEOF {
		return io.EOF
	}
	return err
}

// asking is a stream of a request that may have several messages.
type asking struct{ grpc.ServerStream }

// RecvMsg implements grpc.ServerStream.
func (a asking) RecvMsg(m any) error {
	ask(a.Context())
	return a.ServerStream.RecvMsg(m)
}

// ask says that the next message of a call is about to be received.
func ask(ctx context.Context) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.body.ask()
	}
}
