package exec

import (
	"hash/fnv"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/trace"
)

func init() { sched.AtEnd(trace.FlushOpen) }

// tracer exists in traced systems only; others pay one branch per event and access.
type tracer struct {
	rec     trace.Recorder
	durable *durable // nil without a store
	states  bool     // hash the fields
	reuse   bool     // the recorder keeps nothing of an event that was answered
	pool    sync.Pool
	tick    atomic.Int64
	actors  shard.Set[tracedShard]
	// serial is held while an event takes its place in the order, and while what it has
	// issued is queued: what follows from events is queued in their order.
	serial sync.Mutex

	unanswered unanswered // of a system with a store
}

type tracedShard struct {
	mu struct {
		sync.Mutex
		// byHandle has the actors whose handles are there. A handle that is made anew is that of an actor in the store,
		// which has the rest.
		byHandle map[weak.Pointer[order.Handle]]*tracedActor
		named    map[event.ActorID]int // how many actors have had the name
	}
}

// tracedActor is what the trace keeps of an actor.
type tracedActor struct {
	label   string
	version atomic.Uint64 // guarded by the actor's lock, unless there is a bug to be found
}

// tracedEvent is what an event gathers for its record.
type tracedEvent struct {
	trace.Event
	mu    sync.Mutex // branches of the event meet here
	notes []readNote
	last  map[*order.Handle]int // index of the last note of an actor, once there are many
	wrote handleSet
}

// readNote is an actor as the event first reached it.
type readNote struct {
	h *order.Handle
	a *tracedActor
	trace.Access
}

func newTracer(rec trace.Recorder, states bool) *tracer {
	t := &tracer{rec: rec, states: states}
	_, t.reuse = rec.(trace.Transient)
	t.pool.New = func() any { return new(tracedEvent) }
	return t
}

// actor returns what the trace keeps of h. Numbers tell apart actors of one name, of which
// all but the last were deleted.
func (t *tracer) actor(h *order.Handle) *tracedActor {
	if h.Is(order.Detached) {
		_ = h.Host.Attach(h) // if it fails the process is ending
	}
	key := weak.Make(h)
	sh := &t.actors.Of(h.ID.Serial).mu
	sh.Lock()
	defer sh.Unlock()
	if a := sh.byHandle[key]; a != nil {
		return a
	}
	if sh.byHandle == nil {
		sh.byHandle, sh.named = make(map[weak.Pointer[order.Handle]]*tracedActor), make(map[event.ActorID]int)
	}
	a := &tracedActor{}
	if t.durable != nil {
		var version uint64
		version, a.label = t.durable.traced(h.ID)
		a.version.Store(version)
	}
	class := "?"
	if h.Shape != nil {
		class = h.Shape.Package + "." + h.Shape.Name
	}
	switch {
	case a.label != "":
	case h.Named == nil:
		a.label = class + ":" + h.ID.String()
	default:
		n := int(h.Named.Incarnation) + 1
		if t.durable == nil {
			sh.named[h.ID]++
			n = sh.named[h.ID]
		}
		if n > 1 {
			class += "@" + strconv.Itoa(n)
		}
		a.label = class + "/" + h.Named.Name
	}
	sh.byHandle[key] = a
	runtime.AddCleanup(h, forgetTraced, untracedActor{weak.Make(t), key, h.ID.Serial})
	return a
}

// untracedActor is what is left of an actor whose handle the collector has taken. It may take the tracer as well.
type untracedActor struct {
	tracer weak.Pointer[tracer]
	key    weak.Pointer[order.Handle]
	serial uint64 // of the actor
}

func forgetTraced(u untracedActor) {
	if t := u.tracer.Value(); t != nil {
		sh := &t.actors.Of(u.serial).mu
		sh.Lock()
		defer sh.Unlock()
		delete(sh.byHandle, u.key)
	}
}

func (t *tracer) label(h *order.Handle) string {
	if h == nil {
		return ""
	}
	return t.actor(h).label
}

// issued returns the origin of an event that cl issues now; goesOn says that it does not wait for it.
func (t *tracer) issued(cl *Client, goesOn bool) *origin {
	if cl.base != nil {
		cl = cl.base
	}
	return &origin{trace.Origin{Kind: trace.Client, Client: cl.id, Issued: goesOn}, t.tick.Add(1)}
}

// origin is where an event comes from, if a client has not issued it just now.
type origin struct {
	trace.Origin
	start int64 // 0: when the event starts
}

