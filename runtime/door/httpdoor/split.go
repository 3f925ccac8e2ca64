package httpdoor

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// splitter takes the connections of a listener apart: those that begin as HTTP/2 does, and others.
type splitter struct {
	from         net.Listener
	patience     time.Duration // that a connection may take to begin
	http2, other part
	open         context.Context // ends when the listener is closed
	close        func()
}

// part is a listener that gets connections of one kind.
type part struct {
	of    *splitter
	conns chan net.Conn
}

// preface is how HTTP/2 begins, and nothing else does.
const preface = "PRI "

// run accepts connections until the listener is closed. It returns when none is being looked at any more.
func (p *splitter) run() error {
	var group sync.WaitGroup
	defer group.Wait()
	for {
		c, err := p.from.Accept()
		if err != nil {
			p.close()
			return err
		}
		group.Go(func() { p.look(c) })
	}
}

// look reads the beginning of a connection, and hands the connection on with it.
func (p *splitter) look(c net.Conn) {
	begin := make([]byte, len(preface))
	if err := c.SetReadDeadline(time.Now().Add(p.patience)); err != nil {
		_ = c.Close()
		return
	}
	stop := context.AfterFunc(p.open, func() { _ = c.Close() }) // ends the read
	defer stop()
	n := 0
	for n < len(begin) && string(begin[:n]) == preface[:n] {
		more, err := c.Read(begin[n:])
		if n += more; err != nil {
			_ = c.Close()
			return
		}
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil || !stop() { // nothing closes it from here on but its server
		_ = c.Close()
		return
	}
	to := p.other.conns
	if string(begin[:n]) == preface {
		to = p.http2.conns
	}
	select {
	case to <- &lookedAt{c, io.MultiReader(bytes.NewReader(begin[:n]), c)}:
	case <-p.open.Done():
		_ = c.Close()
	}
}

// Accept implements net.Listener.
func (p *part) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.of.open.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It closes the whole.
func (p *part) Close() error {
	p.of.close()
	return nil
}

// Addr implements net.Listener.
func (p *part) Addr() net.Addr { return p.of.from.Addr() }

// lookedAt is a connection of which the beginning has been read.
type lookedAt struct {
	net.Conn
	from io.Reader
}

// Read reads the beginning again, and then what follows.
func (c *lookedAt) Read(b []byte) (int, error) { return c.from.Read(b) }
