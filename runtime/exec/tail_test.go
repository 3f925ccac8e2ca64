package exec

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// counted is the argument of methodCount and of methodTake, whose chains count a desk up to a number.
type counted struct {
	to, seen, ret int64
	kids          bool // the step takes the kids, too
}

func (x *counted) AeonResult() any     { return x.ret }
func (x *counted) AeonTake(result any) { x.ret = result.(int64) }

var (
	// methodCount reads n and keeps the desk, for a step that writes n + 1.
	methodCount = Method{Class: &classDesk, Name: "count", Effects: order.Effects{Self: order.Write}}
	// methodTake is that step, which goes on with another round until n has been raised often enough.
	methodTake = Method{Class: &classDesk, Name: "take", Effects: order.Effects{Self: order.Write}}
	// methodTakeKids is methodTake, and writes the kids.
	methodTakeKids = Method{Class: &classDesk, Name: "takeKids", Effects: order.Effects{Self: order.Write, Below: order.Exact, BelowMode: order.Write, Touches: []order.ClassMode{{Shape: &classDesk.Shape, Mode: order.Write}}}}
)

var errBetween = errors.New("an event came between two steps")

func init() {
	for _, m := range []*Method{&methodCount, &methodTake, &methodTakeKids} {
		m.NewArgs = func() order.Args { return &counted{} }
	}
	methodCount.Run = func(cx *Cx, self any, args order.Args) {
		d, x := self.(*desk), args.(*counted)
		if x.to == 0 {
			x.ret = d.n
			return
		}
		next := &methodTake
		if x.kids {
			next = &methodTakeKids
		}
		d.setN(cx, d.n) // written, so that versions count the steps
		cx.TailThis(d.Ref(), next, &counted{to: x.to, seen: d.n, kids: x.kids})
	}
	take := func(cx *Cx, d *desk, x *counted) {
		if d.n != x.seen {
			panic(errBetween)
		}
		d.setN(cx, x.seen+1)
		cx.TailThis(d.Ref(), &methodCount, &counted{to: x.to - 1, kids: x.kids})
	}
	methodTake.Run = func(cx *Cx, self any, args order.Args) { take(cx, self.(*desk), args.(*counted)) }
	methodTakeKids.Narrow = func(self any, _ order.Args, f *order.Footprint) {
		for _, k := range self.(*desk).kids.Items() {
			f.Add(k.Ref, order.Write)
		}
	}
	methodTakeKids.Run = func(cx *Cx, self any, args order.Args) {
		d := self.(*desk)
		for _, k := range d.kids.Items() {
			k.do(cx, func(cx *Cx, k *desk) { k.setN(cx, k.n+1) })
		}
		take(cx, d, args.(*counted))
	}
}

// raise begins a chain that raises r's number so many times, and returns what its last step has seen.
func (r deskRef) raise(cl *Client, times int64, kids bool) (int64, error) {
	x := &counted{to: times, kids: kids}
	err := cl.Await(r.Ref, &methodCount, x)
	return x.ret, err
}

// plus adds one to r's number in an event of m.
func (r deskRef) plus(cl *Client, m *Method) error {
	return cl.Await(r.Ref, m, work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) }))
}

