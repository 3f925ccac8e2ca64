package mem

import (
	"context"
	"errors"
	"io"
)

// pipe is what of a bulk is under way.
type pipe struct {
	data  []byte
	ended bool  // nothing more is written
	err   error // the writer has failed
}

// pipeMax is how many bytes are under way at most, so that a writer waits for its reader.
const pipeMax = 1 << 16

// writer is the end of a sender.
type writer struct {
	p   *pipe
	c   *call
	ctx context.Context
}

// Write implements io.Writer.
func (w writer) Write(b []byte) (written int, err error) {
	n, p, c := w.c.from.net, w.p, w.c
	for len(b) > 0 {
		n.wait(w.ctx, func() bool { return len(p.data) < pipeMax || c.s.broken || c.done })
		n.mu.Lock()
		switch {
		case c.s.broken:
			err = errBroken
		case c.done:
			err = errors.New("the other node has ended the bulk")
		default:
			err = w.ctx.Err()
		}
		if err != nil {
			n.mu.Unlock()
			return written, err
		}
		k := min(len(b), pipeMax-len(p.data))
		p.data = append(p.data, b[:k]...)
		written, b = written+k, b[k:]
		n.news.Broadcast()
		n.mu.Unlock()
	}
	return written, nil
}

// reader is the end of a handler.
type reader struct {
	p *pipe
	c *call
}

// Read implements io.Reader.
func (r reader) Read(b []byte) (int, error) {
	n, p, c := r.c.from.net, r.p, r.c
	n.delay()
	n.wait(context.Background(), func() bool {
		return c.s.broken || p.err != nil || n.cut[link{c.from.id, c.to.id}] == 0 && (len(p.data) > 0 || p.ended)
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case c.s.broken || p.err != nil:
		return 0, errStopped
	case len(p.data) == 0:
		return 0, io.EOF
	}
	k := copy(b, p.data)
	p.data = p.data[k:]
	n.news.Broadcast()
	return k, nil
}

// ended returns an error if a handler that is content has not read all.
func (r reader) ended() error {
	switch k, err := r.Read(make([]byte, 1)); {
	case k > 0:
		return errors.New("the handler has left a part of the bulk")
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

// errStopped is what the reader of a bulk gets whose write has failed, or whose session has ended.
var errStopped = errors.New("the rest of the bulk will not come")