// begin is called when ev starts.
func (t *tracer) begin(ev *Event) {
	r := t.pool.Get().(*tracedEvent)
	r.ID, r.Method, r.Args = ev.ID, ev.method.String(), ev.Args
	if ev.from != nil {
		r.Origin, r.Start = ev.from.Origin, ev.from.start
	}
	if r.Origin.Kind == "" {
		cl := ev.client
		if cl.base != nil {
			cl = cl.base
		}
		r.Origin.Kind, r.Origin.Client = trace.Client, cl.id
	}
	if r.Start == 0 {
		r.Start = t.tick.Add(1)
	}
	ev.traced = r
}

// read notes that the event has reached h, which it holds or which is deleted for good, and
// has not written yet. If h has changed under the event, that is noted, too.
func (t *tracer) read(ev *Event, h *order.Handle) {
	if h.Is(order.Fresh) {
		return // only this event knows it
	}
	r := ev.traced
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.lastNote(h)
	if last >= 0 && r.notes[last].Version == r.notes[last].a.version.Load() {
		return
	}
	a := t.actor(h)
	n := readNote{h, a, trace.Access{Actor: h.ID, Label: a.label, Version: a.version.Load()}}
	if last < 0 {
		n.State = t.state(h)
	}
	if r.last != nil {
		r.last[h] = len(r.notes)
	}
	r.notes = append(r.notes, n)
}

// lastNote returns the index of the last note of h, -1 if there is none. Caller holds mu.
func (r *tracedEvent) lastNote(h *order.Handle) int {
	if r.last != nil {
		if i, ok := r.last[h]; ok {
			return i
		}
		return -1
	}
	for i := len(r.notes) - 1; i >= 0; i-- {
		if r.notes[i].h == h {
			return i
		}
	}
	if len(r.notes) > handleSetScanMax {
		r.last = make(map[*order.Handle]int, 4*handleSetScanMax)
		for i := range r.notes {
			r.last[r.notes[i].h] = i
		}
	}
	return -1
}

// noted is tracer.actor for an actor that r has probably noted.
func (t *tracer) noted(r *tracedEvent, h *order.Handle) *tracedActor {
	if i := r.lastNote(h); i >= 0 {
		return r.notes[i].a
	}
	return t.actor(h)
}

// forget drops what a withdrawn attempt has noted.
func (r *tracedEvent) forget() { r.notes, r.last = r.notes[:0], nil }

// traceRead is tracer.read for any event, also one that is not traced.
func (ev *Event) traceRead(h *order.Handle) {
	if ev.traced != nil {
		ev.sys.tracer.read(ev, h)
	}
}

// fired returns the origin of a tick of t, which o has set.
func (o *origin) fired(t *timer) *origin {
	if o == nil {
		return nil
	}
	f := *o
	f.Index, f.Timer = int(t.Ticks), t.Generation
	return &f
}

// issues notes what an event issues by its commit, in program order. Timers have been made.
func (t *tracer) issues(r *tracedEvent, ops []op) {
	for i := range ops {
		switch o := &ops[i]; o.kind {
		case opBranch:
			t.issues(r, o.branch.cx.ops)
		case opEmit:
			r.Subs++
		case opTail:
			r.Subs++
			r.Keeps = o.keep
		case opCallback:
			r.Callbacks = append(r.Callbacks, o.object.client.id)
		case opTimer:
			if o.made != nil { // else its issuer is deleted
				r.Timers = append(r.Timers, trace.TimerOp{Issuer: t.label(o.issuer), Name: o.name, Generation: o.made.Generation, Every: o.every > 0})
			}
		case opCancel:
			r.Timers = append(r.Timers, trace.TimerOp{Issuer: t.label(o.issuer), Name: o.name})
		}
	}
}

// gone is called when client cl is going.
func (t *tracer) gone(cl *Client) {
	t.serial.Lock()
	defer t.serial.Unlock()
	t.rec.Gone(cl.id)
}

// state returns a hash of the fields of h, which is held.
func (t *tracer) state(h *order.Handle) uint64 {
	if !t.states || h.Object == nil || h.Is(order.Deleted) {
		return 0
	}
	s, ok := h.Object.(image.Stored)
	if !ok {
		return 0
	}
	defer func() { _ = recover() }() // what nests too deeply to be encoded has no hash
	sum := fnv.New64a()
	_, _ = sum.Write(image.State(s, len(h.Shape.Fields))) // never fails
	return sum.Sum64() | 1                                // 0 is none
}

