package godoor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/value"
)

// ErrOverflow is why a client has ended that did not take its callbacks in time.
var ErrOverflow = errors.New("too many callbacks wait for Go code")

// What the callbacks of a client may take that wait for Go code, if KeptMax does not say so, and those of all clients.
const (
	keptMax      = 10_000
	keptBytesMax = 1 << 20
	allBytesMax  = 256 << 20
)

// callbackBytes is what a callback takes beside its arguments.
const callbackBytes = 128

// ClientOption says how a client is made.
type ClientOption func(*Client)

// KeptMax bounds the callbacks of a client that wait for Go code: their number, and the bytes of their arguments. Beyond it
// the client ends.
func KeptMax(callbacks int, bytes int64) ClientOption {
	return func(c *Client) { c.keptMax, c.bytesMax = callbacks, bytes }
}

// Client receives callbacks: its objects are passed to methods. Any goroutine may use it. A client with no callback under way
// has no goroutine.
//
// Invariant: its callbacks are called one at a time, in the order of their commits, and each once.
type Client struct {
	db       *DB
	session  *aeonrt.Client
	keptMax  int
	bytesMax int64
	ctx      context.Context // of its callbacks; it ends with the client
	cancel   context.CancelCauseFunc
	done     chan struct{}
	mu       struct { // a leaf
		sync.Mutex
		kept    []callback // that wait
		bytes   int64      // that they take
		running bool       // a goroutine calls them one by one
		ended   error
	}
}

// callback is one that waits.
type callback struct {
	method *aeonrt.ClientMethod
	args   aeonrt.Args
	call   Receive
	bytes  int64 // 0: it was called at once
}

// Receive is made by generated code: it calls the method of an implementation.
type Receive func(ctx context.Context, db *DB, m *aeonrt.ClientMethod, args aeonrt.Args)

// clients are those of a DB that have not ended.
type clients struct {
	bytes                     atomic.Int64 // that their callbacks take
	called, dropped, panicked atomic.Uint64
	running                   sync.WaitGroup // goroutines that call callbacks
	mu                        struct {
		sync.Mutex
		all    []*Client // the oldest first
		closed bool
	}
}

// NewClient makes a client. The caller closes it. A DB that is closed ends its clients.
func (db *DB) NewClient(opts ...ClientOption) *Client {
	c := &Client{db: db, session: db.sys.Client(), keptMax: keptMax, bytesMax: keptBytesMax, done: make(chan struct{})}
	for _, o := range opts {
		o(c)
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	db.clients.mu.Lock()
	closed := db.clients.mu.closed
	if !closed {
		db.clients.mu.all = append(db.clients.mu.all, c)
	}
	db.clients.mu.Unlock()
	if closed {
		c.end(ErrClosed)
	}
	return c
}

// Close ends the client: no callback begins after it has returned, and those that wait are dropped. It does not wait for one
// that is under way, so callbacks may call it; Done does.
func (c *Client) Close() { c.end(ErrClosed) }

// Done returns a channel that is closed when the client has ended, and its last callback has returned.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the client has ended: ErrClosed if it or the program was closed, ErrOverflow if too many callbacks have
// waited; nil if it has not ended.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.ended
}

// NewObject makes an object of a client, whose callbacks call receives. to is what it calls, which must not be nil.
func NewObject(c *Client, class *aeonrt.ClientClass, to any, call Receive) ClientObject {
	switch {
	case c == nil:
		panic(fmt.Sprintf("an object of class %s needs a client, and nil was given; NewClient of the open program makes one", class.Name))
	case to == nil:
		panic(fmt.Sprintf("an object of class %s needs an implementation of its callbacks, and nil was given", class.Name))
	}
	ref := exec.NewRemote(c.session, &exec.Remote{Class: class, Deliver: func(m *exec.ClientMethod, args aeonrt.Args) {
		c.deliver(callback{method: m, args: args, call: call})
	}})
	return ClientObject{db: c.db, ref: ref, class: class.Path()}
}

