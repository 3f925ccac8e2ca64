package order

import (
	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/lock"
)

// Two lazy holds cannot share a node (protocol rule 4), so readers of whole trees would
// wait for each other. A read-only event therefore holds what it may reach actor by actor,
// if that is little: then readers share. What is more stays lazy, as most of it may
// never be touched.

// Shareable is the number of actors up to which a read-only event holds them one by one.
func (s *Host) Shareable() int { return s.fanOut / 4 }

const wideRetry = 64 // one of so many readers tries again to share an actor that reached too much

// enterShared enters a read-only event as a fast-path holder of everything that its target
// reaches. Nothing is waited for: where one actor is refused, all are given back, and the general
// way is taken. It reports false then, or when there is too much, having changed nothing.
func (a *Attempt) enterShared() bool {
	t, s := a.Target, a.Host
	if a.tooWide(t) || !t.latch.Join(lock.Read, a.serial, s.joinSpins) {
		return false
	}
	list := append(a.passed[:0], t)
	ok := true
	for i := 0; i < len(list) && ok; i++ {
		list, ok = a.joinOwned(list, list[i])
	}
	a.passed = list
	if ok {
		for _, c := range list {
			a.tookFast(c, lock.Read)
		}
		t.Mark(MarkWide, false)
	} else {
		for _, c := range list {
			a.leave(c, lock.Read)
		}
	}
	clear(a.passed)
	a.passed = a.passed[:0]
	return ok
}

// tooWide reports whether readers should not try to share what x reaches. The event's id decides which readers try
// again: a scheduled system must not depend on what a pool counts.
func (a *Attempt) tooWide(x *Handle) bool {
	return a.Host.Shareable() == 0 || x.Has(MarkWide) && a.ID.Seed()%wideRetry != 0
}

// joinOwned makes the event, which is a fast-path holder of x, a fast-path holder of the actors that x owns, as far as the
// event may touch them and does not hold them yet. While x is held for reading, what it owns stays the same.
func (a *Attempt) joinOwned(list []*Handle, x *Handle) ([]*Handle, bool) {
	s := a.Host
	if x.Has(MarkPartial) {
		return list, false
	}
	var buf [16]*dominator.Node
	owned, all := s.Graph.OwnedMax(buf[:0], &x.Node, s.Shareable())
	if !all {
		a.Target.Mark(MarkWide, true)
		return list, false
	}
	for _, n := range owned {
		h := s.HandleOf(n)
		switch {
		case a.Effects.modeOf(h.Shape) == NoAccess || contains(list, h):
			continue
		case len(list) == s.Shareable():
			a.Target.Mark(MarkWide, true)
			return list, false
		case h.State.Load() != Created || !h.latch.Join(lock.Read, a.serial, s.joinSpins):
			return list, false
		}
		list = append(list, h)
	}
	return list, true
}

// share appends to children the T-children of x through which a read-only event reaches all that it
// may touch below x. It reports false if that is too much, or if the event is lazy
// above x, where no event shares with it. It also does if an attempt has been withdrawn already: what the event
// wants may have changed in the meantime, and a lazy hold covers whatever comes. Caller holds
// a.mu.
func (a *Attempt) share(x *Handle, children []*Handle) (_ []*Handle, ok bool) {
	s := a.Host
	if !a.Effects.ReadOnly || a.Number > 1 || a.lazyAt != nil || a.tooWide(x) || x.Has(MarkPartial) {
		return children, false
	}
	var seenBuf [16]*Handle
	var owned [16]*dominator.Node
	seen := append(seenBuf[:0], x)
	for i := 0; i < len(seen); i++ {
		next, ok := s.Graph.OwnedMax(owned[:0], &seen[i].Node, s.Shareable())
		if !ok {
			x.Mark(MarkWide, true)
			return children, false
		}
		for _, n := range next {
			h := s.present(n)
			if a.Effects.modeOf(h.Shape) == NoAccess || contains(seen, h) {
				continue
			}
			if len(seen) == s.Shareable() {
				x.Mark(MarkWide, true)
				return children, false
			}
			seen = append(seen, h)
			if c := s.childTowards(x, h); c != nil {
				children = appendNew(children, c)
			}
		}
	}
	return children, true
}

func contains(list []*Handle, h *Handle) bool {
	for _, o := range list {
		if o == h {
			return true
		}
	}
	return false
}
