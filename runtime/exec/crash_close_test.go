package exec

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/state"
)

// Runs of a workload that crashes may also end by Close, at any moment: while clients, tellers, chains and
// timers are under way, and with crashes in the middle of Close. Then everything that has happened is in the store, what
// was refused has not happened, and what was left happens in the next run, once and in order.

// closer closes the system of a run once so many events were answered.
type closer struct {
	c     *crashes
	g     *generator
	after int
	begin chan struct{} // closed then
	done  chan struct{}
	once  sync.Once
	never bool
}

const (
	closeMax   = time.Minute // the time that the end of a workload's events may take
	holdersMax = 6
	turnsMax   = 400
)

// newCloser returns the closer of this round. It passes the ends of its own events to answered.
func (c *crashes) newCloser(closes bool, answered func(*wargs, error), stuck func(string)) *closer {
	x := &closer{c: c, after: 1 + c.mu.rng.IntN(c.w.events), begin: make(chan struct{}), done: make(chan struct{}), never: !closes}
	if x.never {
		return x
	}
	x.g = &generator{rng: rand.New(rand.NewPCG(c.mu.rng.Uint64(), 97)), sys: c.sys, nodes: slices.Clone(c.nodes), w: c.w}
	go func() {
		defer close(x.done)
		<-x.begin
		late := time.AfterFunc(closeMax, func() { stuck("Close does not end\n") })
		defer late.Stop()
		x.close(answered)
	}()
	return x
}

// close closes the system while events hold some actors, other events wait for these, and time goes by.
func (x *closer) close(answered func(*wargs, error)) {
	s, rng := x.c.sys, x.g.rng
	var group sync.WaitGroup
	var leave []chan struct{}
	for range rng.IntN(holdersMax + 1) {
		r, m, y := x.holder()
		ch := make(chan struct{})
		leave = append(leave, ch)
		y.steps = append([]wstep{{op: wPause, hook: func() { <-ch }}}, y.steps...)
		group.Go(func() { answered(y, s.Client().Await(r.Ref, m, y)) })
		x.turns()
	}
	if rng.IntN(2) == 0 { // firings that wait for those that have begun
		s.Client().rush(time.Duration(rng.IntN(10)) * time.Millisecond)
		x.turns()
	}
	pass := time.Duration(rng.IntN(20)) * time.Millisecond
	group.Go(s.Close)
	group.Go(func() { s.Client().rush(pass) })
	for _, ch := range leave {
		x.turns()
		close(ch)
	}
	group.Wait()
}

// turns lets other goroutines go on for a while.
func (x *closer) turns() {
	for range x.g.rng.IntN(turnsMax) {
		runtime.Gosched()
	}
}

// holder returns an event that will hold its actor while the system is closed. Some holders begin a chain.
// Tellers wait for a holder of their bank.
func (x *closer) holder() (wref, *Method, *wargs) {
	g := x.g
	r := g.ref()
	switch g.rng.IntN(6) {
	case 0, 1:
		r = wref{Named(g.sys.inner, &classNode, g.name())}
	case 2, 3:
		return x.c.bank, &methodLocal, &wargs{steps: g.simple(false)}
	}
	y := &wargs{steps: append(g.simple(true), g.later())}
	if g.rng.IntN(2) == 0 {
		y.steps = append(y.steps, g.tail(3))
	}
	return r, &methodLocal, y
}

// look begins to close once there are enough answers.
func (x *closer) look(answers int) {
	if answers >= x.after {
		x.once.Do(func() { close(x.begin) })
	}
}

// wait returns when the system is closed, if it is to be.
func (x *closer) wait() {
	if x.never {
		return
	}
	x.look(x.after)
	<-x.done
}

// rush is System.rush for a system that may be closed meanwhile. Close waits for it as for an event, and so looks
// later at what has fired.
func (cl *Client) rush(d time.Duration) {
	clientOf(cl).nextID()
	if !clientOf(cl).sys.closing.Load() {
		clientOf(cl).sys.rush(d)
	}
	_ = clientOf(cl).refused(nil)
}

// evict drops and detaches all it can until the channel or the system is closed. Closing the system waits for it.
func (c *crashes) evict(idle <-chan struct{}) (done <-chan struct{}) {
	s := c.sys
	return s.durable.Memory.Run(func(stop <-chan struct{}) {
		for {
			dropped := s.Unload(1)
			c.dropped += dropped
			rest := time.Duration(0)
			if dropped == 0 {
				rest = 50 * time.Microsecond // a search that finds nothing would take a processor of its own
			}
			select {
			case <-idle:
				return
			case <-stop:
				return
			case <-time.After(rest):
			}
		}
	})
}

