package grpc

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
)

// Why sessions end.
var (
	errSilent   = errors.New("the other node is silent")
	errBroken   = errors.New("the connection has broken")
	errReplaced = errors.New("the other node has begun another session")
	errLeftOut  = errors.New("the other node is no peer any more")
	errAsked    = errors.New("it was broken on request")
	errClosed   = errors.New("the transport is closed")
)

// stream is either end of one.
type stream interface {
	SendMsg(any) error
	RecvMsg(any) error
}

// session is one with another node. Its goroutines are the one that receives, which calls the handler, the one that sends, and one that looks
// for silence; the first joins the others.
type session struct {
	link  *link
	id    sessionID
	ctx   context.Context // over when the session is; its cause says why
	stop  context.CancelCauseFunc
	sever func()        // closes the connection
	up    chan struct{} // closed when the handler is about to be told
	queue *queue
	full  atomic.Bool // the queue has been full, and the log has it

	heard atomic.Int64 // when the other node was heard of, by transport.now
	busy  atomic.Bool  // what has come is being handled: there is no silence

	mu struct {
		sync.Mutex
		echo, echoAt uint64  // sent of the last heartbeat that has come, and when it has
		calls        *client // nil: there was no call
	}
}

func newSession(ctx context.Context, l *link, id sessionID, sever func()) *session {
	s := &session{link: l, id: id, sever: sever, up: make(chan struct{}), queue: newQueue(l.t.cfg.QueueMax)}
	s.ctx, s.stop = context.WithCancelCause(ctx)
	return s
}

// end ends the session, whose Down follows. Any goroutine may call it, again, too.
func (s *session) end(why error) {
	s.stop(why)
	s.sever()
}

// run has a session from Up to Down. accepted is whether the other node has opened it: it is told then that it may begin.
func (s *session) run(st stream, accepted bool) {
	l := s.link
	l.counts.sessions.Add(1)
	s.heard.Store(l.t.now())
	l.present.Store(s)
	close(s.up)
	l.t.cfg.Logger.Info("a session has begun", "node", l.node)
	l.t.cfg.Handler.Up(l.node)
	var others sync.WaitGroup
	others.Go(func() { s.end(s.sendAll(st, accepted)) })
	others.Go(s.watch)
	s.end(s.receiveAll(st))
	l.present.Store(nil)
	others.Wait()
	s.closeCalls()
	why := context.Cause(s.ctx)
	if errors.Is(why, context.Canceled) { // as gRPC has it
		why = errBroken
	}
	l.t.cfg.Logger.Info("a session has ended", "node", l.node, "why", why)
	l.t.cfg.Handler.Down(l.node)
}

// receiveAll calls the handler for what comes, until the session ends.
func (s *session) receiveAll(st stream) error {
	l := s.link
	u, lived := &unpacker{}, false
	message := func(m []byte) bool {
		if s.ctx.Err() != nil {
			return false
		}
		l.counts.received.Add(1)
		l.counts.bytesReceived.Add(uint64(len(m)))
		l.t.cfg.Handler.Message(l.node, m)
		return true
	}
	for s.ctx.Err() == nil {
		var p packet
		if err := st.RecvMsg(&p); err != nil {
			return err
		}
		if !lived {
			lived = true
			l.lives(s)
		}
		s.busy.Store(true)
		now := l.t.now()
		s.heard.Store(now)
		l.heard.Store(now)
		if err := u.take(p.in, s.beaten, message); err != nil {
			return err
		}
		s.heard.Store(l.t.now())
		s.busy.Store(false)
	}
	return nil
}

