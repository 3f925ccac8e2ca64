package nodes_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
	"github.com/aeon-lang/aeon/sim/kill/ledger"
)

// ledgerOn opens a cluster of the ledger on engines, whose messages are under way for some time.
func ledgerOn(t *testing.T, delay time.Duration, engines ...store.Engine) *nodes.Cluster {
	t.Helper()
	c, err := nodes.Open(nodes.Config{
		System: aeonrt.Config{Classes: aeonrt.AllClasses(&ledger.AeonPackage)}, Stores: len(engines), Partitions: markPartitions, Spread: true, Delay: under(delay),
		Open:  func(id event.StoreID) (store.Engine, error) { return engines[id], nil },
		Fatal: func(err error) { panic(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const (
	markStores     = 3
	markPartitions = 4 * markStores
)

// mark is the log that stands for a store in which it is.
func mark(cl *aeonrt.Client, k int) ledger.LogRef {
	for n := 0; ; n++ {
		name := fmt.Sprint("mark ", n)
		if id := event.NamedActor(ledger.AeonClassLog.Path(), name, 0, markPartitions); int(id.Birth)%markStores == k {
			return ledger.LogRef{Ref: aeonrt.Named(cl, &ledger.AeonClassLog, name)}
		}
	}
}

// marked returns how many notes each mark has.
func marked(t *testing.T, cl *aeonrt.Client) (list []int64) {
	t.Helper()
	for k := range markStores {
		notes, err := mark(cl, k).Last(cl)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, 0)
		value.Each(notes, func(_, n int64) bool { list[k] = n; return true })
	}
	return list
}

// audited fails unless each of the accounts has so much, in the mean, and all notes have come in order.
func audited(t *testing.T, c *nodes.Cluster, each int64) {
	t.Helper()
	cl := c.System(0).Client()
	sum, err := ledger.BankRef{Ref: aeonrt.Named(cl, &ledger.AeonClassBank, "bank")}.Audit(cl, aeonrt.Vector[ledger.VaultRef]{})
	if err != nil || sum != 12*each {
		t.Errorf("an audit finds %d (%v)", sum, err)
	}
	c.Settle()
	wrong, err := ledger.LogRef{Ref: aeonrt.Named(cl, &ledger.AeonClassLog, "log")}.Wrong(cl)
	if err != nil || wrong != "" {
		t.Errorf("%s (%v)", wrong, err)
	}
	c.Settle()
	for i, s := range c.Systems() {
		if tries, parts, undone := s.Across().Open(); tries+parts+undone+s.Across().InDoubt() > 0 {
			t.Errorf("store %d: %d attempts, %d parts and %d decisions are left", i, tries, parts, undone)
		}
		if err := s.Graph().Validate(); err != nil {
			t.Errorf("store %d: %v", i, err)
		}
	}
}

// restored opens a cluster with a snapshot, which has so many rows of what was in doubt.
func restored(t *testing.T, f *snapshot.Found) (c *nodes.Cluster, inDoubt int) {
	t.Helper()
	var engines []store.Engine
	for i := range f.Parts {
		p, e := &f.Parts[i], memengine.New()
		rows := archive.RowSource(func(f func(key, row []byte) error) error {
			return snapshot.Read(t.Context(), p.Place, &p.Manifest, f)
		})
		if err := archive.Restore(e, store.Identity{Store: store.NewStoreID(), Program: "nodes"}, event.StoreID(i), rows); err != nil {
			t.Fatal(err)
		}
		err := row.Section(e, event.PartitionID(i), store.InDoubt, row.InDoubtKeyMin, func(_, _, _, _ []byte) error {
			inDoubt++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		engines = append(engines, e)
	}
	return ledgerOn(t, 0, engines...), inDoubt
}

// A snapshot of stores that are halted together is of one moment, whatever goes on meanwhile: an audit of what is restored finds all money, and of what
// was issued one after the other, in different stores, the snapshot has the first.
func TestSnapshotsOfStores(t *testing.T) { snapshotsOfStores(t, 0) }

// Nor does it matter that accounts have a snapshot block, which adds something to each. The stores are quiesced for that while payments go on, and no payment comes behind it.
func TestSnapshotsOfStoresWithBlocks(t *testing.T) {
	const added = 7
	balance, _ := reflect.TypeFor[ledger.Account]().FieldByName("balance")
	ledger.AeonClassAccount.Snapshot = func(cx *aeonrt.Cx, self any) {
		a := self.(*ledger.Account)
		p := (*int64)(unsafe.Add(unsafe.Pointer(a), balance.Offset))
		undo.Field(cx.UndoLog(), &a.Self, uint16(balance.Index[0]-1), p)
		*p += added
	}
	defer func() { ledger.AeonClassAccount.Snapshot = nil }()
	snapshotsOfStores(t, added)
}

// halted halts all stores at one moment, as the leader of the first one does. It reports whether they had to be quiesced for that.
func halted(t *testing.T, c *nodes.Cluster) (list []*archive.Halted, quiesced bool) {
	t.Helper()
	list, err := tryHalt(t, c)
	if unsettled := new(archive.UnsettledError); errors.As(err, &unsettled) {
		quiesced = true
		for _, s := range c.Systems() {
			defer s.Across().GoOn()
			if err := s.Across().Quiesce(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		list, err = tryHalt(t, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range list {
		if !h.Resume() {
			t.Error("a store was not halted")
		}
	}
	return list, quiesced
}

// tryHalt halts all stores, or none.
func tryHalt(t *testing.T, c *nodes.Cluster) (list []*archive.Halted, err error) {
	t.Helper()
	for _, s := range c.Systems() {
		a, err := s.Archive()
		if err != nil {
			t.Fatal(err)
		}
		h, err := a.Halt(time.Minute)
		if err != nil {
			for _, h := range list {
				err = errors.Join(err, h.Close())
			}
			return nil, err
		}
		list = append(list, h)
		for range 10_000 {
			runtime.Gosched() // the others go on
		}
	}
	return list, nil
}

// snapshotsOfStores takes snapshots while payments go on. Snapshot blocks add so much to each account; 0: there are none.
func snapshotsOfStores(t *testing.T, added int64) {
	const rounds = 6
	quiesced := 0
	c := ledgerOn(t, 300*time.Microsecond, memengine.New(), memengine.New(), memengine.New())
	ledgerAccounts(t, c.System(0).Client())
	stop := make(chan struct{})
	var group sync.WaitGroup
	var paid, noted atomic.Int64
	forever := func(step func(n int64) error) {
		group.Go(func() {
			for n := int64(1); ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := step(n); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range int64(6) {
		cl, r := c.System(event.StoreID(i%markStores)).Client(), rand.New(rand.NewPCG(2, uint64(i)))
		list := ledgerAccounts(t, cl)
		forever(func(n int64) error {
			paid.Add(1)
			_, err := list.Items()[r.Int64N(12)].Pay(cl, list.Items()[r.Int64N(12)], 1, i, n)
			if abort := new(event.AbortError); err != nil && !errors.As(err, &abort) {
				return err
			}
			return nil // it may have had nothing
		})
	}
	forever(func(n int64) error {
		noted.Add(1)
		for k := range markStores {
			cl := c.System(event.StoreID(k)).Client()
			if err := mark(cl, k).Note(cl, 1, n); err != nil {
				return err
			}
		}
		return nil
	})
	place := snapshot.Dir(t.TempDir())
	var sets []snapshot.Set
	goesOn := func(count *atomic.Int64) {
		for before := count.Load(); count.Load() < before+20; {
			runtime.Gosched()
		}
	}
	for range rounds {
		goesOn(&paid)
		goesOn(&noted)
		taken := time.Now()
		set := snapshot.NewSet(taken, markStores)
		sets = append(sets, set)
		halted, had := halted(t, c)
		if had {
			quiesced++
		}
		for i, h := range halted {
			if _, err := h.Save(t.Context(), place, set.At(i), taken); err != nil {
				t.Fatal(err)
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	close(stop)
	group.Wait()
	audited(t, c, 100)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	doubts := 0
	for _, set := range sets {
		f, err := snapshot.Find(t.Context(), place, snapshot.Wanted{Name: set.Name})
		if err != nil {
			t.Fatal(err)
		}
		again, inDoubt := restored(t, f)
		doubts += inDoubt
		list := marked(t, again.System(0).Client())
		for k := range list {
			if list[k] > list[max(k, 1)-1] || list[k] < list[0]-1 {
				t.Errorf("of what came one after the other there is %v", list)
			}
		}
		audited(t, again, 100+added)
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d snapshots, beside %d payments, have %d rows of what was in doubt", rounds, paid.Load(), doubts)
	if doubts == 0 {
		t.Error("nothing was in doubt")
	}
	if (quiesced > 0) != (added > 0) {
		t.Errorf("stores were quiesced for %d snapshots, whose blocks add %d", quiesced, added)
	}
}