// crowd has many events compete for two desks that share two kids while chains keep the desks. There are events on
// a desk alone, on a desk and all below it, on a kid alone, and from above. It returns how often each desk and kid was raised.
func crowd(s *System, clients int, rounds int) (desks, kids [2]deskRef, want, wantKids [2]int64, err error) {
	cl := s.Client()
	var top deskRef
	r, err := cl.New(&classDesk, &methodDesk, work(nil))
	if err != nil {
		return
	}
	top = deskRef{r}
	err = top.await(cl, func(cx *Cx, d *desk) {
		desks = [2]deskRef{d.hire(cx), d.hire(cx)}
		for i := range kids {
			desks[0].do(cx, func(cx *Cx, d *desk) { kids[i] = d.hire(cx) })
		}
		desks[1].do(cx, func(cx *Cx, d *desk) {
			for _, k := range kids {
				undo.VectorPushOwned(cx.UndoLog(), &d.Self, 4, &d.kids, k)
			}
		})
	})
	if err != nil {
		return
	}
	s.host.AwaitMoves()
	var mu sync.Mutex
	ended := func(i int, e error, n, k int64, kid int) {
		mu.Lock()
		defer mu.Unlock()
		err = errors.Join(err, e)
		want[i] += n
		if kid < 0 {
			wantKids[0] += k
			wantKids[1] += k
			return
		}
		wantKids[kid] += k
	}
	s.beside(clients, func(c int) {
		cl := s.Client()
		for j := range rounds {
			i := (c + j) % 2
			switch (c + 3*j) % 7 {
			case 0:
				_, e := desks[i].raise(cl, 3, false)
				ended(i, e, 3, 0, 0)
			case 1:
				_, e := desks[i].raise(cl, 2, true)
				ended(i, e, 2, 2, -1)
			case 2:
				ended(i, desks[i].plus(cl, &methodAlone), 1, 0, 0)
			case 3:
				ended(i, desks[i].plus(cl, &methodWork), 1, 0, 0)
			case 4:
				ended(i, kids[i].plus(cl, &methodAlone), 0, 1, i)
			case 5: // first a kid, then the desk above it
				e := top.await(cl, func(cx *Cx, _ *desk) {
					kids[1-i].do(cx, func(cx *Cx, k *desk) { k.setN(cx, k.n+1) })
					desks[i].do(cx, func(cx *Cx, d *desk) { d.setN(cx, d.n+1) })
				})
				ended(i, e, 1, 1, 1-i)
			default:
				e := top.await(cl, func(cx *Cx, d *desk) {
					Async(cx, desks[i].Ref, &methodAlone, work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) }))
					d.setN(cx, d.n+1)
				})
				ended(i, e, 1, 0, 0)
			}
		}
	})()
	return
}

// checkCrowd compares what crowd has left with what it did.
func checkCrowd(s *System, clients, rounds int) error {
	desks, kids, want, wantKids, err := crowd(s, clients, rounds)
	if err != nil {
		return err
	}
	cl := s.Client()
	for i := range desks {
		n, err := desks[i].raise(cl, 0, false)
		if err != nil || n != want[i] {
			return fmt.Errorf("desk %d has %d, want %d (%v)", i, n, want[i], err)
		}
		k, err := kids[i].raise(cl, 0, false)
		if err != nil || k != wantKids[i] {
			return fmt.Errorf("kid %d has %d, want %d (%v)", i, k, wantKids[i], err)
		}
	}
	return nil
}

// Many events compete for a kept actor. None gets it between the steps, and none waits for ever, also where
// the steps want actors that lie outside of the actor's part of the sequencing tree.
func TestNoEventComesBetweenTheSteps(t *testing.T) {
	s, _ := testSystem(t, Config{BranchWorkers: 4})
	mustNot(t, checkCrowd(s, 16, 210))
}

func TestNoEventComesBetweenTheStepsUnderManySeeds(t *testing.T) {
	met, seeds := 0, lessIfShort(300)
	for seed := range uint64(seeds) {
		s := Open(Config{Scheduled: true, Seed: seed + 1, Log: quiet})
		if err := checkCrowd(s, 4, 7); err != nil {
			t.Fatalf("seed %d: %v", seed+1, err)
		}
		if s.Stats().Withdrawals > 0 {
			met++
		}
		s.Close()
	}
	if met < seeds/2 {
		t.Errorf("an event met a kept actor under %d of %d seeds only", met, seeds)
	}
	t.Logf("an event met a kept actor under %d of %d seeds", met, seeds)
}