// beaten takes a heartbeat.
func (s *session) beaten(h beat) {
	l := s.link
	now := uint64(l.t.now())
	if err := l.t.cfg.Clock.Observe(time.Unix(0, int64(h.clock))); err != nil {
		s.end(err)
		return
	}
	l.progress.Store(h.progress)
	if h.echo != 0 && h.echo <= now && h.held <= now-h.echo {
		trip := int64(now - h.echo - h.held)
		if old := l.trip.Load(); old != 0 {
			trip = old + (trip-old)/4
		}
		l.trip.Store(max(trip, 1))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.echo, s.mu.echoAt = h.sent, now
}

// beat returns the next heartbeat.
func (s *session) beat() *packet {
	t := s.link.t
	progress := t.cfg.Progress()
	s.mu.Lock()
	defer s.mu.Unlock()
	h := beat{progress: progress, clock: uint64(t.cfg.Clock.Now().UnixNano()), sent: uint64(t.now()), echo: s.mu.echo}
	if h.echo != 0 {
		h.held = h.sent - s.mu.echoAt
	}
	return bytesOf(h.append(make([]byte, 0, beatLen)))
}

// sender is the goroutine of a session that sends.
type sender struct {
	*session
	st    stream
	beats int64 // when the last heartbeat was sent, by transport.now
	alone *time.Ticker
	list  [][]byte // empty: the memory of what was sent last
}

// sendAll sends what is queued, and heartbeats, until the session ends. Most heartbeats go right behind another frame: they cost no packet of their own.
func (s *session) sendAll(st stream, accepted bool) error {
	t := s.link.t
	if accepted {
		if err := st.SendMsg(bytesOf(hello(s.id, t.cfg.Clock.Now()))); err != nil {
			return err
		}
	}
	x := &sender{session: s, st: st, alone: time.NewTicker(t.cfg.Beat)}
	defer x.alone.Stop()
	if err := x.sendBeat(); err != nil {
		return err
	}
	for {
		select {
		case <-s.ctx.Done():
			return nil
		case <-x.alone.C:
			if err := x.sendBeat(); err != nil {
				return err
			}
		case <-s.queue.ready:
			if err := x.sendQueue(); err != nil {
				return err
			}
		}
	}
}

// sendBeat sends a heartbeat. It goes alone if there is no frame with which the next one goes.
func (x *sender) sendBeat() error {
	t := x.link.t
	x.beats = t.now()
	x.alone.Reset(t.cfg.Beat + t.cfg.Beat/4)
	return x.st.SendMsg(x.beat())
}

// isTime reports whether a heartbeat goes with a frame that was just sent.
func (x *sender) isTime() bool { return x.link.t.now()-x.beats >= int64(x.link.t.cfg.Beat)*3/4 }

// sendQueue sends what is queued, until nothing is, and a heartbeat if it is about time.
func (x *sender) sendQueue() error {
	counts := &x.link.counts
	runtime.Gosched() // those that are about to send do, and share a frame
	list := x.queue.take(x.list)
	for ; len(list) > 0; list = x.queue.take(list[:0]) {
		for p := (packer{list: list}); len(p.list) > 0; {
			size, whole := p.size()
			b := pooled(size)
			frame, messages, bytes := p.append((*b)[:0], size, whole)
			// Invariant: a frame has the size that was foretold, so it lies in the memory that goes back to the pool.
			assert.That(len(frame) == size, "transport: a frame of %d bytes instead of %d", len(frame), size)
			if err := x.st.SendMsg(packetOf(b)); err != nil {
				return err
			}
			counts.frames.Add(1)
			counts.sent.Add(uint64(messages))
			counts.bytesSent.Add(uint64(bytes))
			if x.isTime() {
				if err := x.sendBeat(); err != nil {
					return err
				}
			}
		}
	}
	x.list = list // it has room for turnMax / perMessage messages of each class at most
	return nil
}

// watch ends the session if the other node is silent. It looks when that may be so, and no node that has nothing to do is woken before.
func (s *session) watch() {
	t := s.link.t
	timer := time.NewTimer(t.cfg.Silence)
	defer timer.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-timer.C:
			left := t.cfg.Silence - time.Duration(t.now()-s.heard.Load())
			if s.busy.Load() { // what is said meanwhile is heard later
				left = max(left, t.cfg.Silence/10)
			}
			if left <= 0 {
				s.end(errSilent)
				return
			}
			timer.Reset(left)
		}
	}
}

// send queues a message, and reports whether there was room.
func (s *session) send(c class, m []byte) bool {
	if s.queue.put(c, m) {
		return true
	}
	s.link.counts.dropped.Add(1)
	if !s.full.Swap(true) {
		s.link.t.cfg.Logger.Warn("too much waits for a node, messages to it are dropped", "node", s.link.node, "bytes", s.queue.waiting())
	}
	return false
}

// caller returns the connection for calls in this session.
func (s *session) caller() (*client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	if s.mu.calls == nil {
		c, err := newClient(&s.link.t.cfg, s.link.node)
		if err != nil {
			return nil, err
		}
		s.mu.calls = c
	}
	return s.mu.calls, nil
}

func (s *session) closeCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.calls != nil {
		s.mu.calls.close()
	}
}
