package history

import (
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// A trace goes on from run to run of a store (docs/trace.md, Restarts). What was recorded
// before a crash tells which events may have been lost; the store tells which of them were. So
// the record of an event is written before its batch may survive the process, and the batch tells the event's
// place in the order. Actors keep their versions in rows of their own. Where the engine says when batches may
// survive, the records of a group are written before the group; else each is written before its batch is appended.
//
// No answer is recorded that a crash may take back. Events that no client awaits do not wait for the disk: their
// ends are recorded later, when what they have seen is durable.

// ticksLost is more than the ticks that a run can have counted after the last commit that has
// survived: what was answered, or only read, in the meantime.
const ticksLost = 1 << 32

// ticksShift is the bit at which the number of the run begins in its ticks. So ticks ascend also across runs of which
// the store tells nothing, as they have only read, or were killed before anything was in the store.
const ticksShift = 40

// Resume goes on with the history of the runs before. It is called before the first event: ticks ascend.
func (t *Tracer) Resume(s *state.State) {
	t.state, t.actors.earlier = s, t.stored
	if g, ok := t.rec.(trace.Grouping); ok && s.Store.BeforeWrite(g.Flush) {
		g.Group()
	}
	t.traced, _ = lastTraced(s.Store) // after an error the store keeps nothing that this run does
	if t.traced.Order == 0 {
		t.traced.Epoch = s.Store.Starts()
	}
	first := max(t.traced.Order+ticksLost, int64(s.Store.Starts())<<ticksShift)
	if t.now != nil {
		first = max(t.traced.Order+1, t.now()) // what has survived comes before, however far the clocks are apart
	}
	// Invariant: the ticks of a run are larger than all that an earlier run has left in the store.
	assert.That(t.tick.Load() == 0 && first > t.traced.Order, "history: ticks do not ascend from run to run")
	t.tick.Store(first)
}

// Header adds to the header of a trace which store it is of, which start of that, and what has survived of the starts before.
func Header(h trace.Header, s *store.Store) (trace.Header, error) {
	h.Store, h.Run = s.Identity().Store, s.Starts()
	last, err := LastTraced(s)
	if last > 0 {
		h.Recovered = &last
	}
	return h, err
}

// Recovered returns the order of the last event of earlier runs that has left something
// in the store, 0 if none was traced, and without a tracer.
func (t *Tracer) Recovered() int64 {
	if t == nil {
		return 0
	}
	return t.traced.Order
}

// Untraced notes in a store that this run is not traced: the next traced run begins a new history.
func Untraced(s *store.Store) {
	if last, _ := LastTraced(s); last > 0 {
		b := s.NewBatch()
		b.Delete(row.TracedKey())
		s.Append(b)
	}
}

// LastTraced returns the order of the last traced event that is in a store, 0 if there is none,
// or if there was a run since that was not traced.
func LastTraced(s *store.Store) (order int64, err error) {
	x, err := lastTraced(s)
	return x.Order, err
}

// lastTraced is LastTraced with the epoch. A row that cannot be read is the end of the store.
func lastTraced(s *store.Store) (row.Traced, error) {
	x, err := row.GetTraced(s)
	if err != nil {
		s.Fail(err)
		return row.Traced{}, err
	}
	return x, nil
}

// stored returns what earlier runs have left of an actor, nothing if they belong to another history.
func (t *Tracer) stored(id event.ActorID) row.Version {
	v, err := row.GetVersion(t.state.Store, id)
	if err != nil {
		t.state.Store.Fail(err)
	}
	if err != nil || v.Epoch != t.traced.Epoch {
		return row.Version{}
	}
	return v
}

// mark adds to the batch of an event what the next run needs to go on with the history.
func (t *Tracer) mark(r *Record, w *row.Writer) {
	for i := range r.Writes {
		a := &r.Writes[i]
		v := row.Version{Epoch: t.traced.Epoch, Version: a.Version}
		if a.Deleted { // all else of it goes
			v.Label = a.Label
		}
		w.Key = row.AppendVersionKey(w.Key[:0], a.Actor)
		w.Begin()
		w.Row = v.Append(w.Row)
		w.Set()
	}
	t.markOrder(r, w)
}

// markOrder adds to a batch which record is written before it.
func (t *Tracer) markOrder(r *Record, w *row.Writer) {
	w.Key = append(w.Key[:0], tracedKey...)
	w.Begin()
	w.Row = row.Traced{Order: r.Order, Epoch: t.traced.Epoch}.Append(w.Row)
	w.Set()
}

var tracedKey = row.TracedKey()

// unanswered are events that have ended, whose answers are recorded later.
type unanswered struct {
	sync.Mutex
	list []unansweredEvent // in the order of their ends, more or less
}

type unansweredEvent struct {
	r   *Record
	pos store.Position
}

// answeredDurable is Answered in a system with a store. It also tells of earlier events that are durable by now.
func (t *Tracer) answeredDurable(r *Record, pos store.Position) {
	// A store that has failed may be that of another node by now: then what the event has seen was not answered, durable or not.
	now := t.state.Journal.Durable(pos) && t.state.Store.Err() == nil
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
func (t *Tracer) tellDurable() {
	u := &t.unanswered
	n := 0
	for n < len(u.list) && t.state.Store.Err() == nil && t.state.Journal.Durable(u.list[n].pos) {
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

// Close tells of the ends that wait for the disk, unless the disk fails first. No event runs any more. It is for systems
// with a store.
func (t *Tracer) Close() {
	u := &t.unanswered
	u.Lock()
	defer u.Unlock()
	for _, e := range u.list {
		if t.state.Wait(e.pos) != nil {
			return
		}
	}
	t.tellDurable()
}
