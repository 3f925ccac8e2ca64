package door

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/runtime/order"
)

// ClientClass is a client class of which callers outside can have objects.
type ClientClass struct {
	*exec.ClientClass
	Methods []*Callback // in order of their declaration
	takers  []taker     // the methods of actors that take objects of it
}

// Callback is a method of a client class.
type Callback struct {
	*exec.ClientMethod
	Of     *ClientClass
	Params *jsoncodec.Params
}

type taker struct {
	class  *Class
	method *Method
}

func newClientClass(of *exec.ClientClass, types *jsoncodec.Compiler) (*ClientClass, error) {
	c := &ClientClass{ClientClass: of}
	for _, m := range of.Methods {
		params, _, err := types.Signature(m.Signature, m.Params)
		if err != nil {
			return nil, fmt.Errorf("method %s of client class %s: %w", m.Name, of.Path(), err)
		}
		c.Methods = append(c.Methods, &Callback{m, c, params})
	}
	return c, nil
}

// Taken reports whether a method of an actor for which may holds takes objects of the class.
func (c *ClientClass) Taken(may func(*Class, *Method) bool) bool {
	return slices.ContainsFunc(c.takers, func(t taker) bool { return may(t.class, t.method) })
}

// RemoteLimits bound Remotes. The zero value of a bound is its default.
type RemoteLimits struct {
	Max       int           // clients; of those of one caller see EachOf; 16 384
	KeptMax   int           // callbacks of a client that are kept; 10 000
	BytesMax  int64         // that they take; 1 MiB
	AllMax    int64         // that those of all clients take; of those of one caller see EachOf; 256 MiB
	ExpiryMin time.Duration // how long a client without a stream stays at least; 10 minutes
}

func (l *RemoteLimits) defaults() {
	if l.Max <= 0 {
		l.Max = 16 << 10
	}
	if l.KeptMax <= 0 {
		l.KeptMax = 10_000
	}
	if l.BytesMax <= 0 {
		l.BytesMax = 1 << 20
	}
	if l.AllMax <= 0 {
		l.AllMax = 256 << 20
	}
	if l.ExpiryMin <= 0 {
		l.ExpiryMin = 10 * time.Minute
	}
}

// EachOf returns how much of a room one source may take, so that none takes the room of all; it is enough for one request, or one client.
func EachOf(all, one int64) int64 { return max(all/4, one) }

// Remotes are the clients outside of the program that receive callbacks. They live in memory, and end with the process. There
// is no goroutine for any of them: one that has expired is found when another one begins, or a stream begins or ends.
type Remotes struct {
	door      *Door
	limits    RemoteLimits
	bytes     atomic.Int64 // that the callbacks of all take
	delivered atomic.Uint64
	dropped   atomic.Uint64
	mu        struct { // taken before that of a Remote
		sync.Mutex
		byID  map[string]*Remote
		parts map[string]*part // of the callers that have clients, by their names
		swept time.Time
	}
}

// part is what the clients of one caller take.
type part struct {
	max     int64        // bytes
	bytes   atomic.Int64 // that their callbacks take
	clients int          // guarded by Remotes.mu
}

func newRemotes(d *Door, limits RemoteLimits) *Remotes {
	limits.defaults()
	rs := &Remotes{door: d, limits: limits}
	rs.mu.byID, rs.mu.parts = make(map[string]*Remote), make(map[string]*part)
	return rs
}

// partOf returns the part of a caller to which it adds a client. Where callers are not told apart all is one part. Caller holds mu.
func (rs *Remotes) partOf(caller string) (*part, error) {
	p, clients, bytes := rs.mu.parts[caller], rs.limits.Max, rs.limits.AllMax
	if caller != "" {
		clients, bytes = int(EachOf(int64(clients), 1)), EachOf(bytes, rs.limits.BytesMax)
	}
	if p == nil {
		p = &part{max: bytes}
	}
	switch {
	case len(rs.mu.byID) >= rs.limits.Max:
		return nil, &FullError{fmt.Sprintf("there are %d clients, which is the limit", rs.limits.Max)}
	case p.clients >= clients:
		return nil, &FullError{fmt.Sprintf("the caller has %d clients, which is the limit", clients)}
	}
	p.clients++
	rs.mu.parts[caller] = p
	return p, nil
}

