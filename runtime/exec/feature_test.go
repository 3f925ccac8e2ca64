package exec

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
)

// desk is an actor whose methods are given by the tests: each test states what it runs.
type desk struct {
	order.Self
	n     int64
	text  string
	ok    bool
	rate  float64
	kids  value.Vector[deskRef]
	names value.Map[string, int64]
	tags  value.Set[int64]
	boss  deskRef
}

type deskRef struct{ order.Ref }

var classDesk = Class{Shape: order.Shape{
	Package: "t",
	Name:    "Desk",
	Fields: []order.Field{{Name: "n", Type: "int"}, {Name: "text", Type: "string"},
		{Name: "ok", Type: "bool"}, {Name: "rate", Type: "float"}, {Name: "kids", Owning: true, Type: "vector<actor t.Desk?>"}, {Name: "names", Type: "map<string,int>"},
		{Name: "tags", Type: "set<int>"}, {Name: "boss", Owning: true, Type: "actor t.Desk?"}},
	SelfRecursive: true,
}}

// work is the argument of methodWork: the code to run.
type work func(cx *Cx, d *desk)

var (
	// methodWork may do anything.
	methodWork = Method{Class: &classDesk, Name: "work", Effects: order.Effects{Self: order.Write, Below: order.Any, BelowMode: order.Write, Touches: []order.ClassMode{{Shape: &classDesk.Shape, Mode: order.Write}}}}
	// methodAlone does not leave its target.
	methodAlone = Method{Class: &classDesk, Name: "alone", Effects: order.Effects{Self: order.Write}}
	methodDesk  = Method{Class: &classDesk, Name: "Desk", Effects: order.Effects{Self: order.Write}}
)

func init() {
	classDesk.New = func() order.Object { return &desk{} }
	classDesk.Construct = &methodDesk
	methodDesk.NewArgs = func() order.Args { return work(func(cx *Cx, d *desk) { d.setN(cx, 1) }) }
	for _, m := range []*Method{&methodWork, &methodAlone, &methodDesk} {
		m.Run = func(cx *Cx, self any, args order.Args) {
			if f := args.(work); f != nil {
				f(cx, self.(*desk))
			}
		}
	}
}

func (d *desk) setN(cx *Cx, n int64) {
	undo.Field(cx.UndoLog(), &d.Self, 0, &d.n)
	d.n = n
}

// hire creates a desk below d.
func (d *desk) hire(cx *Cx) deskRef {
	k := New[*desk](cx, &classDesk)
	Constructed(cx)
	r := deskRef{k.Self.Ref()}
	undo.VectorPushOwned(cx.UndoLog(), &d.Self, 4, &d.kids, r)
	return r
}

func (r deskRef) do(cx *Cx, f work) {
	d, _ := Enter[*desk](cx, r.Ref, &methodWork)
	f(cx, d)
	cx.Leave()
}

// testSystem opens a system with a simulated clock; the test checks it at its end.
func testSystem(t *testing.T, cfg Config) (*System, *Client) {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = quiet
	}
	if cfg.Clock == nil {
		cfg.Clock = sched.NewSimClock(time.Unix(1000, 0))
	}
	s := Open(cfg)
	t.Cleanup(watchFor(t, s))
	return s, s.Client()
}

func newDesk(t *testing.T, cl *Client) deskRef {
	t.Helper()
	r, err := cl.New(&classDesk, &methodDesk, work(nil))
	mustNot(t, err)
	return deskRef{r}
}

func (r deskRef) await(cl *Client, f work) error { return cl.Await(r.Ref, &methodWork, f) }

// see returns n as an event reads it.
func (r deskRef) see(t *testing.T, cl *Client) (n int64) {
	t.Helper()
	mustNot(t, r.await(cl, func(_ *Cx, d *desk) { n = d.n }))
	return n
}

