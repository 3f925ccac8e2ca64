package exec

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
)

// parentAndKid returns a desk and one that it owns.
func parentAndKid(t *testing.T, cl *Client) (p, k deskRef) {
	t.Helper()
	p = newDesk(t, cl)
	mustNot(t, p.await(cl, func(cx *Cx, d *desk) { k = d.hire(cx) }))
	return p, k
}

func TestNoEventSeesAnUndoneDelete(t *testing.T) {
	s, cl := testSystem(t, Config{})
	p, k := parentAndKid(t, cl)
	deleting, seen := make(chan struct{}), make(chan error, 1)
	go func() {
		<-deleting
		seen <- p.await(s.Client(), func(cx *Cx, d *desk) { k.do(cx, func(cx *Cx, d *desk) { d.setN(cx, 7) }) })
	}()
	err := cl.Await(k.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
		Delete(cx, k.Ref)
		close(deleting)
		until(func() bool { return s.Waiting() > 0 })
		Abort(cx, "not after all")
	}))
	if err == nil || err.Error() != "not after all" {
		t.Fatal(err)
	}
	if err := <-seen; err != nil {
		t.Errorf("an event met an actor whose deletion was undone: %v", err)
	}
	if n := k.see(t, cl); n != 7 {
		t.Errorf("n = %d", n)
	}
}

func TestOwnershipOfAnActorWhoseDeletionIsUndone(t *testing.T) {
	s, cl := testSystem(t, Config{})
	p := newLoose(t, cl)
	r, err := cl.New(&classAccount, &methodLoose, nil)
	mustNot(t, err)
	a := accountRef{r}
	for _, add := range []bool{true, false} {
		s.host.AwaitMoves() // a move would hold p and wait for a, whose holder waits for an event on p
		deleting, stored := make(chan struct{}), make(chan error, 1)
		go func() {
			<-deleting
			if add {
				stored <- cl.Await(p.Ref, &methodStoreLoose, a)
			} else {
				stored <- cl.Await(p.Ref, &methodDropLoose, nil)
			}
		}()
		_ = s.Client().Await(a.Ref, &methodRevoke, func(cx *Cx) {
			Delete(cx, a.Ref)
			close(deleting)
			mustNot(t, <-stored)
			Abort(cx, "not after all")
		})
		want := 0
		if add {
			want = 1
		}
		if n := s.host.Graph.Units(&order.HandleOf(p.Bare()).Node, &order.HandleOf(a.Bare()).Node); n != want {
			t.Errorf("add %v: the graph has %d references, the field %d", add, n, want)
		}
	}
}

// loose is an actor of a class that needs no cycle check: it owns an account.
type loose struct {
	order.Self
	account accountRef
}

var (
	classLoose       = Class{Shape: order.Shape{Package: "t", Name: "Loose", Fields: []order.Field{{Name: "account", Owning: true}}}}
	methodLoose      = Method{Class: &classLoose, Name: "Loose", Effects: order.Effects{Self: order.Write}}
	methodStoreLoose = Method{Class: &classLoose, Name: "store", Effects: order.Effects{Self: order.Write}}
	methodRevoke     = Method{Class: &classAccount, Name: "revoke", Effects: order.Effects{Self: order.Write}}
	methodDropLoose  = Method{Class: &classLoose, Name: "drop", Effects: order.Effects{Self: order.Write}}
)

func init() {
	classLoose.New = func() order.Object { return &loose{} }
	methodRevoke.Run = func(cx *Cx, _ any, args order.Args) { args.(func(*Cx))(cx) }
	methodLoose.Run = func(*Cx, any, order.Args) {}
	set := func(cx *Cx, l *loose, r accountRef) {
		undo.FieldOwned(cx.UndoLog(), &l.Self, 0, &l.account, r)
		l.account = r
	}
	methodStoreLoose.Run = func(cx *Cx, self any, args order.Args) { set(cx, self.(*loose), args.(accountRef)) }
	methodDropLoose.Run = func(cx *Cx, self any, _ order.Args) { set(cx, self.(*loose), accountRef{}) }
}

func newLoose(t *testing.T, cl *Client) looseRef {
	t.Helper()
	r, err := cl.New(&classLoose, &methodLoose, nil)
	mustNot(t, err)
	return looseRef{r}
}

type looseRef struct{ order.Ref }

func TestBranchesShareFreshActorsInProgramOrder(t *testing.T) {
	_, cl := testSystem(t, Config{BranchWorkers: 8})
	p := newDesk(t, cl)
	var a, b deskRef
	mustNot(t, p.await(cl, func(cx *Cx, d *desk) { a, b = d.hire(cx), d.hire(cx) }))
	for range 200 {
		var last, seen int64
		err := p.await(cl, func(cx *Cx, d *desk) {
			f := New[*desk](cx, &classDesk)
			Constructed(cx)
			r := deskRef{f.Self.Ref()}
			for i, k := range []deskRef{a, b} {
				Async(cx, k.Ref, &methodUse, &useArgs{r, int64(i + 1)})
			}
			e, _ := Enter[*desk](cx, r.Ref, &methodAlone)
			seen = e.n
			e.setN(cx, 3)
			cx.Leave()
			Async(cx, a.Ref, &methodUse, &useArgs{r, 4})
			e, _ = Enter[*desk](cx, r.Ref, &methodAlone)
			last = e.n
			cx.Leave()
		})
		mustNot(t, err)
		if seen != 2 || last != 4 {
			t.Fatalf("async changed the result: seen %d, last %d; want 2, 4", seen, last)
		}
	}
}

