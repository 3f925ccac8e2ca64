package exec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// all keeps what is not synced yet, none loses it.
func all(unsynced int) int { return unsynced }
func none(int) int         { return 0 }

// TestStateIsThereAgain is the least: what an event has written is read by the next run.
func TestStateIsThereAgain(t *testing.T) {
	n := startNode(t, Config{})
	b, _ := openBank(t, n.sys, "main", 3)
	mustNot(t, b.Transfer(n.cl, "a0", "a1", 300))
	for i := range 4 {
		if i%2 == 0 {
			n.reopen()
		} else {
			n.crash(none) // what was answered is synced
		}
		b = bankRef{Named(n.cl, &classBank, "main")}
		if sum, err := b.Audit(n.cl); err != nil || sum != 3000 {
			t.Fatalf("the accounts have %d, %v", sum, err)
		}
		mustNot(t, b.Transfer(n.cl, "a1", "a2", 100))
	}
	n.close()
}

// run runs steps on a node of the workload.
func (n *node) run(r wref, m *Method, steps ...wstep) *wargs {
	n.t.Helper()
	x := &wargs{steps: steps}
	mustNot(n.t, n.cl.Await(r.Ref, m, x))
	return x
}

func (n *node) fresh() wref {
	n.t.Helper()
	r, err := n.cl.New(&classNode, &methodBorn, &wargs{})
	mustNot(n.t, err)
	return wref{r}
}

// parent makes an actor that owns another one.
func (n *node) parent() (a, kid wref) {
	n.t.Helper()
	a, kid = n.fresh(), n.fresh()
	n.run(a, &methodAdopt, wstep{op: wAdopt, ref: kid})
	n.sys.host.AwaitMoves()
	return a, kid
}

// again returns the reference to the same actor after a reopening.
func (n *node) again(r wref) wref { return wref{n.sys.Resolve(r.ID())} }

func (n *node) value(r wref) int64 {
	n.t.Helper()
	return n.run(r, &methodPeek, wstep{op: wGet}).notes[0]
}

// shape writes down the parent of each actor in T, and how often each actor owns which others.
func shape(s *System) string {
	var lines []string
	list, err := s.durable.AttachAll()
	if err != nil {
		return err.Error()
	}
	for _, h := range list {
		lines = append(lines, graphOf(s, h))
	}
	slices.Sort(lines)
	return strings.TrimLeft(strings.Join(lines, "\n"), "\n")
}

func graphOf(s *System, h *order.Handle) string {
	if h.Is(order.Deleted) {
		return ""
	}
	var owners []string
	for _, o := range s.host.Graph.Owners(nil, &h.Node) {
		owners = append(owners, fmt.Sprintf("%v*%d", s.host.HandleOf(o).ID, s.host.Graph.Units(o, &h.Node)))
	}
	slices.Sort(owners)
	return fmt.Sprintf("%v below %v owned by %v", h.ID, s.host.ParentOf(h), owners)
}

// Shared children, several units, moves in T and deletions come back as they were.
func TestOwnershipIsThereAgain(t *testing.T) {
	n := startNode(t, Config{})
	nodes, err := workload{seed: 7, nodes: 30, edges: 120}.plant(n.sys)
	mustNot(t, err)
	for i, r := range nodes[:5] {
		n.run(r, &methodLocal, wstep{op: wNew, n: int64(i)}, wstep{op: wNewLoose}, wstep{op: wDrop, k: i}, wstep{op: wMove, k: i})
		mustNot(t, n.cl.Delete(nodes[20+i].Ref))
	}
	for i := range 3 {
		n.sys.host.AwaitMoves()
		before := shape(n.sys)
		if i == 1 {
			n.crash(all)
		} else {
			n.reopen()
		}
		if after := shape(n.sys); before != after {
			t.Fatalf("before\n%s\nafter\n%s", before, after)
		}
		n.run(n.again(nodes[i]), &methodScript, wstep{op: wNew, n: 1}, wstep{op: wDrop})
	}
	n.close()
}

