package exec

import (
	"encoding/binary"
	"sync"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// A trace goes on from run to run of a store (docs/trace.md, Restarts): what was recorded
// before a crash tells which events may have been lost, and the store which of them were. So
// the record of an event is written before its batch may survive the process, and the batch tells its
// place in the order; actors keep their versions in rows of their own. Where the engine says when batches may
// survive, the records of a group are written before the group; else each before its batch is appended.
//
// No answer is recorded that a crash may take back. Events that no client awaits do not wait for the disk: that
// they have ended is recorded later, when what they have seen is durable.

// unanswered are events that have ended, whose answers are recorded later.
type unanswered struct {
	sync.Mutex
	list []unansweredEvent // in the order of their ends, more or less
}

type unansweredEvent struct {
	r   *tracedEvent
	pos store.Position
}

// answeredDurable is answered in a system with a store, which also tells of events before whose time has come.
func (t *tracer) answeredDurable(r *tracedEvent, pos store.Position) {
	now := t.durable.Journal.Durable(pos)
	if now {
		t.tell(r)
	}
	u := &t.unanswered
	u.Lock()
	defer u.Unlock()
	if !now {
		u.list = append(u.list, unansweredEvent{r, pos})
	}
	t.tellDurable()
}

// tellDurable tells of the events that are durable, up to the first that is not. Caller holds unanswered.
func (t *tracer) tellDurable() {
	u := &t.unanswered
	n := 0
	for n < len(u.list) && t.durable.Journal.Durable(u.list[n].pos) {
		t.tell(u.list[n].r)
		n++
	}
	if n == len(u.list) {
		clear(u.list)
		u.list = u.list[:0]
		return
	}
	clear(u.list[:n])
	u.list = u.list[n:]
}

// close tells of the rest, if it becomes durable. No event runs any more.
func (t *tracer) close() {
	u := &t.unanswered
	u.Lock()
	defer u.Unlock()
	for _, e := range u.list {
		if t.durable.Wait(e.pos) != nil {
			return
		}
	}
	t.tellDurable()
}

// traceKey is the row that holds the order of the last event that is in the store.
var traceKey = store.MetaKey("trace")

// versionField is the number of the row that holds an actor's version, behind all fields.
const versionField = 1<<16 - 1

// mark adds to the batch what the next run needs to go on with the trace.
func (t *tracer) mark(ev *Event, w *preparation) {
	r := ev.traced
	for i := range r.Writes {
		a := &r.Writes[i]
		w.Key = store.AppendField(w.Key[:0], a.Actor, versionField)
		w.Begin()
		w.Row = binary.AppendUvarint(binary.AppendUvarint(w.Row, t.durable.epoch), a.Version)
		if a.Deleted { // all else of it goes
			w.Row = append(w.Row, a.Label...)
		}
		w.Set()
	}
	w.Key = append(w.Key[:0], traceKey...)
	w.Begin()
	w.Row = binary.AppendUvarint(binary.AppendVarint(w.Row, r.Order), t.durable.epoch)
	w.Set()
}

// committedDurable is committed in a system with a store.
func (t *tracer) committedDurable(ev *Event, next *follow) {
	r, w := ev.traced, ev.prep
	t.writes(ev)
	ev.decisionRows(w)
	t.prepare(ev)
	t.serial.Lock()
	defer t.serial.Unlock()
	r.Order = t.tick.Add(1)
	t.issues(r, ev.root.ops)
	if r.Batch = !w.Empty(); r.Batch {
		t.mark(ev, w)
	}
	t.rec.Ended(&r.Event)
	ev.decided(w)
	ev.publish(next)
}

// undoneDurable is undone in a system with a store.
func (t *tracer) undoneDurable(ev *Event, err error) {
	r, w := ev.traced, ev.prep
	r.Err = err
	t.prepare(ev)
	t.serial.Lock()
	defer t.serial.Unlock()
	r.Order = t.tick.Add(1)
	if r.Batch = !w.Empty(); r.Batch {
		t.mark(ev, w)
	}
	t.rec.Ended(&r.Event)
	ev.appendBatch(w)
}

// resume goes on with the trace of the runs before: ticks ascend.
func (t *tracer) resume(d *durable) {
	t.durable = d
	if g, ok := t.rec.(trace.Grouping); ok && d.Store.BeforeWrite(g.Flush) {
		g.Group()
	}
	d.recovered, d.epoch, _ = lastTraced(d.Store)
	if d.recovered == 0 {
		d.epoch = d.Store.Starts()
	}
	t.tick.Store(max(d.recovered+ticksLost, int64(d.Store.Starts())<<ticksShift))
}

// untraced notes that this run is not recorded: a trace that goes on after it begins anew.
func (d *durable) untraced() {
	if last, _, _ := lastTraced(d.Store); last > 0 {
		b := d.Store.NewBatch()
		b.Delete(traceKey)
		d.Store.Append(b)
	}
}

// LastTraced returns the order of the last traced event that is in a store, 0 if there is none,
// or if there was a run since that was not traced.
func LastTraced(s *store.Store) (int64, error) {
	order, _, err := lastTraced(s)
	return order, err
}

// lastTraced returns the epoch, too: the number of the run with which the trace began. Versions
// of another epoch mean nothing.
func lastTraced(s *store.Store) (order int64, epoch uint64, err error) {
	row, ok, err := s.Get(traceKey, nil)
	if err != nil || !ok {
		return 0, 0, err
	}
	payload, err := store.Payload(traceKey, row)
	if err != nil {
		s.Fail(err)
		return 0, 0, err
	}
	order, n := binary.Varint(payload)
	epoch, _ = binary.Uvarint(payload[max(n, 0):])
	return order, epoch, nil
}

// ticksLost is more than the ticks that a run can have counted after the last commit that has
// survived: what was answered, or only read, in the meantime.
const ticksLost = 1 << 32

// ticksShift is where the number of the run stands in its ticks: they ascend also across runs that have
// only read, or been killed before anything was in the store, of which the store tells nothing.
const ticksShift = 40

// Recovered returns the order of the last event of earlier runs that has left something
// in the store, 0 if none was traced.
func (s *System) Recovered() int64 {
	if s.durable == nil {
		return 0
	}
	return s.durable.recovered
}

// traced returns the version of an actor of earlier runs, and its label if it was deleted.
func (d *durable) traced(id event.ActorID) (version uint64, label string) {
	key := store.AppendField(nil, id, versionField)
	row, ok, err := d.Store.Get(key, nil)
	if err != nil || !ok {
		return 0, ""
	}
	payload, err := store.Payload(key, row)
	if err != nil {
		d.Store.Fail(err)
		return 0, ""
	}
	epoch, n := binary.Uvarint(payload)
	if epoch != d.epoch {
		return 0, ""
	}
	payload = payload[max(n, 0):]
	version, n = binary.Uvarint(payload)
	return version, string(payload[max(n, 0):])
}

// restored returns the origin of a sub-event or a timer that an event of an earlier run has
// issued.
func (s *System) restored(kind trace.Kind, parent event.EventID, issuer *order.Handle, index int) *origin {
	if s.tracer == nil {
		return nil
	}
	return &origin{Origin: trace.Origin{Kind: kind, Parent: parent, Issuer: s.tracer.label(issuer), Index: index}}
}
