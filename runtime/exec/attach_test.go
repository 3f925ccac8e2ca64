package exec

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// opened opens what is in an engine without running anything in it.
func opened(e replicatest.Engine) (*System, error) {
	st, err := store.Open(e.Crash(all), store.Options{Program: "test", Partitions: 4, Log: quiet, Fatal: func(error) {}})
	if err != nil {
		return nil, err
	}
	s := newSystem(Config{Store: st, Classes: testClasses, Log: quiet})
	s.host.StopMoves() // T stays as it is
	if s.durable, err = newDurable(s, &s.cfg); err != nil {
		return nil, err
	}
	return s, s.durable.Recover()
}

// attachesAsStored attaches the actors of a store in some order. After each few of them, and at
// the end, the graph must be the part of the whole graph that is attached.
func attachesAsStored(e replicatest.Engine, seed uint64) error {
	s, err := opened(e)
	if err != nil {
		return err
	}
	defer func() {
		s.Close()
		_ = s.durable.Store.Close()
	}()
	whole, err := archive.ReadOwnership(s.durable.Store, false)
	if err != nil {
		return err
	}
	if err := whole.Graph.Validate(); err != nil {
		return err
	}
	var ids []event.ActorID
	for id := range whole.Nodes {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b event.ActorID) int { return bytes.Compare(store.HeaderKey(a), store.HeaderKey(b)) })
	rng := rand.New(rand.NewPCG(seed, 3))
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for i, id := range ids {
		if err := s.host.Attach(s.durable.Handle(id)); err != nil {
			return err
		}
		if i%8 == 0 || i == len(ids)-1 {
			if err := s.sameGraph(whole); err != nil {
				return fmt.Errorf("%d of %d are attached: %w", i+1, len(ids), err)
			}
		}
	}
	if n := len(ids); n > 0 && s.durable.Handle(ids[n-1]).Is(order.Detached) {
		return fmt.Errorf("%v is still detached", ids[n-1])
	}
	return nil
}

// sameGraph compares what is attached with the whole graph.
func (s *System) sameGraph(whole *archive.Ownership) error {
	if err := s.host.Graph.Validate(); err != nil {
		return err
	}
	names := map[*dominator.Node]event.ActorID{}
	for id, n := range whole.Nodes {
		names[n] = id
	}
	for p := range whole.Partitions {
		names[&whole.Partitions[p]] = event.ActorID{Birth: event.PartitionID(p)}
	}
	stored := func(n *dominator.Node) string {
		if n == whole.Graph.TOP() {
			return "TOP"
		}
		return names[n].String()
	}
	here := func(n *dominator.Node) string {
		if n == s.host.Graph.TOP() {
			return "TOP"
		}
		return s.host.HandleOf(n).ID.String()
	}
	for id, n := range whole.Nodes {
		h := s.durable.Handle(id)
		if h.Is(order.Detached) {
			if len(whole.Graph.Owners(nil, n)) > 1 {
				return fmt.Errorf("%v has several owners and is detached", id)
			}
			continue
		}
		want := []string{"below " + stored(whole.Graph.Parent(n)), "top " + stored(whole.Graph.Top(n))}
		got := []string{"below " + here(s.host.Graph.Parent(&h.Node)), "top " + here(s.host.Graph.Top(&h.Node))}
		for _, o := range whole.Graph.Owners(nil, n) {
			want = append(want, fmt.Sprint(stored(o), "*", whole.Graph.Units(o, n)))
		}
		for _, o := range s.host.Graph.Owners(nil, &h.Node) {
			got = append(got, fmt.Sprint(here(o), "*", s.host.Graph.Units(o, &h.Node)))
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Errorf("%v is %v, stored as %v", id, got, want)
		}
	}
	wants := func(g *dominator.Graph, name func(*dominator.Node) string) (list []string) {
		for _, mv := range g.Pending(0) {
			list = append(list, name(mv.Node)+" to "+name(mv.Parent))
			g.Reconsider(mv.Node)
		}
		slices.Sort(list)
		return list
	}
	for _, mv := range wants(whole.Graph, stored) {
		if !slices.Contains(wants(s.host.Graph, here), mv) && !s.anyDetached(whole) {
			return fmt.Errorf("%s is not wanted", mv)
		}
	}
	return nil
}