// A name that was deleted belongs to another actor from then on, and no reference to the former
// one reaches it.
func TestDeletedNamesKeepTheirIncarnation(t *testing.T) {
	n := startNode(t, Config{})
	named := func() wref { return wref{Named(n.cl, &classNode, "ann")} }
	first := named()
	n.run(first, &methodLocal, wstep{op: wAdd, n: 5})
	for i := range 4 {
		old := named()
		if got, want := n.value(old), int64(namedValue); i > 0 && got != want {
			t.Errorf("the actor begins with %d, not %d", got, want)
		}
		keeper := n.fresh()
		n.run(keeper, &methodAdopt, wstep{op: wAdopt, ref: old})
		mustNot(t, n.cl.Delete(old.Ref))
		if i%2 == 0 {
			n.reopen()
		}
		now := named()
		if now.ID() == old.ID() {
			t.Errorf("two actors have the id %v", now.ID())
		}
		n.run(now, &methodLocal, wstep{op: wGet})
		err := n.cl.Await(n.again(keeper).Ref, &methodScript, &wargs{steps: []wstep{{op: wCall, sub: []wstep{{op: wAdd, n: 1}}}}})
		if err == nil || !strings.Contains(err.Error(), "was deleted") {
			t.Errorf("a reference to a deleted actor: %v", err)
		}
	}
	n.close()
}

// Sub-events that have not ended run after a crash, in their order; those that have ended do not
// run again.
func TestSubEventsRunOnceAndInOrder(t *testing.T) {
	n := startNode(t, Config{})
	issuer, target := n.fresh(), n.fresh()
	n.run(issuer, &methodAdopt, wstep{op: wAdopt, ref: target})
	n.sys.host.AwaitMoves() // a move of the target would wait for the holder, and the issuer for the move
	var image replicatest.Engine
	hold, held := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(held)
		_ = n.sys.Client().Await(target.Ref, &methodLocal, &wargs{steps: []wstep{{op: wPause, hook: func() { <-hold }}}})
	}()
	until(func() bool { return order.HandleOf(target.Bare()).Busy() })
	var steps []wstep
	var adopted []event.ActorID
	for i := range 5 {
		kid := n.fresh()
		adopted = append(adopted, kid.ID())
		steps = append(steps, wstep{op: wEmit, sub: []wstep{{op: wAdopt, ref: kid}, {op: wAdd, n: int64(1) << i}}})
	}
	n.run(issuer, &methodScript, steps...)
	image = n.engine.Crash(none)
	close(hold)
	<-held
	n.cl.Settle()
	ended := n.engine.Crash(all)
	n.close()
	for i, e := range []replicatest.Engine{image, ended} {
		n.engine = e
		n.open()
		n.cl.Settle()
		target := n.again(target)
		if got := n.value(target); got != 31 {
			t.Errorf("image %d: the sub-events have added %d, not 31", i, got)
		}
		var kids []event.ActorID
		for _, k := range order.HandleOf(target.Bare()).Object.(*wnode).kids.Items() {
			kids = append(kids, k.ID())
		}
		if !slices.Equal(kids, adopted) {
			t.Errorf("image %d: the sub-events left %v, not %v", i, kids, adopted)
		}
		n.close()
	}
}

// Timers fire after a crash; cancelled ones do not; a periodic one keeps its grid, and the ticks
// that were missed become one.
func TestTimersSurvive(t *testing.T) {
	clock := sched.NewSimClock(time.Unix(1000, 0))
	n := startNode(t, Config{Clock: clock})
	a := n.fresh()
	add := func(i int64) []wstep { return []wstep{{op: wAdd, n: i}} }
	n.run(a, &methodLocal,
		wstep{op: wAfter, n: 30, sub: add(1)},
		wstep{op: wAfter, n: 30, name: "tock", sub: add(1000)},
		wstep{op: wAfter, n: 40, name: "tock", sub: add(10)},
		wstep{op: wAfter, n: 20, name: "gone", sub: add(5000)},
		wstep{op: wEvery, n: 100, name: "tick", sub: add(100)})
	n.run(a, &methodLocal, wstep{op: wCancel, name: "gone"})
	n.crash(none)
	expect := func(after time.Duration, want int64) {
		t.Helper()
		n.cl.Advance(after)
		if got := n.value(n.again(a)); got != want {
			t.Errorf("at %v: %d, want %d", clock.Now().Sub(time.Unix(1000, 0)), got, want)
		}
	}
	expect(29*time.Millisecond, 0)
	expect(time.Millisecond, 1)
	n.crash(all)
	expect(20*time.Millisecond, 11)
	expect(60*time.Millisecond, 111) // the tick of 100, at 110
	left := n.engine.Crash(all)
	n.close()
	clock.Set(time.Unix(1000, 0).Add(555 * time.Millisecond)) // no process was there from 200 to 500
	n.engine = left
	n.open()
	expect(0, 211)
	expect(44*time.Millisecond, 211)
	expect(time.Millisecond, 311)
	mustNot(t, n.cl.Delete(n.again(a).Ref))
	n.crash(all)
	n.cl.Advance(time.Second)
	if left := n.sys.timers.Counts(); left != (outbox.TimerCounts{}) {
		t.Errorf("of the timers of a deleted actor there is left: %+v", left)
	}
	n.close()
}