// useArgs makes a method write its argument, and nothing else below.
type useArgs struct {
	r deskRef
	n int64
}

var methodUse = Method{Class: &classDesk, Name: "use", Effects: order.Effects{Self: order.Write}}

func init() {
	methodUse.ArgRefs = func(args order.Args, f *order.Footprint) { f.Add(args.(*useArgs).r.Ref, order.Write) }
	methodUse.Run = func(cx *Cx, self any, args order.Args) {
		x := args.(*useArgs)
		for range 50 * (3 - x.n) {
			runtime.Gosched() // the later branches are the quicker ones
		}
		d, _ := Enter[*desk](cx, x.r.Ref, &methodAlone)
		d.setN(cx, x.n)
		cx.Leave()
	}
}

func TestTimersSetByADeletingEventAreGone(t *testing.T) {
	s, cl := testSystem(t, Config{})
	p, k := parentAndKid(t, cl)
	mustNot(t, p.await(cl, func(cx *Cx, d *desk) {
		k.do(cx, func(cx *Cx, d *desk) { cx.EmitEvery(p.Ref, &methodWork, work(nil), time.Second, "") })
		Delete(cx, k.Ref)
	}))
	cl.Advance(time.Minute)
	if _, ok := s.timers.Next(); ok || s.Stats().DeadLetters != 0 {
		t.Errorf("a deleted actor has a timer, which has left %d dead letters", s.Stats().DeadLetters)
	}
}

func TestAFiringWhoseIssuerIsDeletedDoesNothing(t *testing.T) {
	s, cl := testSystem(t, Config{})
	a, b := newDesk(t, cl), newDesk(t, cl)
	mustNot(t, a.await(cl, func(cx *Cx, d *desk) { cx.EmitAfter(b.Ref, &methodAlone, work(nil), time.Second, "") }))
	mustNot(t, cl.Await(a.Ref, &methodAlone, work(func(cx *Cx, _ *desk) {
		s.rush(time.Second)
		until(func() bool { return s.Waiting() > 0 }) // the firing waits for its issuer
		Delete(cx, a.Ref)
	})))
	cl.Settle()
	if n := s.Stats().DeadLetters; n != 0 {
		t.Errorf("%d dead letters: %v", n, s.DeadLetters()[0].Err)
	}
}

func TestTimersOfADeletedActorAreGone(t *testing.T) {
	s, cl := testSystem(t, Config{Clock: sched.NewSimClock(time.Unix(0, 0))})
	a, b := newDesk(t, cl), newDesk(t, cl)
	mustNot(t, a.await(cl, func(cx *Cx, d *desk) {
		cx.EmitEvery(b.Ref, &methodAlone, work(nil), time.Second, "tick")
		cx.EmitAfter(b.Ref, &methodAlone, work(nil), time.Hour, "")
	}))
	mustNot(t, cl.Delete(a.Ref))
	cl.Advance(10 * time.Second)
	if n := len(s.DeadLetters()); n > 0 {
		t.Errorf("%d dead letters of timers whose issuer is gone: %v", n, s.DeadLetters()[0].Err)
	}
	if ch := s.timers.OneShots(); ch != nil {
		t.Error("a timer of a deleted actor keeps the program from ending")
	}
}

func TestTicksCoalesceWhileTheTargetIsBusy(t *testing.T) {
	s, cl := testSystem(t, Config{Clock: sched.RealClock{}})
	a, b := newDesk(t, cl), newDesk(t, cl)
	var runs atomic.Int64
	slow := work(func(cx *Cx, d *desk) {
		runs.Add(1)
		for began := time.Now(); time.Since(began) < 2*time.Millisecond; { // twenty ticks
			runtime.Gosched()
		}
	})
	mustNot(t, a.await(cl, func(cx *Cx, d *desk) { cx.EmitEvery(b.Ref, &methodAlone, slow, 100*time.Microsecond, "tick") }))
	until(func() bool { return runs.Load() >= 10 })
	if n := s.live.Count(); n > 4 {
		t.Errorf("%d events of one timer wait behind each other", n)
	}
	mustNot(t, a.await(cl, func(cx *Cx, d *desk) { cx.Cancel("tick") }))
	cl.Settle()
}

