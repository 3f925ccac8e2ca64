package exec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/spantree"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/store"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
)

// recorded records spans into memory.
type recorded struct {
	*span.Tracer
	lines bytes.Buffer // read once the tracer is closed
}

// record begins to record all traces, under the ids of a store of this name.
func record(t testing.TB, name string) *recorded {
	r := &recorded{}
	r.Tracer = span.Open(span.Config{Program: "test", Store: name, Sample: 1, Sink: &span.Lines{To: &r.lines}, Log: quiet})
	t.Cleanup(r.Close)
	return r
}

// spans closes the tracer and returns what it has exported, without what builds the actors.
func (r *recorded) spans(t testing.TB) (list []*spantree.Span) {
	t.Helper()
	r.Close()
	for _, s := range spantree.Read(t, r.lines.Bytes()) {
		if s.GetName() != "Desk.Desk" {
			list = append(list, s)
		}
	}
	return list
}

// The spans of events, of the calls in them, sync and async, and of what they issue are a tree that follows from the program
// alone: it is the same in every order of events and whether workers take async calls or not.
func TestSpansAreWhatEventsDo(t *testing.T) {
	want := `Desk.alone b <- Desk.work
Desk.work Desk/main
  Desk.alone b async
  Desk.work a
    Desk.alone c async
      Desk.work b
    Desk.work b
Desk.work Desk/main failed: no more
  Desk.alone c async
  Desk.work a failed
    Desk.work b failed
Desk.work a <- timer
Screen.show <- Desk.work
timer Desk/main <- Desk.work
`
	for seed := range uint64(lessIfShort(20)) {
		for _, cfg := range []Config{{Scheduled: true, Seed: seed + 1}, {BranchWorkers: 4}, {BranchWorkers: 1}} {
			cfg.Clock = sched.NewSimClock(time.Unix(1000, 0))
			r := record(t, fmt.Sprint(seed))
			cfg.Spans = r.Tracer
			s, cl := testSystem(t, cfg)
			names := spannedEvents(t, s, cl)
			s.Close()
			if got := names.Replace(spantree.Trees(r.spans(t))); got != want {
				t.Fatalf("seed %d, %d workers: the spans are\n%s\nwant\n%s", seed, cfg.BranchWorkers, got, want)
			}
		}
	}
}

// spannedEvents has a desk with three others perform two events, the second of which fails, and returns how the three are called.
func spannedEvents(t *testing.T, s *System, cl *Client) *strings.Replacer {
	t.Helper()
	setup := s.Client()
	main := deskRef{Named(cl, &classDesk, "main")}
	var a, b, c deskRef
	// The constructor of a client's event is no method of a name that the test looks at.
	hire := Method{Class: &classDesk, Name: "Desk", Effects: methodWork.Effects, Run: methodWork.Run}
	mustNot(t, setup.Await(main.Ref, &hire, work(func(cx *Cx, d *desk) { a, b, c = d.hire(cx), d.hire(cx), d.hire(cx) })))
	var screen struct{ ClientObject }
	ref := NewClientObject(cl, &screen.ClientObject, &screen)
	show := &ClientMethod{Class: "Screen", Name: "show", Run: func(*Client, any, order.Args) {}}
	nothing := work(func(*Cx, *desk) {})
	mustNot(t, main.await(cl, func(cx *Cx, d *desk) {
		a.do(cx, func(cx *Cx, _ *desk) {
			cx.Step() // within the actor: no span
			cx.Leave()
			b.do(cx, nothing)
			Async(cx, c.Ref, &methodAlone, work(func(cx *Cx, _ *desk) { b.do(cx, nothing) }))
		})
		Async(cx, b.Ref, &methodAlone, nothing)
		cx.Emit(b.Ref, &methodAlone, nothing)
		cx.Callback(ref, show, nil)
		cx.EmitAfter(a.Ref, &methodWork, nothing, time.Second, "")
	}))
	cl.Advance(time.Second)
	err := main.await(cl, func(cx *Cx, _ *desk) {
		Async(cx, c.Ref, &methodAlone, nothing)
		a.do(cx, func(cx *Cx, _ *desk) { b.do(cx, func(cx *Cx, _ *desk) { Abort(cx, "no more") }) })
	})
	if err == nil {
		t.Fatal("nothing has failed")
	}
	cl.Settle()
	return strings.NewReplacer(order.HandleOf(a.Ref).Address(), "a", order.HandleOf(b.Ref).Address(), "b", order.HandleOf(c.Ref).Address(), "c")
}

