package exec

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
)

// TestProbes builds schedules that are rare in random runs: each shows a bug of the locks, which spec/plants plants.
func TestProbes(t *testing.T) {
	t.Run("lazy readers", lazyReaders)
	t.Run("stale field", staleField)
	t.Run("family visits", familyVisits)
	t.Run("intruder", intruder)
	t.Run("one step", oneStep)
}

// probe is a system with one node that owns all others.
type probe struct {
	*System
	t      *testing.T
	nodes  []wref
	events sync.WaitGroup
}

// newProbe opens a system, which ends the process if it hangs.
func newProbe(t *testing.T, cfg Config, nodes int) *probe {
	t.Helper()
	cfg.Log = quiet
	p := &probe{System: Open(cfg), t: t}
	stop, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		p.Watch(2*time.Second, stop, func(waits string) { panic("no progress\n" + waits) })
	}()
	t.Cleanup(func() {
		close(stop)
		<-watched
		p.Close()
	})
	var err error
	p.nodes, err = workload{nodes: nodes}.plant(p.System)
	mustNot(t, err)
	for _, c := range p.nodes[1:] {
		mustNot(t, p.Client().Await(p.nodes[0].Ref, &methodAdopt, &wargs{steps: []wstep{{op: wAdopt, ref: c}}}))
	}
	p.host.AwaitMoves() // the children hang below the root in T now
	return p
}

// event begins an event of a client of its own.
func (p *probe) event(r wref, m *Method, steps ...wstep) (ended *atomic.Bool) {
	ended = new(atomic.Bool)
	p.events.Go(func() {
		if err := p.Client().Await(r.Ref, m, &wargs{steps: steps}); err != nil {
			p.t.Errorf("%v: %v", m, err)
		}
		ended.Store(true)
	})
	return ended
}

// stay is a step at which an event stays, once it has closed in, until goOn is closed.
func stay(in, goOn chan struct{}) wstep {
	return wstep{op: wPause, hook: func() { close(in); <-goOn }}
}

// waitAt returns how many events wait at a node.
func waitAt(r wref) int {
	return order.HandleOf(r.Ref).Waiting()
}

// lazyReaders builds the deadlock that lazy readers run into if they share a node. Two
// of them hold the root; each holds one child and wants the other. Behind each child's
// holder a direct writer waits, which the other reader may not overtake.
func lazyReaders(t *testing.T) {
	p := newProbe(t, Config{fanOut: 3}, 3) // small trees are read lazily, too
	root, kids := p.nodes[0], p.nodes[1:]
	// The readers meet in their first child before they go to the second.
	var inside atomic.Int32
	meet, wrote := make(chan struct{}), make(chan struct{})
	for first := range kids {
		p.event(root, &methodWalk,
			wstep{op: wCall, k: first, sub: []wstep{{op: wGet}}},
			wstep{op: wPause, hook: func() {
				inside.Add(1)
				select {
				case meet <- struct{}{}:
				case <-meet:
				case <-time.After(200 * time.Millisecond): // the other reader cannot come: it waits, as it should
				}
				<-wrote
			}},
			wstep{op: wCall, k: 1 - first, sub: []wstep{{op: wGet}}})
	}
	until(func() bool { return inside.Load() == 2 || inside.Load() == 1 && p.Waiting() == 1 })
	for _, c := range kids {
		p.event(c, &methodLocal, wstep{op: wAdd, n: 1})
	}
	until(func() bool { return p.Waiting() >= 2 })
	close(wrote)
	p.events.Wait()
}

