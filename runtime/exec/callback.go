package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/value"
)

// ClientObject is embedded by the state of every client class.
type ClientObject struct {
	client *Client
	self   any
	number uint64 // by which it is stored, 0 if it never was; guarded by System.objects
}

// ClientRef is a reference to a client object; the zero ClientRef is null. It is comparable.
type ClientRef struct{ o *ClientObject }

// IsNull reports whether the reference is null.
func (r ClientRef) IsNull() bool { return r.o == nil }

// Elsewhere reports whether its client is one of another store.
func (r ClientRef) Elsewhere() bool { return clientOf(r.o.client).abroad }

// Self returns the object behind the reference, nil for null.
func (r ClientRef) Self() any {
	if r.o == nil {
		return nil
	}
	return r.o.self
}

// ClientClass describes a client class to doors.
type ClientClass struct {
	Package string
	Name    string
	Doc     string // its comment in the program
	Methods []*ClientMethod
}

// Path returns the name of the class with its package in front.
func (c *ClientClass) Path() string { return c.Package + "." + c.Name }

// ClientMethod describes one method of a client class.
type ClientMethod struct {
	Class     string
	Name      string
	Signature string   // as that of Method
	Params    []string // their names
	Doc       string   // its comment in the program
	Run       func(cl *Client, self any, args order.Args)
	NewArgs   func() order.Args

	path atomic.Pointer[string] // as other stores name it; each system of the process that is opened says so
}

// Path names the method to other stores.
func (m *ClientMethod) Path() string { return *m.path.Load() }

// NewClientObject makes self, which embeds o, an object of client cl.
//
//go:noinline
func NewClientObject(cl *Client, o *ClientObject, self any) ClientRef {
	o.client, o.self = &clientOf(cl).itself().Client, self
	return ClientRef{o: o}
}

// Ref returns the reference to the object, null before NewClientObject.
func (o *ClientObject) Ref() ClientRef {
	if o.client == nil {
		return ClientRef{}
	}
	return ClientRef{o: o}
}

// Remote is an object of a client outside of the program: no code of the program runs for its callbacks.
type Remote struct {
	ClientObject
	Class *ClientClass
	// Caller is the one that may refer to the object by its number, at any store; "": callers have no names.
	Caller string
	// Deliver is given the callbacks one by one, in the order of the commits, when what they tell of is durable. It must not wait.
	Deliver func(m *ClientMethod, args order.Args)
	// Lost is called in place of Deliver for callbacks that have happened or not: the store of their event, which is another one, has gone.
	Lost func()
}

// NewRemote makes r an object of client cl whose callbacks are delivered.
func NewRemote(cl *Client, r *Remote) ClientRef { return NewClientObject(cl, &r.ClientObject, r) }

// IsRemote reports whether the number of an object is that of a Remote of a class and a caller, whose client has not gone. It asks the store of the client; the
// error says why that has not answered.
func (s *System) IsRemote(ctx context.Context, object uint64, class, caller string) (bool, error) {
	if of := event.StoreIn(object); s.across != nil && of != s.cfg.Across.Store {
		if of >= s.stores {
			return false, nil
		}
		q, err := s.across.Ask(ctx, of, across.Question{Object: object, Class: class, Name: caller})
		return err == nil && q.Class != "", err
	}
	o := s.objects.Find(object)
	if o == nil {
		return false, nil
	}
	r, is := o.self.(*Remote)
	return is && r.Class.Path() == class && r.Caller == caller, nil
}

type callback struct {
	object *ClientObject
	method *ClientMethod
	args   order.Args
	timer  *timer        // that has fired it, if one has
	from   *trace.Source // traced systems only; nil: a client has posted it
	origin *span.Origin  // while spans are recorded; nil: a client has posted it
	number int           // among the callbacks of the event that has issued it
	pos    store.Position
	// printed is the number of the last line of the event before the callback, in the output of a system with a store.
	printed uint64
	held    *across.Held // of an event of another store; else nil
}

// receiver returns the object that gets the callback which o describes.
func receiver(o *activation.Op) *ClientObject { return o.Object.(ClientRef).o }

// post appends a callback and reports whether the caller has to start the mailbox. A callback to a client that has gone is dropped.
func (cl *client) post(c callback) (start bool) {
	_, start = cl.box.Post(c, countCallback)
	return start
}

// countCallback counts a callback before it can be seen.
func countCallback(c callback) {
	s := clientOf(c.object.client).sys
	s.live.Add(1)
	s.timers.Emitted(c.timer)
}

// Callback posts a call of a method of a client object, which may be the caller's own.
// No client learns how it ends. It is dropped if the object's client has gone.
func (face *Client) Callback(target ClientRef, m *ClientMethod, args order.Args) {
	cl := clientOf(face)
	if target.o == nil {
		panic(value.Fault{Msg: msgNull})
	}
	if target.Elsewhere() {
		panic(value.Fault{Msg: "a client calls a client of another store, which actors alone can do"})
	}
	if to := clientOf(target.o.client); to.post(callback{object: target.o, method: m, args: args}) {
		cl.sys.workers.Run(to.drain)
	}
}