func (rs *Remotes) now() time.Time { return time.Unix(0, rs.door.namer.Now()) }

// FullError says that there are too many.
type FullError struct{ Msg string }

// Error implements error.
func (e *FullError) Error() string { return e.Msg }

// NoClientError says that an argument refers to a client that is not there, or that is another caller's.
type NoClientError struct{ Msg string }

// Error implements error.
func (e *NoClientError) Error() string { return e.Msg }

// Begin begins a client of a caller, with an object of each class. The error is a *FullError.
func (rs *Remotes) Begin(caller string, classes []*ClientClass) (*Remote, error) {
	rs.sweep()
	r := &Remote{all: rs, caller: caller, client: rs.door.sys.Client()}
	r.mu.first, r.mu.left = 1, rs.now()
	rs.mu.Lock()
	defer rs.mu.Unlock()
	of, err := rs.partOf(caller)
	if err != nil {
		return nil, err
	}
	r.part = of
	number := uint64(0)
	for _, c := range classes {
		number = exec.NewRemote(r.client, &exec.Remote{Class: c.ClientClass, Caller: caller, Deliver: r.deliverer(c), Lost: r.lost}).Stored()
		r.References = append(r.References, c.Name+":"+strconv.FormatUint(number, 10))
	}
	r.ID = newID(event.StoreIn(number))
	rs.mu.byID[r.ID] = r
	return r, nil
}

// newID returns an id for a client of a store, which cannot be guessed.
func newID(of event.StoreID) string {
	if of == 0 {
		return rand.Text()
	}
	return rand.Text() + idStore + strconv.FormatUint(uint64(of), 10)
}

// idStore is in front of the store in the id of a client, which that of store 0 does not have.
const idStore = "-"

// StoreOf returns the store of the client with an id. Of a text that is no such id it returns any.
func StoreOf(id string) event.StoreID {
	_, digits, _ := strings.Cut(id, idStore)
	of, _ := strconv.ParseUint(digits, 10, 32)
	return event.StoreID(of)
}

// Find returns a client of a caller. The error is a *NotFoundError, which does not tell whether another caller has it.
func (rs *Remotes) Find(caller, id string) (*Remote, error) {
	rs.sweep()
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if r := rs.mu.byID[id]; r != nil && r.caller == caller {
		return r, nil
	}
	return nil, errNoRemote
}

var errNoRemote = notFound("there is no such client: it has ended, has expired or was begun before the program has started again; begin another one")

// number returns the number of an object of a caller, to which a text refers.
func (rs *Remotes) number(ctx context.Context, caller string, class *ClientClass, text string) (n uint64, ok bool, err error) {
	name, digits, _ := strings.Cut(text, ":")
	n, wrong := strconv.ParseUint(digits, 10, 64)
	if wrong != nil || class == nil || name != class.Name && name != class.Path() {
		return 0, false, nil
	}
	ok, err = rs.door.sys.IsRemote(ctx, n, class.Path(), caller)
	return n, ok, err
}

// list returns all clients.
func (rs *Remotes) list() (list []*Remote) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.mu.byID {
		list = append(list, r)
	}
	return list
}

// sweeps is how often clients that have expired are looked for in the time after which one expires.
const sweeps = 8

// sweep ends the clients that have expired.
func (rs *Remotes) sweep() {
	now := rs.now()
	rs.mu.Lock()
	due := now.Sub(rs.mu.swept) >= rs.limits.ExpiryMin/sweeps
	if due {
		rs.mu.swept = now
	}
	rs.mu.Unlock()
	if !due {
		return
	}
	for _, r := range rs.list() {
		r.expire(now)
	}
}

