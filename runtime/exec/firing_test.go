package exec

import (
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/sched"
)

// Timers of one actor that are due together fire in the order in which they were set, also
// in real time, where a firing does not wait until the one before has settled.
func TestTimersOfAnActorFireInOrder(t *testing.T) {
	const timers = 40
	s, cl := testSystem(t, Config{Clock: sched.RealClock{}})
	for range 20 {
		r := newDesk(t, cl)
		mustNot(t, r.await(cl, func(cx *Cx, _ *desk) {
			for i := range int64(timers) {
				cx.EmitAfter(time.Millisecond, "", r.Ref, &methodWork, work(func(cx *Cx, d *desk) {
					if d.n != i {
						t.Errorf("timer %d has fired as number %d", i, d.n)
					}
					d.setN(cx, d.n+1)
				}))
			}
		}))
		mustNot(t, s.Quiesce(t.Context()))
		if n := r.see(t, cl); n != timers {
			t.Errorf("%d of %d timers have fired", n, timers)
		}
		if t.Failed() {
			return
		}
	}
}
