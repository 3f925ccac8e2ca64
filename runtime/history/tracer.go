package history

import (
	"hash/fnv"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/undo"
)

func init() { sched.AtEnd(trace.FlushOpen) }

// Tracer exists in traced systems only; other systems pay one branch per event and access. Any goroutine may call it. For one
// Record only one goroutine at a time may do so, except for Read.
type Tracer struct {
	rec    trace.Recorder
	state  *state.State // nil without a store
	hashes bool         // hash the fields
	reuse  bool         // the recorder keeps nothing of an event that was answered
	pool   sync.Pool
	now    func() int64 // nil: ticks just count
	tick   atomic.Int64 // the last one
	actors actors
	// serial is held while an event takes its place in the order, and while what it has
	// issued is queued: what follows from events is queued in their order.
	serial sync.Mutex

	// Of a system with a store.
	unanswered unanswered
	traced     row.Traced // by the runs before; its epoch is that of this run, too
}

// New returns a tracer of a system without a store; hashes says whether the records have hashes of the fields. Resume gives it a store.
func New(rec trace.Recorder, hashes bool) *Tracer {
	t := &Tracer{rec: rec, hashes: hashes}
	_, t.reuse = rec.(trace.Transient)
	if c, ok := rec.(trace.Clocked); ok {
		t.now = c.Now
	}
	t.pool.New = func() any { return new(Record) }
	return t
}

// next returns the next tick, which is larger than all before it, and not before the time if ticks are times.
func (t *Tracer) next() int64 {
	if t.now == nil {
		return t.tick.Add(1)
	}
	for {
		last := t.tick.Load()
		if next := max(last+1, t.now()); t.tick.CompareAndSwap(last, next) {
			return next
		}
	}
}

// Issued returns the source of an event that a client issues now. goesOn says that the client does not wait for the event.
func (t *Tracer) Issued(client event.ClientID, goesOn bool) *trace.Source {
	return &trace.Source{Origin: trace.Origin{Kind: trace.Client, Client: client, Issued: goesOn}, Start: t.next()}
}

// Label returns the label of an actor in the history, "" for nil.
func (t *Tracer) Label(h *order.Handle) string {
	if h == nil {
		return ""
	}
	return t.actors.get(h).label
}

// Source returns the source of what an event issues, or of what one of an earlier run has issued; nil without a tracer.
func (t *Tracer) Source(kind trace.Kind, parent event.EventID, issuer *order.Handle, index int) *trace.Source {
	if t == nil {
		return nil
	}
	return &trace.Source{Origin: trace.Origin{Kind: kind, Parent: parent, Issuer: t.Label(issuer), Index: index & (event.PartIndex - 1)}}
}

// Begin returns the record of an event that starts. Without a source the client issues it now.
func (t *Tracer) Begin(a *order.Attempt, from *trace.Source, client event.ClientID) *Record {
	r := t.pool.Get().(*Record)
	r.ID, r.Method, r.Args = a.ID, a.Work.String(), a.Args
	if from != nil {
		r.Origin, r.Start = from.Origin, from.Start
	}
	if r.Origin.Kind == "" {
		r.Origin.Kind, r.Origin.Client = trace.Client, client
	}
	if r.Start == 0 {
		r.Start = t.next()
	}
	return r
}

// Complete completes the record of an event that has ended, apart from its place in the order and what it issues; err is nil for
// a commit. The event still holds its locks.
func (t *Tracer) Complete(r *Record, a *order.Attempt, err error) {
	r.Err, r.Attempt = err, a.Number
	switch h := a.Target; {
	case h == nil:
	case h.Is(order.Elsewhere):
		r.Target, r.Label = h.ID, elsewhere(a)
	default:
		r.Target, r.Label = h.ID, t.noted(r, h).label
	}
	for i := range r.notes {
		r.Reads = append(r.Reads, r.notes[i].Access)
	}
	t.rec.Prepare(&r.Event)
}

