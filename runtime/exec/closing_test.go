package exec

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// A system is closed while clients issue events of every kind, some of which call runtime.Goexit, and while
// timers fire. All that was begun ends, and no goroutine is left.
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
			cx.EmitEvery(kids[0].Ref, &methodAlone, work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) }), time.Microsecond, "tick")
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
						if err := cl.Await(target.Ref, &methodAlone, f); err == event.ErrClosed {
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
		if n := s.live.Count(); n != 0 || s.Waiting() != 0 || !s.idle() {
			t.Fatalf("round %d: %d events are left, %d wait", round, n, s.Waiting())
		}
	}
	late := time.Now().Add(10 * time.Second)
	until(func() bool { return runtime.NumGoroutine() <= before || time.Now().After(late) })
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines before, %d after", before, n)
	}
}

// methodEndless begins a chain without an end.
var methodEndless = Method{Class: &classNode, Name: "endless", Signature: "()", Effects: order.Effects{Self: order.Write}}

var endlessSteps atomic.Int64

func init() {
	methodEndless.NewArgs = func() order.Args { return &wargs{} }
	methodEndless.Run = func(cx *Cx, self any, _ order.Args) {
		n := self.(*wnode)
		n.set(cx, n.value+1)
		endlessSteps.Add(1)
		cx.TailThis(n.Self.Ref(), &methodEndless, &wargs{})
	}
}

// A closing system with a store begins nothing that is stored: chains, sub-events and firings go on at the
// next opening where they left off, each of them once.
func TestCloseLeavesToTheNextOpeningWhatIsStored(t *testing.T) {
	classNode.Methods = append(nodeMethods[:len(nodeMethods):len(nodeMethods)], &methodEndless)
	defer func() { classNode.Methods = nodeMethods }()
	n := startNode(t, Config{})
	a, b, c := n.fresh(), n.fresh(), n.fresh()
	n.run(b, &methodAdopt, wstep{op: wAdopt, ref: c})
	n.sys.host.AwaitMoves() // a move of c would wait for the holder, and b for the move
	inside, leave := make(chan struct{}), make(chan struct{})
	holder := n.cl.Issue(c.Ref, &methodLocal, &wargs{steps: []wstep{{op: wPause, hook: func() { close(inside); <-leave }}}})
	<-inside
	const subs = 50
	var steps []wstep
	for range subs {
		steps = append(steps, wstep{op: wEmit, sub: []wstep{{op: wAdd, n: 1}}})
	}
	n.run(b, &methodScript, steps...)
	endlessSteps.Store(0)
	chain := n.cl.Issue(a.Ref, &methodEndless, &wargs{})
	until(func() bool { return endlessSteps.Load() > 100 })
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		n.sys.Close()
	}()
	if err := chain.Wait(); err != event.ErrPostponed || !errors.Is(err, event.ErrClosed) {
		t.Errorf("the chain ended with %v", err)
	}
	close(leave)
	mustNot(t, holder.Wait())
	<-closed
	if got := n.sys.Postponed(); got < subs { // one of the sub-events had begun
		t.Errorf("%d were left to the next opening", got)
	}
	ran := endlessSteps.Load()
	n.reopen()
	if r := n.sys.Restored(); r.Continuations != 1 || r.SubEvents < subs-1 {
		t.Errorf("%+v goes on", r)
	}
	until(func() bool { return endlessSteps.Load() > ran+100 })
	until(func() bool { return n.value(n.again(c)) == subs })
	n.reopen()
	if got := n.value(n.again(c)); got != subs {
		t.Errorf("the sub-events have added %d", got)
	}
	n.close()
	n.engine = n.engine.Reopen()
	e := n.engine.Snapshot()
	in := image.NewReader(e, a.ID(), n.sys.durable.Layouts.Of(&classNode.Shape), n.sys)
	var left wnode
	left.LoadFields(in)
	if steps := endlessSteps.Load(); left.value != steps {
		t.Errorf("the chain has counted to %d in %d steps", left.value, steps)
	}
	mustNot(t, e.Close())
}