// staleField builds the case of protocol.md: an event reads the target of its call from a
// field that another event, which holds the field's actor, is about to change. A third
// event is at work in the actor that the first will really call.
func staleField(t *testing.T) {
	rec := &recorder{}
	p := newProbe(t, Config{Trace: traceFunc(rec.Ended)}, 3)
	root, b := p.nodes[0], p.nodes[2]
	inRoot, inB := make(chan struct{}), make(chan struct{})
	goOn, leaveB := make(chan struct{}), make(chan struct{})
	p.event(root, &methodLocal, stay(inRoot, goOn), wstep{op: wDrop, k: 0}) // changes root's first kid to b
	p.event(b, &methodLocal, wstep{op: wAdd, n: 5}, stay(inB, leaveB), wstep{op: wAdd, n: 6})
	<-inRoot
	<-inB
	called := p.event(root, &methodKids, wstep{op: wCall, k: 0, sub: []wstep{{op: wGet}, {op: wAdd, n: 7}}})
	until(func() bool { return p.Waiting() > 0 })
	close(goOn)
	until(func() bool { return called.Load() || waitAt(b) > 0 })
	close(leaveB)
	p.events.Wait()
	mustNot(t, replayAll(p.System, rec.list, nil))
}

// familyVisits has fast-path holders of one actor write two of its children, in both orders, beside
// lazy readers of the same actor.
func familyVisits(t *testing.T) {
	p := newProbe(t, Config{fanOut: 3}, 3) // small trees are read lazily, too
	visit := func(m *Method, first int, op wstep) {
		sub := []wstep{op, {op: wPause}}
		steps := []wstep{{op: wCall, k: first, sub: sub}, {op: wPause}, {op: wCall, k: 1 - first, sub: sub}}
		if err := p.Client().Await(p.nodes[0].Ref, m, &wargs{steps: steps}); err != nil {
			t.Errorf("%v: %v", m, err)
		}
	}
	var visits, visitors atomic.Int32
	visitors.Store(15)
	for range visitors.Load() {
		p.events.Go(func() {
			for j := range 1000 {
				visit(&methodKids, int(visits.Add(1)+int32(j/3))%2, wstep{op: wAdd, n: 1})
			}
			visitors.Add(-1)
		})
	}
	p.events.Go(func() {
		for visitors.Load() > 0 { // seldom: the fast path is closed where a lazy reader waits
			visit(&methodWalk, 1, wstep{op: wGet})
			n := visits.Load() + 30
			until(func() bool { return visits.Load() >= n || visitors.Load() == 0 })
		}
	})
	p.events.Wait()
}

// intruder has a writer wait for a fast-path holder, so that the writer holds the actor through the queue
// when it works. A reader comes between its two writes.
func intruder(t *testing.T) {
	rec := &recorder{}
	p := newProbe(t, Config{Trace: traceFunc(rec.Ended)}, 1)
	r := p.nodes[0]
	reading, writing := make(chan struct{}), make(chan struct{})
	readOn, writeOn := make(chan struct{}), make(chan struct{})
	first := p.event(r, &methodPeek, wstep{op: wGet}, stay(reading, readOn))
	<-reading
	p.event(r, &methodLocal, wstep{op: wAdd, n: 5}, stay(writing, writeOn), wstep{op: wAdd, n: 6})
	until(func() bool { return p.Waiting() > 0 })
	close(readOn)
	<-writing
	until(first.Load)
	second := p.event(r, &methodPeek, wstep{op: wGet})
	until(func() bool { return second.Load() || p.Waiting() > 0 })
	close(writeOn)
	p.events.Wait()
	mustNot(t, replayAll(p.System, rec.list, nil))
}

// oneStep has two fast-path holders of one actor write the same two children. The first child is
// busy when they come. Each holder enqueues on both children in one step.
func oneStep(t *testing.T) {
	p := newProbe(t, Config{}, 3)
	root, kid := p.nodes[0], p.nodes[1]
	in, leave := make(chan struct{}), make(chan struct{})
	p.event(kid, &methodLocal, wstep{op: wAdd, n: 1}, stay(in, leave))
	<-in
	for n := range 2 {
		p.event(root, &methodKids, wstep{op: wCall, k: 0, sub: []wstep{{op: wAdd, n: 1}}}, wstep{op: wCall, k: 1, sub: []wstep{{op: wAdd, n: 1}}})
		until(func() bool { return waitAt(kid) > n })
	}
	close(leave)
	p.events.Wait()
}
