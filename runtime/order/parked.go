package order

import (
	"bytes"
	"fmt"
	"io"
	"sort"
	"sync"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/lock"
)

// parked lists the events that wait for a lock or a chain now, in rings: an event that parks for a
// microsecond should not pay for a map.
type parked struct{ shard.Set[parkedShard] }

type parkedShard struct {
	mu struct {
		sync.Mutex
		first *Attempt
		n     int
	}
}

// add lists a once more: several branches of one event may wait.
func (p *parked) add(a *Attempt) {
	sh := p.Of(a.ID.Seq)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.mu.n++
	if a.parkCount++; a.parkCount > 1 {
		return
	}
	a.parkPrev, a.parkNext = nil, sh.mu.first
	if sh.mu.first != nil {
		sh.mu.first.parkPrev = a
	}
	sh.mu.first = a
}

func (p *parked) remove(a *Attempt) {
	sh := p.Of(a.ID.Seq)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.mu.n--
	if a.parkCount--; a.parkCount > 0 {
		return
	}
	if a.parkPrev != nil {
		a.parkPrev.parkNext = a.parkNext
	} else {
		sh.mu.first = a.parkNext
	}
	if a.parkNext != nil {
		a.parkNext.parkPrev = a.parkPrev
	}
	a.parkPrev, a.parkNext = nil, nil
}

// WriteWaits writes the wait-for graph: a line for every event that waits for another
// at an actor. It may run at any time; what it shows is true node by node.
func (s *Host) WriteWaits(w io.Writer) {
	nodes := make(map[*Handle]bool)
	var text bytes.Buffer
	for sh := range s.parked.All {
		sh.mu.Lock()
		for ev := sh.mu.first; ev != nil; ev = ev.parkNext {
			// While an event is listed it stays the same event. The goroutine that has its mutex may be listing it, so the mutex
			// is only tried: an event that is just being granted something is left out.
			if ev.mu.TryLock() {
				ev.describe(&text, nodes)
				ev.mu.Unlock()
			}
		}
		sh.mu.Unlock()
	}
	_, _ = w.Write(text.Bytes())
	list := make([]*Handle, 0, len(nodes))
	for h := range nodes {
		list = append(list, h)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID.Less(list[j].ID) })
	for _, h := range list {
		h.latch.Lock()
		if h.queue != nil {
			fmt.Fprintf(w, "  %v, below %v in the sequencing tree\n", h, s.ParentOf(h))
			for e := range h.queue.Waits {
				writeWait(w, h, e)
			}
		}
		h.latch.Unlock()
	}
}

// describe writes what the event, which is parked, wants and has, unless it may go on.
// Caller holds a.mu.
func (a *Attempt) describe(w io.Writer, nodes map[*Handle]bool) {
	if k := a.awaits; k != nil {
		fmt.Fprintf(w, "event %v: %v on %v, waits for chain %v to leave %v\n", a.ID, a.Work, a.Target, k.first, k.h)
		return
	}
	if a.pending == 0 && !a.parallel {
		return
	}
	fmt.Fprintf(w, "event %v attempt %d: %v on %v\n   footprint", a.ID, a.home.ID().Attempt, a.Work, a.Target)
	for _, f := range [...]*footprint{&a.members, &a.narrowed} {
		for _, m := range f.members {
			fmt.Fprintf(w, " %v:%v", m.h, m.mode)
		}
	}
	fmt.Fprintf(w, "; visits")
	for h := range a.home.Visited {
		nodes[h] = true
		fmt.Fprintf(w, " %v:%v", h, a.home.Holds(h))
	}
	fmt.Fprintln(w)
}

func writeWait(w io.Writer, h *Handle, e lock.WaitEdge[*Attempt]) {
	if e.For.Event == nil {
		fmt.Fprintf(w, "  at %v: %v.%d wants %v, waits for %v (%v)\n", h, e.Waiter.Event.ID, e.Waiter.Attempt, e.Mode, e.Why, e.Held)
		return
	}
	fmt.Fprintf(w, "  at %v: %v.%d wants %v, waits for %v.%d (%v): %v\n", h, e.Waiter.Event.ID, e.Waiter.Attempt, e.Mode,
		e.For.Event.ID, e.For.Attempt, e.Held, e.Why)
}

// Waiting returns how many events wait for a lock, or for a chain to leave an actor, now.
func (s *Host) Waiting() (n int) {
	for sh := range s.parked.All {
		sh.mu.Lock()
		n += sh.mu.n
		sh.mu.Unlock()
	}
	return n
}