// deliver hands a callback over. It is called with one at a time, in order, and does not wait.
func (c *Client) deliver(cb callback) {
	all, m := &c.db.clients, &c.mu
	m.Lock()
	behind := m.running || c.db.sim != nil
	m.Unlock()
	if behind { // it has to wait, and is measured
		cb.bytes = callbackBytes + size(cb.args, c.bytesMax)
	}
	m.Lock()
	if m.ended != nil {
		m.Unlock()
		all.dropped.Add(1)
		return
	}
	if len(m.kept) >= c.keptMax || m.bytes+cb.bytes > c.bytesMax || all.bytes.Load()+cb.bytes > allBytesMax {
		m.Unlock()
		all.dropped.Add(1)
		c.db.log.Warn("a client has ended: too many callbacks wait for it", "callback", cb.method.Class+"."+cb.method.Name)
		c.end(fmt.Errorf("%w: at most %d callbacks and %d bytes are kept for one client, and %d bytes for all", ErrOverflow, c.keptMax, c.bytesMax, allBytesMax))
		return
	}
	m.kept = append(m.kept, cb)
	m.bytes += cb.bytes
	all.bytes.Add(cb.bytes)
	start := !m.running && c.db.sim == nil // there Settle calls it
	m.running = m.running || start
	m.Unlock()
	if start {
		all.running.Go(c.run)
	}
}

// size is how many bytes the arguments of a callback take: about as many as their encoding, and most if there is none.
func size(args aeonrt.Args, most int64) (n int64) {
	a, ok := args.(interface{ Encode(*codec.Encoder) })
	if !ok {
		return 0
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case value.Fault: // it nests too deeply
			n = most
		default:
			panic(r)
		}
	}()
	e := codec.NewEncoder(nil)
	a.Encode(e)
	return int64(len(e.Data()))
}

// run calls callbacks until none waits.
func (c *Client) run() {
	finished := false
	defer func() {
		if !finished { // runtime.Goexit in a callback
			c.db.clients.running.Go(c.run)
		}
	}()
	for c.callNext() {
	}
	finished = true
}

// callNext calls the callback that has waited for longest, and reports whether there was one.
func (c *Client) callNext() bool {
	cb, ok := c.take()
	if ok {
		c.call(cb)
	}
	return ok
}

// take takes the callback that has waited for longest. Without one the client is idle.
func (c *Client) take() (cb callback, ok bool) {
	m := &c.mu
	m.Lock()
	defer m.Unlock()
	if len(m.kept) == 0 {
		if c.db.sim == nil {
			c.idle()
		}
		return callback{}, false
	}
	cb = m.kept[0]
	m.kept[0] = callback{}
	m.kept, m.bytes = m.kept[1:], m.bytes-cb.bytes
	c.db.clients.bytes.Add(-cb.bytes)
	return cb, true
}

// idle notes that no callback is under way any more. Caller holds mu.
func (c *Client) idle() {
	c.mu.running = false
	if c.mu.ended != nil {
		close(c.done)
	}
}

// call calls a callback. A panic concerns it alone.
func (c *Client) call(cb callback) {
	c.db.clients.called.Add(1)
	defer func() {
		if p := recover(); p != nil {
			c.db.clients.panicked.Add(1)
			if c.db.sim != nil {
				c.db.sim.fail(fmt.Sprintf("the callback %s.%s has panicked: %v", cb.method.Class, cb.method.Name, p))
			}
			c.db.log.Error("a callback has panicked", "callback", cb.method.Class+"."+cb.method.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	cb.call(c.ctx, c.db, cb.method, cb.args)
}

// end ends the client, if it has not ended.
func (c *Client) end(why error) {
	all, m := &c.db.clients, &c.mu
	m.Lock()
	if m.ended != nil {
		m.Unlock()
		return
	}
	m.ended = why
	all.dropped.Add(uint64(len(m.kept)))
	all.bytes.Add(-m.bytes)
	m.kept, m.bytes = nil, 0
	if !m.running {
		close(c.done)
	}
	m.Unlock()
	c.cancel(why)
	all.mu.Lock()
	all.mu.all = slices.DeleteFunc(all.mu.all, func(o *Client) bool { return o == c })
	all.mu.Unlock()
	c.session.Close() // drops what comes now, and forgets the objects
}

// list returns the clients that have not ended.
func (cs *clients) list() []*Client {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return slices.Clone(cs.mu.all)
}

// close ends the clients, when the callbacks that wait have been called. The system is closed: none comes any more.
func (cs *clients) close() {
	cs.running.Wait()
	cs.mu.Lock()
	cs.mu.closed = true
	cs.mu.Unlock()
	cs.endAll()
}

func (cs *clients) endAll() {
	for _, c := range cs.list() {
		c.end(ErrClosed)
	}
}
