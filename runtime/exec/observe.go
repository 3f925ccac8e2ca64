package exec

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
)

// counters count what became of the events of one client.
type counters struct {
	begun       atomic.Uint64 // each ends as a commit or an abort, unless it is a move in T
	commits     atomic.Uint64
	aborts      atomic.Uint64
	withdrawals atomic.Uint64
	reroutes    atomic.Uint64
	_           [64]byte // clients do not share cache lines
}

// addTo adds the counters to t.
func (c *counters) addTo(t *Stats) {
	t.Commits += c.commits.Load()
	t.Aborts += c.aborts.Load()
	t.Withdrawals += c.withdrawals.Load()
	t.Reroutes += c.reroutes.Load()
}

type systemCounters struct {
	deadLetters      atomic.Uint64
	callbackFailures atomic.Uint64
	moves            atomic.Uint64
	admissionWaits   atomic.Uint64
}

// Stats are the counters of a system, summed over its clients.
type Stats struct {
	Commits          uint64 // events that committed
	Aborts           uint64 // events that failed and were undone
	Withdrawals      uint64 // attempts withdrawn after code of the program had run
	Reroutes         uint64 // attempts withdrawn before any code had run
	DeadLetters      uint64 // failures that nobody awaited
	CallbackFailures uint64 // callbacks that panicked
	Moves            uint64 // moves in the sequencing tree
	AdmissionWaits   uint64 // pauses of clients before full queues
}

// Stats returns the counters as they are now. Any goroutine.
func (s *System) Stats() Stats {
	t := Stats{
		DeadLetters:      s.stats.deadLetters.Load(),
		CallbackFailures: s.stats.callbackFailures.Load(),
		Moves:            s.stats.moves.Load(),
		AdmissionWaits:   s.stats.admissionWaits.Load(),
	}
	s.clients.Lock()
	defer s.clients.Unlock()
	past := &s.clients.past
	t.Commits, t.Aborts, t.Withdrawals, t.Reroutes = past.Commits, past.Aborts, past.Withdrawals, past.Reroutes
	for c := range s.clients.counters {
		c.addTo(&t)
	}
	return t
}

// DeadLetter is the failure of an event that nobody awaited.
type DeadLetter struct {
	Event  event.EventID
	Target Ref
	Method string
	Err    error
	At     time.Time
}

// CallbackFailure is the failure of a callback, of which no client learns either.
type CallbackFailure struct {
	Method string // Class.method
	Err    error
	Path   []Frame // innermost first
}

const lettersMax = 1024 // dead letters kept for inspection, and failures of callbacks, the newest

type letters struct {
	mu struct {
		sync.Mutex
		list      []DeadLetter
		callbacks []CallbackFailure
	}
}

// newest appends x to a list that keeps its newest elements.
func newest[T any](list []T, x T) []T {
	if len(list) >= lettersMax {
		list = append(list[:0], list[lettersMax/2:]...)
	}
	return append(list, x)
}

// deadLetter notes a failure that nobody awaits, once what it tells of is durable.
func (s *System) deadLetter(f letter) {
	if f.err == ErrClosed { // it has not failed: it was not run, and Undone tells of all of them
		s.undone.Add(1)
		return
	}
	s.stats.deadLetters.Add(1)
	if s.durable != nil && f.pos > 0 {
		s.egress.add(outgoing{pos: f.pos, letter: &f})
		s.egress.start()
		return
	}
	s.deliverLetter(f)
}

func (s *System) deliverLetter(f letter) {
	method := f.method.String()
	attrs := []any{"event", f.id.String(), "actor", f.target.String(), "method", method, "error", f.err.Error()}
	var abort *AbortError
	if errors.As(f.err, &abort) {
		attrs = append(attrs, places(abort.Path)...)
	}
	s.log.Warn("dead letter", attrs...)
	l := &s.letters
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.list = newest(l.mu.list, DeadLetter{Event: f.id, Target: Ref{h: f.target}, Method: method, Err: f.err, At: s.clock.Now()})
}

// callbackFailed notes a failure of a callback; stack is of Go, if the failure is a bug of the system.
func (s *System) callbackFailed(f CallbackFailure, stack string) {
	s.stats.callbackFailures.Add(1)
	attrs := append([]any{"method", f.Method, "error", f.Err.Error()}, places(f.Path)...)
	if stack != "" {
		attrs = append(attrs, "stack", stack)
	}
	s.log.Error("callback failed", attrs...)
	l := &s.letters
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.callbacks = newest(l.mu.callbacks, f)
}