// Read notes that the event has reached h and has not written it yet. The event holds h, or h is deleted for
// good. If h has changed under the event, Read notes that, too.
func (t *Tracer) Read(r *Record, h *order.Handle) {
	if h.Is(order.Fresh) {
		return // only this event knows it
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.lastNote(h)
	if last >= 0 && r.notes[last].Version == r.notes[last].a.version.Load() {
		return
	}
	a := t.actors.get(h)
	n := note{h, a, trace.Access{Actor: h.ID, Label: a.label, Version: a.version.Load()}}
	if last < 0 {
		n.State = t.hash(h)
	}
	if r.last != nil {
		r.last[h] = len(r.notes)
	}
	r.notes = append(r.notes, n)
}

// noted is actors.get for an actor that r has probably noted.
func (t *Tracer) noted(r *Record, h *order.Handle) *actor {
	if i := r.lastNote(h); i >= 0 {
		return r.notes[i].a
	}
	return t.actors.get(h)
}

// Wrote gives every actor that the event has changed its next version. The event commits, and holds them.
func (t *Tracer) Wrote(r *Record, a *order.Attempt, log *undo.Log) {
	each(a, log, func(h *order.Handle, dead bool) { t.write(r, h, dead) })
}

// each calls f for each actor that an event changes, perhaps more than once: whether it deletes that is told first.
func each(a *order.Attempt, log *undo.Log, f func(h *order.Handle, dead bool)) {
	for _, h := range a.Deletes {
		f(h, true)
	}
	for _, list := range [...][]*order.Handle{a.Fresh, a.Born} {
		for _, h := range list {
			f(h, false)
		}
	}
	entries := log.Entries()
	for i := range entries {
		f(order.HandleOf(entries[i].Self().Ref()), false)
	}
}

// write gives h its next version, unless the event has done so.
func (t *Tracer) write(r *Record, h *order.Handle, dead bool) {
	if !r.wrote.Add(h) {
		return
	}
	a := t.noted(r, h)
	w := trace.Access{Actor: h.ID, Label: a.label, Version: a.version.Add(1), Deleted: dead}
	if !dead && !r.Across.Restored { // the vote has it
		w.State = t.hash(h)
	}
	r.Writes = append(r.Writes, w)
}

// hash returns a hash of the fields of h, which is held; 0 for none.
func (t *Tracer) hash(h *order.Handle) uint64 {
	if !t.hashes || h.Object == nil || h.Is(order.Deleted) {
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

// Enter gives an event its place in the order. Until Leave no other event takes one, so that what follows from events is queued in
// their order.
func (t *Tracer) Enter(r *Record) {
	t.serial.Lock()
	now := t.next()
	// Invariant: an event has one place, which is after its start.
	assert.That(r.Order == 0 && r.Start < now, "history: an event takes a place again, or before its start")
	r.Order = now
}

// Leave ends what Enter has begun.
func (t *Tracer) Leave() { t.serial.Unlock() }

// Ended tells of an event that has entered. Into w, the batch of a system with a store, it writes what the next run needs: the record
// is written before the batch may survive.
func (t *Tracer) Ended(r *Record, w *row.Writer) {
	if t.state != nil {
		if r.Batch = !w.Empty(); r.Batch {
			t.mark(r, w)
		}
	}
	t.ended(&r.Event)
}

// ended tells of an event, unless the store has failed: then nothing of the event is kept or answered, and where it has read a version there may have been an error.
func (t *Tracer) ended(e *trace.Event) {
	if t.state == nil || t.state.Store.Err() == nil {
		t.rec.Ended(e)
	}
}

// Answered is called when the answer of an event is about to leave; pos is the largest position that the event has seen. The record
// must not be used any more. One that has not entered is dropped.
func (t *Tracer) Answered(r *Record, pos store.Position) {
	if r.Order == 0 {
		return
	}
	r.End = t.next()
	if t.state == nil {
		t.tell(r)
	} else {
		t.answeredDurable(r, pos)
	}
}

// tell records the answer of an event.
func (t *Tracer) tell(r *Record) {
	t.rec.Answered(&r.Event)
	if t.reuse {
		r.clear()
		t.pool.Put(r)
	}
}

// Called is called when a callback is about to run in a client; without a source the client has posted it.
func (t *Tracer) Called(method string, from *trace.Source, client event.ClientID) {
	r := &trace.Callback{Method: method}
	if from != nil {
		r.Origin = from.Origin
	}
	r.Origin.Client = client
	t.serial.Lock()
	defer t.serial.Unlock()
	r.Start = t.next()
	t.rec.Called(r)
}

// Dropped is called when a callback does not run, as the session with the home of its event has ended. The event may have committed, or not. t may be nil.
func (t *Tracer) Dropped() {
	if t != nil {
		t.rec.Dropped()
	}
}

// Gone is called when a client is going. t may be nil.
func (t *Tracer) Gone(client event.ClientID) {
	if t == nil {
		return
	}
	t.serial.Lock()
	defer t.serial.Unlock()
	t.rec.Gone(client)
}
