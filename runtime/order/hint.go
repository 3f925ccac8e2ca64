package order

import (
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/runtime/event"
)

// A target remembers to which other stores its methods go, so that the next event on it enters by TOP at once, with a part in each of them. Such a part
// names no actor: it is a place in the order, with which the attempt may take there what it needs (grow.go), and no event waits for it. So a wrong guess costs messages
// alone. It is memory of this start of the store, bounded, and dropped where it is wrong.

const (
	hintsMax = 4096 // targets that are remembered

	// A store is forgotten when so many events in a row have not called it: few if they would have needed no other store at all, as an
	// attempt that is withdrawn before it has entered by TOP costs no message.
	hintMissesMax      = 8
	hintMissesMaxAlone = 2
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
}

type hinted struct {
	store  event.StoreID
	missed int // by so many events in a row
}

// hint looks for what is known of the event's method and target, and reports whether the attempt is to have a place in another store, whatever its
// footprint. An Exact footprint says by itself where the method goes, under the lock.
func (a *Attempt) hint() bool {
	t := a.Host.hints
	if a.hinted = nil; !a.Target.Has(MarkGoes) || a.Effects.Below == Exact && len(a.places) == 0 && len(a.claims) == 0 && !a.Target.Is(Elsewhere) {
		return len(a.places) > 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.of[a.Target.ID]
	if list == nil { // it was forgotten for others
		a.Target.Mark(MarkGoes, false)
	}
	for i := range list {
		if list[i].method == a.Effects {
			for _, s := range list[i].stores {
				a.hinted = append(a.hinted, s.store)
			}
		}
	}
	return len(a.hinted)+len(a.places) > 0
}

// Learn notes which other stores an attempt that has ended has called.
func (a *Attempt) Learn(called func(event.StoreID) bool) {
	t := a.Host.hints
	if a.Target == nil || a.Makes != nil {
		return
	}
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
	found = slices.DeleteFunc(found, func(s event.StoreID) bool { return slices.Contains(known, s) || slices.Contains(a.hinted, s) })
	if len(found)+len(a.hinted) == 0 {
		return
	}
	most := hintMissesMax
	if len(a.members.away) == 0 {
		most = hintMissesMaxAlone
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.of[a.Target.ID]
	k := slices.IndexFunc(list, func(h hint) bool { return h.method == a.Effects })
	if k < 0 {
		k = len(list)
		list = append(list, hint{method: a.Effects})
	}
	h := &list[k]
	h.stores = slices.DeleteFunc(h.stores, func(s hinted) bool {
		return slices.Contains(a.hinted, s.store) && !called(s.store) && s.missed+1 >= most
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
		if !slices.ContainsFunc(h.stores, func(o hinted) bool { return o.store == s }) {
			h.stores = append(h.stores, hinted{store: s})
		}
	}
	if len(h.stores) == 0 {
		list = slices.Delete(list, k, k+1)
	}
	t.put(a.Target, list)
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