// A seed draws one interleaving, recorded or not.
func TestSpansChangeNoSchedule(t *testing.T) {
	for seed := range uint64(lessIfShort(20)) {
		want, err := scheduled(mixedWorkload, seed)
		mustNot(t, err)
		tracer := span.Open(span.Config{Sample: 1, Sink: &span.Lines{To: io.Discard}, Log: quiet})
		_, trace, err := mixedWorkload.traced(Config{Scheduled: true, Seed: seed, Spans: tracer}, nil)
		tracer.Close()
		mustNot(t, err)
		if transcript(trace) != want {
			t.Errorf("seed %d is another interleaving when it is recorded", seed)
		}
	}
}

// An event that waits for a lock has a span of that, at its begin or below the call that waits.
func TestWaitsForLocksAreSpans(t *testing.T) {
	r := record(t, "s")
	s, cl := testSystem(t, Config{Clock: sched.RealClock{}, Spans: r.Tracer})
	main := deskRef{Named(cl, &classDesk, "main")}
	mustNot(t, main.await(cl, nil))
	inside, leave := make(chan bool), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		mustNot(t, main.await(s.Client(), func(*Cx, *desk) {
			close(inside)
			<-leave
		}))
	})
	<-inside
	wg.Go(func() { mustNot(t, s.Client().Await(main.Ref, &methodAlone, work(func(*Cx, *desk) {}))) })
	until(func() bool { return s.Waiting() > 0 })
	close(leave)
	wg.Wait()
	s.Close()
	want := "Desk.alone Desk/main\n  wait for locks\nDesk.work Desk/main\nDesk.work Desk/main\n"
	if got := spantree.Trees(r.spans(t)); got != want {
		t.Errorf("the spans are\n%s\nwant\n%s", got, want)
	}
}

// slowEngine syncs when it is told to.
type slowEngine struct {
	replicatest.Engine
	sync chan bool
}

// Sync implements store.Engine.
func (e slowEngine) Sync() error {
	<-e.sync
	return e.Engine.Sync()
}

// An answer that waits for the disk has a span of that.
func TestWaitsForTheDiskAreSpans(t *testing.T) {
	r := record(t, "s")
	e := slowEngine{replicatest.New(), make(chan bool, 1000)}
	e.sync <- true // of the opening
	st, err := store.Open(e, store.Options{Program: "test", Partitions: 4, Log: quiet, Fatal: func(err error) { t.Error(err) }})
	mustNot(t, err)
	s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet, Spans: r.Tracer})
	mustNot(t, err)
	cl := s.Client()
	var wg sync.WaitGroup
	b := bankRef{Named(cl, &classBank, "main")}
	wg.Go(func() {
		_, err := b.Open(cl, "ann")
		mustNot(t, err)
	})
	until(func() bool {
		appended, durable := st.Positions()
		return appended > durable && s.Stats().Commits == 0 && !s.host.Named(&classBank.Shape, "main").Busy()
	})
	close(e.sync)
	wg.Wait()
	s.Close()
	mustNot(t, st.Close())
	want := "Bank.open Bank/main\n  Bank.Bank Bank/main\n  wait for durability\n"
	if got := spantree.Trees(r.spans(t)); got != want {
		t.Errorf("the spans are\n%s\nwant\n%s", got, want)
	}
}

// A failure is told with its place, and how often an event was attempted with it.
func TestFailuresAreInTheirSpans(t *testing.T) {
	r := record(t, "s")
	s, cl := testSystem(t, Config{Spans: r.Tracer})
	main := deskRef{Named(cl, &classDesk, "main")}
	if err := main.await(cl, func(cx *Cx, _ *desk) { Abort(cx, "not \xff today") }); err == nil {
		t.Fatal("nothing has failed")
	}
	s.Close()
	list := r.spans(t)
	if len(list) != 1 || len(list[0].GetEvents()) != 1 || list[0].Attribute("aeon.attempts") != "1" || list[0].Service != "test" {
		t.Fatalf("the spans are %v", list)
	}
	failed := list[0].GetEvents()[0]
	of := &spantree.Span{Span: &otlp.Span{Attributes: failed.GetAttributes()}}
	if failed.GetName() != "exception" || of.Attribute("exception.type") != "abort" || of.Attribute("exception.message") != "not \ufffd today" ||
		of.Attribute("exception.stacktrace") == "" || list[0].Attribute("aeon.at") == "" || s.Stats().Aborts != 1 {
		t.Errorf("the failure is %v", failed)
	}
}