// A step on another actor runs behind what was issued to that actor before. The result of the last step comes back.
func TestAChainGoesRound(t *testing.T) {
	var order []string
	s, cl := testSystem(t, Config{})
	desks := []deskRef{newDesk(t, cl), newDesk(t, cl), newDesk(t, cl)}
	var step func(i int) work
	step = func(i int) work {
		return func(cx *Cx, d *desk) {
			d.setN(cx, d.n+1)
			if i == 10 {
				Abort(cx, "far enough")
			}
			next := desks[(i+1)%3]
			cx.Emit(next.Ref, &methodAlone, work(func(*Cx, *desk) { order = append(order, fmt.Sprint("sub ", i)) }))
			cx.Tail(next.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
				order = append(order, fmt.Sprint("step ", i))
				step(i+1)(cx, d)
			}))
		}
	}
	err := desks[0].await(cl, step(0))
	if err == nil || err.Error() != "far enough" {
		t.Fatalf("the chain ended with %v", err)
	}
	var abort *event.AbortError
	if !errors.As(err, &abort) || !pathHas(abort.Path, "testing.tRunner") {
		t.Errorf("the path does not lead to the client: %v", abort.Path)
	}
	cl.Settle()
	got := strings.Join(order, ", ")
	want := "sub 0, step 0"
	for i := 1; i < 10; i++ {
		want += fmt.Sprintf(", sub %d, step %d", i, i)
	}
	if got != want {
		t.Errorf("order\n%s, want\n%s", got, want)
	}
	for i, d := range desks {
		if n := d.see(t, cl); n != []int64{4, 3, 3}[i] { // the last step is undone
			t.Errorf("desk %d has %d", i, n)
		}
	}
	if list := s.DeadLetters(); len(list) != 0 {
		t.Errorf("dead letters %v", list)
	}
}

func pathHas(path []callpath.Frame, name string) bool {
	for _, f := range path {
		if strings.Contains(f.Func, name) {
			return true
		}
	}
	return false
}

// A chain that an actor has begun is not awaited. Settling waits for it, and so does closing.
func TestAChainThatIsNotAwaited(t *testing.T) {
	s := Open(Config{Log: quiet})
	cl := s.Client()
	r, err := cl.New(&classDesk, &methodDesk, work(nil))
	mustNot(t, err)
	d := deskRef{r}
	var count func(to int64) work
	count = func(to int64) work {
		return func(cx *Cx, d *desk) {
			d.setN(cx, d.n+1)
			if d.n == to {
				Abort(cx, "enough")
			}
			cx.TailThis(d.Ref(), &methodAlone, count(to))
		}
	}
	mustNot(t, d.await(cl, func(cx *Cx, _ *desk) { cx.Emit(d.Ref, &methodAlone, count(50)) }))
	cl.Settle()
	if n := d.see(t, cl); n != 49 {
		t.Errorf("n is %d", n)
	}
	cl.Send(d.Ref, &methodAlone, count(100))
	f := cl.Issue(d.Ref, &methodAlone, count(100))
	s.Close()
	if err := f.Wait(); err == nil || err.Error() != "enough" {
		t.Errorf("the event ended with %v", err)
	}
	if n := len(s.DeadLetters()); n != 3 { // the last one was not awaited either, when the system was closed
		t.Errorf("%d dead letters", n)
	}
}

// A step that calls runtime.Goexit ends the chain, and other events get the actor.
func TestGoexitOfAStep(t *testing.T) {
	_, cl := testSystem(t, Config{})
	d := newDesk(t, cl)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = d.await(cl, func(cx *Cx, d *desk) {
			d.setN(cx, 1)
			cx.TailThis(d.Ref(), &methodAlone, work(func(cx *Cx, d *desk) {
				d.setN(cx, 2)
				runtime.Goexit()
			}))
		})
	}()
	<-done
	if n := d.see(t, cl); n != 1 {
		t.Errorf("n is %d", n)
	}
}

// The trace shows chains: the tail call is the last call that a step has issued.
func TestStepsAreTraced(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	_, cl := testSystem(t, Config{Trace: traceFunc(func(e *traced) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, fmt.Sprintf("%s %s %d of %d, keeps %t", e.Origin.Kind, e.Method, e.Origin.Index, e.Subs, e.Keeps))
	})})
	d := newDesk(t, cl)
	if _, err := d.raise(cl, 1, false); err != nil {
		t.Fatal(err)
	}
	want := []string{"client Desk.count 0 of 1, keeps true", string(trace.Tail) + " Desk.take 1 of 1, keeps true", "tail Desk.count 1 of 0, keeps false"}
	if got := lines[1:]; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("traced\n%s", strings.Join(got, "\n"))
	}
}

