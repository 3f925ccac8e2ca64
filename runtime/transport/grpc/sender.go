package grpc

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/aeon-lang/aeon/runtime/event"
)

// sender sends messages to one node: one goroutine, which puts all that is queued into one frame.
type sender struct {
	t        *Transport
	node     event.NodeID
	messages *grpc.ClientConn
	calls    *grpc.ClientConn // of calls and bulk
	wake     chan struct{}    // has one when something is queued
	ctx      context.Context  // ends with the sender
	cancel   context.CancelFunc

	mu      sync.Mutex
	queue   [][]byte
	bytes   int // of queue
	up      bool
	dropped int // messages for which there was no session, or no room
}

// add queues a message. Without a session it is lost at once: it would be old when it arrived.
func (p *sender) add(m []byte) {
	p.mu.Lock()
	if !p.up || p.bytes+len(m) > p.t.cfg.QueueMax {
		p.dropped++
		p.mu.Unlock()
		return
	}
	p.queue = append(p.queue, m)
	p.bytes += len(m)
	first := len(p.queue) == 1
	p.mu.Unlock()
	if first {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// take returns the next frame, which has no message if nothing is queued.
func (p *sender) take(frame []byte) []byte {
	flags := byte(0)
	if p.t.cfg.Progress() {
		flags |= flagProgress
	}
	frame = append(frame[:0], flags)
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for n < len(p.queue) && (n == 0 || len(frame)+len(p.queue[n]) <= frameMax) {
		frame = appendMessage(frame, p.queue[n])
		p.bytes -= len(p.queue[n])
		p.queue[n] = nil
		n++
	}
	if p.queue = p.queue[n:]; len(p.queue) == 0 {
		p.queue = nil
	}
	return frame
}

func (p *sender) waiting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue) > 0
}

// run has one session after another, until Close.
func (p *sender) run() {
	for p.ctx.Err() == nil {
		p.session()
		p.mu.Lock()
		was, lost := p.up, p.dropped+len(p.queue)
		p.up, p.queue, p.bytes, p.dropped = false, nil, 0, 0
		p.mu.Unlock()
		if was {
			p.t.cfg.Log.Debug("a session with another node has ended", "node", p.node, "messages lost", lost)
			p.t.cfg.Handler.Down(p.node)
		}
		select {
		case <-p.ctx.Done():
		case <-time.After(p.t.cfg.Heartbeat / 2): // a node that refuses at once is not asked without end
		}
	}
}

// session connects to the node and sends, until the connection breaks or the node is silent.
func (p *sender) session() {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	s, err := p.messages.NewStream(ctx, &service.Streams[0], "/aeon.Transport/Messages", grpc.WaitForReady(true))
	if err != nil {
		return
	}
	p.mu.Lock()
	p.up = true
	p.mu.Unlock()
	p.t.tasks.Go(func() { p.watch(ctx, cancel) })
	beat := time.NewTicker(p.t.cfg.Heartbeat)
	defer beat.Stop()
	for {
		frame := p.take(nil) // gRPC keeps it until it is sent
		if err := s.SendMsg(&frame); err != nil {
			return
		}
		if p.waiting() {
			continue
		}
		select {
		case <-p.wake:
		case <-beat.C:
		case <-ctx.Done():
			return
		}
	}
}

// watch ends a session when the node is silent: what sends may wait for a node that does not read.
func (p *sender) watch(ctx context.Context, end context.CancelFunc) {
	began := time.Now()
	t := time.NewTicker(p.t.cfg.Silence / 4)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		last := p.t.Heard(p.node).Last
		if last.Before(began) {
			last = began
		}
		if time.Since(last) > p.t.cfg.Silence {
			end()
			return
		}
	}
}

// end ends the sender. It does not wait.
func (p *sender) end() {
	p.cancel()
	_ = p.messages.Close() // it is closed once
	_ = p.calls.Close()
}