// More calls than are recorded are counted.
func TestCallsOfOneEventAreBounded(t *testing.T) {
	r := record(t, "s")
	s, cl := testSystem(t, Config{Spans: r.Tracer})
	main := deskRef{Named(cl, &classDesk, "main")}
	var kid deskRef
	mustNot(t, main.await(cl, func(cx *Cx, d *desk) { kid = d.hire(cx) }))
	mustNot(t, main.await(cl, func(cx *Cx, _ *desk) {
		for range 1200 {
			kid.do(cx, func(*Cx, *desk) {})
		}
	}))
	s.Close()
	list := r.spans(t)
	left := ""
	for _, x := range list {
		left += x.Attribute("aeon.spans_left_out")
	}
	if len(list) != 1002 || left != "200" {
		t.Errorf("%d spans, %s were left out", len(list), left)
	}
}

// What an event of before has issued is linked to its span after a restart, too, in the trace of a caller outside as well: there the link
// leads to a span that is linked to it.
func TestLinksOutliveRestarts(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		clock := sched.NewSimClock(time.Unix(1000, 0))
		r := record(t, "s")
		n := startNode(t, Config{Clock: clock, Spans: r.Tracer})
		main := Named(n.cl, &classAccount, "main")
		setter := Method{Class: &classAccount, Name: "set", Effects: order.Effects{Self: order.Write}}
		setter.Run = func(cx *Cx, self any, _ order.Args) {
			a := self.(*account)
			cx.EmitAfter(a.Self.Ref(), &methodDeposit, &depositArgs{amount: 1}, time.Second, "t")
		}
		named := classAccount.Construct
		classAccount.Construct = &Method{Class: &classAccount, Name: "Account", Effects: order.Effects{Self: order.Write}, NewArgs: func() order.Args { return nil }, Run: func(*Cx, any, order.Args) {}}
		defer func() { classAccount.Construct = named }()
		call := &Call{Target: main, Method: &setter}
		want := "Account.deposit Account/main <- timer\nAccount.set Account/main\n  Account.Account Account/main\ntimer Account/main <- Account.set\n"
		if foreign {
			parent := span.Parse([]string{"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, nil)
			call.From = &span.Origin{Parent: parent}
			want = "Account.deposit Account/main <- timer\nAccount.set <- Account.set\n" +
				"b7ad6b7169203331 of 0af7651916cd43dd8448eb211c80319c\n  Account.set Account/main\n    Account.Account Account/main\ntimer Account/main <- Account.set\n"
		}
		_, err := n.sys.Perform(call)
		mustNot(t, err)
		n.reopen()
		n.cl.Advance(time.Second)
		n.close()
		list := r.spans(t)
		var got []*spantree.Span
		for _, x := range list {
			if x.GetName() != "wait for durability" { // whether the disk is slow is not the claim
				got = append(got, x)
			}
		}
		if text := spantree.Trees(got); text != want {
			t.Errorf("foreign %v: the spans are\n%s\nwant\n%s", foreign, text, want)
		}
	}
}

// Tries of a Go function are spans that are linked to the event which has issued the call, and so is what follows the call.
func TestTriesAreSpans(t *testing.T) {
	r := record(t, "s")
	v := newSending(failing(1))
	clock := sched.NewSimClock(time.Unix(1000, 0))
	s := Open(Config{Classes: []*Class{&v.class}, Log: quiet, Clock: clock, Spans: r.Tracer})
	cl := s.Client()
	mustNot(t, v.issue(cl, &v.call, 5))
	cl.Settle()
	cl.Advance(2 * time.Second)
	until(func() bool { return len(v.tried()) == 2 })
	cl.Settle()
	s.Close()
	got := spantree.Trees(r.spans(t))
	class := v.class.Name
	for _, want := range []string{"go mail.Send <- " + class + "." + v.do.Name + "\n", "go mail.Send failed: torn <- " + class + "." + v.do.Name + "\n", class + ".sent " + class + "/ann <- " + class + "." + v.do.Name + "\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the spans are\n%s\nand not %s", got, want)
		}
	}
}