// forget takes a client that has ended out of the lists.
func (rs *Remotes) forget(r *Remote) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	delete(rs.mu.byID, r.ID)
	if r.part.clients--; r.part.clients == 0 {
		delete(rs.mu.parts, r.caller)
	}
}

// reserve takes the room that a callback needs from what all may take, and from the part of the caller. If there is none, the callbacks that
// clients have been sent give way, those of others only for the room of all. The error says what is full. Caller holds no mu.
func (r *Remote) reserve(size int64) error {
	rs := r.all
	r.take(size)
	full := func() error {
		switch {
		case rs.bytes.Load() > rs.limits.AllMax:
			return fmt.Errorf("the callbacks of all clients take %d bytes, which is the limit", rs.limits.AllMax)
		case r.part.bytes.Load() > r.part.max:
			return fmt.Errorf("the callbacks of all clients of the caller take %d bytes, which is the limit", r.part.max)
		}
		return nil
	}
	err := full()
	if err == nil {
		return nil
	}
	for _, other := range rs.list() {
		if other.part != r.part && rs.bytes.Load() <= rs.limits.AllMax {
			continue
		}
		other.giveWay()
		if err = full(); err == nil {
			return nil
		}
	}
	r.take(-size)
	return err
}

// take counts bytes that the callbacks of the client take, fewer if size is negative.
func (r *Remote) take(size int64) {
	r.all.bytes.Add(size)
	r.part.bytes.Add(size)
}

func (rs *Remotes) writeMetrics(w *metrics.Writer) {
	rs.sweep()
	rs.mu.Lock()
	n := len(rs.mu.byID)
	rs.mu.Unlock()
	w.Gauge("aeon_remote_clients", "Clients outside of the program that receive callbacks.", int64(n))
	w.Gauge("aeon_remote_callback_bytes", "Memory that their callbacks take.", rs.bytes.Load())
	w.Counter("aeon_remote_callbacks_delivered_total", "Callbacks that were given to the stream of their client.", rs.delivered.Load())
	w.Counter("aeon_remote_callbacks_dropped_total", "Callbacks whose client has ended before they were given to its stream.", rs.dropped.Load())
}

// Remote is a client outside of the program. Any goroutine may use it.
type Remote struct {
	ID         string   // a secret of its caller
	References []string // to its objects, one for each class that it has begun with: their texts as arguments
	all        *Remotes
	caller     string
	part       *part
	client     *exec.Client
	mu         struct {
		sync.Mutex
		kept   []Delivery // callbacks, each with the number behind that of the one before
		first  uint64     // the number of the first of them, or of the next one that comes
		bytes  int64      // that they take
		sent   uint64     // up to this number they were given to a stream
		stream *Stream    // nil: none is open
		left   time.Time  // when the last stream has closed
		ended  *EndedError
	}
}

// Delivery is a callback that was called.
type Delivery struct {
	Number uint64 // of the callbacks of the client, from 1 on
	Method *Callback
	Args   []byte // as Method.Params writes them
}

// deliveryBytes is what a callback takes beside its arguments.
const deliveryBytes = 64

func (d *Delivery) size() int64 { return int64(len(d.Args)) + deliveryBytes }

// EndedError says that a client, or a stream of it, has ended.
type EndedError struct{ Code, Msg string }

// The codes of ends.
const (
	Ended     = "ended"      // the client, by its caller
	Expired   = "expired"    // the client, as no stream was open for too long
	Overflow  = "overflow"   // the client, as too many callbacks have waited
	Failed    = "failed"     // the client, as a callback cannot be written, or may be missing
	TakenOver = "taken-over" // the stream, by another one
)

// Error implements error.
func (e *EndedError) Error() string { return e.Msg }

func ended(code, format string, args ...any) *EndedError {
	return &EndedError{code, fmt.Sprintf(format, args...)}
}

// deliverer returns what is called with the callbacks of an object, one by one.
func (r *Remote) deliverer(c *ClientClass) func(*exec.ClientMethod, order.Args) {
	return func(m *exec.ClientMethod, args order.Args) {
		i := slices.IndexFunc(c.Methods, func(of *Callback) bool { return of.ClientMethod == m })
		r.deliver(Delivery{Method: c.Methods[i]}, args)
	}
}

