package exec

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/undo"
)

func TestNamedActorIsMadeByItsFirstEventAndUndoneWithIt(t *testing.T) {
	s, cl := testSystem(t, Config{})
	r := deskRef{Named(cl, &classDesk, "hq")}
	if r != (deskRef{Named(s.Client(), &classDesk, "hq")}) {
		t.Error("one name, two actors")
	}
	err := r.await(cl, func(cx *Cx, d *desk) {
		if d.n != 1 {
			t.Errorf("the constructor has not run: n = %d", d.n)
		}
		d.setN(cx, 3)
		Abort(cx, "no")
	})
	if err == nil {
		t.Fatal("committed")
	}
	if n := r.see(t, cl); n != 1 {
		t.Errorf("n = %d after the first event was undone, want that of the constructor", n)
	}
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) { d.setN(cx, 8) }))
	mustNot(t, cl.Delete(r.Ref))
	if err := r.await(cl, func(*Cx, *desk) {}); err == nil || !strings.Contains(err.Error(), "was deleted") {
		t.Errorf("call of a deleted actor: %v", err)
	}
	if n := (deskRef{Named(cl, &classDesk, "hq")}).see(t, cl); n != 1 {
		t.Errorf("a deleted name starts with n = %d", n)
	}
	// Many first events at once: one constructor.
	var wg sync.WaitGroup
	many := deskRef{Named(cl, &classDesk, "many")}
	for range 32 {
		wg.Go(func() {
			_ = many.await(s.Client(), func(cx *Cx, d *desk) { d.setN(cx, d.n+1) })
		})
	}
	wg.Wait()
	if n := many.see(t, cl); n != 33 {
		t.Errorf("n = %d, want 33", n)
	}
}

func TestOwnershipCycleAborts(t *testing.T) {
	s, cl := testSystem(t, Config{})
	r := newDesk(t, cl)
	var a, b deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) {
		a = d.hire(cx)
		a.do(cx, func(cx *Cx, d *desk) { b = d.hire(cx) })
	}))
	own := func(cx *Cx, d *desk, boss deskRef) {
		undo.FieldOwned(cx.UndoLog(), &d.Self, 7, &d.boss, boss)
		d.boss = boss
	}
	for _, c := range []deskRef{r, a, b} {
		if err := b.await(cl, func(cx *Cx, d *desk) { own(cx, d, c) }); err == nil || err.Error() != msgCycle {
			t.Errorf("b owns %v: %v", c, err)
		}
	}
	// Also with edges that are not committed yet, and after turning one round.
	x, y := newDesk(t, cl), newDesk(t, cl)
	err := x.await(cl, func(cx *Cx, d *desk) {
		own(cx, d, y)
		y.do(cx, func(cx *Cx, d *desk) { own(cx, d, x) })
	})
	if err == nil || err.Error() != msgCycle {
		t.Errorf("two halves in one event: %v", err)
	}
	mustNot(t, x.await(cl, func(cx *Cx, d *desk) { own(cx, d, y) }))
	mustNot(t, x.await(cl, func(cx *Cx, d *desk) {
		own(cx, d, deskRef{})
		y.do(cx, func(cx *Cx, d *desk) { own(cx, d, x) })
	}))
	if !s.host.Graph.IsAncestor(s.host.Graph.TOP(), &order.HandleOf(x.Bare()).Node) {
		t.Error("x is not in the tree")
	}
}

// A move within one actor needs no hold of the actor that moves: it ends while another event holds that actor for writing.
func TestMovesWithinAnActorHoldNothingElse(t *testing.T) {
	s, cl := testSystem(t, Config{})
	r := newDesk(t, cl)
	var kid deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) { kid = d.hire(cx) }))
	entered, leave := make(chan struct{}), make(chan struct{})
	busy := make(chan error)
	go func() {
		busy <- kid.await(s.Client(), func(*Cx, *desk) { close(entered); <-leave })
	}()
	<-entered
	moved := make(chan error, 1)
	go func() {
		moved <- r.await(s.Client(), func(cx *Cx, d *desk) {
			k := undo.VectorPopOwned(cx.UndoLog(), &d.Self, 4, &d.kids)
			undo.FieldOwned(cx.UndoLog(), &d.Self, 7, &d.boss, k)
			d.boss = k
			undo.VectorPushOwned(cx.UndoLog(), &d.Self, 4, &d.kids, k)
		})
	}()
	select {
	case err := <-moved:
		mustNot(t, err)
	case <-time.After(10 * time.Second):
		t.Error("the move waits for the actor that it moves")
	}
	close(leave)
	mustNot(t, <-busy)
	if n := s.host.Graph.Units(&order.HandleOf(r.Bare()).Node, &order.HandleOf(kid.Bare()).Node); n != 2 {
		t.Errorf("%d references, want 2", n)
	}
	// While the edge is away, it can be turned round; putting it back closes a cycle then.
	err := r.await(cl, func(cx *Cx, d *desk) {
		undo.FieldOwned(cx.UndoLog(), &d.Self, 7, &d.boss, deskRef{})
		d.boss = deskRef{}
		k := undo.VectorPopOwned(cx.UndoLog(), &d.Self, 4, &d.kids)
		k.do(cx, func(cx *Cx, d *desk) {
			undo.FieldOwned(cx.UndoLog(), &d.Self, 7, &d.boss, r)
			d.boss = r
		})
		undo.VectorPushOwned(cx.UndoLog(), &d.Self, 4, &d.kids, k)
	})
	if err == nil || err.Error() != msgCycle {
		t.Errorf("a turned edge was put back: %v", err)
	}
}

