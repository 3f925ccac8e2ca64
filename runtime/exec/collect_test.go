package exec

import (
	"runtime"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
)

// A system that was closed and dropped is collected, with all its actors.
func TestClosedSystemIsCollected(t *testing.T) {
	gone := make(chan struct{})
	func() {
		s := Open(Config{})
		defer s.Close()
		runtime.AddCleanup(s, func(c chan struct{}) { close(c) }, gone)
		s.Client() // one that the program has dropped
	}()
	awaitCollection(t, gone)
}

// awaitCollection returns when gone is closed, which a collection of garbage does.
func awaitCollection(t *testing.T, gone <-chan struct{}) {
	t.Helper()
	deadline := time.After(2 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		runtime.GC()
		select {
		case <-gone:
			return
		case <-deadline:
			t.Fatal("something keeps it")
		case <-tick.C:
		}
	}
}

// So is a system on a store, though its sessions have clients that the system refers to, and the states that were read
// refer to actors that no event has used.
func TestClosedSystemOnAStoreIsCollected(t *testing.T) {
	gone := make(chan struct{})
	func() {
		n := startNode(t, Config{})
		openBank(t, n.sys, "one", 3)
		n.reopen()
		_, err := bankRef{Named(n.cl, &classBank, "one")}.Open(n.cl, "b")
		mustNot(t, err)
		x := n.begin("phone")
		mustNot(t, x.Await(1, 0, n.fresh().Ref, &methodLocal, &wargs{steps: []wstep{{op: wAfter, n: 1, sub: []wstep{{op: wAdd, n: 1}}}}}))
		openBank(t, n.sys, "one", 3)
		n.reopen()
		n.audit("one") // actors that are attached
		n.close()
		runtime.AddCleanup(n.sys, func(gone chan struct{}) { close(gone) }, gone)
		writtenArgs.Clear()
	}()
	awaitCollection(t, gone)
}

// So is a system whose clients were dropped and never closed. Their objects, to which actors may refer, and events that they
// have issued and not awaited lead back to the clients.
func TestClosedSystemIsCollectedWithItsClients(t *testing.T) {
	for name, open := range map[string]func() (s *System, stop func()){
		"in memory": func() (*System, func()) {
			s := Open(Config{Log: quiet})
			return s, s.Close
		},
		"on a store": func() (*System, func()) {
			n := startNode(t, Config{})
			return n.sys, n.close
		},
	} {
		t.Run(name, func(t *testing.T) {
			gone := make(chan struct{})
			func() {
				s, stop := open()
				defer stop()
				runtime.AddCleanup(s, func(gone chan struct{}) { close(gone) }, gone)
				cl := s.Client()
				var object struct {
					ClientObject
					issued *Future
				}
				NewClientObject(cl, &object.ClientObject, &object).Stored()
				object.issued = cl.Issue(newDesk(t, cl).Ref, &methodWork, work(func(cx *Cx, _ *desk) { Abort(cx, "no") }))
				<-futureOf(object.issued).done
			}()
			awaitCollection(t, gone)
		})
	}
}

// The state of a deleted actor is collected though others still refer to the actor, with a store and without.
func TestStateOfADeletedActorIsCollected(t *testing.T) {
	n := startNode(t, Config{})
	defer n.close()
	_, inMemory := testSystem(t, Config{})
	for name, cl := range map[string]*Client{"in memory": inMemory, "on a store": n.cl} {
		t.Run(name, func(t *testing.T) {
			one, gone := Named(cl, &classBank, "gone"), make(chan struct{})
			_, err := bankRef{one}.Open(cl, "a")
			mustNot(t, err)
			runtime.AddCleanup(order.HandleOf(one).Object.(*bank), func(gone chan struct{}) { close(gone) }, gone)
			mustNot(t, cl.Await(one, methodDelete, nil))
			awaitCollection(t, gone)
			if _, err := (bankRef{one}).Open(cl, "b"); err == nil {
				t.Error("a deleted actor can be called")
			}
		})
	}
}
