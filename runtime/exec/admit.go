package exec

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/lock"
)

// enter takes the locks of the attempt's entry (protocol rule 1) and returns when
// all of them are granted. Attempts that end on the way, because ownership
// changed or because the narrowed footprint lies elsewhere, are followed by the
// next; no code of the program has run in them.
func (ev *Event) enter() error {
	for {
		if ev.class != nil {
			return nil // a client's new: the actor is fresh, nobody knows it
		}
		if ev.target.is(deleted) {
			return ev.deadTarget()
		}
		if ev.enterFast() {
			return nil
		}
		ev.gather()
		if planted.narrowAtPass && ev.method.Below == Exact && ev.target.is(created) {
			ev.narrow() // no hold, so what it reads may be gone when it is used
			ev.members.members = append(ev.members.members, ev.narrowed.members...)
		}
		roots, z := ev.onlyRoots(), ev.target
		if !roots {
			z = ev.sequencer()
		}
		gate := z
		if z.is(virtual) {
			gate = ev.target // a virtual node has no queue
		}
		if err := ev.room(gate); err != nil {
			return err
		}
		switch {
		case roots:
			ev.passKnown()
		case z.is(virtual):
			ev.pass()
		default:
			ev.enterAt(z)
		}
		if ev.await() {
			return nil
		}
		r := &ev.refusal
		if r.Kind == lock.Refused && r.Mode != lock.None && r.To != nil {
			ev.claim(member{h: r.To, mode: Mode(r.Mode)})
		}
		ev.client.stats.reroutes.Add(1)
		ev.withdraw()
		ev.attempt++
	}
}

// enterFast enters an event that needs the target alone, or the target and
// direct T-children of it, without evaluating a view. It reports false, having
// changed nothing, when the general way has to be taken.
func (ev *Event) enterFast() bool {
	m, t := ev.method, ev.target
	if m.ArgRefs != nil || len(ev.claims) > 0 || t.state.Load() != created {
		return false
	}
	switch m.Below {
	case None:
		if planted.skipLock {
			ev.home.Hold(t, lockMode(m.Self), lock.Ref{}, nil)
			return true
		}
		t.latch.Lock()
		ref, ok := t.lockedBy(ev).Try(ev.home.ID(), nil, lockMode(m.Self), nil)
		t.unlatchBy(ev)
		if ok {
			ev.entered(t, ref)
			ev.home.Hold(t, lockMode(m.Self), ref, nil)
		}
		return ok
	case Exact:
		return ev.enterExact()
	}
	return false
}

// enterExact is enterFast for an Exact footprint whose members are T-children
// of the target. The children's entries are the event's own, as the target's is: what
// the hold covers is known to the home, and each is released by itself.
func (ev *Event) enterExact() bool {
	m, t := ev.method, ev.target
	mode := lockMode(m.Self)
	t.latch.Lock()
	q := t.lockedBy(ev)
	ref, ok := q.Try(ev.home.ID(), nil, mode, nil)
	if !ok {
		t.unlatchBy(ev)
		return false
	}
	// The target is held now, so its fields may be read.
	ev.narrow()
	if !ev.direct() || len(ev.passed) > 0 && q.Lazies() > 0 {
		q.Release(ev.sys.view, ref, true, nil) // nobody waits, or Try had failed: it wakes no one
		t.unlatchBy(ev)
		ev.passed = ev.passed[:0]
		ev.narrowed.reset()
		ev.isNarrow, ev.coarse, ev.reaching = false, false, false
		return false
	}
	ev.entered(t, ref)
	ev.home.Hold(t, mode, ref, ev.passed)
	waits := false
	for _, c := range ev.passed {
		waits = ev.enqueueKnown(t, c, ev.narrowed.find(c).mode) || waits
	}
	t.unlatch()
	ev.passed = ev.passed[:0]
	if waits && !ev.await() {
		// The fast way ends here; the refusal is dealt with as any other.
		ev.withdraw()
		ev.attempt++
		return false
	}
	return true
}

// direct lists the members of the narrowed footprint in ev.passed and reports whether
// all of them are T-children of the target, wanted alone.
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
	return !ev.coarse
}

// enqueueKnown enqueues ev on T-child c of w, whose latch is held and which the event
// holds; nothing below c is wanted. It reports whether the event has to wait.
func (ev *Event) enqueueKnown(w, c *Handle, mode Mode) (waits bool) {
	id := ev.home.ID()
	c.latch.Lock()
	ref, ok := c.lockedBy(ev).Try(id, w, lockMode(mode), nil)
	if ok {
		ev.mu.Lock()
		ev.home.Hold(c, lockMode(mode), ref, nil)
		ev.mu.Unlock()
	} else {
		d := takeDriver(ev.sys)
		ev.deliver([]effect{{Kind: lock.Enqueue, At: w, To: c, ID: id}})
		ref, d.out = c.queue.Enqueue(ev.sys.view, lock.Sent[*Handle]{From: w}, id, d.out)
		d.execute(c, 0)
		d.finish()
	}
	ev.entered(c, ref)
	c.unlatch()
	return !ok
}

