package exec

import (
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/store"
)

// The protocol core, on the node's own pointers: nothing is looked up.
type (
	queue  = lock.Queue[*Attempt, *Handle]
	effect = lock.Effect[*Attempt, *Handle]
	home   = lock.Home[*Attempt, *Handle]
	lockID = lock.ID[*Attempt]
)

// States of a handle; bits of Handle.state.
const (
	created  uint32 = 1 << iota // the constructor has committed
	deleted                     // a delete has committed; final
	fresh                       // created by an event that has not ended, and alone knows it
	dying                       // deleted by the event that holds it for writing
	virtual                     // no actor: TOP or the node of a partition
	unloaded                    // its state lies in the store alone
	detached                    // all of it lies in the store alone: nothing but its id is known (attach.go)
	leaving                     // it will be detached unless an event looks at it (detach.go)

	away = detached | leaving // to be attached before anything but its id is used

	unborn uint32 = 0 // named, and not constructed yet
)

// Handle is what the runtime keeps of one actor: its place in the ownership
// graph and the sequencing tree, its lock, its state. There is one per actor
// and process, so that references are pointers to it.
type Handle struct {
	node dominator.Node // Invariant: first, so that a handle is found from its node

	// What every event changes comes first, apart from what every event reads.
	latch  latch  // guards queue and what is in it, and has the holds that need no queue
	layout uint32 // that the actor was created with; of a system with a store
	queue  *queue // nil while guests alone hold the actor, and none waits

	host  *host   // of a system with a store; else nil
	named *naming // of a named actor; else nil
	id    event.ActorID
	shape *Shape
	// obj is the actor's state, nil before it is constructed. Like everything in
	// it, it is guarded by the actor's lock.
	obj Object

	state   atomic.Uint32
	marks   atomic.Uint32        // see has
	kept    atomic.Pointer[keep] // the chain that alone may touch the actor, and changes this
	lastPos store.Position       // of the last write; guarded by the actor's lock
}

// naming is the name of an actor, and how many actors that were deleted have had it before;
// these are counted in systems with a store only.
type naming struct {
	name        string
	incarnation uint32
}

// Marks of a handle; bits of Handle.marks.
const (
	markTimed   uint32 = 1 << iota // the actor has a timer; changed under the mutex of timers
	markWide                       // a hint: readers have found that it reaches too much to share
	markUsed                       // since the evictor came by (passivate.go); of a system with a store
	markPartial                    // not all that it owns is in the graph; of a system with a store
	markListed                     // the registry is told when the collector takes it; guarded by the registry
)

func (h *Handle) has(mark uint32) bool { return h.marks.Load()&mark != 0 }

// mark sets a mark or takes it away.
func (h *Handle) mark(mark uint32, on bool) {
	switch {
	case h.has(mark) == on:
	case on:
		h.marks.Or(mark)
	default:
		h.marks.And(^mark)
	}
}

func (h *Handle) is(bits uint32) bool { return h.state.Load()&bits != 0 }

func (h *Handle) set(bits uint32) {
	for {
		old := h.state.Load()
		if h.state.CompareAndSwap(old, old|bits) {
			return
		}
	}
}

func (h *Handle) unset(bits uint32) {
	for {
		old := h.state.Load()
		if h.state.CompareAndSwap(old, old&^bits) {
			return
		}
	}
}

// String names the actor to the log: Class("name"), or Class(id) if it has no name.
func (h *Handle) String() string {
	switch {
	case h == nil:
		return "null"
	case h.is(virtual):
		return "virtual(" + h.id.String() + ")"
	case h.is(detached), h.shape == nil:
		return "actor(" + h.id.String() + ")"
	case h.named != nil:
		return h.label()
	}
	return h.shape.Name + "(" + h.id.String() + ")"
}

// label names the actor to the program: Class("name"), or Class alone if it has no name.
// Ids belong to the log: they differ from run to run, and nothing that a program can see
// may depend on the schedule.
func (h *Handle) label() string {
	if h.is(detached) && h.host.attach(h) != nil {
		return "actor" // the process is ending
	}
	switch {
	case h.shape == nil: // it was deleted in an earlier run
		return "actor"
	case h.named == nil:
		return h.shape.Name
	}
	return h.shape.Name + "(" + strconv.Quote(h.named.name) + ")"
}