// Cancelling ends a chain at its next step, and undoes an event that runs. Other events get the actor.
func TestCancel(t *testing.T) {
	s, cl := testSystem(t, Config{})
	d := newDesk(t, cl)
	var endless func(cx *Cx, d *desk)
	begun := make(chan struct{}, 1)
	endless = func(cx *Cx, d *desk) {
		d.setN(cx, d.n+1)
		if d.n == 100 {
			begun <- struct{}{}
		}
		cx.TailThis(d.Ref(), &methodAlone, work(endless))
	}
	f := cl.Issue(d.Ref, &methodAlone, work(endless))
	<-begun
	f.Cancel()
	if err := f.Wait(); err == nil || err.Error() != "cancelled" {
		t.Errorf("the chain ended with %v", err)
	}
	n := d.see(t, cl)
	if again := d.see(t, cl); n < 99 || again != n { // the step that has reported 100 may be undone
		t.Errorf("n is %d, then %d", n, again)
	}
	inside, cancelled := make(chan struct{}), make(chan struct{})
	f = cl.Issue(d.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
		d.setN(cx, -1)
		close(inside)
		<-cancelled
	}))
	<-inside
	f.Cancel()
	close(cancelled)
	if err := f.Wait(); err == nil || err.Error() != "cancelled" {
		t.Errorf("the event ended with %v", err)
	}
	if again := d.see(t, cl); again != n {
		t.Errorf("n is %d, and was %d", again, n)
	}
	f = cl.Issue(d.Ref, &methodAlone, work(func(cx *Cx, d *desk) { d.setN(cx, -1) }))
	mustNot(t, f.Wait())
	f.Cancel()
	mustNot(t, f.Wait())
	cl.Settle()
	if list := s.DeadLetters(); len(list) != 0 {
		t.Errorf("dead letters %v", list)
	}
}

