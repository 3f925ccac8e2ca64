package order

import (
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/runtime/event"
)

// An event goes to other stores without a place in their order (grow.go), unless events on its target by the same method have met others there of late. Such a
// target remembers that, and to which stores the method goes: the next events enter by TOP at once, with a part in each of them. Such a part
// names no actor: it is a place in the order, with which the attempt may take there what it needs, and no event waits for it. So a wrong guess costs messages
// alone. After some events one goes without a place again; how many is doubled if that one is withdrawn, and else halved. It is memory of this start of the store, and bounded.

const (
	hintsMax = 4096 // targets that are remembered

	// So many events enter by TOP after one that was withdrawn, and at most so many before another one is tried without.
	byTopMin = 4
	byTopMax = 1024

	// If that are so many, and an event has taken so many actors one by one, the next ones enter with all that lies below a target in another store. Such
	// a hold keeps out all that are unordered.
	byTopCrowded = 8
	grownCrowded = 8

	// A store is forgotten when so many events in a row have not called it.
	hintMissesMax = 8
)

// hints are those of one host.
type hints struct {
	mu    sync.Mutex // a leaf
	of    map[event.ActorID][]hint
	order []event.ActorID // in which they came, those behind next first
	next  int
}

// hint is what is known of a method of a target.
type hint struct {
	method *Effects
	stores []hinted
	span   int  // so many events enter by TOP
	left   int  // of these
	many   bool // actors are taken one by one
}

type hinted struct {
	store  event.StoreID
	missed int // by so many events in a row
}

// hint looks for what is known of the event's method and target, and reports whether the attempt is to have a place in another store, whatever its
// footprint. An Exact footprint says by itself where the method goes, under the lock.
func (a *Attempt) hint() bool {
	t := a.Host.hints
	if a.hinted, a.crowded = nil, false; !a.Target.Has(MarkGoes) {
		return len(a.places) > 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.of[a.Target.ID]
	if list == nil { // it was forgotten for others
		a.Target.Mark(MarkGoes, false)
	}
	if i := find(list, a.Effects); i >= 0 && (a.met || list[i].left > 0) {
		h := &list[i]
		a.crowded = h.many && h.span >= byTopCrowded
		if !a.met {
			a.byTop = true
			h.left--
		}
		if a.Effects.Below != Exact || len(a.places)+len(a.claims) > 0 || a.Target.Is(Elsewhere) {
			for _, s := range list[i].stores {
				a.hinted = append(a.hinted, s.store)
			}
		}
	}
	return len(a.hinted)+len(a.places) > 0
}

// find returns where a list has a method; -1: nowhere.
func find(list []hint, method *Effects) int {
	return slices.IndexFunc(list, func(h hint) bool { return h.method == method })
}

// Learn notes which other stores an attempt that has ended has called, and whether it has met others there.
func (a *Attempt) Learn(called func(event.StoreID) bool) {
	t := a.Host.hints
	if a.Target == nil || a.Makes != nil || !a.byTop && !a.Target.Has(MarkGoes) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.of[a.Target.ID]
	k := find(list, a.Effects)
	switch {
	case !a.byTop && k < 0:
		return
	case !a.byTop:
		h := &list[k]
		if h.left > 0 { // others have met each other meanwhile
			return
		}
		if h.span /= 2; h.span < byTopMin {
			list = slices.Delete(list, k, k+1)
		} else {
			h.left = h.span
		}
	default:
		if k < 0 {
			k = len(list)
			list = append(list, hint{method: a.Effects})
		}
		h := &list[k]
		if a.met && h.left == 0 {
			h.span = min(max(2*h.span, byTopMin), byTopMax)
			h.left = h.span
		}
		if !a.crowded {
			h.many = len(a.grown)+len(a.told) >= grownCrowded // no code of it runs any more
		}
		a.learnStores(h, called)
	}
	t.put(a.Target, list)
}

// learnStores notes which stores an attempt that was ordered has called.
func (a *Attempt) learnStores(h *hint, called func(event.StoreID) bool) {
	var known, found []event.StoreID
	for i := range a.members.away {
		s := a.Host.ordering.StoreOf(a.members.away[i].h.ID)
		if i < a.known {
			known = append(known, s)
		} else if called(s) {
			found = append(found, s)
		}
	}
	for _, s := range a.places {
		if called(s) {
			found = append(found, s)
		}
	}
	for i := range a.narrowed.away {
		known = append(known, a.Host.ordering.StoreOf(a.narrowed.away[i].h.ID))
	}
	h.stores = slices.DeleteFunc(h.stores, func(s hinted) bool {
		return slices.Contains(a.hinted, s.store) && !called(s.store) && s.missed+1 >= hintMissesMax
	})
	for i := range h.stores {
		switch s := &h.stores[i]; {
		case called(s.store):
			s.missed = 0
		case slices.Contains(a.hinted, s.store):
			s.missed++
		}
	}
	for _, s := range found {
		if !slices.Contains(known, s) && !slices.ContainsFunc(h.stores, func(o hinted) bool { return o.store == s }) {
			h.stores = append(h.stores, hinted{store: s})
		}
	}
}

// put remembers a list for a target. Caller holds mu.
func (t *hints) put(target *Handle, list []hint) {
	if len(list) == 0 {
		delete(t.of, target.ID) // and not from order: it makes room in its turn
		target.Mark(MarkGoes, false)
		return
	}
	if _, old := t.of[target.ID]; !old {
		if len(t.order) < hintsMax {
			t.order = append(t.order, target.ID)
		} else {
			delete(t.of, t.order[t.next])
			t.order[t.next] = target.ID
			t.next = (t.next + 1) % hintsMax
		}
	}
	t.of[target.ID] = list
	target.Mark(MarkGoes, true)
}
