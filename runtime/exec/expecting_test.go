package exec

import (
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/runtime/order"
)

// An event runs while something that it acquired still waits further down. It begins its first branch, and another
// goroutine grants it the rest meanwhile.
func TestABranchBeginsWhileLocksAreStillGranted(t *testing.T) {
	_, cl := testSystem(t, Config{BranchWorkers: 2})
	top := newDesk(t, cl)
	var mid, side deskRef
	var low [2]deskRef
	mustNot(t, top.await(cl, func(cx *Cx, d *desk) {
		mid, side = d.hire(cx), d.hire(cx)
		mid.do(cx, func(cx *Cx, m *desk) { low[0], low[1] = m.hire(cx), m.hire(cx) })
	}))
	listed := methodWork
	listed.ArgRefs = func(_ order.Args, f *order.Footprint) {
		for _, r := range []deskRef{mid, low[0], low[1]} {
			f.Add(r.Ref, order.Write)
		}
	}
	for range 100 {
		var held, wg sync.WaitGroup
		held.Add(len(low))
		free := make(chan struct{})
		for _, r := range low {
			wg.Go(func() {
				mustNot(t, cl.Await(r.Ref, &methodAlone, work(func(*Cx, *desk) {
					held.Done()
					<-free
				})))
			})
		}
		held.Wait()
		mustNot(t, cl.Await(top.Ref, &listed, work(func(cx *Cx, _ *desk) {
			mid.do(cx, func(*Cx, *desk) {})
			if !eventOf(cx).Expecting {
				t.Error("nothing is awaited")
			}
			close(free)
			Async(cx, side.Ref, &methodAlone, work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) }))
			for _, r := range low {
				r.do(cx, func(cx *Cx, d *desk) { d.setN(cx, d.n+1) })
			}
		})))
		wg.Wait()
	}
	for _, r := range append(low[:], side) {
		if n := r.see(t, cl); n != 100 {
			t.Errorf("n is %d", n)
		}
	}
}