func (s *System) anyDetached(whole *archive.Ownership) bool {
	for id := range whole.Nodes {
		if s.durable.Handle(id).Is(order.Detached) {
			return true
		}
	}
	return false
}

// Random events, and crashes among them, leave ownership and the tree in a store. What is attached is always a part
// of what is stored, and in the end the whole.
func TestAttachedIsWhatIsStored(t *testing.T) {
	for seed := range uint64(6) {
		n := startNode(t, Config{})
		rng := rand.New(rand.NewPCG(seed, 17))
		w := workload{seed: seed, nodes: 10 + 8*int(seed), edges: 25 * int(seed), changes: 70, later: 5, stored: true}
		nodes, err := w.plant(n.sys)
		mustNot(t, err)
		g := &generator{rng: rng, sys: n.sys, nodes: nodes, w: w}
		for i := range 400 {
			r, m, x := g.event()
			_ = n.cl.Await(r.Ref, m, x)
			if rng.IntN(12) == 0 {
				_ = n.cl.Delete(g.ref().Ref)
				g.renew(n.cl)
			}
			if i%50 == 0 {
				if err := attachesAsStored(n.engine.Crash(func(unsynced int) int { return rng.IntN(unsynced + 1) }), seed); err != nil {
					t.Fatalf("seed %d, event %d: %v", seed, i, err)
				}
			}
		}
		n.close()
		if err := attachesAsStored(n.engine.Reopen(), seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// attached returns how many actors are in the graph.
func (s *System) attached() int {
	n, _ := s.durable.Actors()
	return n
}

// Opening attaches no actor. An event attaches the actors that it needs.
func TestActorsAreAttachedWhenTheyAreUsed(t *testing.T) {
	n := startNode(t, Config{})
	b, list := openBank(t, n.sys, "one", 300)
	n.reopen()
	expect := func(what string, want int) {
		t.Helper()
		if got := n.sys.attached(); got != want {
			t.Errorf("%s, %d actors are in memory, want %d", what, got, want)
		}
	}
	expect("at first", 0)
	if got := n.sys.Restored().Actors; got != 301 {
		t.Errorf("%d actors are said to go on", got)
	}
	far := n.sys.Resolve(list[7].ID())
	expect("referred to", 0)
	if far != n.sys.Resolve(list[7].ID()) {
		t.Error("two references to one actor differ")
	}
	_, err := accountRef{far}.Balance(n.cl)
	mustNot(t, err)
	expect("after a call of an account", 2)
	mustNot(t, bankRef{n.sys.Resolve(b.ID())}.Transfer(n.cl, "a8", "a9", 5))
	expect("after a transfer", 4)
	n.close()
	if got := far.String(); got != "Account" {
		t.Errorf("an account is %q", got)
	}
	if got := list[0].String(); got != "Account" {
		t.Errorf("an account is %q", got)
	}
}

// An actor that is detached when its owner is deleted goes on without owner, while events
// look for it and afterwards.
func TestOwnersOfTheDetachedAreDeleted(t *testing.T) {
	const accounts = 200
	n := startNode(t, Config{})
	b, list := openBank(t, n.sys, "one", accounts)
	c, more := openBank(t, n.sys, "two", 5)
	n.reopen()
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			cl := n.sys.Client()
			for k := i; k < len(list); k += 4 {
				if got, err := (accountRef{n.sys.Resolve(list[k].ID())}).Balance(cl); got != 1000 || err != nil {
					t.Errorf("account %d has %d, %v", k, got, err)
				}
			}
		})
	}
	group.Go(func() { mustNot(t, n.sys.Client().Delete(n.sys.Resolve(b.ID()))) })
	group.Go(func() { mustNot(t, n.sys.Client().Delete(n.sys.Resolve(c.ID()))) })
	group.Wait()
	n.sys.host.AwaitMoves()
	for range 2 {
		for i, a := range append(slices.Clone(list), more...) {
			h := order.HandleOf(n.sys.Resolve(a.ID()))
			if got, err := (accountRef{order.RefOf(h)}).Deposit(n.cl, 0); got != 1000 || err != nil {
				t.Errorf("account %d has %d, %v", i, got, err)
			}
			if p := n.sys.host.ParentOf(h); !p.Is(order.Virtual) || len(n.sys.host.Graph.Owners(nil, &h.Node)) > 0 {
				t.Errorf("account %d lies below %v", i, p)
			}
		}
		n.reopen()
	}
	n.close()
}

