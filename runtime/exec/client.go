package exec

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/value"
	"github.com/aeon-lang/aeon/runtime/watch"
)

// place is the place of a client's event in the line to its target.
type place = sched.Place[*order.Handle]

// Client is what generated code sees of a client (see Cx).
type Client struct{ _ [0]byte }

// client is a session that issues events. Any goroutine may use it. Uncontended events of different clients share nothing.
type client struct {
	Client // Invariant: first, so that the client is found from what generated code has of it

	sys   *System
	id    event.ClientID
	stats *watch.Counts // outlive the client
	draws atomic.Uint64 // random numbers drawn
	depth atomic.Int64  // of calls that can recurse, those of main and of callbacks together
	box   outbox.Mailbox[callback]
	inner struct {
		sync.Mutex
		*client // the client that callbacks run with; nil until the first one
	}
	// lines are [ISSUE-ORDER]: the events that a client has issued to one target stand in a line. The first
	// of a line runs; the next one is admitted when it has committed or failed.
	lines  sched.Lines[*order.Handle]
	base   *client // of a client that callbacks of base run with; else nil
	abroad bool    // it stands for the clients of other stores
}

// clientOf returns the client that generated code has handed back.
func clientOf(face *Client) *client { return (*client)(unsafe.Pointer(face)) }

// itself returns the client whose callbacks run with cl, or cl.
func (cl *client) itself() *client {
	if cl.base != nil {
		return cl.base
	}
	return cl
}

// Namer implements activation.Namer.
//
//go:noinline
func (face *Client) Namer() any { return &clientOf(face).sys.code }

// SystemOf returns the system that a client belongs to.
func SystemOf(face *Client) *System { return clientOf(face).sys }

// Step begins a call that can recurse in code of the client; Leave ends it. Too deep a
// recursion fails there as it does in an event: Go's own stack must not run out, since
// that cannot be caught.
//
//go:noinline
func (face *Client) Step() {
	cl := clientOf(face)
	if depth := int64(cl.sys.cfg.DepthMax); cl.depth.Add(1) > depth {
		cl.depth.Add(-1)
		panic(event.TooDeep(depth))
	}
}

// Leave ends what Step began.
//
//go:noinline
func (face *Client) Leave() { clientOf(face).depth.Add(-1) }

func (cl *client) nextID() event.EventID {
	return event.EventID{Origin: uint64(cl.id), Seq: cl.stats.Begun.Add(1)}
}

// Await runs an event in the calling goroutine and returns when it has committed (nil)
// or was undone (the failure: an *AbortError, a *LimitError or ErrClosed). With ErrPostponed it has begun a chain
// that has not ended.
func (face *Client) Await(target order.Ref, m *Method, args order.Args) error {
	cl := clientOf(face)
	if order.HandleOf(target) == nil {
		return &event.AbortError{Msg: msgNull, Fault: true}
	}
	id := cl.nextID()
	if cl.sys.closing.Load() { // after nextID: Close sees one or the other
		return cl.refused(event.ErrClosed)
	}
	ev := cl.sys.takeEvent(cl, id, order.HandleOf(target), m, args)
	ev.Bounded = true
	if t := cl.sys.tracer; t != nil {
		ev.from = t.Issued(cl.itself().id, false)
	}
	ev.place = cl.lines.Await(order.HandleOf(target), cl.sys.scheduler)
	err := ev.perform()
	if ev.chain == nil {
		cl.sys.giveBack(ev)
	} else {
		err = ev.seeThrough()
	}
	if cl.sys.closing.Load() {
		cl.sys.leave()
	}
	return err
}

// refused counts an event that was not admitted.
func (cl *client) refused(err error) error {
	cl.stats.Aborts.Add(1)
	cl.sys.leave()
	return err
}

// Issue submits an event that runs in a worker. It waits while there are
// Config.EventsMax such events. An abort that is not awaited until the system closes
// becomes a dead letter.
func (face *Client) Issue(target order.Ref, m *Method, args order.Args) *Future {
	cl := clientOf(face)
	s := cl.sys
	f := &future{sys: s, done: make(chan struct{})}
	if order.HandleOf(target) == nil {
		f.err = &event.AbortError{Msg: msgNull, Fault: true}
		close(f.done)
		return &f.Future
	}
	cl.lines.Expect()
	l := failure{id: cl.nextID(), target: order.HandleOf(target), method: m}
	if err := s.admitIssue(); err != nil {
		cl.lines.Unexpect()
		f.err = cl.refused(err)
		close(f.done)
		return &f.Future
	}
	f.place = cl.launch(l, args, &f.cancel, func(l failure) {
		if f.err = l.err; l.failed() && !errors.Is(l.err, order.ErrCancelled) {
			f.fail(l)
		}
		close(f.done)
	})
	return &f.Future
}

// admitIssue waits until an event may be issued, which releases the semaphore when it has ended.
func (s *System) admitIssue() error {
	if s.closing.Load() {
		return event.ErrClosed
	}
	if !s.issued.Acquire(s.cfg.AdmissionWaitMax) {
		return event.TooManyIssued(int64(s.issued.Max()))
	}
	return nil
}