// CallbackFailures returns the newest failures of callbacks, oldest first.
func (s *System) CallbackFailures() []CallbackFailure {
	s.letters.mu.Lock()
	defer s.letters.mu.Unlock()
	return append([]CallbackFailure(nil), s.letters.mu.callbacks...)
}

// DeadLetters returns the newest dead letters, oldest first.
func (s *System) DeadLetters() []DeadLetter {
	s.letters.mu.Lock()
	defer s.letters.mu.Unlock()
	list := append([]DeadLetter(nil), s.letters.mu.list...)
	for i := range list {
		list[i].Err = ownError(list[i].Err)
	}
	return list
}

const parkedShards = 16

// parked lists the events that wait for a lock or a chain now, in rings: an event that parks for a
// microsecond should not pay for a map.
type parked [parkedShards]struct {
	mu struct {
		sync.Mutex
		first *Attempt
		n     int
	}
	_ [40]byte
}

// add lists ev once more: several branches of one event may wait.
func (p *parked) add(a *Attempt) {
	sh := &p[a.id.Seq%parkedShards]
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
	sh := &p[a.id.Seq%parkedShards]
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
func (s *System) WriteWaits(w io.Writer) {
	nodes := make(map[*Handle]bool)
	var text lineBuffer
	for i := range s.parked {
		sh := &s.parked[i]
		sh.mu.Lock()
		for ev := sh.mu.first; ev != nil; ev = ev.parkNext {
			// While it is listed it stays what it is. Who has its mutex may be listing it: so only a
			// try, and an event that is just being granted something is left out.
			if ev.mu.TryLock() {
				ev.describe(&text, nodes)
				ev.mu.Unlock()
			}
		}
		sh.mu.Unlock()
	}
	_, _ = w.Write(text)
	list := make([]*Handle, 0, len(nodes))
	for h := range nodes {
		list = append(list, h)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].id.Less(list[j].id) })
	for _, h := range list {
		h.latch.Lock()
		if h.queue != nil {
			fmt.Fprintf(w, "  %v, below %v in the sequencing tree\n", h, s.parentOf(h))
			for e := range h.queue.Waits {
				writeWait(w, h, e)
			}
		}
		h.latch.Unlock()
	}
}

// describe writes what the event, which is parked, wants and has, unless it may go on.
// Caller holds ev.mu.
func (a *Attempt) describe(w io.Writer, nodes map[*Handle]bool) {
	if k := a.awaits; k != nil {
		fmt.Fprintf(w, "event %v: %v on %v, waits for chain %v to leave %v\n", a.id, a.method, a.target, k.first, k.h)
		return
	}
	if a.pending == 0 && !a.parallel {
		return
	}
	fmt.Fprintf(w, "event %v attempt %d: %v on %v\n   footprint", a.id, a.home.ID().Attempt, a.method, a.target)
	for _, f := range [...]*Footprint{&a.members, &a.narrowed} {
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
		fmt.Fprintf(w, "  at %v: %v.%d wants %v, waits for %v (%v)\n", h, e.Waiter.Event.id, e.Waiter.Attempt, e.Mode, e.Why, e.Held)
		return
	}
	fmt.Fprintf(w, "  at %v: %v.%d wants %v, waits for %v.%d (%v): %v\n", h, e.Waiter.Event.id, e.Waiter.Attempt, e.Mode,
		e.For.Event.id, e.For.Attempt, e.Held, e.Why)
}

// Progress returns a number that grows whenever an event ends. A watchdog that sees it
// stand still while events wait has found a deadlock.
func (s *System) Progress() uint64 {
	t := s.Stats()
	return t.Commits + t.Aborts + t.Withdrawals + t.Reroutes + t.Moves
}

// Waiting returns how many events wait for a lock, or for a chain to leave an actor, now.
func (s *System) Waiting() (n int) {
	for i := range s.parked {
		sh := &s.parked[i]
		sh.mu.Lock()
		n += sh.mu.n
		sh.mu.Unlock()
	}
	return n
}

// Watch checks every interval that something progresses while events wait, until stop is
// closed; if not, it calls stuck with the wait-for graph, once. The caller runs it in a
// goroutine and joins it.
func (s *System) Watch(interval time.Duration, stop <-chan struct{}, stuck func(waits string)) {
	t := time.NewTicker(interval)
	defer t.Stop()
	last := s.Progress()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
		}
		now := s.Progress()
		if now == last && s.Waiting() > 0 {
			var b lineBuffer
			s.WriteWaits(&b)
			stuck(string(b))
			return
		}
		last = now
	}
}

type lineBuffer []byte

// Write implements io.Writer.
func (b *lineBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}