func TestAbortUndoesEveryKindOfWrite(t *testing.T) {
	s, cl := testSystem(t, Config{})
	r := newDesk(t, cl)
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) {
		d.setN(cx, 5)
		d.hire(cx)
		d.hire(cx)
		undo.MapSet(cx.UndoLog(), &d.Self, 5, &d.names, "a", 1)
		undo.MapSet(cx.UndoLog(), &d.Self, 5, &d.names, "b", 2)
		undo.SetAdd(cx.UndoLog(), &d.Self, 6, &d.tags, 9)
	}))
	state := func() (text string) {
		mustNot(t, r.await(cl, func(_ *Cx, d *desk) {
			text = value.MapText(d.names, func(s string) string { return s }, value.StrInt[int64]) + d.tags.Str(value.StrInt[int64]) +
				value.VectorText(d.kids, func(k deskRef) string { return k.String() }) + value.StrInt(d.n) + d.text + value.StrBool(d.ok) + value.StrFloat(d.rate) + d.boss.String()
		}))
		return text
	}
	before := state()
	var lost deskRef
	err := r.await(cl, func(cx *Cx, d *desk) {
		d.setN(cx, 6)
		d.setN(cx, 7)
		undo.Field(cx.UndoLog(), &d.Self, 1, &d.text)
		d.text = "changed"
		undo.Field(cx.UndoLog(), &d.Self, 2, &d.ok)
		d.ok = true
		undo.Field(cx.UndoLog(), &d.Self, 3, &d.rate)
		d.rate = 1.5
		undo.MapSet(cx.UndoLog(), &d.Self, 5, &d.names, "a", 10)
		undo.MapSet(cx.UndoLog(), &d.Self, 5, &d.names, "c", 3)
		undo.MapRemove(cx.UndoLog(), &d.Self, 5, &d.names, "b")
		undo.MapSet(cx.UndoLog(), &d.Self, 5, &d.names, "b", 20)
		undo.MapClear(cx.UndoLog(), &d.Self, 5, &d.names)
		undo.MapSet(cx.UndoLog(), &d.Self, 5, &d.names, "z", 4)
		undo.SetAdd(cx.UndoLog(), &d.Self, 6, &d.tags, 1)
		undo.SetRemove(cx.UndoLog(), &d.Self, 6, &d.tags, 9)
		undo.SetAdd(cx.UndoLog(), &d.Self, 6, &d.tags, 9)
		lost = d.hire(cx)
		undo.FieldOwned(cx.UndoLog(), &d.Self, 7, &d.boss, lost)
		d.boss = lost
		undo.VectorRemoveOwned(cx.UndoLog(), &d.Self, 4, &d.kids, 0)
		undo.VectorInsertOwned(cx.UndoLog(), &d.Self, 4, &d.kids, 0, lost)
		undo.VectorSetOwned(cx.UndoLog(), &d.Self, 4, &d.kids, 1, lost)
		undo.VectorPopOwned(cx.UndoLog(), &d.Self, 4, &d.kids)
		undo.VectorPushOwned(cx.UndoLog(), &d.Self, 4, &d.kids, lost)
		undo.VectorClearOwned(cx.UndoLog(), &d.Self, 4, &d.kids)
		undo.VectorPushOwned(cx.UndoLog(), &d.Self, 4, &d.kids, lost)
		cx.Print("never seen")
		cx.Emit(r.Ref, &methodWork, work(func(*Cx, *desk) { t.Error("a sub-event of an aborted event ran") }))
		cx.EmitAfter(r.Ref, &methodWork, work(func(*Cx, *desk) { t.Error("a timer of an aborted event fired") }), time.Second, "")
		Abort(cx, "enough")
	})
	var abort *event.AbortError
	if !errors.As(err, &abort) || abort.Msg != "enough" || abort.Fault {
		t.Fatalf("error %#v", err)
	}
	if after := state(); after != before {
		t.Errorf("state after the abort\n%s\nbefore\n%s", after, before)
	}
	if err := cl.Await(lost.Ref, &methodWork, work(nil)); err == nil {
		t.Error("an actor made by an aborted event can be called")
	}
	cl.Advance(2 * time.Second)
	if owned := s.host.Graph.Owned(nil, &order.HandleOf(r.Bare()).Node); len(owned) != 2 {
		t.Errorf("owns %d actors, want 2", len(owned))
	}
}

func TestAsyncBranchesRunBesideEachOtherAndJoin(t *testing.T) {
	_, cl := testSystem(t, Config{BranchWorkers: 4})
	r := newDesk(t, cl)
	var kids [4]deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) {
		for i := range kids {
			kids[i] = d.hire(cx)
		}
	}))
	// All branches are inside at the same time, or none gets past the barrier.
	var barrier sync.WaitGroup
	barrier.Add(3)
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) {
		for i := range 3 {
			Async(cx, kids[i].Ref, &methodAlone, work(func(cx *Cx, d *desk) {
				barrier.Done()
				barrier.Wait()
				d.setN(cx, int64(i+10))
			}))
		}
		// A call waits for the branch it conflicts with.
		kids[1].do(cx, func(cx *Cx, k *desk) { d.setN(cx, k.n) })
	}))
	if n := r.see(t, cl); n != 11 {
		t.Errorf("the call saw %d, want 11", n)
	}
}