func TestHalvesOfACycleInTwoEventsNeverBothCommit(t *testing.T) {
	s, cl := testSystem(t, Config{})
	for range 200 {
		x, y := newDesk(t, cl), newDesk(t, cl)
		var wg sync.WaitGroup
		var errs [2]error
		for i, p := range [][2]deskRef{{x, y}, {y, x}} {
			wg.Go(func() {
				errs[i] = p[0].await(s.Client(), func(cx *Cx, d *desk) {
					undo.FieldOwned(cx.UndoLog(), &d.Self, 7, &d.boss, p[1])
					d.boss = p[1]
				})
			})
		}
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("ended with %v and %v, want one cycle", errs[0], errs[1])
		}
	}
}

func TestFreshActorWithSeveralOwnersOrNone(t *testing.T) {
	s, cl := testSystem(t, Config{})
	r := newDesk(t, cl)
	var a, b, shared, loose deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) {
		a, b = d.hire(cx), d.hire(cx)
		a.do(cx, func(cx *Cx, d *desk) { shared = d.hire(cx) })
		b.do(cx, func(cx *Cx, d *desk) { undo.VectorPushOwned(cx.UndoLog(), &d.Self, 4, &d.kids, shared) })
		k := New[*desk](cx, &classDesk)
		Constructed(cx)
		loose = deskRef{k.Self.Ref()}
	}))
	if p := s.host.ParentOf(order.HandleOf(shared.Bare())); p != order.HandleOf(r.Bare()) {
		t.Errorf("the shared actor hangs below %v", p)
	}
	if p := s.host.ParentOf(order.HandleOf(a.Bare())); p != order.HandleOf(r.Bare()) {
		t.Errorf("the child hangs below %v", p)
	}
	if p := s.host.ParentOf(order.HandleOf(loose.Bare())); !p.Is(order.Virtual) {
		t.Errorf("the actor without owner hangs below %v", p)
	}
	// archive.Ownership changes, and the tree follows by itself.
	mustNot(t, b.await(cl, func(cx *Cx, d *desk) { undo.VectorPopOwned(cx.UndoLog(), &d.Self, 4, &d.kids) }))
	s.host.AwaitMoves()
	if p := s.host.ParentOf(order.HandleOf(shared.Bare())); p != order.HandleOf(a.Bare()) {
		t.Errorf("after b has let go it hangs below %v", p)
	}
}

func TestDepthAndFuelLimitsNameThemselves(t *testing.T) {
	_, cl := testSystem(t, Config{DepthMax: 100, FuelMax: 1000})
	r := newDesk(t, cl)
	var limit *event.LimitError
	err := r.await(cl, func(cx *Cx, d *desk) {
		var recurse func()
		recurse = func() { cx.Step(); recurse(); cx.Leave() }
		recurse()
	})
	if !errors.As(err, &limit) || limit.Limit != "DepthMax" || !strings.Contains(err.Error(), "too many nested calls: the limit is 100, and no flag changes it; see that the recursion ends") {
		t.Errorf("recursion: %v", err)
	}
	err = r.await(cl, func(cx *Cx, _ *desk) {
		for {
			cx.Spend()
		}
	})
	if !errors.As(err, &limit) || limit.Limit != "FuelMax" || !strings.Contains(err.Error(), "too many loop iterations in one step: the limit is 1000, and no flag changes it; see that the loop ends") {
		t.Errorf("loop: %v", err)
	}
}

func TestFullQueueHoldsClientsBackAndNamesTheLimit(t *testing.T) {
	s, cl := testSystem(t, Config{QueueDepthMax: 2, EventsMax: 4, AdmissionWaitMax: 50 * time.Millisecond})
	r := newDesk(t, cl)
	in, out := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = r.await(cl, func(*Cx, *desk) { close(in); <-out })
	})
	<-in
	for range 2 {
		wg.Go(func() { mustNot(t, r.await(s.Client(), func(*Cx, *desk) {})) })
	}
	until(func() bool { return s.Waiting() >= 2 })
	var limit *event.LimitError
	if err := r.await(cl, func(*Cx, *desk) {}); !errors.As(err, &limit) || limit.Limit != "QueueDepthMax" {
		t.Errorf("third in the queue: %v", err)
	}
	other := newDesk(t, cl)
	hold := make(chan struct{})
	for range 4 {
		cl.Send(newDesk(t, cl).Ref, &methodAlone, work(func(*Cx, *desk) { <-hold }))
	}
	if err := cl.Issue(other.Ref, &methodAlone, work(nil)).Wait(); !errors.As(err, &limit) || limit.Limit != "EventsMax" {
		t.Errorf("fifth event issued: %v", err)
	}
	// A sub-event is never refused.
	mustNot(t, cl.Await(newDesk(t, cl).Ref, &methodAlone, work(func(cx *Cx, _ *desk) {
		for range 20 {
			cx.Emit(r.Ref, &methodAlone, work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) }))
		}
	})))
	close(out)
	close(hold)
	wg.Wait()
	cl.Settle()
	if n := r.see(t, cl); n != 20 {
		t.Errorf("%d of 20 sub-events have run", n)
	}
}

