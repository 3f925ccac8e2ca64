package exec

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// familyVisits has guests of one actor write two of its children, in both orders, beside
// lazy readers of the same. Guests take their time between their hold and their enqueues.
func familyVisits() int {
	planted.linger = true
	s := Open(Config{Log: quiet, fanOut: 3}) // small trees are read lazily, too
	nodes, err := workload{nodes: 3}.plant(s)
	if err != nil {
		fmt.Println(err)
		return exitMissed
	}
	for _, c := range nodes[1:] {
		_ = s.Client().Await(nodes[0].Ref, &methodAdopt, &wargs{steps: []wstep{{op: wAdopt, ref: c}}})
	}
	s.host.maintainer.wait() // the children hang below the root in T now
	stop := make(chan struct{})
	defer close(stop)
	go s.Watch(2*time.Second, stop, func(waits string) {
		fmt.Println("caught: no progress\n" + waits)
		os.Exit(exitCaught)
	})
	visit := func(k int, op wstep) []wstep {
		sub := []wstep{op, {op: wPause}}
		return []wstep{{op: wCall, k: k, sub: sub}, {op: wPause}, {op: wCall, k: 1 - k, sub: sub}}
	}
	var wg sync.WaitGroup
	var visits, visitors atomic.Int32
	visitors.Store(15)
	for range visitors.Load() {
		wg.Go(func() {
			cl := s.Client()
			for j := range 1000 {
				_ = cl.Await(nodes[0].Ref, &methodKids, &wargs{steps: visit(int(visits.Add(1)+int32(j/3))%2, wstep{op: wAdd, n: 1})})
			}
			visitors.Add(-1)
		})
	}
	wg.Go(func() {
		cl := s.Client()
		for visitors.Load() > 0 { // seldom: there are no guests where a lazy reader waits
			_ = cl.Await(nodes[0].Ref, &methodWalk, &wargs{steps: visit(1, wstep{op: wGet})})
			n := visits.Load() + 30
			until(func() bool { return visits.Load() >= n || visitors.Load() == 0 })
		}
	})
	wg.Wait()
	return exitMissed
}

// intruder has a writer wait for a guest, so that it holds the actor through the queue
// when it works; a reader comes between its two writes.
func intruder() int {
	var mu sync.Mutex
	var trace []*traced
	s := Open(Config{Log: quiet, Trace: traceFunc(func(t *traced) {
		mu.Lock()
		trace = append(trace, t)
		mu.Unlock()
	})})
	nodes, err := workload{nodes: 2}.plant(s)
	if err != nil {
		fmt.Println(err)
		return exitMissed
	}
	var wg sync.WaitGroup
	var readers atomic.Int32
	event := func(m *Method, steps ...wstep) {
		wg.Go(func() {
			_ = s.Client().Await(nodes[0].Ref, m, &wargs{steps: steps})
			if m == &methodPeek {
				readers.Add(1)
			}
		})
	}
	stop := func(in, goOn chan struct{}) wstep { return wstep{op: wPause, hook: func() { close(in); <-goOn }} }
	reading, writing := make(chan struct{}), make(chan struct{})
	readOn, writeOn := make(chan struct{}), make(chan struct{})
	event(&methodPeek, wstep{op: wGet}, stop(reading, readOn))
	<-reading
	event(&methodLocal, wstep{op: wAdd, n: 5}, stop(writing, writeOn), wstep{op: wAdd, n: 6})
	until(func() bool { return s.Waiting() > 0 })
	close(readOn)
	<-writing
	until(func() bool { return readers.Load() == 1 })
	event(&methodPeek, wstep{op: wGet})
	until(func() bool { return readers.Load() == 2 || s.Waiting() > 0 })
	close(writeOn)
	wg.Wait()
	if err := replayAll(s, trace, nil); err != nil {
		fmt.Println("caught:", err)
		return exitCaught
	}
	return exitMissed
}

// oneByOne has two guests of one actor write the same two children, the first of which is
// busy when they come. The second guest enqueues on both between the steps of the first.
func oneByOne() int {
	var steps atomic.Int32
	planted.oneByOne = func() {
		if steps.Add(1) == 1 {
			until(func() bool { return steps.Load() == 3 })
		}
	}
	s := Open(Config{Log: quiet})
	nodes, err := workload{nodes: 3}.plant(s)
	if err != nil {
		fmt.Println(err)
		return exitMissed
	}
	for _, c := range nodes[1:] {
		_ = s.Client().Await(nodes[0].Ref, &methodAdopt, &wargs{steps: []wstep{{op: wAdopt, ref: c}}})
	}
	s.host.maintainer.wait()
	stop := make(chan struct{})
	defer close(stop)
	go s.Watch(time.Second, stop, func(waits string) {
		fmt.Println("caught: no progress\n" + waits)
		os.Exit(exitCaught)
	})
	var wg sync.WaitGroup
	in, leave := make(chan struct{}), make(chan struct{})
	wg.Go(func() {
		_ = s.Client().Await(nodes[1].Ref, &methodLocal, &wargs{steps: []wstep{
			{op: wAdd, n: 1}, {op: wPause, hook: func() { close(in); <-leave }}}})
	})
	<-in
	both := []wstep{{op: wCall, k: 0, sub: []wstep{{op: wAdd, n: 1}}}, {op: wCall, k: 1, sub: []wstep{{op: wAdd, n: 1}}}}
	for _, n := range []int32{1, 4} {
		wg.Go(func() { _ = s.Client().Await(nodes[0].Ref, &methodKids, &wargs{steps: both}) })
		until(func() bool { return steps.Load() >= n })
	}
	close(leave)
	wg.Wait()
	return exitMissed
}

// badJournal panics once it is told to.
type badJournal struct {
	*store.Store
	bad atomic.Bool
}

func (j *badJournal) Append(b store.Batch) store.Position {
	if j.bad.Load() {
		panic("the disk is full")
	}
	return j.Store.Append(b)
}

// brokenJournal has a commit panic while the event holds its actor, in a caller that
// recovers whatever comes, and goes on. The process must not.
func brokenJournal() int {
	st, err := store.Open(memengine.New(), store.Options{Program: "test", Log: quiet})
	if err != nil {
		fmt.Println(err)
		return exitMissed
	}
	j := &badJournal{Store: st}
	s, err := Recover(Config{Log: quiet, Store: st, Classes: testClasses, journal: j})
	if err != nil {
		fmt.Println(err)
		return exitMissed
	}
	nodes, err := workload{nodes: 1}.plant(s)
	if err != nil {
		fmt.Println(err)
		return exitMissed
	}
	j.bad.Store(true)
	func() {
		defer func() { _ = recover() }()
		_ = s.Client().Await(nodes[0].Ref, &methodLocal, &wargs{steps: []wstep{{op: wAdd, n: 1}}})
	}()
	return exitMissed
}
