package order

import (
	"runtime"

	"github.com/aeon-lang/aeon/runtime/lock"
)

// enterFast enters an event that needs the target alone, or the target and
// direct T-children of it, without evaluating a view. It reports false, having
// changed nothing, when the general way has to be taken.
func (a *Attempt) enterFast() bool {
	m, t := a.Effects, a.Target
	if m.ArgRefs != nil || len(a.claims) > 0 || t.State.Load() != Created {
		return false
	}
	mode := lockMode(m.Self)
	switch {
	case m.Below == Exact:
		return mode != lock.None && a.enterExact(mode)
	case m.Below == Any && m.ReadOnly && mode == lock.Read:
		return a.enterShared()
	case m.Below != None:
		return false
	case mode != lock.None && a.joinOne(t, mode):
		a.tookFast(t, mode)
		return true
	}
	// Not by the fast path, but perhaps as a holder like those in the queue.
	t.latch.Lock()
	ref, ok := t.lockedBy(a).Try(a.home.ID(), nil, mode, nil)
	t.unlatchBy(a)
	if ok {
		a.entered(t, ref)
		a.home.Hold(t, mode, ref, nil)
	}
	return ok
}

// enterExact is enterFast for an Exact footprint whose members are T-children
// of the target. The children's entries are the event's own, as the target's is: what
// the hold covers is known to the home, and each is released by itself.
func (a *Attempt) enterExact(mode lock.Mode) bool {
	t := a.Target
	if !a.joinOne(t, mode) {
		return false
	}
	// The target is held now: its fields may be read, and its T-children stay.
	a.narrow()
	if !a.direct() {
		a.leave(t, mode)
		a.passed = a.passed[:0]
		a.narrowed.reset()
		a.isNarrow, a.coarse, a.reaching = false, false, false
		return false
	}
	a.tookFast(t, mode)
	if !a.enterBelow() || a.await() {
		return true
	}
	// The fast way ends here; the refusal is dealt with as any other.
	a.Reroutes.Add(1)
	a.withdraw(Withdrawal{}, true)
	a.Number++
	return false
}

// direct lists the members of the narrowed footprint in a.passed, in order, and reports
// whether all of them are T-children of the target, wanted alone.
func (a *Attempt) direct() bool {
	a.passed = a.passed[:0]
	for i := range a.narrowed.members {
		c := &a.narrowed.members[i]
		switch {
		case c.h == a.Target:
		case c.tree || c.mode == NoAccess || a.Host.ParentOf(c.h) != a.Target:
			return false
		default:
			a.passed = append(a.passed, c.h)
		}
	}
	sortByID(a.passed)
	return !a.coarse && (len(a.narrowed.away) == 0 || !a.byTop)
}

// enterBelow enqueues the event, which is a fast-path holder of its target, on a.passed in one
// step, and reports whether it has to wait. No other entry can get between: either all
// are taken at once, or all of them are latched before the first is enqueued on. An event that waits for what
// is below a T-child has no part in it, so that trying and giving back does no harm.
func (a *Attempt) enterBelow() (waits bool) {
	t := a.Target
	if a.joinAll(&a.narrowed) {
		a.holdFast(&a.narrowed)
		return false
	}
	for _, c := range a.passed {
		c.latch.Lock()
	}
	for _, c := range a.passed {
		waits = a.enqueueKnown(t, c, a.narrowed.find(c).mode) || waits
	}
	for _, c := range a.passed {
		c.unlatchBy(a)
	}
	a.passed = a.passed[:0]
	return waits
}

// Before an event queues it reads a word joinSpinsMax times, as the holds of fast-path holders are
// short. It also lets other goroutines run joinYieldsMax times: the goroutine in the way may have lost
// its processor, or have been admitted and not run yet. A queue that many callers enter at once
// is otherwise never empty again, and every event pays for parking.
const (
	joinSpinsMax  = 200
	joinYieldsMax = 2
)

// joinOne makes the event a fast-path holder of h, or reports false.
func (a *Attempt) joinOne(h *Handle, mode lock.Mode) bool {
	for round := 0; !h.latch.Join(mode, a.serial, a.Host.joinSpins); round++ {
		if round == joinYieldsMax {
			return false
		}
		runtime.Gosched()
	}
	return true
}

// joinAll makes the event a fast-path holder of all of a.passed, in the modes of f, or of none.
func (a *Attempt) joinAll(f *footprint) bool {
	for round := 0; !a.tryAll(f); round++ {
		if round == joinYieldsMax {
			return false
		}
		runtime.Gosched()
	}
	return true
}

// tryAll is one attempt of joinAll.
func (a *Attempt) tryAll(f *footprint) bool {
	for i, c := range a.passed {
		if !c.latch.Join(lockMode(f.find(c).mode), a.serial, a.Host.joinSpins) {
			a.leaveAll(i, f)
			return false
		}
	}
	return true
}

// leaveAll takes back what joinAll did on the first n.
func (a *Attempt) leaveAll(n int, f *footprint) {
	for _, c := range a.passed[:n] {
		a.leave(c, lockMode(f.find(c).mode))
	}
}

// holdFast notes that the event holds all of a.passed by the fast path. No other goroutine knows of it yet.
func (a *Attempt) holdFast(f *footprint) {
	for _, c := range a.passed {
		a.tookFast(c, lockMode(f.find(c).mode))
	}
	a.passed = a.passed[:0]
}

// tookFast notes that the event holds h by the fast path.
func (a *Attempt) tookFast(h *Handle, mode lock.Mode) {
	a.entries = append(a.entries, entry{h: h, fast: mode})
	a.home.Hold(h, mode, lock.Ref{}, nil)
}

// leave ends a fast-path hold of h. If the queue may have been waiting for that, giving back the latch is what lets it go on.
func (a *Attempt) leave(h *Handle, mode lock.Mode) {
	if h.latch.Leave(mode, a.serial) {
		h.latch.Lock()
		h.unlatchBy(a)
	}
}

// enqueueKnown enqueues the event on T-child c of w, which the event holds or passes; nothing
// below c is wanted. The caller has c's latch. It reports whether the event has to wait.
func (a *Attempt) enqueueKnown(w, c *Handle, mode Mode) (waits bool) {
	id := a.home.ID()
	if c.latch.JoinLatched(lockMode(mode)) {
		a.mu.Lock()
		a.tookFast(c, lockMode(mode))
		a.mu.Unlock()
		return false
	}
	ref, ok := c.lockedBy(a).Try(id, w, lockMode(mode), nil)
	if ok {
		a.mu.Lock()
		a.home.Hold(c, lockMode(mode), ref, nil)
		a.mu.Unlock()
	} else {
		d := takeDriver(a.Host)
		a.mu.Lock()
		a.home.Enter(c, lock.Ref{})
		a.pending++
		a.mu.Unlock()
		ref, d.out = c.queue.Enqueue(a.Host.view, lock.Sent[*Handle]{From: w}, id, d.out)
		d.execute(c, 0)
		d.finish()
	}
	a.entered(c, ref)
	return !ok
}