// Send submits an event that will not be awaited; its abort is a dead letter at once.
func (face *Client) Send(target order.Ref, m *Method, args order.Args) {
	cl := clientOf(face)
	s := cl.sys
	cl.lines.Expect()
	l := failure{id: cl.nextID(), target: order.HandleOf(target), method: m}
	if order.HandleOf(target) == nil {
		l.err = cl.refused(&event.AbortError{Msg: msgNull, Fault: true})
	} else if err := s.admitIssue(); err != nil {
		l.err = cl.refused(err)
	}
	if l.err != nil {
		cl.lines.Unexpect()
		s.deadLetter(l)
		return
	}
	cl.launch(l, args, nil, func(l failure) {
		if l.failed() {
			s.deadLetter(l)
		}
	})
}

// launch runs an admitted event in a worker when its turn has come, and calls ended with how it has ended.
func (cl *client) launch(l failure, args order.Args, cancel *order.Cancellation, ended func(failure)) *place {
	s := cl.sys
	var from *trace.Source
	s.live.Add(1)
	p := cl.lines.Place(l.target)
	p.Job = func() {
		l.err = &event.AbortError{Msg: msgGoexit, Event: l.id, Fault: true}
		var ev *Event // until it has been given back
		var ch *chain
		defer func() { // also on runtime.Goexit
			if ev != nil {
				l.pos = ev.maxPos
			} else if ch != nil {
				l.pos = ch.pos
			}
			if s.durable != nil && s.durable.Journal.Durable(l.pos) {
				l.pos = 0
			}
			ended(l)
			s.issued.Release()
			s.live.Add(-1)
			s.leave()
		}()
		if s.cfg.Seed != 0 && s.scheduler == nil {
			sched.Scatter(l.id.Seed() ^ s.cfg.Seed)
		}
		ev = s.takeEvent(cl, l.id, l.target, l.method, args)
		ev.Bounded, ev.from, ev.Cancellation, ev.place = true, from, cancel, p
		err := ev.perform()
		first := ev
		l.pos, ch, ev = ev.maxPos, ev.chain, nil
		if ch == nil {
			s.giveBack(first)
		} else {
			err = first.seeThrough()
		}
		l.err = err
	}
	joined := p.Join(func() {
		if s.tracer != nil {
			from = s.tracer.Issued(cl.itself().id, true)
		}
	})
	if joined {
		s.workers.Run(p.Job)
	}
	return p
}

// New creates an unnamed root actor of class c; m is its constructor. It is an event.
func (face *Client) New(c *Class, m *Method, args order.Args) (order.Ref, error) {
	cl := clientOf(face)
	s := cl.sys
	id := cl.nextID()
	if s.closing.Load() {
		return order.Ref{}, cl.refused(event.ErrClosed)
	}
	ev := s.takeEvent(cl, id, nil, m, args)
	if ev.Makes, ev.Birth = &c.Shape, s.nextPartition(cl); s.code.Spread {
		ev.Birth = s.code.AnyPartition(id, 0)
	}
	err := ev.perform()
	var r order.Ref
	if err == nil {
		r = order.RefOf(ev.Target)
	}
	s.giveBack(ev)
	s.leave()
	return r, err
}

// Delete deletes an actor. It is an event.
//
//go:noinline
func (face *Client) Delete(target order.Ref) error {
	return clientOf(face).Await(target, &activation.MethodDelete, nil)
}

// Settle waits until no event that was issued, sub-event or callback is left. Timers do not count, nor do events that other goroutines are awaiting.
func (face *Client) Settle() {
	cl := clientOf(face)
	cl.mayWait("settle")
	cl.sys.settle()
}

func (s *System) settle() {
	for ch := s.live.Zero(); ch != nil; ch = s.live.Zero() {
		s.scheduler.Wait(ch)
	}
}

// Sleep pauses for d. With a simulated clock it advances it.
func (face *Client) Sleep(d time.Duration) {
	cl := clientOf(face)
	if cl.base != nil {
		panic(value.Fault{Msg: "sleep in a callback would hold up the callbacks behind it"})
	}
	if _, sim := cl.sys.clock.(*sched.SimClock); sim {
		cl.Advance(d)
		return
	}
	time.Sleep(d)
}

// Advance moves simulated time by d: it fires what becomes due in order of due time and lets the system settle after each. It panics on a real clock.
func (face *Client) Advance(d time.Duration) {
	cl := clientOf(face)
	cl.mayWait("advancing the clock")
	s := cl.sys
	c, sim := s.clock.(*sched.SimClock)
	if !sim {
		panic(value.Fault{Msg: "advance is for tests: the time of main is real"})
	}
	end := sched.After(c.Now(), d)
	for s.FireNextUntil(end) {
	}
	c.Set(end)
}

// Print writes a line to standard output at once.
func (face *Client) Print(text string) {
	cl := clientOf(face)
	if cl.sys.durable != nil {
		cl.sys.printDurable(text)
		return
	}
	cl.sys.lines.Add(text)
	cl.sys.lines.Flush()
}

// Now returns the time in nanoseconds since 1970.
func (face *Client) Now() int64 { return clientOf(face).sys.clock.Now().UnixNano() }

// Random returns a number in [0, 1). A client draws from a sequence of its own, which
// its number seeds.
//
//go:noinline
func (face *Client) Random() float64 {
	cl := clientOf(face)
	draw := event.EventID{Origin: ^uint64(cl.id), Seq: cl.draws.Add(1)}
	return float64((draw.Seed()^cl.sys.cfg.Seed)>>11) / (1 << 53)
}

// Log writes a line to the log.
func (face *Client) Log(text string) {
	clientOf(face).sys.log.Info(text, "client", uint64(clientOf(face).id))
}
