package activation

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/history"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/value"
)

// System is what code of events uses of the system that it runs in. It is complete before the first event.
type System struct {
	Host      *order.Host
	Workers   *sched.Workers
	Scheduler *sched.Scheduler // nil unless the system is scheduled
	Clock     sched.Clock
	Log       *slog.Logger
	IDs       *event.Serials
	State     *state.State    // nil: everything is gone with the process
	Tracer    *history.Tracer // traced systems only

	DepthMax int    // of calls in one branch
	FuelMax  int64  // of one branch
	Seed     uint64 // goes into all random numbers

	// Abandon ends an event whose goroutine is going away, with its run and its failure.
	Abandon func(*Run, *event.AbortError)

	// Systems among several only.
	Across     *across.Store
	Dying      *state.Dying // by what is prepared here
	carefully  carefully
	Spread     bool                                                // new actors go to any partition
	Methods    Methods                                             // as other stores name them
	References any                                                 // resolves those in arguments and results; see package codec
	ReadLine   func(*across.Line) (Receiver, Callback, order.Args) // the callback that a line describes
}

// nanos returns the time of spans, in nanoseconds since 1970.
func (s *System) nanos() int64 { return s.Clock.Now().UnixNano() }

// Run is an Attempt, and what code has done under its locks: the root branch, and what all branches share. It is a part of a
// pooled event, and is used by one attempt after the other.
type Run struct {
	order.Attempt
	Root   Activation
	Birth  event.PartitionID    // of the actor that a client's new creates
	Traced *history.Record      // traced systems only
	wide   atomic.Pointer[Wide] // see Wide
	sys    *System
	now    int64 // time of the event, 0 if not asked for yet
	forked bool  // it has branches, or has had some
	inTurn bool  // its async calls are made one after the other, in all attempts that follow: see constructsBeside

	branches    sync.Mutex        // guards which have ended, and confined; taken before the mutex of the attempt
	branchEnded sched.Cond        // on branches
	confined    confined          // of an attempt of one of several systems
	serials     event.SerialBlock // ids for new actors, kept by the pooled object
}

// Open is called once, when the object that is pooled is made.
func (r *Run) Open(host *order.Host, scheduler *sched.Scheduler) {
	r.Attempt.Open(host)
	r.branchEnded.Init(&r.branches, scheduler)
	r.Root.Run, r.Root.log.Edges = r, &r.Root
}

// Use says in which system the event runs.
func (r *Run) Use(s *System) {
	r.sys, r.Host, r.Root.spread = s, s.Host, s.Spread
}

// Reset makes the run as it was after Open. The event holds nothing any more.
func (r *Run) Reset() {
	r.Clear()
	r.Attempt.Reset()
	if r.sys.Across != nil {
		if r.Wide() != nil {
			r.SetWide(nil)
		}
		r.confined = confined{}
	}
	r.sys, r.inTurn = nil, false
}

// Wide returns what the run has if its attempt touches other stores, or is a part of one that does; else nil.
func (r *Run) Wide() *Wide { return r.wide.Load() }

// SetWide sets it.
func (r *Run) SetWide(w *Wide) { r.wide.Store(w) }

// Clear forgets what the code of one attempt has left.
func (r *Run) Clear() {
	r.Root.reset()
	r.now = 0
	if r.forked {
		r.forked = false
		r.confined.trusted, r.confined.left = false, false
	}
}

// Undo takes back everything that the attempt did. The event still holds its locks.
func (r *Run) Undo() {
	r.Root.log.Undo()
	for _, h := range r.Deletes {
		h.Unset(order.Dying)
	}
	for _, h := range r.Born {
		h.Object = nil
	}
	r.DropFresh()
}

// Execute runs method m of the attempt's target in the calling goroutine, all branches included.
func (r *Run) Execute(m *Method) (out Outcome) {
	cx, target := &r.Root, r.Target
	// Invariant: an attempt begins with an empty log. Its undo takes back what the attempt did, and no more.
	assert.That(len(cx.log.Entries()) == 0, "activation: an attempt begins with writes of another")
	cx.fill(r.sys.FuelMax)
	if r.Makes != nil {
		target = nil
	}
	out = cx.body(target, m, r.Args)
	if out.Kind == Withdrawn && out.Withdrawal.InTurn {
		r.inTurn = true
	}
	return out
}

// RunBlock runs the snapshot block of a class on a copy of an actor, and then what is left to do with its writes. It returns the failure of
// either; the writes are forgotten then. The run is never admitted.
func (r *Run) RunBlock(self *order.Handle, copied order.Object, then func()) (err error) {
	cx, ended := &r.Root, false
	defer cx.reset()
	defer func() {
		if ended {
			return
		}
		p := recover()
		if u, ok := p.(*value.Unreadable); ok {
			err = u.Err
			return
		}
		out, _ := cx.caught(p)
		err = out.Err
	}()
	cx.fill(r.sys.FuelMax)
	cx.push(self, nil)
	ClassOf(self.Shape).Snapshot(&cx.Cx, copied)
	then()
	ended = true
	return nil
}

// NoteRead notes that the event has reached h, if it is traced.
func (r *Run) NoteRead(h *order.Handle) {
	if r.Traced != nil {
		r.sys.Tracer.Read(r.Traced, h)
	}
}

// WritesTo tells w what the run has written, by actor and field.
func (r *Run) WritesTo(w *state.Writer) {
	entries := r.Root.UndoLog().Entries()
	for i := range entries {
		e := &entries[i]
		if h := order.HandleOf(e.Self().Ref()); h.Is(order.Dying) && r.Deleting(h) {
			continue
		}
		w.Changed(e.Self(), e.Field(), e.Record())
	}
	w.Created(&r.Attempt)
}
