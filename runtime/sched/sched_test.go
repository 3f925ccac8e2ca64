package sched

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// interleaving runs tasks that yield, wait for a condition, and wait for each other, and returns in which order they did.
func interleaving(seed uint64) string {
	s := New(seed, func() string { return "nothing" })
	var w Workers
	w.Open(2, s)
	var said strings.Builder
	var mu sync.Mutex
	var news Cond
	news.Init(&mu, s)
	ready, over := false, make(chan struct{})
	for i := range 4 {
		w.Run(func() {
			for n := range 3 {
				fmt.Fprintf(&said, "%d.%d ", i, n)
				s.Yield()
			}
			mu.Lock()
			for i > 0 && !ready {
				news.Wait()
			}
			ready = true
			news.Broadcast()
			mu.Unlock()
			fmt.Fprintf(&said, "%d ", i)
		})
	}
	w.Run(func() {
		s.Until(func() bool { return strings.Count(said.String(), ".2") == 4 })
		close(over)
	})
	s.Wait(over)
	s.Until(w.Idle)
	w.Close()
	return said.String()
}

func TestASeedIsOneOrder(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(50) {
		order := interleaving(seed)
		if again := interleaving(seed); again != order {
			t.Fatalf("seed %d: %s, then %s", seed, order, again)
		}
		if strings.Count(order, ".") != 12 || len(strings.Fields(order)) != 16 {
			t.Fatalf("seed %d: a task has not ended: %s", seed, order)
		}
		seen[order] = true
	}
	if len(seen) < 40 {
		t.Errorf("50 seeds are %d orders", len(seen))
	}
}

// A task that calls runtime.Goexit ends, and what it has deferred runs; the other tasks go on, and no goroutine is left when all have ended.
func TestTasksMayExit(t *testing.T) {
	before := runtime.NumGoroutine()
	s := New(1, func() string { return "nothing" })
	for range 3 {
		var group sync.WaitGroup
		returned, deferred := 0, 0
		for i := range 20 {
			s.Go(&group, func() {
				defer func() { deferred++ }()
				if s.Yield(); i%2 == 0 {
					runtime.Goexit()
				}
				s.Yield()
				returned++
			})
		}
		s.Until(func() bool { return s.tasks == 1 })
		if group.Wait(); returned != 10 || deferred != 20 {
			t.Errorf("%d of 10 have returned, %d of 20 have ended", returned, deferred)
		}
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines are left", runtime.NumGoroutine()-before)
		}
	}
}

// What a scheduled system does not use stays, whatever the garbage collector does, and what was given back last is used first.
func TestAPoolOfAScheduledSystemKeepsWhatItGets(t *testing.T) {
	var p Pool[int]
	made := 0
	p.Open(New(1, func() string { return "nothing" }), func() *int { made++; return &made })
	a, b := new(int), new(int)
	p.Put(a)
	p.Put(b)
	for range 3 {
		runtime.GC()
	}
	if p.Get() != b || p.Get() != a || made != 0 {
		t.Errorf("%d were made anew", made)
	}
	if p.Get() != &made {
		t.Error("none is made")
	}
}

func TestASemaphoreIsHeldByMaxAtATimeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Semaphore
		m.Open(2, nil)
		for range 2 {
			if !m.Acquire(0) {
				t.Fatal("there was room")
			}
		}
		if m.Acquire(time.Second) {
			t.Fatal("three hold it")
		}
		var order []int
		for i := range 3 {
			go func() {
				if m.Acquire(time.Hour) {
					order = append(order, i)
				}
			}()
			synctest.Wait()
		}
		for range 3 {
			m.Release()
			synctest.Wait()
		}
		if !slices.Equal(order, []int{0, 1, 2}) || m.Held() != 2 {
			t.Errorf("let in: %v; held by %d", order, m.Held())
		}
		m.Release()
		m.Release()
		if m.Held() != 0 {
			t.Errorf("held by %d", m.Held())
		}
	})
}

// The wait for one of two channels ends with either of them, and a nil channel is never closed.
func TestWaitsForEitherOfTwo(t *testing.T) {
	for _, seed := range []uint64{0, 1, 2, 3} {
		var s *Scheduler
		if seed > 0 {
			s = New(seed, func() string { return "nothing" })
		}
		var group sync.WaitGroup
		one, other := make(chan struct{}), make(chan struct{})
		waits := [][2]chan struct{}{{one, other}, {other, one}, {one, nil}, {nil, one}}
		ended := make(chan struct{}, len(waits))
		for _, w := range waits {
			s.Go(&group, func() {
				s.WaitEither(w[0], w[1])
				ended <- struct{}{}
			})
		}
		s.Yield()
		if len(ended) > 0 {
			t.Errorf("seed %d: a wait has ended before its channels were closed", seed)
		}
		close(one)
		if s != nil {
			s.Until(func() bool { return len(ended) == len(waits) })
		}
		group.Wait()
	}
}

func TestPendingTellsWhenNothingIsLeft(t *testing.T) {
	var p Pending
	if p.Zero() != nil {
		t.Fatal("nothing was added")
	}
	p.Add(2)
	ch := p.Zero()
	p.Add(-1)
	select {
	case <-ch:
		t.Fatal("one is left")
	default:
	}
	p.Add(-1)
	<-ch
	if p.Zero() != nil || p.Count() != 0 {
		t.Errorf("%d are left", p.Count())
	}
}

func TestWorkersRunAllAndEnd(t *testing.T) {
	var w Workers
	w.Open(1, nil)
	var mu sync.Mutex
	n := 0
	for range 100 {
		w.Run(func() {
			mu.Lock()
			defer mu.Unlock()
			n++
		})
	}
	w.Close()
	if n != 100 {
		t.Errorf("%d of 100 ran before Close returned", n)
	}
	if !w.Reserve() || w.Reserve() {
		t.Error("one branch has a reservation at a time")
	}
	w.Unreserve()
	if !w.Reserve() {
		t.Error("a reservation was given back")
	}
}

func TestNoTaskWaitsForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w Workers
		w.Open(1, nil)
		const tasks = 200
		var begun sync.WaitGroup
		begun.Add(tasks)
		for range tasks {
			w.Run(func() {
				begun.Done()
				begun.Wait() // for all others
			})
		}
		w.Close()
	})
}

func TestShortTasksShareWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		var w Workers
		w.Open(1, nil)
		ran := 0
		for range 1000 {
			w.Run(func() { ran++ })
		}
		synctest.Wait()
		if n := len(w.mu.idle); ran != 1000 || n > 10 {
			t.Errorf("%d of 1000 tasks ran, and had %d workers", ran, n)
		}
		w.Close()
	})
}

// Tasks are taken in order, and a queue that is never empty takes no more memory than it has to.
func TestTasksAreTakenInOrder(t *testing.T) {
	var w Workers
	w.mu.waking = true // no worker takes any
	var ran []int
	given, n, most := 0, 0, 0
	for i := range 10000 {
		for range 1 + i%2 {
			number := given
			given++
			w.Run(func() { ran = append(ran, number) })
		}
		for waiting := len(w.mu.tasks) - w.mu.next; waiting > 5; waiting-- {
			w.take()()
			if len(ran) != n+1 || ran[n] != n {
				t.Fatalf("task %d was taken as number %d", ran[len(ran)-1], n)
			}
			n++
		}
		most = max(most, cap(w.mu.tasks))
	}
	if most > 64 {
		t.Errorf("room for %d tasks, of which 7 wait at most", most)
	}
}