// deliver keeps a callback for the stream. If that would take too much the client ends: a gap could not be seen.
func (r *Remote) deliver(d Delivery, args order.Args) {
	var err error
	if d.Args, err = encode(args); err != nil {
		r.drop(ended(Failed, "a callback of %s.%s cannot be written: %v", d.Method.Class, d.Method.Name, err))
		return
	}
	if r.expire(r.all.now()) {
		r.all.dropped.Add(1)
		return
	}
	if full := r.reserve(d.size()); full != nil {
		r.drop(ended(Overflow, "%v", full))
		return
	}
	if !r.keep(d) {
		r.drop(ended(Overflow, "more than %d callbacks, or %d bytes, wait for the stream, which is the limit", r.all.limits.KeptMax, r.all.limits.BytesMax))
	}
}

// keep appends a callback, and reports whether it fits.
func (r *Remote) keep(d Delivery) bool {
	m, limits := &r.mu, &r.all.limits
	m.Lock()
	defer m.Unlock()
	full := func() bool { return len(m.kept) >= limits.KeptMax || m.bytes+d.size() > limits.BytesMax }
	for full() && len(m.kept) > 0 && m.first <= r.given() {
		r.shift()
	}
	if m.ended != nil || full() {
		r.take(-d.size())
		return false
	}
	d.Number = m.first + uint64(len(m.kept))
	m.kept, m.bytes = append(m.kept, d), m.bytes+d.size()
	m.stream.wake()
	return true
}

// given returns up to which number a stream that is open, or the last one, has been given the callbacks. Caller holds mu.
func (r *Remote) given() uint64 {
	if s := r.mu.stream; s != nil {
		return s.next - 1 // after a resumption it is behind sent
	}
	return r.mu.sent
}

// shift forgets the first callback that is kept. Caller holds mu.
func (r *Remote) shift() {
	m := &r.mu
	size := m.kept[0].size()
	m.kept[0] = Delivery{}
	if m.kept = m.kept[1:]; len(m.kept) == 0 {
		m.kept = nil
	}
	m.first++
	m.bytes -= size
	r.take(-size)
}

// giveWay forgets the callbacks that a stream has been given.
func (r *Remote) giveWay() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.mu.kept) > 0 && r.mu.first <= r.given() {
		r.shift()
	}
}

// expire ends the client if no stream was open for too long, and reports whether it has.
func (r *Remote) expire(now time.Time) bool {
	return r.endIf(ended(Expired, "no stream was open for %v", r.all.limits.ExpiryMin), func() bool {
		return r.mu.stream == nil && now.Sub(r.mu.left) >= r.all.limits.ExpiryMin
	})
}

// drop drops a callback that came, and ends the client.
func (r *Remote) drop(why *EndedError) {
	r.all.dropped.Add(1)
	r.endIf(why, func() bool { return true })
}

// lost ends the client, as a callback has happened or not: a gap could not be seen.
func (r *Remote) lost() {
	r.drop(ended(Failed, "the node that has called back was lost, and the callback may be missing"))
}

// End ends the client, as its caller wants.
func (r *Remote) End() { r.endIf(ended(Ended, "the client was ended"), func() bool { return true }) }

// endIf ends the client if it has not ended, and cond, which is called with mu, holds. It reports whether it has.
func (r *Remote) endIf(why *EndedError, cond func() bool) bool {
	m := &r.mu
	m.Lock()
	if m.ended != nil || !cond() {
		m.Unlock()
		return false
	}
	m.ended = why
	last := m.first + uint64(len(m.kept)) - 1
	r.all.dropped.Add(last - m.sent)
	r.take(-m.bytes)
	m.kept, m.bytes, m.first = nil, 0, last+1
	m.stream.wake()
	m.Unlock()
	r.all.forget(r)
	r.client.Close() // drops what comes now, and forgets the objects
	return true
}
