package exec

import (
	"errors"
	"runtime"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// Nothing of deleted actors stays in memory, also where there is no limit on memory and so no evictor.
func TestDeletedActorsLeaveNothing(t *testing.T) {
	n := startNode(t, Config{})
	const rounds, each = 20, 200
	for range rounds {
		for range each {
			mustNot(t, n.cl.Delete(n.fresh().Ref))
		}
		if got := n.sys.durable.Loaded(); got > 2*each {
			t.Fatalf("the states of %d actors are kept, all of which were deleted", got)
		}
	}
	collected(func() bool {
		live, loose := n.sys.durable.Actors()
		return live == 0 && loose <= n.sys.durable.Loaded()
	})
	n.close()
}

// Hardly anything stays of client objects that were stored and have gone, once nothing refers to them.
func TestGoneClientsLeaveNothing(t *testing.T) {
	n := startNode(t, Config{})
	c := &n.sys.objects
	for range 20 * outbox.GonePruneMin {
		cl := n.sys.Client()
		number := NewClientObject(cl, &ClientObject{}, nil).Stored()
		cl.Close()
		NewClientObject(cl, &ClientObject{}, nil).Stored() // stored after its client has gone
		if n.sys.ResolveClient(number).IsNull() {
			t.Error("it is null")
		}
		if live, _ := c.Counts(); live > 0 {
			t.Fatalf("%d objects are taken to be there", live)
		}
	}
	for i := range 60 * outbox.GonePruneMin { // other objects that have gone
		if i%outbox.GonePruneMin == 0 {
			runtime.GC()
		}
		n.sys.ResolveClient(1<<50 + uint64(i))
	}
	if _, got := c.Counts(); got > 20*outbox.GonePruneMin {
		t.Errorf("%d objects are remembered", got)
	}
	n.close()
}

// Nothing stays of events that were cancelled while they waited for a chain to leave their actor, however long the chain keeps it.
func TestCancelledWaitersLeaveNothing(t *testing.T) {
	n := startNode(t, Config{Clock: sched.RealClock{}})
	a, kid := n.parent()
	inside, leave := make(chan struct{}), make(chan struct{})
	holder := n.cl.Issue(kid.Ref, &methodLocal, &wargs{steps: []wstep{{op: wPause, hook: func() { close(inside); <-leave }}}})
	<-inside
	chain := n.cl.Issue(a.Ref, &methodLocal, &wargs{steps: []wstep{{op: wKeep, sub: []wstep{{op: wCall, sub: []wstep{{op: wAdd, n: 1}}}}}}})
	until(order.HandleOf(a.Bare()).IsKept)
	patient := n.sys.Client().Issue(a.Ref, &methodLocal, &wargs{steps: []wstep{{op: wAdd, n: 1}}})
	waiting := order.HandleOf(a.Bare()).WaitingForChain
	until(func() bool { return waiting() == 1 })
	for range 20 {
		f := n.sys.Client().Issue(a.Ref, &methodLocal, &wargs{})
		until(func() bool { return waiting() > 1 })
		f.Cancel()
		if err := f.Wait(); !errors.Is(err, order.ErrCancelled) {
			t.Errorf("it has ended with %v", err)
		}
		if got := waiting(); got != 1 {
			t.Fatalf("%d wait", got)
		}
	}
	close(leave)
	for _, f := range []*Future{holder, chain, patient} {
		mustNot(t, f.Wait())
	}
	if x, y := n.value(a), n.value(kid); x != 1 || y != 1 {
		t.Errorf("the values are %d and %d", x, y)
	}
	n.close()
}

// Nor does anything stay of actors that have been named and never constructed.
func TestNamesLeaveNothing(t *testing.T) {
	n := startNode(t, Config{})
	fail := &wargs{steps: []wstep{{op: wAbort}}}
	for range 2 {
		for i := range 200 {
			if err := n.cl.Await(Named(n.cl, &classNode, itoa(i)), &methodLocal, fail); err == nil || err.Error() != "abort 0" {
				t.Fatal(err)
			}
		}
		collected(func() bool {
			n.sys.Unload(1)
			live, loose := n.sys.durable.Actors()
			return live == 0 && loose < 3
		})
		mustNot(t, n.sys.host.Graph.Validate())
	}
	r := wref{Named(n.cl, &classNode, "7")}
	n.run(r, &methodLocal, wstep{op: wAdd, n: 1})
	n.reopen()
	if got := n.value(wref{Named(n.cl, &classNode, "7")}); got != namedValue+1 {
		t.Errorf("its value is %d", got)
	}
	n.close()
}

// A tracer keeps nothing of deleted actors, nor, on a store, of actors that are not used. It knows the latter when they come
// back: their versions go on.
func TestTracedActorsLeaveNothing(t *testing.T) {
	for name, durable := range map[string]bool{"in memory": false, "on a store": true} {
		t.Run(name, func(t *testing.T) {
			versions := make(map[event.ActorID]uint64)
			rec := trace.Func(func(e *trace.Event) {
				for _, w := range e.Writes {
					if versions[w.Actor]++; w.Version != versions[w.Actor] {
						t.Errorf("%v has version %d after %d writes", w.Label, w.Version, versions[w.Actor])
					}
				}
			})
			n := &node{t: t}
			if durable {
				n = startNode(t, Config{Trace: rec})
			} else {
				n.sys, n.cl = testSystem(t, Config{Trace: rec})
			}
			const each = 200
			var kept []event.ActorID
			for i := range 4 * each {
				r := n.fresh()
				n.run(r, &methodLocal, wstep{op: wAdd, n: 1})
				if durable && i%2 == 0 {
					kept = append(kept, r.ID())
				} else {
					mustNot(t, n.cl.Delete(r.Ref))
				}
			}
			collected(func() bool {
				if durable {
					n.sys.Unload(1)
				}
				return n.sys.tracer.Actors() < each
			})
			for _, id := range kept {
				n.run(wref{n.sys.Resolve(id)}, &methodLocal, wstep{op: wAdd, n: 1})
			}
			if durable {
				n.close()
			}
		})
	}
}
