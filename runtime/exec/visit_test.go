package exec

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
)

// slowReads is an engine whose reads can be held up.
type slowReads struct {
	replicatest.Engine
	held chan struct{} // nil: they are not
}

func (e *slowReads) Get(key, buf []byte) ([]byte, bool, error) {
	if e.held != nil {
		<-e.held
	}
	return e.Engine.Get(key, buf)
}

// Close waits for clients that read the store outside of events, so that they find it open.
func TestCloseWaitsForReaders(t *testing.T) {
	for name, visit := range map[string]struct {
		prepare, read func(n *node, old wref, x *Session)
	}{
		"an actor is looked for": {read: func(n *node, _ wref, _ *Session) { Named(n.cl, &classBank, "main") }},
		"an actor is shown":      {read: func(_ *node, old wref, _ *Session) { _ = order.HandleOf(old.Ref).Label() }},
		"a request is repeated": {
			prepare: func(n *node, old wref, _ *Session) { n.value(old) }, // so that nothing else is read
			read:    func(_ *node, old wref, x *Session) { _ = x.Await(1, 0, old.Ref, &methodLocal, &wargs{}) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				t.Cleanup(writtenArgs.Clear)
				e := &slowReads{Engine: replicatest.New()}
				n := &node{t: t}
				n.start(e)
				Named(n.cl, &classBank, "main")
				old := n.fresh()
				mustNot(t, n.begin("phone").Await(1, 0, old.Ref, &methodLocal, &wargs{steps: []wstep{{op: wAdd, n: 5}}}))
				n.close()
				e.Engine = e.Reopen()
				n.start(e)
				old, x := n.again(old), n.begin("phone")
				if visit.prepare != nil {
					visit.prepare(n, old, x)
				}
				e.held = make(chan struct{})
				var end sync.WaitGroup
				end.Go(func() { visit.read(n, old, x) })
				synctest.Wait()
				var closed atomic.Bool
				end.Go(func() {
					n.sys.Close()
					closed.Store(true)
				})
				synctest.Wait()
				if closed.Load() {
					t.Error("closed amid the read")
				}
				close(e.held)
				end.Wait()
				mustNot(t, n.store.Close())
				visit.read(n, old, x) // a read from a closed engine would be a failure of the store
				if _, err := n.sys.BeginSession("other"); err != event.ErrClosed {
					t.Errorf("a session begins: %v", err)
				}
			})
		})
	}
}

// When Close returns, all events that were under way have been answered, and a session that was beginning is known.
func TestCloseWaitsForAnswers(t *testing.T) {
	for name, ask := range map[string]func(n *node, a wref) error{
		"an event": func(n *node, a wref) error {
			return n.cl.Await(a.Ref, &methodLocal, &wargs{steps: []wstep{{op: wAdd, n: 1}}})
		},
		"a session": func(n *node, _ wref) error {
			_, err := n.sys.BeginSession("phone")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, e := stalledNode(t, store.Sync())
				a := n.fresh()
				goOn := e.stall()
				var end sync.WaitGroup
				var answered, closed atomic.Bool
				end.Go(func() {
					mustNot(t, ask(n, a))
					answered.Store(true)
				})
				synctest.Wait()
				end.Go(func() {
					n.sys.Close()
					closed.Store(true)
				})
				synctest.Wait()
				if answered.Load() || closed.Load() {
					t.Errorf("answered: %v, closed: %v, and the disk does not answer", answered.Load(), closed.Load())
				}
				goOn()
				end.Wait()
				mustNot(t, n.store.Close())
			})
		})
	}
}

// start opens a system on an engine.
func (n *node) start(e store.Engine) {
	n.t.Helper()
	n.store = openStore(n.t, e, nil)
	s, err := Recover(Config{Store: n.store, Classes: testClasses, Log: quiet})
	mustNot(n.t, err)
	n.sys, n.cl = s, s.Client()
}
