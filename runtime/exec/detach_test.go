package exec

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// Nothing of actors that are not used stays in memory, and all of them are found again.
func TestPassivatedActorsLeaveNothing(t *testing.T) {
	n := startNode(t, Config{})
	b, list := openBank(t, n.sys, "one", 300)
	ids := []order.Ref{b.Ref}
	for _, a := range list {
		ids = append(ids, a.Ref)
	}
	root := n.fresh()
	for range 3 {
		collected(func() bool {
			n.sys.Unload(1)
			live, _ := n.sys.durable.Actors()
			return live == 0
		})
		mustNot(t, n.sys.host.Graph.Validate())
		if got := n.sys.Resolve(b.ID()); got != b.Ref {
			t.Error("a reference that is held has changed")
		}
		if sum := n.audit("one"); sum != 300_000 {
			t.Errorf("the accounts have %d", sum)
		}
		mustNot(t, b.Transfer(n.cl, "a3", "a4", 5))
		n.run(root, &methodLocal, wstep{op: wAdd, n: 1})
	}
	if got := n.value(root); got != 3 {
		t.Errorf("the root has %d", got)
	}
	runtime.KeepAlive(ids)
	id, rootID := b.ID(), root.ID()
	b, list, ids, root = bankRef{}, nil, nil, wref{}
	collected(func() bool {
		n.sys.Unload(1)
		live, loose := n.sys.durable.Actors()
		return live == 0 && loose < 3
	})
	if sum, err := (bankRef{n.sys.Resolve(id)}).Audit(n.cl); sum != 300_000 || err != nil {
		t.Errorf("the accounts have %d, %v", sum, err)
	}
	if got := n.value(wref{n.sys.Resolve(rootID)}); got != 3 {
		t.Errorf("the root has %d", got)
	}
	n.close()
}

// An actor that has a timer, is kept or has several owners stays.
func TestWhatIsNeededIsNotDetached(t *testing.T) {
	n := startNode(t, Config{})
	a, p, q, c := n.fresh(), n.fresh(), n.fresh(), n.fresh()
	n.run(a, &methodLocal, wstep{op: wAfter, n: 30, sub: []wstep{{op: wAdd, n: 1}}})
	n.run(p, &methodAdopt, wstep{op: wAdopt, ref: c})
	n.run(q, &methodAdopt, wstep{op: wAdopt, ref: c})
	n.sys.host.AwaitMoves()
	for range 4 {
		n.sys.Unload(1)
	}
	for i, r := range []wref{a, p, q, c} {
		if order.HandleOf(r.Bare()).Is(order.Detached) {
			t.Errorf("actor %d was detached", i)
		}
	}
	mustNot(t, n.sys.host.Graph.Validate())
	n.run(q, &methodLocal, wstep{op: wDrop})
	n.sys.host.AwaitMoves()
	n.cl.Advance(30e6)
	for range 4 {
		n.sys.Unload(1)
	}
	for i, r := range []wref{a, p, q, c} {
		if !order.HandleOf(r.Bare()).Is(order.Detached) {
			t.Errorf("actor %d is attached", i)
		}
	}
	n.close()
}

