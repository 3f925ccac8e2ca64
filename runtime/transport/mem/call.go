package mem

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/transport"
)

// Call implements transport.Transport.
func (x *node) Call(ctx context.Context, to event.NodeID, request []byte) ([]byte, error) {
	transport.CheckCall(request)
	request = slices.Clone(request) // the handler owns what it gets
	return x.run(ctx, to, func(ctx context.Context, c *call) ([]byte, error) {
		reply, err := c.to.handler.Call(ctx, x.id, request)
		transport.CheckCall(reply)
		return reply, err
	}, nil)
}

// Bulk implements transport.Transport.
func (x *node) Bulk(ctx context.Context, to event.NodeID, header []byte, write func(io.Writer) error) error {
	transport.CheckCall(header)
	header = slices.Clone(header)
	p := &pipe{}
	_, err := x.run(ctx, to, func(_ context.Context, c *call) ([]byte, error) {
		r := reader{p, c}
		err := c.to.handler.Bulk(x.id, header, r)
		if err == nil {
			err = r.ended()
		}
		return nil, err
	}, func(c *call) error {
		err := write(writer{p, c, ctx})
		n := x.net
		n.mu.Lock()
		defer n.mu.Unlock()
		if p.ended = true; err != nil && !c.done {
			p.err, c.stopped = errStopped, true
		}
		n.news.Broadcast()
		return err
	})
	return err
}

// run has handle run at another node, and meanwhile runs beside, if there is such.
func (x *node) run(ctx context.Context, to event.NodeID, handle func(context.Context, *call) ([]byte, error), beside func(*call) error) ([]byte, error) {
	n := x.net
	n.mu.Lock()
	s := x.present[to]
	if x.dead || s == nil || s.broken || ctx.Err() != nil {
		defer n.mu.Unlock()
		n.saw.NotSent++
		return nil, failed(transport.ErrNotSent, to, ctx.Err())
	}
	c := &call{from: x, to: s.other(x), s: s, bulk: beside != nil}
	n.mu.Unlock()
	n.task(func() { n.handle(ctx, c, handle) })
	var err error
	if beside != nil {
		err = beside(c)
	}
	if err == nil {
		n.wait(ctx, func() bool { return c.done || s.broken })
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case c.done && c.err != nil:
		return nil, &transport.Refusal{By: to, Text: c.err.Error()}
	case c.done && err == nil:
		return c.reply, nil
	case err == nil:
		err = ctx.Err()
	}
	// Invariant: ErrNotSent is true. ErrUnknown need not tell all that is known here: package grpc knows less.
	if !c.ran && n.chance(0.5) {
		c.dropped = true
		n.saw.NotSent++
		return nil, failed(transport.ErrNotSent, to, err)
	}
	n.saw.Unknown++
	return nil, failed(transport.ErrUnknown, to, err)
}

// failed returns why a call came to nothing.
func failed(how error, to event.NodeID, why error) error {
	if why == nil {
		why = errBroken
	}
	return fmt.Errorf("to node %d: %w: %w", to, how, why)
}

// handle has a call cross, run, and its answer cross.
func (n *Network) handle(ctx context.Context, c *call, handle func(context.Context, *call) ([]byte, error)) {
	s := c.s
	n.delay()
	n.wait(context.Background(), func() bool { return s.broken || s.end(c.to).up && n.cut[link{c.from.id, c.to.id}] == 0 })
	n.mu.Lock()
	if s.broken || c.dropped || c.to.dead {
		n.mu.Unlock()
		return
	}
	c.ran = true
	if c.bulk {
		n.saw.Bulks++
	} else {
		n.saw.Calls++
	}
	c.to.handling++
	ctx, cancel := context.WithCancel(ctx)
	s.cancels = append(s.cancels, &cancel)
	n.mu.Unlock()
	reply, err := handle(ctx, c)
	late := ctx.Err() != nil // which may be the only reason of an error, so it is no refusal
	cancel()
	n.mu.Lock()
	c.to.handling--
	s.cancels = slices.DeleteFunc(s.cancels, func(o *context.CancelFunc) bool { return o == &cancel })
	n.news.Broadcast()
	n.mu.Unlock()
	n.delay()
	n.wait(context.Background(), func() bool { return s.broken || n.cut[link{c.to.id, c.from.id}] == 0 })
	n.mu.Lock()
	defer n.mu.Unlock()
	if !s.broken && !c.stopped && !late {
		c.done, c.reply, c.err = true, reply, err
		n.news.Broadcast()
	}
}
