package exec

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
)

// stalledNode is a node whose disk can be stalled.
func stalledNode(t *testing.T, mode store.Durability) (*node, *stalled) {
	e := &stalled{Engine: replicatest.New()}
	st, err := store.Open(e, store.Options{Program: "test", Partitions: 4, Log: quiet, Durability: mode, Fatal: func(err error) { t.Error(err) }})
	mustNot(t, err)
	s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet})
	mustNot(t, err)
	t.Cleanup(writtenArgs.Clear)
	return &node{t: t, store: st, sys: s, cl: s.Client()}, e
}

// An event that meets a deleted actor of which nothing is left in memory fails when the deletion is durable.
func TestADeletionIsToldWhenItIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, e := stalledNode(t, store.Sync())
		above, one, other, kid := n.fresh(), n.fresh(), n.fresh(), n.fresh()
		n.run(above, &methodAdopt, wstep{op: wAdopt, ref: one})
		n.run(one, &methodAdopt, wstep{op: wAdopt, ref: kid})
		n.run(other, &methodAdopt, wstep{op: wAdopt, ref: kid})
		n.sys.host.AwaitMoves()
		mustNot(t, n.store.Flush(t.Context()))
		until(func() bool {
			n.sys.Unload(1)
			return order.HandleOf(other.Bare()).Is(order.Unloaded)
		})
		goOn := e.stall()
		var end sync.WaitGroup
		end.Go(func() {
			_ = n.cl.Await(above.Ref, &methodLocal, &wargs{steps: []wstep{{op: wEmit, sub: []wstep{{op: wDelete}}}}})
		})
		synctest.Wait()
		if !n.sys.durable.Collected(kid.ID()) {
			t.Error("it was not deleted")
		}
		var told atomic.Bool
		end.Go(func() {
			if err := n.cl.Await(other.Ref, &methodScript, &wargs{steps: []wstep{{op: wCall}}}); err == nil {
				t.Error("it is there")
			}
			told.Store(true)
		})
		synctest.Wait()
		if told.Load() {
			t.Error("the deletion, which a crash may undo, was told")
		}
		goOn()
		end.Wait()
		n.close()
	})
}

// A failure that is not awaited is told when what it depends on is durable, also where answers do not wait.
func TestADeadLetterIsToldWhenItIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, e := stalledNode(t, store.Relaxed(time.Millisecond))
		a := n.fresh()
		goOn := e.stall()
		n.run(a, &methodLocal, wstep{op: wAdd, n: 1})
		fail := func() *wargs { return &wargs{steps: []wstep{{op: wGet}, {op: wAbort}}} }
		n.cl.Send(a.Ref, &methodLocal, fail())
		n.cl.Send(a.Ref, &methodLocal, &wargs{steps: []wstep{{op: wPause, hook: runtime.Goexit}}})
		kept := n.cl.Issue(a.Ref, &methodLocal, fail())
		synctest.Wait()
		var end sync.WaitGroup
		end.Go(n.sys.Close)
		synctest.Wait()
		if got := n.sys.DeadLetters(); len(got) > 0 {
			t.Errorf("told before the sync: %v", got)
		}
		goOn()
		end.Wait()
		if got := n.sys.DeadLetters(); len(got) != 3 {
			t.Errorf("told: %v", got)
		}
		runtime.KeepAlive(kept)
		mustNot(t, n.store.Close())
	})
}

// methodHandOn goes on at the first kid, with methodVanish, which calls runtime.Goexit.
var (
	methodHandOn = Method{Class: &classNode, Name: "handOn", Signature: "()", Effects: order.Effects{Self: order.Write}}
	methodVanish = Method{Class: &classNode, Name: "vanish", Signature: "()", Effects: order.Effects{Self: order.Write}}
)

func init() {
	methodHandOn.NewArgs, methodVanish.NewArgs = func() order.Args { return &wargs{} }, func() order.Args { return &wargs{} }
	methodHandOn.Run = func(cx *Cx, self any, _ order.Args) {
		n := self.(*wnode)
		n.set(cx, n.value+1)
		cx.Tail(n.kid(0).Ref, &methodVanish, &wargs{})
	}
	methodVanish.Run = func(*Cx, any, order.Args) { runtime.Goexit() }
}