// inCallback returns the client that callbacks of cl run with. It refuses to wait for anything that includes the callback itself.
func (cl *client) inCallback() *client {
	f := &cl.inner
	f.Lock()
	defer f.Unlock()
	if f.client == nil {
		f.client = cl.sys.openClient()
		f.base = cl
	}
	return f.client
}

// mayWait faults in a callback, which would wait for its own end.
func (cl *client) mayWait(what string) {
	if cl.base != nil {
		panic(value.Fault{Msg: what + " in a callback would wait for the callback itself"})
	}
}

// drain runs the client's callbacks until there is none left.
func (cl *client) drain() {
	finished := false
	var c callback
	defer func() {
		if !finished { // runtime.Goexit in a callback
			cl.sys.timers.Ended(c.timer)
			cl.sys.live.Add(-1)
			cl.sys.workers.Run(cl.drain)
		}
	}()
	for {
		var ok bool
		if c, ok = cl.box.Next(); !ok {
			finished = true
			return
		}
		cl.sys.scheduler.Yield()
		cl.call(c)
		cl.sys.timers.Ended(c.timer)
		cl.sys.live.Add(-1)
	}
}

// callbackIndex is where the numbers of callbacks begin among all that an event gives rise to.
const callbackIndex = 2 << 32

// call runs one callback. Its failure concerns the client alone.
func (cl *client) call(c callback) {
	var step *span.Step
	failure := ""
	defer func() {
		if p := recover(); p != nil {
			err, ok := p.(error)
			if !ok {
				err = fmt.Errorf("%v", p)
			}
			var bug assert.Failure
			var stack string
			if errors.As(err, &bug) {
				stack = string(debug.Stack())
			}
			failure = err.Error()
			cl.sys.callbackFailed(CallbackFailure{Method: c.method.Class + "." + c.method.Name, Err: err, Path: event.PathOf(err)}, stack)
		}
		step.End(cl.sys.nanos(), failure)
	}()
	if c.held != nil {
		if cl.sys.scheduler.Wait(c.held.Done); !c.held.Yes {
			if !c.held.Lost {
				return
			}
			cl.sys.tracer.Dropped()
			if remote, ok := c.object.self.(*Remote); ok {
				remote.Lost()
			}
			return
		}
	}
	if d := cl.sys.durable; d != nil {
		if d.Wait(c.pos) != nil {
			return // nothing leaves a store that has failed
		}
		cl.sys.output.Flush(c.printed)
	}
	if t := cl.sys.tracer; t != nil {
		t.Called(c.method.Class+"."+c.method.Name, c.from, cl.id)
	}
	if c.origin != nil {
		step = cl.sys.cfg.Spans.Step(c.origin.Issuer.Child(callbackIndex+c.number), 1, c.origin, c.method.Class+"."+c.method.Name, cl.sys.nanos())
	}
	if remote, ok := c.object.self.(*Remote); ok {
		remote.Deliver(c.method, c.args)
		return
	}
	c.method.Run(&cl.inCallback().Client, c.object.self, c.args)
}

// gone reports whether the client was closed.
func (cl *client) gone() bool { return cl.box.Closed() }

// Close ends the session: callbacks that wait, and later ones, are dropped. Events that it
// has issued run on. A client that the program only drops needs no Close: its objects
// receive callbacks for as long as an actor can reach them.
func (face *Client) Close() {
	cl := clientOf(face)
	cl = cl.itself()
	cl.sys.tracer.Gone(cl.id)
	dropped := cl.box.Close()
	cl.sys.objects.Forget(func(o *ClientObject) bool { return o.client == &cl.Client })
	for i := range dropped {
		cl.sys.timers.Ended(dropped[i].timer)
	}
	cl.sys.live.Add(-len(dropped))
}

// Stored returns the number by which ResolveClient finds the object, 0 for null.
func (r ClientRef) Stored() uint64 {
	switch {
	case r.o == nil:
		return 0
	case clientOf(r.o.client).sys == nil: // it has gone, or is one of another store
		return r.o.number
	}
	cl := clientOf(r.o.client)
	return cl.sys.objects.Number(r.o, &r.o.number, cl.gone)
}

// goneClient is the client of all objects whose own client has gone.
var goneClient = func() *Client {
	cl := &client{}
	cl.box.Close()
	return &cl.Client
}()

// ResolveClient returns the reference of which Stored has returned number.
func (s *System) ResolveClient(number uint64) ClientRef {
	if number == 0 {
		return ClientRef{}
	}
	return ClientRef{o: s.objects.Resolve(number, func() *ClientObject { return &ClientObject{client: s.clientOf(number), number: number} })}
}
