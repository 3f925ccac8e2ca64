package exec

import (
	"runtime"
	"testing"
)

// loose returns how many actors are known that are not attached.
func (r *registry) count() (live, loose int) {
	for i := range r.shards {
		sh := &r.shards[i].mu
		sh.Lock()
		live, loose = live+len(sh.live), loose+len(sh.loose)
		sh.Unlock()
	}
	return live, loose
}

// Of actors that nobody uses nothing stays in memory, and all of them are found again.
func TestPassivatedActorsLeaveNothing(t *testing.T) {
	n := startNode(t, Config{})
	b, list := openBank(t, n.sys, "one", 300)
	ids := []Ref{b.Ref}
	for _, a := range list {
		ids = append(ids, a.Ref)
	}
	root := n.fresh()
	for range 3 {
		collected(func() bool {
			n.sys.Unload(1)
			live, _ := n.sys.durable.actors.count()
			return live == 0
		})
		mustNot(t, n.sys.graph.Validate())
		if got := n.sys.Resolve(b.ID()); got != b.Ref {
			t.Error("somebody has a reference that is another one now")
		}
		if sum := n.audit("one"); sum != 300_000 {
			t.Errorf("the accounts have %d", sum)
		}
		mustNot(t, b.Transfer(n.cl, "a3", "a4", 5))
		n.run(root, &methodLocal, wstep{op: wAdd, n: 1})
	}
	if got := n.value(root); got != 3 {
		t.Errorf("the root has %d", got)
	}
	runtime.KeepAlive(ids)
	id, rootID := b.ID(), root.h.id
	b, list, ids, root = bankRef{}, nil, nil, wref{}
	collected(func() bool {
		n.sys.Unload(1)
		live, loose := n.sys.durable.actors.count()
		return live == 0 && loose < 3
	})
	if sum, err := (bankRef{n.sys.Resolve(id)}).Audit(n.cl); sum != 300_000 || err != nil {
		t.Errorf("the accounts have %d, %v", sum, err)
	}
	if got := n.value(wref{n.sys.Resolve(rootID)}); got != 3 {
		t.Errorf("the root has %d", got)
	}
	n.close()
}

// What has a timer, is kept or has several owners stays.
func TestWhatIsNeededIsNotDetached(t *testing.T) {
	n := startNode(t, Config{})
	a, p, q, c := n.fresh(), n.fresh(), n.fresh(), n.fresh()
	n.run(a, &methodLocal, wstep{op: wAfter, n: 30, sub: []wstep{{op: wAdd, n: 1}}})
	n.run(p, &methodAdopt, wstep{op: wAdopt, ref: c})
	n.run(q, &methodAdopt, wstep{op: wAdopt, ref: c})
	n.sys.maintainer.wait()
	for range 4 {
		n.sys.Unload(1)
	}
	for i, r := range []wref{a, p, q, c} {
		if r.h.is(detached) {
			t.Errorf("actor %d was detached", i)
		}
	}
	mustNot(t, n.sys.graph.Validate())
	n.run(q, &methodLocal, wstep{op: wDrop})
	n.sys.maintainer.wait()
	n.cl.Advance(30e6)
	for range 4 {
		n.sys.Unload(1)
	}
	for i, r := range []wref{p, q, c} {
		if !r.h.is(detached) {
			t.Errorf("actor %d is attached", i)
		}
	}
	n.close()
}