// An actor stays for as long as it has a timer, and no longer, also after a crash.
func TestTimersKeepTheirIssuersAttached(t *testing.T) {
	after := func(ms, add int64, name string) wstep {
		return wstep{op: wAfter, n: ms, name: name, sub: []wstep{{op: wAdd, n: add}}}
	}
	tick := wstep{op: wEvery, n: 10, name: "tick", sub: []wstep{{op: wAdd, n: 1}}}
	cases := map[string]struct {
		runs  [][]wstep // one event each
		stays [4]bool   // at 0, 10, 20 and 30 ms
		adds  int64
	}{
		"none":                     {[][]wstep{{{op: wAdd, n: 5}}}, [4]bool{}, 5},
		"one":                      {[][]wstep{{after(10, 1, "")}}, [4]bool{true}, 1},
		"two, the later one first": {[][]wstep{{after(20, 1, "")}, {after(10, 2, "")}}, [4]bool{true, true}, 3},
		"three":                    {[][]wstep{{after(10, 1, ""), after(30, 2, ""), after(20, 4, "")}}, [4]bool{true, true, true}, 7},
		"one that was replaced":    {[][]wstep{{after(10, 1, "x")}, {after(20, 2, "x")}}, [4]bool{true, true}, 2},
		"one replaced at once":     {[][]wstep{{after(20, 1, "x"), after(10, 2, "x")}}, [4]bool{true}, 2},
		"one that was cancelled":   {[][]wstep{{after(10, 1, "x")}, {{op: wCancel, name: "x"}}}, [4]bool{}, 0},
		"one cancelled at once":    {[][]wstep{{after(10, 1, "x"), {op: wCancel, name: "x"}}}, [4]bool{}, 0},
		"another cancelled":        {[][]wstep{{after(10, 1, "x"), after(20, 2, "y"), after(10, 4, "")}, {{op: wCancel, name: "y"}}}, [4]bool{true}, 5},
		"periodic":                 {[][]wstep{{tick}}, [4]bool{true, true, true, true}, 4},
		"periodic, cancelled by another timer": {[][]wstep{{tick}, {{op: wAfter, n: 15, sub: []wstep{{op: wCancel, name: "tick"}}}}},
			[4]bool{true, true}, 1},
	}
	for name, c := range cases {
		for _, crash := range []bool{false, true} {
			n := startNode(t, Config{})
			r := n.fresh()
			for _, steps := range c.runs {
				n.run(r, &methodLocal, steps...)
			}
			for at, stays := range c.stays {
				if crash {
					n.crash(all)
					r = n.again(r)
				}
				for range 4 {
					n.sys.Unload(1)
				}
				if order.HandleOf(r.Bare()).Is(order.Detached) == stays {
					t.Errorf("%s: at %d ms it is there: %v", name, 10*at, !stays)
				}
				mustNot(t, n.sys.host.Graph.Validate())
				n.cl.Advance(10 * time.Millisecond)
			}
			if got := n.value(r); got != c.adds {
				t.Errorf("%s: its value is %d, not %d", name, got, c.adds)
			}
			n.close()
		}
	}
}

// Timers are set, replaced and cancelled, and fire, while the evictor detaches their actors: nothing is lost.
func TestTimersAmidDetaching(t *testing.T) {
	n := startNode(t, Config{Clock: sched.RealClock{}})
	const actors = 8
	rounds := lessIfShort(40)
	var list [actors]wref
	for i := range list {
		list[i] = n.fresh()
	}
	stop := again(func(int) { n.sys.Unload(1) })
	var users sync.WaitGroup
	for i, r := range list {
		users.Go(func() {
			cl := n.sys.Client()
			add := []wstep{{op: wAdd, n: 1}}
			for round := range rounds {
				steps := []wstep{{op: wAfter, n: int64(round % 2), sub: add}, {op: wAfter, n: 1000_000, name: "x", sub: add}}
				if round%3 > 0 {
					steps = append(steps, wstep{op: wCancel, name: "x"})
				}
				if err := cl.Await(r.Ref, &methodLocal, &wargs{steps: steps}); err != nil {
					t.Error(i, err)
				}
				if round%3 > 0 {
					until(func() bool { return order.HandleOf(r.Bare()).Is(order.Detached) })
				}
			}
			if err := cl.Await(r.Ref, &methodLocal, &wargs{steps: []wstep{{op: wCancel, name: "x"}}}); err != nil {
				t.Error(i, err)
			}
		})
	}
	users.Wait()
	mustNot(t, n.sys.Quiesce(t.Context()))
	for i, r := range list {
		if got := n.value(r); got != int64(rounds) {
			t.Errorf("the timers of actor %d have added %d", i, got)
		}
	}
	stop()
	for range 4 {
		n.sys.Unload(1)
	}
	for i, r := range list {
		if !order.HandleOf(r.Bare()).Is(order.Detached) {
			t.Errorf("actor %d is attached", i)
		}
	}
	if left := n.sys.timers.Counts(); left != (outbox.TimerCounts{}) {
		t.Errorf("of the timers there is left: %+v", left)
	}
	n.close()
}
