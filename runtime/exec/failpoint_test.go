package exec

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
)

// failpoints are all places where a crash finds another state than at the place before, by kind of
// event.
func failpoints() (list []string) {
	for _, place := range []string{"prepare", "owned", "append", "appended", "released"} {
		for _, kind := range []string{"client", "session", "create", "delete", "sub", "tail", "firing"} {
			list = append(list, place+"/"+kind)
		}
	}
	for _, place := range []string{"abort", "aborted"} {
		for _, kind := range []string{"client", "session", "create", "delete", "sub", "tail"} {
			list = append(list, place+"/"+kind)
		}
	}
	for _, place := range []string{"wait", "answer"} {
		for _, kind := range []string{"client", "session", "create", "delete"} {
			list = append(list, place+"/"+kind)
		}
	}
	return append(list, "move/move", "moved/move", "session/begin/session", "session/begun/session", "session/expire/session", "session/expired/session",
		"session/sweep/session", "session/swept/session", "keyed/expire/session", "keyed/expired/session")
}

// methodStillborn is a constructor that fails.
var methodStillborn = Method{Class: &classNode, Name: "Node", Effects: order.Effects{Self: order.Write}, Run: func(cx *Cx, _ any, _ order.Args) { Abort(cx, "no") }}

// everything runs an event of every kind, one that commits and one that fails.
func everything(t *testing.T, n *node) (counter wref) {
	t.Helper()
	a, b, c := n.fresh(), n.fresh(), n.fresh()
	_, _ = n.cl.New(&classNode, &methodStillborn, &wargs{})
	for _, owner := range []wref{a, b} {
		n.run(owner, &methodAdopt, wstep{op: wAdopt, ref: c})
	}
	add, fail := []wstep{{op: wAdd, n: 1}}, []wstep{{op: wAbort}}
	n.run(a, &methodScript, wstep{op: wEmit, sub: add}, wstep{op: wEmit, sub: fail}, wstep{op: wTail, sub: add})
	n.run(b, &methodLocal, wstep{op: wAfter, n: 5, sub: add})
	_ = n.cl.Await(b.Ref, &methodLocal, &wargs{steps: []wstep{{op: wTail, sub: fail}}})
	_ = n.cl.Await(b.Ref, &methodLocal, &wargs{steps: []wstep{{op: wKeep, sub: add}}})
	_ = n.cl.Await(b.Ref, &methodLocal, &wargs{steps: fail})
	n.cl.Settle()
	n.cl.Advance(10 * time.Millisecond)
	n.run(b, &methodLocal, wstep{op: wDrop}) // c may now move below a
	n.sys.host.AwaitMoves()
	phone := fmt.Sprint("phone of ", a.ID())
	x := n.begin(phone)
	mustNot(t, x.Await(1, 0, a.Ref, &methodLocal, &wargs{steps: add}))
	_ = x.Await(2, 0, a.Ref, &methodLocal, &wargs{steps: fail})
	for seq := uint64(3); seq < 2*outbox.SweepMin; seq++ {
		mustNot(t, x.Await(seq, seq-1, a.Ref, &methodLocal, &wargs{steps: add}))
	}
	keyed := func() error {
		_, err := n.sys.Perform(&Call{Target: a.Ref, Method: &methodLocal, Args: &wargs{steps: add, number: 1 << 60}, Key: phone})
		return err
	}
	mustNot(t, keyed())
	mustNot(t, n.cl.Delete(b.Ref))
	_ = n.cl.Delete(b.Ref)
	n.cl.Advance(100 * time.Hour)
	_, _ = n.sys.Session(phone)
	mustNot(t, keyed())
	return c
}

// TestACrashAtEveryFailpoint crashes at each failpoint, with and without what is not synced. What is left
// opens, and is whole.
func TestACrashAtEveryFailpoint(t *testing.T) {
	var mu sync.Mutex
	var n *node
	images := map[string][]replicatest.Engine{}
	failpoint = func(name string) {
		mu.Lock()
		defer mu.Unlock()
		if len(images[name]) < 6 {
			images[name] = append(images[name], n.engine.Crash(all), n.engine.Crash(none))
		}
	}
	n = startNode(t, Config{})
	everything(t, n)
	layout := n.sys.durable.Layouts.Of(&classNode.Shape)
	n.close()
	failpoint = nil
	want := failpoints()
	if len(want) < 40 {
		t.Errorf("%d failpoints", len(want))
	}
	for _, name := range want {
		if len(images[name]) == 0 {
			t.Errorf("failpoint %s was not hit", name)
		}
	}
	for name, list := range images {
		if !slices.Contains(want, name) && !strings.HasSuffix(name, "/firing") {
			t.Errorf("failpoint %s is not listed", name)
		}
		for _, e := range list {
			if err := consistent(e.Snapshot(), layout); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			n.engine = e
			n.open()
			n.cl.Settle()
			everything(t, n)
			n.close()
		}
	}
	t.Logf("%d failpoints", len(images))
}
