package exec

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// Timers that became due while no process was there fire when the store is opened, in their order and in bursts. Between
// two bursts other events run, among them timers that become due then, unless they are of the same issuer.
func TestLateTimersFireInBursts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var due, fired []time.Time // of a
		var others []time.Time
		var a, other wref
		n := startNode(t, Config{Clock: sched.RealClock{}, Trace: traceFunc(func(e *traced) {
			if f, ok := e.Args.(*fireArgs); ok {
				mu.Lock()
				defer mu.Unlock()
				if f.t.Issuer.ID == other.ID() {
					others = append(others, time.Now())
					return
				}
				due, fired = append(due, f.t.Due), append(fired, time.Now())
			}
		})})
		a, other = n.fresh(), n.fresh()
		const late = 3*outbox.LateBurst + 10
		var steps []wstep
		for i := range late {
			steps = append(steps, wstep{op: wAfter, n: int64(1000 + (i*7)%late), sub: []wstep{{op: wAdd, n: 1}}})
		}
		n.run(a, &methodLocal, steps...)
		left := n.engine.Crash(none)
		n.close()
		time.Sleep(time.Hour)
		n.engine = left
		n.open()
		opened := time.Now()
		n.run(n.again(a), &methodLocal, wstep{op: wAfter, n: 2, sub: []wstep{{op: wAdd, n: 1000}}}) // due after them
		n.run(n.again(other), &methodLocal, wstep{op: wAfter, n: 2}, wstep{op: wEvery, n: 4, name: "tick"})
		for range 10 {
			n.run(n.again(other), &methodLocal, wstep{op: wAdd, n: 1}, wstep{op: wEmitNamed, name: "ann"})
			time.Sleep(time.Millisecond) // these wake the timers, but a burst comes no earlier for that
		}
		n.run(n.again(other), &methodLocal, wstep{op: wCancel, name: "tick"})
		time.Sleep(time.Second)
		n.cl.Settle()
		if got := n.value(n.again(a)); got != late+1000 {
			t.Errorf("the timers have added %d, not %d", got, late+1000)
		}
		for i, ms := range []time.Duration{2, 4, 8} {
			if want := opened.Add(ms * time.Millisecond); len(others) <= i || others[i].Sub(want).Abs() > outbox.LatePause/5 {
				t.Errorf("the timers of another actor fired at %v, opened at %v", others, opened)
				break
			}
		}
		if len(due) != late+1 {
			t.Fatalf("%d timers have fired", len(due))
		}
		for i := range late + 1 {
			// A latch that is contended naps for microseconds, which the bubble's clock counts.
			if want := opened.Add(time.Duration(i/outbox.LateBurst) * outbox.LatePause); fired[i].Sub(want).Abs() > outbox.LatePause/5 {
				t.Fatalf("late timer %d fired %v after the opening, not %v", i, fired[i].Sub(opened), want.Sub(opened))
			}
			if i > 0 && due[i].Before(due[i-1]) {
				t.Errorf("timer %d was due before the one that fired before it", i)
			}
		}
		n.close()
	})
}

// A timer that is not due before time ends, as the store counts it, is not due at the next opening either.
func TestTimersOfTheFarFuture(t *testing.T) {
	n := startNode(t, Config{})
	a := n.fresh()
	const ages = math.MaxInt64 / int64(time.Millisecond)
	add := []wstep{{op: wAdd, n: 1}}
	n.run(a, &methodLocal, wstep{op: wAfter, n: ages, sub: add}, wstep{op: wEvery, n: ages, name: "x", sub: add})
	for range 2 {
		n.cl.Advance(time.Hour)
		if got := n.value(n.again(a)); got != 0 {
			t.Errorf("%d have fired", got)
		}
		n.reopen()
	}
	n.close()
}

// A timer whose period is that long fires once, and not again before time ends.
func TestTicksOfTheFarFuture(t *testing.T) {
	n := startNode(t, Config{})
	d := newDesk(t, n.cl)
	account, err := n.bank("one").Open(n.cl, "a")
	mustNot(t, err)
	mustNot(t, d.await(n.cl, func(cx *Cx, self *desk) {
		cx.EmitAfterEvery(account.Ref, &methodDeposit, &depositArgs{amount: 1}, time.Second, math.MaxInt64, "x")
	}))
	for range 3 {
		n.cl.Advance(time.Hour)
		if got, err := (accountRef{n.sys.Resolve(account.ID())}).Balance(n.cl); got != 1 || err != nil {
			t.Errorf("it has fired %d times, %v", got, err)
		}
		n.reopen()
	}
	n.close()
}