func TestFirstFailureInProgramOrderIsReported(t *testing.T) {
	_, cl := testSystem(t, Config{BranchWorkers: 4})
	r := newDesk(t, cl)
	var a, b deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) { a, b = d.hire(cx), d.hire(cx) }))
	second := make(chan struct{})
	err := r.await(cl, func(cx *Cx, d *desk) {
		Async(cx, a.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
			d.setN(cx, 5)
			<-second
			Abort(cx, "first")
		}))
		Async(cx, b.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
			d.setN(cx, 6)
			defer close(second)
			Abort(cx, "second")
		}))
		Abort(cx, "third")
	})
	if err == nil || err.Error() != "first" {
		t.Errorf("reported %v", err)
	}
	if x, y := a.see(t, cl), b.see(t, cl); x != 0 || y != 0 {
		t.Errorf("branches left %d and %d", x, y)
	}
}

func TestGoexitIsAnAbort(t *testing.T) {
	_, cl := testSystem(t, Config{BranchWorkers: 2})
	r := newDesk(t, cl)
	var a deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) { a = d.hire(cx) }))
	err := r.await(cl, func(cx *Cx, _ *desk) {
		Async(cx, a.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
			d.setN(cx, 5)
			runtime.Goexit()
		}))
	})
	if err == nil || err.Error() != msgGoexit {
		t.Errorf("branch: %v", err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = a.await(cl, func(cx *Cx, d *desk) {
			d.setN(cx, 6)
			runtime.Goexit()
		})
	})
	wg.Wait()
	f := cl.Issue(a.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
		d.setN(cx, 7)
		runtime.Goexit()
	}))
	if err := f.Wait(); err == nil {
		t.Error("an issued event that called Goexit has committed")
	}
	if n := a.see(t, cl); n != 0 {
		t.Errorf("n is %d", n)
	}
}

func TestSubEventsComeAfterTheCommitInOrder(t *testing.T) {
	s, cl := testSystem(t, Config{})
	a, b := newDesk(t, cl), newDesk(t, cl)
	var mu sync.Mutex // the sub-events of the event before may still run
	var got []int64
	for i := range int64(20) {
		mustNot(t, a.await(cl, func(cx *Cx, d *desk) {
			for j := range int64(5) {
				cx.Emit(b.Ref, &methodWork, work(func(*Cx, *desk) {
					mu.Lock()
					defer mu.Unlock()
					got = append(got, i*5+j)
				}))
			}
			mu.Lock()
			defer mu.Unlock()
			if len(got) > 0 && got[len(got)-1] >= i*5 {
				t.Error("a sub-event ran before its parent had committed")
			}
		}))
	}
	cl.Settle()
	if len(got) != 100 {
		t.Fatalf("%d sub-events ran", len(got))
	}
	for i, n := range got {
		if n != int64(i) {
			t.Fatalf("sub-event %d came as number %d", n, i)
		}
	}
	mustNot(t, cl.Delete(b.Ref))
	mustNot(t, a.await(cl, func(cx *Cx, _ *desk) { cx.Emit(b.Ref, &methodWork, work(nil)) }))
	cl.Settle()
	if l := s.DeadLetters(); len(l) != 1 || !strings.Contains(l[0].Err.Error(), "was deleted") || l[0].Target != b.Ref {
		t.Errorf("dead letters: %+v", l)
	}
}

func TestPrintsAppearAtTheCommitInOrder(t *testing.T) {
	var out bytes.Buffer
	_, cl := testSystem(t, Config{Stdout: &out})
	r := newDesk(t, cl)
	mustNot(t, r.await(cl, func(cx *Cx, _ *desk) {
		cx.Print("one")
		if out.Len() > 0 {
			t.Error("printed before the commit")
		}
		cx.Print("two")
	}))
	cl.Print("three")
	if out.String() != "one\ntwo\nthree\n" {
		t.Errorf("printed %q", out.String())
	}
}