// undone reports an event that has failed and has been undone; it still holds its locks.
func (t *tracer) undone(ev *Event, err error) {
	r := ev.traced
	r.Err = err
	t.prepare(ev)
	t.serial.Lock()
	defer t.serial.Unlock()
	r.Order = t.tick.Add(1)
	t.rec.Ended(&r.Event)
}

// committed reports an event that commits, and queues what follows from it; it still
// holds its locks.
func (t *tracer) committed(ev *Event, next *follow) {
	if ev.sys.durable != nil {
		t.committedDurable(ev, next)
		return
	}
	r := ev.traced
	t.writes(ev)
	t.prepare(ev)
	t.serial.Lock()
	defer t.serial.Unlock()
	r.Order = t.tick.Add(1)
	ev.publish(next)
	t.issues(r, ev.root.ops)
	t.rec.Ended(&r.Event)
}

// prepare completes the record, apart from its place in the order.
func (t *tracer) prepare(ev *Event) {
	r := ev.traced
	r.Attempt = ev.Number
	if ev.Target != nil {
		r.Target, r.Label = ev.Target.ID, t.noted(r, ev.Target).label
	}
	for i := range r.notes {
		r.Reads = append(r.Reads, r.notes[i].Access)
	}
	t.rec.Prepare(&r.Event)
}

// writes gives every actor that the event has changed its next version.
func (t *tracer) writes(ev *Event) {
	r := ev.traced
	write := func(h *order.Handle, dead bool) {
		if !r.wrote.add(h) {
			return
		}
		a := t.noted(r, h)
		w := trace.Access{Actor: h.ID, Label: a.label, Version: a.version.Add(1), Deleted: dead}
		if !dead {
			w.State = t.state(h)
		}
		r.Writes = append(r.Writes, w)
	}
	for _, h := range ev.Deletes {
		write(h, true)
	}
	for _, list := range [...][]*order.Handle{ev.Fresh, ev.Born} {
		for _, h := range list {
			write(h, false)
		}
	}
	entries := ev.root.log.Entries()
	for i := range entries {
		write(entries[i].Self().Handle(), false)
	}
}

// answered is called when the answer of ev is about to leave.
func (t *tracer) answered(ev *Event) {
	if r := ev.traced; r != nil && r.Order != 0 {
		r.End = t.tick.Add(1)
		if t.durable != nil {
			t.answeredDurable(r, ev.maxPos)
		} else {
			t.tell(r)
		}
	}
	ev.traced = nil
}

// tell records the answer of an event.
func (t *tracer) tell(r *tracedEvent) {
	t.rec.Answered(&r.Event)
	if t.reuse {
		r.clear()
		t.pool.Put(r)
	}
}

// clear makes r ready for another event. It keeps the memory of what is small.
func (r *tracedEvent) clear() {
	clear(r.notes)
	clear(r.wrote.list)
	r.wrote = handleSet{list: r.wrote.list[:0]}
	r.forget()
	r.Event = trace.Event{Line: r.Line[:0], Reads: r.Reads[:0], Writes: r.Writes[:0], Callbacks: r.Callbacks[:0], Timers: r.Timers[:0]}
	if cap(r.Line) > lineKeptMax {
		*r = tracedEvent{}
	}
}

const lineKeptMax = 4 << 10 // bytes

// called is called when a callback is about to run in client cl.
func (t *tracer) called(cl *Client, c *callback) {
	r := &trace.Callback{Method: c.method.Class + "." + c.method.Name}
	if c.from != nil {
		r.Origin = c.from.Origin
	}
	r.Origin.Client = cl.id
	t.serial.Lock()
	defer t.serial.Unlock()
	r.Start = t.tick.Add(1)
	t.rec.Called(r)
}

// handleSet is a set that is small mostly.
type handleSet struct {
	list []*order.Handle
	more map[*order.Handle]bool
}

const handleSetScanMax = 16

// add reports whether h was not in the set.
func (s *handleSet) add(h *order.Handle) bool {
	if s.more != nil {
		had := s.more[h]
		s.more[h] = true
		return !had
	}
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i] == h {
			return false
		}
	}
	if s.list = append(s.list, h); len(s.list) > handleSetScanMax {
		s.more = make(map[*order.Handle]bool, 4*handleSetScanMax)
		for _, o := range s.list {
			s.more[o] = true
		}
	}
	return true
}