// The timer of a firing that Close leaves to the next opening is still set: an event that runs to its end
// meanwhile cancels, replaces or deletes it with its row.
func TestAFiringThatIsLeftCanBeCancelled(t *testing.T) {
	last := func(op wop) func(*node, wref) error {
		return func(n *node, a wref) error {
			return n.cl.Await(a.Ref, &methodLocal, &wargs{steps: []wstep{{op: op, n: 1000_000, name: "second"}}})
		}
	}
	cases := map[string]struct {
		last   func(n *node, a wref) error
		timers int // that are left
	}{
		"no event touches it": {func(*node, wref) error { return nil }, 1},
		"cancelled":           {last(wCancel), 0},
		"replaced":            {last(wAfter), 1},
		"deleted":             {func(n *node, a wref) error { return n.cl.Delete(a.Ref) }, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startNode(t, Config{Clock: sched.RealClock{}})
				a := n.fresh()
				n.run(a, &methodLocal, wstep{op: wAfter, n: 10, name: "first"}, wstep{op: wAfter, n: 10, name: "second"})
				hold := func() (leave chan struct{}, f *Future) {
					leave = make(chan struct{})
					return leave, n.cl.Issue(a.Ref, &methodLocal, &wargs{steps: []wstep{{op: wPause, hook: func() { <-leave }}}})
				}
				before, firstHolder := hold()
				time.Sleep(20 * time.Millisecond) // the first firing waits for that, the second for the first
				between, secondHolder := hold()
				synctest.Wait()
				var end sync.WaitGroup
				end.Go(func() {
					if err := c.last(n, a); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				end.Go(n.sys.Close)
				synctest.Wait()
				close(before)
				synctest.Wait()
				if got := n.sys.Postponed(); got != 2 { // what the first has issued, and the second
					t.Errorf("%d were left to the next opening", got)
				}
				close(between)
				mustNot(t, firstHolder.Wait())
				mustNot(t, secondHolder.Wait())
				end.Wait()
				n.reopen()
				if got := n.sys.Restored().Timers; got != c.timers {
					t.Errorf("%d timers go on, want %d", got, c.timers)
				}
				n.cl.Settle()
				n.close()
			})
		})
	}
}

// While a system is closed, too, no event touches an actor that a chain keeps. Such an event, of any kind, is refused, or is
// left to the next opening and then comes behind the chain.
func TestCloseLeavesAKeptActorAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, Config{Clock: sched.RealClock{}})
		a, b, owner := wref{Named(n.cl, &classNode, "ann")}, n.fresh(), n.fresh()
		add := func(i int64) []wstep { return []wstep{{op: wAdd, n: i}} }
		n.run(a, &methodLocal, wstep{op: wAdd, n: 1}, wstep{op: wAfter, n: 10, sub: add(10)})
		n.run(owner, &methodAdopt, wstep{op: wAdopt, ref: a})
		n.sys.host.AwaitMoves()
		goOn := make(chan struct{})
		chain := n.cl.Issue(a.Ref, &methodLocal, &wargs{steps: []wstep{{op: wPause, hook: func() { <-goOn }}, {op: wKeep, sub: add(100)}}})
		synctest.Wait()
		time.Sleep(20 * time.Millisecond) // the firing waits
		n.run(b, &methodLocal, wstep{op: wEmitNamed, name: "ann", sub: add(1000)})
		other := n.cl.Issue(owner.Ref, &methodLocal, &wargs{steps: []wstep{{op: wTail, sub: add(10_000)}}})
		synctest.Wait()
		x := n.begin("phone")
		refused := map[string]func() error{
			"a request":               func() error { return x.Await(1, 0, a.Ref, &methodLocal, &wargs{steps: add(100_000)}) },
			"a reader":                func() error { return n.cl.Await(a.Ref, &methodPeek, &wargs{}) },
			"one that is not awaited": n.cl.Issue(a.Ref, &methodLocal, &wargs{steps: add(100_000)}).Wait,
			"one in the middle of its code": n.cl.Issue(owner.Ref, &methodScript, &wargs{steps: []wstep{
				{op: wAdd, n: 1}, {op: wCall, sub: add(100_000)}}}).Wait,
		}
		errs := make(map[string]error)
		var mu sync.Mutex
		var end sync.WaitGroup
		for name, f := range refused {
			end.Go(func() {
				err := f()
				mu.Lock()
				defer mu.Unlock()
				errs[name] = err
			})
		}
		synctest.Wait()
		end.Go(n.sys.Close)
		synctest.Wait()
		close(goOn)
		end.Wait()
		errs["the chain"], errs["another chain"] = chain.Wait(), other.Wait()
		for name, err := range errs {
			want := event.ErrClosed
			if strings.HasSuffix(name, " chain") {
				want = event.ErrPostponed
			}
			if err != want {
				t.Errorf("%s has ended with %v", name, err)
			}
		}
		if got := n.sys.Postponed(); got != 4 {
			t.Errorf("%d were left to the next opening", got)
		}
		n.reopen()
		if r := n.sys.Restored(); r.Continuations != 1 || r.SubEvents != 2 || r.Timers != 1 {
			t.Errorf("%+v goes on", r)
		}
		time.Sleep(time.Millisecond)
		n.cl.Settle()
		if x, y := n.value(n.again(a)), n.value(n.again(owner)); x != namedValue+11_111 || y != 0 {
			t.Errorf("the values are %d and %d", x, y)
		}
		n.close()
	})
}