// An attempt that was withdrawn is a note, and its calls are not spans: the event has made only those of the last one.
func TestWithdrawnCallsAreNoSpans(t *testing.T) {
	r := record(t, "s")
	s, cl := testSystem(t, Config{Spans: r.Tracer})
	a, b, c := deskRef{Named(cl, &classDesk, "a")}, deskRef{Named(cl, &classDesk, "b")}, deskRef{Named(cl, &classDesk, "c")}
	for _, r := range []deskRef{a, b, c} {
		mustNot(t, r.await(cl, nil))
	}
	// The footprint of the method has neither of the other desks, so an attempt is withdrawn at each of them, the second one after a call.
	narrow := Method{Class: &classDesk, Name: "narrow", Effects: order.Effects{Self: order.Write}}
	narrow.Run = func(cx *Cx, _ any, _ order.Args) {
		b.do(cx, func(*Cx, *desk) {})
		c.do(cx, func(*Cx, *desk) {})
	}
	mustNot(t, cl.Await(a.Ref, &narrow, nil))
	s.Close()
	list := r.spans(t)
	want := "Desk.narrow Desk/a\n  Desk.work Desk/b\n  Desk.work Desk/c\nDesk.work Desk/a\nDesk.work Desk/b\nDesk.work Desk/c\n"
	if got := spantree.Trees(list); got != want {
		t.Errorf("the spans are\n%s\nwant\n%s", got, want)
	}
	for _, x := range list {
		if notes := len(x.GetEvents()); x.GetName() == "Desk.narrow" && (notes != 2 || x.Attribute("aeon.attempts") != "3") {
			t.Errorf("%d notes, %s attempts", notes, x.Attribute("aeon.attempts"))
		}
	}
}

// A call from outside is a span of a server around its event; one that comes to no event has ids, too.
func TestCallsFromOutsideAreSpansOfServers(t *testing.T) {
	r := record(t, "s")
	s, cl := testSystem(t, Config{Spans: r.Tracer})
	main := Named(cl, &classDesk, "main")
	for _, target := range []order.Ref{main, {}} {
		c := r.Serve("GET /", span.Context{})
		_, err := s.Perform(&Call{Target: target, Method: &methodAlone, Args: work(nil), From: c.Origin()})
		if abort := (*event.AbortError)(nil); err != nil && !errors.As(err, &abort) {
			t.Fatal(err)
		}
		c.End()
	}
	s.Close()
	want := "server GET /\nserver GET /\n  Desk.alone Desk/main\n"
	if got := spantree.Trees(r.spans(t)); strings.ReplaceAll(got, "    Desk.Desk Desk/main\n", "") != want {
		t.Errorf("the spans are\n%s\nwant\n%s", got, want)
	}
}

// BenchmarkRecorded compares an uncontended event that is recorded, and one with a call, with the same events without spans.
func BenchmarkRecorded(b *testing.B) {
	var plain [2]float64
	for _, recorded := range []bool{false, true} {
		for calls := range 2 {
			b.Run(fmt.Sprintf("recorded=%v/calls=%d", recorded, calls), func(b *testing.B) {
				cfg := Config{Log: quiet}
				if recorded {
					cfg.Spans = span.Open(span.Config{Sample: 1, Sink: &span.Lines{To: io.Discard}, Log: quiet})
					defer cfg.Spans.Close()
				}
				s := Open(cfg)
				defer s.Close()
				bk, list := openBank(b, s, "main", 1)
				cl := s.Client()
				for b.Loop() {
					if calls == 0 {
						_, _ = list[0].Deposit(cl, 1)
					} else {
						_, _ = bk.Audit(cl)
					}
				}
				perEvent := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				if !recorded {
					plain[calls] = perEvent
				}
				b.ReportMetric(perEvent/plain[calls], "x")
			})
		}
	}
}
