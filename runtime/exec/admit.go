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
			ev.target = nil // that of a withdrawn attempt
			if ev.gather(); !ev.members.touches() {
				return nil // only the actor that it creates
			}
		} else {
			if ev.cancelled() {
				return ev.errCancelled()
			}
			if ev.target.is(deleted | unloaded | away) {
				if err := ev.present(); err != nil {
					return err
				}
			}
			if k := ev.keptFrom(ev.target); k != nil && ev.moveTo == nil {
				if err := k.await(ev); err != nil { // rather than hold it to no use
					return err
				}
				continue
			}
			if ev.enterFast() {
				return nil
			}
			ev.gather()
		}
		if planted.narrowAtPass && ev.method.Below == Exact && ev.target.is(created) {
			ev.narrow() // no hold, so what it reads may be gone when it is used
			ev.members.members = append(ev.members.members, ev.narrowed.members...)
		}
		roots := ev.onlyRoots()
		if roots && ev.joinRoots() {
			return nil
		}
		z, gate := (*Handle)(nil), ev.target // a virtual node has no queue
		if !roots {
			if z = ev.sequencer(); !z.is(virtual) {
				gate = z
			}
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
		var found member
		if r := &ev.refusal; r.Kind == lock.Refused && r.Mode != lock.None && r.To != nil {
			found = member{h: r.To, mode: Mode(r.Mode)}
		}
		ev.client.stats.reroutes.Add(1)
		ev.withdraw(found, false)
		ev.attempt++
	}
}

// present brings what the store has of the target into memory, unless it was deleted.
func (ev *Event) present() error {
	t, s := ev.target, ev.sys
	if t.is(away) {
		if err := s.attach(t); err != nil {
			return err
		}
	}
	switch {
	case t.is(deleted):
		return ev.deadTarget()
	case t.is(unloaded):
		return s.load(t)
	}
	return nil
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
	z.unlatch(ev.sys)
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
		r.unlatch(s)
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

// joinRoots makes the event a guest of the roots in ev.passed, or reports false.
func (ev *Event) joinRoots() bool {
	if !ev.joinAll(&ev.members) {
		return false
	}
	if !ev.sys.areRoots(ev.passed) {
		ev.leaveAll(len(ev.passed), &ev.members)
		return false
	}
	ev.holdGuests(&ev.members)
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
	for _, r := range ev.passed {
		ev.enqueueKnown(s.parentOf(r), r, ev.members.find(r).mode)
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
	for i := range roots {
		roots[i].latch.Lock()
		// At once: who waits for a root's latch with that of one which has been moved below it
		// waits for those who go down.
		if !s.areRoots(roots[i : i+1]) {
			for _, r := range roots[:i+1] {
				r.latch.Unlock()
			}
			return false
		}
	}
	return true
}

// areRoots reports whether all of the list are T-children of virtual nodes.
func (s *System) areRoots(list []*Handle) bool {
	for _, r := range list {
		if p := s.parentOf(r); p == nil || !p.is(virtual) {
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
			if h := s.present(o); !seen[h] {
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
	return &AbortError{Msg: msgGone(ev.target, ev.method.Class), Event: ev.id, Fault: true}
}
