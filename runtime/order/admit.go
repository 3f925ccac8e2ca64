package order

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/lock"
)

// Enter takes the locks of the attempt's entry (protocol rule 1) and returns when
// all of them are granted. An attempt that ends on the way, because ownership
// changed or because the narrowed footprint lies elsewhere, is followed by the
// next. No code of the program has run in it.
func (a *Attempt) Enter() error {
	a.Number++
	for {
		a.byTop = a.met
		if a.Makes != nil {
			a.Target = nil // that of a withdrawn attempt
			if a.gather(); !a.members.touches() && !a.IsWide() {
				return nil // only the actor that it creates
			}
		} else {
			if a.Cancelled() {
				return ErrCancelled
			}
			if a.Target.Is(Deleted | Unloaded | Away) {
				if err := a.present(); err != nil {
					return err
				}
			}
			if k := a.keptFrom(a.Target); k != nil && a.moveTo == nil {
				if err := k.Await(a); err != nil { // rather than hold it to no use
					return err
				}
				continue
			}
			if (a.Host.hints == nil || !a.hint()) && a.enterFast() {
				return nil
			}
			a.gather()
			if !a.IsWide() && a.Target.Is(Elsewhere) && !a.members.touches() {
				return nil // only the target, which its code calls
			}
		}
		if a.IsWide() {
			if in, err := a.enterAbove(); in || err != nil {
				return err
			}
			a.rerouted()
			continue
		}
		roots := a.onlyRoots()
		if roots && a.joinRoots() {
			return nil
		}
		z, gate := (*Handle)(nil), a.Target // a virtual node has no queue
		if !roots {
			if z = a.sequencer(); !z.Is(Virtual) {
				gate = z
			}
		}
		if err := a.room(gate); err != nil {
			return err
		}
		switch {
		case roots:
			a.passKnown()
		case z.Is(Virtual):
			a.pass()
		default:
			a.enterAt(z)
		}
		if a.await() {
			return nil
		}
		a.rerouted()
	}
}

// rerouted withdraws an attempt that was refused before any code has run in it.
func (a *Attempt) rerouted() {
	var found member
	if r := &a.refusal; r.Kind == lock.Refused && r.Mode != lock.None && r.To != nil {
		found = member{h: r.To, mode: Mode(r.Mode)}
	}
	a.Reroutes.Add(1)
	a.withdraw(Withdrawal{claim: found}, false)
	a.Number++
}

// present brings what the store has of the target into memory, unless it was deleted.
func (a *Attempt) present() error {
	t, s := a.Target, a.Host
	if t.Is(Away) {
		if err := s.Attach(t); err != nil {
			return err
		}
	}
	switch {
	case t.Is(Deleted):
		return ErrGone
	case t.Is(Unloaded):
		return s.residence.Load(t)
	}
	return nil
}

// enterAt enters at actor z.
func (a *Attempt) enterAt(z *Handle) {
	d := takeDriver(a.Host)
	a.entry = z
	a.mu.Lock()
	a.home.Enter(z, lock.Ref{})
	a.pending++
	a.mu.Unlock()
	z.latch.Lock()
	ref, out := z.locked().Enter(a.Host.view, a.home.ID(), d.out)
	d.out = out
	a.entered(z, ref)
	d.execute(z, 0)
	z.unlatch(a.Host)
	d.finish()
}

// pass enters by passing the virtual nodes: it latches all their T-children that
// the footprint needs, in the order of their ids, enqueues on each, and
// unlatches them. This is one step for all passes.
func (a *Attempt) pass() {
	s := a.Host
	d := takeDriver(s)
	for {
		a.passed = a.roots(a.passed[:0])
		if s.latchAll(a.passed) {
			break
		}
	}
	id := a.home.ID()
	a.mu.Lock()
	for _, r := range a.passed {
		a.home.Enter(r, lock.Ref{})
		a.pending++
	}
	a.mu.Unlock()
	for _, r := range a.passed {
		start := len(d.out)
		ref, out := r.locked().Enqueue(s.view, lock.Sent[*Handle]{From: s.ParentOf(r)}, id, d.out)
		d.out = out
		a.entered(r, ref)
		d.execute(r, start)
	}
	for _, r := range a.passed {
		r.unlatch(s)
	}
	clear(a.passed)
	d.finish()
}