func TestTimersFireReplaceCancelAndCoalesce(t *testing.T) {
	s, cl := testSystem(t, Config{})
	r := newDesk(t, cl)
	var log []string
	note := func(what string) work {
		return func(cx *Cx, _ *desk) { log = append(log, what+"@"+value.StrInt(cx.Now()/1e9-1000)) }
	}
	mustNot(t, r.await(cl, func(cx *Cx, _ *desk) {
		cx.EmitAfter(r.Ref, &methodWork, note("late"), 3*time.Second, "")
		cx.EmitAfter(r.Ref, &methodWork, note("replaced"), time.Second, "x")
		cx.EmitAfter(r.Ref, &methodWork, note("x"), 2*time.Second, "x")
		cx.EmitEvery(r.Ref, &methodWork, note("tick"), 2*time.Second, "tick")
		cx.EmitAfter(r.Ref, &methodWork, note("gone"), time.Second, "gone")
		cx.Cancel("gone")
	}))
	cl.Advance(5 * time.Second)
	if got := strings.Join(log, " "); got != "x@2 tick@2 late@3 tick@4" {
		t.Errorf("fired %q", got)
	}
	log = nil
	// After an outage the ticks that were missed are one.
	s.clock.(*sched.SimClock).Set(time.Unix(1021, 0))
	s.timers.FireDue(s.clock.Now())
	s.settle()
	cl.Advance(time.Second)
	if got := strings.Join(log, " "); got != "tick@21 tick@22" {
		t.Errorf("after the outage %q", got)
	}
	mustNot(t, r.await(cl, func(cx *Cx, _ *desk) { cx.Cancel("tick") }))
	log = nil
	cl.Advance(10 * time.Second)
	if len(log) > 0 {
		t.Errorf("a cancelled timer fired: %v", log)
	}
	if err := s.Quiesce(context.Background()); err != nil {
		t.Error(err)
	}
	// The timers of an actor go with it.
	mustNot(t, r.await(cl, func(cx *Cx, _ *desk) {
		cx.EmitEvery(r.Ref, &methodWork, note("tick"), time.Second, "tick")
		cx.EmitAfter(r.Ref, &methodWork, note("once"), time.Second, "")
	}))
	mustNot(t, cl.Delete(r.Ref))
	cl.Advance(10 * time.Second)
	if n := len(s.DeadLetters()); n > 0 || len(log) > 0 {
		t.Errorf("timers of a deleted actor fired: %v, %d dead letters", log, n)
	}
	mustNot(t, s.Quiesce(context.Background()))
}

func TestRealTimersFire(t *testing.T) {
	s, cl := testSystem(t, Config{Clock: sched.RealClock{}})
	r := newDesk(t, cl)
	fired := make(chan struct{})
	mustNot(t, r.await(cl, func(cx *Cx, _ *desk) {
		cx.EmitAfter(r.Ref, &methodWork, work(func(*Cx, *desk) { close(fired) }), 5*time.Millisecond, "")
	}))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	mustNot(t, s.Quiesce(ctx))
	select {
	case <-fired:
	default:
		t.Error("quiescent before the timer has fired")
	}
}

// A loop that counts in fields logs each of them once; the undo ends with the first value.
func TestALoopOverFieldsLogsThemOnce(t *testing.T) {
	_, cl := testSystem(t, Config{})
	r := newDesk(t, cl)
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) { d.setN(cx, 5) }))
	entries := 0
	err := r.await(cl, func(cx *Cx, d *desk) {
		for i := range 1000 {
			d.setN(cx, d.n+1)
			undo.Field(cx.UndoLog(), &d.Self, 3, &d.rate)
			d.rate = float64(i)
			undo.Field(cx.UndoLog(), &d.Self, 1, &d.text)
			d.text += "x"
		}
		entries = len(cx.UndoLog().Entries())
		Abort(cx, "enough")
	})
	if err == nil || entries != 3 {
		t.Errorf("error %v, %d entries in the undo log, want 3", err, entries)
	}
	mustNot(t, r.await(cl, func(_ *Cx, d *desk) {
		if d.n != 5 || d.text != "" || d.rate != 0 {
			t.Errorf("after the abort n = %d, text = %q, rate = %v", d.n, d.text, d.rate)
		}
	}))
}

// TestNamedTimersWantTheirIssuerForWriting: an event with a footprint that is too small for that is withdrawn once, and
// does not run beside a firing.
func TestNamedTimersWantTheirIssuerForWriting(t *testing.T) {
	s, cl := testSystem(t, Config{})
	r := newDesk(t, cl)
	glance := methodAlone
	glance.Self = order.Read
	for what, change := range map[string]func(cx *Cx){
		"after":  func(cx *Cx) { cx.EmitAfter(r.Ref, &methodAlone, work(nil), time.Second, "x") },
		"every":  func(cx *Cx) { cx.EmitEvery(r.Ref, &methodAlone, work(nil), time.Second, "x") },
		"cancel": func(cx *Cx) { cx.Cancel("x") },
	} {
		before := s.Stats().Withdrawals
		mustNot(t, cl.Await(r.Ref, &glance, work(func(cx *Cx, _ *desk) { change(cx) })))
		if n := s.Stats().Withdrawals - before; n != 1 {
			t.Errorf("%s: %d attempts were withdrawn, want 1", what, n)
		}
	}
	before := s.Stats().Withdrawals
	mustNot(t, cl.Await(r.Ref, &glance, work(func(cx *Cx, _ *desk) { cx.EmitAfter(r.Ref, &methodAlone, work(nil), time.Second, "") })))
	if n := s.Stats().Withdrawals - before; n != 0 {
		t.Errorf("without a name: %d attempts were withdrawn", n)
	}
}