// A step that calls runtime.Goexit, in a lane that another goroutine drains, fails its chain when what it has seen is durable.
func TestAGoneStepIsToldWhenItIsDurable(t *testing.T) {
	classNode.Methods = append(nodeMethods[:len(nodeMethods):len(nodeMethods)], &methodHandOn, &methodVanish)
	defer func() { classNode.Methods = nodeMethods }()
	synctest.Test(t, func(t *testing.T) {
		n, e := stalledNode(t, store.Sync())
		a, kid := n.parent()
		leave := make(chan struct{})
		n.cl.Issue(kid.Ref, &methodLocal, &wargs{steps: []wstep{{op: wPause, hook: func() { <-leave }}}})
		synctest.Wait()
		n.run(a, &methodLocal, wstep{op: wEmit})
		goOn := e.stall()
		var told atomic.Bool
		var end sync.WaitGroup
		end.Go(func() {
			if err := n.cl.Await(a.Ref, &methodHandOn, &wargs{}); err == nil || err.Error() != msgGoexit {
				t.Errorf("it has ended with %v", err)
			}
			told.Store(true)
		})
		synctest.Wait()
		close(leave)
		synctest.Wait()
		if told.Load() {
			t.Error("the chain, whose first step a crash may undo, was told to have failed")
		}
		goOn()
		end.Wait()
		n.close()
	})
}

// A session that a crash may undo is not handed out.
func TestASessionIsToldWhenItIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, e := stalledNode(t, store.Sync())
		goOn := e.stall()
		var told atomic.Int32
		var end sync.WaitGroup
		for _, get := range []func(string) (*Session, error){n.sys.BeginSession, n.sys.BeginSession, n.sys.Session} {
			end.Go(func() {
				if _, err := get("phone"); err != nil {
					t.Error(err)
				}
				told.Add(1)
			})
			synctest.Wait()
		}
		if got := told.Load(); got > 0 {
			t.Errorf("%d have it before the sync", got)
		}
		goOn()
		end.Wait()
		n.close()
	})
}

// In mode Relaxed answers do not wait, until the oldest answer that is not durable is older than the mode's time. From then
// on all answers wait, those of chains, too, until the disk goes on.
func TestAnswersOfAStalledDiskWait(t *testing.T) {
	const every = 50 * time.Millisecond
	classNode.Methods = append(nodeMethods[:len(nodeMethods):len(nodeMethods)], &methodOnward)
	defer func() { classNode.Methods = nodeMethods }()
	synctest.Test(t, func(t *testing.T) {
		n, e := stalledNode(t, store.Relaxed(every))
		a := n.fresh()
		n.sys.host.AwaitMoves()
		mustNot(t, n.store.Flush(t.Context()))
		time.Sleep(time.Second)
		goOn := e.stall()
		began := time.Now()
		for time.Since(began) < every {
			n.run(a, &methodLocal, wstep{op: wAdd, n: 1})
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Millisecond)
		var answered atomic.Int32
		var end sync.WaitGroup
		for _, method := range []*Method{&methodLocal, &methodOnward} {
			end.Go(func() {
				mustNot(t, n.cl.Await(a.Ref, method, &wargs{steps: []wstep{{op: wAdd, n: 1}}}))
				answered.Add(1)
			})
		}
		time.Sleep(time.Minute)
		if got := answered.Load(); got > 0 {
			t.Errorf("%d answers that a crash may undo, a minute after others that it may undo", got)
		}
		goOn()
		end.Wait()
		n.run(a, &methodLocal, wstep{op: wAdd, n: 1})
		n.close()
	})
}

// methodOnward goes on with methodLocal at the same actor.
var methodOnward = Method{Class: &classNode, Name: "onward", Signature: "()", Effects: order.Effects{Self: order.Write}}

func init() {
	methodOnward.NewArgs = func() order.Args { return &wargs{} }
	methodOnward.Run = func(cx *Cx, self any, args order.Args) { cx.TailThis(self.(*wnode).Ref(), &methodLocal, args) }
}
