package exec

import (
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/event"
)

// Access is an actor as an event found it: Version counts the events that have written it.
type Access struct {
	Actor   event.ActorID
	Version uint64
}

// Traced is what Config.Trace gets to know of an event that has ended. Start, Order and
// End are drawn from one counter: when the event was issued, when it committed (or was
// undone) with its locks still held, and when its answer left. Order is therefore the
// serial order, and extends real time.
type Traced struct {
	Event   event.EventID
	Attempt event.Attempt
	Target  event.ActorID
	Method  *Method
	Args    Args
	Err     error // nil for a commit
	Start   int64
	Order   int64
	End     int64    // set when the answer leaves, after Trace was called
	Reads   []Access // every call, with the version found
	Writes  []Access // versions after the event
}

// tracer exists in traced systems only; others pay one branch per event.
type tracer struct {
	sys  *System
	call func(*Traced)
	tick atomic.Int64
	mu   struct {
		sync.Mutex
		versions map[*Handle]uint64
	}
}

func newTracer(s *System, call func(*Traced)) *tracer {
	t := &tracer{sys: s, call: call}
	t.mu.versions = make(map[*Handle]uint64)
	return t
}

func (t *tracer) begin(ev *Event) {
	ev.traced = &Traced{Event: ev.id, Method: ev.method, Args: ev.args, Start: t.tick.Add(1)}
}

// end reports the event; it still holds its locks.
func (t *tracer) end(ev *Event, err *AbortError) {
	r := ev.traced
	r.Attempt = ev.attempt
	if ev.target != nil {
		r.Target = ev.target.id
	}
	if err != nil {
		r.Err = err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Order = t.tick.Add(1)
	for _, a := range ev.root.reads {
		r.Reads = append(r.Reads, Access{a.h.id, a.version})
	}
	if err == nil {
		written := make(map[*Handle]bool)
		write := func(h *Handle) {
			if !written[h] {
				written[h] = true
				t.mu.versions[h]++
				r.Writes = append(r.Writes, Access{h.id, t.mu.versions[h]})
			}
		}
		for i := range ev.root.log {
			write(ev.root.log[i].self.h)
		}
		for _, list := range [...][]*Handle{ev.fresh, ev.born, ev.deletes} {
			for _, h := range list {
				write(h)
			}
		}
	}
	t.call(r)
}

// read notes that the branch has reached h, in its present version.
func (t *tracer) read(cx *Cx, h *Handle) {
	t.mu.Lock()
	defer t.mu.Unlock()
	cx.reads = append(cx.reads, readNote{h, t.mu.versions[h]})
}

// readNote is an access as it happens.
type readNote struct {
	h       *Handle
	version uint64
}

func (t *tracer) reply(ev *Event) {
	if ev.traced != nil {
		ev.traced.End = t.tick.Add(1)
		ev.traced = nil
	}
}
