// Package gate is what every protocol of a door passes: a call from outside is performed within the rights of its caller and
// the limits of the program, and has its line in the audit. Packages httpdoor and grpcdoor read requests and write answers.
package gate

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/audit"
)

// Config says which door is behind a gate, and bounds what comes through. The zero value of a bound is its default.
type Config struct {
	Door   *door.Door
	Log    *slog.Logger
	Counts *Counts // shared by the gates of a program; nil: a gate counts for itself

	// Fail is told why the program must end: the audit cannot be written, or the listening has ended. Any goroutine may call
	// it, and more than once. nil: it is only logged.
	Fail func(error)

	Tokens *access.Tokens // nil: it asks for none
	Audit  *audit.Log     // nil: it keeps none

	BodyMax   int64         // bytes of the arguments of a call; 1 MiB
	BodiesMax int64         // bytes of the arguments of all calls that are being read or under way, at all gates that share Counts; of those from one source see door.EachOf; 64 MiB
	TimeMax   time.Duration // that a call may take; 30 s
	CallsMax  int           // calls under way; 1024
	SendMax   time.Duration // that a part of a stream may take to be sent; 30 s
}

const (
	bodyMax  = 1 << 20
	callsMax = 1024
)

// The usual values of limits that the nodes of a cluster keep for each other, too.
const (
	BodiesMaxDefault = 64 << 20
	TimeMaxDefault   = 30 * time.Second
	SendMaxDefault   = 30 * time.Second
)

// Gate lets calls through to a door. Any goroutine may use it.
type Gate struct {
	Config // with the defaults in; it does not change

	calls  chan struct{} // has one for each call under way
	ending chan struct{} // closed when the streams are to end
	end    func()        // closes it
}

// New returns a gate.
func New(cfg Config) *Gate {
	UnlessSet(&cfg.BodyMax, bodyMax)
	UnlessSet(&cfg.BodiesMax, BodiesMaxDefault)
	UnlessSet(&cfg.TimeMax, TimeMaxDefault)
	UnlessSet(&cfg.CallsMax, callsMax)
	UnlessSet(&cfg.SendMax, SendMaxDefault)
	if cfg.Counts == nil {
		cfg.Counts = &Counts{}
	}
	if cfg.Fail == nil {
		cfg.Fail = func(err error) { cfg.Log.Error("the door has failed", "error", err.Error()) }
	}
	g := &Gate{Config: cfg, calls: make(chan struct{}, cfg.CallsMax), ending: make(chan struct{})}
	g.end = sync.OnceFunc(func() { close(g.ending) })
	return g
}

// UnlessSet gives a limit its usual value unless the configuration has one.
func UnlessSet[T int | int64 | time.Duration](limit *T, usual T) {
	if *limit <= 0 {
		*limit = usual
	}
}

// End has the streams end. It may be called more than once.
func (g *Gate) End() { g.end() }

// Ending is closed when streams are to end.
func (g *Gate) Ending() <-chan struct{} { return g.ending }

// Answer performs a call, within the rights of its caller and the limits of the gate, and writes its line of the audit.
// door.Explain tells how it has failed.
func (g *Gate) Answer(ctx context.Context, q *Request) (door.Answer, error) {
	began := time.Now()
	c, answer, err := g.answer(ctx, q)
	if accountable(c, err) {
		err = g.Account(q, began, err)
	}
	return answer, err
}

// answer reads a call and performs it. The call has what could be read of it.
func (g *Gate) answer(ctx context.Context, q *Request) (c *door.Call, answer door.Answer, err error) {
	c = &door.Call{Key: q.Once, Caller: q.By.Name}
	class, m, err := g.find(q)
	if err != nil {
		return c, answer, err
	}
	if q.Keyed && q.Once == "" {
		return c, answer, door.Refuse(door.BadArgs, "the idempotency key is empty, so it would not tell this request from others")
	}
	c.Method = m
	defer g.Release(q)
	if err = q.Read(c, class); err == nil {
		answer, err = g.perform(ctx, c)
	}
	_, ended := errors.AsType[*door.NoClientError](err)
	_, deleted := errors.AsType[*door.NoActorError](err)
	if (ended || deleted) && c.Key != "" {
		f := *door.Explain(err)
		f.Happened = door.Unknown // it may have come before, when the client or the actor was there
		err = &door.Refusal{Failure: f}
	}
	return c, answer, err
}

// find finds the method that a request calls, if its caller may call it.
func (g *Gate) find(q *Request) (class *door.Class, m *door.Method, err error) {
	if class, err = g.Door.Class(q.Class); err == nil {
		m, err = class.Method(q.Method)
	}
	if !q.By.May(class, m) { // also if it is not there
		err = door.Refuse(door.Forbidden, "the rights of %s do not reach %s.%s", q.By.Name, q.Class, q.Method)
	}
	return class, m, err
}

// perform performs a call, unless too many are under way. It is counted only now: a client that is slow to send its
// arguments takes the place of no other.
func (g *Gate) perform(ctx context.Context, c *door.Call) (door.Answer, error) {
	select {
	case g.calls <- struct{}{}:
		defer func() { <-g.calls }()
	default:
		return door.Answer{}, door.Refuse(door.Full, "%d calls are under way, which is the limit", cap(g.calls))
	}
	if a := g.Audit; a != nil && a.Err() != nil && !c.Method.ReadOnly {
		return door.Answer{}, unaccounted(door.No)
	}
	c.TimeMax = g.TimeMax
	return g.Door.Call(ctx, c)
}
