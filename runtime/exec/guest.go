package exec

import (
	"runtime"
	"slices"

	"github.com/aeon-lang/aeon/runtime/lock"
)

// enterFast enters an event that needs the target alone, or the target and
// direct T-children of it, without evaluating a view. It reports false, having
// changed nothing, when the general way has to be taken.
func (ev *Event) enterFast() bool {
	m, t := ev.method, ev.target
	if m.ArgRefs != nil || len(ev.claims) > 0 || t.state.Load() != created {
		return false
	}
	mode := lockMode(m.Self)
	switch {
	case m.Below == Exact:
		return mode != lock.None && ev.enterExact(mode)
	case m.Below == Any && m.ReadOnly && mode == lock.Read:
		return ev.enterShared()
	case m.Below != None:
		return false
	case planted.skipLock:
		ev.home.Hold(t, mode, lock.Ref{}, nil)
		return true
	case mode != lock.None && ev.joinOne(t, mode):
		ev.guest(t, mode)
		return true
	}
	// Not a guest, but perhaps a holder like those in the queue.
	t.latch.Lock()
	ref, ok := t.lockedBy(ev).Try(ev.home.ID(), nil, mode, nil)
	t.unlatchBy(ev)
	if ok {
		ev.entered(t, ref)
		ev.home.Hold(t, mode, ref, nil)
	}
	return ok
}

// enterExact is enterFast for an Exact footprint whose members are T-children
// of the target. The children's entries are the event's own, as the target's is: what
// the hold covers is known to the home, and each is released by itself.
func (ev *Event) enterExact(mode lock.Mode) bool {
	t := ev.target
	if !ev.joinOne(t, mode) {
		return false
	}
	// The target is held now: its fields may be read, and its T-children stay.
	ev.narrow()
	if !ev.direct() {
		ev.leave(t, mode)
		ev.passed = ev.passed[:0]
		ev.narrowed.reset()
		ev.isNarrow, ev.coarse, ev.reaching = false, false, false
		return false
	}
	ev.guest(t, mode)
	if !ev.enterBelow() || ev.await() {
		return true
	}
	// The fast way ends here; the refusal is dealt with as any other.
	ev.client.stats.reroutes.Add(1)
	ev.withdraw(member{}, true)
	ev.attempt++
	return false
}

// direct lists the members of the narrowed footprint in ev.passed, in order, and reports
// whether all of them are T-children of the target, wanted alone.
func (ev *Event) direct() bool {
	ev.passed = ev.passed[:0]
	for i := range ev.narrowed.members {
		c := &ev.narrowed.members[i]
		switch {
		case c.h == ev.target:
		case c.tree || c.mode == NoAccess || ev.sys.parentOf(c.h) != ev.target:
			return false
		default:
			ev.passed = append(ev.passed, c.h)
		}
	}
	slices.SortFunc(ev.passed, compareIDs)
	return !ev.coarse
}

// enterBelow enqueues the event, which is a guest of its target, on ev.passed in one
// step, and reports whether it has to wait. Nobody else's entry can get between: either all
// are taken at once, or all of them are latched before the first is enqueued on. Who waits for what
// is below a T-child has no part in it, so that trying and giving back does no harm.
func (ev *Event) enterBelow() (waits bool) {
	t := ev.target
	if planted.linger {
		runtime.Gosched()
	}
	if ev.joinAll(&ev.narrowed) {
		ev.holdGuests(&ev.narrowed)
		return false
	}
	if planted.oneByOne != nil {
		return ev.enterOneByOne()
	}
	for _, c := range ev.passed {
		c.latch.Lock()
	}
	for _, c := range ev.passed {
		waits = ev.enqueueKnown(t, c, ev.narrowed.find(c).mode) || waits
	}
	for _, c := range ev.passed {
		c.unlatchBy(ev)
	}
	ev.passed = ev.passed[:0]
	return waits
}

// joinOne makes the event a guest of h, or reports false.
func (ev *Event) joinOne(h *Handle, mode lock.Mode) bool {
	for round := 0; !h.latch.join(mode, ev, ev.sys.joinSpins); round++ {
		if round == joinYieldsMax {
			return false
		}
		runtime.Gosched()
	}
	return true
}

// joinAll makes the event a guest of all of ev.passed, in the modes of f, or of none.
func (ev *Event) joinAll(f *Footprint) bool {
	for round := 0; !ev.tryAll(f); round++ {
		if round == joinYieldsMax {
			return false
		}
		runtime.Gosched()
	}
	return true
}

// tryAll is one attempt of joinAll.
func (ev *Event) tryAll(f *Footprint) bool {
	for i, c := range ev.passed {
		if !c.latch.join(lockMode(f.find(c).mode), ev, ev.sys.joinSpins) {
			ev.leaveAll(i, f)
			return false
		}
	}
	return true
}

// leaveAll takes back what joinAll did on the first n.
func (ev *Event) leaveAll(n int, f *Footprint) {
	for _, c := range ev.passed[:n] {
		ev.leave(c, lockMode(f.find(c).mode))
	}
}

// holdGuests notes that the event is a guest of ev.passed. Nobody else knows it yet.
func (ev *Event) holdGuests(f *Footprint) {
	for _, c := range ev.passed {
		ev.guest(c, lockMode(f.find(c).mode))
	}
	ev.passed = ev.passed[:0]
}

// guest notes that the event is a guest of h.
func (ev *Event) guest(h *Handle, mode lock.Mode) {
	ev.entries = append(ev.entries, entry{h: h, guest: mode})
	ev.home.Hold(h, mode, lock.Ref{}, nil)
}

// leave ends a guest's hold on h. If the queue may have been waiting for that, giving
// back the latch is what lets it go on.
func (ev *Event) leave(h *Handle, mode lock.Mode) {
	if h.latch.leave(mode, ev) {
		h.latch.Lock()
		h.unlatchBy(ev)
	}
}

// enqueueKnown enqueues ev on T-child c of w, which the event holds or passes; nothing
// below c is wanted. The caller has c's latch. It reports whether the event has to wait.
func (ev *Event) enqueueKnown(w, c *Handle, mode Mode) (waits bool) {
	id := ev.home.ID()
	if c.latch.joinLatched(lockMode(mode)) {
		ev.mu.Lock()
		ev.guest(c, lockMode(mode))
		ev.mu.Unlock()
		return false
	}
	ref, ok := c.lockedBy(ev).Try(id, w, lockMode(mode), nil)
	if ok {
		ev.mu.Lock()
		ev.home.Hold(c, lockMode(mode), ref, nil)
		ev.mu.Unlock()
	} else {
		d := takeDriver(ev.sys)
		ev.mu.Lock()
		ev.home.Enter(c, lock.Ref{})
		ev.pending++
		ev.mu.Unlock()
		ref, d.out = c.queue.Enqueue(ev.sys.view, lock.Sent[*Handle]{From: w}, id, d.out)
		d.execute(c, 0)
		d.finish()
	}
	ev.entered(c, ref)
	return !ok
}
