package order

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Keep is an actor that a chain keeps between two steps, both of this actor.
type Keep struct {
	first event.EventID // of the chain
	h     *Handle
	left  atomic.Bool
	// closed: the next step is left to the next opening of the store. The actor stays kept, and an event that needs it is not performed now.
	closed atomic.Bool
	mu     struct {
		sync.Mutex // taken after those of events
		waiting    []*Attempt
		gone       chan struct{} // closed when the keeping is over; nil: nothing waits for that but attempts
	}
}

// KeepFor has the chain that begins with event first keep h, which its step holds for writing.
func (h *Handle) KeepFor(first event.EventID) *Keep {
	// Invariant: one chain at a time keeps an actor.
	assert.That(!h.IsKept(), "order: two chains keep %v", h)
	k := &Keep{first: first, h: h}
	h.kept.Store(k)
	return k
}

// IsKept reports whether a chain keeps h.
func (h *Handle) IsKept() bool { return h.kept.Load() != nil }

// WaitingForChain returns how many attempts wait for the chain that keeps h.
func (h *Handle) WaitingForChain() int {
	k := h.kept.Load()
	if k == nil {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.mu.waiting)
}

// Leave ends the keeping.
func (k *Keep) Leave() {
	assert.That(k.h.kept.Load() == k, "order: a chain leaves %v, which it does not keep", k.h)
	k.h.kept.Store(nil)
	k.over(&k.left)
}

// Close leaves the next step of the chain to the next opening of the store: the actor stays kept.
func (k *Keep) Close() { k.over(&k.closed) }

// over tells the waiting attempts how the keeping has ended.
func (k *Keep) over(how *atomic.Bool) {
	k.mu.Lock()
	how.Store(true)
	waiting := k.mu.waiting
	k.mu.waiting = nil
	if k.mu.gone != nil {
		close(k.mu.gone)
		k.mu.gone = nil
	}
	k.mu.Unlock()
	for _, a := range waiting {
		a.mu.Lock()
		a.news.Broadcast()
		a.mu.Unlock()
	}
}

// Actor returns the actor that is kept.
func (k *Keep) Actor() event.ActorID { return k.h.ID }

// Gone returns a channel that is closed when no chain keeps h, or the one that does goes on only when the store is opened again; nil: it is so now.
func (h *Handle) Gone() <-chan struct{} {
	k := h.kept.Load()
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left.Load() || k.closed.Load() {
		return nil
	}
	if k.mu.gone == nil {
		k.mu.gone = make(chan struct{})
	}
	return k.mu.gone
}

// Await returns when the chain has left the actor, or a was cancelled. It returns ErrKept if the chain does not go on before
// the store is opened again. The event holds no lock. k may be nil.
func (k *Keep) Await(a *Attempt) error {
	if k == nil {
		return nil
	}
	if a.presence != nil { // a step of the chain may wait for hours, for a store that is away
		a.End()
		defer a.Begin()
	}
	a.Cancellation.waits(a)
	defer a.Cancellation.waited()
	a.mu.Lock()
	defer a.mu.Unlock()
	k.mu.Lock()
	if !k.left.Load() && !k.closed.Load() {
		k.mu.waiting = append(k.mu.waiting, a)
	}
	k.mu.Unlock()
	a.awaits = k
	a.Host.parked.add(a)
	for !k.left.Load() && !k.closed.Load() && !a.Cancelled() {
		a.news.Wait()
	}
	a.Host.parked.remove(a)
	a.awaits = nil
	k.mu.Lock()
	if i := slices.Index(k.mu.waiting, a); i >= 0 { // it was cancelled
		k.mu.waiting = slices.Delete(k.mu.waiting, i, i+1)
	}
	k.mu.Unlock()
	if k.closed.Load() && !a.Cancelled() {
		return ErrKept
	}
	return nil
}

// keptFrom returns what keeps h from the event, nil if nothing does.
func (a *Attempt) keptFrom(h *Handle) *Keep {
	if k := h.kept.Load(); k != nil && k != a.Keeps {
		return k
	}
	return nil
}

// Respect ends the attempt if h, which it holds, is kept by a chain that the event is no step of.
func (a *Attempt) Respect(h *Handle) {
	if k := a.keptFrom(h); k != nil {
		panic(Withdrawal{Kept: k})
	}
}