// An event that is cancelled while it waits ends at once and has done nothing, whatever it waits for.
func TestCancelWakesWaiters(t *testing.T) {
	plus := work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) })
	cases := map[string]struct {
		keeps bool // a chain keeps the clerk, whose kid is busy
		issue func(cl *Client, boss, clerk, kid deskRef, begun *atomic.Bool) *Future
		boss  int64 // its number in the end
	}{
		"for its lock": {issue: func(cl *Client, _, _, kid deskRef, begun *atomic.Bool) *Future {
			begun.Store(true)
			return cl.Issue(kid.Ref, &methodAlone, plus)
		}},
		"for a lock in the middle of its code": {issue: func(cl *Client, boss, _, kid deskRef, begun *atomic.Bool) *Future {
			return cl.Issue(boss.Ref, &methodWork, work(func(cx *Cx, d *desk) {
				plus(cx, d)
				begun.Store(true)
				kid.do(cx, plus)
			}))
		}},
		"for locks in two branches": {issue: func(cl *Client, boss, clerk, kid deskRef, begun *atomic.Bool) *Future {
			return cl.Issue(boss.Ref, &methodWork, work(func(cx *Cx, d *desk) {
				plus(cx, d)
				begun.Store(true)
				Async(cx, clerk.Ref, &methodWork, work(func(cx *Cx, _ *desk) { kid.do(cx, plus) }))
				Async(cx, kid.Ref, &methodAlone, plus)
			}))
		}},
		"as a step of a chain": {boss: 1, issue: func(cl *Client, boss, _, kid deskRef, begun *atomic.Bool) *Future {
			return cl.Issue(boss.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
				plus(cx, d)
				begun.Store(true)
				cx.Tail(kid.Ref, &methodAlone, plus)
			}))
		}},
		"for an actor that is kept": {keeps: true, issue: func(cl *Client, _, clerk, _ deskRef, begun *atomic.Bool) *Future {
			begun.Store(true)
			return cl.Issue(clerk.Ref, &methodAlone, plus)
		}},
		"in the middle of its code, for an actor that is kept": {keeps: true, issue: func(cl *Client, boss, clerk, _ deskRef, begun *atomic.Bool) *Future {
			return cl.Issue(boss.Ref, &methodWork, work(func(cx *Cx, d *desk) {
				plus(cx, d)
				begun.Store(true)
				clerk.do(cx, plus)
			}))
		}},
	}
	for name, c := range cases {
		for _, seed := range []uint64{0, 1, 2, 3} {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				s, cl := testSystem(t, Config{Scheduled: seed > 0, Seed: seed, fanOut: 2})
				boss := newDesk(t, cl)
				var clerk, kid deskRef
				mustNot(t, boss.await(cl, func(cx *Cx, d *desk) {
					clerk = d.hire(cx)
					clerk.do(cx, func(cx *Cx, d *desk) { kid = d.hire(cx) })
				}))
				s.host.AwaitMoves()
				var inside, leave, begun atomic.Bool
				is := func(cond func() bool) {
					until(func() bool { s.scheduler.Yield(); return cond() })
				}
				holder := cl.Issue(kid.Ref, &methodAlone, work(func(*Cx, *desk) {
					inside.Store(true)
					is(leave.Load)
				}))
				is(inside.Load)
				waiting := 1
				var chain *Future
				if c.keeps {
					chain = cl.Issue(clerk.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
						cx.TailThis(d.Ref(), &methodWork, work(func(cx *Cx, _ *desk) { kid.do(cx, plus) }))
					}))
					is(func() bool { return s.Waiting() == 1 })
					waiting++
				}
				f := c.issue(s.Client(), boss, clerk, kid, &begun) // a client of its own: no event of it is before this one
				is(func() bool { return begun.Load() && s.Waiting() >= waiting })
				f.Cancel()
				if err := f.Wait(); err == nil || err.Error() != "cancelled" {
					t.Errorf("the event ended with %v", err)
				}
				leave.Store(true)
				mustNot(t, holder.Wait())
				if c.keeps {
					mustNot(t, chain.Wait())
				}
				want := []int64{c.boss, 0, 0}
				if c.keeps {
					want[2] = 1 // of the chain
				}
				if got := []int64{boss.see(t, cl), clerk.see(t, cl), kid.see(t, cl)}; !slices.Equal(got, want) {
					t.Errorf("the numbers are %v, want %v", got, want)
				}
			})
		}
	}
}

// So does an event that waits for the store's credit while the disk stalls. The event behind it gets the credit.
func TestCancelWakesWaitersForCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &stalled{Engine: replicatest.New()}
		st, err := store.Open(disk, store.Options{Program: "test", Partitions: 4, Log: quiet, CreditBytes: 1})
		mustNot(t, err)
		s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet})
		mustNot(t, err)
		cl := s.Client()
		d := newDesk(t, cl)
		plus := work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) })
		goOn := disk.stall()
		first := cl.Issue(d.Ref, &methodAlone, plus)
		synctest.Wait() // it has used the credit up
		early := cl.Issue(d.Ref, &methodAlone, plus)
		early.Cancel() // before it waits, or when it does
		second := cl.Issue(d.Ref, &methodAlone, plus)
		synctest.Wait()
		third := cl.Issue(d.Ref, &methodAlone, plus)
		synctest.Wait()
		second.Cancel()
		second.Cancel()
		synctest.Wait()
		var ended []bool
		for _, f := range []*Future{first, early, second, third} {
			select {
			case <-futureOf(f).done:
				ended = append(ended, true)
			default:
				ended = append(ended, false)
			}
		}
		if !slices.Equal(ended, []bool{false, true, true, false}) {
			t.Errorf("while the disk stalls, these have ended: %v", ended)
		}
		goOn()
		for _, f := range []*Future{early, second} {
			if err := f.Wait(); err == nil || err.Error() != "cancelled" {
				t.Errorf("the event ended with %v", err)
			}
		}
		mustNot(t, first.Wait())
		mustNot(t, third.Wait())
		for want := int64(2); want < 6; want++ { // cancelled events have taken no credit away
			if n := d.see(t, cl); n != want {
				t.Errorf("n is %d, want %d", n, want)
			}
			mustNot(t, d.await(cl, plus))
		}
		s.Close()
		mustNot(t, st.Close())
	})
}

