package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/transport"
)

// Bulk implements transport.Transport.
func (t *Transport) Bulk(ctx context.Context, to event.NodeID, header []byte, write func(io.Writer) error) error {
	transport.CheckCall(header)
	s := t.present(to)
	if s == nil {
		return failed(transport.ErrNotSent, to, errNoSession)
	}
	ctx, cancel := s.within(ctx)
	defer cancel(nil)
	c, err := newClient(&t.cfg, to)
	if err != nil {
		return failed(transport.ErrNotSent, to, err)
	}
	defer c.close()
	st, err := c.NewStream(ctx, &bulkDesc, bulkMethod)
	if err != nil {
		return failed(transport.ErrNotSent, to, reason(ctx, err))
	}
	s.link.counts.bulks.Add(1)
	if err := st.SendMsg(bytesOf(s.id.append(nil), header)); err != nil {
		return failed(transport.ErrNotSent, to, reason(ctx, errors.Join(err, st.RecvMsg(&packet{}))))
	}
	w := &bulkWriter{st: st}
	if err := write(w); err != nil && !w.ended {
		cancel(err) // so that the other's handler does not take what has come for all
		return failed(transport.ErrUnknown, to, reason(s.ctx, err))
	}
	if !w.ended {
		_ = st.CloseSend() // it has no error
	}
	_, err = answer(ctx, st, to)
	return err
}

// bulkWriter cuts what is written into packets.
type bulkWriter struct {
	st    grpc.ClientStream
	ended bool // the other node takes no more, and its answer says why
}

// Write implements io.Writer.
func (w *bulkWriter) Write(b []byte) (written int, err error) {
	for len(b) > 0 {
		chunk := pooled(min(len(b), frameMax))
		k := copy(*chunk, b)
		if err := w.st.SendMsg(packetOf(chunk)); err != nil {
			w.ended = true
			return written, fmt.Errorf("the bulk has ended: %w", err)
		}
		written, b = written+k, b[k:]
	}
	return written, nil
}

// serveBulk has the handler read a stream.
func (t *Transport) serveBulk(st grpc.ServerStream, from known) error {
	s, header, err := t.begun(st, from)
	if s == nil {
		return err
	}
	s.link.counts.bulksServed.Add(1)
	// The connection is that of the bulk alone.
	defer context.AfterFunc(s.ctx, func() { _ = from.conn.Close() })()
	r := &bulkReader{st: st, s: s}
	err = t.cfg.Handler.Bulk(from.node, header, r)
	if err == nil {
		err = r.ended()
	}
	return s.answer(st, nil, err)
}

// bulkReader reads the packets of a bulk.
type bulkReader struct {
	st   grpc.ServerStream
	s    *session
	rest []byte // of a packet
	err  error
}

// Read implements io.Reader.
func (r *bulkReader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		var p packet
		switch err := r.st.RecvMsg(&p); {
		case err == nil:
			r.rest = p.in
		case errors.Is(err, io.EOF):
			r.err = io.EOF
		default:
			r.err = fmt.Errorf("the rest of the bulk will not come: %w", reason(r.s.ctx, err))
		}
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// ended returns an error if a handler that is content has not read all.
func (r *bulkReader) ended() error {
	switch n, err := r.Read(make([]byte, 1)); {
	case n > 0:
		return errors.New("the handler has left a part of the bulk")
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}
