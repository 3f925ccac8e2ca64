package grpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// link is what a node has with another one, over all their sessions.
type link struct {
	t       *Transport
	node    event.NodeID
	present atomic.Pointer[session] // which is up; nil: there is none
	turn    chan struct{}           // full while a session may call the handler, or a loop has sessions that may
	counts  counts

	heard    atomic.Int64 // by transport.now; 0: never
	progress atomic.Bool
	trip     atomic.Int64           // nanoseconds; 0: it is not known
	refusal  atomic.Pointer[string] // as transport.Health has it; nil: ""

	mu struct {
		sync.Mutex
		newest  *session          // which is up, or is about to be
		starts  map[uint64]uint64 // the last session of each start of the node
		start   uint64            // the one that has the session
		lived   bool              // something has come from that, in a session that it has offered
		fenced  uint64            // the last one that was told to be refused; 0: none
		refused bool              // it was a peer, and is none
		stop    func()            // ends the loop that keeps the session; nil: there is none
	}
}

func newLink(t *Transport, n event.NodeID) *link {
	l := &link{t: t, node: n, turn: make(chan struct{}, 1)}
	l.mu.starts = make(map[uint64]uint64)
	return l
}

// keep has a session with the node, and another one when that has ended, until ctx ends.
func (l *link) keep(ctx context.Context) {
	wait := redialMin
	for {
		if l.open(ctx) {
			wait = redialMin
		}
		alarm := time.NewTimer(l.t.spread(wait))
		select {
		case <-ctx.Done():
			alarm.Stop()
			return
		case <-alarm.C:
		}
		wait = min(2*wait, redialMax)
	}
}

// open opens a session and has it to its end. It reports whether there was one.
func (l *link) open(ctx context.Context) bool {
	cfg := &l.t.cfg
	c, err := newClient(cfg, l.node)
	if err != nil {
		cfg.Logger.Error("a session cannot be opened", "node", l.node, "error", err)
		return false
	}
	defer c.close()
	s := newSession(ctx, l, sessionID{l.t.incarnation, l.t.opened.Add(1)}, c.sever)
	defer s.end(nil)
	l.mu.Lock()
	l.mu.newest = s
	l.mu.Unlock()
	late := time.AfterFunc(cfg.DialMax+cfg.Silence, func() { s.end(errSilent) })
	defer late.Stop()
	st, err := c.NewStream(s.ctx, &sessionDesc, sessionMethod)
	if err == nil {
		err = greet(st, s.id, cfg.Clock)
	}
	l.refuse(err)
	if err != nil || !late.Stop() {
		cfg.Logger.Debug("a session was not opened", "node", l.node, "error", err)
		return false
	}
	s.run(st, false)
	return true
}

// greet offers a session and waits until the other node has begun it.
func greet(st grpc.ClientStream, id sessionID, clock *sched.Hybrid) error {
	if err := st.SendMsg(bytesOf(hello(id, clock.Now()))); err != nil {
		return errors.Join(err, st.RecvMsg(&packet{})) // which has the reason
	}
	var p packet
	if err := st.RecvMsg(&p); err != nil {
		return err
	}
	got, theirs, err := readHello(p.in)
	if err == nil && got != id {
		err = errFrame
	}
	if err == nil {
		err = clock.Compare(theirs)
	}
	return err
}

// refuse notes that there is no session because the clocks are too far apart, if err says that, and else that there is no such reason.
func (l *link) refuse(err error) {
	why := ""
	if bad := new(sched.ClockError); errors.As(err, &bad) {
		why = bad.Error()
		if old := l.refusal.Swap(&why); old == nil || *old == "" {
			l.t.cfg.Logger.Warn("there is no session with a node", "node", l.node, "why", why)
		}
		return
	}
	l.refusal.Store(&why)
}

// admit begins a session that the other node offers, when the one before has ended. One that was overtaken by a newer one is
// refused. The caller has the turn when there is no error.
//
// A start that was not seen before is taken for the later one, and has the other one fenced: it may be a process that stood still while the node was started
// elsewhere. But the hello of a process that has ended may come behind that of the one that runs. Nothing else comes from it then, as it would have waited for the
// beginning of its session; so until something has come the other one may come back.
func (l *link) admit(s *session) error {
	l.mu.Lock()
	last := l.mu.starts[s.id.incarnation] // sessions count from 1
	returns := last > 0 && s.id.incarnation != l.mu.start
	switch {
	case l.t.closing.Load():
		l.mu.Unlock()
		return errClosed
	case l.mu.refused:
		l.mu.Unlock()
		return errLeftOut
	case s.id.number <= last:
		l.mu.Unlock()
		return errReplaced
	case returns && l.mu.lived:
		told := l.mu.fenced == s.id.incarnation
		l.mu.fenced = s.id.incarnation
		l.mu.Unlock()
		if !told {
			l.t.cfg.Logger.Warn("a former process of a node still runs, and is refused: stop it", "node", l.node)
		}
		return errReplaced
	}
	if s.id.incarnation != l.mu.start {
		l.mu.start, l.mu.lived = s.id.incarnation, false
	}
	l.mu.starts[s.id.incarnation] = s.id.number
	old := l.mu.newest
	l.mu.newest = s
	l.mu.Unlock()
	if returns {
		l.t.cfg.Logger.Warn("a node takes its session back from a process of it that has ended, and whose hello has come late", "node", l.node)
	}
	if old != nil {
		old.end(errReplaced)
	}
	select {
	case l.turn <- struct{}{}:
		if s.ctx.Err() == nil {
			return nil
		}
		<-l.turn
	case <-s.ctx.Done():
	}
	return context.Cause(s.ctx)
}

// lives notes that something has come in a session that the other node has offered.
func (l *link) lives(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.lived = l.mu.lived || l.mu.start == s.id.incarnation
}

// current returns the session of an id when the handler has been told of it; an error if it has ended, or ctx has.
func (l *link) current(ctx context.Context, id sessionID) (*session, error) {
	l.mu.Lock()
	s := l.mu.newest
	l.mu.Unlock()
	if s == nil || s.id != id {
		return nil, fmt.Errorf("there is no such session with node %d", l.node)
	}
	select {
	case <-s.up:
	case <-s.ctx.Done():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	return s, nil
}

// wanted says whether the node is a peer. The lower of the two nodes opens the sessions.
func (l *link) wanted(is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.refused = !is
	switch {
	case is && l.mu.stop == nil && l.t.cfg.Node < l.node:
		ctx, cancel := context.WithCancelCause(l.t.ctx)
		l.mu.stop = func() { cancel(errLeftOut) }
		l.t.loops.Go(func() {
			l.turn <- struct{}{} // of the loop before, which may not have ended
			defer func() { <-l.turn }()
			l.keep(ctx)
		})
	case !is:
		if l.mu.stop != nil {
			l.mu.stop()
			l.mu.stop = nil
		}
		if s := l.mu.newest; s != nil {
			s.end(errLeftOut)
		}
	}
}
