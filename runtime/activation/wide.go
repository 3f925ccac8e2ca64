package activation

import (
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Wide is what a run has whose attempt touches several stores.
type Wide struct {
	Try    *across.Try   // at the home of the event
	Part   *across.Part  // elsewhere
	Strict bool          // see across.Call
	Kept   event.ActorID // for which the next attempt has to wait
	Goes   bool          // a tail call follows the event, from another store
	mu     sync.Mutex    // guards Kept while branches run
}

// IsPart reports whether code runs here for an event of another store.
func (r *Run) IsPart() bool {
	w := r.Wide()
	return w != nil && w.Part != nil
}

// IndexBase returns where the numbers of the sub-events begin that the event issues here.
func (r *Run) IndexBase() int {
	if r.IsPart() {
		return (int(r.sys.Across.ID()) + 1) * event.PartIndex
	}
	return 0
}

// keptBy has the next attempt wait for the chain that keeps an actor; several branches may have met one.
func (w *Wide) keptBy(id event.ActorID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Kept = id
}

// AwaitOthers waits, between two attempts, for what the one that by has ended has met in other stores. That may take hours.
func (r *Run) AwaitOthers(by order.Withdrawal) {
	w := r.Wide()
	kept := w != nil && !w.Kept.IsNull()
	if !kept && by.Lacks == nil {
		return
	}
	r.End()
	defer r.Begin()
	if kept {
		r.sys.Across.AwaitKept(&r.Attempt, w.Kept)
		w.Kept = event.ActorID{}
	}
	if by.Lacks != nil {
		r.sys.Across.AwaitLacking(&r.Attempt, by.Lacks)
	}
}

// announce has events wait that ask for an actor which the run has created.
func (r *Run) announce(h *order.Handle) {
	r.sys.State.Announce(h)
	r.Announce(h)
}

// goOut has the attempt, which has entered in its own store alone, go to others, first of all to one. nil: it is to enter by TOP.
func (r *Run) goOut(to event.StoreID) *Wide {
	r.branches.Lock()
	defer r.branches.Unlock()
	for r.confined.going {
		r.branchEnded.Wait()
	}
	if w := r.Wide(); w != nil || !r.MayGoOut() {
		return w
	}
	r.confined.going = true
	r.branches.Unlock()
	t := r.sys.Across.GoOut(&r.Attempt, to)
	r.branches.Lock()
	r.confined.going = false
	r.branchEnded.Broadcast()
	if t == nil {
		return nil
	}
	w := &Wide{Try: t}
	r.SetWide(w)
	for _, h := range slices.Clone(r.Fresh) { // other stores may get to know them now
		r.announce(h)
	}
	return w
}