// await runs an event, in the goroutine of the client or in another one.
func (g *generator) await(cl *Client, r wref, m *Method, x *wargs) error {
	if g.rng.IntN(4) == 0 {
		return cl.Issue(r.Ref, m, x).Wait()
	}
	return cl.Await(r.Ref, m, x)
}

// hear notes how an event has ended. Caller holds mu.
func (c *crashes) hear(x *wargs, err error) {
	switch {
	case x == nil:
	case err == nil || err == event.ErrPostponed:
		c.mu.acked = append(c.mu.acked, x)
	case errors.Is(err, event.ErrClosed):
		c.mu.refused = append(c.mu.refused, x)
	}
}

// happened fails if an event that was refused has happened.
func (h *heard) happened(rec *recorder) error {
	if len(h.refused) == 0 {
		return nil
	}
	refused := make(map[any]bool)
	for _, x := range h.refused {
		refused[x] = true
	}
	for _, t := range rec.sorted() {
		if refused[t.Args] {
			return fmt.Errorf("event %v (order %d, %v on %v) was refused, and has ended with %v", t.ID, t.Order, t.Method, t.Target, t.Err)
		}
	}
	return nil
}

// within fails if an event has left something that is not in the store.
func (r *recorder) within(last int64) error {
	for _, t := range r.sorted() {
		if t.Batch && t.Order > last {
			return fmt.Errorf("event %v (order %d, %v on %v) is lost: the store was closed, and ends with %d", t.ID, t.Order, t.Method, t.Target, last)
		}
	}
	return nil
}

// compareLeft compares what waited in the store with what waits in the model.
func (c *crashes) compareLeft() error {
	var want state.Restored
	want.Actors, want.Continuations = c.sys.Restored().Actors, len(c.model.kept)
	for _, l := range c.model.lanes {
		want.SubEvents += len(l)
	}
	for _, t := range c.model.timers {
		if !t.over {
			want.Timers++
		}
	}
	if got := c.sys.Restored(); got != want {
		return fmt.Errorf("%+v waits in the store, in the model %+v", got, want)
	}
	return nil
}

// countLeft checks the number of calls that Close says it leaves. It counts firings that were due as well.
func (c *crashes) countLeft(postponed int64) error {
	r := c.sys.Restored()
	calls := r.SubEvents + r.Continuations
	if postponed < int64(calls) {
		return fmt.Errorf("%d sub-events and steps wait in the store, and Close has told of %d", calls, postponed)
	}
	c.closed, c.left = c.closed+1, c.left+calls
	return nil
}

// atRest fails if a system that was closed still has anything under way.
func (s *System) atRest() error {
	if n := s.live.Count(); n != 0 || s.Waiting() != 0 || !s.idle() {
		return fmt.Errorf("after Close %d events are under way, %d wait", n, s.Waiting())
	}
	return nil
}

var closeWorkloads = flag.Int("close.runs", 3, "how many workloads are closed again and again")

// closeRuns are workloads in which much is under way at any moment.
var closeRuns = []workload{
	{goroutines: 4, events: 100, nodes: 3, edges: 2, changes: 5, later: 60, tails: 20, tellers: 2, closes: 70},
	{goroutines: 16, events: 300, nodes: 3, edges: 3, changes: 5, later: 50, tails: 40, tellers: 2, closes: 70},
	{goroutines: 32, events: 400, nodes: 12, edges: 30, changes: 15, later: 30, tails: 30, tellers: 4, closes: 70},
}

// lives are how often the systems of some workloads have ended, and how.
type lives struct {
	crashes, closed, left int
	events                int // replayed
}

func (l *lives) add(c *crashes) {
	l.crashes, l.closed, l.left, l.events = l.crashes+c.images, l.closed+c.closed, l.left+c.left, l.events+c.model.replays
}

// TestClosingAmidLifeLosesNothing closes systems on a store in the middle of all they do, beside crashes, and opens them again.
func TestClosingAmidLifeLosesNothing(t *testing.T) {
	first, l := uint64(time.Now().UnixNano()), lives{}
	for seed := first; seed < first+uint64(lessIfShort(*closeWorkloads)); seed++ {
		w := closeRuns[seed%uint64(len(closeRuns))]
		w.seed = seed
		c := newCrashes(w, 12, memDisk{replicatest.New()})
		if err := c.run(func(waits string) { panic(fmt.Sprintf("seed %d: no progress\n%s", seed, waits)) }); err != nil {
			t.Fatalf("after %+v, seed %d: %v", l, seed, err)
		}
		l.add(c)
	}
	if l.closed == 0 || l.left == 0 {
		t.Errorf("nothing was left to a next run: %+v", l)
	}
	t.Logf("from seed %d on: closed %d times, which left %d sub-events and steps; %d crashes; %d events replayed", first, l.closed, l.left, l.crashes, l.events)
}