// The next run repeats no number of the run before, no random draw and no id.
func TestNothingRepeatsAfterARestart(t *testing.T) {
	n := startNode(t, Config{})
	seen := map[string]bool{}
	for run := range 4 {
		r := n.fresh()
		draw := n.run(r, &methodPeek, wstep{op: wRandom}).notes[0]
		for _, s := range []string{r.ID().String(), fmt.Sprint("draw ", draw), fmt.Sprint("client ", n.cl.Random()), fmt.Sprint("origin ", clientOf(n.cl).id),
			fmt.Sprint("seq ", n.sys.durable.nextSeq())} {
			if seen[s] {
				t.Errorf("run %d: %s was there before", run, s)
			}
			seen[s] = true
		}
		n.crash(none)
	}
	n.close()
}

// A call that waits needs its method. Without the method the store is refused before anything runs.
func TestMissingMethodIsRefused(t *testing.T) {
	n := startNode(t, Config{})
	a := n.fresh()
	n.run(a, &methodLocal, wstep{op: wAfter, n: 30, sub: []wstep{{op: wAdd, n: 1}}})
	left := n.engine.Crash(all)
	n.close()
	classNode.Methods = []*Method{&methodPeek}
	defer func() { classNode.Methods = nodeMethods }()
	st := openStore(t, left, nil)
	_, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet})
	var wrong *store.CallError
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "w.Node.local") {
		t.Errorf("Recover gave %v", err)
	}
	mustNot(t, st.Close())
}

// Damage of any row that recovery reads is an error that names it.
func TestDamagedRowsAreNamed(t *testing.T) {
	n := startNode(t, Config{})
	nodes, err := workload{seed: 3, nodes: 6, edges: 20}.plant(n.sys)
	mustNot(t, err)
	n.run(nodes[0], &methodLocal, wstep{op: wAfter, n: 30, name: "tick"}, wstep{op: wEmitNamed, name: "ann"})
	x, err := n.sys.BeginSession("s")
	mustNot(t, err)
	mustNot(t, x.Await(1, 0, nodes[1].Ref, &methodLocal, &wargs{}))
	n.sys.host.AwaitMoves()
	clean := n.engine.Crash(all)
	n.close()
	seen := map[store.Section]int{}
	for _, section := range []store.Section{store.Headers, store.Edges, store.Timers, store.Outcomes, store.Sessions} {
		for p := range 4 {
			rows := clean.Scan(store.SectionRange(event.PartitionID(p), section))
			for rows.Next() {
				e := clean.Crash(all)
				b := e.NewBatch()
				bad := append([]byte(nil), rows.Value()...)
				bad[len(bad)/2] ^= 4
				b.Set(rows.Key(), bad)
				mustNot(t, e.Apply(b))
				st := openStore(t, e, func(error) {})
				s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet})
				if !errors.Is(err, store.ErrCorrupt) {
					t.Errorf("%s: Recover gave %v", store.DescribeKey(rows.Key()), err)
				}
				if err == nil {
					s.Close()
				}
				_ = st.Close()
				seen[section]++
			}
			mustNot(t, rows.Close())
		}
		if seen[section] == 0 {
			t.Errorf("there are no rows of section %c", section)
		}
	}
}
