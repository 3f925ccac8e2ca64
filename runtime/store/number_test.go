package store_test

import (
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// Ids are given once by all stores together, whatever starts, crashes, and uses up the numbers of a start; sequences ascend.
func TestNumbersAreGivenOnce(t *testing.T) {
	given := map[uint64]bool{}
	for _, number := range []event.StoreID{0, 1, 7, event.StoresMax - 1} {
		e := memengine.New()
		var last uint64
		for run := range 6 {
			s := openMem(t, e, store.Options{Number: number})
			if s.Number() != number {
				t.Fatalf("store %d has number %d", number, s.Number())
			}
			var ids, sequence store.Numbers
			s.IDs(&ids)
			s.Sequence(&sequence)
			for range 1 + run%3 {
				for range 3 {
					id, n := ids.Next(), sequence.Next()
					if given[id] || id >= 1<<63 {
						t.Fatalf("store %d gives %x in run %d", number, id, run)
					}
					given[id] = true
					if n <= last {
						t.Fatalf("store %d gives %x behind %x in run %d", number, n, last, run)
					}
					last = n
				}
				ids.UseUp(1)
				sequence.UseUp(2)
				last = sequence.Next()
			}
			b := s.NewBatch() // stored under the last numbers
			b.Set(store.SchemaKey("x"), store.AppendRow(nil, store.SchemaKey("x"), nil))
			if err := s.Wait(t.Context(), s.Append(b)); err != nil {
				t.Fatal(err)
			}
			e = e.Crash(none)
			closeStore(t, s)
		}
	}
}

// Goroutines that use up starts together get different numbers.
func TestNumbersAreGivenOnceToManyGoroutines(t *testing.T) {
	s := openMem(t, memengine.New(), store.Options{})
	defer closeStore(t, s)
	var ids store.Numbers
	s.IDs(&ids)
	lists := make([][]uint64, 8)
	for round := range 20 {
		ids.UseUp(100)
		var all sync.WaitGroup
		for i := range lists {
			all.Go(func() {
				for range 50 {
					lists[i] = append(lists[i], ids.Next())
				}
			})
		}
		all.Wait()
		if s.Starts() != 1 {
			t.Fatalf("round %d: the start has become the %d-th", round, s.Starts())
		}
	}
	seen := map[uint64]bool{}
	for _, list := range lists {
		for i, n := range list {
			if seen[n] || i > 0 && n <= list[i-1] {
				t.Fatalf("%x was given twice, or behind a larger one", n)
			}
			seen[n] = true
		}
	}
}

// A store keeps its number; the only store of a directory has none.
func TestStoreIsOpenedByItsNumber(t *testing.T) {
	e := memengine.New()
	s := openMem(t, e, store.Options{Number: 5})
	e = e.Crash(all)
	closeStore(t, s)
	_, err := store.Open(e, store.Options{Program: "bank"})
	if want := "the store has number 5 in its cluster, and was opened with number 0: it is another store"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
