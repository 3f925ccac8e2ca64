package order

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/watch"
)

// What waits for what, for operators and for tests that have found a deadlock. It may be asked at any time; what it shows is true
// node by node.

// Wait is an edge of the wait-for graph.
type Wait struct {
	Event  event.EventID
	Work   string // its method
	Target *Handle
	At     *Handle // where it waits; virtual: a partition, or all of them
	Wants  string  // read, write, or pass: to what is below At
	Why    string
	// For is what it waits for: an event, with its method and target; with Chain the first event of a chain, which keeps At between two
	// steps. It is zero if readers hold At that the lock does not know by name.
	For       event.EventID
	ForWork   string
	ForTarget *Handle
	Chain     bool
	// Of and ForOf are the stores of the events, if they have only parts in this one; else nil.
	Of, ForOf *event.StoreID
}

// WaitGraph returns which events wait for which, with those that wait at some other nodes.
func (s *Host) WaitGraph(also []*Handle) (list []Wait) {
	nodes := make(map[*Handle]bool)
	for _, h := range also {
		nodes[h] = true
	}
	s.eachParked(func(a *Attempt) {
		if k := a.awaits; k != nil {
			list = append(list, Wait{Event: a.ID, Work: a.Work.String(), Target: a.Target, At: k.h, For: k.first, Chain: true, Wants: "write", Why: "a chain keeps the actor"})
			return
		}
		for _, w := range a.followed {
			list = append(list, *w)
		}
		for h := range a.home.Visited {
			nodes[h] = true
		}
	})
	eachQueue(nodes, func(h *Handle) {
		for e := range h.queue.Waits {
			w := Wait{Event: e.Waiter.Event.ID, Work: e.Waiter.Event.Work.String(), Target: e.Waiter.Event.Target, At: h, Wants: modeNames[e.Mode], Why: e.Why.String(), Of: e.Waiter.Event.partOf()}
			if by := e.For.Event; by != nil {
				w.For, w.ForWork, w.ForTarget, w.ForOf = by.ID, by.Work.String(), by.Target, by.partOf()
			}
			list = append(list, w)
		}
	})
	return list
}

var modeNames = [...]string{lock.None: "pass", lock.Read: "read", lock.Write: "write"}

// Visit is a node that an attempt holds, or waits at.
type Visit struct {
	At    *Handle
	Mode  string // read, write, or pass
	Holds bool
}

// Look returns the nodes at which an attempt over several stores is, if it waits or is a part. ok is false if it is over, is just going on, or runs code at its home.
func (a *Attempt) Look(token uint32) (list []Visit, ok bool) {
	if !a.mu.TryLock() {
		return nil, false
	}
	defer a.mu.Unlock()
	if a.Token() != token || !a.isPart && !a.Host.parked.has(a) {
		return nil, false
	}
	for v := range a.home.Visits {
		list = append(list, Visit{v.Node, modeNames[v.Mode], v.Granted})
	}
	return list, true
}

// eachParked calls f with the events that wait, and their mutex.
func (s *Host) eachParked(f func(*Attempt)) {
	for sh := range s.parked.All {
		sh.mu.Lock()
		for a := sh.mu.first; a != nil; a = a.parkNext {
			// While an event is listed it stays the same event. The goroutine that has its mutex may be listing it, so the mutex
			// is only tried: an event that is just being granted something is left out.
			if a.mu.TryLock() {
				if a.awaits != nil || len(a.followed) > 0 || a.pending > 0 || a.parallel { // else it may go on
					f(a)
				}
				a.mu.Unlock()
			}
		}
		sh.mu.Unlock()
	}
}

// eachQueue calls f with those of the nodes that have a queue, and their latch, in the order of their ids.
func eachQueue(nodes map[*Handle]bool, f func(*Handle)) {
	list := make([]*Handle, 0, len(nodes))
	for h := range nodes {
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b *Handle) int {
		switch {
		case a.ID == b.ID:
			return 0
		case a.ID.Less(b.ID):
			return -1
		}
		return 1
	})
	for _, h := range list {
		h.latch.Lock()
		if h.queue != nil {
			f(h)
		}
		h.latch.Unlock()
	}
}

// WriteWaits writes the wait-for graph with all that the locks know: a line for every event that waits for another
// at an actor.
func (s *Host) WriteWaits(w io.Writer) {
	nodes := make(map[*Handle]bool)
	var text bytes.Buffer
	s.eachParked(func(a *Attempt) { a.describe(&text, nodes) })
	_, _ = w.Write(text.Bytes())
	eachQueue(nodes, func(h *Handle) {
		fmt.Fprintf(w, "  %v, below %v in the sequencing tree\n", h, s.ParentOf(h))
		for e := range h.queue.Waits {
			writeWait(w, h, e)
		}
	})
}

// describe writes what the event, which is parked, wants and has.
// Caller holds a.mu.
func (a *Attempt) describe(w io.Writer, nodes map[*Handle]bool) {
	if k := a.awaits; k != nil {
		fmt.Fprintf(w, "event %v: %v on %v, waits for chain %v to leave %v\n", a.ID, a.Work, a.Target, k.first, k.h)
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

// tellWithdrawn tells followers that the attempt is withdrawn, and why.
func (a *Attempt) tellWithdrawn(w Withdrawal) {
	if hub := a.Host.watch; hub != nil && hub.Listened() && a.moveTo == nil {
		class, method, _ := strings.Cut(a.Work.String(), ".")
		l := watch.Line{Time: time.Now(), Kind: watch.Withdrawn, Event: a.ID.String(), Method: method, Failure: bytejson.Text(a.whyWithdrawn(w))}
		if a.Target != nil {
			l.Actor = bytejson.Text(a.Target.Known(nil))
		}
		hub.Tell(l, class)
	}
}

// whyWithdrawn says why the attempt is withdrawn.
func (a *Attempt) whyWithdrawn(w Withdrawal) string {
	m := w.claim
	a.mu.Lock()
	broken := a.across.isBroken()
	if broken && a.across.claim.h != nil {
		m = a.across.claim
	}
	a.mu.Unlock()
	switch {
	case w.Kept != nil:
		return fmt.Sprintf("a chain keeps %v", w.Kept.h.Known(nil))
	case w.InTurn:
		return "an async call is the first to call an actor, so it must run alone"
	case w.Lacks != nil:
		return (&event.AwayError{Store: w.Lacks.Of, Lacks: w.Lacks.Name}).Error()
	case m.h == nil && broken:
		return "another store has lost its part, has ended, or is reached again"
	case m.h == nil:
		return "the actors that it was to touch have changed"
	}
	what, where := m.h.Known(nil), ""
	if m.h.ID.IsWholePartition() {
		what = "a new actor"
	}
	if m.h.Is(Elsewhere) {
		where = fmt.Sprintf(" in store %d", a.Host.ordering.StoreOf(m.h.ID))
	}
	mode := modeNames[max(lockMode(m.mode), lock.Read)]
	if a.unordered() {
		return fmt.Sprintf("it could not %s %s%s at once, and has no place in the order of the stores", mode, what, where)
	}
	return fmt.Sprintf("it needs to %s %s%s, which it has not entered with", mode, what, where)
}