func TestCallbacksRunOneAtATimeInCommitOrder(t *testing.T) {
	s, cl := testSystem(t, Config{})
	type screen struct {
		ClientObject
		got    []int64
		inside int
	}
	var sc screen
	ref := NewClientObject(cl, &sc.ClientObject, &sc)
	show := &ClientMethod{Class: "Screen", Name: "show", Run: func(_ *Client, self any, args order.Args) {
		v := self.(*screen)
		v.inside++
		if v.inside != 1 {
			t.Error("two callbacks at once")
		}
		v.got = append(v.got, args.(int64))
		v.inside--
	}}
	r := newDesk(t, cl)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			mine := s.Client()
			for range 50 {
				_ = r.await(mine, func(cx *Cx, d *desk) {
					d.setN(cx, d.n+1)
					cx.Callback(ref, show, d.n)
					if d.n%7 == 0 {
						Abort(cx, "unlucky")
					}
				})
				_ = r.await(mine, func(cx *Cx, d *desk) { d.setN(cx, d.n+1) })
			}
		})
	}
	wg.Wait()
	cl.Settle()
	for i := 1; i < len(sc.got); i++ {
		if sc.got[i] <= sc.got[i-1] {
			t.Fatalf("callback %d came after %d", sc.got[i], sc.got[i-1])
		}
	}
	if len(sc.got) == 0 {
		t.Error("no callback has come")
	}
	cl.Close()
	n := len(sc.got)
	mustNot(t, r.await(s.Client(), func(cx *Cx, _ *desk) { cx.Callback(ref, show, int64(1)) }))
	cl.Settle()
	if len(sc.got) != n {
		t.Error("a client that has gone was called back")
	}
}

func TestFailureTellsPlaceAndPathAcrossActors(t *testing.T) {
	_, cl := testSystem(t, Config{BranchWorkers: 2})
	r := newDesk(t, cl)
	var a, b deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) {
		a = d.hire(cx)
		b = d.hire(cx)
	}))
	err := outer(cl, r, a)
	var abort *event.AbortError
	if !errors.As(err, &abort) {
		t.Fatal(err)
	}
	if !abort.Fault || !strings.Contains(abort.Msg, "index out of range") {
		t.Errorf("failure %+v", abort)
	}
	// The frames of the runtime are left out; these tests are in its package, so what is
	// left is the test runner's.
	if strings.Contains(abort.Trace(), "exec.(*Cx)") {
		t.Errorf("path shows the runtime:\n%s", abort.Trace())
	}
	_ = b
}

func outer(cl *Client, r, a deskRef) error {
	return r.await(cl, func(cx *Cx, _ *desk) {
		a.do(cx, func(*Cx, *desk) {
			var none []int
			_ = none[len(none)]
		})
	})
}

func TestEventsSeeOneTimeAndTheirOwnRandomNumbers(t *testing.T) {
	s, cl := testSystem(t, Config{Clock: sched.RealClock{}, BranchWorkers: 2})
	r := newDesk(t, cl)
	var a deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) { a = d.hire(cx) }))
	draws := map[int][]float64{}
	runs := 0
	other := newDesk(t, cl)
	mustNot(t, r.await(cl, func(cx *Cx, _ *desk) {
		runs++
		t0 := cx.Now()
		draw := []float64{cx.Random()}
		Async(cx, a.Ref, &methodAlone, work(func(cx *Cx, _ *desk) { draw = append(draw, cx.Random()) }))
		a.do(cx, func(*Cx, *desk) {})
		draw = append(draw, cx.Random())
		until(func() bool { return time.Now().UnixNano() > t0+1e6 })
		if cx.Now() != t0 {
			t.Error("time went on within an event")
		}
		draws[runs] = draw
		other.do(cx, func(*Cx, *desk) {}) // not below r: withdrawn, and run again
	}))
	if runs != 2 || s.Stats().Withdrawals != 1 {
		t.Fatalf("%d runs, %+v", runs, s.Stats())
	}
	for i := range draws[1] {
		if draws[1][i] != draws[2][i] {
			t.Errorf("the second attempt drew %v, the first %v", draws[2], draws[1])
		}
	}
}
