package nodes_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/value"
	"github.com/aeon-lang/aeon/sim/kill/ledger"
)

// alone opens the ledger on the only store there is.
func alone(t *testing.T, e store.Engine) (*exec.System, *store.Store) {
	t.Helper()
	st, err := store.Open(e, store.Options{Program: "nodes", Partitions: markPartitions, Log: slog.New(slog.DiscardHandler), Fatal: func(err error) { panic(err) }})
	if err != nil {
		t.Fatal(err)
	}
	s, err := exec.Recover(exec.Config{Store: st, Classes: aeonrt.AllClasses(&ledger.AeonPackage)})
	if err != nil {
		t.Fatal(err)
	}
	return s, st
}

func ofMark(p event.PartitionID) event.StoreID { return event.StoreID(p % markStores) }

// divided returns what stores begin with that are made of a store, and calls each for the rows of what several stores have to end.
func divided(t *testing.T, from store.Reader, each func(row.InDoubt)) (list []store.Engine) {
	t.Helper()
	for i := range event.StoreID(markStores) {
		e := memengine.New()
		if err := archive.Restore(e, store.Identity{Store: store.NewStoreID(), Program: "nodes"}, i, archive.Divided(from, i, ofMark, func(int) {})); err != nil {
			t.Fatal(err)
		}
		err := row.Section(e, event.PartitionID(i), store.InDoubt, row.InDoubtKeyMin, func(_, rest, _, _ []byte) error {
			k, err := row.ReadInDoubtKey(rest)
			each(k)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// relay is a chain over accounts of the banks, for a request with a key.
type relay struct {
	path []aeonrt.ActorID
	key  int64
}

func (r *relay) perform(s *exec.System) error {
	args := &ledger.AeonArgsAccountRelay{Amount: 1, Session: 1, Seq: r.key}
	for _, id := range r.path[1:] {
		aeonrt.Push(&args.Path, ledger.AccountRef{Ref: s.Resolve(id)})
	}
	_, err := s.Perform(&exec.Call{Target: s.Resolve(r.path[0]), Method: &ledger.AeonMethodAccountRelay, Args: args, Key: fmt.Sprint(r.key)})
	return err
}

// What a program had that ran alone, at any time, is divided among stores: chains of requests go on over these, once, and a request that comes again
// finds the outcome, or waits for it. So do timers and sub-events, and the actors are there by their names.
func TestAStoreIsDivided(t *testing.T) {
	const banks, each = 3, 4
	engine := memengine.New()
	s, st := alone(t, engine)
	var accounts []aeonrt.ActorID
	for k := range banks { // an account is born beside its bank
		b := ledger.BankRef{Ref: aeonrt.Named(s.Client(), &ledger.AeonClassBank, bankOf(k))}
		list, err := b.Open(s.Client(), each, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list.Items() {
			accounts = append(accounts, a.ID())
		}
	}
	stop := make(chan struct{})
	var group sync.WaitGroup
	var last atomic.Int64
	var mu sync.Mutex
	var begun []*relay
	for i := range 4 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(3, uint64(i)))
			for {
				select {
				case <-stop:
					return
				default:
				}
				q := &relay{key: last.Add(1)}
				for range 5 {
					q.path = append(q.path, accounts[r.IntN(len(accounts))])
				}
				mu.Lock()
				begun = append(begun, q)
				mu.Unlock()
				if err := q.perform(s); err != nil {
					t.Error(err)
				}
				a := ledger.AccountRef{Ref: s.Resolve(q.path[0])}
				if _, err := a.Later(s.Client(), ledger.AccountRef{Ref: s.Resolve(q.path[1])}, 1, 2, q.key); err != nil && !errors.As(err, new(*event.AbortError)) {
					t.Error(err)
				}
			}
		})
	}
	var engines []store.Engine
	for away := 0; away == 0; {
		for before := last.Load(); last.Load() < before+20; {
			runtime.Gosched()
		}
		view := engine.Snapshot()
		engines = divided(t, view, func(k row.InDoubt) {
			if k.Kind == row.KindAway {
				away++
			}
		})
		if err := view.Close(); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	known := begun // all that the view may have, and more
	mu.Unlock()
	close(stop)
	group.Wait()
	s.Client().Settle()
	s.Close()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}

	c := ledgerOn(t, 0, engines...)
	for _, q := range known {
		if err := q.perform(c.System(ofMark(q.path[0].Birth))); err != nil {
			t.Error(err)
		}
	}
	c.Settle()
	cl := c.System(1).Client()
	sum, receipts, steps := int64(0), map[int64]int64{}, map[int64]int64{}
	for k := range banks {
		n, err := ledger.BankRef{Ref: aeonrt.Named(cl, &ledger.AeonClassBank, bankOf(k))}.Audit(cl, aeonrt.Vector[ledger.VaultRef]{})
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	for _, id := range accounts {
		a := ledger.AccountRef{Ref: c.System(1).Resolve(id)}
		r, err := a.Receipts(cl)
		list, err2 := a.Steps(cl)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		value.Each(r, func(k, n int64) bool { receipts[k] += n; return true })
		value.Each(list, func(k, n int64) bool { steps[k] += n; return true })
	}
	if sum != banks*each*100 {
		t.Errorf("there are %d", sum)
	}
	for _, q := range known {
		if k := 1_000_000 + q.key; receipts[k] != 1 || steps[k] != int64(len(q.path))-1 {
			t.Errorf("request %d was applied %d times, with %d steps", q.key, receipts[k], steps[k])
		}
	}
	timers := 0
	for k, n := range receipts {
		if k >= 2_000_000 {
			if timers++; n != 1 || steps[k] != 1 {
				t.Errorf("of request %d, applied %d times, timers have fired %d times", k-2_000_000, n, steps[k])
			}
		}
	}
	c.Settle()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d chains were begun before, or came again, and %d timers", len(known), timers)
}

// bankOf names a bank that is in one of the stores.
func bankOf(k int) string {
	for n := 0; ; n++ {
		name := fmt.Sprint("bank ", n)
		if ofMark(event.NamedActor(ledger.AeonClassBank.Path(), name, 0, markPartitions).Birth) == event.StoreID(k) {
			return name
		}
	}
}

// However actors own each other, each store has the edges of its actors, and a tree that a system opens.
func TestOwnershipIsDivided(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(4, seed))
		engine := memengine.New()
		s, st := alone(t, engine)
		s.Close()
		schema, err := store.ReadSchema(engine)
		if err != nil {
			t.Fatal(err)
		}
		layout := uint32(0)
		for n := uint32(1); layout == 0; n++ {
			if _, class := schema.ByNumber(n); class == ledger.AeonClassAccount.Path() {
				layout = n
			}
		}
		b := engine.NewBatch()
		var ids []event.ActorID
		want := make(map[row.Edge]bool)
		for i := range 2 + r.IntN(20) {
			id := event.SerialActor(event.PartitionID(r.IntN(markPartitions)), uint64(1000+i))
			h := row.Header{Layout: layout, Top: true}
			var owners []row.Edge
			for _, o := range ids {
				if r.IntN(4) == 0 {
					owners = append(owners, row.Edge{Owner: o, Child: id, Units: 1 + r.IntN(3)})
					want[owners[len(owners)-1]] = true
				}
			}
			switch len(owners) {
			case 0:
				h.Top, h.Parent.Birth = false, id.Birth
			case 1:
				h.Top, h.Parent, h.Units = false, owners[0].Owner, uint32(owners[0].Units)
			default:
				for _, e := range owners {
					key := row.AppendEdgeKey(nil, e.Owner, e.Child)
					b.Set(key, store.AppendRow(nil, key, row.AppendEdge(nil, e.Units)))
				}
			}
			b.Set(h.Encode(id))
			ids = append(ids, id)
		}
		if err := engine.Apply(b); err != nil {
			t.Fatal(err)
		}
		engines := divided(t, engine, func(row.InDoubt) { t.Error("something is in doubt") })
		got := make(map[row.Edge]bool)
		for i, e := range engines {
			for p := range event.PartitionID(markPartitions) {
				note := func(edge row.Edge) {
					if ofMark(edge.Owner.Birth) != event.StoreID(i) || got[edge] {
						t.Errorf("%d: store %d has the edge %v", seed, i, edge)
					}
					got[edge] = true
				}
				err := errors.Join(row.Section(e, p, store.Headers, store.ActorSize, func(_, rest, _, payload []byte) error {
					var h row.Header
					id := store.ActorInKey(rest)
					if err := h.Read(payload); err != nil {
						return err
					}
					if ofMark(id.Birth) != event.StoreID(i) {
						t.Errorf("%d: store %d has %v", seed, i, id)
					}
					if h.Units > 0 {
						note(row.Edge{Owner: h.Parent, Child: id, Units: int(h.Units)})
					}
					return nil
				}), row.Section(e, p, store.Edges, row.EdgeKeyMin, func(_, rest, _, payload []byte) error {
					edge, err := row.ReadEdge(rest, payload)
					note(edge)
					return err
				}))
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d: there are the edges %v, not %v", seed, got, want)
		}
		c := ledgerOn(t, 0, engines...)
		for i, s := range c.Systems() {
			if err := s.Graph().Validate(); err != nil {
				t.Errorf("%d: store %d: %v", seed, i, err)
			}
		}
		if err := errors.Join(c.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	}
}