// A tree of any depth is attached from above.
func TestALongLineIsAttached(t *testing.T) {
	const depth = 400
	n := startNode(t, Config{})
	list := []wref{n.fresh()}
	for i := range depth {
		list = append(list, n.fresh())
		n.run(list[i], &methodAdopt, wstep{op: wAdopt, ref: list[i+1]})
	}
	n.sys.host.AwaitMoves()
	n.reopen()
	n.run(n.again(list[depth]), &methodLocal, wstep{op: wAdd, n: 3})
	if got := n.sys.attached(); got != depth+1 {
		t.Errorf("%d actors are in memory", got)
	}
	n.close()
}

// Damage of the header of a detached actor is reported when the actor is used.
func TestDamagedHeadersAreNamed(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "one", 2)
	id, other := list[0].ID(), list[1].ID()
	n.close()
	for why, damage := range map[string]func(h *row.Header) []byte{
		"its checksum is wrong": func(*row.Header) []byte { return []byte("x") },
		"below itself":          func(h *row.Header) []byte { h.Parent = id; return nil },
		"there is no partition": func(h *row.Header) []byte { h.Parent, h.Units = event.ActorID{Birth: 9}, 0; return nil },
		"owns no actors":        func(h *row.Header) []byte { h.Parent = event.ActorID{Birth: 1}; return nil },
		"layout 99":             func(h *row.Header) []byte { h.Layout = 99; return nil },
	} {
		e := n.engine.Crash(all)
		key := store.HeaderKey(id)
		value, _, err := e.Get(key, nil)
		mustNot(t, err)
		payload, err := store.Payload(key, value)
		mustNot(t, err)
		var h row.Header
		mustNot(t, h.Read(payload))
		bad := damage(&h)
		if bad == nil {
			_, bad = h.Encode(id)
		}
		b := e.NewBatch()
		b.Set(key, bad)
		mustNot(t, e.Apply(b))
		s, err := opened(e)
		mustNot(t, err)
		err = s.host.Attach(s.durable.Handle(id))
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), store.DescribeKey(key)) && !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
		mustNot(t, s.durable.Attach(s.durable.Handle(other)))
		s.Close()
		_ = s.durable.Store.Close()
	}
}

// A graph that is read whole is refused where its rows contradict each other.
func TestOwnershipThatContradictsItself(t *testing.T) {
	n := startNode(t, Config{})
	a, b := n.fresh(), n.fresh()
	n.run(a, &methodAdopt, wstep{op: wAdopt, ref: b})
	n.sys.host.AwaitMoves()
	n.close()
	for why, bad := range map[string]func() (key, value []byte){
		"a cycle": func() (key, value []byte) {
			key = row.AppendEdgeKey(nil, b.ID(), a.ID())
			return key, store.EndRow(append(store.BeginRow(nil), 1), 0, key)
		},
		"an edge without an owner": func() (key, value []byte) {
			key = row.AppendEdgeKey(nil, event.ActorID{Birth: 1, Serial: 77}, a.ID())
			return key, store.EndRow(append(store.BeginRow(nil), 1), 0, key)
		},
		"a tree with a cycle": func() (key, value []byte) {
			return (&row.Header{Layout: 1, Parent: b.ID(), Units: 1}).Encode(a.ID())
		},
	} {
		e := n.engine.Crash(all)
		batch := e.NewBatch()
		batch.Set(bad())
		mustNot(t, e.Apply(batch))
		if _, err := archive.ReadOwnership(e, false); !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, dominator.ErrRestore) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// A store with actors of a class that the program has lost is refused.
func TestActorsOfALostClass(t *testing.T) {
	n := startNode(t, Config{})
	openBank(t, n.sys, "one", 1)
	n.close()
	for _, classes := range [][]*Class{{&classBank, &classNode, &classDesk, &classHangar}, {&classAccount, &classBank}} {
		st := openStore(t, n.engine.Crash(all), nil)
		s, err := Recover(Config{Store: st, Classes: classes, Log: quiet})
		if lost := len(classes) == 4; lost != errors.Is(err, state.ErrClass) {
			t.Errorf("Recover gave %v", err)
		}
		if err == nil {
			s.Close()
		}
		mustNot(t, st.Close())
	}
}
