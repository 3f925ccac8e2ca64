package grpc

import "google.golang.org/grpc"

// chunkBytes is how much of a stream is sent at a time.
const chunkBytes = 256 << 10

// chunks reads the chunks of a stream.
type chunks struct {
	s    grpc.ServerStream
	rest []byte
}

// Read implements io.Reader.
func (c *chunks) Read(b []byte) (int, error) {
	for len(c.rest) == 0 {
		if err := c.s.RecvMsg(&c.rest); err != nil {
			return 0, err // io.EOF at the end
		}
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// chunker sends what is written in chunks.
type chunker struct {
	s   grpc.ClientStream
	buf []byte
}

// Write implements io.Writer.
func (c *chunker) Write(b []byte) (written int, err error) {
	for written < len(b) {
		k := min(len(b)-written, chunkBytes-len(c.buf))
		c.buf = append(c.buf, b[written:written+k]...)
		written += k
		if len(c.buf) == chunkBytes {
			if err := c.flush(); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

func (c *chunker) flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	b := c.buf
	c.buf = make([]byte, 0, chunkBytes)
	return c.s.SendMsg(&b)
}