// locked returns the handle's queue, taken from the pool if need be, which has seen
// the guests. Caller holds the latch.
func (h *Handle) locked() *queue {
	if h.queue == nil {
		h.queue = queuePool.Get().(*queue)
		h.queue.Reset(h)
	}
	h.queue.See(h.latch.load())
	return h.queue
}

// lockedBy is locked for the goroutine of a, which keeps a few idle queues: most
// events give back as many as they take.
func (h *Handle) lockedBy(a *Attempt) *queue {
	if n := len(a.spare); h.queue == nil && n > 0 {
		h.queue = a.spare[n-1]
		a.spare = a.spare[:n-1]
		h.queue.Reset(h)
	}
	return h.locked()
}

// busy reports whether an attempt holds h, or waits for it.
func (h *Handle) busy() bool { return h.latch.load() != 0 }

// seize holds h for writing without an attempt, unless an event holds it or waits for it.
func (h *Handle) seize() bool { return h.latch.join(lock.Write, nil, 0) }

// free ends the hold of seize.
func (h *Handle) free(s *host) {
	if h.latch.leave(lock.Write, nil) {
		h.latch.Lock()
		h.unlatch(s)
	}
}

// unlatch gives an idle queue back and releases the latch.
func (h *Handle) unlatch(s *host) {
	if q := h.reopen(s); q != nil {
		queuePool.Put(q)
	}
}

// unlatchBy is unlatch for the goroutine of a.
func (h *Handle) unlatchBy(a *Attempt) {
	switch q := h.reopen(a.host); {
	case q == nil:
	case len(a.spare) < cap(a.spare):
		a.spare = append(a.spare, q)
	default:
		queuePool.Put(q)
	}
}

// reopen sets the gate as the queue demands and releases the latch; it returns the
// queue if it has become idle. Whom the guests that have gone meanwhile kept waiting
// goes on here.
func (h *Handle) reopen(s *host) (idle *queue) {
	for {
		w := h.latch.load()
		if h.queue != nil && h.queue.Idle() {
			idle, h.queue = h.queue, nil
		}
		if h.queue == nil {
			if h.latch.swap(w, w.Free()) {
				return idle
			}
			continue
		}
		next, ok := h.queue.Gate(w)
		if !ok {
			h.admit(s, w)
		} else if h.latch.swap(w, next) {
			return nil
		}
	}
}

// admit lets those go on that waited for guests which have left h. Caller holds the latch.
func (h *Handle) admit(s *host, w lock.Word) {
	d := takeDriver(s)
	d.out = h.queue.Left(s.view, w, d.out)
	d.execute(h, 0)
	d.finish()
}

var queuePool = sync.Pool{New: func() any { return new(queue) }}

// handleOf returns the handle that node n is part of.
func (s *host) handleOf(n *dominator.Node) *Handle {
	if n == nil {
		return nil
	}
	if n == s.graph.TOP() {
		return s.top
	}
	return (*Handle)(unsafe.Pointer(n))
}

// nodeOf is the inverse of handleOf.
func (s *host) nodeOf(h *Handle) *dominator.Node {
	if h == s.top {
		return s.graph.TOP()
	}
	return &h.node
}

// parentOf returns h's parent in the sequencing tree.
func (s *host) parentOf(h *Handle) *Handle {
	return s.handleOf(s.graph.Parent(s.nodeOf(h)))
}

// childTowards returns the T-child of x that is y or above it, nil if y is not
// strictly below x.
func (s *host) childTowards(x, y *Handle) *Handle {
	return s.handleOf(s.graph.Child(s.nodeOf(x), s.nodeOf(y)))
}

// rootOf returns the T-ancestor-or-self of h that hangs below a virtual node: a
// partition, or TOP where the owners are in several partitions.
func (s *host) rootOf(h *Handle) *Handle {
	for {
		p := s.parentOf(h)
		if p == nil || p.is(virtual) {
			return h
		}
		r := s.childTowards(s.top, h)
		if r != nil && r.is(virtual) {
			r = s.childTowards(r, h)
		}
		if r != nil {
			return r
		}
		h = p // a move in T interferes: from one further up
	}
}

func (s *host) above(x, y *Handle) bool {
	return s.graph.IsAncestor(s.nodeOf(x), s.nodeOf(y))
}