// A chain that was reported as cancelled stays so after a crash: its next step is not there.
func TestACancelledStepDoesNotRunAfterACrash(t *testing.T) {
	for _, keep := range []bool{true, false} {
		n := startNode(t, Config{})
		a, b := n.fresh(), n.fresh()
		n.run(a, &methodAdopt, wstep{op: wAdopt, ref: b})
		n.sys.host.AwaitMoves() // a move of b would wait for a, and the holder for it
		begun, goOn := make(chan struct{}), make(chan struct{})
		last := wstep{op: wKeep, sub: []wstep{{op: wAdd, n: 1}}}
		if !keep {
			last.op = wTail
		}
		f := n.cl.Issue(a.Ref, &methodScript, &wargs{steps: []wstep{
			{op: wAdd, n: 10}, {op: wPause, hook: func() { close(begun); <-goOn }}, last}})
		<-begun
		var holder *Future
		inside, leave := make(chan struct{}), make(chan struct{})
		holder = n.cl.Issue(b.Ref, &methodLocal, &wargs{steps: []wstep{{op: wPause, hook: func() { close(inside); <-leave }}}})
		if !keep {
			<-inside // the step waits for b
		}
		failpoint = func(name string) {
			if name == "appended/client" { // the first step has committed
				f.Cancel()
			}
		}
		close(goOn)
		err := f.Wait()
		failpoint = nil
		if err == nil || err.Error() != "cancelled" {
			t.Errorf("the chain ended with %v", err)
		}
		left := n.engine.Crash(none)
		close(leave)
		mustNot(t, holder.Wait())
		n.close()
		n.engine = left
		n.open()
		if r := n.sys.Restored(); r.SubEvents+r.Continuations != 0 {
			t.Errorf("%+v goes on", r)
		}
		n.cl.Settle()
		if x, y := n.value(n.again(a)), n.value(n.again(b)); x != 10 || y != 0 {
			t.Errorf("the values are %d and %d", x, y)
		}
		n.close()
	}
}

// A step that calls runtime.Goexit in a lane that another goroutine drains ends its chain. Calls behind it in the lane run.
func TestGoexitOfAStepInALane(t *testing.T) {
	_, cl := testSystem(t, Config{})
	a, b := newDesk(t, cl), newDesk(t, cl)
	hold := make(chan struct{})
	plus := work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) })
	mustNot(t, a.await(cl, func(cx *Cx, _ *desk) {
		cx.Emit(b.Ref, &methodAlone, work(func(cx *Cx, d *desk) { <-hold }))
	}))
	f := cl.Issue(a.Ref, &methodAlone, work(func(cx *Cx, _ *desk) {
		cx.Tail(b.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
			d.setN(cx, 100)
			runtime.Goexit()
		}))
	}))
	mustNot(t, a.await(cl, func(cx *Cx, _ *desk) { cx.Emit(b.Ref, &methodAlone, plus) }))
	close(hold)
	if err := f.Wait(); err == nil || err.Error() != msgGoexit {
		t.Errorf("the chain ended with %v", err)
	}
	cl.Settle()
	if n := b.see(t, cl); n != 1 {
		t.Errorf("n is %d", n)
	}
	mustNot(t, a.await(cl, func(cx *Cx, _ *desk) {
		cx.Emit(a.Ref, &methodAlone, work(func(cx *Cx, _ *desk) {
			cx.Tail(b.Ref, &methodAlone, work(func(*Cx, *desk) { runtime.Goexit() }))
		}))
	}))
	cl.Settle()
	mustNot(t, a.await(cl, func(cx *Cx, _ *desk) { cx.Emit(b.Ref, &methodAlone, plus) }))
	cl.Settle()
	if n := b.see(t, cl); n != 2 {
		t.Errorf("n is %d", n)
	}
}
