package exec

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// A system is closed while clients issue events of every kind, some of which take their goroutine away, and while
// timers fire: all that was begun ends, and no goroutine is left.
func TestCloseAmidEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	for round := range 30 {
		s := Open(Config{Log: quiet, BranchWorkers: 2, fanOut: 1 + round%8, EventsMax: 1 + round%5, QueueDepthMax: 1 + round%3})
		top := newDesk(t, s.Client())
		var kids [3]deskRef
		mustNot(t, top.await(s.Client(), func(cx *Cx, d *desk) {
			for i := range kids {
				kids[i] = d.hire(cx)
			}
			cx.EmitEvery(time.Microsecond, "tick", kids[0].Ref, &methodAlone, work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) }))
		}))
		var wg sync.WaitGroup
		begun := make(chan struct{}, 64)
		for g := range 6 {
			wg.Go(func() {
				cl := s.Client()
				for i := 0; ; i++ {
					target, f := kids[(g+i)%3], work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) })
					switch (g + i) % 6 {
					case 0:
						cl.Send(target.Ref, &methodAlone, f)
					case 1:
						cl.Send(target.Ref, &methodAlone, work(func(*Cx, *desk) { runtime.Goexit() }))
					case 2:
						_ = cl.Issue(top.Ref, &methodWork, work(func(cx *Cx, _ *desk) {
							for _, k := range kids {
								Async(cx, k.Ref, &methodAlone, f)
								cx.Emit(k.Ref, &methodAlone, f)
							}
						})).Wait()
					case 3:
						var gone sync.WaitGroup
						gone.Go(func() { _ = target.await(cl, func(*Cx, *desk) { runtime.Goexit() }) })
						gone.Wait()
					default:
						if err := cl.Await(target.Ref, &methodAlone, f); err == ErrClosed {
							return
						}
					}
					select {
					case begun <- struct{}{}:
					default:
					}
				}
			})
		}
		for range 40 {
			<-begun
		}
		s.Close()
		wg.Wait()
		if n := s.live.n.Load(); n != 0 || s.Waiting() != 0 || !s.idle() {
			t.Fatalf("round %d: %d events are left, %d wait", round, n, s.Waiting())
		}
	}
	late := time.Now().Add(10 * time.Second)
	until(func() bool { return runtime.NumGoroutine() <= before || time.Now().After(late) })
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines before, %d after", before, n)
	}
}
