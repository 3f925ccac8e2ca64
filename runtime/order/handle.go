package order

import (
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/latch"
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
	Created   uint32 = 1 << iota // the constructor has committed
	Deleted                      // a delete has committed; final
	Fresh                        // created by an event that has not ended, and alone knows it
	Dying                        // deleted by the event that holds it for writing
	Virtual                      // no actor: TOP or the node of a partition
	Unloaded                     // its state lies in the store alone
	Detached                     // all of it lies in the store alone: nothing but its id is known (runtime/state/attach.go)
	Leaving                      // it will be detached unless an event looks at it (runtime/state/detach.go)
	Elsewhere                    // a stub: the actor is in another store
	Announced                    // Fresh, and other events may ask for it, and wait for its creator: see Announce
	Labelled                     // Elsewhere, and its label is known

	Away = Detached | Leaving | Elsewhere // to be attached, or asked for elsewhere, before anything but its id is used

	Unborn uint32 = 0 // named, and not constructed yet
)

// Handle is what the runtime keeps of one actor: its place in the ownership
// graph and the sequencing tree, its lock, its state. There is one per actor
// and process, so that references are pointers to it.
type Handle struct {
	Node dominator.Node // Invariant: first, so that a handle is found from its node

	// What every event changes comes first, apart from what every event reads.
	latch  latch.Latch // guards queue and what is in it, and has the holds that need no queue
	Layout uint32      // that the actor was created with; of a system with a store
	queue  *queue      // nil while fast-path holders alone hold the actor, and no event waits

	Host  *Host   // of a system with a store; else nil
	Named *Naming // of a named actor; of one that is Labelled, its label; else nil
	ID    event.ActorID
	Shape *Shape
	// Object is the actor's state, nil before it is constructed. Like everything in it, it is guarded by the actor's lock.
	Object Object

	State   atomic.Uint32
	marks   atomic.Uint32        // see has
	kept    atomic.Pointer[Keep] // the chain that alone may touch the actor, and changes this
	LastPos store.Position       // of the last write; guarded by the actor's lock
}

// Naming is the name of an actor, and how many actors that were deleted have had it before.
type Naming struct {
	Name        string
	Incarnation uint32
}

// Marks of a handle; bits of Handle.marks.
const (
	MarkTimed   uint32 = 1 << iota // the actor has a timer; changed under the mutex of timers
	MarkWide                       // a hint: readers have found that it reaches too much to share
	MarkUsed                       // since the evictor came by (package state); of a system with a store
	MarkPartial                    // not all that it owns is in the graph; of a system with a store
	MarkGoes                       // events on it have met others in other stores of late: see hint.go
	MarkListed                     // the registry is told when the collector takes it; guarded by the registry
)

// IsPrivate reports whether h is Fresh and was not announced: only the event that has created it knows it.
func (h *Handle) IsPrivate() bool { return h.State.Load()&(Fresh|Announced) == Fresh }

// Has reports whether h has a mark.
func (h *Handle) Has(mark uint32) bool { return h.marks.Load()&mark != 0 }

// Mark sets a mark or takes it away.
func (h *Handle) Mark(mark uint32, on bool) {
	switch {
	case h.Has(mark) == on:
	case on:
		h.marks.Or(mark)
	default:
		h.marks.And(^mark)
	}
}

// Is reports whether any of the bits of State are set.
func (h *Handle) Is(bits uint32) bool { return h.State.Load()&bits != 0 }

// Set sets bits of State.
func (h *Handle) Set(bits uint32) {
	for {
		old := h.State.Load()
		if h.State.CompareAndSwap(old, old|bits) {
			return
		}
	}
}

// Unset takes bits of State away.
func (h *Handle) Unset(bits uint32) {
	for {
		old := h.State.Load()
		if h.State.CompareAndSwap(old, old&^bits) {
			return
		}
	}
}

// String names the actor to the log: Class("name"), or Class(id) if it has no name.
func (h *Handle) String() string {
	switch {
	case h == nil:
		return "null"
	case h.Is(Virtual):
		return "virtual(" + h.ID.String() + ")"
	case h.Is(Detached | Elsewhere), h.Shape == nil:
		return "actor(" + h.ID.String() + ")"
	case h.Named != nil:
		return h.Label()
	}
	return h.Shape.Name + "(" + h.ID.String() + ")"
}

// Label names the actor to the program: Class("name"), or Class alone if it has no name.
// Ids belong to the log: they differ from run to run, and nothing that a program can see
// may depend on the schedule. It waits for the store of the actor unless HasLabel.
func (h *Handle) Label() string {
	if h.Is(Elsewhere) {
		if !h.Is(Labelled) {
			return h.Host.ordering.Label(h.ID)
		}
		return h.Named.Name
	}
	if h.Is(Detached) && h.Host.Attach(h) != nil {
		return "actor" // the process is ending
	}
	switch {
	case h.Shape == nil: // it was deleted in an earlier run
		return "actor"
	case h.Named == nil:
		return h.Shape.Name
	}
	return h.Shape.Name + "(" + strconv.Quote(h.Named.Name) + ")"
}

// HasLabel reports whether Label asks no other store.
func (h *Handle) HasLabel() bool { return h.State.Load()&(Elsewhere|Labelled) != Elsewhere }