// enterAt enters at actor z.
func (ev *Event) enterAt(z *Handle) {
	d := takeDriver(ev.sys)
	ev.entry = z
	ev.mu.Lock()
	ev.home.Enter(z, lock.Ref{})
	ev.pending++
	ev.mu.Unlock()
	z.latch.Lock()
	ref, out := z.locked().Enter(ev.sys.view, ev.home.ID(), d.out)
	d.out = out
	ev.entered(z, ref)
	d.execute(z, 0)
	z.unlatch()
	d.finish()
}

// pass enters by passing the virtual nodes: it latches all their T-children that
// the footprint needs, in the order of their ids, enqueues on each, and
// unlatches them. This is one step for everybody who does the same.
func (ev *Event) pass() {
	s := ev.sys
	d := takeDriver(s)
	for {
		ev.passed = ev.roots(ev.passed[:0])
		if s.latchAll(ev.passed) {
			break
		}
	}
	id := ev.home.ID()
	ev.mu.Lock()
	for _, r := range ev.passed {
		ev.home.Enter(r, lock.Ref{})
		ev.pending++
	}
	ev.mu.Unlock()
	for _, r := range ev.passed {
		start := len(d.out)
		ref, out := r.locked().Enqueue(s.view, lock.Sent[*Handle]{From: s.parentOf(r)}, id, d.out)
		d.out = out
		ev.entered(r, ref)
		d.execute(r, start)
	}
	for _, r := range ev.passed {
		r.unlatch()
	}
	clear(ev.passed)
	d.finish()
}

// onlyRoots reports whether the footprint is known and consists of several actors that
// hang below virtual nodes, wanted alone; it lists them in ev.passed, in order.
func (ev *Event) onlyRoots() bool {
	list := ev.members.members
	if ev.method.Below != None || ev.reaching || len(list) < 2 || len(list) > footprintScanMax {
		return false
	}
	ev.passed = ev.passed[:0]
	for i := range list {
		if p := ev.sys.parentOf(list[i].h); p == nil || !p.is(virtual) {
			return false
		}
		ev.passed = append(ev.passed, list[i].h)
	}
	slices.SortFunc(ev.passed, compareIDs)
	return true
}

// passKnown is pass for a footprint of roots, without evaluating a view where nobody is
// in the way.
func (ev *Event) passKnown() {
	s := ev.sys
	if !s.latchAll(ev.passed) {
		ev.pass() // one of them has just been moved
		return
	}
	id := ev.home.ID()
	for _, r := range ev.passed {
		mode := lockMode(ev.members.find(r).mode)
		from := s.parentOf(r)
		ref, ok := r.lockedBy(ev).Try(id, from, mode, nil)
		if ok {
			ev.mu.Lock()
			ev.home.Hold(r, mode, ref, nil)
			ev.mu.Unlock()
		} else {
			ev.mu.Lock()
			ev.home.Enter(r, lock.Ref{})
			ev.pending++
			ev.mu.Unlock()
			d := takeDriver(s)
			ref, d.out = r.queue.Enqueue(s.view, lock.Sent[*Handle]{From: from}, id, d.out)
			d.execute(r, 0)
			d.finish()
		}
		ev.entered(r, ref)
	}
	for _, r := range ev.passed {
		r.unlatchBy(ev)
	}
	ev.passed = ev.passed[:0]
}

func compareIDs(a, b *Handle) int {
	switch {
	case a == b:
		return 0
	case a.id.Less(b.id):
		return -1
	}
	return 1
}

// latchAll latches the given T-children of virtual nodes, which are in order, and
// reports whether all of them still are; if not it has unlatched them.
func (s *System) latchAll(roots []*Handle) bool {
	for i, r := range roots {
		r.latch.Lock()
		if p := s.parentOf(r); p == nil || !p.is(virtual) {
			for _, o := range roots[:i+1] {
				o.unlatch()
			}
			return false
		}
	}
	return true
}

// roots lists the T-children of virtual nodes through which the footprint can be
// reached, ordered by id: those of the listed members, and of what tree members
// reach as long as that is not too much.
func (ev *Event) roots(list []*Handle) []*Handle {
	s := ev.sys
	for i := range ev.members.members {
		m := &ev.members.members[i]
		list = append(list, s.rootOf(m.h))
		if m.tree && ev.moveTo == nil {
			list = ev.treeRoots(m.h, list)
		}
	}
	slices.SortFunc(list, compareIDs)
	return slices.Compact(list)
}

// treeRoots appends the roots of what m reaches outside its own.
func (ev *Event) treeRoots(m *Handle, list []*Handle) []*Handle {
	s := ev.sys
	stack, seen := []*Handle{m}, map[*Handle]bool{m: true}
	for len(stack) > 0 && len(seen) <= ev.lookMax() {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		list = append(list, s.rootOf(n))
		if t := s.handleOf(s.graph.Top(&n.node)); !t.is(virtual) {
			continue // all that n reaches lies below one root
		}
		for _, o := range s.graph.Owned(nil, &n.node) {
			if h := s.handleOf(o); !seen[h] {
				seen[h] = true
				stack = append(stack, h)
			}
		}
	}
	return list
}

// deadTarget is the failure of an event on an actor that was deleted.
func (ev *Event) deadTarget() error {
	ev.maxPos = max(ev.maxPos, ev.target.lastPos)
	ev.traceRead(ev.target)
	return &AbortError{Msg: msgDeleted(ev.target), Event: ev.id, Fault: true}
}