func TestFailureMessagesNameNoActorIDs(t *testing.T) {
	_, cl := testSystem(t, Config{QueueDepthMax: 1, AdmissionWaitMax: time.Millisecond})
	a := newDesk(t, cl)
	mustNot(t, cl.Delete(a.Ref))
	err := a.await(cl, nil)
	if err == nil || err.Error() != "actor Desk was deleted" {
		t.Error(err)
	}
	b := deskRef{Named(cl, &classDesk, "front")}
	mustNot(t, b.await(cl, nil))
	var wg sync.WaitGroup
	var full atomic.Pointer[error]
	held := make(chan struct{})
	wg.Go(func() {
		mustNot(t, cl.Await(b.Ref, &methodAlone, work(func(*Cx, *desk) {
			close(held)
			until(func() bool { return full.Load() != nil })
		})))
	})
	<-held
	for range 4 {
		wg.Go(func() {
			if err := cl.Await(b.Ref, &methodAlone, work(nil)); err != nil {
				full.Store(&err)
			}
		})
	}
	wg.Wait()
	if p := full.Load(); p == nil || !strings.Contains((*p).Error(), `events waiting for Desk("front")`) || strings.Contains((*p).Error(), ":8") {
		t.Errorf("%v", p)
	}
	mustNot(t, cl.Delete(b.Ref))
	if err := b.await(cl, nil); err == nil || err.Error() != `actor Desk("front") was deleted` {
		t.Error(err)
	}
}

func TestWideTraversalOfSharedActorsNeedsFewAttempts(t *testing.T) {
	n := lessIfShort(2000)
	for _, m := range []*Method{&methodWork, &methodCrowd} {
		t.Run(m.Name, func(t *testing.T) {
			s, cl := testSystem(t, Config{})
			a, b := newDesk(t, cl), newDesk(t, cl)
			var kids []deskRef
			mustNot(t, a.await(cl, func(cx *Cx, d *desk) {
				for range n {
					kids = append(kids, d.hire(cx))
				}
			}))
			mustNot(t, cl.Await(b.Ref, &methodTakeAll, kids))
			s.host.AwaitMoves()
			before := s.Stats()
			start := time.Now()
			mustNot(t, cl.Await(b.Ref, m, work(func(cx *Cx, d *desk) {
				for _, k := range d.kids.Items() {
					e, _ := Enter[*desk](cx, k.Ref, &methodAlone)
					e.setN(cx, e.n+1)
					cx.Leave()
				}
			})))
			after := s.Stats()
			if w := after.Withdrawals + after.Reroutes - before.Withdrawals - before.Reroutes; w > 8 {
				t.Errorf("%d attempts were withdrawn, %v", w, time.Since(start))
			}
			for _, k := range kids[:3] {
				if v := k.see(t, cl); v != 1 {
					t.Errorf("n = %d", v)
				}
			}
		})
	}
}

var (
	// methodCrowd lists the actors that it touches, which are too many to list.
	methodCrowd = Method{Class: &classDesk, Name: "crowd", Effects: order.Effects{Self: order.Write, Below: order.Exact, BelowMode: order.Write, Touches: []order.ClassMode{{Shape: &classDesk.Shape, Mode: order.Write}}}}
	// methodTakeAll becomes an owner of its arguments.
	methodTakeAll = Method{Class: &classDesk, Name: "takeAll", Effects: order.Effects{Self: order.Write, Below: order.None}}
)

func init() {
	methodCrowd.Narrow = func(self any, _ order.Args, f *order.Footprint) {
		for _, k := range self.(*desk).kids.Items() {
			f.Add(k.Ref, order.Write)
		}
	}
	methodCrowd.Run = methodWork.Run
	methodTakeAll.ArgRefs = func(args order.Args, f *order.Footprint) {
		for _, k := range args.([]deskRef) {
			f.Add(k.Ref, order.Read)
		}
	}
	methodTakeAll.Run = func(cx *Cx, self any, args order.Args) {
		d := self.(*desk)
		for _, k := range args.([]deskRef) {
			undo.VectorPushOwned(cx.UndoLog(), &d.Self, 4, &d.kids, k)
		}
	}
}

func TestSettleInACallbackIsAFault(t *testing.T) {
	s, cl := testSystem(t, Config{Log: quiet})
	var o ClientObject
	r := NewClientObject(cl, &o, nil)
	ended, faults := 0, 0
	m := &ClientMethod{Class: "Ear", Name: "hear", Run: func(in *Client, _ any, _ order.Args) {
		defer func() {
			if f, is := recover().(value.Fault); is && strings.Contains(f.Msg, "callback") {
				faults++
			}
		}()
		var mine ClientObject
		if NewClientObject(in, &mine, nil).o.client != cl {
			t.Error("an object made in a callback belongs to another client")
		}
		in.Settle()
		ended++
	}}
	a := newDesk(t, cl)
	mustNot(t, a.await(cl, func(cx *Cx, d *desk) {
		cx.Callback(r, m, nil)
		cx.Callback(r, m, nil)
	}))
	cl.Settle()
	if ended != 0 || faults != 2 || s.live.Count() != 0 {
		t.Errorf("%d callbacks settled, %d faulted", ended, faults)
	}
}