// SetLabel notes the label of an actor of another store, which never changes.
func (h *Handle) SetLabel(label string) {
	h.Host.labelling.Lock()
	defer h.Host.labelling.Unlock()
	if !h.Is(Labelled) {
		h.Named = &Naming{Name: label}
		h.Set(Labelled) // after Named: it is read without the mutex
	}
}

// locked returns the handle's queue, taken from the pool if need be, which has seen the fast-path holders. Caller holds the latch.
func (h *Handle) locked() *queue {
	if h.queue == nil {
		h.queue = queuePool.Get().(*queue)
		h.queue.Reset(h)
	}
	h.queue.See(h.latch.Load())
	return h.queue
}

// lockedBy is locked for the goroutine of a, which keeps a few idle queues: most events give back as many as they take.
func (h *Handle) lockedBy(a *Attempt) *queue {
	if n := len(a.spare); h.queue == nil && n > 0 {
		h.queue = a.spare[n-1]
		a.spare = a.spare[:n-1]
		h.queue.Reset(h)
	}
	return h.locked()
}

// Busy reports whether an attempt holds h, or waits for it.
func (h *Handle) Busy() bool { return h.latch.Load() != 0 }

// SpreadReaders has the readers of h be visible ones, as when they have been in each other's way. It is for tests.
func (h *Handle) SpreadReaders() { h.latch.Spread() }

// Bury makes the deletion of h known, and drops its state, as others may refer to h for ever. The caller holds h for writing.
func (h *Handle) Bury() {
	h.Object = nil // first: what finds without a lock that h is deleted may look for the state
	h.Set(Deleted)
}

// Seize holds h for writing without an attempt, unless an event holds it or waits for it.
func (h *Handle) Seize() bool { return h.latch.Join(lock.Write, 0, 0) }

// Free ends the hold of Seize.
func (h *Handle) Free(s *Host) {
	if h.latch.Leave(lock.Write, 0) {
		h.latch.Lock()
		h.unlatch(s)
	}
}

// unlatch gives an idle queue back and releases the latch.
func (h *Handle) unlatch(s *Host) {
	if q := h.reopen(s); q != nil {
		queuePool.Put(q)
	}
}

// unlatchBy is unlatch for the goroutine of a.
func (h *Handle) unlatchBy(a *Attempt) {
	switch q := h.reopen(a.Host); {
	case q == nil:
	case len(a.spare) < cap(a.spare):
		a.spare = append(a.spare, q)
	default:
		queuePool.Put(q)
	}
}

// reopen sets the gate as the queue demands and releases the latch; it returns the
// queue if it has become idle. What waited for fast-path holders that have left meanwhile
// goes on here.
func (h *Handle) reopen(s *Host) (idle *queue) {
	for {
		w := h.latch.Load()
		if h.queue != nil && h.queue.Idle() {
			idle, h.queue = h.queue, nil
		}
		if h.queue == nil {
			if h.latch.Swap(w, w.Free()) {
				return idle
			}
			continue
		}
		next, ok := h.queue.Gate(w)
		if !ok {
			h.admit(s, w)
		} else if h.latch.Swap(w, next) {
			return nil
		}
	}
}

// admit lets the events go on that waited for fast-path holders which have left h. Caller holds the latch.
func (h *Handle) admit(s *Host, w lock.Word) {
	d := takeDriver(s)
	d.out = h.queue.Left(s.view, w, d.out)
	d.execute(h, 0)
	d.finish()
}

var queuePool = sync.Pool{New: func() any { return new(queue) }}

// HandleOf returns the handle that node n is part of.
func (s *Host) HandleOf(n *dominator.Node) *Handle {
	if n == nil {
		return nil
	}
	if n == s.Graph.TOP() {
		return s.Top
	}
	return (*Handle)(unsafe.Pointer(n))
}

// NodeOf is the inverse of HandleOf.
func (s *Host) NodeOf(h *Handle) *dominator.Node {
	if h == s.Top {
		return s.Graph.TOP()
	}
	return &h.Node
}

// ParentOf returns h's parent in the sequencing tree.
func (s *Host) ParentOf(h *Handle) *Handle {
	return s.HandleOf(s.Graph.Parent(s.NodeOf(h)))
}

// childTowards returns the T-child of x that is y or above it, nil if y is not strictly below x.
func (s *Host) childTowards(x, y *Handle) *Handle {
	return s.HandleOf(s.Graph.Child(s.NodeOf(x), s.NodeOf(y)))
}

// rootOf returns the T-ancestor-or-self of h that hangs below a virtual node: a partition, or TOP where the owners are in several partitions.
func (s *Host) rootOf(h *Handle) *Handle {
	for {
		p := s.ParentOf(h)
		if p == nil || p.Is(Virtual) {
			return h
		}
		r := s.childTowards(s.Top, h)
		if r != nil && r.Is(Virtual) {
			r = s.childTowards(r, h)
		}
		if r != nil {
			return r
		}
		h = p // a move in T interferes: from one further up
	}
}

func (s *Host) above(x, y *Handle) bool {
	return s.Graph.IsAncestor(s.NodeOf(x), s.NodeOf(y))
}

// Stored notes that a change of the actor has its place in the journal. The caller holds the actor.
func (h *Handle) Stored(pos store.Position) {
	// Invariant: writers of an actor follow each other in the journal as under its lock. Else an answer would not wait for
	// all that it has seen.
	if pos < h.LastPos {
		assert.Unreachable("order: a change of %v has position %d, and the one before has %d", h.ID, pos, h.LastPos)
	}
	h.LastPos = pos
}