// onlyRoots reports whether the footprint is known and consists of several actors that
// hang below virtual nodes, wanted alone; it lists them in a.passed, in order.
func (a *Attempt) onlyRoots() bool {
	list := a.members.members
	if a.Effects.Below != None || a.reaching || len(list) < 2 || len(list) > footprintScanMax {
		return false
	}
	a.passed = a.passed[:0]
	for i := range list {
		if p := a.Host.ParentOf(list[i].h); p == nil || !p.Is(Virtual) {
			return false
		}
		a.passed = append(a.passed, list[i].h)
	}
	sortByID(a.passed)
	return true
}

// joinRoots makes the event a fast-path holder of the roots in a.passed, or reports false.
func (a *Attempt) joinRoots() bool {
	if !a.joinAll(&a.members) {
		return false
	}
	if !a.Host.areRoots(a.passed) {
		a.leaveAll(len(a.passed), &a.members)
		return false
	}
	a.holdFast(&a.members)
	return true
}

// passKnown is pass for a footprint of roots, without evaluating a view where no event is in the way.
func (a *Attempt) passKnown() {
	s := a.Host
	if !s.latchAll(a.passed) {
		a.pass() // one of them has just been moved
		return
	}
	for _, r := range a.passed {
		a.enqueueKnown(s.ParentOf(r), r, a.members.find(r).mode)
	}
	for _, r := range a.passed {
		r.unlatchBy(a)
	}
	a.passed = a.passed[:0]
}

// sortByID puts handles into the order in which latches are taken.
func sortByID(list []*Handle) {
	if len(list) == 2 { // a transfer, say, which is 1 to 2 % faster without the call
		if compareIDs(list[0], list[1]) > 0 {
			list[0], list[1] = list[1], list[0]
		}
		return
	}
	slices.SortFunc(list, compareIDs)
}

// compareIDs is the order in which latches are taken.
func compareIDs(a, b *Handle) int {
	switch {
	case a == b:
		return 0
	case a.ID == b.ID:
		// Invariant: no two actors have one id. Else two goroutines could take their latches in different orders, and wait for each other.
		assert.Unreachable("order: two actors have the id %v", a.ID)
	case a.ID.Less(b.ID):
		return -1
	}
	return 1
}

// latchAll latches the given T-children of virtual nodes, which are in order, and
// reports whether all of them still are; if not it has unlatched them.
func (s *Host) latchAll(roots []*Handle) bool {
	for i := range roots {
		roots[i].latch.Lock()
		// Check at once. Else a goroutine could have the latch of a node that was moved below a root, and wait for the latch of
		// that root: upwards, while other goroutines latch downwards.
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
func (s *Host) areRoots(list []*Handle) bool {
	for _, r := range list {
		if p := s.ParentOf(r); p == nil || !p.Is(Virtual) {
			return false
		}
	}
	return true
}

// roots lists the T-children of virtual nodes through which the footprint can be
// reached, ordered by id: the roots of the listed members that are not deleted, and of what tree members
// reach as long as that is not too much.
func (a *Attempt) roots(list []*Handle) []*Handle {
	s := a.Host
	for i := range a.members.members {
		m := &a.members.members[i]
		if m.h.Is(Deleted) {
			continue // no event needs it, and what it hung below may have been detached since it left T
		}
		list = append(list, s.rootOf(m.h))
		if m.tree && a.moveTo == nil {
			list = a.treeRoots(m.h, list)
		}
	}
	sortByID(list)
	return slices.Compact(list)
}

// treeRoots appends the roots of what m reaches outside its own.
func (a *Attempt) treeRoots(m *Handle, list []*Handle) []*Handle {
	s := a.Host
	stack, seen := []*Handle{m}, map[*Handle]bool{m: true}
	for len(stack) > 0 && len(seen) <= a.lookMax() {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		list = append(list, s.rootOf(n))
		if t := s.HandleOf(s.Graph.Top(&n.Node)); !t.Is(Virtual) {
			continue // all that n reaches lies below one root
		}
		for _, o := range s.Graph.Owned(nil, &n.Node) {
			if h := s.present(o); !seen[h] {
				seen[h] = true
				stack = append(stack, h)
			}
		}
	}
	return list
}
