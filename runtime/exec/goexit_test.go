package exec

import (
	"runtime"
	"sync"
	"testing"
)

// runtime.Goexit ends the event of its goroutine, also if the attempt had to be withdrawn: no goroutine is
// left to run the next attempt.
func TestGoexitOfAnAttemptThatIsWithdrawn(t *testing.T) {
	var mu sync.Mutex
	var failures []string
	s, cl := testSystem(t, Config{BranchWorkers: 2, Trace: traceFunc(func(e *traced) {
		mu.Lock()
		defer mu.Unlock()
		if e.Err != nil {
			failures = append(failures, e.Err.Error())
		}
	})})
	r, far := newDesk(t, cl), newDesk(t, cl)
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = cl.Await(r.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
			d.setN(cx, 5)
			Async(cx, far.Ref, &methodAlone, work(nil)) // not in the footprint
			runtime.Goexit()
		}))
	})
	wg.Wait()
	if len(failures) != 1 || failures[0] != msgGoexit {
		t.Errorf("failures %q", failures)
	}
	if n := r.see(t, cl); n != 0 {
		t.Errorf("n is %d", n)
	}
	if st := s.Stats(); st.Aborts != 1 {
		t.Errorf("%d aborts", st.Aborts)
	}
}

// A sub-event that calls runtime.Goexit is a dead letter, and those behind it run.
func TestGoexitOfASubEventIsADeadLetter(t *testing.T) {
	s, cl := testSystem(t, Config{})
	a, b := newDesk(t, cl), newDesk(t, cl)
	mustNot(t, a.await(cl, func(cx *Cx, _ *desk) {
		cx.Emit(b.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
			d.setN(cx, 5)
			runtime.Goexit()
		}))
		cx.Emit(b.Ref, &methodAlone, work(func(cx *Cx, d *desk) { d.setN(cx, d.n+2) }))
	}))
	cl.Settle()
	if n := b.see(t, cl); n != 2 {
		t.Errorf("n is %d", n)
	}
	if list := s.DeadLetters(); len(list) != 1 || list[0].Err.Error() != msgGoexit {
		t.Errorf("dead letters %v", list)
	}
}
