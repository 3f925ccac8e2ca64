package state

import (
	"runtime"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/order"
)

// The evictor drops states (evict.go), and then detaches actors whose states are not in memory. A detached actor has no
// place in the graph any more. Its handle is garbage unless it is referred to; a reference then leads to a detached
// handle.
//
// An event that has looked at an actor relies on its being attached until the event has ended. So the evictor first
// marks the actor as leaving. An event that looks at it then, to attach it or because the graph has named it, takes the
// mark away (Attach). The evictor waits for a grace period (runtime/order/grace.go), until all events have ended that
// were under way when it set the mark. If the mark is still there no event relies on the actor.

// leavingMax is how many actors are marked at most at a time.
const leavingMax = 1 << 12

// detachSome detaches actors that no event has used since the evictor came by, until there are none, or an event lasts
// too long. It returns how many it has detached.
func (s *State) detachSome() (n int) {
	s.evictor.Lock()
	defer s.evictor.Unlock()
	for {
		if len(s.leaving.list) == 0 {
			if s.leaving.list = s.markLeaving(s.leaving.list); len(s.leaving.list) == 0 {
				return n
			}
			s.leaving.period = s.host.NextPeriod()
		}
		for looks := 0; !s.host.PeriodOver(s.leaving.period); looks++ {
			if looks == leavingLooks {
				return n // the next call goes on
			}
			runtime.Gosched()
		}
		gone := 0
		for _, h := range s.leaving.list {
			if s.detach(h) {
				gone++
			}
		}
		clear(s.leaving.list)
		s.leaving.list = s.leaving.list[:0]
		if n += gone; gone == 0 {
			return n
		}
	}
}

// leavingLooks is how often the evictor looks whether events have ended before it gives up.
const leavingLooks = 64

// markLeaving marks actors that seem to be unused, and lists them.
func (s *State) markLeaving(list []*order.Handle) []*order.Handle {
	for i := range s.actors.shards {
		sh := &s.actors.shards.At((s.leaving.shard + i) % shard.Count).mu
		sh.Lock()
		for _, h := range sh.live {
			if len(list) == leavingMax {
				s.leaving.shard += i
				sh.Unlock()
				return list
			}
			st := h.State.Load()
			if (st == order.Created|order.Unloaded || st == order.Unborn) && s.mayLeave(h) && h.State.CompareAndSwap(st, st|order.Leaving) {
				list = append(list, h)
			}
		}
		sh.Unlock()
	}
	return list
}

// mayLeave reports whether h may be detached, as far as can be seen without a lock. An actor that was used has to be
// found unused the next time.
func (s *State) mayLeave(h *order.Handle) bool {
	if h.Has(order.MarkUsed) {
		h.Mark(order.MarkUsed, false)
		return false
	}
	return !h.Has(order.MarkTimed) && !h.IsKept()
}

// detach takes h, which was marked, out of the graph unless an event has looked at it since.
func (s *State) detach(h *order.Handle) bool {
	if !h.Seize() {
		h.Unset(order.Leaving)
		return false
	}
	gone := s.detachHeld(h)
	h.Free(s.host)
	if gone {
		s.host.Forget(h)
	} else {
		h.Unset(order.Leaving)
	}
	return gone
}

// detachHeld is detach for h while no event can hold h.
func (s *State) detachHeld(h *order.Handle) bool {
	mu := s.attaching.Of(h.ID.Serial)
	mu.Lock()
	defer mu.Unlock()
	p, st := s.host.ParentOf(h), h.State.Load()
	if st != order.Created|order.Unloaded|order.Leaving && st != order.Unborn|order.Leaving {
		return false
	}
	if h.Has(order.MarkTimed) || h.IsKept() || p == nil || !h.State.CompareAndSwap(st, order.Detached) {
		return false
	}
	if !p.Is(order.Virtual) {
		p.Mark(order.MarkPartial, true)
	}
	if !s.host.Graph.Detach(&h.Node) {
		h.State.Store(st &^ order.Leaving)
		return false
	}
	s.actors.loosen(h)
	return true
}
